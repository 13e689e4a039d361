package replay

import (
	"strings"
	"testing"
	"time"
)

// settings are two commands that change something and cause events.
var settings = fixture(
	`> {"id":"1","type":"set_session_name","name":"x"}`,
	`< {"type":"session_info_changed","name":"x"}`,
	`< {"id":"1","type":"response","command":"set_session_name","success":true}`,
	`> {"id":"2","type":"set_thinking_level","level":"high"}`,
	`< {"type":"thinking_level_changed","level":"high"}`,
	`< {"id":"2","type":"response","command":"set_thinking_level","success":true}`,
	`> {"id":"3","type":"prompt","message":"hi"}`,
	`< {"id":"3","type":"response","command":"prompt","success":true}`,
	`< {"type":"agent_start"}`,
	`< {"type":"agent_settled"}`,
	eofNote, exitNote)

const (
	setName     = `{"id":"1","type":"set_session_name","name":"x"}`
	nameEvent   = `{"type":"session_info_changed","name":"x"}`
	nameAnswer  = `{"id":"1","type":"response","command":"set_session_name","success":true}`
	setLevel    = `{"id":"2","type":"set_thinking_level","level":"high"}`
	levelEvent  = `{"type":"thinking_level_changed","level":"high"}`
	levelAnswer = `{"id":"2","type":"response","command":"set_thinking_level","success":true}`
)

// A client that sends in another order, and awaits each answer, gets it when it has been silent for a moment.
func TestReversedAwaitingEach(t *testing.T) {
	converse(t, settings, nil, func(c *talk) {
		c.send(setLevel)
		c.silent(200 * time.Millisecond)
		c.expect(levelEvent, levelAnswer)
		c.send(setName)
		c.expect(nameEvent, nameAnswer)
		c.send(`{"id":"3","type":"prompt","message":"hi"}`)
		c.expect(`{"id":"3","type":"response","command":"prompt","success":true}`, `{"type":"agent_start"}`, `{"type":"agent_settled"}`)
		if r := c.end(Complete, 0); r.Failed() || len(r.Reordered) != 1 {
			t.Errorf("report: %s", r.Encode())
		}
	})
}

// A client that does not wait for answers gets them in recorded order, whatever order it sends in.
func TestReversedPipelined(t *testing.T) {
	converse(t, settings, nil, func(c *talk) {
		c.send(setLevel, setName)
		c.expect(nameEvent, nameAnswer, levelEvent, levelAnswer)
		if r := c.end(Unfinished, 0); len(r.NeverCame) != 1 {
			t.Errorf("report: %s", r.Encode())
		}
	})
}

// A command that is left out is named when the script gives up, and so is what came instead.
func TestOneCommandLess(t *testing.T) {
	converse(t, settings, nil, func(c *talk) {
		c.send(setName)
		c.expect(nameEvent, nameAnswer)
		c.send(`{"id":"3","type":"prompt","message":"hi"}`)
		r := c.finished(GaveUp, 1)
		want := `set_thinking_level "high" (line 5); prompt "hi" (line 8) has come before it: the order is another`
		if !strings.Contains(r.String(), want) {
			t.Errorf("report: %s\nwant in it: %s", r, want)
		}
	})
}

func TestMatchType(t *testing.T) {
	converse(t, settings, func(a *Agent) { a.MatchType = true }, func(c *talk) {
		c.send(`{"id":"1","type":"set_session_name","name":"another"}`)
		c.expect(nameEvent, nameAnswer)
		c.end(Unfinished, 0)
	})
	converse(t, settings, func(a *Agent) { a.Ignore = []string{"name"} }, func(c *talk) {
		c.send(`{"id":"1","type":"set_session_name","name":"another"}`)
		c.expect(nameEvent, nameAnswer)
		c.end(Unfinished, 0)
	})
	converse(t, settings, func(a *Agent) { a.Map = []Pair{{"x", "yy"}} }, func(c *talk) {
		c.send(`{"id":"1","type":"set_session_name","name":"yy"}`)
		c.expect(nameEvent, nameAnswer)
		c.end(Unfinished, 0)
	})
}

func TestDialogs(t *testing.T) {
	capture := fixture(
		`> {"id":"1","type":"prompt","message":"/ask"}`,
		`< {"type":"extension_ui_request","id":"n1","method":"notify","message":"hello"}`,
		`< {"type":"extension_ui_request","id":"d1","method":"confirm","title":"Sure?","message":"?"}`,
		`< {"type":"extension_ui_request","id":"d2","method":"input","title":"Name"}`,
		`> {"type":"extension_ui_response","id":"d1","confirmed":true}`,
		`< {"id":"1","type":"response","command":"prompt","success":true}`,
		eofNote, exitNote)
	const (
		ask    = `{"id":"1","type":"prompt","message":"/ask"}`
		notify = `{"type":"extension_ui_request","id":"n1","method":"notify","message":"hello"}`
		d1     = `{"type":"extension_ui_request","id":"d1","method":"confirm","title":"Sure?","message":"?"}`
		d2     = `{"type":"extension_ui_request","id":"d2","method":"input","title":"Name"}`
		yes    = `{"type":"extension_ui_response","id":"d1","confirmed":true}`
		answer = `{"id":"1","type":"response","command":"prompt","success":true}`
	)
	t.Run("answered", func(t *testing.T) {
		converse(t, capture, nil, func(c *talk) {
			c.send(ask)
			c.expect(notify, d1, d2)
			c.send(`{"type":"extension_ui_response","id":"nobody","value":"x"}`, `{"type":"extension_ui_response","id":"n1","value":"x"}`,
				`{"type":"extension_ui_response","id":"d2","value":"late"}`)
			c.silent(time.Second)
			c.send(`{"confirmed":true,"id":"d1","type":"extension_ui_response"}`, yes)
			c.expect(answer)
			if r := c.end(Complete, 0); r.Failed() {
				t.Errorf("report: %s", r)
			}
		})
	})
	t.Run("differently", func(t *testing.T) {
		for _, got := range []string{`"confirmed":false`, `"cancelled":true`, `"confirmed":"yes"`} {
			converse(t, capture, nil, func(c *talk) {
				c.send(ask)
				c.expect(notify, d1, d2)
				c.send(`{"type":"extension_ui_response","id":"d1",` + got + `}`)
				r := c.finished(Different, 1)
				if c.elapsed() > time.Second || !strings.Contains(r.Detail, "true") || !strings.Contains(r.Detail, `the dialog confirm "Sure?"`) {
					t.Errorf("after %v: %s", c.elapsed(), r)
				}
			})
		}
	})
	t.Run("not", func(t *testing.T) {
		converse(t, capture, nil, func(c *talk) {
			c.send(ask)
			c.expect(notify, d1, d2)
			if r := c.finished(GaveUp, 1); !strings.Contains(r.Detail, `the answer to the dialog confirm "Sure?" (line 6)`) {
				t.Errorf("report: %s", r)
			}
		})
	})
}

func TestIDs(t *testing.T) {
	capture := fixture(
		`> {"id":"a","type":"abort"}`,
		`< {"id":"a","type":"response","command":"abort","success":true}`,
		`> {"type":"abort_bash"}`,
		`< {"type":"response","command":"abort_bash","success":true}`,
		`> {"id":1.50e2,"type":"get_state"}`,
		`< {"id":150,"type":"response","command":"get_state","success":true,"data":{"id":"inner"}}`,
		`> {"id":"t","type":"get_tree"}`, `> {"id":"t","type":"get_tree"}`,
		`< {"id":"t","type":"response","command":"get_tree","success":true,"data":1}`,
		`< {"id":"t","type":"response","command":"get_tree","success":true,"data":2}`,
		`> {"id":"b","type":"bash","command":"ls"}`,
		`< {"type":"bash_execution_update","id":"b","delta":"x"}`,
		`< {"id":"b","type":"response","command":"bash","success":true,"data":{}}`,
		eofNote, exitNote)
	for _, test := range []struct{ live, echoed string }{
		{`"x"`, `"x"`}, {`7`, `7`}, {`null`, `null`}, {`12345678901234567890`, `12345678901234567000`}, {`1e400`, `null`},
		{`{"b":1,"2":[ 1.0 ],"1":"\u00e9\/"}`, `{"1":"é/","2":[1],"b":1}`}, {`"\ud83d\ude00 \ud83d \u2028"`, "\"😀 \\ud83d \u2028\""}, {``, ``},
	} {
		id, echoed := "", ""
		if test.live != "" {
			id, echoed = `"id":`+test.live+`,`, `"id":`+test.echoed+`,`
		}
		converse(t, capture, nil, func(c *talk) {
			for _, x := range []string{
				`"abort" "type":"response","command":"abort","success":true`,
				`"abort_bash" "type":"response","command":"abort_bash","success":true`,
				`"get_state" "type":"response","command":"get_state","success":true,"data":{"id":"inner"}`,
			} {
				command, answer, _ := strings.Cut(x, " ")
				c.send(`{` + id + `"type":` + command + `}`)
				c.expect(`{` + echoed + answer + `}`)
			}
			c.send(`{`+id+`"type":"get_tree"}`, `{"id":2,"type":"get_tree"}`)
			c.expect(`{`+echoed+`"type":"response","command":"get_tree","success":true,"data":1}`,
				`{"id":2,"type":"response","command":"get_tree","success":true,"data":2}`)
			c.send(`{` + id + `"type":"bash","command":"ls"}`)
			update := `{"type":"bash_execution_update",` + echoed + `"delta":"x"}`
			c.expect(update, `{`+echoed+`"type":"response","command":"bash","success":true,"data":{}}`)
			c.end(Complete, 0)
		})
	}
}

// Lines that are no commands are answered as they were.
func TestOddLines(t *testing.T) {
	capture := fixture(
		`> not json`, `< {"type":"response","command":"parse","success":false,"error":"bad"}`,
		`> {"id":"u","type":"no_such"}`, `< {"type":"response","command":"no_such","success":false,"error":"Unknown"}`,
		`> null`, `! TypeError: null`, `{"note":"exit","from":"agent","code":1}`)
	converse(t, capture, nil, func(c *talk) {
		c.send("not json")
		c.expect(`{"type":"response","command":"parse","success":false,"error":"bad"}`)
		c.send(`{"id":"v","type":"no_such"}`)
		c.expect(`{"type":"response","command":"no_such","success":false,"error":"Unknown"}`) // old pi leaves the id out
		c.send("null")
		if r := c.finished(Complete, 1); r.Failed() {
			t.Errorf("report: %s", r)
		}
		if c.stderr.String() != "TypeError: null\n" {
			t.Errorf("stderr %q", c.stderr.String())
		}
	})
}

// The same command with different answers, one after another; then once more.
func TestRepeatedCommand(t *testing.T) {
	capture := fixture(
		`> {"id":1,"type":"cycle_model"}`, `< {"id":1,"type":"response","command":"cycle_model","success":true,"data":1}`,
		`> {"id":1,"type":"cycle_model"}`, `< {"id":1,"type":"response","command":"cycle_model","success":true,"data":2}`,
		`> {"id":1,"type":"cycle_model"}`, `< {"id":1,"type":"response","command":"cycle_model","success":true,"data":3}`)
	converse(t, capture, nil, func(c *talk) {
		for _, data := range []string{"1", "2", "3"} {
			c.send(`{"id":1,"type":"cycle_model"}`)
			c.expect(`{"id":1,"type":"response","command":"cycle_model","success":true,"data":` + data + `}`)
		}
		c.send(`{"id":1,"type":"cycle_model"}`)
		if got := c.next(); !strings.Contains(got, "recorded 3 times like this, and this is one more") {
			t.Errorf("got %s", got)
		}
		c.end(Complete, 1)
	})
}

// Bytes that are no records are replayed as they are.
func TestJunk(t *testing.T) {
	capture := fixture(`{"from":"agent","text":"\u001b]0;title\u0007{\"type\":\"agent_settled\"}"}`, `< plain text`,
		`{"from":"agent","base64":"//4A"}`, `{"from":"agent","text":"{}","eol":"\r\n"}`, "< {\"type\":\"x\",\"t\":\"a\u2028b\"}", `{"from":"agent","text":"cut off","eol":""}`, exitNote)
	converse(t, capture, nil, func(c *talk) {
		got := ""
		for l := range c.lines {
			got += l
		}
		want := "\x1b]0;title\a{\"type\":\"agent_settled\"}\nplain text\n\xff\xfe\x00\n{}\r\n{\"type\":\"x\",\"t\":\"a\u2028b\"}\ncut off"
		if got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
		c.finished(Complete, 0)
	})
}

// The client closes stdout; what comes behind that is recorded too.
func TestReaderGone(t *testing.T) {
	capture := fixture(`< {"type":"a"}`, `{"note":"closed","from":"agent"}`, `! Error: write EPIPE`, `{"note":"exit","from":"agent","code":1}`)
	converse(t, capture, nil, func(c *talk) {
		c.expect(`{"type":"a"}`)
		close(c.gone)
		c.finished(Complete, 1)
	})
	converse(t, session, nil, func(c *talk) {
		c.send(askState)
		close(c.gone)
		c.send(hi)
		for range c.lines {
		}
		c.finished(Unfinished, 1)
	})
}

func TestSignalsAreGates(t *testing.T) {
	capture := fixture(`< {"type":"agent_start"}`, `{"note":"signal","signal":"SIGUSR1","to":"agent"}`, `< {"type":"b"}`,
		`{"note":"signal","signal":"SIGTERM","to":"agent"}`, `< {"type":"c"}`, `{"note":"exit","from":"agent","code":143}`)
	converse(t, capture, nil, func(c *talk) {
		c.expect(`{"type":"agent_start"}`)
		c.silent(time.Second / 2)
		c.signals <- "SIGUSR1"
		c.expect(`{"type":"b"}`)
		c.signals <- "SIGWINCH"
		c.silent(time.Second / 2)
		c.signals <- "SIGTERM"
		c.expect(`{"type":"c"}`)
		if r := c.finished(Complete, 143); r.Failed() {
			t.Errorf("report: %s", r)
		}
	})
}
