//go:build unix

package main

import (
	"encoding/json"
	"encoding/xml"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pitap/internal/pitest"
	"pitap/record"
)

// checked are two fixtures, the first of which is in order.
func checked(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"good.jsonl": `{"pitap":1,"agent":{"version":"1.6.0"}}
{"from":"client","msg":{"id":"a","type":"abort"}}
{"from":"agent","msg":{"id":"a","type":"response","command":"abort","success":true}}
`,
		"bad.jsonl": `{"pitap":1,"agent":{"version":"1.6.0"}}
{"from":"client","msg":{"id":"a","type":"abort","why":"x"}}
{"from":"agent","msg":{"id":"a","type":"response","command":"abort","success":true}}
{"from":"agent","msg":{"id":"a","type":"response","command":"abort","success":true}}
{"from":"client","msg":{"id":12345678901234567890,"type":"abort"}}
{"from":"agent","msg":{"id":12345678901234567000,"type":"response","command":"abort","success":true}}
`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestCheckCommand(t *testing.T) {
	t.Parallel()
	dir := checked(t)
	for _, test := range []struct {
		args   string
		code   int
		stdout string
	}{
		{"good.jsonl", 0, `^good\.jsonl: nothing found in 2 entries; cut: there is no end note\n$`},
		{"bad.jsonl", 1, `(?s)^bad\.jsonl: 1 error, 1 hazard, 1 note in 5 entries.*\n\n  error  pair/twice  agent #3, byte \d+\n         abort \(entry 1\) was answered by entry 2 before\n         hint: .*\n\n  hazard pair/id-changed  agent #5.*\n\n  note   field/unknown  client #1\n         pi 1\.6\.0 does not have the member why of abort, and ignores it\n`},
		{"good.jsonl bad.jsonl", 1, `(?s)^good\.jsonl: nothing.*\n\nbad\.jsonl: 1 error`},
		{"--severity error bad.jsonl", 1, `^bad\.jsonl: 1 error in 5`},
		{"--rule id-changed bad.jsonl", 0, `^bad\.jsonl: 1 hazard in`},
		{"--rule pair bad.jsonl", 1, `^bad\.jsonl: 1 error, 1 hazard in`},
		{"--rule field/* --fail-on note bad.jsonl", 1, `^bad\.jsonl: 1 note in`},
		{"--rule id-changed --fail-on hazard bad.jsonl", 1, `1 hazard`},
		{"--fail-on never bad.jsonl", 0, `1 error`},
		{"--format json good.jsonl bad.jsonl", 1, `(?s)^{"capture":"good\.jsonl","agent":"pi 1\.6\.0 \(header\)".*"findings":\[\]}\n{"capture":"bad\.jsonl"`},
		{"--json bad.jsonl", 1, `^{"capture":"bad\.jsonl"`},
		{"--format github bad.jsonl", 1, `(?m)^::notice file=bad\.jsonl,line=2,title=pitap%3A field/unknown::`},
		{"--explain twice", 0, `(?s)^pair/twice  error: .*Example: .*What to do: `},
		{"--explain wait", 0, `(?s)^wait/response .*\nwait/run `},
	} {
		cmd := exec.Command(filepath.Join(bin, "pitap"), append([]string{"check"}, strings.Fields(test.args)...)...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PITAP_DIR="+dir)
		out, _ := cmd.Output()
		if code := cmd.ProcessState.ExitCode(); code != test.code || !regexp.MustCompile(test.stdout).Match(out) {
			t.Errorf("%s: status %d, want %d\n%s\nwant %s", test.args, code, test.code, out, test.stdout)
		}
	}
	for _, args := range []string{"--format xml", "--json --format sarif", "--fail-on x", "--follow --format junit", "--explain x", "--severity x"} {
		if _, stderr, code := pitap(t, dir, append([]string{"check"}, strings.Fields(args)...)...); code != 2 || stderr == "" {
			t.Errorf("%s: status %d, %s", args, code, stderr)
		}
	}
}

func TestCheckFormats(t *testing.T) {
	t.Parallel()
	dir := checked(t)
	good, bad := filepath.Join(dir, "good.jsonl"), filepath.Join(dir, "bad.jsonl")
	out, _, code := pitap(t, dir, "check", "--format", "sarif", good, bad)
	var log struct {
		Version string
		Runs    []struct {
			Results []struct{ RuleID, Level string }
		}
	}
	if err := json.Unmarshal([]byte(out), &log); err != nil || code != 1 || log.Version != "2.1.0" || len(log.Runs) != 1 || len(log.Runs[0].Results) != 3 || log.Runs[0].Results[1].Level != "error" {
		t.Errorf("sarif: %v, status %d, %+v", err, code, log)
	}
	out, _, code = pitap(t, dir, "check", "--format", "junit", good, bad)
	var suites struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
	}
	if err := xml.Unmarshal([]byte(out), &suites); err != nil || code != 1 || suites.Tests != 4 || suites.Failures != 1 {
		t.Errorf("junit: %v, status %d, %+v", err, code, suites)
	}
}

// What is wrong is said while the session goes on.
func TestCheckFollow(t *testing.T) {
	t.Parallel()
	f := behind(t)
	s := f.exec("cat")
	s.Send(`{"type":"response","command":"abort","success":true}`)
	s.ExpectFunc("the echo", func(r pitest.Record) bool { return r.Type() == "response" })
	eventually(t, "the beginning of the capture", func() bool { c, err := record.Open(f.onlyCapture()); return err == nil && headed(c) })

	cmd := exec.Command(filepath.Join(bin, "pitap"), "check", "--follow", "--json", f.onlyCapture())
	cmd.Env = f.env()
	check := pitest.Start(t, cmd, pitest.Pipes)
	check.ExpectFunc("the response to nothing", func(r pitest.Record) bool { return r.Get("rule") == "pair/stray" })
	s.Send("not json")
	check.ExpectFunc("the client's line", func(r pitest.Record) bool {
		return r.Get("rule") == "framing/invalid-json" && r.Get("from") == "client"
	})
	s.CloseStdin()
	s.Wait(0)
	check.Wait(1)
}

func headed(c *record.Capture) bool {
	defer c.Close()
	_, err := c.Header()
	return err == nil
}

func TestShowRuns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := `{"pitap":1,"agent":{"version":"1.6.0"}}
{"t":1000000,"from":"client","msg":{"id":"a","type":"prompt","message":"hi"}}
{"t":2000000,"from":"agent","msg":{"id":"a","type":"response","command":"prompt","success":true,"data":{"disposition":"started"}}}
{"t":3000000,"from":"agent","msg":{"type":"agent_start"}}
{"t":4000000,"from":"agent","msg":{"type":"turn_start"}}
{"t":5000000,"from":"agent","msg":{"type":"message_start","message":{"role":"user","content":"evil \u001b[31m text"}}}
`
	if err := os.WriteFile(filepath.Join(dir, "r.jsonl"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out, _, code := pitap(t, dir, "show", "--runs", "r.jsonl")
	if code != 0 || !regexp.MustCompile(`^run 1  #3  at 0\.003000  not settled  prompt #1\n  turn 1  #4  open\n    user  #5  open  evil ␛\[31m text\n$`).MatchString(out) {
		t.Errorf("status %d, %q", code, out)
	}
	if _, stderr, code := pitap(t, dir, "show", "--runs", "--json", "r.jsonl"); code != 2 || !strings.Contains(stderr, "exclude each other") {
		t.Errorf("--runs --json: status %d, %s", code, stderr)
	}
	out, _, code = pitap(t, dir, "stats", "--json", "r.jsonl")
	var stats struct {
		Entries  int64 `json:"entries"`
		RunCount int   `json:"run_count"`
	}
	if err := json.Unmarshal([]byte(out), &stats); err != nil || code != 0 || stats.Entries != 5 || stats.RunCount != 1 {
		t.Errorf("stats: %v, status %d, %s", err, code, out)
	}
}
