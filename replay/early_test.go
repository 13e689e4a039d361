package replay

import (
	"strings"
	"testing"
	"time"
)

// A client that does not wait until the agent has settled gets the recorded answer, and the verdict tells of it.
func TestAsksBeforeTheRunHasEnded(t *testing.T) {
	converse(t, session, nil, func(c *talk) {
		c.send(hi, askText)
		c.expect(hiAnswer, started, runEnd, settled, textAnswer)
		r := c.end(Complete, 0)
		if text := r.String(); !strings.HasPrefix(text, "ok: complete, but a question came too early: pi would have answered otherwise\n") ||
			!strings.Contains(text, "get_last_assistant_text (line 13) came before agent_end (line 9) had been sent") {
			t.Errorf("report: %s", text)
		}
	})
	converse(t, session, nil, func(c *talk) {
		c.send(hi)
		c.expect(hiAnswer, started, runEnd, settled)
		c.send(askText)
		c.expect(textAnswer)
		if r := c.end(Complete, 0); r.TooEarly > 0 {
			t.Errorf("who waits is told %s", r)
		}
	})
}

// The end of stdin, or a signal, in a run that had its end when it was recorded ends the replay as it ends pi.
func TestEndsInARun(t *testing.T) {
	for _, test := range []struct {
		signal string
		code   int
		what   string
	}{{"", 0, "the end of stdin"}, {"SIGTERM", 143, "the signal SIGTERM"}} {
		converse(t, session, nil, func(c *talk) {
			c.send(askState, hi)
			c.expect(stateIs("1", "false", "0"))
			if test.signal != "" {
				c.expect(hiAnswer)
				c.signals <- test.signal
			} else {
				c.in.Close()
				c.expect(hiAnswer)
			}
			got := ""
			for l := range c.lines {
				got += l
			}
			r := c.finished(Unfinished, test.code)
			if strings.Contains(got, "agent_end") || !strings.Contains(r.Detail, test.what+" came before agent_end (line 9) had been sent") {
				t.Errorf("got %q; report: %s", got, r)
			}
			if _, failed := r.Verdict(true); failed {
				t.Errorf("not allowed: %s", r)
			}
		})
	}
}

// A session that was recorded with an early end has that again, wherever in the run it comes.
func TestEarlyEndWasRecorded(t *testing.T) {
	capture := fixture("> "+hi, "< "+hiAnswer, "< "+started, `< {"type":"turn_start"}`, eofNote, exitNote)
	for _, wait := range []bool{true, false} {
		converse(t, capture, nil, func(c *talk) {
			c.send(hi)
			if wait {
				c.expect(hiAnswer)
			}
			c.in.Close()
			for range c.lines {
			}
			if r := c.finished(Complete, 0); r.Failed() || r.Ended != "" {
				t.Errorf("report: %s", r)
			}
		})
	}
}

// What is left of a damaged fixture is another conversation: it is not played.
func TestDamagedFixture(t *testing.T) {
	for _, test := range []struct{ from, to, want string }{
		{`{"from":"agent","msg":{"type":"agent_start"}}`, `x{"from":"agent","msg":{"type":"agent_start"}}`, "line 6 is damaged"},
		{`{"from":"agent","msg":{"type":"agent_start"}}`, "<<<<<<< HEAD", "line 6 is damaged"},
		{`{"note":"eof"`, "=======\n" + `{"note":"eof"`, "line 15 is damaged"},
		{textAnswerLine, textAnswerLine + "\n" + textAnswerLine, "line 15 stands there twice"},
	} {
		_, err := Parse([]byte(strings.Replace(session, test.from, test.to, 1)))
		if err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s: %v, want %s", test.to, err, test.want)
		}
	}
}

const textAnswerLine = `{"from":"agent","msg":` + textAnswer + `}`

// A fixture that was cut short says so, and waits for no end that it does not have.
func TestCutShort(t *testing.T) {
	lines := strings.SplitAfter(session, "\n")
	converse(t, strings.Join(lines[:6], ""), nil, func(c *talk) {
		c.send(hi)
		c.expect(hiAnswer, started)
		begin := time.Now()
		r := c.finished(Unfinished, 1)
		if d := time.Since(begin); d > 500*time.Millisecond {
			t.Errorf("waited %v for an end that was not recorded", d)
		}
		if text := r.String(); !strings.Contains(text, "nothing more was recorded; at line 6 of 6") || !strings.Contains(text, "the capture is cut short: it has no end") {
			t.Errorf("report: %s", text)
		}
		if s := c.stderr.String(); !strings.HasPrefix(s, "pitap replay: the capture is cut short: it has no end, line 6 is its last\n") {
			t.Errorf("stderr: %s", s)
		}
	})
}

// Another end than the recorded one is no failure, but is told: a test's runner may have killed a client that hung.
func TestEndIsTold(t *testing.T) {
	converse(t, session, nil, func(c *talk) {
		c.send(askState, hi, askState3, askState4, askText)
		c.expect(stateIs("1", "false", "0"), hiAnswer, started, stateIs("3", "true", "1"), runEnd, settled, stateIs("4", "false", "2"), textAnswer)
		time.Sleep(time.Minute)
		c.signals <- "SIGTERM"
		if r := c.finished(Complete, 143); !strings.Contains(r.String(), "it ended by the signal SIGTERM; recorded: the client closed stdin (line 15)") {
			t.Errorf("report: %s", r)
		}
	})
}

// A command that was recorded and has come is not one that never was.
func TestRecordedOnce(t *testing.T) {
	converse(t, session, nil, func(c *talk) {
		c.send(hi)
		c.expect(hiAnswer)
		c.send(`{"id":"9","type":"prompt","message":"another"}`, `{"id":"10","type":"steer","message":"another"}`)
		for range c.lines {
			if s := c.stderr.String(); strings.Contains(s, "steer") {
				break
			}
		}
		if s := c.stderr.String(); !strings.Contains(s, "each recorded prompt has been used") || !strings.Contains(s, "no steer was recorded") {
			t.Errorf("stderr: %s", s)
		}
	})
}
