package tui

import (
	"fmt"
	"strings"

	"github.com/gdamore/tcell/v2"

	"pitap/inspect/text"
	"pitap/inspect/view"
	"pitap/record"
)

// records is the list of records: it asks the store for the rows that are on the screen and for no others.
type records struct {
	top, sel int64 // positions of rows
	height   int   // of the rows, when it was drawn last
	follow   bool  // the selection stays on the last row
	drawn    []int64
}

// columns are the widths in cells of the columns before the text, 0 for those that have no room.
type columns struct{ n, time, gap, kind, id, size, took int }

// layout finds the columns for a width. What matters least goes first.
func layout(width int, last int64, maxT int64) columns {
	c := columns{n: max(3, len(fmt.Sprint(last))), time: max(8, text.Width(text.Since(maxT))), gap: 7, kind: 20, id: 10, size: 6, took: 6}
	if width >= 110 {
		c.kind = 24
	}
	used := func() int {
		n := 4
		for _, w := range []int{c.n, c.time, c.gap, c.kind, c.id, c.size, c.took} {
			if w > 0 {
				n += w + 1
			}
		}
		return n
	}
	for _, drop := range []func(){
		func() { c.kind = 17 }, func() { c.id = 7 }, func() { c.size = 0 }, func() { c.id = 0 }, func() { c.took = 0 },
		func() { c.gap = 0 }, func() { c.kind = 14 }, func() { c.time = max(5, c.time-3) }, func() { c.time = 0 },
	} {
		if width-used() >= max(14, min(34, width*2/5)) {
			break
		}
		drop()
	}
	return c
}

// fix puts selection and top on rows that there are.
func (r *records) fix(s *view.Store, height int) bool {
	r.height = height
	if r.follow {
		if last, ok := s.Last(); ok {
			r.sel = last
		}
	}
	sel, ok := s.Align(r.sel)
	if !ok {
		r.drawn = nil
		return false
	}
	r.sel = sel
	if top, ok := s.Align(r.top); ok {
		r.top = top
	}
	if r.sel < r.top {
		r.top = r.sel
	}
	// From the selection back, so that it is on the screen.
	at, rows := r.sel, 1
	for rows < height && at > r.top {
		prev, ok := s.Prev(at)
		if !ok || prev >= at {
			break
		}
		at = prev
		rows++
	}
	if at > r.top {
		r.top = at
	}
	// At the end no lines are left empty.
	below := 1
	for at := r.top; below < height; below++ {
		next, ok := s.Next(at)
		if !ok || next <= at {
			break
		}
		at = next
	}
	for ; below < height; below++ {
		prev, ok := s.Prev(r.top)
		if !ok || prev >= r.top {
			break
		}
		r.top = prev
	}
	return true
}

// move goes n rows down, or up.
func (r *records) move(s *view.Store, n int) {
	step := s.Next
	if n < 0 {
		step, n = s.Prev, -n
	}
	for ; n > 0; n-- {
		at, ok := step(r.sel)
		if !ok || at == r.sel {
			return
		}
		r.sel = at
	}
}

// scroll moves the window, and the selection with it when it would leave the screen.
func (r *records) scroll(s *view.Store, n int) {
	step := s.Next
	if n < 0 {
		step, n = s.Prev, -n
	}
	for ; n > 0; n-- {
		at, ok := step(r.top)
		if !ok || at == r.top {
			return
		}
		r.top = at
	}
	if r.sel < r.top {
		r.sel = r.top
		return
	}
	at := r.top
	for range r.height - 1 {
		next, ok := s.Next(at)
		if !ok || next > r.sel {
			return
		}
		at = next
	}
	r.sel = at
}

// kindRole colours rows by what they are.
func kindRole(r *view.Row) view.Role {
	switch {
	case r.Arrow == "×":
		return view.Bad
	case r.Note:
		return view.Note
	case r.From == record.Client:
		return view.Client
	case r.From == record.Stderr:
		return view.Stderr
	case r.Quiet:
		return view.Dim
	}
	switch {
	case hasPrefix(r.Full, "response"):
		return view.ToneRole(r.Tone)
	case hasPrefix(r.Full, "tool_"), hasPrefix(r.Full, "bash_"):
		return view.Number
	case hasPrefix(r.Full, "extension_"):
		return view.Key
	case hasPrefix(r.Full, "agent_"), hasPrefix(r.Full, "turn_"):
		return view.Strong
	}
	return view.Plain
}

func hasPrefix(s, prefix string) bool { return len(s) >= len(prefix) && s[:len(prefix)] == prefix }

func (a *app) drawRecords(p painter, focused bool) {
	st := a.store.State()
	r := &a.list
	if a.filterText != "" {
		a.drawFilter(p)
		p = p.part(0, 1, p.w, p.h-1)
	}
	titles := p.h > 6
	if titles {
		p.fill(0, a.theme.title)
	}
	rows := p.part(0, b2i(titles), p.w, p.h-b2i(titles))
	if !r.fix(a.store, rows.h) {
		a.drawEmpty(rows, st)
		return
	}
	maxT := a.store.Now()
	if last := a.store.Row(max(0, st.Entries-1)); last.T > maxT {
		maxT = last.T
	}
	c := layout(p.w, st.Entries, maxT)
	if titles {
		a.drawTitles(p, c, st)
	}
	selected := a.store.Row(r.sel)
	partners := a.store.Partners(selected.N)
	r.drawn = r.drawn[:0]
	for y, at := 0, r.top; y < rows.h; y++ {
		r.drawn = append(r.drawn, at)
		a.drawRow(rows, y, a.store.Row(at), c, at == r.sel, focused, partners)
		next, ok := a.store.Next(at)
		if !ok || next <= at {
			break
		}
		at = next
	}
}

func (a *app) drawTitles(p painter, c columns, st view.State) {
	x := 2
	title := func(w int, s string, right bool) {
		if w == 0 {
			return
		}
		if right {
			p.right(x, 0, w, s, a.theme.title)
		} else {
			p.print(x, 0, w, s, a.theme.title)
		}
		x += w + 1
	}
	title(c.n, "#", true)
	title(c.time, "time", true)
	title(c.gap, "gap", true)
	title(1, "", false)
	title(c.kind, "kind", false)
	title(c.id, "id", false)
	title(c.size, "size", true)
	title(c.took, "took", true)
	where := fmt.Sprintf("%d%%", 100*(a.list.sel+1)/max(1, st.Entries))
	if a.list.follow && (!st.Done || a.hangOn) {
		where = "follows"
	}
	p.right(0, 0, p.w-1, where, a.theme.title)
	if p.w < 120 { // the line of tabs has no room for it
		room := p.w - x - len(where) - 3
		p.right(x, 0, room, a.store.Origin(room), a.theme.title)
	}
	if a.pattern != nil { // instead
		x = p.print(x, 0, p.w-x-len(where)-3, "/"+a.pattern.Source+" ", a.theme.style(view.Warn, a.theme.title))
		p.fillFrom(x, 0, p.w-len(where)-2, a.theme.title)
		p.print(x, 0, p.w-x-len(where)-3, a.matchWords(), a.theme.style(view.Warn, a.theme.title))
	}
}

// kindWords is a row's kind, of a block with the number of its entries and of those that the filter takes.
func kindWords(r *view.Row, width int) string {
	if r.Count <= 1 || r.Arrow == "×" {
		return r.Kind
	}
	times := "×" + text.Count(r.Count)
	if r.Taken != r.Count {
		times = "×" + text.Count(r.Taken) + "/" + text.Count(r.Count)
	}
	return text.Cut(r.Kind, max(3, width-text.Width(times)-1)) + " " + times
}

func (a *app) drawRow(p painter, y int, r *view.Row, c columns, selected, focused bool, partners []int64) {
	on := a.theme.base
	if selected {
		if on = a.theme.sel; !focused {
			on = a.theme.selNo
		}
		p.fill(y, on)
	}
	style := func(role view.Role) tcell.Style { return a.theme.style(role, on) }
	p.print(0, y, 1, a.sign(r, partners), style(view.Warn))
	switch a.store.Worst(r.N, r.Last) {
	case record.SevError:
		p.print(1, y, 1, errorSign, style(view.Bad))
	case record.SevHazard:
		p.print(1, y, 1, hazardSign, style(view.Warn))
	}
	x := 2
	cell := func(w int, s string, role view.Role, right bool) {
		if w == 0 {
			return
		}
		if right {
			p.right(x, y, w, s, style(role))
		} else {
			p.print(x, y, w, s, style(role))
		}
		x += w + 1
	}
	cell(c.n, fmt.Sprint(r.N), view.Dim, true)
	if c.time > 0 {
		since := text.Since(r.T)
		if c.time < text.Width(since) {
			since = since[:max(0, len(since)-3)]
		}
		cell(c.time, since, view.Plain, true)
	}
	gap, gapRole := "", view.Dim
	if r.Gap >= 1000 {
		gap = "+" + text.Duration(r.Gap)
	}
	if r.Gap >= 1e9 {
		gapRole = view.Warn
	}
	cell(c.gap, gap, gapRole, true)
	role := kindRole(r)
	cell(1, r.Arrow, role, false)
	cell(c.kind, kindWords(r, c.kind), role, false)
	cell(c.id, r.ID, view.Dim, false)
	size := ""
	if !r.Note {
		size = text.Size(r.Size)
	}
	cell(c.size, size, view.Dim, true)
	took := ""
	if r.Took > 0 {
		took = text.Duration(r.Took)
	}
	cell(c.took, took, view.Plain, true)
	if r.Flags != "" {
		x = p.print(x, y, max(8, (p.w-x)/2), r.Flags, style(view.Warn)) + 1
	}
	textRole := view.ToneRole(r.Tone)
	if r.Quiet && textRole == view.Plain {
		textRole = view.Dim
	}
	said := r.Text
	if took != "" && c.took > 0 { // the column says it
		said = strings.Replace(said, " after "+took, "", 1)
	}
	p.marked(x, y, said, style(textRole), a.pattern)
}

// sign is what stands before a row: its mark, or that it belongs to the selected row.
func (a *app) sign(r *view.Row, partners []int64) (sign string) {
	for _, n := range partners {
		if n >= r.N && n <= r.Last {
			sign = "◆"
		}
	}
	for _, name := range a.markNames() {
		if n := a.marks[name]; n >= r.N && n <= r.Last {
			sign = string(name)
		}
	}
	return sign
}

// drawEmpty says why there is nothing to show.
func (a *app) drawEmpty(p painter, st view.State) {
	said := "Reading the capture."
	switch {
	case st.Err != nil:
		said = st.Said + " c chooses another one, q quits."
	case a.filterText != "":
		looked, _, all := a.store.Progress()
		said = "No entry passes the filter. Esc takes it away."
		if looked < all {
			said = fmt.Sprintf("No entry passes the filter so far: %s of %s were looked at.", text.Count(looked), text.Count(all))
		}
	case st.Done && st.Entries == 0:
		said = "The capture has no entries."
		if st.Condition != "" {
			said += " It is " + st.Condition + "."
		}
	case st.Live:
		said = "Nothing was recorded yet. The capture is live: what comes is shown here."
	}
	for y, l := range sentences(text.VisibleString(said), p.w-2, max(1, p.h-1)) {
		p.print(1, y+min(1, p.h-1), p.w-2, l, a.theme.style(view.Strong, a.theme.base))
	}
}

func (a *app) drawFilter(p painter) {
	p.fill(0, a.theme.bar)
	looked, taken, all := a.store.Progress()
	progress := fmt.Sprintf("%s of %s", text.Count(taken), text.Count(all))
	if looked < all {
		progress += fmt.Sprintf(", %d%% looked at", 100*looked/max(1, all))
	}
	x := p.print(1, 0, p.w, "filter ", a.theme.style(view.Strong, a.theme.bar))
	p.print(x, 0, p.w-x-text.Width(progress)-2, a.filterText, a.theme.bar)
	p.right(0, 0, p.w-1, progress, a.theme.bar)
}
