package record

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

func formatText(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("FORMAT.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// formatCapture writes a capture that has everything that the format's examples must cope with, and returns each
// stream's bytes.
func formatCapture(t *testing.T) (path string, streams [streamCount][]byte) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "session.jsonl.zst")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w, err := NewWriter(f, &Header{Pitap: Version, Start: sampleStart, Argv: []string{"pi"}}, false)
	if err != nil {
		t.Fatal(err)
	}
	s := [streamCount]*Splitter{Client: NewSplitter(Client, w.Add), Agent: NewSplitter(Agent, w.Add), Stderr: NewSplitter(Stderr, w.Add)}
	now := int64(0)
	put := func(from Stream, pieces ...string) {
		for _, p := range pieces {
			now += 1_000_000
			s[from].Write(now, []byte(p))
			s[from].Flush()
			streams[from] = append(streams[from], p...)
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
		}
	}
	put(Client, `{"type":"prompt","message":"ü`+"\u2028"+`"}`+"\n", "{}\r\n", "\n", " \n")
	put(Agent, `{"type":"agent_start"}`+"\n", `{"type":"message_update","n":`, `1.50e2,"note":"from","from":"\"msg\":"`, "}\r", "\n")
	put(Stderr, "warn", "ing \x1b[31mred\x1b[0m\n", "\xff\xfe\n")
	put(Agent, `{"lone":"\ud800"}`+"\n", "\xa6 not UTF-8\n", "\xef\xbb\xbf{}\n")
	put(Client, strings.Repeat("a long text, not JSON. ", 70_000), strings.Repeat("it goes on. ", 200_000)+"\r", "\n")
	put(Client, `"`+strings.Repeat("long", 5<<20), `"`+"\n")
	put(Agent, `{"type":"agent_settled"}`+"\n", `half a rec`)
	if err := w.CloseFrame(); err != nil {
		t.Fatal(err)
	}
	s[Agent].End(now)
	w.Add(&Entry{T: now, From: Agent, Note: &Note{Kind: "eof"}})
	w.Add(&Entry{T: now, From: Agent, Note: &Note{Kind: "exit", Code: new(int)}})
	if err := w.End(now); err != nil {
		t.Fatal(err)
	}
	return path, streams
}

// TestFormatPython runs the program that FORMAT.md gives for a stream's exact bytes.
func TestFormatPython(t *testing.T) {
	python := need(t, "python3")
	need(t, "zstd")
	program := regexp.MustCompile("(?s)```python\n(.*?)```").FindStringSubmatch(formatText(t))
	if program == nil {
		t.Fatal("there is no program in Python")
	}
	if n := strings.Count(program[1], "\n"); n > 14 {
		t.Errorf("the program has %d lines", n)
	}
	path, streams := formatCapture(t)
	for from := Client; from < streamCount; from++ {
		var complaint bytes.Buffer
		cmd := exec.Command(python, "-c", program[1], path, from.String())
		cmd.Stderr = &complaint
		out, err := cmd.Output()
		if err != nil || !bytes.Equal(out, streams[from]) {
			t.Errorf("%v: %d bytes, want %d; %v\n%s", from, len(out), len(streams[from]), err, complaint.Bytes())
		}
	}
}

func need(t *testing.T, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Skipf("%s is not installed", program)
	}
	return path
}

// TestFormatCommands runs the commands that FORMAT.md gives.
func TestFormatCommands(t *testing.T) {
	path, streams := formatCapture(t)
	text := formatText(t)
	from := strings.Index(text, "## Without pitap")
	if from < 0 {
		t.Fatal("there are no commands")
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r, entries := readBytes(data)
	if r.Err() != nil || len(r.Damage()) > 0 || !r.Ended() {
		t.Fatalf("capture: %v, %v", r.Err(), r.Damage())
	}
	count := func(is func(e *Entry) bool) (n int) {
		for i := range entries {
			if is(&entries[i]) {
				n++
			}
		}
		return n
	}
	lines := map[string]int{ // that a command prints
		"jq -c .":                         len(entries) + 1,
		`select(.from=="agent" and .msg)`: count(func(e *Entry) bool { return e.From == Agent && e.Form == Msg }),
		"select(.note)":                   count(func(e *Entry) bool { return e.Note != nil }),
		"zstdgrep":                        1,
		`select(.n==`:                     1,
	}
	run := 0
	commands, _, _ := strings.Cut(text[from:], "```")
	for _, line := range strings.Split(commands, "\n") {
		command, ok := strings.CutPrefix(line, "    ")
		if !ok {
			continue
		}
		t.Run(command, func(t *testing.T) {
			for _, program := range []string{"sh", "zstd", "jq", "zstdgrep"} {
				if strings.Contains(command, program+" ") {
					need(t, program)
				}
			}
			cmd := exec.Command("sh", "-c", command)
			cmd.Dir = filepath.Dir(path)
			var complaint bytes.Buffer
			cmd.Stderr = &complaint
			out, err := cmd.Output()
			if err != nil || complaint.Len() > 0 {
				t.Fatalf("%v\n%s", err, complaint.Bytes())
			}
			known := false
			for part, n := range lines {
				if strings.Contains(command, part) {
					known = true
					if got := bytes.Count(out, []byte{'\n'}); got != n {
						t.Errorf("%d lines, want %d:\n%.500s", got, n, out)
					}
				}
			}
			if !known {
				t.Errorf("what it prints is not known:\n%.500s", out)
			}
		})
		run++
	}
	if run < 5 {
		t.Errorf("%d commands", run)
	}
	if len(streams[Client]) == 0 {
		t.Error("no bytes")
	}
}

// TestFormatNamesAll: each member and note stands in FORMAT.md.
func TestFormatNamesAll(t *testing.T) {
	text := formatText(t)
	names := func(v any) (names []string) {
		for _, f := range reflect.VisibleFields(reflect.TypeOf(v)) {
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
				names = append(names, name)
			}
		}
		return names
	}
	all := append(names(Header{}), names(noteJSON{})...)
	all = append(all, names(Totals{})...)
	all = append(all, names(Volume{})...)
	all = append(all, names(AgentInfo{})...)
	all = append(all, names(ClientInfo{})...)
	all = append(all, "n", "t", "from", "off", "part", "last", "eol", "cuts", "moreCuts", "flags", "supersedes", "msg", "text", "base64")
	all = append(all, "eof", "closed", "undelivered", "signal", "stall", "gap", "lag", "clock", "exit", "file", "handover", "end")
	for _, name := range all {
		if !strings.Contains(text, "`"+name+"`") {
			t.Errorf("FORMAT.md does not speak of %q", name)
		}
	}
}

// TestFormatExamples: the lines that FORMAT.md shows are lines of captures.
func TestFormatExamples(t *testing.T) {
	n := 0
	for _, line := range strings.Split(formatText(t), "\n") {
		line, ok := strings.CutPrefix(line, "    {")
		if !ok {
			continue
		}
		line = "{" + line
		n++
		if !json.Valid([]byte(line)) {
			t.Errorf("not JSON: %s", line)
		}
		var err error
		if strings.HasPrefix(line, `{"pitap"`) {
			_, err = ParseHeader([]byte(line))
		} else {
			err = ParseLine([]byte(line))
		}
		if err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
	if n < 10 {
		t.Errorf("%d examples", n)
	}
}
