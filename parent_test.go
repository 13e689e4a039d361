//go:build unix

package main

import (
	"context"
	"os"
	"strings"
	"testing"

	"pitap/record"
)

// TestParentGone holds the pipe that tells pitap when the process in front of it is gone.
func TestParentGone(t *testing.T) {
	s := newSandbox(t)
	agent := s.file("agent", "#!/bin/sh\nls /dev/fd >&2; echo \"$PITAP_PARENT_FD\" >&2; echo started; exec \"$@\"\n")
	without := s.run("", "pitap", "record", "--dir", s.path("without"), "--", agent, "true")
	theirs, ours, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cmd := s.with("PITAP_PARENT_FD=3").command(ctx, s.path("bin/pitap"), "record", "--", agent, "sleep", "60")
	cmd.ExtraFiles = []*os.File{theirs}
	stdin, _ := cmd.StdinPipe()
	defer stdin.Close()
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	line := make([]byte, 8)
	if n, err := stdout.Read(line); string(line[:n]) != "started\n" {
		t.Fatalf("stdout: %q, %v", line[:n], err)
	}
	ours.Close()
	if err := cmd.Wait(); exitStatus(cmd.ProcessState) != -9 {
		t.Errorf("pitap ends with %v, want death by SIGKILL as of the agent", err)
	}
	c := s.capture(defaultDir)
	if !c.whole || c.streams[record.Agent] != "started\n" {
		t.Errorf("the capture: %+v", c)
	}
	var kinds []string
	for _, n := range c.notes {
		kinds = append(kinds, n.Kind+n.Signal)
	}
	if all := strings.Join(kinds, " "); !strings.Contains(all, "signalSIGKILL") || !strings.Contains(all, "exitSIGKILL") {
		t.Errorf("the capture's notes are %s", all)
	}
	if got := c.streams[record.Stderr]; got != without.stderr {
		t.Errorf("the agent has the descriptors, and the variable, %q, without such a pipe %q", got, without.stderr)
	}
}

// TestParentIsNone has the variable without such a pipe, as when it comes from somewhere else.
func TestParentIsNone(t *testing.T) {
	s := newSandbox(t)
	s.file("real/pi", "#!/bin/sh\necho \"[$PITAP_PARENT_FD]\"; exec cat\n")
	s = s.front("real")
	for _, value := range []string{"0", "2", "3", "17", "-1", "x", ""} {
		o := s.with("PITAP_PARENT_FD="+value).run(hello, "pitap", "record", "--", "pi")
		if o.status != 0 || o.stdout != "[]\n"+hello {
			t.Errorf("%q: %+v", value, o)
		}
	}
}

// TestParentOfAnotherEnd lets the agent end by itself while the pipe is open.
func TestParentOfAnotherEnd(t *testing.T) {
	s := newSandbox(t)
	theirs, ours, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer ours.Close()
	defer theirs.Close()
	for _, args := range [][]string{{"pitap", "record", "--", "sh", "-c", "exit 7"}, {"shim/pi", "-c", "exit 7"}} {
		if args[0] == "shim/pi" {
			args[0] = s.linkPitap("shim/pi")
		}
		cmd := s.with("PITAP_PARENT_FD=3", "PITAP_AGENT=sh").command(t.Context(), args...)
		cmd.ExtraFiles = []*os.File{theirs}
		out, err := cmd.CombinedOutput()
		if exitStatus(cmd.ProcessState) != 7 || len(out) > 0 {
			t.Errorf("%q: %v, %s", args, err, out)
		}
	}
}
