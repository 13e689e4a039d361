//go:build linux

package faults

import (
	"fmt"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"pitap/internal/zoo"
	"pitap/record"
)

// Promise: a client that is killed leaves nobody, and the capture is whole.
func TestClientKilled(t *testing.T) {
	t.Parallel()
	for range times(4, 30) {
		func() {
			g := newRig(t)
			defer g.end()
			g.startClient(0)
			if g.r.IntN(5) > 0 {
				g.flows(1)
			}
			g.moment(200 * ms)
			g.cmd.Process.Signal(unix.SIGKILL)
			g.gone()
			if g.client.Child.Load() == 0 { // before it had started anything
				return
			}
			if len(g.captures()) == 0 && g.client.Read.Load() == 0 {
				return
			}
			g.right()
			g.capture()
		}()
	}
}

// Promise: each stream that the client closes is closed for the agent, and no other.
func TestClientCloses(t *testing.T) {
	for _, c := range []struct {
		name  string
		close func(g *rig)
		after func(g *rig) // what still works, and how it ends
	}{
		{"stdin", func(g *rig) { g.closeStdin() }, func(g *rig) {
			g.until("the end of input", func() bool { return g.agent.Ended.Load() == 1 })
		}},
		{"stdout", func(g *rig) { g.outs[0].Close() }, func(g *rig) {
			g.until("the agent to be told", func() bool { return g.agent.Broken.Load() == int64(unix.EPIPE) })
			read, errs := g.agent.Read.Load(), g.client.ReadErr.Load()
			g.until("the other streams", func() bool { return g.agent.Read.Load() > read+1000 && g.client.ReadErr.Load() > errs })
			g.closeStdin()
		}},
		{"stderr", func(g *rig) { g.outs[1].Close() }, func(g *rig) {
			g.until("the agent to be told", func() bool { return g.agent.BrokenErr.Load() == int64(unix.EPIPE) })
			g.flows(1000)
			g.closeStdin()
		}},
		{"stdout and stderr", func(g *rig) { g.outs[0].Close(); g.outs[1].Close() }, func(g *rig) {
			g.until("the agent to be told", func() bool { return g.agent.Broken.Load()*g.agent.BrokenErr.Load() != 0 })
			read := g.agent.Read.Load()
			g.until("the other stream", func() bool { return g.agent.Read.Load() > read+1000 })
			g.closeStdin()
		}},
		{"stdin and stdout", func(g *rig) { g.outs[0].Close(); g.closeStdin() }, func(g *rig) {}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for range times(1, 10) {
				g := newRig(t).start()
				g.flows(1)
				g.moment(100 * ms)
				c.close(g)
				c.after(g)
				g.wait(3)
				g.ended()
				f := g.capture()
				f.noGap()
				if got, sent := g.agent.Read.Load(), g.client.Written.Load(); got != sent {
					t.Errorf("the agent got %d bytes, %d were sent", got, sent)
				}
				if got := f.end(record.Client) + f.tail(record.Client); got != g.agent.Read.Load() {
					t.Errorf("capture: ends at byte %d of the client's, and the agent got %d", got, g.agent.Read.Load())
				}
			}
		})
	}
}

// Promise: a client that is stopped loses nothing, however long it takes, and nobody waits in vain.
func TestClientStops(t *testing.T) {
	for _, pace := range []time.Duration{0, ms} {
		t.Run(fmt.Sprint("pace ", pace), func(t *testing.T) {
			t.Parallel()
			g := newRig(t)
			g.task.Pace = pace
			g.startClient(times64(3<<20, 10<<20))
			g.flows(1)
			for range times(3, 20) {
				g.cmd.Process.Signal(unix.SIGSTOP)
				g.until("the client to stop", func() bool { s := zoo.State(g.cmd.Process.Pid); return s == 'T' || isClosed(g.exited) })
				g.moment(400 * ms)
				g.cmd.Process.Signal(unix.SIGCONT)
				g.moment(100 * ms)
			}
			g.wait(0)
			if got := g.client.Status.Load(); got != 1_000_003 {
				t.Errorf("pitap's status: %d", got)
			}
			if c, a := g.client, g.agent; c.Written.Load() != a.Read.Load() || a.Written.Load() != c.Read.Load() || a.WroteErr.Load() != c.ReadErr.Load() {
				t.Errorf("bytes are missing: %s", g.where())
			}
			f := g.capture()
			f.exact()
			f.noGap()
		})
	}
}

func times64(short, full int64) int64 {
	if long {
		return full
	}
	return short
}
