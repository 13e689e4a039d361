//go:build linux

package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"pitap/internal/pitest"
	"pitap/internal/zoo"
	"pitap/record"
)

// The real pi, alone and recorded.

// bothPi is both with a pi that answers get_state already.
func bothPi(t *testing.T, stdio pitest.Stdio, test func(t *testing.T, f *front, pi pitest.Pi, s *pitest.Conversation)) {
	each(t, []pitest.Stdio{stdio}, func(t *testing.T, f *front) {
		pi := pitest.NewPi(t)
		s := f.startPi(pi)
		s.Send(`{"id":"ready","type":"get_state"}`)
		s.Response("ready")
		test(t, f, pi, s)
	})
}

// startPi starts pi with further arguments.
func (f *front) startPi(pi pitest.Pi, args ...string) *pitest.Conversation {
	f.t.Helper()
	pi.Args = append(pi.Args, args...)
	pi.Env = append(pi.Env, "PITAP_DIR="+f.dir)
	var front []string
	if f.recorded {
		front = f.argv(nil)
	}
	return pitest.Start(f.t, pi.Command(front...), f.stdio)
}

func TestPiSession(t *testing.T) {
	bothPi(t, pitest.SocketPairs, func(t *testing.T, f *front, pi pitest.Pi, s *pitest.Conversation) {
		s.Send(`{"id":"p","type":"prompt","message":"nasty:"}`)
		s.Expect("agent_settled")
		s.Send(`{"id":"n","type":"set_session_name","name":"a` + "\u2028b\u2029c\u0085" + `d"}`)
		s.Response("n")
		s.Finish(0)
		c := f.captured()
		c.session(s)
		if c == nil {
			return
		}
		if c.header.Agent.Version != pi.Version {
			t.Errorf("header: pi %q, want %q", c.header.Agent.Version, pi.Version)
		}
		if n := len(c.records(record.Agent)); n != len(s.Records()) {
			t.Errorf("capture: %d records of the agent, %d came", n, len(s.Records()))
		}
	})
}

// End of input with work in flight: exit 0, no answer.
func TestCase03(t *testing.T) {
	bothPi(t, pitest.Pipes, func(t *testing.T, f *front, pi pitest.Pi, s *pitest.Conversation) {
		before := len(s.Out.Bytes())
		s.Send(`{"id":"b","type":"bash","command":"sleep 3"}`)
		s.Finish(0)
		if more := s.Out.Bytes()[before:]; bytes.Contains(more, []byte(`"id":"b"`)) {
			t.Errorf("an answer to work that was cut: %q", more)
		}
		c := f.captured()
		c.session(s)
		if c != nil {
			if eof, exit := c.note(record.Client, "eof"), c.note(record.Agent, "exit"); eof == nil || exit == nil || eof.N > exit.N {
				t.Error("capture: no note of the client's end before the exit")
			}
		}
	})
}

// A stalled reader, the end of input, signals: with pi the first SIGTERM and the end wait for the reader, a second
// SIGTERM does not.
func TestCase06Pi(t *testing.T) {
	bothPi(t, pitest.Pipes, func(t *testing.T, f *front, pi pitest.Pi, s *pitest.Conversation) {
		s.StopReading()
		sending := s.SendInBackground(bytes.Repeat([]byte("{\"type\":\"get_state\"}\n"), 2000))
		if err := sending.Wait(); err != nil {
			t.Fatal(err)
		}
		s.CloseStdin()
		stays(t, 300*ms, "running while nobody reads", s.Running)
		s.Signal(syscall.SIGTERM)
		stays(t, 200*ms, "running after the first SIGTERM", s.Running)
		s.Signal(syscall.SIGTERM)
		s.Wait(143)
		s.ResumeReading()
		s.WaitForEnd()
		f.captured().session(s)
	})
}

// The client closes stdout, later asks: pi exits with 1 then, and not before.
func TestCase07Pi(t *testing.T) {
	for _, stdio := range []pitest.Stdio{pitest.Pipes, pitest.SocketPairs} {
		t.Run(stdio.String(), func(t *testing.T) {
			bothPi(t, stdio, func(t *testing.T, f *front, pi pitest.Pi, s *pitest.Conversation) {
				s.CloseStdout()
				stays(t, 200*ms, "running", s.Running)
				s.Send(`{"type":"get_state"}`)
				s.Wait(1)
				s.WaitForEnd()
				c := f.captured()
				if c == nil {
					return
				}
				same(t, "capture: bytes of client", c.bytes[record.Client], s.In())
				same(t, "capture: bytes of stderr", c.bytes[record.Stderr], s.Err.Bytes())
				if !bytes.HasPrefix(c.bytes[record.Agent], s.Out.Bytes()) || c.condition != "" {
					t.Errorf("capture: %q, %d bytes of the agent, %d came", c.condition, len(c.bytes[record.Agent]), len(s.Out.Bytes()))
				}
			})
		})
	}
}

// Orphans: what a bash command of pi's leaves behind, and when.
func TestCase08(t *testing.T) {
	for _, end := range []string{"TERM", "HUP", "INT", "KILL", "EOF"} {
		t.Run(end, func(t *testing.T) {
			t.Parallel()
			alone, recorded := orphan(t, end, false), orphan(t, end, true)
			if alone != recorded && end == "KILL" {
				// The system closes the files of a killed pitap, and kills its agent, in any order: on a busy machine pi may
				// see the end of its input first.
				recorded = orphan(t, end, true)
			}
			t.Logf("the shell survives: %v", alone)
			if alone != recorded {
				t.Errorf("alone the shell survives: %v, recorded: %v", alone, recorded)
			}
		})
	}
}

// orphan ends pi while it runs a shell, and tells whether that goes on.
func orphan(t *testing.T, end string, recorded bool) (survives bool) {
	t.Helper()
	f := behind(t)
	f.recorded = recorded
	s := f.startPi(pitest.NewPi(t))
	work := t.TempDir()
	started, goOn, marker := filepath.Join(work, "started"), filepath.Join(work, "go"), filepath.Join(work, "marker")
	s.Send(fmt.Sprintf(`{"id":"b","type":"bash","command":"echo $$ >%s.new; mv %[1]s.new %[1]s; while ! [ -e %s ]; do sleep 0.02; done; touch %s"}`, started, goOn, marker))
	shell := pidOfShell(t, started)
	sigs := map[string]syscall.Signal{"TERM": unix.SIGTERM, "HUP": unix.SIGHUP, "INT": unix.SIGINT, "KILL": unix.SIGKILL}
	if end == "EOF" {
		s.CloseStdin()
	} else {
		s.Signal(sigs[end])
	}
	s.Wait(map[string]int{"TERM": 143, "HUP": 129, "INT": -int(unix.SIGINT), "KILL": -int(unix.SIGKILL), "EOF": 0}[end])
	settles(t, "the shell", func() int64 {
		survives = zoo.Alive(shell)
		return map[bool]int64{true: 1}[survives]
	})
	touch(t, goOn)
	if survives {
		eventually(t, "the marker", func() bool { return exists(marker) })
	}
	if recorded {
		s.WaitForEnd()
		readCapture(t, f.onlyCapture())
	}
	return survives
}

// The line null ends pi: cause, words and exit stand next to each other.
func TestCase18(t *testing.T) {
	bothPi(t, pitest.Pipes, func(t *testing.T, f *front, pi pitest.Pi, s *pitest.Conversation) {
		s.Send("null")
		s.Wait(1)
		s.WaitForEnd()
		if len(s.Err.Bytes()) < 1000 {
			t.Errorf("stderr is %q", s.Err.Bytes())
		}
		c := f.captured()
		c.session(s)
		if c == nil {
			return
		}
		cause := c.records(record.Client)
		last := cause[len(cause)-1]
		if string(last.Body) != "null" || c.note(record.Agent, "exit") == nil || *c.note(record.Agent, "exit").Note.Code != 1 {
			t.Errorf("capture: last record %q, exit %+v", last.Body, c.note(record.Agent, "exit"))
		}
	})
}

func TestCase11Pi(t *testing.T) {
	each(t, []pitest.Stdio{pitest.Pipes}, func(t *testing.T, f *front) {
		pi := pitest.NewPi(t)
		s := f.startPi(pi, "--bogus")
		s.Wait(1)
		s.WaitForEnd()
		if !strings.Contains(string(s.Err.Bytes()), "--bogus") || len(s.Out.Bytes()) > 0 {
			t.Errorf("stdout %q, stderr %q", s.Out.Bytes(), s.Err.Bytes())
		}
		f.captured().session(s)
	})
}

// 200,000 bytes on stderr that nobody reads: an agent of Node.js goes on.
func TestCase12Node(t *testing.T) {
	each(t, []pitest.Stdio{pitest.Pipes, pitest.SocketPairs}, func(t *testing.T, f *front) {
		pi := pitest.NewPi(t)
		pi.Path, pi.Args = pi.Node, []string{"-e", `
			for (const s of [process.stdout, process.stderr]) s._handle?.setBlocking?.(false);
			process.stderr.write("x".repeat(200_000));
			process.stdout.write('{"type":"record"}\n');
			process.stdin.on("data", () => process.exit(3));`}
		s := f.startPi(pi)
		s.Err.StopReading()
		s.Expect("record")
		s.Err.ResumeReading()
		s.Until("all of stderr", func(out, err []byte) bool { return len(err) == 200_000 })
		s.Send("exit")
		s.Wait(3)
		s.WaitForEnd()
		f.captured().session(s)
	})
}

// With signals ignored, as nohup starts it, pi hears of a hang-up all the same.
func TestPiUnderNohup(t *testing.T) {
	each(t, []pitest.Stdio{pitest.Pipes}, func(t *testing.T, f *front) {
		pi := pitest.NewPi(t)
		pi.Env = append(pi.Env, "PITAP_DIR="+f.dir)
		var front []string
		if f.recorded {
			front = f.argv(nil)
		}
		cmd := pi.Command(append([]string{"/bin/sh", "-c", `trap "" HUP; exec "$@"`, "sh"}, front...)...)
		s := pitest.Start(t, cmd, f.stdio)
		s.Send(`{"id":"ready","type":"get_state"}`)
		s.Response("ready")
		s.Signal(unix.SIGHUP)
		s.Wait(129)
	})
}

func pidOfShell(t *testing.T, file string) (pid int) {
	t.Helper()
	eventually(t, "the shell", func() bool { return exists(file) })
	fmt.Sscan(readFile(t, file), &pid)
	return pid
}
