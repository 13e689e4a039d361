//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"pitap/record"
)

// pitap runs a command with captures in dir.
func pitap(t *testing.T, dir string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.Command(filepath.Join(bin, "pitap"), args...)
	cmd.Env = append(os.Environ(), "PITAP_DIR="+dir, "HOME="+dir, "NO_COLOR=", "TERM=xterm")
	cmd.Stdout, cmd.Stderr = &out, &errs
	launch(t, cmd).exit()
	return out.String(), errs.String(), status(cmd.ProcessState)
}

// exit waits for the process.
func (p *process) exit() {
	p.t.Helper()
	timer := time.NewTimer(20 * time.Second)
	defer timer.Stop()
	select {
	case <-p.done:
	case <-timer.C:
		p.t.Fatalf("%q does not end within 20 s", p.cmd.Args)
	}
}

// writeCapture writes a capture of client records, with or without an end.
func writeCapture(t *testing.T, path string, end bool, bodies ...string) *os.File {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	w, err := record.NewWriter(f, &record.Header{Pitap: record.Version, Start: time.Unix(1777777777, 0), Cwd: "/w", Argv: []string{"pi"}, Client: record.ClientInfo{Name: "node"}}, false)
	if err != nil {
		t.Fatal(err)
	}
	off := int64(0)
	for i, body := range bodies {
		e := &record.Entry{T: int64(i+1) * 1e6, From: record.Client, Off: off, Form: record.Msg, Body: []byte(body), EOL: "\n"}
		if !json.Valid([]byte(body)) {
			e.Form = record.Text
		}
		w.Add(e)
		off += int64(len(body)) + 1
	}
	if err = w.Flush(); err == nil && end {
		err = w.End(int64(len(bodies)+1) * 1e6)
	}
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// sample makes a folder with the captures clean, bad and cut.
func sample(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	writeCapture(t, filepath.Join(dir, "20260101-000000.000-pi-aaaa0001.jsonl.zst"), true, `{"id":"a","type":"get_state"}`, `{"id":"b","type":"prompt","message":"hello"}`)
	writeCapture(t, filepath.Join(dir, "20260102-000000.000-pi-aaaa0002.jsonl.zst"), true, `{"id":"a","type":"get_state"}`, `not json`)
	writeCapture(t, filepath.Join(dir, "20260103-000000.000-pi-aaaa0003.jsonl.zst"), false, `{"id":"a","type":"abort"}`)
	return dir
}

func TestCommands(t *testing.T) {
	t.Parallel()
	dir := sample(t)
	empty := t.TempDir()
	if err := os.WriteFile(filepath.Join(empty, "data.jsonl"), []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(empty, "void.jsonl.zst"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	nowhere := filepath.Join(empty, "nowhere")
	tests := []struct {
		args   string
		dir    string
		code   int
		stdout string // a regular expression; "" is nothing at all
		stderr string
	}{
		{"", dir, 2, "", `(?s)^Usage: .*\n    show `},
		{"help", dir, 0, `(?s)^Usage: .*\n    ls .*\n    show `, ""},
		{"help show", dir, 0, `(?s)^Usage: pitap show .*--kind KIND.*Example:`, ""},
		{"--version", dir, 0, `^pitap \d`, ""},
		{"shwo", dir, 2, "", `no command "shwo", did you mean show\?`},
		{"--json ls", dir, 2, "", `flags follow the command`},
		{"help nothing", dir, 2, "", `no command "nothing"`},

		{"ls", dir, 0, `(?s)^name .*\naaaa0003  cut  .* 1\.00ms  pi .*\naaaa0002 .* 3 .*\naaaa0001 `, ""},
		{"ls --json", dir, 0, `(?s)^{"name":"aaaa0003",.*"condition":"cut".*"condition":"whole"`, ""},
		{"ls", nowhere, 0, "", `no captures in .*nowhere yet\n +record one: .*pitap record -- pi --mode rpc`},
		{"ls --dir " + nowhere, dir, 1, "", `nowhere`},
		{"ls " + dir, dir, 2, "", `pitap ls --dir`},

		{"show", dir, 0, `^  1 .* → abort +a +25B\n$`, `aaaa0003.*: cut: `},
		{"show aaaa0001", dir, 0, `(?s)get_state.*prompt +b .*hello\n.* end `, ""},
		{"show aaaa0001 --kind prompt --jq .message -r", dir, 0, `^hello\n$`, ""},
		{"show --kind=prompt aaaa0001 --json", dir, 0, `^{"n":2,"t":2000000,"from":"client","off":30,"msg":{"id":"b","type":"prompt","message":"hello"}}\n$`, ""},
		{"show --jq .id.x aaaa0001", dir, 1, "", `entry 1: .*\n.*entry 2: `},
		{"show --jq . aaaa0002", dir, 0, `get_state`, `1 record not given to jq: 1 not JSON`},
		{"show", nowhere, 1, "", `no captures in .*\n +record one: `},
		{"show aaaa", dir, 1, "", `(?s)part of the names of 3 captures.*pitap ls lists`},
		{"show missing", dir, 1, "", `no capture "missing".*\n +pitap ls lists`},
		{"show ./missing", dir, 1, "", `no capture ./missing`},
		{"show a b", dir, 2, "", `one CAPTURE, not 2`},
		{"show --bogus", dir, 2, "", `unknown flag: --bogus.*pitap help show lists`},
		{"show --kin x", dir, 2, "", `did you mean --kind\?`},
		{"show --from x", dir, 2, "", `client, agent, stderr and note`},
		{"show --since x", dir, 2, "", `--since: .*1\.5s.*#120`},
		{"show --grep (", dir, 2, "", `--grep: `},
		{"show --jq .[", dir, 2, "", `--jq: `},
		{"show --jq . --json", dir, 2, "", `exclude each other`},
		{"show -r", dir, 2, "", `--raw-output is for --jq`},
		{"show --color x", dir, 2, "", `auto, always or never`},
		{"show data.jsonl", empty, 1, "", `not a capture: it begins with the text "\{\}"\n +pitap reads`},
		{"show void", empty, 1, "", `empty file.*\n +its recorder was stopped`},

		{"check aaaa0001", dir, 0, `nothing found in 3 entries\n$`, ""},
		{"check aaaa0002", dir, 1, `(?s)1 error in 3 entries\n\n  error  framing/invalid-json  client #2, byte 30\n.*"not json".*hint: `, ""},
		{"check", dir, 0, `nothing found in 1 entries; cut: `, ""},
		{"check aaaa0001 aaaa0002 aaaa0003", dir, 1, `(?s)aaaa0001.*aaaa0002.*aaaa0003`, ""},
		{"check aaaa0001 missing aaaa0003", dir, 1, `(?s)aaaa0001.*aaaa0003`, `no capture "missing"`},
		{"check --json aaaa0002", dir, 1, `^{"capture":".*aaaa0002.*","entries":3,"errors":1,"hazards":0,"notes":0,"findings":\[{"rule":"framing/invalid-json","severity":"error","from":"client","n":2,"off":30,"at":0,"count":1,"last":2,"text":".*","hint":".*"}\]}\n$`, ""},
		{"check --rule crlf aaaa0002", dir, 0, `nothing found`, ""},
		{"check --severity hazard aaaa0002", dir, 1, `invalid-json`, ""},
		{"check --rule nothing", dir, 2, "", `no rule "nothing"; there are: framing/crlf `},
		{"check --severity bad", dir, 2, "", `error, hazard or note`},
		{"check --explain crlf", dir, 0, `^framing/crlf  hazard: .*\n  `, ""},
		{"check --explain nothing", dir, 2, "", `no rule "nothing"`},

		{"extract --from client aaaa0002", dir, 0, `^{"id":"a","type":"get_state"}\nnot json\n$`, ""},
		{"extract --from x", dir, 2, "", `client, agent or stderr`},
		{"prune", dir, 2, "", `--older-than 30d, --keep 100 or --max-size 2G`},
		{"prune --older-than x", dir, 2, "", `30d, 2w and 12h`},
		{"prune --max-size x", dir, 2, "", `2G, 500M`},
		{"prune --keep -1", dir, 2, "", `0 or more`},
		{"prune --keep 1 --dry-run", dir, 0, `(?s)^20260101.*aaaa0001.*aaaa0002.*would remove 2 of 3 captures, `, ""},
		{"mend", dir, 2, "", `name one CAPTURE`},
		{"mend aaaa0001", dir, 0, `whole, nothing to mend`, ""},
	}
	for _, test := range tests {
		t.Run(test.args, func(t *testing.T) {
			t.Parallel()
			args := strings.Fields(test.args)
			for i, a := range args {
				if strings.HasSuffix(a, "data.jsonl") {
					args[i] = filepath.Join(empty, a)
				}
			}
			stdout, stderr, code := pitap(t, test.dir, args...)
			if code != test.code {
				t.Errorf("status %d, want %d", code, test.code)
			}
			for _, s := range []struct{ name, got, want string }{{"stdout", stdout, test.stdout}, {"stderr", stderr, test.stderr}} {
				if s.want == "" && s.got != "" || !regexp.MustCompile(s.want).MatchString(s.got) {
					t.Errorf("%s is %q, want %q", s.name, s.got, s.want)
				}
			}
		})
	}
}

// TestHelpNamesAllFlags sees that hand-written help texts forget no flag.
func TestHelpNamesAllFlags(t *testing.T) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	for _, c := range commands() {
		if c.help == "" {
			continue
		}
		tool := &tool{stdin: null, stdout: null, stderr: null, getenv: func(string) string { return "" }}
		if err := c.run(tool, []string{"--help"}); err != nil || tool.flagSet == nil {
			t.Errorf("%s --help: %v", c.name, err)
			continue
		}
		text := helpTexts[c.name]
		tool.flagSet.VisitAll(func(f *pflag.Flag) {
			if text != "" && !strings.Contains(text, "--"+f.Name) {
				t.Errorf("the help of %s says nothing of --%s", c.name, f.Name)
			}
			if f.Shorthand != "" && text != "" && !strings.Contains(text, "-"+f.Shorthand+",") {
				t.Errorf("the help of %s says nothing of -%s", c.name, f.Shorthand)
			}
		})
		for line := range strings.Lines(text) {
			if len([]rune(line)) > 81 {
				t.Errorf("the help of %s has a line of more than 80 characters: %s", c.name, line)
			}
		}
	}
}

func TestColour(t *testing.T) {
	t.Parallel()
	dir := sample(t)
	for _, command := range []string{"ls", "show", "check"} {
		if out, _, _ := pitap(t, dir, command); strings.Contains(out, "\x1b") {
			t.Errorf("%s: colours in a pipe: %q", command, out)
		}
		if out, _, _ := pitap(t, dir, command, "--color", "always"); !strings.Contains(out, "\x1b[") {
			t.Errorf("%s: no colours: %q", command, out)
		}
	}
}

// TestHostileHeader sees that nothing of a capture's header acts on the terminal of who lists or shows it.
func TestHostileHeader(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	evil := "\x1b]0;x\x07\u009b31m\u202e\u2028"
	h := record.Header{Pitap: 1, Cwd: evil, Home: evil, Label: evil, Argv: []string{evil}, Agent: record.AgentInfo{Path: evil, Version: evil}, Client: record.ClientInfo{Name: evil}}
	path := filepath.Join(dir, "x"+evil[:8]+".jsonl")
	if err := os.WriteFile(path, append(h.Encode(), `{"from":"client","text":"x"}`+"\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"ls"}, {"show"}, {"check"}, {"mend", path}, {"show", evil}, {"prune", "--keep", "0", "--dry-run"}, {"show", "--kind", evil}, {evil}, {"check", "--rule", evil}} {
		stdout, stderr, _ := pitap(t, dir, args...)
		if strings.ContainsAny(stdout+stderr, "\x1b\x07\u009b\u202e\u2028") || stdout+stderr == "" && args[0] != "show" {
			t.Errorf("%q: %q %q", args, stdout, stderr)
		}
	}
}

// TestBrokenPipe ends commands whose reader has seen enough.
func TestBrokenPipe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	bodies := make([]string, 20_000)
	for i := range bodies {
		bodies[i] = `{"id":"a","type":"get_state"}`
	}
	writeCapture(t, filepath.Join(dir, "20260101-000000.000-pi-aaaa0001.jsonl.zst"), true, bodies...)
	for _, args := range [][]string{{"show"}, {"show", "--json"}, {"show", "--pretty"}, {"show", "--jq", "."}, {"extract", "--from", "client"}} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			t.Parallel()
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			var errs bytes.Buffer
			cmd := exec.Command(filepath.Join(bin, "pitap"), args...)
			cmd.Env = append(os.Environ(), "PITAP_DIR="+dir)
			cmd.Stdout, cmd.Stderr = w, &errs
			p := launch(t, cmd)
			w.Close()
			if line, err := bufio.NewReader(r).ReadString('\n'); err != nil || line == "" {
				t.Errorf("first line %q, %v", line, err)
			}
			r.Close()
			p.wait(0)
			if errs.Len() > 0 {
				t.Errorf("says %q", errs.String())
			}
		})
	}
}

// TestNobodyReads runs commands whose output goes nowhere: they say nothing, and what check found is still its status.
func TestNobodyReads(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeCapture(t, filepath.Join(dir, "20260101-000000.000-pi-aaaa0001.jsonl.zst"), true, `{"type":"extension_ui_response","id":"nobody","value":"x"}`)
	for _, test := range []struct {
		args   []string
		status int
	}{{[]string{"show"}, 0}, {[]string{"check"}, 1}, {[]string{"check", "--format", "sarif"}, 1}, {[]string{"stats"}, 0}} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		r.Close()
		var errs bytes.Buffer
		cmd := exec.Command(filepath.Join(bin, "pitap"), test.args...)
		cmd.Env = append(os.Environ(), "PITAP_DIR="+dir)
		cmd.Stdout, cmd.Stderr = w, &errs
		p := launch(t, cmd)
		w.Close()
		p.wait(test.status)
		if errs.Len() > 0 {
			t.Errorf("%q says %q", test.args, errs.String())
		}
	}
}

// follower is pitap show --follow, whose lines can be waited for.
type follower struct {
	*process
	lines chan string
}

func follow(t *testing.T, dir string, args ...string) *follower {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(bin, "pitap"), append([]string{"show", "-f"}, args...)...)
	cmd.Env = append(os.Environ(), "PITAP_DIR="+dir)
	cmd.Stdout = w
	f := &follower{launch(t, cmd), make(chan string, 100)}
	w.Close()
	go func() {
		defer close(f.lines)
		defer r.Close()
		for s := bufio.NewScanner(r); s.Scan(); {
			f.lines <- s.Text()
		}
	}()
	return f
}

// expect waits for a line, with what must be in it.
func (f *follower) expect(words string) {
	f.t.Helper()
	timer := time.NewTimer(20 * time.Second)
	defer timer.Stop()
	select {
	case line, ok := <-f.lines:
		if !ok || !strings.Contains(line, words) {
			f.t.Fatalf("line %q, want one with %q", line, words)
		}
	case <-timer.C:
		f.t.Fatalf("no line with %q within 20 s", words)
	}
}

func TestFollow(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "20260101-000000.000-pi-aaaa0001.jsonl.zst")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := record.Lock(f); err != nil {
		t.Skip("no locks here: ", err)
	}
	first, second := follow(t, dir), follow(t, dir, "--json", "--kind", "abort")
	w, err := record.NewWriter(f, &record.Header{Pitap: record.Version, Start: time.Now()}, false)
	if err != nil {
		t.Fatal(err)
	}
	add := func(e record.Entry) {
		t.Helper()
		e.From = record.Client
		w.Add(&e)
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	add(record.Entry{T: 1e6, Form: record.Msg, Body: []byte(`{"type":"get_state"}`), EOL: "\n"})
	first.expect("get_state")
	add(record.Entry{T: 2e6, Off: 21, Form: record.Text, Body: []byte(`{"type":`), Part: true})
	first.expect("half a record, 8 bytes so far") // after a second
	add(record.Entry{T: 3e6, Off: 21, Form: record.Msg, Body: []byte(`{"type":"abort"}`), EOL: "\n", Supersedes: []int64{2}})
	first.expect("abort")
	second.expect(`"supersedes":[2],"msg":{"type":"abort"}}`)
	first.signal(syscall.SIGINT)
	first.wait(128 + 2)
	if err := w.End(4e6); err != nil {
		t.Fatal(err)
	}
	second.wait(0)
}

// TestFollowEnds sees that following a capture that nobody records any more ends.
func TestFollowEnds(t *testing.T) {
	t.Parallel()
	f := follow(t, sample(t))
	f.expect("abort")
	f.wait(0)
}

func TestMend(t *testing.T) {
	t.Parallel()
	dir := sample(t)
	out, _, code := pitap(t, dir, "mend", "aaaa0003")
	if code != 0 || !strings.Contains(out, "mended") {
		t.Fatalf("status %d, says %q", code, out)
	}
	path := filepath.Join(dir, "20260103-000000.000-pi-aaaa0003.jsonl.zst")
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if rows, err := record.ReadIndex(bytes.NewReader(content), int64(len(content))); err != nil || len(rows) != 1 || rows[0].Count != 1 {
		t.Errorf("index %+v, %v", rows, err)
	}
	if out, errs, _ := pitap(t, dir, "show"); !strings.Contains(out, "abort") || !strings.Contains(errs, "cut: ") {
		t.Errorf("shows %q, says %q", out, errs)
	}
}

func TestPruneRemoves(t *testing.T) {
	t.Parallel()
	dir := sample(t)
	out, errs, code := pitap(t, dir, "prune", "--keep", "1")
	if code != 0 || errs != "" || !strings.Contains(out, "removed 2 of 3 captures") {
		t.Errorf("status %d, says %q %q", code, out, errs)
	}
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(left) != 1 || !strings.Contains(left[0], "aaaa0003") {
		t.Errorf("left are %q, %v", left, err)
	}
}

// TestProgressIsErased draws the progress line on a writer.
func TestProgressIsErased(t *testing.T) {
	var b bytes.Buffer
	p := &progress{w: &b, visible: true, began: time.Now().Add(-time.Minute)}
	for range 64 {
		p.at("read", 1<<20, 2<<20)
	}
	if got := b.String(); got != "\r\x1b[Kread: 1.0M of 2.0M (50%)" {
		t.Errorf("draws %q", got)
	}
	b.Reset()
	if _, err := io.WriteString(&clearing{&b, p}, "line\n"); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); got != "\r\x1b[Kline\n" {
		t.Errorf("writes %q", got)
	}
}

func TestErrorsOfWriting(t *testing.T) {
	t.Parallel()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("no /dev/full here")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	dir := sample(t)
	for _, args := range [][]string{{"show"}, {"ls"}, {"check"}, {"extract", "--from", "client"}, {"show", "--json"}, {"why"}, {"stats"}, {"show", "--runs"}, {"check", "--explain", "all"},
		{"check", "--format", "sarif"}, {"cut"}, {"prune", "--keep", "9"}, {"help"}, {"help", "check"}, {"--version"}, {"check", "--help"}, {"shim", "--agent", "sh", filepath.Join(t.TempDir(), "shim")}} {
		var errs bytes.Buffer
		cmd := exec.Command(filepath.Join(bin, "pitap"), args...)
		cmd.Env = append(os.Environ(), "PITAP_DIR="+dir)
		cmd.Stdout, cmd.Stderr = full, &errs
		p := launch(t, cmd)
		p.wait(1)
		if !strings.Contains(errs.String(), "no space") {
			t.Errorf("%q says %q", args, errs.String())
		}
	}
}
