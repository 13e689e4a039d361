//go:build unix

package proxy_test

import (
	"bytes"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pitap/internal/zoo"
	"pitap/proxy"
	"pitap/record"
)

const queue = 16 << 20 // what the recorder keeps in memory, in bytes

// throttled is a file on a disk that takes so many bytes a second.
type throttled struct {
	record.File
	rate int
}

func (f throttled) WriteAt(p []byte, off int64) (int, error) {
	timer := time.NewTimer(time.Duration(len(p)) * time.Second / time.Duration(f.rate))
	<-timer.C
	return f.File.WriteAt(p, off)
}

// TestCase27 is about a throttled disk: the session is slowed to its speed, but not below 1 MiB/s, and what is not
// recorded is counted.
func TestCase27(t *testing.T) {
	if zoo.Plainly(t) {
		return
	}
	for name, c := range map[string]struct {
		rate  int
		whole bool
	}{
		"4 MB/s": {4_000_000, true},
		"1 MB/s": {1_000_000, false}, // a single write may take so long that it is taken for one that hangs
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const n, size = 5000, 4000 // 20 MB
			s := newSession(t, func(f record.File) record.File { return throttled{f, c.rate} },
				zoo.Scrambled(n, size), zoo.Exit(7))
			began := time.Now()
			s.start()
			s.wait(60 * time.Second)
			took := time.Since(began)
			s.readers.Wait()
			if s.err != nil || s.result.Code != 7 {
				t.Errorf("Run gives %+v, %v", s.result, s.err)
			}
			if !bytes.Equal(s.bytes(0), zoo.ScrambledRecords(n, size)) {
				t.Error("other bytes came than the agent has written")
			}
			// Behind the first 16 MiB at 1 MiB/s at least; the rest is for a busy machine.
			if limit := time.Duration((n*size-queue)>>20)*time.Second + 10*time.Second; took > limit {
				t.Errorf("it took %v, more than %v", took, limit)
			}
			got := s.capture()
			t.Logf("%v; %d bytes lost in %d gaps; %q, %v", took, got.lost["agent"], got.notes["gap"], got.condition, s.warned())
			if got.condition != "" && !c.whole && len(s.warned()) > 0 {
				return
			}
			if c.whole && got.lost["agent"] > 0 {
				t.Errorf("capture: %d bytes lost, and the disk is quick enough", got.lost["agent"])
			}
			if sum := got.bytes[record.Agent] + got.lost["agent"]; sum != n*size || got.condition != "" || len(got.damage) > 0 {
				t.Errorf("capture: %d bytes recorded, %d in gaps, %d were written; %q, damage %v", got.bytes[record.Agent], got.lost["agent"], n*size, got.condition, got.damage)
			}
		})
	}
}

// hanging is a file that hangs until it is let go.
type hanging struct {
	record.File
	release chan struct{}
}

func (f hanging) WriteAt(p []byte, off int64) (int, error) {
	<-f.release
	return f.File.WriteAt(p, off)
}

// A file that hangs for ever: the session goes on, and ends with the agent's status.
func TestFileHangs(t *testing.T) {
	if zoo.Plainly(t) {
		return
	}
	t.Parallel()
	release := make(chan struct{})
	const n, size = 4500, 4000 // 18 MB
	s := newSession(t, func(f record.File) record.File { return hanging{f, release} }, zoo.Flood(n, size), zoo.Line(), zoo.Exit(7))
	s.start()
	s.until(n * size)
	began := time.Now()
	s.send("exit\n")
	s.wait(20 * time.Second)
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("the exit took %v", took)
	}
	if s.err != nil || s.result.Code != 7 {
		t.Errorf("Run gives %+v, %v", s.result, s.err)
	}
	if w := s.warned(); len(w) != 1 || !strings.Contains(w[0].Error(), "hangs") {
		t.Errorf("warnings: %v, want one", w)
	}
	close(release)
}

// A file that hangs for a while: what found no room meanwhile is counted, and recording goes on.
func TestFileHangsForAWhile(t *testing.T) {
	if zoo.Plainly(t) {
		return
	}
	t.Parallel()
	release := make(chan struct{})
	const n, size = 5500, 4000 // 22 MB: the recorder has some in hand beside the queue
	s := newSession(t, func(f record.File) record.File { return hanging{f, release} },
		zoo.Flood(n, size), zoo.Line(), zoo.Out("{\"last\":1}\n"), zoo.Exit(7))
	s.start()
	s.until(n * size)
	close(release)
	s.send("exit\n")
	s.wait(20 * time.Second)
	s.readers.Wait()
	c := s.capture()
	if c.condition != "" {
		t.Errorf("the capture is not complete: %q", c.condition)
	}
	total := int64(len(s.bytes(0)))
	if got := c.bytes[record.Agent] + c.lost["agent"]; got != total || c.lost["agent"] == 0 || len(c.damage) > 0 {
		t.Errorf("capture: %d bytes recorded, %d in gaps, %d were written; damage %v", c.bytes[record.Agent], c.lost["agent"], total, c.damage)
	}
}

// failing is a file that fails as long as it is told to.
type failing struct {
	record.File
	err *atomic.Pointer[error]
}

func (f failing) WriteAt(p []byte, off int64) (int, error) {
	if err := f.err.Load(); err != nil {
		return 0, *err
	}
	return f.File.WriteAt(p, off)
}

// A file that fails, then works again.
func TestFileFails(t *testing.T) {
	t.Parallel()
	var now atomic.Pointer[error]
	full := errors.New("no space left on device")
	s := newSession(t, func(f record.File) record.File { return failing{f, &now} }, zoo.Lines(100_000), zoo.Exit(7))
	s.start()
	line := "{\"n\":\"0123456789\"}\n"
	sent := 0
	send := func() {
		s.send(line)
		sent += len(line)
		s.until(sent)
	}
	send()
	now.Store(&full)
	for len(s.warned()) < 1 {
		send()
	}
	now.Store(nil)
	for len(s.warned()) < 2 {
		send()
	}
	send()
	s.stdin.Close()
	s.wait(20 * time.Second)
	c := s.capture()
	if c.condition != "" {
		t.Errorf("the capture is not complete: %q", c.condition)
	}
	for from, name := range map[record.Stream]string{record.Client: "client", record.Agent: "agent"} {
		if got := c.bytes[from] + c.lost[name]; got != int64(sent) || c.lost[name] == 0 {
			t.Errorf("capture: %d bytes of %s recorded, %d in gaps, %d came", c.bytes[from], name, c.lost[name], sent)
		}
	}
	if w := s.warned(); len(w) != 2 || !errors.Is(w[0], full) || !strings.Contains(w[1].Error(), "recording again") {
		t.Errorf("warnings: %v", w)
	}
}

// panicking is a file whose code is wrong.
type panicking struct{ record.File }

func (panicking) WriteAt(p []byte, off int64) (int, error) { panic("wrong") }

func TestRecorderPanics(t *testing.T) {
	t.Parallel()
	s := newSession(t, func(f record.File) record.File { return panicking{f} }, zoo.Echo(), zoo.Exit(7))
	s.start()
	for i := 1; len(s.warned()) == 0; i++ {
		s.send("hello\n")
		s.until(6 * i)
	}
	n := len(s.bytes(0))
	s.send("hello\n")
	s.until(n + 6)
	s.stdin.Close()
	s.wait(20 * time.Second)
	if w := s.warned(); s.result.Code != 7 || len(w) != 1 || !strings.Contains(w[0].Error(), "going on without recording") {
		t.Errorf("Run gives %+v; warnings: %v", s.result, w)
	}
}

// Nothing to record to at all.
func TestNoRecorder(t *testing.T) {
	t.Parallel()
	s := newSession(t, func(f record.File) record.File { return f }, zoo.Err("words\n"), zoo.Echo(), zoo.Exit(7))
	s.cfg.Recorder.Close()
	s.cfg.Recorder, s.cfg.Warn = nil, nil
	s.start()
	s.send("hello\n")
	s.stdin.Close()
	s.wait(20 * time.Second)
	s.readers.Wait()
	if s.err != nil || s.result.Code != 7 || string(s.bytes(0)) != "hello\n" || string(s.bytes(1)) != "words\n" {
		t.Errorf("Run gives %+v, %v; stdout %q, stderr %q", s.result, s.err, s.bytes(0), s.bytes(1))
	}
}

// Without a copy to hand over to, Run waits for what is left.
func TestNoCopy(t *testing.T) {
	t.Parallel()
	goOn := t.TempDir() + "/go"
	s := newSession(t, func(f record.File) record.File { return throttled{f, 100_000} },
		zoo.Child(zoo.Await(goOn), zoo.Scrambled(500, 1000), zoo.Err("late\n")), zoo.Out("{}\n"), zoo.Exit(7))
	s.cfg.Copy = nil
	s.start()
	s.until(3)
	if err := touch(goOn); err != nil {
		t.Fatal(err)
	}
	s.wait(60 * time.Second)
	s.readers.Wait()
	if s.result.Code != 7 || len(s.bytes(0)) != 500_003 || string(s.bytes(1)) != "late\n" {
		t.Errorf("Run gives %+v, %d bytes on stdout, stderr %q", s.result, len(s.bytes(0)), s.bytes(1))
	}
	c := s.readCapture() // complete when Run has returned
	if c.condition != "" || c.bytes[record.Agent] != 500_003 || c.bytes[record.Stderr] != 5 {
		t.Errorf("capture: %q, %v", c.condition, c.bytes)
	}
}

// A copy that can't be started, as where no file can be opened any more: Run says so, waits, and ends the capture.
func TestCopyFails(t *testing.T) {
	t.Parallel()
	goOn := t.TempDir() + "/go"
	s := newSession(t, func(f record.File) record.File { return f },
		zoo.Child(zoo.Await(goOn), zoo.Flood(500, 1000), zoo.Err("late\n")), zoo.Out("{}\n"), zoo.Exit(7))
	s.cfg.Copy = []string{"/no/such/program"}
	s.start()
	s.until(3)
	for deadline := time.Now().Add(30 * time.Second); len(s.warned()) == 0 && time.Now().Before(deadline); {
		<-time.After(time.Millisecond)
	}
	if err := touch(goOn); err != nil {
		t.Fatal(err)
	}
	s.wait(60 * time.Second)
	s.readers.Wait()
	if w := s.warned(); len(w) != 1 || !strings.Contains(w[0].Error(), "this process stays") {
		t.Errorf("warnings: %v", w)
	}
	if s.result.Code != 7 || len(s.bytes(0)) != 500_003 || string(s.bytes(1)) != "late\n" {
		t.Errorf("Run gives %+v, %d bytes on stdout, stderr %q", s.result, len(s.bytes(0)), s.bytes(1))
	}
	c := s.readCapture()
	if c.condition != "" || c.bytes[record.Agent] != 500_003 || c.bytes[record.Stderr] != 5 || c.notes["gap"] > 0 {
		t.Errorf("capture: %q, %v, notes %v", c.condition, c.bytes, c.notes)
	}
}

// An agent that can't be started: the status says why, and Started is told.
func TestStartFails(t *testing.T) {
	t.Parallel()
	for path, status := range map[string]int{"/no/such/agent": proxy.StatusNotFound, t.TempDir(): proxy.StatusNotExecutable} {
		s := newSession(t, func(f record.File) record.File { return f })
		s.cfg.Path = path
		pid := -1
		s.cfg.Started = func(p int) { pid = p }
		_, err := proxy.Run(s.cfg)
		var find *proxy.FindError
		if !errors.As(err, &find) || find.Status != status || pid != 0 {
			t.Errorf("%s: %v, Started(%d)", path, err, pid)
		}
		if c := s.readCapture(); c.condition != "" || c.notes["exit"] != 1 {
			t.Errorf("%s: capture: %q, notes %v", path, c.condition, c.notes)
		}
	}
}
