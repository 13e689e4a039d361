//go:build linux

package main

import (
	"bytes"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"pitap/internal/zoo"
	"pitap/record"
)

func TestExitStatus(t *testing.T) {
	for _, code := range []int{0, 1, 7, 125, 255} {
		t.Run("", func(t *testing.T) {
			both(t, func(t *testing.T, f *front) {
				s := f.exec("sh", "-c", "echo bye; exit $0", itoa(code))
				s.Wait(code)
				s.WaitForEnd()
				c := f.captured()
				c.session(s)
				if c != nil {
					if n := c.note(record.Agent, "exit"); n == nil || n.Note.Code == nil || *n.Note.Code != code {
						t.Errorf("capture: exit note %+v, want code %d", n, code)
					}
				}
			})
		})
	}
}

// The client sees the signal that the agent died of, and nothing on stderr that the agent did not write.
func TestDeathBySignal(t *testing.T) {
	sigs := []syscall.Signal{unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGILL, unix.SIGTRAP, unix.SIGABRT, unix.SIGBUS,
		unix.SIGFPE, unix.SIGKILL, unix.SIGUSR1, unix.SIGSEGV, unix.SIGUSR2, unix.SIGPIPE, unix.SIGALRM, unix.SIGTERM,
		unix.SIGSTKFLT, unix.SIGXCPU, unix.SIGXFSZ, unix.SIGVTALRM, unix.SIGPROF, unix.SIGIO, unix.SIGPWR, unix.SIGSYS,
		34, 35, 64}
	both(t, func(t *testing.T, f *front) {
		for _, sig := range sigs {
			g := *f
			g.dir = t.TempDir()
			s := g.exec("sh", "-c", "ulimit -c 0; kill -$0 $$; sleep 10", itoa(int(sig)))
			s.Wait(-int(sig))
			s.WaitForEnd()
			if len(s.Err.Bytes()) > 0 {
				t.Errorf("%v: stderr is %q", sig, s.Err.Bytes())
			}
			c := g.captured()
			c.session(s)
			if c != nil {
				if n := c.note(record.Agent, "exit"); n == nil || n.Note.Signal == "" {
					t.Errorf("%v: exit note %+v names no signal", sig, n)
				}
			}
		}
	})
}

// A death by signal leaves one core at most: the agent's.
func TestDeathBySignalLeavesNoCore(t *testing.T) {
	t.Parallel()
	f := behind(t)
	work := t.TempDir()
	for _, sig := range []syscall.Signal{unix.SIGSEGV, unix.SIGABRT, unix.SIGQUIT} {
		argv := append([]string{"-c", `ulimit -c unlimited; exec "$@"`, "sh"}, f.argv([]string{"sh", "-c", "ulimit -c 0; kill -$0 $$", itoa(int(sig))})...)
		cmd := exec.Command("sh", argv...)
		cmd.Dir = work
		cmd.Env = f.env()
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		cmd.Run()
		ws := cmd.ProcessState.Sys().(syscall.WaitStatus)
		if ws.Signal() != sig || ws.CoreDump() || stderr.Len() > 0 {
			t.Errorf("%v: ended by %v, core %v, stderr %q", sig, ws.Signal(), ws.CoreDump(), stderr.Bytes())
		}
	}
}

// The first process of a container can't die by a signal of its own.
func TestDeathBySignalAsFirstProcess(t *testing.T) {
	t.Parallel()
	f := behind(t)
	cmd := f.command("sh", "-c", "kill -TERM $$")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Skipf("no process namespaces here: %v", err)
	}
	cmd.Wait()
	if got := status(cmd.ProcessState); got != 128+15 || stderr.Len() > 0 {
		t.Errorf("status %d, stderr %q; want %d and nothing", got, stderr.String(), 128+15)
	}
	f.captured().whole(nil, nil, nil)
}

// TestCase21 is about agents that exit while nothing happens, or much is left unread.
func TestCase21(t *testing.T) {
	t.Run("client is idle", func(t *testing.T) {
		bothAll(t, func(t *testing.T, f *front) {
			s := f.start(zoo.Out("bye\n"), zoo.Exit(7))
			s.Wait(7) // the client's end of stdin is open
			s.WaitForEnd()
			f.captured().session(s)
		})
	})
	t.Run("much unread", func(t *testing.T) {
		both(t, func(t *testing.T, f *front) {
			const held, size = 1 << 20, 1000 // bytes that anybody's pipe may hold
			s := f.start(zoo.Pipe(1, held), zoo.Out("go\n"), zoo.Line(), zoo.Flood(held/2/size, size), zoo.Exit(7))
			s.Expect("")
			s.StopReading()
			s.Send("now")
			s.Wait(7) // at once, with the pipe full
			s.ResumeReading()
			s.WaitForEnd()
			same(t, "stdout", s.Out.Bytes(), append([]byte("go\n"), zoo.Records(held/2/size, size)...))
			f.captured().session(s)
		})
	})
}
