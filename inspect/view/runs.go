package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"pitap/inspect/session"
	"pitap/inspect/text"
)

// runColumns are the widths in cells of what stands before the words of a row of the runs, 0 for what has no room.
type runColumns struct{ name, n, took, first, tokens, rate, cost int }

func runLayout(width int, cost bool) runColumns {
	c := runColumns{name: 26, n: 8, took: 8, first: 8, tokens: 17, cost: 8}
	if !cost {
		c.cost = 0
	}
	if width >= 140 {
		c.rate = 9
	}
	switch {
	case width < 60:
		c = runColumns{name: 18, took: 7}
	case width < 100:
		c = runColumns{name: 22, n: 6, took: 8, tokens: 14}
	}
	return c
}

// RunsHead are the titles of the columns of Runs.
func (s *Store) RunsHead(width int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := runLayout(width, s.costs())
	row := runRow{c: c}
	return row.line("", "entry", "took", "first", "in / out", "tokens/s", "cost", Plain).Text()
}

// costs tells whether anything has cost money.
func (s *Store) costs() bool {
	if s.sess == nil {
		return false
	}
	for _, r := range s.sess.Runs {
		if r.Stats().Usage.Cost > 0 {
			return true
		}
	}
	return false
}

// Runs lays out the tree of runs, turns, messages and tools, in the order in which they began.
func (s *Store) Runs(width int) (lines []Line) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sess == nil {
		return nil
	}
	if len(s.sess.Runs) == 0 {
		return []Line{R(Dim, "No run began: the client sent no prompt, or none that the agent began.")}
	}
	c := runLayout(width, s.costs())
	for i, r := range s.sess.Runs {
		lines = append(lines, s.runLines(c, i+1, r)...)
	}
	return lines
}

// runRow makes a row.
type runRow struct {
	c    runColumns
	deep int
}

// line puts what is said in columns.
func (r runRow) line(name, n, took, first, tokens, rate, cost string, role Role) *Line {
	l := &Line{Depth: r.deep}
	l.add(role, text.Pad(strings.Repeat("  ", r.deep)+name, r.c.name)+" ")
	cell := func(w int, s string, role Role) {
		if w > 0 {
			l.add(role, text.PadLeft(s, w)+" ")
		}
	}
	cell(r.c.n, n, Dim)
	cell(r.c.took, took, role)
	cell(r.c.first, first, Dim)
	cell(r.c.tokens, tokens, Dim)
	cell(r.c.rate, rate, Dim)
	cell(r.c.cost, cost, Dim)
	return l.add(Plain, " ")
}

func number64(n int64) string { return fmt.Sprintf("#%d", n) }

// tokens says how many tokens went in and out.
func tokens(in, cached, out int64) string {
	if in == 0 && cached == 0 && out == 0 {
		return ""
	}
	return text.Count(in+cached) + " / " + text.Count(out)
}

func perSecond(rate float64) string {
	if rate <= 0 {
		return ""
	}
	return text.Count(int64(rate + 0.5))
}

func money(cost float64) string {
	if cost <= 0 {
		return ""
	}
	return fmt.Sprintf("$%.4f", cost)
}

func (s *Store) runLines(c runColumns, i int, r *session.Run) (lines []Line) {
	st := r.Stats()
	took, first := "open", ""
	if st.Took > 0 {
		took = text.Duration(st.Took)
	}
	if st.FirstDelta > 0 {
		first = text.Duration(st.FirstDelta)
	}
	u := st.Usage
	l := runRow{c, 0}.line(fmt.Sprintf("run %d", i), number64(r.Start.N), took, first, tokens(u.Input, u.CacheRead+u.CacheWrite, u.Output), perSecond(st.Rate), money(u.Cost), Strong)
	l.N, l.Head = r.Start.N, true
	switch {
	case r.Broken != "":
		l.add(Warn, text.VisibleString(r.Broken)+"  ")
	case r.Settled == nil:
		l.add(Warn, "not settled  ")
	case r.Aborted:
		l.add(Warn, "aborted  ")
	}
	if r.Retries > 0 {
		l.add(Warn, retries(r.Retries)+"  ")
	}
	if r.Prompt != nil {
		l.add(Dim, fmt.Sprintf("prompt #%d", r.Prompt.N))
	}
	lines = append(lines, *l)
	if st.Turns > len(r.Turns) {
		note := R(Dim, fmt.Sprintf("  %s turns, of which %s are listed", text.Count(int64(st.Turns)), text.Count(int64(len(r.Turns)))))
		note.Depth = 1
		lines = append(lines, note)
	}
	for j, t := range r.Turns {
		took := "open"
		if t.End != nil {
			took = text.Duration(t.End.T - t.Start.T)
		}
		l := runRow{c, 1}.line(fmt.Sprintf("turn %d", j+1), number64(t.Start.N), took, "", "", "", "", Plain)
		l.N = t.Start.N
		lines = append(lines, *l)
		lines = append(lines, turnLines(c, t)...)
	}
	return lines
}

// turnLines gives the messages and tools of a turn.
func turnLines(c runColumns, t *session.Turn) (lines []Line) {
	for _, m := range t.Messages {
		lines = append(lines, messageLine(c, m))
	}
	for _, tool := range t.Tools {
		role, took := Number, "open"
		if tool.End != nil {
			took = text.Duration(tool.End.T - tool.Start.T)
		}
		name := "tool " + text.VisibleString(tool.Name)
		l := runRow{c, 2}.line(name, number64(tool.Start.N), took, "", "", "", "", role)
		l.N = tool.Start.N
		switch {
		case tool.End == nil:
			l.add(Warn, "runs  ")
		case tool.Failed:
			l.add(Bad, "failed  ")
		}
		if tool.Parent != "" {
			l.add(Dim, "called by another tool")
		}
		lines = append(lines, *l)
	}
	slices.SortStableFunc(lines, func(a, b Line) int { return cmp.Compare(a.N, b.N) })
	return lines
}

func messageLine(c runColumns, m *session.Message) Line {
	took, first, role := "", "", Plain
	if m.Role == "assistant" {
		role = Note
		switch {
		case m.End == nil:
			took = "open"
		case m.End.T > m.Start.T:
			took = text.Duration(m.End.T - m.Start.T)
		}
	} else if m.Role == "user" {
		role = Client
	}
	if m.First != nil {
		first = text.Duration(m.First.T - m.Start.T)
	}
	u := m.Usage
	l := runRow{c, 2}.line(text.VisibleString(m.Role), number64(m.Start.N), took, first, tokens(u.Input, u.CacheRead+u.CacheWrite, u.Output), perSecond(m.Rate()), money(u.Cost), role)
	l.N = m.Start.N
	if m.End == nil {
		l.add(Warn, "goes on  ")
	}
	if m.End != nil && m.Stop != "" && m.Stop != "stop" && m.Stop != "toolUse" {
		l.add(Warn, text.VisibleString(m.Stop)+"  ")
	}
	switch {
	case m.Error != "":
		l.add(Bad, text.Cut(m.Error, 200))
	case m.Preview != "" && m.Role != "system":
		l.add(Dim, text.Cut(strings.TrimSpace(m.Preview), 200))
	case m.End != nil && m.Stop == "toolUse":
		l.add(Dim, "only calls tools")
	}
	return *l
}

func retries(n int) string {
	if n == 1 {
		return "1 retry"
	}
	return fmt.Sprintf("%d retries", n)
}
