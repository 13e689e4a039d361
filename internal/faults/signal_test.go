//go:build linux

package faults

import (
	"fmt"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"pitap/internal/zoo"
)

// caught are the signals that reach the agent and leave it running.
var caught = []syscall.Signal{unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGUSR1, unix.SIGUSR2, unix.SIGALRM,
	unix.SIGWINCH, unix.SIGCONT, unix.SIGABRT, 35, 50, 64}

// keys are what a terminal makes signals of.
var keys = map[syscall.Signal]string{unix.SIGINT: "\x03", unix.SIGQUIT: "\x1c"}

// Promise: each signal arrives as often as it was sent, to the process, to its group or by a terminal's key, while traffic
// goes on untouched.
func TestSignals(t *testing.T) {
	for _, to := range []string{"process", "group", "terminal"} {
		t.Run(to, func(t *testing.T) {
			t.Parallel()
			g := newRig(t)
			for _, sig := range caught {
				g.task.Catch = append(g.task.Catch, int(sig))
			}
			g.attr = &syscall.SysProcAttr{Setpgid: true}
			var tty *zoo.Terminal
			if to == "terminal" {
				tty = zoo.NewTerminal(t)
				g.files = append(g.files, tty.Slave)
				g.attr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 4}
			}
			g.start()
			g.flows(1)
			send := func(sig syscall.Signal) {
				switch {
				case to == "terminal" && keys[sig] != "":
					tty.Type(keys[sig])
				case to == "process":
					unix.Kill(g.cmd.Process.Pid, sig)
				default:
					unix.Kill(-g.cmd.Process.Pid, sig)
				}
			}
			rounds := int64(times(2, 10))
			for round := range rounds {
				for _, i := range g.r.Perm(len(caught)) {
					send(caught[i])
					g.until(fmt.Sprintf("%v, time %d", caught[i], round+1), func() bool { return g.agent.Signals[caught[i]].Load() > round })
				}
			}
			g.flows(10_000) // time for one too many
			for _, sig := range caught {
				if n := g.agent.Signals[sig].Load(); n != rounds {
					t.Errorf("%v came %d times, and was sent %d times", sig, n, rounds)
				}
			}
			for _, sig := range caught { // twice at once: the system may make one of them
				send(sig)
				send(sig)
				g.until(fmt.Sprint("two of ", sig), func() bool { return g.agent.Signals[sig].Load() > rounds })
			}
			g.flows(10_000)
			total := 0
			for _, sig := range caught {
				n := g.agent.Signals[sig].Load()
				if total += int(n); n > rounds+2 {
					t.Errorf("%v came %d times, and was sent %d times", sig, n, rounds+2)
				}
			}
			f := g.finish(3)
			f.noGap()
			if len(f.signals) < total {
				t.Errorf("capture: notes of %d signals, and %d came", len(f.signals), total)
			}
		})
	}
}

// Promise: a signal that ends the agent ends pitap in the same way, and the client sees all that was written before.
func TestDeadlySignals(t *testing.T) {
	for _, sig := range []syscall.Signal{unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGUSR1, unix.SIGUSR2, unix.SIGALRM, unix.SIGABRT, 35, 64} {
		t.Run(zoo.SignalName(sig), func(t *testing.T) {
			t.Parallel()
			for range times(1, 8) {
				g := newRig(t)
				g.task.Default = []int{int(sig)}
				g.start()
				g.flows(1)
				g.moment(50 * ms)
				g.cmd.Process.Signal(sig)
				g.wait(-int(sig))
				g.ended()
				if c, a := g.client.Read.Load(), g.agent.Written.Load(); c < a {
					t.Errorf("the client got %d bytes, and the agent has written %d", c, a)
				}
				f := g.capture()
				f.noGap()
				if f.exit == nil || f.exit.Signal == "" || len(f.signals) != 1 || f.signals[0] != f.exit.Signal {
					t.Errorf("capture: signals %v, exit note %+v", f.signals, f.exit)
				}
				g.end()
			}
		})
	}
}

// Promise: SIGTSTP stops both, SIGCONT lets both go on, and not a byte is lost.
func TestStopAndContinue(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.attr = &syscall.SysProcAttr{Setpgid: true}
	g.start()
	g.flows(1)
	pid, agent := g.cmd.Process.Pid, int(g.agent.PID.Load())
	for range times(3, 20) {
		g.moment(50 * ms)
		g.cmd.Process.Signal(unix.SIGTSTP)
		g.until("both to stop", func() bool { return zoo.State(agent) == 'T' && zoo.State(pid) == 'T' })
		g.cmd.Process.Signal(unix.SIGCONT)
		g.until("both to go on", func() bool { return zoo.State(agent) != 'T' && zoo.State(pid) != 'T' })
		g.flows(1000)
	}
	g.finish(3).noGap()
}

// Promise: SIGSTOP stops pitap alone, as it would have stopped the agent; what was under way arrives later.
func TestPitapStopped(t *testing.T) {
	t.Parallel()
	g := newRig(t).start()
	g.flows(1)
	for range times(2, 20) {
		g.cmd.Process.Signal(unix.SIGSTOP)
		g.until("pitap to stop", func() bool { return zoo.State(g.cmd.Process.Pid) == 'T' })
		g.moment(300 * ms)
		g.cmd.Process.Signal(unix.SIGCONT)
		g.flows(1000)
	}
	g.finish(3).noGap()
}
