//go:build linux

package main

import (
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"pitap/internal/pitest"
	"pitap/internal/zoo"
	"pitap/record"
)

// An idle session costs nothing, in whatever state it is: no time of the processor, no waking up.
func TestIdleCostsNothing(t *testing.T) {
	if zoo.Plainly(t) {
		return
	}
	for name, c := range map[string]struct {
		steps []string
		do    func(s *pitest.Conversation)
	}{
		"as it begins":    {[]string{zoo.Forever()}, func(s *pitest.Conversation) {}},
		"stdin ended":     {[]string{zoo.EOF(), zoo.Forever()}, (*pitest.Conversation).CloseStdin},
		"client is deaf":  {[]string{zoo.Forever()}, (*pitest.Conversation).CloseStdout},
		"agent is mute":   {[]string{zoo.Close(1), zoo.Close(2), zoo.Forever()}, func(s *pitest.Conversation) { s.WaitForEnd() }},
		"agent is deaf":   {[]string{zoo.Close(0), zoo.Forever()}, func(s *pitest.Conversation) {}},
		"nobody reads":    {[]string{zoo.Line(), zoo.Flood(1000, 1000)}, func(s *pitest.Conversation) { s.StopReading(); s.Send("go") }},
		"agent is stuck":  {[]string{zoo.Forever()}, func(s *pitest.Conversation) { s.SendInBackground(make([]byte, 1<<20)) }},
		"agent's child":   {[]string{zoo.Child(zoo.Forever()), zoo.Forever()}, func(s *pitest.Conversation) {}},
		"stderr is stuck": {[]string{zoo.Line(), zoo.NoiseErr(1, 1<<20)}, func(s *pitest.Conversation) { s.Err.StopReading(); s.Send("go") }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := behind(t)
			s := f.start(append([]string{zoo.Out("ready\n")}, c.steps...)...)
			s.Expect("")
			path := f.onlyCapture()
			eventually(t, "the record in the capture", func() bool { return len(readNow(t, path).bytes[record.Agent]) > 0 })
			c.do(s)
			var used time.Duration
			var woken int
			for range 5 { // what is left to do is done soon, later on a busy machine
				cpu, switches := zoo.CPU(s.Pid()), zoo.Switches(s.Pid())
				pauseOf(t, time.Second)
				used, woken = zoo.CPU(s.Pid())-cpu, zoo.Switches(s.Pid())-switches
				if used <= 10*ms && woken <= 5 {
					break
				}
			}
			if used > 10*ms || woken > 5 {
				t.Errorf("a second of doing nothing cost %v, and pitap was woken %d times", used, woken)
			}
			if !s.Running() {
				t.Error("the session has ended")
			}
			bounded(t, f, zoo.Resident(s.Pid()), 32)
		})
	}
}

// Start-up costs little. The best of some tries counts: the machine may be busy.
func TestStartIsQuick(t *testing.T) {
	if zoo.Plainly(t) {
		return
	}
	f := behind(t)
	best := func(argv []string) time.Duration {
		shortest := time.Hour
		for range 15 {
			cmd := exec.Command(argv[0], argv[1:]...)
			cmd.Env = f.env()
			began := time.Now()
			if err := cmd.Run(); err != nil {
				t.Fatal(err)
			}
			shortest = min(shortest, time.Since(began))
		}
		return shortest
	}
	alone, recorded := best([]string{"true"}), best(f.argv([]string{"true"}))
	t.Logf("true takes %v, recorded %v", alone, recorded)
	if !zoo.Raced && recorded-alone > 30*ms {
		t.Errorf("true takes %v, and %v when it is recorded", alone, recorded)
	}
	if files, _ := filepath.Glob(filepath.Join(f.dir, "*.zst")); len(files) != 15 {
		t.Errorf("%d captures, want 15", len(files))
	}
}
