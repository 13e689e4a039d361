package view

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"sort"

	"pitap/record"
)

// frame is a run of entries that are read together.
type frame struct {
	off, size int64 // in the file, or in the spill file; size 0: up to the file's end
	base      int64 // position of its first entry
	first     int64 // number of its first entry
	count     int   // entries
	t0, t1    int64 // least and greatest time

	spilled bool
	coded   bool  // some entry holds its bytes as text or base64
	read    bool  // the bits are there
	sorted  bool  // dropped is known
	final   bool  // the bits were made with all that came before the frame
	dropped []int // lines of it that are no entries
	bad     string

	cont   bitset // the entry goes on with what the entry before it began
	hidden bitset // the entry is superseded, or a part behind which more stands
	match  bitset // the entry passes the filter of generation gen
	gen    int
}

// shown gives the words of the entries that are shown under the filter of generation gen; 0 is no filter.
func (f *frame) shown(gen int) func(w int) uint64 {
	if gen == 0 {
		return func(w int) uint64 { return ^f.hidden.word(w) }
	}
	return func(w int) uint64 { return f.match.word(w) &^ f.hidden.word(w) }
}

func (f *frame) begins(w int) uint64 { return ^f.cont.word(w) }

// content is the lines of a frame.
type content struct {
	raw   []byte
	lines []span // of its entries, without their LF
}

type span struct{ at, end int32 }

func (c *content) len() int { return len(c.lines) }

// line is the line of entry i without its LF.
func (c *content) line(i int) []byte {
	if i < 0 || i >= len(c.lines) {
		return nil
	}
	l := c.lines[i]
	return c.raw[l.at:l.end]
}

// add appends an entry's line.
func (c *content) add(line []byte) {
	at := len(c.raw)
	c.raw = append(append(c.raw, line...), '\n')
	c.lines = append(c.lines, span{int32(at), int32(len(c.raw) - 1)})
}

// split finds the lines in a frame's content but for those that were dropped, which are no entries.
func split(raw []byte, dropped []int) *content {
	c := &content{raw: raw, lines: make([]span, 0, len(raw)/256+16)}
	for line, at := 0, 0; at < len(raw); line++ {
		end := bytes.IndexByte(raw[at:], '\n')
		if end < 0 {
			end = len(raw)
		} else {
			end += at
		}
		if len(dropped) > 0 && dropped[0] == line {
			dropped = dropped[1:]
		} else {
			c.lines = append(c.lines, span{int32(at), int32(end)})
		}
		at = end + 1
	}
	return c
}

// frameAt finds the frame of a position.
func (s *Store) frameAt(pos int64) int {
	return sort.Search(len(s.frames), func(i int) bool { return s.frames[i].base > pos }) - 1
}

const (
	cacheBytes = 24 << 20 // content that is kept
	maxTail    = 24 << 20 // of a frame that is not finished; what is longer goes to the spill file
)

// cached is a frame's content that is kept for a while.
type cached struct {
	frame *frame
	c     *content
}

// content gives the lines of a frame.
func (s *Store) content(f *frame) (*content, error) {
	if f == s.tailFrame {
		return &s.tail, nil
	}
	for i, k := range s.cache {
		if k.frame == f {
			copy(s.cache[1:i+1], s.cache[:i])
			s.cache[0] = k
			return k.c, nil
		}
	}
	raw, err := s.reader.read(f, nil)
	if err != nil {
		return nil, err
	}
	c, err := s.prepare(f, raw)
	if err != nil {
		return nil, err
	}
	s.cache = append([]cached{{f, c}}, s.cache...)
	total := 0
	for i, k := range s.cache {
		if total += cap(k.c.raw) + 8*cap(k.c.lines); total > cacheBytes && i > 1 {
			clear(s.cache[i:])
			s.cache = s.cache[:i]
			break
		}
	}
	return c, nil
}

// prepare splits a frame's content. At the first time it finds out which lines are entries.
func (s *Store) prepare(f *frame, raw []byte) (*content, error) {
	if !f.sorted {
		if err := s.sortLines(f, raw); err != nil {
			return nil, err
		}
	}
	c := split(raw, f.dropped)
	if c.len() != f.count {
		s.indexWrong = s.indexed
		return nil, fmt.Errorf("frame at byte %d holds %d entries, and the index says %d", f.off, c.len(), f.count)
	}
	if !f.read {
		s.scanFrame(f, c)
	}
	return c, nil
}

// sortLines finds the lines of a frame that are no entries, as record.Reader does.
func (s *Store) sortLines(f *frame, raw []byte) error {
	lines := bytes.Count(raw, []byte{'\n'})
	header := 0
	if f.base == 0 && !f.spilled && !s.reader.plain { // a frame of a plain capture begins with its first entry
		first, _, _ := bytes.Cut(raw, []byte{'\n'})
		if _, err := record.ParseEntry(first); err != nil { // other programs may give the header a frame of its own
			header = 1
			f.dropped = []int{0}
		}
	}
	f.sorted = true
	if lines == f.count+header && raw[len(raw)-1] == '\n' {
		return nil
	}
	var last int64
	for i, l := range split(raw, nil).lines {
		if i < header {
			continue
		}
		e, err := record.ParseEntry(raw[l.at:l.end])
		if err != nil || e.N != 0 && e.N <= last {
			f.dropped = append(f.dropped, i)
			continue
		}
		if e.N != 0 {
			last = e.N
		}
	}
	return nil
}

// frameReader reads frames. It is not safe for concurrent use.
type frameReader struct {
	src   *os.File
	spill *os.File
	plain bool
	dec   *record.FrameReader
}

// read appends the content of a frame, of a damaged one what the loader gets of it.
func (r *frameReader) read(f *frame, dst []byte) ([]byte, error) {
	src := r.src
	if f.spilled {
		src = r.spill
	}
	if !f.spilled && !r.plain {
		if r.dec == nil {
			var err error
			if r.dec, err = record.NewFrameReader(r.src); err != nil {
				return nil, err
			}
		}
		info, err := r.src.Stat()
		if err != nil {
			return nil, err
		}
		raw, err := r.dec.Append(dst, f.off, info.Size())
		if err != nil {
			if part, _ := r.dec.Kept(dst, f.off, info.Size()); len(part) > len(dst) {
				return part, nil
			}
		}
		return raw, err
	}
	n := len(dst)
	dst = append(dst, make([]byte, f.size)...)
	if _, err := io.ReadFull(io.NewSectionReader(src, f.off, f.size), dst[n:]); err != nil {
		return nil, fmt.Errorf("byte %d: %w", f.off, err)
	}
	return dst, nil
}

func (r *frameReader) close() {
	if r.dec != nil {
		r.dec.Close()
		r.dec = nil
	}
}

// spillTail moves what has gathered of an unfinished frame to the spill file, as a frame of its own.
func (s *Store) spillTail() error {
	if s.reader.spill == nil {
		f, err := os.CreateTemp("", "pitap-inspect-*")
		if err != nil {
			return err
		}
		os.Remove(f.Name()) // it lives as long as it is open; where that fails Close removes it
		s.reader.spill, s.spillName = f, f.Name()
	}
	if _, err := s.reader.spill.WriteAt(s.tail.raw, s.spillAt); err != nil {
		return err
	}
	f := s.tailFrame
	f.spilled, f.off, f.size, f.dropped, f.sorted = true, s.spillAt, int64(len(s.tail.raw)), nil, true
	s.spillAt += f.size
	return nil
}
