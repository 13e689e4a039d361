package view

import (
	"os"
	"sync"
	"time"

	"pitap/inspect/session"
	"pitap/record"
)

// Store is a capture that is looked at.
type Store struct {
	Path string

	mu      sync.Mutex
	capture *record.Capture // the loader's
	live    bool            // when it was opened
	header  *record.Header
	frames  []*frame
	count   int64 // entries that are known
	reader  frameReader
	cache   []cached

	indexed    bool // the frames came from an index
	indexWrong bool // and it was not right
	known      map[int64]int

	tailFrame *frame // the frame that grows, the last one; nil when there is none
	tail      content
	tailUnit  int64
	spilling  bool
	spillAt   int64
	spillName string

	pass    pass // of the loader
	lines   timeline
	parts   map[int64]part
	sess    *session.Session
	links   links
	loaded  int64 // entries that the loader has passed
	done    bool  // the loader has come to the end
	ended   bool
	err     error // that ended the loader
	damage  []record.Damage
	cond    string
	version uint64 // changes with everything

	fold     bool           // deltas of one block are one row
	unfolded map[int64]bool // but for the groups that begin there

	filter    *Filter
	filterGen int

	rows  map[int64]*Row // that were made lately
	found found

	turn sync.RWMutex // held for reading while a search goes on
	tell func()
	stop chan struct{}
	wait sync.WaitGroup
}

// Open opens the capture at path. Only a file that can't be opened is an error: what is wrong with a capture is told by
// its State. tell is called, from several goroutines, after something has changed; it must not block or call the Store.
// Close ends the goroutines that it starts.
func Open(path string, tell func()) (*Store, error) {
	s := &Store{Path: path, fold: true, unfolded: map[int64]bool{}, tell: tell, stop: make(chan struct{})}
	if err := s.open(true); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *Store) open(useIndex bool) error {
	c, err := record.Open(s.Path)
	if err != nil {
		return err
	}
	s.capture = c
	s.live = c.Live()
	s.frames, s.count, s.cache, s.tailFrame, s.tail = nil, 0, nil, nil, content{}
	s.indexed, s.indexWrong, s.known = false, false, map[int64]int{}
	s.pass, s.parts, s.rows, s.links = pass{}, map[int64]part{}, map[int64]*Row{}, links{}
	s.lines = timeline{}
	s.loaded, s.done, s.ended, s.err, s.damage, s.cond = 0, false, false, nil, nil, ""
	var head [4]byte
	n, _ := c.File().ReadAt(head[:], 0)
	s.reader = frameReader{src: c.File(), plain: n < 4 || head[1] != 0xB5 && head[1] != 0x2A}
	if !s.live && useIndex {
		if rows, err := record.ReadIndex(c.File(), c.Size()); err == nil {
			s.useIndex(rows)
		}
	}
	s.version++
	s.wait.Go(s.load)
	return nil
}

// useIndex makes the frames that an index tells of.
func (s *Store) useIndex(rows []record.FrameInfo) {
	for _, r := range rows {
		if r.Count == 0 {
			continue
		}
		if r.Count > r.Raw || r.Raw > 1<<31 {
			s.frames, s.count, s.known = nil, 0, map[int64]int{}
			return
		}
		s.known[r.Off] = len(s.frames)
		s.frames = append(s.frames, &frame{off: r.Off, base: s.count, first: r.First, count: int(r.Count), t0: r.T0, t1: r.T1})
		s.count += r.Count
	}
	s.indexed = len(s.frames) > 0
}

// Close ends all work on the capture.
func (s *Store) Close() error {
	close(s.stop)
	s.wait.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reader.close()
	if s.reader.spill != nil {
		s.reader.spill.Close()
		os.Remove(s.spillName)
	}
	return s.capture.Close()
}

// Closed tells whether Close was called.
func (s *Store) Closed() bool {
	select {
	case <-s.stop:
		return true
	default:
		return false
	}
}

func (s *Store) notify() {
	if s.tell != nil {
		s.tell()
	}
}

// State is how far a capture is known, and what it is.
type State struct {
	Header    *record.Header // nil while it is not known
	Entries   int64          // that are known
	Loaded    int64          // that were read in order
	Done      bool           // all was read
	Live      bool           // a recorder still writes it
	Ended     bool           // it has its end note
	Condition string         // in words, when all was read: "" when it is whole
	Damage    int            // places that could not be read
	First     string         // the first of them
	Err       error          // the capture can't be read on, or is none
	Trouble   string         // what Err makes of it, in a word or two
	Said      string         // the same in a sentence
	Version   uint64         // another one when anything has changed
}

// State tells how far the capture is known.
func (s *Store) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := State{Header: s.header, Entries: s.count, Loaded: s.loaded, Done: s.done, Live: s.live && !s.done, Ended: s.ended,
		Condition: s.cond, Damage: len(s.damage), Err: s.err, Version: s.version}
	if s.err != nil {
		st.Trouble, st.Said = trouble(s.err, s.capture.Size())
	}
	if len(s.damage) > 0 {
		st.First = s.damage[0].Error()
	}
	return st
}

// Now is the time on the capture's clock, in nanoseconds since its start: of one that is not live its last entry's.
func (s *Store) Now() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now()
}

func (s *Store) now() int64 {
	if s.sess == nil {
		return 0
	}
	if s.live && !s.done && s.header != nil {
		return max(s.sess.T, int64(time.Since(s.header.Start)))
	}
	return s.sess.T
}

// With calls f with what the session means so far. f must keep nothing of it. The session is nil before the header.
func (s *Store) With(f func(sess *session.Session, now int64)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(s.sess, s.now())
}
