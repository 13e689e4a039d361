package files

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pitap/record"
)

func see(c *Collector, from record.Stream, body string) {
	c.See(&record.Entry{From: from, Form: record.Msg, Body: []byte(body)})
}

func TestSee(t *testing.T) {
	for _, test := range []struct {
		name string
		from record.Stream
		body string
		want string
	}{
		{"get_state", record.Agent, `{"type":"response","command":"get_state","success":true,"data":{"sessionFile":"/s/a.jsonl"}}`, "/s/a.jsonl"},
		{"bash", record.Agent, `{"type":"response","command":"bash","data":{"truncated":true,"fullOutputPath":"/tmp/pi-bash-1.log"}}`, "/tmp/pi-bash-1.log"},
		{"a tool", record.Agent, `{"type":"tool_execution_end","result":{"details":{"fullOutputPath":"/t/b.log"}}}`, "/t/b.log"},
		{"switch_session", record.Client, `{"type": "switch_session", "sessionPath" : "/s/\u0062.jsonl"}`, "/s/b.jsonl"},
		{"export_html", record.Agent, `{"type":"response","command":"export_html","success":true,"data":{"path":"x.html"}}`, "x.html"},
		{"twice", record.Agent, `{"a":{"sessionFile":"/1.jsonl"},"b":[{"sessionFile":"/2.jsonl"},{"sessionFile":"/1.jsonl"}]}`, "/1.jsonl /2.jsonl"},
		{"other paths", record.Agent, `{"type":"response","command":"get_commands","data":[{"path":"/x.html"}]}`, ""},
		{"in a text", record.Agent, `{"type":"message_update","delta":"{\"sessionFile\":\"/x.jsonl\"}"}`, ""},
		{"no string", record.Agent, `{"sessionFile":null,"fullOutputPath":{"sessionFile":7}}`, ""},
		{"a value", record.Agent, `{"x":"sessionFile","y":["fullOutputPath"]}`, ""},
		{"NUL", record.Agent, `{"sessionFile":"/a\u0000.jsonl"}`, ""},
		{"very long", record.Agent, `{"sessionFile":"/` + strings.Repeat("x", maxPath) + `"}`, ""},
	} {
		var c Collector
		see(&c, test.from, test.body)
		if got := strings.Join(c.paths, " "); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
	var c Collector
	for i := range 3 * maxPaths {
		see(&c, record.Agent, `{"sessionFile":"/`+strings.Repeat("x", 1+i%3000)+`"}`)
	}
	if len(c.paths) != maxPaths {
		t.Errorf("%d paths are kept", len(c.paths))
	}
}

func TestNotes(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, size int) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(strings.Repeat("x", size)), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	secret := write("id_rsa", 3)
	write("a.jsonl", 5)
	write("big.log", MaxFile+1)
	for _, name := range []string{"1.log", "2.log", "3.log", "4.log", "5.log"} {
		write(name, MaxAll/5)
	}
	if err := os.Mkdir(filepath.Join(dir, "d.jsonl"), 0o700); err != nil {
		t.Fatal(err)
	}
	var c Collector
	want := map[string]string{"a.jsonl": "", "d.jsonl": "not a regular file", "id_rsa": "neither .jsonl", "gone.log": "not kept", "big.log": "more than 16 MiB",
		"1.log": "", "2.log": "", "3.log": "", "4.log": "", "5.log": "more than 64 MiB with those before"}
	names := []string{"a.jsonl", "d.jsonl", "id_rsa", "gone.log", "big.log", "1.log", "2.log", "3.log", "4.log", "5.log"}
	if runtime.GOOS != "windows" {
		if err := os.Symlink(secret, filepath.Join(dir, "link.jsonl")); err != nil {
			t.Fatal(err)
		}
		want["link.jsonl"] = "not a regular file"
		names = append(names, "link.jsonl")
	}
	for _, name := range names {
		c.add(name)
	}
	c.add(filepath.Join(dir, "a.jsonl")) // again
	var got []string
	c.Notes(dir, func(e *record.Entry) {
		name := filepath.Base(e.Note.Path)
		got = append(got, name)
		if e.Note.Kind != "file" || (e.Note.Error == "") != (want[name] == "") || !strings.Contains(e.Note.Error, want[name]) {
			t.Errorf("%s: %q, want %q", name, e.Note.Error, want[name])
		}
		if (e.Note.Data != nil) != (want[name] == "") {
			t.Errorf("%s: %d bytes", name, len(e.Note.Data))
		}
	})
	if !slices.Equal(got, names) {
		t.Errorf("notes for %q, want %q", got, names)
	}
}

func FuzzSee(f *testing.F) {
	f.Add([]byte(`{"sessionFile":"/a","fullOutputPath" : "\ud800"}`))
	f.Add([]byte(`{"type":"response","command":"export_html","data":{"path":"x"}}`))
	f.Add([]byte(`"sessionFile":"`))
	f.Fuzz(func(t *testing.T, body []byte) {
		var c Collector
		c.See(&record.Entry{From: record.Agent, Form: record.Msg, Body: body})
		for _, p := range c.paths {
			if p == "" || len(p) > maxPath {
				t.Errorf("%q", p)
			}
		}
	})
}
