package view

import (
	"sort"
	"strconv"

	"pitap/record"
)

// budget bounds how many frames one step may read, so that it never takes long.
const budget = 4

// ensure makes sure that the bits of a frame are there; false when it can't be read, or costs too much.
func (s *Store) ensure(f *frame, left *int) bool {
	if f.bad != "" {
		return false
	}
	if f.read || f.final {
		return true
	}
	if *left--; *left < 0 {
		return false
	}
	if _, err := s.content(f); err != nil {
		f.bad = err.Error()
		return false
	}
	return true
}

// shownWords gives the rows of a frame. A frame that can't be read has one row, its first entry's.
func (s *Store) shownWords(f *frame) (func(w int) uint64, bool) {
	if f.bad != "" {
		return func(w int) uint64 {
			if w == 0 {
				return 1
			}
			return 0
		}, true
	}
	if s.filter != nil {
		if f.gen != s.filterGen {
			return nil, false
		}
		return f.shown(s.filterGen), true
	}
	return f.shown(0), true
}

// shownFrom finds the first entry at or behind pos that is shown; ok is false at the end, or where it is not known yet.
func (s *Store) shownFrom(pos int64, left *int) (int64, bool) {
	for k := max(0, s.frameAt(pos)); k < len(s.frames); k++ {
		f := s.frames[k]
		if !s.ensure(f, left) && f.bad == "" {
			return max(pos, f.base), true // too far to look: show something
		}
		words, ok := s.shownWords(f)
		if !ok {
			continue
		}
		if i := after(int(max(0, pos-f.base)), f.count, words); i >= 0 {
			return f.base + int64(i), true
		}
	}
	return 0, false
}

// shownTo finds the last entry at or before pos that is shown.
func (s *Store) shownTo(pos int64, left *int) (int64, bool) {
	for k := s.frameAt(pos); k >= 0; k-- {
		f := s.frames[k]
		if !s.ensure(f, left) && f.bad == "" {
			return min(pos, f.base+int64(f.count)-1), true
		}
		words, ok := s.shownWords(f)
		if !ok {
			continue
		}
		if i := before(int(min(int64(f.count-1), pos-f.base)), words); i >= 0 {
			return f.base + int64(i), true
		}
	}
	return 0, false
}

// groupStart is the position of the first entry of the block that an entry belongs to.
func (s *Store) groupStart(pos int64, left *int) int64 {
	for k := s.frameAt(pos); k >= 0; k-- {
		f := s.frames[k]
		if !s.ensure(f, left) {
			return min(pos, f.base+int64(f.count))
		}
		if i := before(int(min(int64(f.count-1), pos-f.base)), f.begins); i >= 0 {
			return f.base + int64(i)
		}
		if f.base == 0 {
			return 0
		}
	}
	return pos
}

// groupEnd is the position behind the last entry of the block that an entry belongs to.
func (s *Store) groupEnd(pos int64, left *int) int64 {
	pos++
	for k := max(0, s.frameAt(pos)); k < len(s.frames); k++ {
		f := s.frames[k]
		if pos >= f.base+int64(f.count) {
			continue
		}
		if !s.ensure(f, left) {
			return max(pos, f.base)
		}
		if i := after(int(max(0, pos-f.base)), f.count, f.begins); i >= 0 {
			return f.base + int64(i)
		}
	}
	return s.count
}

// folded tells whether the block that begins at start is one row.
func (s *Store) folded(start int64) bool { return s.fold != s.unfolded[start] }

// Next gives the row behind a row; ok is false at the end.
func (s *Store) Next(row int64) (next int64, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.next(row)
}

func (s *Store) next(row int64) (int64, bool) {
	left := budget
	from := row + 1
	if s.folded(s.groupStart(row, &left)) {
		from = s.groupEnd(row, &left)
	}
	if from >= s.count {
		return 0, false
	}
	return s.shownFrom(from, &left)
}

// Prev gives the row before a row; ok is false at the beginning.
func (s *Store) Prev(row int64) (prev int64, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	left := budget
	to := row - 1
	if start := s.groupStart(row, &left); s.folded(start) {
		to = start - 1
	}
	if to < 0 {
		return 0, false
	}
	v, ok := s.shownTo(to, &left)
	if !ok {
		return 0, false
	}
	return s.rowOf(v, &left), true
}

// rowOf gives the row that stands for an entry that is shown.
func (s *Store) rowOf(pos int64, left *int) int64 {
	start := s.groupStart(pos, left)
	if !s.folded(start) || start == pos {
		return pos
	}
	if v, ok := s.shownFrom(start, left); ok && v <= pos {
		return v
	}
	return pos
}

// Align gives the row that stands for the entry at pos, or when it has none the next one, or else the one before.
func (s *Store) Align(pos int64) (row int64, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.align(pos)
}

func (s *Store) align(pos int64) (int64, bool) {
	left := budget
	pos = min(max(pos, 0), s.count-1)
	if pos < 0 {
		return 0, false
	}
	v, ok := s.shownFrom(pos, &left)
	if !ok {
		if v, ok = s.shownTo(pos, &left); !ok {
			return 0, false
		}
	}
	if start := s.groupStart(pos, &left); v != pos && s.folded(start) {
		if w, ok := s.shownFrom(start, &left); ok && w < s.groupEnd(pos, &left) {
			return w, true
		}
	}
	return s.rowOf(v, &left), true
}

// First and Last give the first and the last row.
func (s *Store) First() (row int64, ok bool) { return s.Align(0) }

// Last gives the last row.
func (s *Store) Last() (row int64, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	left := budget
	v, ok := s.shownTo(s.count-1, &left)
	if !ok {
		return 0, false
	}
	return s.rowOf(v, &left), true
}

// Group gives the positions of the first entry of a row's block and behind its last; of a row of its own the next.
func (s *Store) Group(row int64) (start, end int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.group(row)
}

func (s *Store) group(row int64) (start, end int64) {
	left := budget
	start = s.groupStart(row, &left)
	if !s.folded(start) {
		return row, row + 1
	}
	return start, s.groupEnd(row, &left)
}

// Unfold turns the folding of the block of a row. It returns false for a row that is no block.
func (s *Store) Unfold(row int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	left := budget
	start := s.groupStart(row, &left)
	if s.groupEnd(row, &left)-start < 2 {
		return false
	}
	if s.unfolded[start] {
		delete(s.unfolded, start)
	} else {
		s.unfolded[start] = true
	}
	clear(s.rows)
	s.version++
	return true
}

// Reveal unfolds the block that an entry lies in.
func (s *Store) Reveal(pos int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	left := budget
	if start := s.groupStart(pos, &left); s.folded(start) && s.groupEnd(pos, &left)-start > 1 {
		s.unfolded[start] = s.fold
		clear(s.rows)
		s.version++
	}
}

// Fold turns the folding of all blocks, and tells how it is now.
func (s *Store) Fold() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fold = !s.fold
	clear(s.unfolded)
	clear(s.rows)
	s.version++
	return s.fold
}

// Pos gives the position of the entry with a number, or of the next one that there is.
func (s *Store) Pos(n int64) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pos(n)
}

func (s *Store) pos(n int64) int64 {
	k := sort.Search(len(s.frames), func(i int) bool { return s.frames[i].first > n }) - 1
	if k < 0 {
		return 0
	}
	f := s.frames[k]
	c, err := s.content(f)
	if err != nil {
		return f.base
	}
	i := int(min(n-f.first, int64(f.count-1)))
	if number(c.line(i), f.first+int64(i)) != n {
		i = sort.Search(c.len(), func(i int) bool { return number(c.line(i), f.first+int64(i)) >= n })
	}
	return min(f.base+int64(i), max(0, s.count-1))
}

// At gives the position of the first entry at or behind a time, in nanoseconds since the start.
func (s *Store) At(t int64) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := sort.Search(len(s.frames), func(i int) bool { return s.frames[i].t1 >= t })
	if k == len(s.frames) {
		return max(0, s.count-1)
	}
	f := s.frames[k]
	c, err := s.content(f)
	if err != nil {
		return f.base
	}
	i := sort.Search(c.len(), func(i int) bool {
		e, err := record.ParseEntry(c.line(i))
		return err != nil || e.T >= t
	})
	return min(f.base+int64(i), max(0, s.count-1))
}

// number is the number of an entry's line; else what it is when the line has none, as in fixtures.
func number(line []byte, other int64) int64 {
	const head = `{"n":`
	if len(line) > len(head) && string(line[:len(head)]) == head {
		end := len(head)
		for end < len(line) && line[end] >= '0' && line[end] <= '9' {
			end++
		}
		if n, err := strconv.ParseInt(string(line[len(head):end]), 10, 64); err == nil {
			return n
		}
	}
	if e, err := record.ParseEntry(line); err == nil && e.N != 0 {
		return e.N
	}
	return other
}
