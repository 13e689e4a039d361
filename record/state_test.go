package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// TestHandOver stops a recorder at some moment, and another goes on from its state, which has been JSON.
func TestHandOver(t *testing.T) {
	for seed := range uint64(scaled(30)) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 7))
			s := newSession(t)
			some := func() {
				for range r.IntN(60) {
					s.put(Stream(1+r.IntN(3)), []string{"{}\n", `{"a":`, `"long` + strings.Repeat(" and longer", r.IntN(9000)) + `"`, "}\r", "\n"}[r.IntN(5)])
					if r.IntN(3) == 0 {
						pause(time.Duration(r.IntN(50)) * time.Millisecond)
					}
				}
			}
			for range 1 + r.IntN(3) {
				some()
				if r.IntN(2) == 0 { // with a full queue
					release := make(chan struct{})
					s.file.set(func(f *memFile) {
						f.write = func(p []byte, _ int64) (int, error) { <-release; return len(p), nil }
					})
					some()
					time.AfterFunc(50*time.Millisecond, func() { close(release) })
				}
				s.Note(&Entry{Note: &Note{Kind: "handover"}})
				state, err := s.Suspend(time.Second)
				if err != nil || state == nil {
					t.Fatalf("seed %d: state %v, %v", seed, state, err)
				}
				data, err := json.Marshal(state)
				if err != nil {
					t.Fatal(err)
				}
				if n, _ := readBytes(s.file.bytes()); len(n.Damage()) > 0 || n.Torn() {
					t.Fatalf("seed %d: damage %v, torn %v after the first recorder", seed, n.Damage(), n.Torn())
				}
				resumed := new(State)
				if err := json.Unmarshal(data, resumed); err != nil {
					t.Fatal(err)
				}
				again, _ := json.Marshal(resumed)
				if !bytes.Equal(data, again) {
					t.Fatalf("state\n%s\nbecame\n%s", data, again)
				}
				s.Recorder = NewRecorder(Config{
					Open:   func() (File, *Header, error) { return s.file, nil, nil },
					Clock:  func() int64 { return int64(time.Since(s.start)) },
					Wall:   time.Now,
					Resume: resumed,
				})
			}
			some()
			s.close()
			y := s.check()
			if y.lost != [streamCount]int64{} || len(y.of("handover")) == 0 {
				t.Errorf("seed %d: lost %v, %d hand-overs", seed, y.lost, len(y.of("handover")))
			}
			// Each byte stands in one record only, once parts that are superseded are left out.
			r2, entries := readBytes(s.file.bytes())
			for from := Client; from < streamCount; from++ {
				of := slices.DeleteFunc(slices.Clone(entries), func(e Entry) bool { return e.From != from || e.Note != nil })
				if got, want := assemble(of), wantRecords(s.sent[from]); !slices.Equal(got, want) {
					t.Errorf("seed %d: %v has %d records, want %d", seed, from, len(got), len(want))
				}
			}
			if totals := entries[len(entries)-1].Note.Totals; totals.Streams["agent"].Bytes != int64(len(s.sent[Agent])) || !r2.Ended() {
				t.Errorf("seed %d: totals %+v, %d bytes of the agent", seed, totals, len(s.sent[Agent]))
			}
		})
	}
}

// TestFinish: the end of a session waits for a slow file as long as it is told to, then gives the rest to another.
func TestFinish(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSession(t)
		s.talk(time.Second, 9*time.Millisecond)
		if state, err := s.Finish(time.Second); state != nil || err != nil {
			t.Errorf("state %v, %v", state, err)
		}
		s.check()
	})
	synctest.Test(t, func(t *testing.T) { // slow: each write takes 600 ms
		s := newSession(t)
		s.file.set(func(f *memFile) {
			f.write = func(p []byte, _ int64) (int, error) { pause(600 * time.Millisecond); return len(p), nil }
		})
		s.talk(2*time.Second, time.Millisecond)
		began := time.Now()
		state, err := s.Finish(500 * time.Millisecond)
		if d := time.Since(began); err == nil && state == nil && d > time.Second || d > 1500*time.Millisecond {
			t.Errorf("after %v: state %v, %v", d, state, err)
		}
		<-s.done
	})
	synctest.Test(t, func(t *testing.T) { // the machine is busy: the recorder does not run for seconds
		s := newSession(t, func(_ *session, cfg *Config) { cfg.Watch = func(*Entry) { pause(100 * time.Millisecond) } })
		s.talk(100*time.Millisecond, 10*time.Millisecond)
		state, err := s.Finish(50 * time.Millisecond)
		if state == nil || err != nil {
			t.Errorf("state %v, %v", state, err)
		}
	})
	synctest.Test(t, func(t *testing.T) { // hangs
		s := newSession(t)
		release := make(chan struct{})
		s.file.set(func(f *memFile) {
			f.write = func(p []byte, _ int64) (int, error) { <-release; return len(p), nil }
		})
		s.talk(time.Second, 9*time.Millisecond)
		began := time.Now()
		state, err := s.Finish(500 * time.Millisecond)
		if state != nil || err == nil || !strings.Contains(err.Error(), "hangs") || time.Since(began) > 1100*time.Millisecond {
			t.Errorf("after %v: state %v, %v", time.Since(began), state, err)
		}
		close(release)
		<-s.done
	})
}

// TestSuspendWhileFailing gives no state: there is nothing to go on with.
func TestSuspendWhileFailing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSession(t)
		s.file.set(func(f *memFile) {
			f.write = func(p []byte, _ int64) (int, error) { return 0, syscall.ENOSPC }
		})
		s.talk(time.Second, 9*time.Millisecond)
		if state, err := s.Suspend(time.Second); state != nil || !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("state %v, %v", state, err)
		}
	})
}
