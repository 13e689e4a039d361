package cut_test

import (
	"strings"
	"testing"

	"pitap/replay/cut"
)

// A long prompt comes back whole, since clients compare; what the agent alone wrote is shortened.
func TestEchoStaysWhole(t *testing.T) {
	prompt := strings.Repeat("Please read all of it. ", 40)
	capture := `{"pitap":1,"cwd":"/w","agent":{"version":"1.6.0"}}
{"from":"client","msg":{"id":"1","type":"prompt","message":"` + prompt + `"}}
{"from":"agent","msg":{"type":"message_start","message":{"role":"user","content":[{"type":"text","text":"` + prompt[:500] + `"}]}}}
{"from":"agent","msg":{"type":"message_start","message":{"role":"assistant","content":[{"type":"text","text":"` + strings.Repeat("Long. ", 100) + `"}]}}}
`
	got := cutting(t, capture, cut.Options{})
	if strings.Count(got, prompt[:500]) != 2 || strings.Count(got, "…") != 1 {
		t.Errorf("got %s", got)
	}
}

// Names are replaced where they are names, not where they are words.
func TestNamesAreNoWords(t *testing.T) {
	capture := `{"pitap":1,"cwd":"/home/mark/p","home":"/home/mark","host":"desk","agent":{"version":"1.6.0"}}
{"from":"agent","msg":{"type":"x","text":"mark it on the desk; remark: desktop"}}
{"from":"agent","msg":{"type":"x","text":"mark@desk:~$ ls /media/mark/usb\n-rw-r--r-- 1 mark mark 5 Nov 30 20:10 mark it"}}
`
	got := cutting(t, capture, cut.Options{})
	for _, want := range []string{`"mark it on the desk; remark: desktop"`, `"user@host:~$ ls /media/user/usb\n-rw-r--r-- 1 user user 5 Jan  1 00:00 mark it"`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
}

// Times of any form that programs print, and ids of calls whatever they look like, are the same in each recording.
func TestTimesAndCalls(t *testing.T) {
	record := func(call, date, ls, sql, ms string) string {
		return strings.NewReplacer("CALL", call, "DATE", date, "LS", ls, "SQL", sql, "MS", ms).Replace(`{"pitap":1,"cwd":"/w","agent":{"version":"1.6.0"}}
{"from":"agent","msg":{"type":"message_end","message":{"role":"assistant","content":[{"type":"toolCall","id":"CALL","name":"bash","arguments":{"command":"date"}}],"responseId":"CALL-r"}}}
{"from":"agent","msg":{"type":"tool_execution_end","toolCallId":"CALL","result":{"content":[{"type":"text","text":"DATE\n-rw-r--r-- 1 root root 5 LS x\nSQL MS"}],"at":MS}}}
`)
	}
	a := record("call_1_0", "Mon Nov 30 20:11:16 UTC 2026", "Nov 30 20:10", "2026-11-30 20:11:16", "1796069476000")
	b := record("x9", "Tue Dec  1 08:00:01 CET 2026", "Dec  1 08:00", "2026-12-01 08:00:01.123", "1796112001123")
	got := cutting(t, a, cut.Options{})
	if other := cutting(t, b, cut.Options{}); got != other {
		t.Errorf("got %s\nand %s", got, other)
	}
	for _, want := range []string{`"toolCallId":"call_1"`, `"id":"call_1"`, `"responseId":"resp_1"`, `Thu Jan  1 00:00:00 UTC 2026\n`, `5 Jan  1 00:00 x\n2026-01-01 00:00:00 1767225600000"`, `"at":1767225600000`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
	if again := cutting(t, got, cut.Options{}); again != got {
		t.Errorf("cut again: %s", again)
	}
}

// What Python makes of text that is not ASCII is JSON like any other; half a character is not, for readers such as jq.
func TestEscapedText(t *testing.T) {
	for text, want := range map[string]string{
		`caf\u00e9 \ud83d\ude00`: `"msg":{"type":"prompt","message":"caf\u00e9 \ud83d\ude00"}`,
		`\\ud83d`:                `"msg":{"type":"prompt","message":"\\ud83d"}`,
		`\ud83d`:                 `"text":"{`,
		`\ude00\ud83d`:           `"text":"{`,
		`\ud83dx\ude00`:          `"text":"{`,
	} {
		got := cutting(t, `{"pitap":1,"agent":{"version":"1.6.0"}}`+"\n"+`{"from":"client","msg":{"type":"prompt","message":"`+text+`"}}`+"\n", cut.Options{})
		if !strings.Contains(got, want) {
			t.Errorf("%s: got %s", text, got)
		}
	}
}

// Figures of use keep all their members, which clients read; their values say nothing.
func TestUsageKeepsItsMembers(t *testing.T) {
	capture := `{"pitap":1,"agent":{"version":"1.6.0"}}
{"from":"agent","msg":{"type":"message_end","message":{"role":"assistant","content":[],"usage":{"input":1495,"output":8,"cacheRead":7,"cacheWrite":0,"reasoning":3,"totalTokens":1503,"cost":{"input":0.5,"output":0,"total":0.5,"totalFromProvider":true},"tier":"x"}}}}
{"from":"agent","msg":{"type":"message_end","message":{"role":"assistant","content":[],"usage":{"input":1495,"output":8}}}}
`
	got := cutting(t, capture, cut.Options{})
	for _, want := range []string{
		`"usage":{"input":1,"output":1,"cacheRead":0,"cacheWrite":0,"reasoning":0,"totalTokens":2,"cost":{"input":0,"output":0,"total":0,"totalFromProvider":false},"tier":"x"}`,
		`"usage":{"input":1,"output":1}`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
	if again := cutting(t, got, cut.Options{}); again != got {
		t.Errorf("cut again: %s", again)
	}
}
