package replay

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"
)

// Work that was in flight when the client closed stdin is never answered, in the replay neither.
func TestEndWithWorkInFlight(t *testing.T) {
	capture := fixture(`> {"id":"b","type":"bash","command":"sleep 3"}`, eofNote, exitNote)
	converse(t, capture, nil, func(c *talk) {
		c.send(`{"id":"other","type":"bash","command":"sleep 3"}`)
		c.silent(10 * time.Second) // an agent without open work, as far as is known, waits for its end
		if r := c.end(Complete, 0); r.Failed() {
			t.Errorf("report: %s", r)
		}
	})
}

// However the client's bytes come, they are the same records.
func TestInputInPieces(t *testing.T) {
	cjk := strings.Repeat("名前", 50_000)
	record := `{"id":"1","type":"set_session_name","name":"` + cjk + `"}`
	answer := `{"id":"1","type":"response","command":"set_session_name","success":true}`
	capture := fixture("> "+record, "< "+answer, eofNote, exitNote)
	short := fixture("> "+setName, "< "+nameAnswer, eofNote, exitNote)
	for _, test := range []struct {
		name, capture, record string
		size                  int
		pause                 time.Duration
	}{
		{"at once", capture, record, 1 << 20, 0},
		{"characters cut", capture, record, 1000, 0},
		{"byte by byte", short, setName, 1, time.Millisecond},
		{"in three writes", short, setName, 20, 200 * time.Millisecond},
	} {
		converse(t, test.capture, nil, func(c *talk) {
			for b := range slices.Chunk([]byte(test.record+"\n"), test.size) {
				if _, err := c.in.Write(b); err != nil {
					t.Fatal(err)
				}
				time.Sleep(test.pause)
			}
			if got := c.next(); !strings.Contains(got, `"id":"1"`) || !strings.Contains(got, `"success":true`) {
				t.Errorf("%s: got %s", test.name, got)
			}
			c.end(Complete, 0)
		})
	}
	// 500 records in one write, and a record and a half.
	var lines, want []string
	for i := range 500 {
		lines = append(lines, fmt.Sprintf(`> {"id":%d,"type":"set_session_name","name":"%d"}`, i, i), fmt.Sprintf(`< {"id":%d,"type":"response","command":"set_session_name","success":true}`, i))
		want = append(want, strings.TrimPrefix(lines[2*i+1], "< "))
	}
	converse(t, fixture(append(lines, eofNote, exitNote)...), func(a *Agent) { a.Speed = MaxSpeed }, func(c *talk) {
		all := ""
		for i := 0; i < 1000; i += 2 {
			all += strings.TrimPrefix(lines[i], "> ") + "\n"
		}
		half := len(all) - 20
		io.WriteString(c.in, all[:half])
		c.expect(want[:499]...)
		c.silent(500 * time.Millisecond)
		io.WriteString(c.in, all[half:])
		c.expect(want[499])
		c.end(Complete, 0)
	})
}

// The replay cuts its output where the recording was cut, also when an id of another length stands before the place.
func TestRecordedCuts(t *testing.T) {
	capture := fixture(
		`> {"id":"1","type":"get_state"}`,
		`{"n":2,"t":9,"from":"agent","off":0,"cuts":[[60,5],[70,7],[5000,8]],"msg":{"id":"1","type":"response","command":"get_state","success":true,"data":{"name":"名前"}}}`,
		eofNote, exitNote)
	const whole = `,"type":"response","command":"get_state","success":true,"data":{"name":"名前"}}` + "\n"
	for _, id := range []string{`"1"`, `"quite another one"`} {
		s, err := Parse([]byte(capture))
		if err != nil {
			t.Fatal(err)
		}
		f, err := ParseFault("recorded", 1)
		if err != nil {
			t.Fatal(err)
		}
		var writes []string
		a := &Agent{Script: s, Fault: f, In: strings.NewReader(`{"id":` + id + `,"type":"get_state"}` + "\n"),
			Out: writerFunc(func(p []byte) (int, error) { writes = append(writes, string(p)); return len(p), nil })}
		if r, err := a.Run(t.Context()); err != nil || r.Failed() {
			t.Fatalf("%v %s", err, r)
		}
		all := `{"id":` + id + whole
		at := 60 + len(id) - len(`"1"`)
		if want := []string{all[:at], all[at : at+10], all[at+10:]}; !slices.Equal(writes, want) {
			t.Errorf("got  %q\nwant %q", writes, want)
		}
	}
}

// The same id twice in flight, 1 and "1", an id that is used again: each command gets one answer, with its own id.
func TestIDsInFlight(t *testing.T) {
	var lines []string
	for _, x := range []string{"1", "2", "3", "4"} {
		lines = append(lines, `> {"id":"`+x+`","type":"set_session_name","name":"`+x+`"}`)
	}
	for _, x := range []string{"1", "2", "3", "4"} {
		lines = append(lines, `< {"id":"`+x+`","type":"response","command":"set_session_name","success":true,"data":`+x+`}`)
	}
	converse(t, fixture(append(lines, eofNote, exitNote)...), nil, func(c *talk) {
		for i, id := range []string{`"id":1,`, `"id":"1",`, `"id":1,`, ``} {
			c.send(fmt.Sprintf(`{%s"type":"set_session_name","name":"%d"}`, id, i+1))
		}
		for i, id := range []string{`"id":1,`, `"id":"1",`, `"id":1,`, ``} {
			c.expect(fmt.Sprintf(`{%s"type":"response","command":"set_session_name","success":true,"data":%d}`, id, i+1))
		}
		c.end(Complete, 0)
	})
}

// Recorded get_state, prompt, abort; the client asks twice, with other ids, changes a word, and asks for a tree.
func TestOneWordChanged(t *testing.T) {
	capture := fixture(
		`> {"id":"1","type":"get_state"}`, `< {"id":"1","type":"response","command":"get_state","success":true,"data":{}}`,
		`> {"id":"2","type":"prompt","message":"count the files in here"}`, `< {"id":"2","type":"response","command":"prompt","success":true}`, `< {"type":"agent_start"}`,
		`> {"id":"3","type":"abort"}`, `< {"type":"agent_settled","aborted":true}`, `< {"id":"3","type":"response","command":"abort","success":true}`,
		eofNote, exitNote)
	converse(t, capture, nil, func(c *talk) {
		c.send(`{"id":"x","type":"get_state"}`, `{"id":"y","type":"get_state"}`)
		for _, id := range []string{"x", "y"} {
			c.expect(`{"id":"` + id + `","type":"response","command":"get_state","success":true,"data":{}}`)
		}
		c.send(`{"id":"p","type":"prompt","message":"count the folders in here"}`)
		if got := c.next(); !strings.Contains(got, `"success":false`) || !strings.Contains(got, `differs at message: recorded \"count the files in here\", got \"count the folders in here\"`) {
			t.Errorf("got %s", got)
		}
		c.send(`{"id":"t","type":"get_tree"}`)
		if got := c.next(); !strings.Contains(got, "no get_tree was recorded") {
			t.Errorf("got %s", got)
		}
		c.send(`{"id":"q","type":"prompt","message":"count the files in here"}`)
		c.expect(`{"id":"q","type":"response","command":"prompt","success":true}`, `{"type":"agent_start"}`)
		c.send(`{"type":"abort"}`)
		c.expect(`{"type":"agent_settled","aborted":true}`, `{"type":"response","command":"abort","success":true}`)
		if r := c.end(Complete, 1); len(r.Misses) != 2 || !r.Failed() {
			t.Errorf("report: %s", r)
		}
	})
}

// Dialogs: one that ended by itself is no gate, and what the client sends to it then is no miss; a value that was not
// among the options is an answer like any other.
func TestDialogsThatEnd(t *testing.T) {
	const (
		timed  = `{"type":"extension_ui_request","id":"d1","method":"confirm","title":"Quick?","timeout":100}`
		choice = `{"type":"extension_ui_request","id":"d2","method":"select","title":"Which?","options":["a","b"]}`
		answer = `{"type":"extension_ui_response","id":"d2","value":"c"}`
		done   = `{"id":"1","type":"response","command":"prompt","success":true}`
	)
	capture := fixture(`> {"id":"1","type":"prompt","message":"/ask"}`, "< "+timed, "< "+choice, "> "+answer, "< "+done, eofNote, exitNote)
	converse(t, capture, nil, func(c *talk) {
		c.send(`{"id":"1","type":"prompt","message":"/ask"}`)
		c.expect(timed, choice)
		c.send(`{"type":"extension_ui_response","id":"d1","confirmed":true}`, answer)
		c.expect(done)
		if r := c.end(Complete, 0); r.Failed() {
			t.Errorf("report: %s", r)
		}
	})
	converse(t, capture, nil, func(c *talk) {
		c.send(`{"id":"1","type":"prompt","message":"/ask"}`)
		c.expect(timed, choice)
		c.send(`{"type":"extension_ui_response","id":"d2","value":"a"}`)
		if r := c.finished(Different, 1); !strings.Contains(r.Detail, `recorded "c", got "a"`) {
			t.Errorf("report: %s", r)
		}
	})
}
