package record

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

func TestRecorderRecordsAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSession(t)
		s.Note(&Entry{From: Client, Note: &Note{Kind: "signal", Signal: "SIGWINCH", To: "agent"}})
		s.talk(2*time.Second, 7*time.Millisecond)
		s.put(Agent, "no line feed at the end")
		s.Note(&Entry{From: Agent, Note: &Note{Kind: "eof"}})
		s.put(Client, "nor here")
		s.close()
		y := s.check()
		if y.lost != [streamCount]int64{} || s.warned() != "" {
			t.Errorf("lost %v, warnings %q", y.lost, s.warned())
		}
		if len(y.of("signal")) != 1 || len(y.of("eof")) != 1 || len(y.notes) != 3 {
			t.Errorf("notes %+v", y.notes)
		}
	})
}

// TestIdleRecorder has no timer: nothing wakes it.
func TestIdleRecorder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		writes := 0
		s := newSession(t)
		s.put(Client, "{}\n")
		pause(time.Second)
		s.file.set(func(f *memFile) {
			f.write = func(p []byte, _ int64) (int, error) { writes++; return len(p), nil }
		})
		pause(24 * time.Hour)
		if writes > 0 {
			t.Errorf("%d writes while idle", writes)
		}
		s.close()
		s.check()
	})
}

// TestFlushedInTime is the third promise: a copy of the file holds all that was put more than 100 ms before.
func TestFlushedInTime(t *testing.T) {
	for _, slow := range []time.Duration{0, 10 * time.Millisecond, 25 * time.Millisecond} {
		t.Run(slow.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSession(t)
				s.file.write = func(p []byte, _ int64) (int, error) {
					pause(slow)
					return len(p), nil
				}
				type mark struct {
					at   time.Time
					ends [streamCount]int64
				}
				var marks []mark
				r := rand.New(rand.NewPCG(1, 2))
				for range 800 {
					for range r.IntN(4) {
						s.put(Stream(1+r.IntN(3)), []string{"{}\n", `{"a":`, `"long` + strings.Repeat(" and longer", r.IntN(500)) + `"`, "}\n", "\n"}[r.IntN(5)])
					}
					m := mark{at: time.Now()}
					for i := range m.ends {
						m.ends[i] = int64(len(s.sent[i]))
					}
					marks = append(marks, m)
					pause(time.Duration(r.IntN(12000)) * time.Microsecond)
					if r.IntN(30) == 0 {
						pause(300 * time.Millisecond)
					}
					var want [streamCount]int64
					for len(marks) > 0 && time.Since(marks[0].at) > 100*time.Millisecond {
						want = marks[0].ends
						marks = marks[1:]
					}
					if want == ([streamCount]int64{}) || r.IntN(10) > 0 {
						continue
					}
					got := covers(s.file.bytes())
					for i := range want {
						if got[i] < want[i] {
							t.Fatalf("after %v the file holds %d bytes of %v, more than 100 ms ago %d were put", time.Since(s.start), got[i], Stream(i), want[i])
						}
					}
				}
				s.close()
				if y := s.check(); y.lost != [streamCount]int64{} || len(y.of("lag")) > 0 {
					t.Errorf("lost %v, lag %v", y.lost, y.of("lag"))
				}
			})
		})
	}
}

// TestFileFails: whatever the file does, traffic goes on, and what is missing in the capture is counted.
func TestFileFails(t *testing.T) {
	t.Parallel()
	full := fmt.Errorf("write capture: %w", syscall.ENOSPC)
	for i, test := range []struct {
		name  string
		fail  func(f *memFile)
		heals bool // the file works again before the end
		lost  bool // something is
		sync  bool
	}{
		{name: "writes fail", fail: func(f *memFile) {
			f.write = func(p []byte, _ int64) (int, error) { return 0, full }
		}, lost: true},
		{name: "writes are short", fail: func(f *memFile) {
			f.write = func(p []byte, _ int64) (int, error) { return len(p) / 2, full }
		}, lost: true},
		{name: "all but the last byte is written", fail: func(f *memFile) {
			f.write = func(p []byte, _ int64) (int, error) { return len(p) - 1, full }
		}, lost: true},
		{name: "everything is written, and an error comes", fail: func(f *memFile) {
			f.write = func(p []byte, _ int64) (int, error) { return len(p), full }
		}, lost: true},
		{name: "small writes succeed", fail: func(f *memFile) {
			f.write = func(p []byte, _ int64) (int, error) {
				if len(p) < 20 {
					return len(p), nil
				}
				return 5, full
			}
		}, lost: true},
		{name: "every second write fails", fail: func(f *memFile) {
			n := 0
			f.write = func(p []byte, _ int64) (int, error) {
				if n++; n%2 == 0 {
					return len(p), nil
				}
				return len(p) / 3, full
			}
		}, lost: true},
		{name: "truncate fails, too", fail: func(f *memFile) {
			f.write = func(p []byte, _ int64) (int, error) { return len(p) / 2, full }
			f.truncate = func(int64) error { return syscall.EIO }
		}, lost: true},
		{name: "sync fails", sync: true, fail: func(f *memFile) {
			f.sync = func() error { return syscall.EIO }
		}, lost: true},
		{name: "sync fails every second time", sync: true, fail: func(f *memFile) {
			n := 0
			f.sync = func() error {
				if n++; n%2 == 0 {
					return syscall.EIO
				}
				return nil
			}
		}, lost: true},
	} {
		for _, step := range []time.Duration{300 * time.Microsecond, 9 * time.Millisecond, 130 * time.Millisecond} {
			if racing && step < time.Millisecond && i%3 > 0 {
				continue
			}
			t.Run(fmt.Sprintf("%s, a step each %v", test.name, step), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := newSession(t, func(_ *session, cfg *Config) { cfg.Sync = test.sync })
					s.talk(time.Second, step)
					for range 2 {
						s.put(Agent, `{"begun before`)
						s.file.set(test.fail)
						s.talk(1700*time.Millisecond, step)
						s.Note(&Entry{Note: &Note{Kind: "signal", Signal: "SIGUSR1"}})
						s.put(Agent, `{"begun while"`)
						s.file.set(func(f *memFile) { f.write, f.truncate, f.sync = nil, nil, nil })
						pause(10 * time.Millisecond)
						s.put(Agent, ` and "goes on"`)
						s.talk(1200*time.Millisecond, step)
					}
					s.close()
					y := s.check()
					if (y.lost != [streamCount]int64{}) != test.lost {
						t.Errorf("lost %v", y.lost)
					}
					if n := len(y.of("signal")); n != 2 {
						t.Errorf("%d of 2 signals", n)
					}
					if gaps := y.of("gap"); test.lost && (len(gaps) < 2 || !strings.Contains(gaps[0].Note.Error, "no space left") && !test.sync) {
						t.Errorf("gaps %+v", gaps)
					}
					if w := s.warned(); !strings.Contains(w, "the session goes on without being recorded") || !strings.Contains(w, "recording again") {
						t.Errorf("warnings %q", w)
					}
				})
			})
		}
	}
}

// TestFileFailsToTheEnd: the capture can't be ended; it is readable up to the failure.
func TestFileFailsToTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSession(t)
		s.talk(time.Second, time.Millisecond)
		pause(time.Second)
		s.file.set(func(f *memFile) {
			f.write = func(p []byte, _ int64) (int, error) { return len(p) / 2, syscall.ENOSPC }
		})
		before := covers(s.file.bytes())
		s.talk(time.Second, time.Millisecond)
		if err := s.Close(); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("close: %v", err)
		}
		got := covers(s.file.bytes())
		for i := range got {
			if got[i] < before[i] {
				t.Errorf("%d bytes of %v, were %d", got[i], Stream(i), before[i])
			}
		}
		if r, _ := readBytes(s.file.bytes()); r.Ended() || len(r.Damage()) > 0 {
			t.Errorf("ended %v, damage %v", r.Ended(), r.Damage())
		}
	})
}

// TestOpenFails: there is no file at first.
func TestOpenFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSession(t, func(s *session, _ *Config) { s.open = func() error { return syscall.EACCES } })
		s.talk(2*time.Second, 9*time.Millisecond)
		s.mu.Lock()
		s.open = nil
		s.mu.Unlock()
		s.talk(2*time.Second, 9*time.Millisecond)
		s.close()
		y := s.check()
		if gaps := y.of("gap"); len(gaps) != 1 || gaps[0].N != 1 || y.lost[Client] == 0 || !strings.Contains(gaps[0].Note.Error, "permission denied") {
			t.Errorf("gaps %+v", gaps)
		}
	})
}

// TestFileVanishes: a new file goes on, and counts what was in the old one.
func TestFileVanishes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSession(t, func(s *session, cfg *Config) {
			cfg.Gone = func() error {
				s.mu.Lock()
				defer s.mu.Unlock()
				return s.gone
			}
		})
		s.talk(2*time.Second, 9*time.Millisecond)
		s.put(Agent, `{"half`)
		s.mu.Lock()
		s.gone = fmt.Errorf("capture was removed: %w", ErrGone)
		s.open = func() error { s.gone = nil; return nil }
		s.mu.Unlock()
		pause(200 * time.Millisecond)
		s.put(Agent, `":1}`+"\n")
		s.talk(2*time.Second, 9*time.Millisecond)
		s.close()
		if len(s.files) != 2 {
			t.Fatalf("%d files", len(s.files))
		}
		y := s.check()
		if gaps := y.of("gap"); len(gaps) != 1 || y.lost[Client] == 0 || y.lost[Agent] == 0 {
			t.Errorf("gaps %+v", gaps)
		}
		if w := s.warned(); !strings.Contains(w, "capture was removed") || !strings.Contains(w, "recording again") {
			t.Errorf("warnings %q", w)
		}
	})
}

// TestPanic: a bug in the recorder ends the recording, and nothing else.
func TestPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSession(t)
		s.talk(time.Second, 9*time.Millisecond)
		pause(100 * time.Millisecond)
		before := s.file.bytes()
		s.file.set(func(f *memFile) {
			f.write = func(p []byte, _ int64) (int, error) { panic("a bug") }
		})
		began := time.Now()
		big := strings.Repeat("x", 64<<10)
		for range 1000 { // much more than the ring holds
			s.put(Agent, big)
			pause(time.Millisecond)
		}
		if d := time.Since(began); d > 1100*time.Millisecond {
			t.Errorf("putting took %v", d)
		}
		if err := s.Close(); err == nil || !strings.Contains(err.Error(), "a bug") {
			t.Errorf("close: %v", err)
		}
		if !bytes.Equal(before, s.file.bytes()) {
			t.Error("the file has changed")
		}
		if w := s.warned(); strings.Count(w, "going on without recording") != 1 {
			t.Errorf("warnings %q", w)
		}
	})
}

// TestWriteHangs: the ring fills, then forwarding is slowed to 1 MiB/s at worst, and what finds no room is counted.
func TestWriteHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSession(t)
		release := make(chan struct{})
		s.file.set(func(f *memFile) {
			f.write = func(p []byte, _ int64) (int, error) {
				<-release
				return len(p), nil
			}
		})
		big := strings.Repeat("x", 64<<10-1) + "\n"
		began := time.Now()
		for range 16<<20/len(big) - 2 {
			s.put(Agent, big)
		}
		if d := time.Since(began); d > 0 {
			t.Errorf("filling the ring took %v", d)
		}
		for n := 0; time.Since(began) == 0 && n < 1000; n++ { // what the recorder has taken before it hung
			s.put(Agent, big)
		}
		var slowest time.Duration
		for range 100 {
			began := time.Now()
			s.put(Agent, big)
			slowest = max(slowest, time.Since(began))
			began = time.Now()
			s.put(Client, "{}\n")
			if d := time.Since(began); d > 3*time.Second/(1<<20) {
				t.Errorf("a small one took %v", d)
			}
		}
		if slowest > time.Second/16 {
			t.Errorf("64 KiB took %v", slowest)
		}
		s.Note(&Entry{Note: &Note{Kind: "signal", Signal: "SIGTERM"}})
		close(release)
		pause(time.Second)
		s.put(Agent, "{}\n")
		s.close()
		y := s.check()
		if y.lost[Agent] < 99*64<<10 || y.lost[Agent] > 102*64<<10 || len(y.of("gap")) != 1 || len(y.of("signal")) != 1 {
			t.Errorf("lost %v, gaps %+v", y.lost, y.of("gap"))
		}
	})
}

// TestSlowFile: a file that takes 20 MiB/s slows the traffic and loses nothing; one of 100 KiB/s loses some.
func TestSlowFile(t *testing.T) {
	t.Parallel()
	r := rand.NewChaCha8([32]byte{1})
	lines := make([]string, 300) // 18 MiB, more than the queue holds, that compress to half
	for i := range lines {
		var random [32<<10 - 1]byte
		r.Read(random[:])
		lines[i] = hex.EncodeToString(random[:]) + "\n"
	}
	for _, test := range []struct {
		rate int // bytes of compressed data a second
		lost bool
	}{{20 << 20, false}, {100 << 10, true}} {
		t.Run(fmt.Sprint(test.rate), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSession(t)
				s.file.set(func(f *memFile) {
					f.write = func(p []byte, _ int64) (int, error) {
						pause(time.Duration(len(p)) * time.Second / time.Duration(test.rate))
						return len(p), nil
					}
				})
				for _, line := range lines {
					s.put(Agent, line)
				}
				s.close()
				y := s.check()
				if (y.lost[Agent] > 0) != test.lost {
					t.Errorf("lost %v", y.lost)
				}
				if len(y.of("lag")) == 0 {
					t.Error("no lag note")
				}
			})
		})
	}
}

// TestLag: each flush takes 300 ms, and the capture says that it is behind.
func TestLag(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSession(t)
		s.talk(time.Second, 9*time.Millisecond)
		s.file.set(func(f *memFile) {
			f.write = func(p []byte, _ int64) (int, error) {
				pause(300 * time.Millisecond)
				return len(p), nil
			}
		})
		s.talk(3*time.Second, 9*time.Millisecond)
		s.file.set(func(f *memFile) { f.write = nil })
		s.talk(3*time.Second, 9*time.Millisecond)
		s.close()
		lags := s.check().of("lag")
		if len(lags) == 0 || len(lags) > 5 {
			t.Fatalf("lag notes %+v", lags)
		}
		for _, e := range lags {
			if e.Note.By < int64(100*time.Millisecond) || e.Note.By > int64(700*time.Millisecond) || e.T < int64(time.Second) || e.T > int64(4500*time.Millisecond) {
				t.Errorf("at %v behind by %v", time.Duration(e.T), time.Duration(e.Note.By))
			}
		}
	})
}

func TestClockNotes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSession(t)
		move := func(d time.Duration) {
			s.mu.Lock()
			s.wall += d
			s.mu.Unlock()
			s.talk(time.Second, 50*time.Millisecond)
		}
		move(0)
		move(900 * time.Millisecond)
		move(5 * time.Second)
		move(-time.Hour)
		wall := time.Now().Add(s.wall)
		s.close()
		clocks := s.check().of("clock")
		if len(clocks) != 2 || clocks[0].Note.By != int64(5900*time.Millisecond) || clocks[1].Note.By != -int64(time.Hour) {
			t.Fatalf("clock notes %+v", clocks)
		}
		if d := wall.Sub(clocks[1].Note.Wall); d < 0 || d > 2*time.Second || clocks[1].Note.Wall.Location() != time.UTC {
			t.Errorf("wall time %v, is %v", clocks[1].Note.Wall, wall)
		}
	})
}
