//go:build linux

package faults

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"pitap/internal/zoo"
	"pitap/record"
)

// Promise: after SIGKILL of pitap, what the client was shown more than 100 ms earlier is in the capture, or a lag note
// says how much less; and the agent is gone within a second.
func TestKillPitap(t *testing.T) {
	if zoo.Plainly(t) { // the detector alone may take 200 ms until a recorder runs
		return
	}
	t.Parallel()
	const lanes = 2 // at the same time
	n := times(10, 200) / lanes
	outcomes := make([][]killed, lanes)
	t.Run("lanes", func(t *testing.T) {
		for lane := range lanes {
			t.Run(fmt.Sprint(lane), func(t *testing.T) {
				t.Parallel()
				for range n {
					outcomes[lane] = append(outcomes[lane], killPitap(t))
				}
			})
		}
	})
	if !t.Failed() {
		judge(t, slices.Concat(outcomes...))
	}
}

// killed is what a SIGKILL of pitap did.
type killed struct {
	seed   uint64
	after  time.Duration // the moment, since the first bytes
	late   time.Duration // how far the capture was behind what had been shown, beyond what its last lag note says
	lag    time.Duration // by that note
	lived  time.Duration // the agent, after pitap
	shown  int64         // bytes
	hiccup time.Duration // how late a timer of the test's own was at worst: the machine is busy
}

// behind is what may be missing after a kill.
const behind = 100 * ms

// killPitap kills pitap at a random moment and looks at what is left.
func killPitap(t *testing.T) (k killed) {
	t.Helper()
	g := newRig(t)
	defer g.end()
	g.task.Pace = time.Duration(g.r.IntN(2500)) * time.Microsecond
	g.start()
	if g.r.IntN(5) > 0 { // else while it starts
		g.flows(1)
	}
	watch := watchTime()
	after := g.moment(500 * ms)
	at := Now()
	g.cmd.Process.Signal(unix.SIGKILL)
	g.gone() // with the agent
	k = killed{seed: g.seed, after: after, lived: time.Duration(Now() - at), hiccup: watch(), shown: g.client.Read.Load()}
	g.ended()
	<-g.exited
	files := g.captures()
	if len(files) == 0 {
		if g.client.ReadBy(at-int64(behind)) > 0 {
			t.Errorf("no capture, and the client was shown %d bytes", g.client.Read.Load())
		}
		return k
	}
	f := g.read(files[0])
	if f.condition == "" {
		t.Error("the capture of a killed pitap is called complete")
	}
	k.lag = f.lag
	for s, l := range map[record.Stream]*Ledger{record.Client: g.agent, record.Agent: g.client} {
		if missing := f.missing(s); missing != f.lost[s] {
			t.Errorf("of %v %d bytes are missing, and gap notes count %d", s, missing, f.lost[s])
		}
		if since, ok := l.Since(f.end(s)); ok {
			k.late = max(k.late, time.Duration(at-since)-2*f.lag)
		}
	}
	return k
}

// watchTime measures how late timers are until the function that it returns is called.
func watchTime() (stop func() time.Duration) {
	end, worst := make(chan struct{}), make(chan time.Duration)
	go func() {
		tick, late := 5*ms, time.Duration(0)
		for last := time.Now(); ; last = time.Now() {
			select {
			case <-time.After(tick):
				late = max(late, time.Since(last)-tick)
			case <-end:
				worst <- late
				return
			}
		}
	}()
	return func() time.Duration {
		close(end)
		return <-worst
	}
}

// judge looks at many kills. One that shows too little, while timers of the test's own were late as well, may be the
// machine's doing; most must be in time, and none far from it.
func judge(t *testing.T, all []killed) {
	t.Helper()
	late, slow, excused := 0, 0, 0
	for _, k := range all {
		switch {
		case k.late > 2*time.Second+10*k.hiccup:
			t.Errorf("the capture is far behind what the client was shown: %v", k)
		case k.late > behind+3*k.hiccup:
			late++
		case k.late > behind:
			excused++
		}
		switch {
		case k.lived > 10*time.Second:
			t.Errorf("the agent lived on: %v", k)
		case k.lived > time.Second+3*k.hiccup:
			slow++
		}
	}
	slices.SortFunc(all, func(a, b killed) int { return int(b.late - a.late) })
	t.Logf("%d kills: the capture was more than %v behind %d times, and %d times while the machine was late, too; most: %v",
		len(all), behind, late, excused, all[:min(4, len(all))])
	slices.SortFunc(all, func(a, b killed) int { return int(b.lived - a.lived) })
	t.Logf("the agent lived longest, after pitap: %v", all[:min(2, len(all))])
	if late > len(all)/10 && !busy() {
		t.Errorf("in %d of %d kills the capture was more than %v behind", late, len(all), behind)
	}
	if slow > len(all)/10 {
		t.Errorf("in %d of %d kills the agent lived for more than a second", slow, len(all))
	}
}

func (k killed) String() string {
	return fmt.Sprintf("seed %d: after %v %v behind (lag %v) of %d bytes shown, agent lived %v, timers late by %v", k.seed, k.after, k.late, k.lag, k.shown, k.lived, k.hiccup)
}

// An agent that wants to go on, whatever it is told: SIGKILL of pitap ends it, too.
func TestKillPitapOfStubbornAgent(t *testing.T) {
	t.Parallel()
	for range times(2, 20) {
		g := newRig(t)
		for _, sig := range caught {
			g.task.Catch = append(g.task.Catch, int(sig))
		}
		g.start()
		g.flows(1)
		g.outs[0].Close() // nobody reads: the agent may wait in a write
		g.moment(50 * ms)
		at := Now()
		g.cmd.Process.Signal(unix.SIGKILL)
		g.until("the agent's end", func() bool { return !zoo.Alive(int(g.agent.PID.Load())) })
		if lived := time.Duration(Now() - at); lived > time.Second && !busy() {
			t.Errorf("the agent lived for %v", lived)
		}
		g.end()
	}
}
