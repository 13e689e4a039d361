package replay

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"
	"time"
)

// rightClient reads records as a client should, and has the conversation of session. It returns the types it saw.
type rightClient struct {
	c     *talk
	types []string
}

// record returns the next record that matters.
func (r *rightClient) record() map[string]any {
	for {
		line := strings.TrimRight(r.c.next(), "\r\n")
		var rec map[string]any
		if json.Unmarshal([]byte(strings.ToValidUTF8(line, "\ufffd")), &rec) != nil || rec["type"] == "pitap_noise" {
			continue
		}
		delete(rec, "pitap")
		name, _ := rec["type"].(string)
		r.types = append(r.types, name)
		return rec
	}
}

func (r *rightClient) until(typ, id string) {
	for {
		rec := r.record()
		if got, _ := rec["id"].(string); rec["type"] == typ && (id == "" || got == id) {
			return
		}
	}
}

func TestFaults(t *testing.T) {
	for _, k := range Faults() {
		if k.Fatal {
			continue
		}
		t.Run(k.Name, func(t *testing.T) {
			f, err := ParseFault(k.Name, 1)
			if err != nil {
				t.Fatal(err)
			}
			converse(t, session, func(a *Agent) { a.Fault = f }, func(c *talk) {
				r := &rightClient{c: c}
				c.send(askState)
				r.until("response", "1")
				c.send(hi)
				r.until("response", "2")
				r.until("agent_start", "")
				c.send(askState3)
				r.until("response", "3")
				if !slices.Contains(r.types, "agent_settled") {
					r.until("agent_settled", "")
				}
				c.send(askState4)
				r.until("response", "4")
				c.send(askText)
				r.until("response", "5")
				c.in.Close()
				for range c.lines {
				}
				<-c.ended
				if c.report.Failed() || c.report.Code != 0 {
					t.Errorf("report: %s", c.report)
				}
				slices.Sort(r.types)
				if got := strings.Join(slices.Compact(r.types), " "); got != "agent_end agent_settled agent_start response" {
					t.Errorf("types %s", got)
				}
			})
		})
	}
}

// chunks plays session with a fault to a client that sends all at once, and returns the writes.
func chunks(t *testing.T, fault string, send string) (writes []string, r *Report) {
	t.Helper()
	f, err := ParseFault(fault, 1)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Parse([]byte(session))
	if err != nil {
		t.Fatal(err)
	}
	var stderr syncBuffer
	a := &Agent{Script: s, Fault: f, Stderr: &stderr, Wait: time.Second,
		Out: writerFunc(func(p []byte) (int, error) { writes = append(writes, string(p)); return len(p), nil })}
	stays(a, send, 0)
	if r, err = a.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return writes, r
}

func several(s string) bool { return strings.Count(s, "\n") > 1 }

// Each fault is what it says.
func TestFaultShapes(t *testing.T) {
	all := strings.Join([]string{askState, hi, askState3, askState4, askText}, "\n") + "\n"
	for _, test := range []struct {
		fault string
		is    func(writes []string, all string) bool
	}{
		{"split", func(w []string, all string) bool { return len(w) == len(all) }},
		{"join", func(w []string, all string) bool {
			return strings.Contains(all, "}\n{") && slices.ContainsFunc(w, several)
		}},
		{"fast", func(w []string, all string) bool { return slices.ContainsFunc(w, several) }},
		{"pause-lf", func(w []string, all string) bool { return len(w) == 16 && w[1] == "\n" && w[15] == "\n" }},
		{"crlf", func(w []string, all string) bool { return strings.Count(all, "\r\n") == 8 }},
		{"u2028", func(w []string, all string) bool { return strings.Count(all, "\u2028") == 8 }},
		{"big=100000", func(w []string, all string) bool {
			return slices.ContainsFunc(w, func(s string) bool { return len(s) > 100_000 })
		}},
		{"cut=65536", func(w []string, all string) bool { return len(w[len(w)-1]) == 65536 && !strings.HasSuffix(all, "\n") }},
		{"junk", func(w []string, all string) bool { return strings.Contains(all, "\a{") }},
		{"stray", func(w []string, all string) bool { return strings.Contains(all, "npm warn something\n\n") }},
		{"utf8", func(w []string, all string) bool { return strings.Contains(all, "\xff\xfe") }},
		{"exit=2", func(w []string, all string) bool { return strings.Count(all, "\n") == 2 }},
		{"withhold=1", func(w []string, all string) bool {
			return !strings.Contains(all, `"n":0`) && strings.Contains(all, `"n":1`)
		}},
	} {
		w, r := chunks(t, test.fault, all)
		if !test.is(w, strings.Join(w, "")) {
			t.Errorf("%s: %q; %s", test.fault, w, r)
		}
	}
	if _, r := chunks(t, "exit=2", all); r.Code != 1 {
		t.Errorf("exit: %s", r)
	}
	if _, r := chunks(t, "kill", all); r.Signal != "SIGKILL" {
		t.Errorf("kill: %s", r)
	}
	a, _ := chunks(t, "stray", all)
	b, _ := chunks(t, "stray", all)
	if !slices.Equal(a, b) {
		t.Errorf("the same seed, other faults: %q, %q", a, b)
	}
}

// Responses to two questions come in the other order.
func TestReorder(t *testing.T) {
	f, _ := ParseFault("reorder", 1)
	converse(t, settings, func(a *Agent) { a.Fault = f }, func(c *talk) {
		c.send(setName, setLevel)
		c.expect(nameEvent)
		got := []string{c.next(), c.next(), c.next()}
		if want := []string{nameAnswer + "\n", levelEvent + "\n", levelAnswer + "\n"}; slices.Equal(got, want) {
			t.Errorf("in order: %q", got)
		}
		c.end(Unfinished, 0)
	})
}

// The agent waits for the reader of stderr.
func TestStderrFlood(t *testing.T) {
	f, _ := ParseFault("stderr=1000000", 1)
	var r *io.PipeReader
	converse(t, session, func(a *Agent) {
		var w *io.PipeWriter
		r, w = io.Pipe()
		a.Fault, a.Stderr = f, w
	}, func(c *talk) {
		c.send(askState)
		c.silent(time.Second)
		go io.Copy(io.Discard, r)
		c.expect(stateIs("1", "false", "0"))
		c.send(hi)
		c.expect(hiAnswer, started)
		c.signals <- "SIGKILL-is-not-seen"
		c.in.Close()
		for range c.lines {
		}
		r.Close()
	})
}

func TestFaultNames(t *testing.T) {
	for _, bad := range []string{"", "nothing", "split=3", "big=x", "big=-1", "stall=3"} {
		if _, err := ParseFault(bad, 0); err == nil {
			t.Errorf("%q is a fault", bad)
		}
	}
	var b bytes.Buffer
	for _, k := range Faults() {
		if _, err := ParseFault(k.Name, 0); err != nil || k.Catches == "" {
			t.Errorf("%s: %v", k.Name, err)
		}
		b.WriteString(k.Name)
	}
}
