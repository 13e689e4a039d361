package tui

import (
	"fmt"
	"slices"

	"pitap/inspect/text"
	"pitap/inspect/view"
)

// chart is the window of the timeline.
type chart struct {
	t0, t1 int64 // 0, 0: all
	cells  int   // when it was drawn last
	left   int
}

const nameWidth = 9

func (a *app) drawTimeline(p painter) {
	c := &a.chart
	end := max(a.store.Now(), 1)
	t0, t1 := c.t0, c.t1
	if t1 <= t0 {
		t0, t1 = 0, end
	}
	cells := max(1, p.w-nameWidth-1)
	c.cells, c.left = cells, nameWidth
	row := a.store.Row(a.list.sel)
	lanes := a.store.Lanes(t0, t1, cells)
	cell := func(t int64) int { return int(float64(t-t0) / float64(max(1, t1-t0)) * float64(cells)) }
	cursor := cell(row.T)
	dim := a.theme.style(view.Dim, a.theme.base)
	p.fill(0, a.theme.title)
	p.print(nameWidth, 0, cells, text.Since(t0)+" s", a.theme.title)
	mid := fmt.Sprintf("%s in view", text.Duration(t1-t0))
	if p.w > 60 {
		p.print(nameWidth+cells/2-len(mid)/2, 0, cells, mid, a.theme.title)
	}
	p.right(nameWidth, 0, cells, text.Since(t1)+" s", a.theme.title)
	y := 1
	room := p.h - 1
	if room < len(lanes)+2 { // what has nothing to show gives way, and then the line below the lanes
		lanes = slices.DeleteFunc(lanes, func(l view.Lane) bool { return len(l.Spans) == 0 && l.Most == 0 })
	}
	pointer := b2i(room > len(lanes))
	gaps := b2i(room >= 2*len(lanes)+3)
	for _, l := range lanes {
		if y >= p.h {
			break
		}
		empty := len(l.Spans) == 0 && l.Most == 0
		name := a.theme.style(l.Role, a.theme.base)
		if empty {
			name = dim
		}
		p.print(0, y, nameWidth-1, l.Name, name)
		if l.Counts != nil {
			p.print(nameWidth, y, cells, l.Bars(), a.theme.style(l.Role, a.theme.base))
		}
		for _, s := range l.Spans {
			a.drawSpan(p, y, l.Role, s, cell, cells)
		}
		if cursor >= 0 && cursor < cells {
			x := p.x + nameWidth + cursor
			str, st, _ := p.on.cells.Get(x, p.y+y)
			if str == " " || str == "" {
				str, st = "│", a.theme.style(view.Warn, a.theme.base)
			} else {
				st = st.Reverse(true)
			}
			p.on.cells.Put(x, p.y+y, str, st)
		}
		y += 1 + gaps
	}
	if pointer > 0 && cursor >= 0 && cursor < cells && y < p.h {
		p.print(nameWidth+cursor, y, 1, "▲", a.theme.style(view.Warn, a.theme.base))
	}
	y++
	a.drawAtCursor(p.part(0, y, p.w, p.h-y), row, lanes)
}

func (a *app) drawSpan(p painter, y int, role view.Role, s view.LaneSpan, cell func(int64) int, cells int) {
	x0, x1 := max(0, cell(s.T0)), min(cells, cell(s.T1)+1)
	if x1 <= x0 {
		x1 = x0 + 1
	}
	if s.Bad {
		role = view.Bad
	}
	st := a.theme.style(role, a.theme.base).Reverse(true)
	if a.theme.plain {
		st = a.theme.sel
	}
	for x := x0; x < min(x1, cells); x++ {
		p.print(nameWidth+x, y, 1, " ", st)
	}
	if x1-x0 > 1 { // so that one is told from its neighbour
		p.print(nameWidth+x0, y, 1, "▏", st)
	}
	if x1-x0 > 4 {
		p.print(nameWidth+x0+1, y, x1-x0-1, s.Name, st)
	}
	if s.Open && x1-1 < cells && x1 > 0 {
		p.print(nameWidth+x1-1, y, 1, "›", st)
	}
}

// drawAtCursor says what goes on at the time of the selected record.
func (a *app) drawAtCursor(p painter, row *view.Row, lanes []view.Lane) {
	if p.h <= 0 {
		return
	}
	l := view.Line{Spans: []view.Span{{Text: fmt.Sprintf("#%d  %s s  %s %s  ", row.N, text.Since(row.T), row.Arrow, row.Kind), Role: view.Strong},
		{Text: row.Text, Role: view.ToneRole(row.Tone)}}}
	p.line(0, 0, l, a.theme.base, nil)
	y := 1
	for _, lane := range lanes {
		for _, s := range lane.Spans {
			if y >= p.h || row.T < s.T0 || row.T > s.T1 {
				continue
			}
			state := text.Duration(s.T1 - s.T0)
			if s.Open {
				state += " so far"
			}
			p.line(2, y, view.Line{Spans: []view.Span{{Text: fmt.Sprintf("%-8s ", lane.Name), Role: view.Dim},
				{Text: s.Name, Role: lane.Role}, {Text: fmt.Sprintf("  #%d  %s", s.N, state), Role: view.Plain}}}, a.theme.base, nil)
			y++
		}
	}
}

// zoom changes the window around the selected record; factor below 1 shows less time.
func (a *app) zoom(factor float64) {
	c := &a.chart
	end := max(a.store.Now(), 1)
	t0, t1 := c.t0, c.t1
	if t1 <= t0 {
		t0, t1 = 0, end
	}
	at := min(max(a.store.Row(a.list.sel).T, t0), t1)
	span := int64(float64(t1-t0) * factor)
	span = max(span, int64(c.cells)*1000)
	if span >= end {
		c.t0, c.t1 = 0, 0
		return
	}
	part := float64(at-t0) / float64(max(1, t1-t0))
	c.t0 = max(0, at-int64(part*float64(span)))
	c.t1 = c.t0 + span
}

// pan moves the window by a part of its width.
func (a *app) pan(part float64) {
	c := &a.chart
	if c.t1 <= c.t0 {
		return
	}
	by := int64(part * float64(c.t1-c.t0))
	by = max(by, -c.t0)
	by = min(by, max(0, a.store.Now()-c.t1))
	c.t0, c.t1 = c.t0+by, c.t1+by
}

// step moves the cursor by cells, to the record there; it always moves by one record at least.
func (a *app) step(cells int) {
	c := &a.chart
	t0, t1 := c.t0, c.t1
	if t1 <= t0 {
		t0, t1 = 0, max(a.store.Now(), 1)
	}
	row := a.store.Row(a.list.sel)
	t := row.T + int64(float64(cells)*float64(t1-t0)/float64(max(1, c.cells)))
	before := a.list.sel
	if pos, ok := a.store.Align(a.store.At(max(0, t))); ok {
		a.list.sel = pos
	}
	if (a.list.sel-before)*int64(cells) <= 0 {
		a.list.sel = before
		a.list.move(a.store, cells)
	}
	a.list.follow = false
	a.intoChart()
}

// intoChart moves the window so that the selected record is in it.
func (a *app) intoChart() {
	c := &a.chart
	if c.t1 <= c.t0 {
		return
	}
	if t := a.store.Row(a.list.sel).T; t < c.t0 || t > c.t1 {
		span := c.t1 - c.t0
		c.t0 = max(0, t-span/2)
		c.t1 = c.t0 + span
	}
}
