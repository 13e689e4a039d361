//go:build linux

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"pitap/record"
)

// program writes a file that can be executed. No process may be forked while it is open for writing: it could not be
// executed until that one has called exec.
func program(t *testing.T, path, content string, mode os.FileMode) {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
}

// The agent is found and started as env(1) does, which calls execvp: same output, same status.
func TestFindAsExecvp(t *testing.T) {
	t.Parallel()
	f := behind(t)
	work := t.TempDir()
	say := "#!/bin/sh\necho \"$0\" \"$@\"\nexit 5\n"
	for path, content := range map[string]string{
		"one/tool":   say,
		"two/tool":   strings.Replace(say, "5", "6", 1),
		"tool":       strings.Replace(say, "5", "7", 1),
		"two/plain":  "echo script without a first line; echo \"$0\" \"$1\"; exit 8\n",
		"two/broken": "#!/no/such/interpreter\n",
		"two/empty":  "",
	} {
		program(t, filepath.Join(work, path), content, 0o755)
	}
	program(t, filepath.Join(work, "no-x/tool"), say, 0o644)
	program(t, filepath.Join(work, "no-x/only"), say, 0o644)
	program(t, filepath.Join(work, "file"), "not a folder", 0o644)
	if err := os.MkdirAll(filepath.Join(work, "dir", "tool"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("one", filepath.Join(work, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("loop", filepath.Join(work, "loop")); err != nil {
		t.Fatal(err)
	}
	abs := func(name string) string { return filepath.Join(work, name) }
	for _, c := range []struct {
		name   string
		path   []string // nil: PATH is not set
		agent  string
		status int
	}{
		{"absolute entry", []string{abs("one")}, "tool", 5},
		{"first entry wins", []string{abs("one"), abs("two")}, "tool", 5},
		{"relative entry", []string{"one"}, "tool", 5},
		{"relative entry with dots", []string{"./two/../one"}, "tool", 5},
		{"dots behind a link", []string{"link/../two"}, "tool", 6},
		{"entry with slash", []string{"one/"}, "tool", 5},
		{"empty entry", []string{"", abs("two")}, "tool", 7},
		{"empty entry at the end", []string{"/no/such", ""}, "tool", 7},
		{"empty PATH", []string{""}, "tool", 7},
		{"no PATH", nil, "true", 0},
		{"no PATH, not there", nil, "tool", 127},
		{"entries that are not there", []string{"/no/such", abs("file"), abs("one")}, "tool", 5},
		{"folder of that name", []string{abs("dir"), abs("two")}, "tool", 6},
		{"no x bit, then another", []string{abs("no-x"), abs("two")}, "tool", 6},
		{"no x bit", []string{abs("no-x"), "/no/such"}, "only", 126},
		{"folder alone", []string{abs("dir")}, "tool", 126},
		{"missing", []string{abs("one")}, "no-such-tool", 127},
		{"empty name", []string{abs("one")}, "", 127},
		{"path", []string{"/no/such"}, "two/tool", 6},
		{"path in this folder", nil, "./tool", 7},
		{"path with folder", nil, abs("dir"), 126},
		{"path without x bit", nil, "no-x/tool", 126},
		{"path that is not there", nil, "./nothing", 127},
		{"path through a file", nil, "file/tool", 126},
		{"path that loops", nil, "./loop", 126},
		{"script without a first line", []string{abs("two")}, "plain", 8},
		{"its path", nil, "two/plain", 8},
		{"interpreter that is not there", []string{abs("two")}, "broken", 127},
		{"empty file", []string{abs("two")}, "empty", 0},
	} {
		run := func(argv ...string) (string, int) {
			cmd := exec.Command(argv[0], append(argv[1:], c.agent, "x")...)
			cmd.Dir = work
			cmd.Env = []string{"PITAP_DIR=" + f.dir, "GORACE=atexit_sleep_ms=0"}
			if c.path != nil {
				cmd.Env = append(cmd.Env, "PATH="+strings.Join(c.path, ":"))
			}
			var stdout, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			cmd.Run()
			status := status(cmd.ProcessState)
			if status >= 126 && bytes.Count(stderr.Bytes(), []byte("\n")) != 1 {
				t.Errorf("%s: %s says %q, not one line", c.name, argv[0], stderr.Bytes())
			}
			return stdout.String(), status
		}
		wantOut, wantStatus := run("/usr/bin/env")
		if wantStatus != c.status {
			t.Errorf("%s: env gives %d, and the test says %d", c.name, wantStatus, c.status)
		}
		if out, status := run(filepath.Join(f.bin, "pitap"), "record"); out != wantOut || status != wantStatus {
			t.Errorf("%s: status %d and %q, env gives %d and %q", c.name, status, out, wantStatus, wantOut)
		}
	}
}

// TestCase11 is about agents that can't be started, or end at once with words: status, words, a capture that opens.
func TestCase11(t *testing.T) {
	t.Parallel()
	work := t.TempDir()
	program(t, filepath.Join(work, "no-x"), "#!/bin/sh\n", 0o644)
	program(t, filepath.Join(work, "bogus"), "#!/bin/sh\necho \"unknown option: $1\" >&2\nexit 1\n", 0o755)
	program(t, filepath.Join(work, "no-node"), "#!/usr/bin/env no-such-node\n", 0o755)
	for _, c := range []struct {
		agent  []string
		status int
		says   string // on stderr
		notes  string // in the capture, when the agent could not be started
	}{
		{[]string{filepath.Join(work, "missing"), "--mode", "rpc"}, 127, "missing: no such file or directory", "no such file"},
		{[]string{filepath.Join(work, "no-x")}, 126, "no-x: permission denied", "permission denied"},
		{[]string{"no-such-program-at-all"}, 127, "no-such-program-at-all: not found in PATH", "not found"},
		{[]string{filepath.Join(work, "no-node")}, 127, "no-such-node", ""},
		{[]string{filepath.Join(work, "bogus"), "--bogus"}, 1, "unknown option: --bogus\n", ""},
	} {
		f := behind(t)
		cmd := f.command(c.agent...)
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		cmd.Run()
		if got := status(cmd.ProcessState); got != c.status || stdout.Len() > 0 || !strings.Contains(stderr.String(), c.says) {
			t.Errorf("%q: status %d, stdout %q, stderr %q; want %d, nothing, %q", c.agent, got, stdout.Bytes(), stderr.Bytes(), c.status, c.says)
		}
		got := f.captured()
		exit := got.note(record.Agent, "exit")
		if got.condition != "" || exit == nil || exit.Note.Code == nil || *exit.Note.Code != c.status || !strings.Contains(exit.Note.Error, c.notes) {
			t.Errorf("%q: capture: %q, exit %+v", c.agent, got.condition, exit)
		}
		if c.notes == "" {
			same(t, "capture: stderr", got.bytes[record.Stderr], stderr.Bytes())
		}
	}
}
