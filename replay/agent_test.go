package replay

import (
	"strings"
	"testing"
	"time"
)

// session is a short conversation: a question, a prompt, a question in the run, a question behind it.
var session = fixture(
	`> {"id":"1","type":"get_state"}`,
	`< {"id":"1","type":"response","command":"get_state","success":true,"data":{"isStreaming":false,"n":0}}`,
	`> {"id":"2","type":"prompt","message":"hi"}`,
	`< {"id":"2","type":"response","command":"prompt","success":true}`,
	`< {"type":"agent_start"}`,
	`> {"id":"3","type":"get_state"}`,
	`< {"id":"3","type":"response","command":"get_state","success":true,"data":{"isStreaming":true,"n":1}}`,
	`< {"type":"agent_end","messages":[]}`,
	`< {"type":"agent_settled","aborted":false}`,
	`> {"id":"4","type":"get_state"}`,
	`< {"id":"4","type":"response","command":"get_state","success":true,"data":{"isStreaming":false,"n":2}}`,
	`> {"id":"5","type":"get_last_assistant_text"}`,
	`< {"id":"5","type":"response","command":"get_last_assistant_text","success":true,"data":{"text":"ho"}}`,
	eofNote, exitNote,
)

func stateIs(id string, streaming string, n string) string {
	return `{"id":"` + id + `","type":"response","command":"get_state","success":true,"data":{"isStreaming":` + streaming + `,"n":` + n + `}}`
}

const (
	askState   = `{"id":"1","type":"get_state"}`
	askState3  = `{"id":"3","type":"get_state"}`
	askState4  = `{"id":"4","type":"get_state"}`
	hi         = `{"id":"2","type":"prompt","message":"hi"}`
	hiAnswer   = `{"id":"2","type":"response","command":"prompt","success":true}`
	started    = `{"type":"agent_start"}`
	runEnd     = `{"type":"agent_end","messages":[]}`
	settled    = `{"type":"agent_settled","aborted":false}`
	askText    = `{"id":"5","type":"get_last_assistant_text"}`
	textAnswer = `{"id":"5","type":"response","command":"get_last_assistant_text","success":true,"data":{"text":"ho"}}`
)

func TestAsRecorded(t *testing.T) {
	converse(t, session, nil, func(c *talk) {
		c.send(askState)
		c.expect(stateIs("1", "false", "0"))
		c.send(hi)
		c.expect(hiAnswer, started)
		c.send(askState3)
		c.expect(stateIs("3", "true", "1"), runEnd, settled)
		c.send(askState4)
		c.expect(stateIs("4", "false", "2"))
		c.send(askText)
		c.expect(textAnswer)
		r := c.end(Complete, 0)
		if r.Failed() || r.Skipped+r.Extra+len(r.Early)+len(r.Reordered) > 0 {
			t.Errorf("report: %s", r)
		}
		if d := c.elapsed(); d > 50*time.Millisecond {
			t.Errorf("took %v", d)
		}
	})
}

func TestPipelined(t *testing.T) {
	converse(t, session, nil, func(c *talk) {
		c.send(askState, hi, askState3, askState4, askText)
		c.expect(stateIs("1", "false", "0"), hiAnswer, started, stateIs("3", "true", "1"), runEnd, settled, stateIs("4", "false", "2"), textAnswer)
		c.end(Complete, 0)
	})
}

// A client that polls until the agent is idle sees it stream, then idle, and never the other way round.
func TestPollUntilIdle(t *testing.T) {
	converse(t, session, nil, func(c *talk) {
		c.send(hi)
		c.expect(hiAnswer, started)
		idle := false
		for range 6 {
			c.send(`{"id":"p","type":"get_state"}`)
			for {
				l := c.next()
				if strings.Contains(l, `"isStreaming":true`) && idle {
					t.Fatal("streams after it was idle")
				}
				if strings.Contains(l, "isStreaming") {
					idle = idle || strings.Contains(l, "false")
					break
				}
			}
			time.Sleep(50 * time.Millisecond)
		}
		if !idle {
			t.Error("never idle")
		}
		c.end(Complete, 0)
	})
}

// Questions that are left out hold nothing up for longer than a pause.
func TestOneQuestionLess(t *testing.T) {
	converse(t, session, nil, func(c *talk) {
		c.send(hi)
		c.expect(hiAnswer, started, runEnd, settled)
		if d := c.elapsed(); d > 300*time.Millisecond {
			t.Errorf("took %v", d)
		}
		c.send(askText)
		c.expect(textAnswer)
		if r := c.end(Complete, 0); r.Failed() || r.Skipped != 3 {
			t.Errorf("report: %s", r)
		}
	})
}

func TestOneQuestionMore(t *testing.T) {
	converse(t, session, nil, func(c *talk) {
		c.send(askState, `{"id":"x","type":"get_state"}`)
		c.expect(stateIs("1", "false", "0"), stateIs("x", "false", "0"))
		c.send(hi)
		c.expect(hiAnswer, started)
		c.send(askState3)
		c.expect(stateIs("3", "true", "1"), runEnd, settled)
		c.send(askText)
		c.expect(textAnswer)
		for range 3 { // the place behind the run was passed
			c.send(askState4)
			c.expect(stateIs("4", "false", "2"))
		}
		c.end(Complete, 0)
	})
}

// A question that is asked before its place gets the next answer, and that is reported.
func TestEarly(t *testing.T) {
	converse(t, session, nil, func(c *talk) {
		c.send(askText)
		c.expect(textAnswer)
		c.send(askState)
		c.expect(stateIs("1", "false", "0"))
		c.send(hi)
		c.expect(hiAnswer, started)
		c.expect(runEnd, settled)
		if r := c.end(Complete, 0); len(r.Early) != 1 || r.Failed() {
			t.Errorf("report: %s", r)
		}
	})
}

func TestMissOfACommand(t *testing.T) {
	converse(t, session, nil, func(c *talk) {
		c.send(`{"id":7,"type":"prompt","message":"hi!"}`)
		got := c.next()
		want := `{"id":7,"type":"response","command":"prompt","success":false,"error":"pitap replay: no recorded prompt is the same; nearest is line 4, which differs at message: recorded \"hi\", got \"hi!\"`
		if !strings.HasPrefix(got, strings.ReplaceAll(strings.ReplaceAll(want, `\"`, `\"`), "\n", "")) {
			t.Errorf("got  %swant %s", got, want)
		}
		c.send(`{"id":"y","type":"get_tree"}`)
		if got := c.next(); !strings.Contains(got, `"id":"y"`) || !strings.Contains(got, "no get_tree was recorded") {
			t.Errorf("got %s", got)
		}
		r := c.end(Unfinished, 1)
		if len(r.Misses) != 2 || r.Misses[0].Nearest != 4 || r.Misses[0].First.Path != "message" {
			t.Errorf("report: %s", r.Encode())
		}
	})
}

// What a client swallows is in the report that is written at the miss, though it is killed then.
func TestReportAtAMiss(t *testing.T) {
	converse(t, session, nil, func(c *talk) {
		c.send(`{"id":7,"type":"steer","message":"hi!"}`)
		c.next()
		last := c.lastReport()
		r, err := ParseReport([]byte(last))
		if err != nil || !r.Failed() || r.Outcome != Running || len(r.Misses) != 1 {
			t.Errorf("%v: %s", err, last)
		}
		c.end(Unfinished, 1)
	})
}

func TestAnotherFolder(t *testing.T) {
	capture := fixture(
		`> {"id":"1","type":"prompt","message":"read /rec/project/a.txt and file:///rec/project/b%20c, not /rec/projects"}`,
		`< {"id":"1","type":"response","command":"prompt","success":true}`,
		`> {"id":"2","type":"switch_session","sessionPath":"/rec/.pi/s.jsonl"}`,
		`< {"id":"2","type":"response","command":"switch_session","success":true}`,
		`> {"id":"3","type":"export_html","outputPath":"/rec/tmp/x.html"}`,
		`< {"id":"3","type":"response","command":"export_html","success":true,"data":{"path":"/rec/tmp/x.html"}}`,
		eofNote, exitNote)
	live := func(a *Agent) { a.Live = Folders{Cwd: "/home/me/work", Home: "/home/me", Tmp: "/tmp"} }
	converse(t, capture, live, func(c *talk) {
		c.send(`{"id":"1","type":"prompt","message":"read /home/me/work/a.txt and file:///home/me/work/b%20c, not /rec/projects"}`)
		c.expect(`{"id":"1","type":"response","command":"prompt","success":true}`)
		c.send(`{"id":"2","type":"switch_session","sessionPath":"/home/me/.pi/s.jsonl"}`)
		c.expect(`{"id":"2","type":"response","command":"switch_session","success":true}`)
		c.send(`{"id":"3","type":"export_html","outputPath":"/tmp/x.html"}`)
		c.expect(`{"id":"3","type":"response","command":"export_html","success":true,"data":{"path":"/rec/tmp/x.html"}}`)
		c.end(Complete, 0)
	})
}

func TestEarlyAbort(t *testing.T) {
	for _, test := range []struct {
		signal string
		code   int
		death  string
	}{{"SIGTERM", 143, ""}, {"SIGHUP", 129, ""}, {"SIGINT", 0, "SIGINT"}} {
		converse(t, session, nil, func(c *talk) {
			c.send(askState)
			c.expect(stateIs("1", "false", "0"))
			c.signals <- test.signal
			r := c.finished(Unfinished, test.code)
			if r.Signal != test.death || len(r.NeverCame) != 1 {
				t.Errorf("%s: report %s", test.signal, r.Encode())
			}
		})
	}
	converse(t, session, nil, func(c *talk) { c.end(Unfinished, 0) })
}

// A client that ends an idle session in another way than the recorded one has done nothing wrong.
func TestAnotherEnd(t *testing.T) {
	converse(t, session, nil, func(c *talk) {
		c.send(askState, hi, askState3, askState4, askText)
		c.expect(stateIs("1", "false", "0"), hiAnswer, started, stateIs("3", "true", "1"), runEnd, settled, stateIs("4", "false", "2"), textAnswer)
		time.Sleep(time.Minute) // pi, too, would wait
		if r, _ := ParseReport([]byte(c.lastReport())); r.Failed() {
			t.Errorf("a client that kills the agent now leaves %s", r)
		}
		c.signals <- "SIGTERM"
		if r := c.finished(Complete, 143); r.Failed() {
			t.Errorf("report: %s", r)
		}
	})
}

// Something that never comes is said after a second and given up after four.
func TestGivesUp(t *testing.T) {
	converse(t, session, nil, func(c *talk) {
		c.send(askState)
		c.expect(stateIs("1", "false", "0"))
		time.Sleep(1500 * time.Millisecond)
		if s := c.stderr.String(); !strings.Contains(s, `waits for prompt "hi" (line 4)`) {
			t.Errorf("stderr after 1.5 s: %q", s)
		}
		for range 20 { // polling is no reason to wait longer
			c.send(`{"id":"p","type":"get_state"}`)
			c.expect(stateIs("p", "false", "0"))
			time.Sleep(100 * time.Millisecond)
		}
		r := c.finished(GaveUp, 1)
		if d := c.elapsed(); d < 3900*time.Millisecond || d > 4200*time.Millisecond {
			t.Errorf("gave up after %v", d)
		}
		if len(r.Waits) != 1 || !r.Waits[0].GaveUp {
			t.Errorf("report: %s", r.Encode())
		}
	})
	converse(t, session, func(a *Agent) { a.Wait = -1 }, func(c *talk) {
		c.send(askState)
		c.expect(stateIs("1", "false", "0"))
		time.Sleep(time.Hour)
		c.send(hi)
		c.expect(hiAnswer, started)
		c.send(askState3)
		c.expect(stateIs("3", "true", "1"), runEnd, settled)
		if r := c.end(Complete, 0); len(r.Waits) != 1 || r.Failed() {
			t.Errorf("report: %s", r.Encode())
		}
	})
}

// Time in which the client does not read is no wait.
func TestSlowReaderIsNoWait(t *testing.T) {
	converse(t, session, nil, func(c *talk) {
		c.send(askState)
		c.expect(stateIs("1", "false", "0")) // the reader is in its next read
		c.send(hi)
		c.expect(hiAnswer)
		c.turn <- struct{}{} // when started has been read
		c.send(askState3)
		time.Sleep(time.Minute)
		<-c.turn
		c.expect(started, stateIs("3", "true", "1"), runEnd, settled)
		c.send(askState4, askText)
		c.expect(stateIs("4", "false", "2"), textAnswer)
		if r := c.end(Complete, 0); r.Failed() || len(r.Waits) > 0 {
			t.Errorf("report: %s", r)
		}
	})
}

// After an answer with events behind it there is a moment, in which a client can begin to listen.
func TestBreath(t *testing.T) {
	capture := fixture(`> {"type":"prompt","message":"hi"}`, `< {"type":"response","command":"prompt","success":true}`, `< {"type":"agent_start"}`, `< {"type":"agent_settled"}`)
	for _, test := range []struct {
		speed    float64
		min, max time.Duration
	}{{0, 5 * time.Millisecond, 5 * time.Millisecond}, {MaxSpeed, 0, 0}} {
		converse(t, capture, func(a *Agent) { a.Speed = test.speed }, func(c *talk) {
			c.send(`{"type":"prompt","message":"hi"}`)
			c.expect(`{"type":"response","command":"prompt","success":true}`)
			begin := time.Now()
			c.expect(`{"type":"agent_start"}`)
			if d := time.Since(begin); d < test.min || d > test.max {
				t.Errorf("speed %v: %v behind the answer", test.speed, d)
			}
			c.expect(`{"type":"agent_settled"}`)
			c.end(Complete, 0)
		})
	}
}

func TestRecordedPace(t *testing.T) {
	capture := fixture(
		`{"n":1,"t":1000000000,"from":"client","off":0,"msg":{"type":"prompt","message":"hi"}}`,
		`{"n":2,"t":1100000000,"from":"agent","off":0,"msg":{"type":"response","command":"prompt","success":true}}`,
		`{"n":3,"t":2100000000,"from":"agent","off":0,"msg":{"type":"agent_start"}}`,
		`{"n":4,"t":12100000000,"from":"agent","off":0,"msg":{"type":"agent_settled"}}`)
	for _, test := range []struct {
		speed   float64
		gap     time.Duration
		a, b, c time.Duration
	}{
		{1, 0, 100 * time.Millisecond, 1100 * time.Millisecond, 11100 * time.Millisecond},
		{2, 0, 50 * time.Millisecond, 550 * time.Millisecond, 5550 * time.Millisecond},
		{1, 2 * time.Second, 100 * time.Millisecond, 1100 * time.Millisecond, 3100 * time.Millisecond},
	} {
		converse(t, capture, func(a *Agent) { a.Speed, a.MaxGap = test.speed, test.gap }, func(c *talk) {
			time.Sleep(3 * time.Second)
			begin := time.Now()
			c.send(`{"type":"prompt","message":"hi"}`)
			for i, want := range []time.Duration{test.a, test.b, test.c} {
				c.next()
				if d := time.Since(begin); d != want {
					t.Errorf("speed %v: record %d after %v, want %v", test.speed, i, d, want)
				}
			}
			c.end(Complete, 0)
		})
	}
}
