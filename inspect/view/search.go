package view

import (
	"bytes"
	"context"
	"runtime"
	"sort"
	"sync"

	"pitap/record"
)

// Hit is the result of a search.
type Hit struct {
	Pos   int64 // -1: nothing was found
	Bytes int64 // of traffic that was searched
	Wrap  bool  // it lies on the other side of the place where the search began
}

// Search looks for the next entry that is shown and holds the pattern, from behind pos on (before pos with dir < 0), and
// round the end. It returns when it has found one, when there is none, or when ctx ends.
func (s *Store) Search(ctx context.Context, p *Pattern, pos int64, dir int) Hit {
	s.turn.RLock() // the loader waits meanwhile
	defer s.turn.RUnlock()
	s.mu.Lock()
	k := max(0, s.frameAt(pos))
	n := len(s.frames)
	order := make([]*frame, 0, n+1)
	for i := 0; i <= n && n > 0; i++ { // the first frame comes again at the end, for its other side
		order = append(order, s.frames[((k+dir*i)%n+n)%n])
	}
	s.mu.Unlock()
	if n == 0 {
		return Hit{Pos: -1}
	}
	hit := Hit{Pos: -1}
	workers := max(1, runtime.GOMAXPROCS(0))
	readers := make([]searcher, workers)
	for i := range readers {
		s.mu.Lock()
		readers[i] = searcher{s: s, p: p, d: p.dfa(), r: frameReader{src: s.reader.src, spill: s.reader.spill, plain: s.reader.plain}}
		s.mu.Unlock()
		defer readers[i].r.close()
	}
	for at := 0; at < len(order); at += workers {
		if ctx.Err() != nil {
			return Hit{Pos: -1, Bytes: hit.Bytes}
		}
		batch := order[at:min(at+workers, len(order))]
		found := make([]int64, len(batch))
		var all sync.WaitGroup
		for i, f := range batch {
			all.Go(func() {
				from, to := f.base, f.base+int64(1)<<40
				switch {
				case at+i == 0 && dir > 0:
					from = pos + 1
				case at+i == 0:
					to = pos
				case at+i == len(order)-1 && dir > 0:
					to = pos + 1
				case at+i == len(order)-1:
					from = pos
				}
				found[i] = readers[i].frame(f, from, to, dir)
			})
		}
		all.Wait()
		for i := range batch {
			hit.Bytes += readers[i].bytes
			readers[i].bytes = 0
			if found[i] >= 0 {
				hit.Pos = found[i]
				hit.Wrap = dir > 0 && found[i] <= pos || dir < 0 && found[i] >= pos
				return hit
			}
		}
	}
	return hit
}

// searcher searches frames.
type searcher struct {
	s     *Store
	p     *Pattern
	d     *dfa
	r     frameReader
	raw   []byte
	bytes int64
}

// frame finds the first match (the last with dir < 0) in the entries of a frame from position from on and before to;
// -1 without one.
func (r *searcher) frame(f *frame, from, to int64, dir int) int64 {
	c, dropped, coded := r.content(f)
	if c == nil {
		return -1
	}
	r.bytes += int64(len(c.raw))
	if start, _ := r.p.next(c.raw, r.d); start < 0 && !coded {
		return -1
	}
	if c.lines == nil {
		c = split(c.raw, dropped)
	}
	best := int64(-1)
	at := 0
	if from > f.base {
		if i := int(from - f.base); i < c.len() {
			at = int(c.lines[i].at)
		} else {
			return -1
		}
	}
	for at < len(c.raw) {
		start, end := r.p.next(c.raw[at:], r.d)
		if start < 0 {
			break
		}
		i := sort.Search(c.len(), func(i int) bool { return int(c.lines[i].end) >= at+start })
		if i == c.len() {
			break
		}
		pos := f.base + int64(i)
		if pos >= to {
			break
		}
		if pos >= from && at+end <= int(c.lines[i].end) && r.shown(f, i, pos) && r.holds(c.line(i)) {
			if best = pos; dir > 0 {
				break
			}
		}
		at = int(c.lines[i].end) + 1
	}
	if !coded {
		return best
	}
	if c2 := r.decoded(f, c, from, to, dir); c2 >= 0 && (best < 0 || (c2 < best) == (dir > 0)) {
		best = c2
	}
	return best
}

// content gives what a frame holds, in the searcher's own memory and perhaps not split into lines yet; dropped are the
// lines that are no entries, and coded tells that some may hold their bytes otherwise than as they are.
func (r *searcher) content(f *frame) (c *content, dropped []int, coded bool) {
	r.s.mu.Lock()
	coded = f.coded || !f.read && !f.final
	if f == r.s.tailFrame || f.bad != "" {
		r.s.mu.Unlock()
		return r.s.readApart(&r.r, f), nil, coded
	}
	r.s.mu.Unlock()
	raw, err := r.r.read(f, r.raw[:0])
	if err != nil {
		return nil, nil, false
	}
	if cap(raw) < 8<<20 {
		r.raw = raw
	}
	r.s.mu.Lock()
	if !f.sorted {
		r.s.sortLines(f, raw)
	}
	dropped = f.dropped
	r.s.mu.Unlock()
	return &content{raw: raw}, dropped, coded
}

func (r *searcher) shown(f *frame, i int, pos int64) bool {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	if r.s.filter != nil && (f.gen != r.s.filterGen || !f.match.has(i)) {
		return false
	}
	return !f.hidden.has(i)
}

// holds tells whether the pattern is in what the entry says, and not only in the line around it.
func (r *searcher) holds(line []byte) bool {
	e, err := record.ParseEntry(line)
	if err != nil {
		return false
	}
	if e.Note != nil {
		return true
	}
	start, _ := r.p.find(e.Body)
	return start >= 0
}

// decoded looks into the entries whose lines hold their bytes otherwise than as they are.
func (r *searcher) decoded(f *frame, c *content, from, to int64, dir int) int64 {
	best := int64(-1)
	for _, mark := range []string{`"text":"`, `"base64":"`} {
		for at := 0; at < len(c.raw); {
			j := bytes.Index(c.raw[at:], []byte(mark))
			if j < 0 {
				break
			}
			i := sort.Search(c.len(), func(i int) bool { return int(c.lines[i].end) >= at+j })
			if i == c.len() {
				break
			}
			l := c.lines[i]
			pos := f.base + int64(i)
			place := at + j - int(l.at)
			at = int(l.end) + 1
			// In a record that is JSON the mark stands behind the member msg.
			if m := bytes.Index(c.raw[l.at:l.end], []byte(`"msg":`)); m >= 0 && m < place || pos < from || pos >= to {
				continue
			}
			if r.shown(f, i, pos) && r.holds(c.line(i)) {
				if best < 0 || (pos < best) == (dir > 0) {
					best = pos
				}
				if dir > 0 {
					break
				}
			}
		}
	}
	return best
}
