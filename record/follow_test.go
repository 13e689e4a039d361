package record

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

const patience = 20 * time.Second // of tests that wait for something

// liveFile makes a capture file that is live until end is called.
func liveFile(t *testing.T) (f *os.File, end func()) {
	t.Helper()
	f, err := CreateAt(filepath.Join(t.TempDir(), "live.jsonl.zst"))
	if err != nil {
		t.Fatal(err)
	}
	if err := Lock(f); err != nil {
		f.Close()
		t.Skip(err)
	}
	t.Cleanup(func() { f.Close() })
	return f, func() { f.Close() }
}

// followed is what a follower tells: an entry, or that it has ended.
type followed struct {
	entry Entry
	at    time.Time
}

// followFile reads a live capture in a goroutine, which ends with the capture, or when stop is closed.
func followFile(t *testing.T, path string, stop <-chan struct{}) (*Capture, <-chan followed) {
	t.Helper()
	c, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	c.Follow(stop)
	out := make(chan followed, 1000)
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer close(out)
		for c.Next() {
			out <- followed{clone(c.Entry()), time.Now()}
		}
	}()
	t.Cleanup(func() {
		<-done
		c.Close()
	})
	return c, out
}

// next waits for the follower.
func next(t *testing.T, out <-chan followed) (f followed, ok bool) {
	t.Helper()
	select {
	case f, ok = <-out:
		return f, ok
	case <-time.After(patience):
		t.Fatal("the follower has seen nothing for a long time")
		return
	}
}

// TestFollowSoon measures how long after a flush its entries are seen.
func TestFollowSoon(t *testing.T) {
	f, end := liveFile(t)
	defer end()
	stop := make(chan struct{})
	c, out := followFile(t, f.Name(), stop) // before there is even a header
	w, err := NewWriter(f, &Header{Pitap: Version}, false)
	if err != nil {
		t.Fatal(err)
	}
	var took []time.Duration
	for i := range int64(100) {
		w.Add(&Entry{T: i, From: Agent, Form: Msg, Body: fmt.Appendf(nil, `{"i":%d,"x":"%s"}`, i, strings.Repeat("x", int(i%7)*50_000)), EOL: "\n"})
		if i%10 == 9 {
			err = w.CloseFrame()
		} else {
			err = w.Flush()
		}
		if err != nil {
			t.Fatal(err)
		}
		flushed := time.Now()
		got, ok := next(t, out)
		if !ok || got.entry.N != i+1 {
			t.Fatalf("entry %d: %+v, %v", i+1, got.entry, ok)
		}
		took = append(took, got.at.Sub(flushed))
	}
	slices.Sort(took)
	t.Logf("seen after %v (median), %v (longest)", took[50], took[99])
	if took[50] > 50*time.Millisecond {
		t.Errorf("half of the flushes were seen after more than %v", took[50])
	}
	close(stop)
	if got, ok := next(t, out); ok {
		t.Errorf("stopped, and read %+v", got)
	}
	if c.Ended() || c.Err() != nil || len(c.Damage()) > 0 {
		t.Errorf("ended %v, err %v, damage %v", c.Ended(), c.Err(), c.Damage())
	}
	if cond := c.Condition(); cond != "live: still being recorded" {
		t.Errorf("condition %q", cond)
	}
}

// TestFollowToTheEnd: the follower ends when the capture does, or when its recorder died.
func TestFollowToTheEnd(t *testing.T) {
	for _, test := range []struct {
		name, condition string
		finish          func(w *Writer) error
	}{
		{"ends", "", func(w *Writer) error { return w.End(9) }},
		{"dies", "cut: it stops where its recorder was stopped; what was written until then is read, and no checksum covers the last entry", func(w *Writer) error { return w.Flush() }},
		{"dies between frames", "cut: there is no end note", func(w *Writer) error { return w.CloseFrame() }},
		{"dies before it has flushed", "cut: there is no end note", func(w *Writer) error { return nil }},
	} {
		t.Run(test.name, func(t *testing.T) {
			f, end := liveFile(t)
			_, out := followFile(t, f.Name(), nil)
			c, err := Open(f.Name())
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			w, err := NewWriter(f, &Header{Pitap: Version}, false)
			if err != nil {
				t.Fatal(err)
			}
			w.Add(&Entry{From: Agent, Form: Msg, Body: []byte(`1`), EOL: "\n"})
			if err := w.CloseFrame(); err != nil {
				t.Fatal(err)
			}
			if got, ok := next(t, out); !ok || got.entry.N != 1 {
				t.Fatalf("%+v, %v", got, ok)
			}
			if !c.Live() {
				t.Error("it is not live")
			}
			w.Add(&Entry{From: Agent, Form: Msg, Body: []byte(`2`), EOL: "\n"})
			if err := test.finish(w); err != nil {
				t.Fatal(err)
			}
			end()
			var last int64
			for {
				got, ok := next(t, out)
				if !ok {
					break
				}
				last = got.entry.N
			}
			want := int64(readCount(t, f.Name()))
			if last != want && !(last == 0 && want == 1) {
				t.Errorf("the follower saw %d entries, there are %d", last, want)
			}
			for c.Next() {
			}
			if c.Live() || c.Condition() != test.condition {
				t.Errorf("live %v, condition %q, want %q", c.Live(), c.Condition(), test.condition)
			}
		})
	}
}

func readCount(t *testing.T, path string) int {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, entries := readBytes(data)
	return len(entries)
}

// TestFollowRepair: a write fails half-way, the writer takes back what it had not finished, and goes on. The follower,
// which may have seen what was taken back, goes on, too.
func TestFollowRepair(t *testing.T) {
	body := func(i int) []byte { return fmt.Appendf(nil, `{"i":%d,"x":"%x"}`, i, traffic(20_000, uint64(i))) }
	for _, share := range []float64{0, 0.1, 0.5, 0.9, 0.999, 1} {
		f := &memFile{}
		w, err := NewWriter(f, &Header{Pitap: Version}, false)
		if err != nil {
			t.Fatal(err)
		}
		add := func(i, n int) {
			for k := range n {
				w.Add(&Entry{From: Agent, Off: int64(i+k) * 1000, Form: Msg, Body: body(i + k), EOL: "\n"})
			}
		}
		ok := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		fail := func() {
			f.write = func(p []byte, _ int64) (int, error) { return int(share * float64(len(p))), syscall.ENOSPC }
			if err := w.Flush(); err == nil {
				t.Fatal("no error")
			}
			f.write = nil
		}
		gap := func() {
			w.Add(&Entry{Note: &Note{Kind: "gap", Error: "disk full", Lost: map[string]int64{"agent": 1}}})
		}
		steps := []func(){
			func() { add(0, 3); ok(w.Flush()) },
			func() { add(3, 40); fail() },
			func() { ok(f.Truncate(w.frames.pos)) }, // the repair, seen between its steps
			func() { ok(w.Repair()); gap(); ok(w.Flush()) },
			func() { add(50, 3); ok(w.Flush()) },
			func() { add(53, 40); fail() },
			func() { ok(w.Repair()); gap(); add(100, 30); ok(w.Flush()) },
			func() { add(200, 5); ok(w.End(5)) },
		}
		r := NewReader(f, f.size)
		r.Wait = func() bool {
			if len(steps) == 0 {
				return false
			}
			steps[0]()
			steps = steps[1:]
			return true
		}
		seen := map[int64]string{}
		for r.Next() {
			seen[r.Entry().N] = string(r.Entry().Line)
		}
		if r.Err() != nil || len(r.Damage()) > 0 || !r.Ended() {
			t.Errorf("%v written: err %v, damage %v, ended %v", share, r.Err(), r.Damage(), r.Ended())
		}
		_, entries := readBytes(f.data)
		for _, e := range entries {
			if seen[e.N] != string(e.Line) {
				t.Errorf("%v written: entry %d was %.60q, is %.60q", share, e.N, seen[e.N], e.Line)
			}
		}
		if len(entries) < 40 {
			t.Errorf("%v written: %d entries", share, len(entries))
		}
	}
}

// TestFollowMany: bytes come in pieces of all sizes, and the follower sees each entry once.
func TestFollowMany(t *testing.T) {
	f := &memFile{}
	w, err := NewWriter(f, &Header{Pitap: Version}, false)
	if err == nil {
		err = writeTraffic(w, traffic(5<<20, 8))
	}
	if err != nil {
		t.Fatal(err)
	}
	size := 1
	whole, n := f.data, 0
	f.data = nil
	r := NewReader(f, f.size)
	r.Wait = func() bool {
		rest := whole[len(f.data):]
		f.data = append(f.data, rest[:min(size, len(rest))]...)
		size = size*5%30_011 + 1
		return len(rest) > 0
	}
	for r.Next() {
		n++
		if r.Entry().N != int64(n) {
			t.Fatalf("entry %d after %d", r.Entry().N, n-1)
		}
	}
	if _, entries := readBytes(whole); len(entries) != n || !r.Ended() || len(r.Damage()) > 0 || r.Err() != nil {
		t.Errorf("%d of %d entries, damage %v, %v", n, len(entries), r.Damage(), r.Err())
	}
}

// TestAliveWithoutLocks: where locks do not work, the process that the header names decides.
func TestAliveWithoutLocks(t *testing.T) {
	host, err := os.Hostname()
	if err != nil {
		t.Skip(err)
	}
	self := Header{Host: host, Boot: BootID(), PID: os.Getpid()}
	if !self.alive() {
		t.Error("this process is not alive")
	}
	for _, change := range []func(h *Header){
		func(h *Header) { h.Host = "another-" + host },
		func(h *Header) { h.Boot += "x" },
		func(h *Header) { h.PID = 0 },
		func(h *Header) { h.PID = -1 },
		func(h *Header) { h.PID = 1 << 30 },
	} {
		h := self
		change(&h)
		if h.alive() {
			t.Errorf("%+v is alive", h)
		}
	}
}

// TestLastOfLive: the newest frame of a live capture may hold no whole entry yet.
func TestLastOfLive(t *testing.T) {
	s := makeSample(t)
	path := filepath.Join(t.TempDir(), "c.jsonl.zst")
	for n := 0; n <= len(s.data); n += 7 {
		if err := os.WriteFile(path, s.data[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		_, entries := readBytes(s.data[:n])
		e, ok := c.Last()
		if ok != (len(entries) > 0) || ok && (e.N != int64(len(entries)) || !bytes.Equal(e.Line, entries[len(entries)-1].Line)) {
			t.Errorf("first %d bytes: last entry is %+v, %v, want number %d", n, e, ok, len(entries))
		}
		c.Close()
	}
	for _, content := range []string{`{"pitap":1}`, "{\"pitap\":1}\n{\"from\":\"agent\",\"msg\":1}\n\n{\"from\":\"agent\",\"msg\":2}\n", "{\"pitap\":1}\n{\"n\":1,\"from\":\"agent\",\"msg\":1}\nrubbish\n"} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		_, entries := readBytes([]byte(content))
		if e, ok := c.Last(); ok != (len(entries) > 0) || ok && e.N != int64(len(entries)) {
			t.Errorf("%q: last entry is %+v, %v", content, e, ok)
		}
		c.Close()
	}
}
