package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pitap/record/scan"
)

// sameEntry says how an entry that was read differs from the one that was written.
func sameEntry(want, got *Entry) error {
	w, g := *want, *got
	w.Line, g.Line = nil, nil
	w.scanned, g.scanned = scan.Result{}, scan.Result{}
	w.spans, g.spans = nil, nil
	if len(w.Body) == 0 && len(g.Body) == 0 {
		w.Body, g.Body = nil, nil
	}
	if len(w.Cuts) == 0 && len(g.Cuts) == 0 {
		w.Cuts, g.Cuts = nil, nil
	}
	if len(w.Supersedes) == 0 && len(g.Supersedes) == 0 {
		w.Supersedes, g.Supersedes = nil, nil
	}
	if !reflect.DeepEqual(w, g) {
		return fmt.Errorf("entry\n%+v\nnote %+v, want\n%+v\nnote %+v", g, g.Note, w, w.Note)
	}
	return nil
}

func TestEntryRoundTrip(t *testing.T) {
	code := 7
	for _, test := range []struct {
		entry Entry
		line  string
	}{
		{Entry{N: 12, T: 1234567, From: Agent, Off: 4096, Form: Msg, Body: []byte(`{"a":"<>&` + "\u2028" + `",  "b":1e400,"a":12345678901234567890}`), EOL: "\n"},
			`{"n":12,"t":1234567,"from":"agent","off":4096,"msg":{"a":"<>&` + "\u2028" + `",  "b":1e400,"a":12345678901234567890}}`},
		{Entry{N: 1, From: Client, Form: Msg, Body: []byte(`{}`), EOL: "\r\n"}, `{"n":1,"t":0,"from":"client","off":0,"eol":"\r\n","msg":{}}`},
		{Entry{N: 1, From: Client, Form: Msg, Body: []byte(`0`), EOL: ""}, `{"n":1,"t":0,"from":"client","off":0,"eol":"","msg":0}`},
		{Entry{N: 2, T: 5, From: Stderr, Form: Text, Body: []byte("tab\tquote\" é \u2028 \x1b[0m\x00"), EOL: "\n"},
			`{"n":2,"t":5,"from":"stderr","off":0,"text":"tab\tquote\" é \u2028 \u001b[0m\u0000"}`},
		{Entry{N: 3, From: Agent, Form: Text, EOL: "\n"}, `{"n":3,"t":0,"from":"agent","off":0,"text":""}`},
		{Entry{N: 3, From: Agent, Form: Base64, Body: []byte("\xff\xfe"), EOL: "\n"}, `{"n":3,"t":0,"from":"agent","off":0,"base64":"//4="}`},
		{Entry{N: 4, T: 9, From: Agent, Off: 8, Form: Text, Body: []byte(`{"half`), Part: true}, `{"n":4,"t":9,"from":"agent","off":8,"part":true,"text":"{\"half"}`},
		{Entry{N: 5, T: 9, From: Agent, Off: 14, Form: Text, Body: []byte(`"}`), Part: true, Last: true, EOL: "\n"}, `{"n":5,"t":9,"from":"agent","off":14,"part":true,"last":true,"text":"\"}"}`},
		{Entry{N: 5, T: 9, From: Agent, Off: 14, Form: Text, Part: true, Last: true, EOL: ""}, `{"n":5,"t":9,"from":"agent","off":14,"part":true,"last":true,"eol":"","text":""}`},
		{Entry{N: 6, T: 9, From: Agent, Off: 8, Form: Msg, Body: []byte(`{"half":1}`), EOL: "\n", Supersedes: []int64{4, 5}, Cuts: []Cut{{6, 3}, {8, 4}}, MoreCuts: 2},
			`{"n":6,"t":9,"from":"agent","off":8,"cuts":[[6,3],[8,4]],"moreCuts":2,"supersedes":[4,5],"msg":{"half":1}}`},
		{Entry{N: 7, T: 1, From: Client, Note: &Note{Kind: "eof"}}, `{"n":7,"t":1,"note":"eof","from":"client"}`},
		{Entry{N: 7, T: 1, Note: &Note{Kind: "signal", Signal: "SIGTERM", To: "group"}}, `{"n":7,"t":1,"note":"signal","signal":"SIGTERM","to":"group"}`},
		{Entry{N: 8, T: 1, From: Agent, Note: &Note{Kind: "exit", Code: &code}}, `{"n":8,"t":1,"note":"exit","from":"agent","code":7}`},
		{Entry{N: 8, T: 1, From: Agent, Off: 77, Note: &Note{Kind: "undelivered", Bytes: 10}}, `{"n":8,"t":1,"note":"undelivered","from":"agent","off":77,"bytes":10}`},
		{Entry{N: 8, T: 1, From: Agent, Note: &Note{Kind: "stall", Since: 5, For: 6}}, `{"n":8,"t":1,"note":"stall","from":"agent","since":5,"for":6}`},
		{Entry{N: 9, T: 1, Note: &Note{Kind: "gap", Error: "disk full", Lost: map[string]int64{"agent": 5, "client": 6}}}, `{"n":9,"t":1,"note":"gap","error":"disk full","lost":{"agent":5,"client":6}}`},
		{Entry{N: 9, T: 1, Note: &Note{Kind: "clock", By: -5, Wall: sampleStart}}, `{"n":9,"t":1,"note":"clock","by":-5,"wall":"2026-11-30T14:05:00.123456789Z"}`},
		{Entry{N: 9, T: 1, Note: &Note{Kind: "file", Path: "/x", Data: []byte{0, 255}}}, `{"n":9,"t":1,"note":"file","path":"/x","data":"AP8="}`},
		{Entry{N: 9, T: 1, Note: &Note{Kind: "end", Totals: &Totals{Entries: 9, Streams: map[string]Volume{"agent": {1, 2}}, Flagged: map[string]int64{"framing/crlf": 1}, Lost: 3}}},
			`{"n":9,"t":1,"note":"end","totals":{"entries":9,"streams":{"agent":{"records":1,"bytes":2}},"flagged":{"framing/crlf":1},"lost":3}}`},
	} {
		line := AppendEntry([]byte("before"), &test.entry)
		if string(line) != "before"+test.line+"\n" {
			t.Errorf("written %s, want %s", line, test.line)
		}
		if !json.Valid([]byte(test.line)) {
			t.Errorf("not JSON: %s", test.line)
		}
		got, err := ParseEntry([]byte(test.line))
		if err == nil {
			err = sameEntry(&test.entry, got)
		}
		if err != nil {
			t.Errorf("%s: %v", test.line, err)
		}
	}
}

func TestParseEntryErrors(t *testing.T) {
	for _, test := range []struct{ line, err string }{
		{``, "no JSON object at byte 0"},
		{`  []`, "no JSON object at byte 2"},
		{`{`, "no member name at byte 1"},
		{`{"n":1,`, "no member name at byte 7"},
		{`{"n":1,}`, "no member name at byte 7"},
		{`{n:1}`, "no member name at byte 1"},
		{`{"n"1}`, "no colon at byte 4"},
		{`{"n":}`, `no JSON value at byte 5, for "n"`},
		{`{"n":1 "t":2}`, "no comma at byte 7"},
		{`{"n":1`, "no comma at byte 6"},
		{`{"n":1]`, "no comma at byte 6"},
		{`{"n":1}x`, "something behind the object at byte 7"},
		{`{}`, "no member from, up to byte 2"},
		{`{}}`, "something behind the object at byte 2"},
		{`{"n":-1}`, `member n at byte 5 is "-1", not a count`},
		{`{"n":1.5}`, `member n at byte 5 is "1.5", not a count`},
		{`{"n":1e3}`, "not a count"},
		{`{"n":"1"}`, "not a count"},
		{`{"n":99999999999999999999}`, "not a count"},
		{`{"n":9223372036854775807}`, "not a count"},
		{`{"t":null}`, `member t at byte 5 is "null"`},
		{`{"off":[]}`, `member off at byte 7 is "[]"`},
		{`{"n":1,"from":"moon","msg":{}}`, `member from at byte 14 is "\"moon\"", neither`},
		{`{"n":1,"from":5,"msg":{}}`, "member from at byte 14"},
		{`{"n":1,"from":"","msg":{}}`, "member from at byte 14"},
		{`{"n":1,"from":"agent"}`, "no member msg, text, base64 or note, up to byte 22"},
		{`{"from":"agent","eol":"\r","msg":{}}`, "member eol at byte 22"},
		{`{"from":"agent","text":5}`, "member text at byte 23"},
		{`{"from":"agent","text":"\ud800"}`, "member text at byte 23 is no string of whole characters"},
		{"{\"from\":\"agent\",\"text\":\"\xff\"}", "member text at byte 23"},
		{"{\"from\":\"agent\",\"msg\":\"\xff\"}", "member msg is not UTF-8 at byte 23"},
		{`{"from":"agent","msg":{"a":}}`, "no JSON value at byte 22"},
		{`{"from":"agent","base64":5}`, "member base64 at byte 25"},
		{`{"from":"agent","base64":"a"}`, "member base64 at byte 25"},
		{`{"from":"agent","base64":"\u00ff"}`, "member base64 at byte 25"},
		{`{"from":"agent","cuts":5,"msg":{}}`, "member cuts is no list of pairs of counts at byte 23"},
		{`{"from":"agent","cuts":[5],"msg":{}}`, "member cuts is no list of pairs of counts at byte 24"},
		{`{"from":"agent","cuts":[[1,2],[3]],"msg":{}}`, "member cuts is no list of pairs of counts at byte 32"},
		{`{"from":"agent","cuts":[[1,-2]],"msg":{}}`, "at byte 27"},
		{`{"from":"agent","cuts":[[[1,2]]],"msg":{}}`, "at byte 25"},
		{`{"from":"agent","supersedes":[1,"x"],"msg":{}}`, "member supersedes is no list of counts at byte 32"},
		{`{"from":"agent","supersedes":[1,1.5],"msg":{}}`, "at byte 33"},
		{`{"note":5}`, "note: member note at byte 8"},
		{`{"note":"gap","lost":[]}`, "note: member lost at byte 21"},
		{`{"note":"gap","n":-4}`, "not a count"},
		{`{"note":"gap","n":1e30}`, "member n at byte 18"},
		{`{"note":"clock","wall":"noon"}`, "note: member wall at byte 23"},
		{`{"note":"file","data":"*"}`, "note: member data at byte 22"},
		{`{"note":"gap","lost":{` + strings.Repeat(`"a":1,`, 20_000) + `"a":1}}`, "note: member lost at byte 21 has 120007 bytes"},
	} {
		e, err := ParseEntry([]byte(test.line))
		if err == nil || !strings.Contains(err.Error(), test.err) || !strings.Contains(err.Error(), "byte") {
			t.Errorf("%.60s: entry %+v, error %v, want %q", test.line, e, err, test.err)
		}
	}
}

func TestParseEntryLenient(t *testing.T) {
	for _, test := range []struct {
		line string
		want Entry
	}{
		{`{"msg":{"a":1},"from":"agent","n":3}`, Entry{N: 3, From: Agent, Form: Msg, Body: []byte(`{"a":1}`), EOL: "\n"}},
		{`{"msg":1,"n":1,"n":2,"from":"client","from":"agent","msg":{"b":2} }`, Entry{N: 2, From: Agent, Form: Msg, Body: []byte(`{"b":2}`), EOL: "\n"}},
		{`{"from":"agent","msg":{"a":1},"x":{}}`, Entry{From: Agent, Form: Msg, Body: []byte(`{"a":1}`), EOL: "\n"}},
		{`{"from":"agent","base64":"\/\/4="}`, Entry{From: Agent, Form: Base64, Body: []byte("\xff\xfe"), EOL: "\n"}},
		{`{"from":"agent","flags":["framing/of-the-future",1],"cuts":[],"supersedes":[ ],"msg":{}}`, Entry{From: Agent, Form: Msg, Body: []byte("{}"), EOL: "\n"}},
		{`{"from":"agent","cuts":[ [1 , 2] ,[3,4]],"msg":{}}`, Entry{From: Agent, Form: Msg, Body: []byte("{}"), EOL: "\n", Cuts: []Cut{{1, 2}, {3, 4}}}},
		{`{"note":"end","msg":{},"from":"agent"}`, Entry{From: Agent, Note: &Note{Kind: "end"}}},
	} {
		got, err := ParseEntry([]byte(test.line))
		if err == nil {
			err = sameEntry(&test.want, got)
		}
		if err != nil {
			t.Errorf("%s: %v", test.line, err)
		}
	}
}

// TestManyCuts keeps as many cuts as are ever written, and counts those beyond.
func TestManyCuts(t *testing.T) {
	var list []string
	for i := range maxCuts + 5 {
		list = append(list, fmt.Sprintf("[%d,1]", i))
	}
	e, err := ParseEntry([]byte(`{"from":"agent","moreCuts":2,"cuts":[` + strings.Join(list, ",") + `],"msg":{}}`))
	if err != nil || len(e.Cuts) != maxCuts || e.MoreCuts != 7 || e.Cuts[maxCuts-1].At != maxCuts-1 {
		t.Errorf("%d cuts, %d more, %v", len(e.Cuts), e.MoreCuts, err)
	}
}

// FuzzEntry writes any entry and reads it back.
func FuzzEntry(f *testing.F) {
	f.Add(int64(1), int64(2), int64(3), uint8(2), []byte(`{"a":1}`), uint8(0), []byte{1, 2, 3})
	f.Add(int64(1), int64(2), int64(3), uint8(1), []byte("\xff\xfe\x00"), uint8(1), []byte{})
	f.Add(int64(9), int64(2), int64(3), uint8(3), []byte("\"\\\u2028\x7f\u0085"), uint8(7), []byte{4})
	f.Add(int64(9), int64(2), int64(3), uint8(3), []byte(` {} `), uint8(10), []byte{4})
	f.Fuzz(func(t *testing.T, n, at, off int64, from uint8, body []byte, how uint8, list []byte) {
		e := Entry{N: n & (maxCount - 1), T: at & (maxCount - 1), Off: off & (maxCount - 1), From: Client + Stream(from%3), Form: formOf(body), Body: body, EOL: "\n"}
		if r := scan.Scan(body); how&1 == 0 && storable(body, r) && bytes.IndexByte(body, '\n') < 0 {
			e.Form = Msg
		}
		switch {
		case how&6 == 2:
			e.Part, e.EOL = true, ""
		case how&6 == 4:
			e.Part, e.Last = true, true
		}
		if !e.Part || e.Last {
			e.EOL = []string{"\n", "\r\n", ""}[how>>3%3]
		}
		for i, b := range list {
			e.Cuts = append(e.Cuts, Cut{int64(b), int64(i)})
			e.Supersedes = append(e.Supersedes, int64(b)<<(i%40))
		}
		if len(e.Cuts) > 3 {
			e.MoreCuts = int64(how)
		}
		line := AppendEntry(nil, &e)
		if bytes.IndexByte(line, '\n') != len(line)-1 || !json.Valid(line) {
			t.Fatalf("line is %q", line)
		}
		got, err := ParseEntry(line)
		if err == nil {
			err = sameEntry(&e, got)
		}
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
	})
}

// FuzzNote writes any note and reads it back.
func FuzzNote(f *testing.F) {
	f.Add("exit", "SIGTERM", "no such file", int64(5), int64(0), []byte("data"))
	f.Add("gap", "", "\x00", int64(-5), int64(9), []byte(nil))
	f.Fuzz(func(t *testing.T, kind, signal, text string, a, b int64, data []byte) {
		valid := func(s string) string { return strings.ToValidUTF8(s, "?") }
		n := &Note{Kind: valid(kind), Signal: valid(signal), To: valid(text), Error: valid(text), Since: a, For: b, By: a, Bytes: b, Path: valid(signal), Data: data}
		if len(data) == 0 {
			n.Data = nil
		}
		if a > 0 {
			code := int(b)
			n.Code = &code
			n.Wall = time.Unix(b%1e11, a%1e9).UTC()
			n.Lost = map[string]int64{valid(text): a, "agent": b}
			n.Totals = &Totals{Entries: a, Lost: b, Streams: map[string]Volume{"client": {a, b}}, Flagged: map[string]int64{valid(kind): 1}}
		}
		e := Entry{N: a & (maxCount - 1), T: b & (maxCount - 1), From: Stream(len(data) % 4), Off: b & 0xFFFF, Note: n}
		line := AppendEntry(nil, &e)
		if bytes.IndexByte(line, '\n') != len(line)-1 || !json.Valid(line) {
			t.Fatalf("line is %q", line)
		}
		got, err := ParseEntry(line)
		if err == nil {
			err = sameEntry(&e, got)
		}
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
	})
}

// FuzzParseEntry reads hostile lines. What is taken is JSON, and is the same when it is written and read again.
func FuzzParseEntry(f *testing.F) {
	for _, s := range []string{
		`{"n":1,"t":2,"from":"agent","off":3,"msg":{"type":"x"}}`,
		`{"n":1,"t":2,"from":"agent","off":3,"part":true,"last":true,"eol":"","cuts":[[1,2]],"moreCuts":1,"flags":["framing/crlf"],"supersedes":[1,2],"text":"a\u2028\n"}`,
		`{"n":1,"from":"stderr","base64":"//4="}`,
		`{"n":1,"note":"end","totals":{"entries":1,"streams":{"agent":{"records":1}}}}`,
		`{"n":1,"note":"clock","wall":"2026-11-30T14:05:00Z","lost":{"a":1},"data":"AA=="}`,
		` { "msg" : [ ] , "from" : "client" } `,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		var d decoder
		var e Entry
		if err := d.parse(line, &e); err != nil {
			if !strings.Contains(err.Error(), "byte") {
				t.Fatalf("error %v names no byte", err)
			}
			return
		}
		if len(line) < 10_000 && !json.Valid(line) { // the standard library refuses very deep nesting
			t.Fatalf("taken, and not JSON: %q", line)
		}
		first := clone(&e)
		if first.Form == Msg && (bytes.IndexByte(first.Body, '\n') >= 0 || bytes.IndexByte(first.Body, '\r') >= 0) {
			return // an entry is one line; these bytes are several
		}
		if err := d.parse(AppendEntry(nil, &first), &e); err != nil {
			t.Fatalf("%q, written again: %v", line, err)
		}
		if first.Note == nil {
			if err := sameEntry(&first, &e); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
		}
	})
}

func TestParseStream(t *testing.T) {
	for s := NoStream; s < streamCount; s++ {
		if got, ok := ParseStream(s.String()); got != s || !ok {
			t.Errorf("%q is %v, %v", s.String(), got, ok)
		}
	}
	if _, ok := ParseStream("Agent"); ok {
		t.Error(`"Agent" is a stream`)
	}
	if s := Stream(9).String(); s != "unknown" {
		t.Errorf("stream 9 is %q", s)
	}
	if names := []string{Client.String(), Agent.String(), Stderr.String()}; !slices.Equal(names, []string{"client", "agent", "stderr"}) {
		t.Errorf("streams are %q", names)
	}
}
