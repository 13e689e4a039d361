package record

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// session is a recorder under test, on a clock of its bubble, with what was put into it.
type session struct {
	*Recorder
	t     *testing.T
	file  *memFile
	start time.Time

	mu    sync.Mutex
	sent  [streamCount][]byte
	warns []string
	wall  time.Duration // how far the wall clock is from the other
	files []*memFile
	open  func() error // before a file is opened
	gone  error
}

func newSession(t *testing.T, change ...func(*session, *Config)) *session {
	s := &session{t: t, file: &memFile{}, start: time.Now()}
	cfg := Config{
		Open: func() (File, *Header, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.open != nil {
				if err := s.open(); err != nil {
					return nil, nil, err
				}
			}
			if len(s.files) > 0 {
				s.file = &memFile{}
			}
			s.files = append(s.files, s.file)
			return s.file, &Header{Pitap: Version, Start: s.start}, nil
		},
		Clock: func() int64 { return int64(time.Since(s.start)) },
		Wall: func() time.Time {
			s.mu.Lock()
			defer s.mu.Unlock()
			return time.Now().Add(s.wall)
		},
		Warn: func(err error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.warns = append(s.warns, err.Error())
		},
	}
	for _, f := range change {
		f(s, &cfg)
	}
	s.Recorder = NewRecorder(cfg)
	return s
}

// put puts bytes and remembers them.
func (s *session) put(from Stream, p string) {
	s.Put(from, []byte(p))
	s.sent[from] = append(s.sent[from], p...)
}

// talk puts records of both sides for a while, one each step.
func (s *session) talk(d, step time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); pause(step) {
		n := len(s.sent[Client])
		s.put(Client, fmt.Sprintf(`{"type":"prompt","n":%d}`+"\n", n))
		s.put(Agent, fmt.Sprintf(`{"type":"response","n":%d,"text":"half of`, n))
		s.put(Agent, fmt.Sprintf(` it %d"}`+"\n"+`{"type":"next`, n))
		s.put(Agent, `"}`+"\n")
		if n%7 == 0 {
			s.put(Stderr, fmt.Sprintf("line %d\n", n))
		}
	}
}

// pause lets the bubble's time go by.
func pause(d time.Duration) { <-time.After(d) }

func (s *session) close() {
	s.t.Helper()
	if err := s.Close(); err != nil {
		s.t.Errorf("close: %v", err)
	}
}

// warned returns what the recorder has warned of.
func (s *session) warned() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.warns, "; ")
}

// tally is what a capture holds of a session.
type tally struct {
	notes   []Entry
	missing [streamCount]int64 // bytes that no entry holds
	lost    [streamCount]int64 // bytes that gap notes count
}

// check reads the session's capture and compares it with what was put: every byte is in it, or counted by a gap note.
func (s *session) check() *tally {
	s.t.Helper()
	r := NewReader(s.file, s.file.size)
	y := &tally{}
	var have [streamCount][][2]int64 // from, to
	last := int64(-1)
	wrong := 0
	for r.Next() && wrong < 3 {
		e := r.Entry()
		if e.Note == nil && !e.Part { // parts have the time of their read, and are written later
			if e.T < last {
				s.t.Errorf("entry %d has t %d after %d", e.N, e.T, last)
				wrong++
			}
			last = e.T
		}
		if e.Note != nil {
			y.notes = append(y.notes, clone(e))
			for name, n := range e.Note.Lost {
				stream, _ := ParseStream(name)
				y.lost[stream] += n
			}
			continue
		}
		p := append(bytes.Clone(e.Body), e.EOL...)
		sent := s.sent[e.From]
		if e.Off+int64(len(p)) > int64(len(sent)) || !bytes.Equal(sent[e.Off:e.Off+int64(len(p))], p) {
			s.t.Errorf("entry %d at byte %d of %v is %.80q, not what was put", e.N, e.Off, e.From, p)
			wrong++
			continue
		}
		have[e.From] = append(have[e.From], [2]int64{e.Off, e.Off + int64(len(p))})
	}
	if wrong > 0 {
		return y
	}
	if r.Err() != nil || len(r.Damage()) > 0 || !r.Ended() {
		s.t.Errorf("capture: err %v, damage %v, ended %v", r.Err(), r.Damage(), r.Ended())
	}
	if _, err := plainDecoder.DecodeAll(s.file.bytes(), nil); err != nil {
		s.t.Errorf("a plain zstd decoder: %v", err)
	}
	total := int64(0)
	for i := range have {
		slices.SortFunc(have[i], func(a, b [2]int64) int { return int(a[0] - b[0]) })
		end := int64(0)
		for _, h := range append(have[i], [2]int64{int64(len(s.sent[i])), 0}) {
			y.missing[i] += max(0, h[0]-end)
			end = max(end, h[1])
		}
		total += y.lost[i]
	}
	if y.missing != y.lost {
		s.t.Errorf("missing are %v bytes by stream, gap notes count %v", y.missing, y.lost)
	}
	if end := y.of("end"); len(end) != 1 || end[0].Note.Totals.Lost != total || end[0].Note.Totals.Entries != end[0].N {
		s.t.Errorf("end note %+v, lost %d", end, total)
	}
	if rows, err := ReadIndex(s.file, int64(len(s.file.bytes()))); err != nil || len(rows) == 0 {
		s.t.Errorf("index: %d rows, %v", len(rows), err)
	}
	return y
}

// of returns the notes of a kind.
func (y *tally) of(kind string) (notes []Entry) {
	for _, e := range y.notes {
		if e.Note.Kind == kind {
			notes = append(notes, e)
		}
	}
	return notes
}

// covers returns how many of the first bytes of each stream a capture holds, whole or in parts.
func covers(data []byte) (ends [streamCount]int64) {
	_, entries := readBytes(data)
	for _, e := range entries {
		if e.Note == nil {
			ends[e.From] = max(ends[e.From], e.Off+int64(len(e.Body)+len(e.EOL)))
		}
	}
	return ends
}
