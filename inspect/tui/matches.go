package tui

import (
	"context"
	"fmt"
	"sort"
	"time"

	"pitap/inspect/text"
	"pitap/inspect/view"
)

const (
	maxMatches = 10_000          // that are counted
	recount    = 2 * time.Second // how often a live capture's are counted anew
)

// matches are the entries that a search finds, counted behind.
type matches struct {
	store   *view.Store
	pattern *view.Pattern
	filter  *view.Filter
	entries int64
	when    time.Time
	stop    func() // ends the counting; nil when it has come to its end
	list    []int64
	whole   bool
}

// countMatches begins to count what the search finds, when that is not known.
func (a *app) countMatches() {
	m := &a.matches
	if a.pattern == nil {
		a.endCount()
		m.pattern = nil
		return
	}
	st := a.store.State()
	same := m.store == a.store && m.pattern == a.pattern && m.filter == a.filter
	if same && (m.entries == st.Entries || time.Since(m.when) < recount) {
		return
	}
	if same && m.stop != nil {
		return // it is still at it
	}
	a.endCount()
	ctx, cancel := context.WithCancel(context.Background())
	next := matches{store: a.store, pattern: a.pattern, filter: a.filter, entries: st.Entries, when: time.Now(), stop: cancel}
	if same {
		next.list, next.whole = m.list, m.whole
	}
	*m = next
	a.workers.Go(func() {
		list, whole := next.store.Matches(ctx, next.pattern, maxMatches)
		a.post(func() {
			if ctx.Err() == nil {
				cancel()
				a.matches.list, a.matches.whole, a.matches.stop = list, whole, nil
			}
		})
	})
}

func (a *app) endCount() {
	if a.matches.stop != nil {
		a.matches.stop()
		a.matches.stop = nil
	}
}

// matchWords says which of the matches is selected, of how many.
func (a *app) matchWords() string {
	m := &a.matches
	if a.pattern == nil || m.pattern != a.pattern {
		return ""
	}
	if len(m.list) == 0 {
		if m.stop != nil {
			return "counting"
		}
		return "no match"
	}
	total := text.Count(int64(len(m.list)))
	if !m.whole {
		total += "+"
	}
	row := a.store.Row(a.list.sel)
	start, end := a.store.Group(row.Pos)
	i := sort.Search(len(m.list), func(i int) bool { return m.list[i] >= start })
	switch {
	case i < len(m.list) && m.list[i] < max(end, row.Pos+1):
		return fmt.Sprintf("match %s of %s", text.Count(int64(i+1)), total)
	case len(m.list) == 1:
		return "1 match"
	}
	return total + " matches"
}
