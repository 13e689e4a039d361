package view

import (
	"runtime"
	"sort"

	"pitap/inspect"
	"pitap/inspect/filter"
	"pitap/record"
)

// Filter is a filter in force: an expression, a query in jq's language that must give something true, or both.
type Filter struct {
	Expr    *filter.Expr
	Query   *inspect.Query // of which each goroutine makes its own
	Program string

	Marked map[int64]bool // numbers of entries

	open, unanswered, finding map[int64]bool
}

// SetFilter puts a filter in force, nil for none. Entries are looked at behind, from the frame of pos on: Progress tells
// how far.
func (s *Store) SetFilter(f *Filter, pos int64) {
	s.mu.Lock()
	s.filter = f
	s.filterGen++
	gen := s.filterGen
	s.version++
	clear(s.rows)
	if f != nil {
		f.fill(s)
	}
	s.mu.Unlock()
	if f != nil {
		s.wait.Go(func() { s.applyFilter(f, gen, pos) })
	}
	s.notify()
}

// Refilter looks at all entries again, when the filter asks for what may have changed.
func (s *Store) Refilter(pos int64) {
	s.mu.Lock()
	f := s.filter
	s.mu.Unlock()
	if f != nil && f.Expr != nil && f.Expr.Changes() {
		again := *f
		s.SetFilter(&again, pos)
	}
}

// fill collects what the expression may ask of the session.
func (f *Filter) fill(s *Store) {
	f.open, f.unanswered, f.finding = map[int64]bool{}, map[int64]bool{}, map[int64]bool{}
	if f.Expr == nil || !f.Expr.Changes() || s.sess == nil {
		return
	}
	for _, n := range s.openEntries() {
		f.open[n] = true
	}
	for _, c := range s.sess.Commands {
		if c.Response == nil {
			f.unanswered[c.N] = true
		}
	}
	for _, d := range s.sess.Dialogs {
		if d.Answer == nil {
			f.unanswered[d.N] = true
		}
	}
	for _, x := range s.sess.Findings() {
		f.finding[x.N], f.finding[x.Last] = true, true
	}
}

// Progress tells how many entries the filter was asked about, and how many it takes.
func (s *Store) Progress() (looked, taken, all int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.frames {
		all += int64(f.count)
		if f.gen == s.filterGen {
			looked += int64(f.count)
			taken += int64(count(f.count, f.shown(s.filterGen)))
		}
	}
	return looked, taken, all
}

// applyFilter looks at all frames, those from pos on first.
func (s *Store) applyFilter(f *Filter, gen int, pos int64) {
	workers := max(1, runtime.GOMAXPROCS(0)-1)
	s.mu.Lock()
	from := max(0, s.frameAt(pos))
	list := append(append([]*frame(nil), s.frames[from:]...), s.frames[:from]...)
	s.mu.Unlock()
	s.eachFrame(list, workers, func(fr *frame, c *content, m *matcher) bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.filterGen != gen {
			return false
		}
		if fr.gen == gen {
			return true
		}
		for i := c.len(); fr == s.tailFrame && i < fr.count; i++ { // what came meanwhile
			if e, err := record.ParseEntry(s.tail.line(i)); err == nil {
				m.bits.put(i, m.entry(e, nil))
				if e.Note == nil || e.Note.Kind != "lag" {
					m.prev = e.T
				}
			}
		}
		if fr == s.tailFrame || c.len() == fr.count {
			fr.match, fr.gen = m.bits, gen
		}
		s.version++
		s.notify()
		return true
	}, func() *matcher { return newMatcher(f, s) })
}

// matchTail asks the filter about an entry that has just come.
func (s *Store) matchTail(f *frame, i int, e *record.Entry) {
	if f.gen != s.filterGen {
		if i > 0 {
			return // the worker has yet to look at the frame
		}
		f.gen, f.match = s.filterGen, nil
	}
	m := newMatcher(s.filter, s)
	m.prev = -1
	if i > 0 {
		m.prev = f.t1
	}
	f.match.put(i, m.entry(e, nil))
}

// matcher asks a filter about entries.
type matcher struct {
	filter *Filter
	links  *links
	query  *inspect.Query
	bits   bitset
	prev   int64 // time of the entry before; -1: not known
}

func newMatcher(f *Filter, s *Store) *matcher {
	m := &matcher{filter: f, links: &s.links, prev: -1}
	if f.Program != "" {
		m.query, _ = inspect.ParseQuery(f.Program)
	}
	return m
}

// frame asks about all entries of a frame.
func (m *matcher) frame(f *frame, c *content, took func(n int64) int64) {
	m.bits = newBitset(c.len())
	for i := range c.lines {
		e, err := record.ParseEntry(c.line(i))
		if err != nil {
			continue
		}
		if e.N == 0 {
			e.N = f.first + int64(i)
		}
		m.bits.put(i, m.entry(e, took))
		m.prev = e.T
	}
}

func (m *matcher) entry(e *record.Entry, took func(n int64) int64) bool {
	r := &inspect.Row{N: e.N, T: e.T, From: e.From, Note: e.Note, Off: e.Off, Form: e.Form, Body: e.Body,
		Size: int64(len(e.Body)), EOL: e.EOL, Flags: e.Flags, First: e.N, Line: e.Line}
	if x := m.filter.Expr; x != nil {
		var sum inspect.Summarizer
		v := sum.Look(r)
		f := filter.Facts{From: e.From.String(), Note: e.Note != nil, Kind: v.Kind, Short: v.Short, ID: v.ID, N: e.N, T: e.T,
			Size: r.Size, Took: -1, Body: e.Body, JSON: e.Form == record.Msg}
		if m.prev >= 0 {
			f.Gap = max(0, e.T-m.prev)
		}
		if took != nil {
			f.Took = took(e.N)
		}
		if f.Note {
			f.Size, f.Body = -1, e.Line
		}
		if e.Flags != 0 {
			f.Flags = e.Flags.Names()
		}
		_, tone := sum.Summary(r, v, 64)
		f.Bad = tone == inspect.Bad
		f.Open = func() bool { return m.filter.open[e.N] }
		f.Unanswered = func() bool { return m.filter.unanswered[e.N] }
		f.Finding = func() bool { return m.filter.finding[e.N] }
		f.Marked = func() bool { return m.filter.Marked[e.N] }
		if !x.Match(&f) {
			return false
		}
	}
	if m.query == nil {
		return true
	}
	yes := false
	m.query.Run(r, func(v any) error {
		if v != nil && v != false {
			yes = true
			return errStop
		}
		return nil
	})
	return yes
}

// eachFrame reads frames with several goroutines, asks a matcher about each, and gives them to done in order.
func (s *Store) eachFrame(list []*frame, workers int, done func(f *frame, c *content, m *matcher) bool, make1 func() *matcher) {
	type result struct {
		c *content
		m *matcher
	}
	readers := make([]frameReader, workers)
	s.mu.Lock()
	for i := range readers {
		readers[i] = frameReader{src: s.reader.src, spill: s.reader.spill, plain: s.reader.plain}
	}
	s.mu.Unlock()
	defer func() {
		for i := range readers {
			readers[i].close()
		}
	}()
	took := s.tookOf()
	for at := 0; at < len(list); at += workers {
		select {
		case <-s.stop:
			return
		default:
		}
		n := min(workers, len(list)-at)
		results := make([]result, n)
		waits := make(chan int, n)
		for i := range n {
			go func() {
				f := list[at+i]
				if c := s.readApart(&readers[i], f); c != nil {
					m := make1()
					s.mu.Lock()
					if k := s.frameAt(f.base); k > 0 {
						m.prev = s.frames[k-1].t1
					}
					s.mu.Unlock()
					m.frame(f, c, took)
					results[i] = result{c, m}
				}
				waits <- i
			}()
		}
		for range n {
			<-waits
		}
		for i := range n {
			if results[i].c != nil && !done(list[at+i], results[i].c, results[i].m) {
				return
			}
		}
	}
}

// readApart reads a frame without the cache; nil when it can't be read. The growing frame is given as it is now.
func (s *Store) readApart(r *frameReader, f *frame) *content {
	s.mu.Lock()
	if f == s.tailFrame {
		c := s.tail // what is added later lies behind
		s.mu.Unlock()
		return &c
	}
	sorted, dropped := f.sorted, f.dropped
	s.mu.Unlock()
	raw, err := r.read(f, nil)
	if err != nil {
		return nil
	}
	if !sorted {
		s.mu.Lock()
		s.sortLines(f, raw)
		dropped = f.dropped
		s.mu.Unlock()
	}
	c := split(raw, dropped)
	if c.len() != f.count {
		return nil
	}
	return c
}

// tookOf gives how long answers and ends took, by number, as it is known now.
func (s *Store) tookOf() func(n int64) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.links.update(s.sess)
	type end struct{ n, took int64 }
	ends := make([]end, 0, len(s.links.byA))
	for _, i := range s.links.byB {
		ends = append(ends, end{s.links.byA[i].b, s.links.byA[i].took})
	}
	return func(n int64) int64 {
		i := sort.Search(len(ends), func(i int) bool { return ends[i].n >= n })
		if i < len(ends) && ends[i].n == n {
			return ends[i].took
		}
		return -1
	}
}
