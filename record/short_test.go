package record

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// frames puts records until the file has n more whole frames.
func (s *session) frames(n int) {
	for i := range n * frameSize >> 16 {
		s.put(Stream(1+i%3), fmt.Sprintf(`{"i":%d,"long":"%s"}`+"\r\n", i, strings.Repeat("and longer ", 6000)))
		pause(time.Millisecond)
	}
	pause(100 * time.Millisecond)
}

// recount compares the totals of the end note with what is in the capture.
func (s *session) recount() {
	s.t.Helper()
	var p progress
	flagged := map[string]int64{}
	r := NewReader(s.file, s.file.size)
	for r.Next() {
		e := r.Entry()
		p.count(e)
		for name, lost := range lostIn(e) {
			stream, _ := ParseStream(name)
			p.lose(stream, p.pos[stream]+lost)
		}
		if e.Note == nil && (!e.Part || e.Last) {
			for _, f := range e.Flags.Names() {
				flagged[f]++
			}
		}
		if e.Note == nil || e.Note.Kind != "end" {
			continue
		}
		for stream := Client; stream < streamCount; stream++ {
			if got := e.Note.Totals.Streams[stream.String()]; got != p.streams[stream] {
				s.t.Errorf("end note: %v of %v, recorded are %v", got, stream, p.streams[stream])
			}
		}
		if !maps.Equal(e.Note.Totals.Flagged, flagged) {
			s.t.Errorf("end note: flags %v, recorded are %v", e.Note.Totals.Flagged, flagged)
		}
	}
}

func lostIn(e *Entry) map[string]int64 {
	if e.Note == nil {
		return nil
	}
	return e.Note.Lost
}

// TestFileCut: somebody makes the file shorter while it is written. It is a capture without holes again, whole frames stay,
// and what is missing is counted.
func TestFileCut(t *testing.T) {
	for _, test := range []struct {
		name string
		cut  func(f *memFile, rows []FrameInfo)
		kept int // frames
	}{
		{"to nothing", func(f *memFile, _ []FrameInfo) { f.data = f.data[:0] }, 0},
		{"to a byte", func(f *memFile, _ []FrameInfo) { f.data = f.data[:1] }, 0},
		{"to a byte less than a frame", func(f *memFile, rows []FrameInfo) { f.data = f.data[:rows[1].Off-1] }, 0},
		{"to a frame", func(f *memFile, rows []FrameInfo) { f.data = f.data[:rows[1].Off] }, 1},
		{"in the third frame", func(f *memFile, rows []FrameInfo) { f.data = f.data[:rows[2].Off+rows[2].Size/2] }, 2},
		{"in the open frame", func(f *memFile, _ []FrameInfo) { f.data = f.data[:len(f.data)-1] }, 3},
		{"and written to", func(f *memFile, _ []FrameInfo) { f.data = append(f.data[:0], "something else"...) }, 0},
		{"and its first frame overwritten", func(f *memFile, rows []FrameInfo) {
			copy(f.data[100:], "something else")
			f.data = f.data[:rows[2].Off]
		}, 0},
	} {
		for _, end := range []string{"more comes", "at the end", "and fails", "in another process"} {
			t.Run(test.name+", "+end, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := newSession(t)
					s.put(Client, "{}\n")
					s.frames(3)
					s.talk(time.Second, 20*time.Millisecond)
					s.put(Agent, `{"begun before`)
					s.put(Stderr, "half a line")
					pause(time.Second)
					if end == "in another process" {
						s.goOn()
					}
					rows, err := Index(s.file, int64(len(s.file.bytes())))
					if err != nil || len(rows) < 3 {
						t.Fatalf("%d frames, %v", len(rows), err)
					}
					s.file.set(func(f *memFile) {
						test.cut(f, rows)
						if end == "and fails" {
							f.write = func(p []byte, _ int64) (int, error) { return len(p) / 2, syscall.ENOSPC }
						}
					})
					if end != "at the end" {
						s.put(Agent, ` and "goes on"`)
						s.talk(800*time.Millisecond, 9*time.Millisecond)
						s.file.set(func(f *memFile) { f.write = nil })
						s.frames(1)
						s.talk(2*time.Second, 9*time.Millisecond)
					}
					s.close()
					if test.kept < 3 || end != "at the end" {
						s.checkCut(rows[:test.kept], end == "and fails")
					}
					s.recount()
				})
			})
		}
	}
}

// checkCut checks the capture of a session whose file was cut behind the given frames, and perhaps failed, too.
func (s *session) checkCut(kept []FrameInfo, failed bool) {
	s.t.Helper()
	y := s.check()
	gaps := y.of("gap")
	if len(gaps) != 1 || !failed && !strings.Contains(gaps[0].Note.Error, "cut by another program to ") {
		s.t.Errorf("gaps %+v", gaps)
	}
	now, err := ReadIndex(s.file, int64(len(s.file.bytes())))
	if err != nil || len(now) <= len(kept) || !equalRows(now[:len(kept)], kept) {
		s.t.Errorf("frames %+v, %v; want first %+v", now, err, kept)
	}
	if len(now) > len(kept) && len(gaps) > 0 && now[len(kept)].First != gaps[0].N {
		s.t.Errorf("what was kept is followed by entry %d, not the gap, %d", now[len(kept)].First, gaps[0].N)
	}
	if w := s.warned(); strings.Count(w, "cut by another program") != 1 || strings.Count(w, "recording again") != 1 {
		s.t.Errorf("warnings %q", w)
	}
}

func equalRows(a, b []FrameInfo) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

// goOn lets another recorder go on with the session's capture.
func (s *session) goOn() {
	s.t.Helper()
	state, err := s.Suspend(time.Second)
	if err != nil || state == nil {
		s.t.Fatalf("suspend: %v, %v", state, err)
	}
	cfg := s.cfg
	file := s.file
	cfg.Resume = state
	cfg.Open = func() (File, *Header, error) { return file, nil, nil }
	s.Recorder = NewRecorder(cfg)
}

// TestFileGrows: what somebody appends to the file is not left in the capture.
func TestFileGrows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSession(t)
		s.talk(time.Second, 20*time.Millisecond)
		pause(time.Second)
		s.file.set(func(f *memFile) { f.data = append(f.data, strings.Repeat("something else", 100_000)...) })
		s.talk(time.Second, 20*time.Millisecond)
		s.close()
		if y := s.check(); y.lost != [streamCount]int64{} || s.warned() != "" {
			t.Errorf("lost %v, warnings %q", y.lost, s.warned())
		}
	})
}

// TestFileCutOften cuts at random, again and again, while a disk fails now and then.
func TestFileCutOften(t *testing.T) {
	for seed := range uint64(40) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := rand.New(rand.NewPCG(seed, 1))
				s := newSession(t)
				s.put(Client, "{}\n")
				pause(100 * time.Millisecond)
				for range 12 {
					s.talk(time.Duration(r.IntN(900))*time.Millisecond, time.Duration(1+r.IntN(30))*time.Millisecond)
					s.put(Stream(1+r.IntN(3)), strings.Repeat("piece ", r.IntN(200_000)))
					pause(time.Duration(r.IntN(60)) * time.Millisecond)
					s.file.set(func(f *memFile) {
						f.data = f.data[:r.IntN(len(f.data)+1)]
						f.write = nil
						if r.IntN(3) == 0 {
							f.write = func(p []byte, _ int64) (int, error) { return r.IntN(len(p) + 1), syscall.ENOSPC }
						}
					})
				}
				s.file.set(func(f *memFile) { f.write = nil })
				s.talk(time.Second, 9*time.Millisecond)
				s.close()
				s.check()
				s.recount()
			})
		})
	}
}
