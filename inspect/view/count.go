package view

import (
	"bytes"
	"context"
	"sort"
)

// Matches gives the positions of all entries that are shown and hold the pattern, in their order; most of them at most,
// and then whole is false, as it is when ctx has ended.
func (s *Store) Matches(ctx context.Context, p *Pattern, most int) (list []int64, whole bool) {
	s.mu.Lock()
	frames := append([]*frame(nil), s.frames...)
	r := searcher{s: s, p: p, d: p.dfa(), r: frameReader{src: s.reader.src, spill: s.reader.spill, plain: s.reader.plain}}
	s.mu.Unlock()
	defer r.r.close()
	for _, f := range frames {
		if ctx.Err() != nil || len(list) > most {
			return list[:min(len(list), most)], false
		}
		list = r.all(f, list)
	}
	return list[:min(len(list), most)], len(list) <= most
}

// all appends the positions of a frame's entries that are shown and hold the pattern.
func (r *searcher) all(f *frame, list []int64) []int64 {
	c, dropped, coded := r.content(f)
	if c == nil {
		return list
	}
	if start, _ := r.p.next(c.raw, r.d); start < 0 && !coded {
		return list
	}
	if c.lines == nil {
		c = split(c.raw, dropped)
	}
	take := func(i int) {
		if pos := f.base + int64(i); r.shown(f, i, pos) && r.holds(c.line(i)) {
			list = append(list, pos)
		}
	}
	if coded {
		for i := range c.len() {
			line := c.line(i)
			if start, _ := r.p.next(line, r.d); start >= 0 || bytes.Contains(line, []byte(`"text":"`)) || bytes.Contains(line, []byte(`"base64":"`)) {
				take(i)
			}
		}
		return list
	}
	for at := 0; at < len(c.raw); {
		start, _ := r.p.next(c.raw[at:], r.d)
		if start < 0 {
			break
		}
		i := sort.Search(c.len(), func(i int) bool { return int(c.lines[i].end) >= at+start })
		if i == c.len() {
			break
		}
		take(i)
		at = int(c.lines[i].end) + 1
	}
	return list
}
