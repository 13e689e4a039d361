//go:build linux

package main

import (
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"pitap/internal/zoo"
)

// An idle session costs nothing: no time of the processor, no waking up.
func TestIdleCostsNothing(t *testing.T) {
	if zoo.Plainly(t) {
		return
	}
	t.Parallel()
	f := behind(t)
	s := f.start(zoo.Lines(1), zoo.EOF(), zoo.Exit(0))
	s.Send("{}")
	s.Expect("")
	path := f.onlyCapture()
	eventually(t, "the record in the capture", func() bool { return len(readNow(t, path).records(1)) > 0 })
	// What is left to do is done in a moment; the scavenger of the Go runtime takes longer.
	settles(t, "the process", func() int64 { return int64(zoo.Switches(s.Pid())) })
	cpu, switches := zoo.CPU(s.Pid()), zoo.Switches(s.Pid())
	pauseOf(t, 2*time.Second)
	if used := zoo.CPU(s.Pid()) - cpu; used > 10*ms {
		t.Errorf("2 s of doing nothing cost %v", used)
	}
	if n := zoo.Switches(s.Pid()) - switches; n > 10 {
		t.Errorf("2 s of doing nothing: woken %d times", n)
	}
	bounded(t, f, zoo.Resident(s.Pid()), 32)
	s.Finish(0)
	f.captured().session(s)
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
