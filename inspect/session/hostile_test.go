package session

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"pitap/inspect/text"
	"pitap/record"
)

// hostile feeds records to a session, and fails when that takes too long or too much memory.
type hostile struct {
	t     *testing.T
	s     *Session
	n     int64
	off   [4]int64
	start time.Duration // of the processor
}

func newHostile(t *testing.T) *hostile {
	t.Helper()
	runtime.GC()
	return &hostile{t: t, s: New(&record.Header{Agent: record.AgentInfo{Version: "1.6.0"}}), start: used()}
}

func (h *hostile) add(from record.Stream, body []byte) {
	h.n++
	h.s.Add(&record.Entry{N: h.n, T: h.n * 1000, From: from, Off: h.off[from], Form: record.Text, Body: body, EOL: "\n"})
	h.off[from] += int64(len(body)) + 1
}

func (h *hostile) client(format string, args ...any) {
	h.add(record.Client, fmt.Appendf(nil, format, args...))
}
func (h *hostile) agent(format string, args ...any) {
	h.add(record.Agent, fmt.Appendf(nil, format, args...))
}

// done asks the session everything, and looks at what it has cost.
func (h *hostile) done(limit time.Duration, memory uint64) {
	h.t.Helper()
	h.s.Open(h.s.T)
	h.s.Why(h.s.T)
	h.s.Pending(h.s.T)
	h.s.End(true)
	h.s.Findings()
	h.s.Stats(h.s.T)
	h.s.Why(h.s.T)
	var out bytes.Buffer
	h.s.Stats(h.s.T).WriteText(&out, text.Palette{}, 0)
	if raceEnabled {
		limit *= 10
	}
	if took := used() - h.start; took > limit {
		h.t.Errorf("took %v of the processor, want %v at most", took, limit)
	}
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if m.HeapAlloc > memory {
		h.t.Errorf("holds %d MiB, want %d MiB at most", m.HeapAlloc>>20, memory>>20)
	}
	runtime.KeepAlive(h.s)
}

const mib = 1 << 20

func TestHostileRecords(t *testing.T) {
	part := 1 // under the race detector records of a tenth
	if raceEnabled {
		part = 10
	}
	repeat := func(s string, n int) string { return strings.Repeat(s, n/part) }
	keys := func(n int) string {
		var b strings.Builder
		b.WriteByte('{')
		for i := range n / part {
			fmt.Fprintf(&b, `"key%d":%d,`, i, i)
		}
		return b.String()
	}
	for name, body := range map[string]string{
		"10 MB of [":               repeat("[", 10_000_000),
		"10 MB of [ and ]":         repeat("[", 5_000_000) + repeat("]", 5_000_000),
		"objects in objects":       repeat(`{"a":`, 1_000_000) + "1" + repeat("}", 1_000_000),
		"100,000 keys":             keys(100_000) + `"type":"prompt","message":"hi"}`,
		"100,000 types":            "{" + repeat(`"type":"prompt",`, 100_000) + `"id":1}`,
		"1 MB of \\u0000":          `{"type":"prompt","message":"` + repeat(`\u0000`, 170_000) + `"}`,
		"a type of 1 MB":           `{"type":"` + repeat("x", 1_000_000) + `","id":1}`,
		"an id of 10 MB":           `{"type":"abort","id":"` + repeat("x", 10_000_000) + `"}`,
		"an id of 1 MB of escapes": `{"type":"abort","id":"` + repeat(`\ud83d`, 170_000) + `"}`,
		"an id nested deep":        `{"type":"abort","id":` + repeat("[", 1_000_000) + repeat("]", 1_000_000) + `}`,
		"an id in disorder":        `{"type":"abort","id":` + repeat(`{"1":0,"0":`, 3000) + "0" + repeat("}", 3000) + `}`,
		"a command of objects":     `{"type":"response","command":` + keys(50_000) + `"a":1},"success":true}`,
		"100,000 options":          `{"type":"extension_ui_request","id":"u","method":"select","title":"t","options":[` + repeat(`"o",`, 100_000) + `"p"]}`,
		"100,000 tool calls":       `{"type":"message_end","message":{"role":"assistant","stopReason":"toolUse","content":[` + repeat(`{"type":"toolCall","id":"c","name":"n","arguments":{}},`, 100_000) + `{}]}}`,
		"100,000 queued messages":  `{"type":"queue_update","steering":[` + repeat(`"o",`, 100_000) + `"p"],"followUp":[]}`,
		"10 MB of text":            repeat("no json ", 1_250_000),
		"secrets":                  `{"type":"prompt","message":"` + repeat("sk-", 1_000_000) + repeat("Bearer ", 100_000) + `"}`,
		"numbers":                  `{"type":"message_update","assistantMessageEvent":{"type":"text_delta","contentIndex":1e308,"delta":"x"},"usage":` + repeat("9", 1_000_000) + `}`,
		"junk and a record":        repeat("{", 5000) + `{"type":"agent_settled"}`,
	} {
		t.Run(name, func(t *testing.T) {
			h := newHostile(t)
			for range 2 { // the second time it is not new
				h.client("%s", body)
				h.agent("%s", body)
			}
			h.done(10*time.Second, 100*mib)
		})
	}
}

func TestHostileFloods(t *testing.T) {
	n := 80_000
	switch {
	case raceEnabled:
		n = 5000
	case testing.Short():
		n = 25_000
	}
	long := strings.Repeat("y", 300)
	for name, flood := range map[string]func(h *hostile, i int){
		"commands without answer": func(h *hostile, i int) { h.client(`{"type":"get_state","id":"%s%d"}`, long, i) },
		"commands without id":     func(h *hostile, i int) { h.client(`{"type":"get_state"}`) },
		"one id":                  func(h *hostile, i int) { h.client(`{"type":"bash","id":1,"command":"x"}`) },
		"updates of one id": func(h *hostile, i int) {
			h.client(`{"type":"bash","id":1,"command":"x"}`)
			h.agent(`{"type":"bash_execution_update","id":1,"delta":"x"}`)
		},
		"answers to one id": func(h *hostile, i int) {
			h.client(`{"type":"bash","id":1,"command":"x"}`)
			if i%4 == 0 {
				h.agent(`{"type":"response","id":1,"command":"get_state","success":true}`)
			}
		},
		"dialogs and prompts": func(h *hostile, i int) {
			h.client(`{"type":"prompt","id":%d,"message":"x"}`, i)
			h.agent(`{"type":"extension_ui_request","id":"%d","method":"select","title":"t","options":["a","b"]}`, i)
		},
		"types": func(h *hostile, i int) { h.client(`{"type":"%s%d"}`, long, i) },
		"answered commands": func(h *hostile, i int) {
			h.client(`{"type":"abort","id":%d}`, i)
			h.agent(`{"type":"response","id":%d,"command":"abort","success":true}`, i)
		},
		"unknown commands": func(h *hostile, i int) {
			h.client(`{"type":"x%d","id":%d}`, i, i)
			h.agent(`{"type":"response","id":%d,"command":"x%d","success":false,"error":"Unknown command: x%d"}`, i, i, i)
		},
		"strays": func(h *hostile, i int) {
			if i < 1000 {
				h.client(`{"type":"get_state","id":%d}`, i)
			}
			h.agent(`{"type":"response","id":"s%d","command":"get_state","success":true}`, i)
		},
		"lines that are no JSON": func(h *hostile, i int) { h.client("x%d", i) },
		"prompts":                func(h *hostile, i int) { h.client(`{"type":"prompt","id":%d,"message":"/x"}`, i) },
		"accepted prompts": func(h *hostile, i int) {
			h.client(`{"type":"prompt","id":%d,"message":"x"}`, i)
			h.agent(`{"type":"response","id":%d,"command":"prompt","success":true,"data":{"disposition":"started"}}`, i)
		},
		"dialogs": func(h *hostile, i int) {
			h.agent(`{"type":"extension_ui_request","id":"%d","method":"select","title":"%s","options":["a","b"]}`, i, long)
		},
		"notices": func(h *hostile, i int) {
			h.agent(`{"type":"extension_ui_request","id":"%d","method":"notify","message":"x"}`, i)
		},
		"answers to nobody": func(h *hostile, i int) { h.client(`{"type":"extension_ui_response","id":"%d","value":"x"}`, i) },
		"tools": func(h *hostile, i int) {
			h.agent(`{"type":"tool_execution_start","toolCallId":"%d","toolName":"%s%d","args":{}}`, i, long, i)
		},
		"runs": func(h *hostile, i int) {
			h.agent(`{"type":"agent_start"}`)
			h.agent(`{"type":"turn_start"}`)
		},
		"turns of one run": func(h *hostile, i int) {
			if i == 0 {
				h.agent(`{"type":"agent_start"}`)
			}
			h.agent(`{"type":"turn_start"}`)
		},
		"messages": func(h *hostile, i int) {
			if i == 0 {
				h.agent(`{"type":"agent_start"}`)
				h.agent(`{"type":"turn_start"}`)
			}
			h.agent(`{"type":"message_start","message":{"role":"user","content":"%s"}}`, long)
		},
		"blocks of one message": func(h *hostile, i int) {
			if i == 0 {
				h.agent(`{"type":"agent_start"}`)
				h.agent(`{"type":"turn_start"}`)
				h.agent(`{"type":"message_start","message":{"role":"assistant","content":[]}}`)
			}
			h.agent(`{"type":"message_update","assistantMessageEvent":{"type":"text_delta","contentIndex":%d,"delta":"x"}}`, i)
		},
		"updates without message": func(h *hostile, i int) {
			h.agent(`{"type":"message_update","assistantMessageEvent":{"type":"text_delta","contentIndex":0,"delta":"x"}}`)
		},
		"queued messages": func(h *hostile, i int) {
			h.client(`{"type":"steer","id":%d,"message":"m%d"}`, i, i)
			h.agent(`{"type":"response","id":%d,"command":"steer","success":true,"data":{"disposition":"queued"}}`, i)
		},
		"kinds":  func(h *hostile, i int) { h.agent(`{"type":"%s%d"}`, long, i) },
		"stderr": func(h *hostile, i int) { h.add(record.Stderr, []byte(long)) },
		"stalls and signals": func(h *hostile, i int) {
			h.n += 2
			h.s.Add(&record.Entry{N: h.n - 1, T: h.n, From: record.Agent, Note: &record.Note{Kind: "stall", Since: h.n - 1, For: 1}})
			h.s.Add(&record.Entry{N: h.n, T: h.n, Note: &record.Note{Kind: "signal", Signal: long}})
		},
		"gaps": func(h *hostile, i int) {
			h.client(`{"type":"get_state","id":%d}`, i%100)
			h.n++
			h.s.Add(&record.Entry{N: h.n, T: h.n, From: record.Agent, Note: &record.Note{Kind: "gap", Lost: map[string]int64{"agent": 1 << 60}}})
		},
		"wrong members": func(h *hostile, i int) { h.client(`{"type":"abort","%s%d":1}`, long, i) },
	} {
		t.Run(name, func(t *testing.T) {
			h := newHostile(t)
			for i := range n {
				flood(h, i)
			}
			h.done(20*time.Second, 100*mib)
		})
	}
}

// Parts of one record without end.
func TestHostileParts(t *testing.T) {
	piece, pieces := bytes.Repeat([]byte("x"), mib), int64(256)
	if raceEnabled {
		pieces = 16
	}
	h := newHostile(t)
	h.n = 1
	h.s.Add(&record.Entry{N: 1, From: record.Client, Part: true, Body: []byte(`{"type":"prompt","message":"`)})
	off := int64(28)
	for i := range pieces {
		h.n++
		h.s.Add(&record.Entry{N: h.n, T: i, From: record.Client, Off: off, Part: true, Body: piece})
		off += mib
	}
	h.done(20*time.Second, 50*mib)
}
