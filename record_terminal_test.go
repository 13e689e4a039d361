//go:build linux

package main

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"pitap/internal/zoo"
	"pitap/record"
)

// shell is an interactive shell on a terminal, which starts agents as its user types.
func shell(t *testing.T, f *front) (*zoo.Terminal, *process) {
	t.Helper()
	tty := zoo.NewTerminal(t)
	cmd := exec.Command("sh", "-i")
	cmd.Env = append(f.env(), "PS1=% ", "ENV=", "TERM=dumb")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty.Slave, tty.Slave, tty.Slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}
	p := launch(t, cmd)
	tty.Expect("% ")
	return tty, p
}

// quoted is a command line for a shell.
func quoted(argv []string) string {
	for i, arg := range argv {
		argv[i] = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
	}
	return strings.Join(argv, " ")
}

func TestCtrlC(t *testing.T) {
	both(t, func(t *testing.T, f *front) {
		tty, _ := shell(t, f)
		// In a second the agent would exit with 99 if the signal came twice.
		tty.Type(quoted(f.argv(f.agent(zoo.CleanUp(unix.SIGINT, 500*ms, 5), zoo.Out("ready\n"), zoo.Forever()))) + "; echo status=$?\n")
		tty.Expect("ready\r\n")
		tty.Type("\x03")
		tty.Expect("cleaning up\r\nclean\r\n")
		tty.Expect("status=5\r\n")
	})
}

// A terminal's key reaches the agent's children, too, once.
func TestCtrlCReachesChildren(t *testing.T) {
	both(t, func(t *testing.T, f *front) {
		tty, _ := shell(t, f)
		log, goOn, ready := f.file("log"), f.file("go"), f.file("ready")
		tty.Type(quoted(f.argv(f.agent(zoo.Child(zoo.Log(log, unix.SIGINT), zoo.Touch(ready), zoo.Await(goOn)), zoo.Await(ready), zoo.CleanUp(unix.SIGINT, 100*ms, 5), zoo.Out("ready\n"), zoo.Forever()))) + "\n")
		tty.Expect("ready\r\n")
		tty.Type("\x03")
		tty.Expect("clean\r\n")
		tty.Expect("% ")
		eventually(t, "the child's signal", func() bool { return readFile(t, log) != "" })
		if got := readFile(t, log); got != "SIGINT 1\n" {
			t.Errorf("signals that came to the child: %q, want one SIGINT", got)
		}
		touch(t, goOn)
	})
}

// Keys that end an agent by its signal: the shell sees the signal.
func TestDeadlyKeys(t *testing.T) {
	for key, status := range map[string]string{"\x03": "130", "\x1c": "131"} {
		t.Run(status, func(t *testing.T) {
			both(t, func(t *testing.T, f *front) {
				tty, _ := shell(t, f)
				tty.Type("ulimit -c 0; " + quoted(f.argv([]string{"sh", "-c", "echo ready; exec sleep 60"})) + "\n")
				tty.Expect("ready\r\n")
				tty.Type(key)
				tty.Expect("% ")
				tty.Type("echo status=$?\n")
				tty.Expect("status=" + status + "\r\n")
			})
		})
	}
}

// Ctrl-Z stops the agent and its children, fg lets them go on.
func TestCtrlZ(t *testing.T) {
	both(t, func(t *testing.T, f *front) {
		tty, _ := shell(t, f)
		agentFile, childFile := f.file("agent"), f.file("child")
		steps := f.agent(zoo.Child(zoo.Touch(childFile), zoo.Forever()), zoo.Touch(agentFile), zoo.Out("ready\n"), zoo.Line(), zoo.Out("on it goes\n"), zoo.Exit(4))
		tty.Type(quoted(f.argv(steps)) + "\n")
		tty.Expect("ready\r\n")
		agent, child := pidIn(t, agentFile), pidIn(t, childFile)
		defer unix.Kill(child, unix.SIGKILL)
		stopped := func() bool { return zoo.State(agent) == 'T' && zoo.State(child) == 'T' }
		for range 2 {
			tty.Type("\x1a")
			tty.Expect("% ")
			eventually(t, "all to stop", stopped)
			tty.Type("fg\n")
			eventually(t, "all to go on", func() bool { return zoo.State(agent) != 'T' && zoo.State(child) != 'T' })
		}
		tty.Type("go\n")
		tty.Expect("on it goes\r\n")
		tty.Expect("% ") // what is typed earlier goes to pitap, which reads ahead
		tty.Type("echo status=$?\n")
		tty.Expect("status=4\r\n")
	})
}

// The terminal goes away: the agent gets one SIGHUP, and the end of its input.
func TestTerminalHangsUp(t *testing.T) {
	both(t, func(t *testing.T, f *front) {
		tty, _ := shell(t, f)
		log, done := f.file("log"), f.file("done")
		tty.Type(quoted(f.argv(f.agent(zoo.Log(log, unix.SIGHUP), zoo.Out("ready\n"), zoo.EOF(), zoo.Touch(done), zoo.Wait(200*ms)))) + "\n")
		tty.Expect("ready\r\n")
		tty.Slave.Close()
		tty.HangUp()
		pid := pidIn(t, done)
		eventually(t, "the agent's end", func() bool { return !zoo.Alive(pid) })
		if got := readFile(t, log); got != "SIGHUP 1\n" {
			t.Errorf("signals that came: %q, want one SIGHUP", got)
		}
		if f.recorded {
			readCapture(t, f.onlyCapture())
		}
	})
}

// A background job that reads the terminal stops, as any does.
func TestBackgroundReadStops(t *testing.T) {
	both(t, func(t *testing.T, f *front) {
		tty, _ := shell(t, f)
		pidFile := f.file("pid")
		tty.Type(quoted(f.argv(f.agent(zoo.Touch(pidFile), zoo.Line(), zoo.Out("got it\n")))) + " &\n")
		pidIn(t, pidFile)
		tty.Type("jobs\n")
		tty.Type("fg\nhello\n")
		tty.Expect("got it\r\n")
		tty.Expect("% ")
		tty.Type("echo status=$?\n")
		tty.Expect("status=0\r\n")
	})
}

// All bytes go through a terminal, a slow one too.
func TestTerminalAsStdio(t *testing.T) {
	both(t, func(t *testing.T, f *front) {
		tty := zoo.NewTerminal(t)
		cmd := f.command(f.agent(zoo.Out("ready\n"), zoo.Lines(1), zoo.Flood(300, 1000), zoo.Err("words\n"), zoo.Line(), zoo.Exit(6))...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = tty.Slave, tty.Slave, tty.Slave
		p := launch(t, cmd)
		tty.Expect("ready\r\n")
		tty.Type("hello\n")
		tty.Expect("hello\r\nhello\r\n") // the terminal's echo, then the agent's
		tty.Expect("words\r\n")
		tty.Type("\x04") // end of input
		p.wait(6)
		want := "ready\r\nhello\r\nhello\r\n" + strings.ReplaceAll(string(zoo.Records(300, 1000)), "\n", "\r\n")
		eventually(t, "all on the terminal", func() bool { return len(tty.Shown()) >= len(want)+len("words\r\n") })
		// stderr takes its own way behind pitap, so it may be anywhere behind the flood's beginning
		got := bytes.Replace(tty.Shown(), []byte("words\r\n"), nil, 1)
		same(t, "the terminal", got, []byte(want))
		f.captured().whole([]byte("hello\n"), append([]byte("ready\nhello\n"), zoo.Records(300, 1000)...), []byte("words\n"))
	})
}

// Without its own terminal the agent still runs in pitap's session, where /dev/tty is.
func TestAgentKeepsTheTerminal(t *testing.T) {
	both(t, func(t *testing.T, f *front) {
		tty, _ := shell(t, f)
		tty.Type(quoted(f.argv([]string{"sh", "-c", "echo to the terminal >/dev/tty"})) + " >" + filepath.Join(t.TempDir(), "out") + "; echo status=$?\n")
		tty.Expect("\r\nto the terminal\r\nstatus=0\r\n")
		f.captured().whole(nil, nil, nil)
	})
}

// What a signal note says of a terminal's keys.
func TestTerminalSignalIsNoted(t *testing.T) {
	t.Parallel()
	f := behind(t)
	tty, _ := shell(t, f)
	tty.Type(quoted(f.argv([]string{"sh", "-c", "echo ready; exec sleep 60"})) + "\n")
	tty.Expect("ready\r\n")
	tty.Type("\x03")
	tty.Expect("% ")
	c := f.captured()
	if n := c.note(record.NoStream, "signal"); n == nil || n.Note.Signal != "SIGINT" || n.Note.To != "group" {
		t.Errorf("capture: note %+v, want SIGINT to the group", n)
	}
}
