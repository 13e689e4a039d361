//go:build linux

package main

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"pitap/internal/pitest"
	"pitap/internal/zoo"
	"pitap/record"
)

// forwarded are the signals that reach the agent; SIGTSTP has tests of its own.
var forwarded = []syscall.Signal{unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGUSR1, unix.SIGUSR2, unix.SIGALRM,
	unix.SIGWINCH, unix.SIGCONT, unix.SIGABRT, 35, 50, 64}

// Each signal comes as often as it was sent, to the process or to its group.
func TestSignalsArriveOnce(t *testing.T) {
	for _, group := range []bool{false, true} {
		t.Run(map[bool]string{false: "process", true: "group"}[group], func(t *testing.T) {
			both(t, func(t *testing.T, f *front) {
				cmd := f.command(f.agent(zoo.Count(forwarded...), zoo.Out("ready\n"), zoo.Lines(2), zoo.EOF(), zoo.Exit(3))...)
				cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
				s := pitest.Start(t, cmd, f.stdio)
				s.Expect("")
				var want []string
				for _, times := range []int{1, 2} {
					for _, sig := range forwarded {
						if group {
							unix.Kill(-s.Pid(), sig)
						} else {
							s.Signal(sig)
						}
						line := fmt.Sprintf("%s %d", zoo.SignalName(sig), times)
						s.ExpectFunc(line, func(r pitest.Record) bool { return string(r) == line })
						want = append(want, line)
					}
				}
				for range 2 { // time for one too many
					s.Send("x")
					s.ExpectFunc("x", func(r pitest.Record) bool { return string(r) == "x" })
				}
				s.Finish(3)
				got := strings.Fields(strings.ReplaceAll(string(s.Out.Bytes()), " ", "="))
				got = slices.DeleteFunc(got, func(l string) bool { return l == "ready" || l == "x" })
				slices.Sort(got)
				for i := range want {
					want[i] = strings.ReplaceAll(want[i], " ", "=")
				}
				slices.Sort(want)
				if !slices.Equal(got, want) {
					t.Errorf("signals that came: %q, want %q", got, want)
				}
				c := f.captured()
				c.session(s)
				if c != nil && c.notes("signal") != 2*len(forwarded) {
					t.Errorf("capture: %d notes of signals, want %d", c.notes("signal"), 2*len(forwarded))
				}
			})
		})
	}
}

// TestCase20 is about clean-up that takes its time: one signal, one clean-up, the agent's own end.
func TestCase20(t *testing.T) {
	takes := 3 * time.Second
	if testing.Short() {
		takes = 300 * time.Millisecond
	}
	for _, to := range []string{"process", "group", "both"} {
		t.Run(to, func(t *testing.T) {
			both(t, func(t *testing.T, f *front) {
				cmd := f.command(f.agent(zoo.CleanUp(unix.SIGTERM, takes, 143), zoo.Out("ready\n"), zoo.EOF(), zoo.Forever())...)
				cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
				s := pitest.Start(t, cmd, f.stdio)
				s.Expect("")
				began := time.Now()
				switch to {
				case "process":
					s.Signal(unix.SIGTERM)
				case "group":
					unix.Kill(-s.Pid(), unix.SIGTERM)
				case "both": // a second signal: the agent's own answer to it
					s.Signal(unix.SIGTERM)
					s.Expect("")
					unix.Kill(-s.Pid(), unix.SIGTERM)
					s.Wait(99)
					return
				}
				s.Wait(143)
				s.WaitForEnd()
				if took := time.Since(began); took < takes {
					t.Errorf("it took %v, and the clean-up takes %v", took, takes)
				}
				if want := "ready\ncleaning up\nclean\n"; string(s.Out.Bytes()) != want {
					t.Errorf("stdout is %q, want %q", s.Out.Bytes(), want)
				}
				f.captured().session(s)
			})
		})
	}
}

// ignoring is a command that ignores signals, as nohup makes it.
func ignoring(cmd *exec.Cmd, names string) *exec.Cmd {
	shell := exec.Command("sh", append([]string{"-c", `trap "" ` + names + `; exec "$@"`, "sh"}, cmd.Args...)...)
	shell.Env = cmd.Env
	return shell
}

// What was ignored when pitap started is ignored by the agent.
func TestIgnoredSignals(t *testing.T) {
	both(t, func(t *testing.T, f *front) {
		s := pitest.Start(t, ignoring(f.command("sh", "-c", "grep SigIgn /proc/self/status; read x; echo $x; exit 3"), "HUP INT TSTP TTIN"), f.stdio)
		s.Expect("")
		var ignored uint64
		fmt.Sscanf(strings.Fields(string(s.Out.Bytes()))[1], "%x", &ignored)
		for _, sig := range []syscall.Signal{unix.SIGHUP, unix.SIGINT, unix.SIGTSTP, unix.SIGTTIN} {
			if ignored&(1<<(sig-1)) == 0 {
				t.Errorf("the agent does not ignore %v", sig)
			}
			s.Signal(sig)
		}
		s.Send("still here")
		s.ExpectFunc("the answer", func(r pitest.Record) bool { return string(r) == "still here" })
		s.Wait(3)
	})
}

// An agent may want to hear of a signal that was ignored when it started; Node.js does.
func TestIgnoredSignalThatTheAgentCatches(t *testing.T) {
	both(t, func(t *testing.T, f *front) {
		s := pitest.Start(t, ignoring(f.command(f.agent(zoo.Count(unix.SIGHUP, unix.SIGINT), zoo.Out("ready\n"), zoo.EOF())...), "HUP INT"), f.stdio)
		s.Expect("")
		s.Signal(unix.SIGHUP)
		s.ExpectFunc("the signal", func(r pitest.Record) bool { return string(r) == "SIGHUP 1" })
		s.Signal(unix.SIGINT)
		s.ExpectFunc("the signal", func(r pitest.Record) bool { return string(r) == "SIGINT 1" })
		s.Finish(0)
	})
}

// SIGTSTP stops the agent and what the client started; SIGCONT lets both go on.
func TestStopAndContinue(t *testing.T) {
	both(t, func(t *testing.T, f *front) {
		pidFile := f.file("pid")
		cmd := f.command(f.agent(zoo.Touch(pidFile), zoo.Lines(2))...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a job of its own, as a shell makes it
		s := pitest.Start(t, cmd, f.stdio)
		agent := pidIn(t, pidFile)
		s.Send("one")
		s.Expect("")
		for range 2 {
			s.Signal(unix.SIGTSTP)
			eventually(t, "both to stop", func() bool { return zoo.State(agent) == 'T' && zoo.State(s.Pid()) == 'T' })
			s.Signal(unix.SIGCONT)
			eventually(t, "both to go on", func() bool { return zoo.State(agent) != 'T' && zoo.State(s.Pid()) != 'T' })
		}
		s.Send("two")
		s.Finish(0)
		f.captured().session(s)
	})
}

// In a session without a shell that could continue it, SIGTSTP stops nobody.
func TestStopOfAnOrphan(t *testing.T) {
	both(t, func(t *testing.T, f *front) {
		pidFile := f.file("pid")
		cmd := f.command(f.agent(zoo.Touch(pidFile), zoo.Lines(20))...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		s := pitest.Start(t, cmd, f.stdio)
		pidIn(t, pidFile)
		s.Signal(unix.SIGTSTP)
		for range 20 {
			s.Send("x")
			s.Expect("")
		}
		s.Finish(0)
		f.captured().session(s)
	})
}

// SIGKILL of pitap leaves no agent.
func TestKillLeavesNoAgent(t *testing.T) {
	bothAll(t, func(t *testing.T, f *front) {
		pidFile := f.file("pid")
		s := f.start(zoo.Ignore(unix.SIGHUP), zoo.Ignore(unix.SIGTERM), zoo.Touch(pidFile), zoo.Out("ready\n"), zoo.EOF(), zoo.Forever())
		s.Expect("")
		agent := pidIn(t, pidFile)
		s.Signal(unix.SIGKILL)
		s.Wait(-int(unix.SIGKILL))
		within(t, time.Second, "the agent's end", func() bool { return !zoo.Alive(agent) })
		s.WaitForEnd()
		if f.recorded {
			if c := f.captured(); c.condition == "" || c.note(record.NoStream, "end") != nil {
				t.Error("the capture of a killed pitap is called complete")
			}
		}
	})
}
