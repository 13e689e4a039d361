package cut_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pitap/record"
	"pitap/replay"
	"pitap/replay/cut"
)

// session is a recording of a conversation; what differs from recording to recording is given.
func session(id, entry, home, port string, at int) string {
	r := strings.NewReplacer("ID", id, "ENTRY", entry, "HOME", home, "PORT", port, "AT", fmt.Sprint(1796056000000+at), "SYSTEM", strings.Repeat("You are in "+home+". ", 50),
		"LONG", strings.Repeat("long output ", 100))
	return r.Replace(`{"pitap":1,"start":"2026-11-30T14:05:00.123Z","argv":["pi","--mode","rpc","--session-dir","HOME/s"],"cwd":"HOME/project","home":"HOME","tmp":"/tmp","agent":{"path":"HOME/lib/node_modules/x/pi","version":"1.6.0"}}
{"n":1,"t":1,"from":"client","off":0,"msg":{"id":"ID","type":"get_state"}}
{"n":2,"t":2,"from":"agent","off":0,"msg":{"id":"ID","type":"response","command":"get_state","success":true,"data":{"sessionFile":"HOME/.pi/agent/sessions/--` + "ENC" + `--/2026-11-30T14-05-00-123Z_ID.jsonl","baseUrl":"http://127.0.0.1:PORT/v1"}}}
{"n":3,"t":3,"from":"client","off":0,"msg":{"id":"p","type":"prompt","message":"read HOME/project/a.txt LONG"}}
{"n":4,"t":4,"from":"agent","off":0,"msg":{"id":"p","type":"response","command":"prompt","success":true}}
{"n":5,"t":5,"from":"agent","off":0,"msg":{"type":"agent_start"}}
{"n":6,"t":6,"from":"agent","off":0,"msg":{"type":"message_end","message":{"role":"system","content":"SYSTEM","sections":{"a":"SYSTEM"},"timestamp":AT}}}
{"n":7,"t":7,"from":"agent","off":0,"msg":{"type":"message_update","usage":{"input":5,"output":1},"assistantMessageEvent":{"type":"text_delta","contentIndex":0,"delta":"a\u2028b"}}}
{"n":8,"t":8,"note":"stall","from":"agent","since":1}
{"n":9,"t":9,"from":"agent","off":0,"msg":{"type":"message_update","usage":{"input":5,"output":2},"assistantMessageEvent":{"type":"text_delta","contentIndex":0,"delta":"c \" d"}}}
{"n":10,"t":10,"from":"agent","off":0,"msg":{"type":"message_update","usage":{"input":5,"output":2},"assistantMessageEvent":{"type":"text_delta","contentIndex":1,"delta":"e"}}}
{"n":11,"t":11,"from":"agent","off":0,"msg":{"type":"tool_execution_end","toolCallId":"call_ENTRY","result":{"content":[{"type":"text","text":"LONG"}]},"durationMs":AT}}
{"n":12,"t":12,"from":"agent","off":0,"msg":{"type":"agent_settled"}}
{"n":13,"t":13,"from":"client","off":0,"msg":{"id":"e","type":"get_entries"}}
{"n":14,"t":14,"from":"agent","off":0,"msg":{"id":"e","type":"response","command":"get_entries","success":true,"data":{"entries":[{"id":"ENTRY","parentId":null}]}}}
{"n":15,"t":15,"from":"client","off":0,"msg":{"id":"f","type":"fork","entryId":"ENTRY"}}
{"n":16,"t":16,"from":"agent","off":0,"msg":{"id":"f","type":"response","command":"fork","success":true,"data":{}}}
{"n":17,"t":17,"from":"agent","off":0,"msg":{"type":"extension_ui_request","id":"ID","method":"confirm","title":"x"}}
{"n":18,"t":18,"from":"client","off":0,"msg":{"type":"extension_ui_response","id":"ID","confirmed":true}}
{"n":19,"t":19,"note":"eof","from":"client"}
{"n":20,"t":20,"note":"exit","from":"agent","code":0}
{"n":21,"t":21,"note":"end"}
`)
}

var (
	one = strings.ReplaceAll(session("0f8fad5b-d9cb-469f-a165-70867728950e", "a1b2c3d4", "/home/ann", "40123", 17), "ENC", "home-ann-project")
	two = strings.ReplaceAll(session("7c9e6679-7425-40de-944b-e07fc1f90ae7", "99887766", "/Users/bob/x", "5123", 99999), "ENC", "Users-bob-x-project")
)

func cutting(t testing.TB, capture string, opt cut.Options) string {
	t.Helper()
	var b bytes.Buffer
	err := cut.Cut(&b, func() (*record.Reader, error) {
		return record.NewReader(strings.NewReader(capture), func() (int64, error) { return int64(len(capture)), nil }), nil
	}, opt)
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Two recordings of the same conversation cut to the same bytes, and a fixture cuts to itself.
func TestEqual(t *testing.T) {
	a, b := cutting(t, one, cut.Options{}), cutting(t, two, cut.Options{})
	// The prompt names a folder and keeps all its words, so it is a matter of the header's folders.
	if a != b {
		la, lb := strings.Split(a, "\n"), strings.Split(b, "\n")
		for i := range min(len(la), len(lb)) {
			if la[i] != lb[i] {
				t.Fatalf("line %d:\n%s\n%s", i+1, la[i], lb[i])
			}
		}
	}
	if len(a) > 5000 {
		t.Errorf("%d bytes", len(a))
	}
	for _, gone := range []string{"ann", "bob", "40123", "a1b2c3d4", "0f8fad5b", `"n":`, `"t":`, "179605", "You are in /home/user. You are in /home/user. You are in /home/user"} {
		if strings.Contains(a, gone) {
			t.Errorf("%q is still in it: %s", gone, a)
		}
	}
	if want := `"delta":"a\u2028bc \" d"`; !strings.Contains(a, want) {
		t.Errorf("no joined delta %s", want)
	}
	if again := cutting(t, a, cut.Options{}); again != a {
		t.Errorf("cut again: %s", again)
	}
}

// A fixture still replays to the client that was recorded, in its own folder.
func TestReplays(t *testing.T) {
	for _, opt := range []cut.Options{{}, {Exact: true}} {
		s, err := replay.Parse([]byte(cutting(t, one, opt)))
		if err != nil {
			t.Fatal(err)
		}
		r := record.NewReader(strings.NewReader(one), func() (int64, error) { return int64(len(one)), nil })
		var client bytes.Buffer
		for r.Next() {
			if e := r.Entry(); e.From == record.Client && e.Note == nil {
				client.Write(append(bytes.Clone(e.Body), '\n'))
			}
		}
		in := client.String()
		if !opt.Exact { // what the agent has told comes back
			in = strings.NewReplacer("a1b2c3d4", "00000001", "0f8fad5b-d9cb-469f-a165-70867728950e", "00000000-0000-4000-8000-000000000001").Replace(in)
		}
		in = strings.ReplaceAll(in, "/home/ann", "/live")
		var out bytes.Buffer
		a := replay.Agent{Script: s, In: strings.NewReader(in), Out: &out, Speed: replay.MaxSpeed, Live: replay.Folders{Cwd: "/live/project", Home: "/live", Tmp: "/tmp"}}
		rep, err := a.Run(context.Background())
		if err != nil || rep.Failed() {
			t.Errorf("%+v: %v %s", opt, err, rep)
		}
	}
}

func TestParts(t *testing.T) {
	for _, test := range []struct {
		opt  cut.Options
		want string // the types that are left
	}{
		{cut.Options{}, "get_state response prompt response agent_start message_end message_update message_update tool_execution_end agent_settled get_entries response fork response extension_ui_request extension_ui_response eof exit"},
		{cut.Options{Run: 1}, "get_state response prompt response agent_start message_end message_update message_update tool_execution_end agent_settled get_entries response eof exit"},
		{cut.Options{First: 13, Last: 16}, "get_state response get_entries response fork response eof exit"},
	} {
		var got []string
		for i, l := range strings.Split(strings.TrimSpace(cutting(t, one, test.opt)), "\n") {
			var e struct {
				Note string
				Msg  struct{ Type string }
			}
			if err := json.Unmarshal([]byte(l), &e); err != nil {
				t.Fatal(err)
			}
			if i > 0 {
				got = append(got, e.Note+e.Msg.Type)
			}
		}
		if g := strings.Join(got, " "); g != test.want {
			t.Errorf("%+v:\ngot  %s\nwant %s", test.opt, g, test.want)
		}
	}
	err := cut.Cut(&bytes.Buffer{}, func() (*record.Reader, error) {
		return record.NewReader(strings.NewReader(one), func() (int64, error) { return int64(len(one)), nil }), nil
	}, cut.Options{Run: 2})
	if err == nil || err.Error() != "there is no run 2: the session has 1" {
		t.Errorf("error %v", err)
	}
}

// Exact changes nothing but the entries' numbers and times.
func TestExact(t *testing.T) {
	got := cutting(t, one, cut.Options{Exact: true})
	if !strings.Contains(got, `"delta":"a\u2028b"}`) || !strings.Contains(got, "a1b2c3d4") || strings.Contains(got, `"n":`) {
		t.Errorf("got %s", got)
	}
}

func FuzzCut(f *testing.F) {
	f.Add([]byte(one))
	f.Fuzz(func(t *testing.T, capture []byte) {
		for _, opt := range []cut.Options{{}, {Exact: true}, {Run: 1}} {
			var b bytes.Buffer
			err := cut.Cut(&b, func() (*record.Reader, error) {
				return record.NewReader(bytes.NewReader(capture), func() (int64, error) { return int64(len(capture)), nil }), nil
			}, opt)
			if err != nil {
				continue
			}
			r := record.NewReader(bytes.NewReader(b.Bytes()), func() (int64, error) { return int64(b.Len()), nil })
			for r.Next() {
			}
			if r.Err() != nil || len(r.Damage()) > 0 {
				t.Fatalf("%+v: %v %v: %s", opt, r.Err(), r.Damage(), b.Bytes())
			}
		}
	})
}

// The names of the machine and of its user are nowhere but in the client's own words; words of the protocol that are
// spelled like them stay.
func TestNames(t *testing.T) {
	long := strings.Repeat("at /home/prompter/lib/x.js ", 50)
	capture := `{"pitap":1,"start":"2026-11-30T14:05:00Z","argv":["pi","--mode","rpc","--session-dir","/srv/s-17"],"cwd":"/home/prompter/w","home":"/home/prompter","tmp":"/tmp","host":"settled-4711","agent":{"version":"1.6.0"}}
{"n":1,"t":1,"from":"client","off":0,"msg":{"type":"bash","command":"ls -l # on settled-4711 as prompter"}}
{"n":2,"t":2,"from":"agent","off":0,"msg":{"type":"response","command":"bash","success":true,"data":{"output":"-rw-r--r-- 1 prompter prompters 5 a.txt\nprompter@settled-4711:/home/prompter/w$","hostname":"settled-4711","kind":"prompter","env":"KEY=sk-ant-api03-0123456789abcdef_x\nAuthorization: Bearer abcdefghijklmnopqrst","file":"/srv/s-17/a.jsonl","wall_time_seconds":0.8}}}
{"n":3,"t":3,"from":"agent","off":0,"text":"loaded /home/prompter/w/ext.ts"}
{"n":4,"t":4,"from":"stderr","off":0,"text":"` + long + `"}
{"n":5,"t":5,"note":"exit","from":"agent","code":0}
`
	got := cutting(t, capture, cut.Options{})
	for _, want := range []string{
		`"command":"ls -l # on settled-4711 as prompter"`,
		`"output":"-rw-r--r-- 1 user prompters 5 a.txt\nuser@host:/home/user/project$","hostname":"host","kind":"prompter","env":"KEY=SECRET\nAuthorization: SECRET","file":"/home/user/sessions/a.jsonl","wall_time_seconds":1`,
		`"text":"loaded /home/user/project/ext.ts"`, `at /home/user/lib/x.js at`, `"--session-dir","/home/user/sessions"`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
	if len(got) > 1500 {
		t.Errorf("%d bytes", len(got))
	}
	if again := cutting(t, got, cut.Options{}); again != got {
		t.Errorf("cut again: %s", again)
	}
}

// A text that is rewritten is still written as pi writes it: what breaks readers is not mended.
func TestRawCharacters(t *testing.T) {
	text := "/home/ann/x\u2028y\u2029z\u0085 \x7f " + `\u0000\u001b\t\"\\ 名前`
	capture := `{"pitap":1,"home":"/home/ann","agent":{"version":"1.6.0"}}
{"from":"agent","msg":{"type":"x","text":"` + text + `"}}
`
	want := `{"from":"agent","msg":{"type":"x","text":"` + strings.Replace(text, "/home/ann", "/home/user", 1) + `"}}`
	if got := cutting(t, capture, cut.Options{}); !strings.Contains(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
