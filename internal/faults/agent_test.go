//go:build linux

package faults

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"pitap/record"
)

// Promise: the agent dies at a random moment, and the client sees all that it had written, and how it died.
func TestAgentDies(t *testing.T) {
	for _, c := range []struct {
		name   string
		sig    syscall.Signal
		status int
	}{
		{"SIGKILL", unix.SIGKILL, -int(unix.SIGKILL)}, {"SIGSEGV", unix.SIGSEGV, -int(unix.SIGSEGV)}, {"SIGABRT", unix.SIGABRT, -int(unix.SIGABRT)},
		{"exit 0", 0, 0}, {"exit 1", 0, 1}, {"exit 255", 0, 255},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for range times(2, 25) {
				agentDies(t, c.sig, c.status)
			}
		})
	}
}

func agentDies(t *testing.T, sig syscall.Signal, status int) {
	t.Helper()
	g := newRig(t)
	defer g.end()
	g.task.Pace = time.Duration(g.r.IntN(2000)) * time.Microsecond
	if sig == 0 {
		g.task.Status, g.task.ExitAfter = status, time.Duration(g.r.IntN(200_000))*time.Microsecond+1
	} else {
		g.task.Default = []int{int(sig)}
	}
	g.start()
	if sig != 0 {
		g.flows(1)
		g.moment(200 * ms)
		unix.Kill(int(g.agent.PID.Load()), sig)
	}
	g.wait(status)
	g.ended()
	if c, a := g.client.Read.Load(), g.agent.Written.Load(); c < a {
		t.Errorf("the client got %d bytes, and the agent has written %d", c, a)
	}
	if c, a := g.client.ReadErr.Load(), g.agent.WroteErr.Load(); c < a {
		t.Errorf("the client got %d bytes on stderr, and the agent has written %d", c, a)
	}
	f := g.capture()
	f.noGap()
	if f.exit == nil {
		t.Fatal("capture: no exit note")
	}
	want := "SIG"
	if sig != 0 {
		want = unix.SignalName(sig)
	}
	if (sig != 0) != (f.exit.Signal == want) || sig == 0 && (f.exit.Code == nil || *f.exit.Code != status) {
		t.Errorf("capture: exit note %+v, want signal %v or code %d", f.exit, sig, status)
	}
	if got, shown := f.end(record.Agent)+f.tail(record.Agent), g.client.Read.Load(); got != shown {
		t.Errorf("capture: ends at byte %d of the agent's, and the client got %d", got, shown)
	}
}

// A child of the agent's holds its stdout when it dies: pitap exits at once all the same, and the capture is finished later.
func TestAgentDiesAndLeavesChild(t *testing.T) {
	t.Parallel()
	for i := range times(2, 10) {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			g := newRig(t)
			g.task.Orphan = 700 * ms
			g.task.Default = []int{int(unix.SIGSEGV)}
			g.start()
			g.flows(1)
			g.moment(100 * ms)
			unix.Kill(int(g.agent.PID.Load()), unix.SIGSEGV)
			g.wait(-int(unix.SIGSEGV))
			if g.client.Ended.Load() == 1 && !busy() {
				t.Error("stdout ended with the agent, and a child of its holds it")
			}
			g.ended()
			f := g.capture()
			if f.notes["handover"] != 1 {
				t.Errorf("capture: %d notes of the hand-over", f.notes["handover"])
			}
			if got, shown := f.end(record.Agent)+f.tail(record.Agent), g.client.Read.Load(); got != shown {
				t.Errorf("capture: ends at byte %d of the agent's, and the client got %d", got, shown)
			}
		})
	}
}
