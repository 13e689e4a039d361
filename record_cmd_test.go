//go:build linux

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"pitap/internal/pitest"
	"pitap/internal/zoo"
	"pitap/record"
)

// The header says what ran, where, for whom.
func TestHeader(t *testing.T) {
	t.Parallel()
	f := behind(t)
	f.flags = []string{"--name", "a label"}
	work, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(work, "agent")
	program(t, script, "#!/bin/sh\necho $$\nread x\nexit 0\n", 0o755)
	cmd := f.command("./agent", "--mode", "rpc", "--api-key", "hush", "--token=hush", "plain")
	cmd.Dir = work
	before := time.Now()
	s := pitest.Start(t, cmd, f.stdio)
	s.Expect("")
	after := time.Now()
	s.Finish(0)
	c := f.captured()
	c.session(s)
	h := c.header
	host, _ := os.Hostname()
	if h.Start.Before(before.Add(-time.Second)) || h.Start.After(after) {
		t.Errorf("start %v, want between %v and %v", h.Start, before, after)
	}
	if got := strings.Join(h.Argv, " "); got != "./agent --mode rpc --api-key *** --token=*** plain" {
		t.Errorf("argv %q", got)
	}
	for what, pair := range map[string][2]any{
		"cwd":       {h.Cwd, work},
		"path":      {h.Agent.Path, script},
		"agent":     {itoa(h.Agent.PID) + "\n", string(s.Out.Bytes())},
		"pid":       {h.PID, s.Pid()},
		"client":    {h.Client.PID, os.Getpid()},
		"host":      {h.Host, host},
		"label":     {h.Label, "a label"},
		"os":        {h.OS, runtime.GOOS + "/" + runtime.GOARCH},
		"boot":      {h.Boot, record.BootID()},
		"home":      {h.Home, os.Getenv("HOME")},
		"its lines": {h.Pitap, record.Version},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s is %q, want %q", what, pair[0], pair[1])
		}
	}
}

// -o names the file, and a client that restarts its agent overwrites nothing.
func TestOutputFile(t *testing.T) {
	t.Parallel()
	f := behind(t)
	out := filepath.Join(f.dir, "x.jsonl.zst")
	f.flags = []string{"-o", out}
	for i, name := range []string{"x.jsonl.zst", "x-2.jsonl.zst", "x-3.jsonl.zst"} {
		s := f.start(zoo.Out("{}\n"), zoo.Exit(i))
		s.Finish(i)
		readCapture(t, filepath.Join(f.dir, name)).session(s)
	}
}

// With --sync all is as without, only later.
func TestSync(t *testing.T) {
	t.Parallel()
	f := behind(t)
	f.flags = []string{"--sync"}
	goOn := f.file("go")
	s := f.start(zoo.Lines(3), zoo.Child(zoo.Await(goOn), zoo.Out("late\n")), zoo.Exit(3))
	s.SendBytes([]byte("{}\n{}\n{}\n"))
	s.Wait(3)
	touch(t, goOn)
	s.WaitForEnd()
	f.captured().session(s)
}

// Flags behind the agent are the agent's, also without --.
func TestFlagsOfTheAgent(t *testing.T) {
	t.Parallel()
	f := behind(t)
	for _, argv := range [][]string{
		{"record", "--quiet", "echo", "--dir", "x", "-o", "y", "--", "--help"},
		{"record", "--quiet", "--", "echo", "--dir", "x", "-o", "y", "--", "--help"},
	} {
		cmd := exec.Command(filepath.Join(bin, "pitap"), argv...)
		cmd.Env = f.env()
		out, err := cmd.CombinedOutput()
		if err != nil || string(out) != "--dir x -o y -- --help\n" {
			t.Errorf("%q: %q, %v", argv, out, err)
		}
	}
}

func TestRecordUsage(t *testing.T) {
	t.Parallel()
	f := behind(t)
	for _, c := range []struct {
		argv   []string
		status int
		stdout string
		stderr string
	}{
		{[]string{"record"}, 2, "", "no agent named"},
		{[]string{"record", "--"}, 2, "", "no agent named"},
		{[]string{"record", "--no-such-flag", "x"}, 2, "", "no-such-flag"},
		{[]string{"record", "--help"}, 0, "--strict", ""},
	} {
		cmd := exec.Command(filepath.Join(bin, "pitap"), c.argv...)
		cmd.Env = f.env()
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		cmd.Run()
		if got := status(cmd.ProcessState); got != c.status || !strings.Contains(stdout.String(), c.stdout) || !strings.Contains(stderr.String(), c.stderr) {
			t.Errorf("%q: status %d, stdout %q, stderr %q", c.argv, got, stdout.Bytes(), stderr.Bytes())
		}
		if c.stdout == "" && stdout.Len() > 0 || c.stderr == "" && stderr.Len() > 0 {
			t.Errorf("%q: stdout %q, stderr %q", c.argv, stdout.Bytes(), stderr.Bytes())
		}
	}
	if files, _ := filepath.Glob(filepath.Join(f.dir, "*")); len(files) > 0 {
		t.Errorf("captures of nothing: %q", files)
	}
}

// Other tools read a capture, whatever is in it.
func TestCaptureForOtherTools(t *testing.T) {
	for _, tool := range []string{"zstd", "jq"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	t.Parallel()
	f := behind(t)
	s := f.start(zoo.Out("{\"a\":\"\\ud800\"}\n\xff\n[1,2\n{\"b\":\"\u2028<>&\"}\n"+strings.Repeat("[", 300)+"\n\r\n\x00\n"), zoo.Echo(), zoo.Err("words\n"), zoo.Exit(3))
	s.SendBytes([]byte("{\"c\":12345678901234567890}\nnull\n{\"id\":1,\"id\":2}\nhalf"))
	s.Finish(3)
	c := f.captured()
	c.session(s)
	out, err := exec.Command("sh", "-c", `zstd -dc "$0" | jq -c .`, c.path).Output()
	if err != nil {
		t.Fatal(err)
	}
	if lines := bytes.Count(out, []byte("\n")); lines != 1+len(c.entries) {
		t.Errorf("jq gives %d lines, want a header and %d entries", lines, len(c.entries))
	}
}
