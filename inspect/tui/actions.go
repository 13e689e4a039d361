package tui

import (
	"fmt"
	"slices"
	"strings"

	"pitap/inspect/view"
)

// show turns to a view.
func (a *app) show(which int) {
	a.view, a.overlay, a.focus = which, nil, false
	if which == viewTimeline {
		a.intoChart()
	}
}

// lines is the view of lines that is in front, nil when that is another one.
func (a *app) lines() *lines {
	switch {
	case a.overlay != nil:
		return a.overlay
	case a.view == viewRecords, a.view == viewTimeline:
		return nil
	}
	return a.refresh(a.view, a.width())
}

func (a *app) pageSize() int {
	switch v := a.lines(); {
	case v != nil:
		return max(1, v.height-1)
	case a.focus:
		return max(1, a.pane.height-1)
	}
	return max(1, a.list.height-1)
}

// move goes n lines down, or up.
func (a *app) move(n int) {
	switch v := a.lines(); {
	case v != nil:
		v.move(n)
	case a.view == viewRecords && a.focus:
		a.pane.cur += n
		a.pane.clamp(true)
	default:
		if a.list.follow && n > 0 {
			return
		}
		a.list.follow = false
		a.list.move(a.store, n)
		a.intoChart()
	}
}

// end goes to the first or the last line.
func (a *app) end(dir int) {
	switch v := a.lines(); {
	case v != nil:
		v.move(dir * (len(v.shown) + 1))
		return
	case a.view == viewRecords && a.focus:
		a.pane.cur = 0
		if dir > 0 {
			a.pane.cur = a.pane.rows - 1
		}
		a.pane.clamp(true)
		return
	}
	a.leap()
	at, ok := a.store.First()
	if dir > 0 {
		at, ok = a.store.Last()
	}
	if ok {
		a.list.sel, a.list.follow = at, false
		a.intoChart()
	}
	if st := a.store.State(); dir > 0 && !st.Done && st.Loaded >= st.Entries { // live, or without an index: there is more to come
		a.list.follow = true
	}
}

// side goes left or right.
func (a *app) side(dir int) {
	switch v := a.lines(); {
	case v != nil:
		if v.depth {
			l, ok := v.line()
			if ok && v.closed[v.key(v.shown[v.cur])] == (dir > 0) {
				v.toggle()
			} else if ok && dir > 0 && a.view == viewRuns && !v.talk[l.N] {
				a.fold()
			}
		}
	case a.view == viewTimeline:
		a.step(dir)
	case a.focus:
		a.pane.fold(dir > 0, false)
	case dir > 0:
		a.enter()
	}
}

func (a *app) enter() {
	if v := a.lines(); v != nil {
		l, ok := v.line()
		switch {
		case !ok:
		case v.enter != nil:
			v.enter(l)
		case l.N > 0:
			a.goTo(l.N)
		}
		return
	}
	switch {
	case a.view == viewTimeline:
		a.show(viewRecords)
	case !a.focus:
		a.focus = true
	case a.pane.mode == asMeta:
		if l := a.pane.line(a.pane.cur); l.N > 0 {
			a.goTo(l.N)
		}
	default:
		a.pane.fold(true, true)
	}
}

// back closes what is in front, or quits.
func (a *app) back() {
	switch {
	case a.overlay != nil:
		a.overlay = nil
	case a.focus:
		a.focus = false
	default:
		a.leave()
	}
}

func (a *app) escape() {
	switch {
	case a.overlay != nil:
		a.overlay = nil
	case a.searching != nil:
		a.endSearch()
	case a.focus:
		a.focus = false
	case a.pattern != nil:
		a.pattern = nil
	case a.filter != nil:
		a.setFilter("", "")
	}
}

// leap remembers where a jump begins.
func (a *app) leap() {
	n := a.store.Row(a.list.sel).N
	if len(a.jumps) == 0 || a.jumps[len(a.jumps)-1] != n {
		a.jumps = append(a.jumps, n)
	}
	if len(a.jumps) > 200 {
		a.jumps = slices.Delete(a.jumps, 0, 1)
	}
}

func (a *app) jumpBack() {
	if len(a.jumps) == 0 {
		a.say("no jump to go back from")
		return
	}
	n := a.jumps[len(a.jumps)-1]
	a.jumps = a.jumps[:len(a.jumps)-1]
	a.land(a.store.Pos(n))
}

// goTo shows the entry with a number.
func (a *app) goTo(n int64) {
	a.leap()
	a.overlay = nil
	if a.view != viewTimeline {
		a.view = viewRecords
	}
	pos := a.store.Pos(n)
	a.land(pos)
	if row := a.store.Row(a.list.sel); a.filter != nil && (n < row.N || n > row.Last) {
		a.say("entry %d does not pass the filter; this is the next one that does", n)
	}
}

// land selects the row of an entry.
func (a *app) land(pos int64) {
	a.list.follow = false
	if at, ok := a.store.Align(pos); ok {
		a.list.sel = at
	} else {
		a.list.sel = pos
	}
	a.intoChart()
}

func (a *app) finding(dir int) { a.jumpTo(a.store.FindingAfter(a.here(dir), dir), "finding", dir) }

func (a *app) openThing(dir int) {
	a.jumpTo(a.store.OpenAfter(a.here(dir), dir), "open thing", dir)
}

// here is the number from which on something is looked for: a folded row's last, going down.
func (a *app) here(dir int) int64 {
	row := a.store.Row(a.list.sel)
	if dir > 0 {
		return row.Last
	}
	return row.N
}

func (a *app) jumpTo(n int64, what string, dir int) {
	if n == 0 {
		where := "below"
		if dir < 0 {
			where = "above"
		}
		a.say("no %s %s", what, where)
		return
	}
	a.goTo(n)
}

func (a *app) partner() {
	row := a.store.Row(a.list.sel)
	list := a.store.Partners(row.N)
	if len(list) == 0 && row.Last != row.N {
		list = a.store.Partners(row.Last)
	}
	if len(list) == 0 {
		a.say("entry %d has no partner", row.N)
		return
	}
	a.goTo(list[0])
}

func (a *app) mark() {
	a.say("mark with which letter?")
	a.pending = func(r rune) {
		n := a.store.Row(a.list.sel).N
		if a.marks[r] == n {
			delete(a.marks, r)
		} else {
			delete(a.marks, r)
			a.marks[r] = n
			a.lastMarks = append(slices.DeleteFunc(a.lastMarks, func(o rune) bool { return o == r }), r)
		}
		if a.filter != nil && a.filter.Expr != nil && a.filter.Expr.Changes() {
			a.refilter()
		}
	}
}

func (a *app) toMark() {
	var names []string
	for _, r := range a.markNames() {
		names = append(names, fmt.Sprintf("%c #%d", r, a.marks[r]))
	}
	a.say("to which mark? %s", strings.Join(names, "  "))
	a.pending = func(r rune) {
		if r == '\'' {
			a.jumpBack()
			return
		}
		n, ok := a.marks[r]
		if !ok {
			a.say("no mark %q", string(r))
			return
		}
		a.goTo(n)
	}
}

// mode changes how the row is looked at.
func (a *app) mode(by int) {
	n := len(modeNames)
	if a.program == "" {
		n--
	}
	a.pane.mode = ((a.pane.mode+by)%n + n) % n
	a.pane.lines, a.pane.top, a.pane.cur = nil, 0, 0
}

func (a *app) turnDetail() {
	a.where = (a.where + 1) % (detailNone + 1)
	a.say("detail %s", [...]string{"where there is room", "below", "beside", "away; Enter shows it"}[a.where])
}

// grow gives the detail more room, or zooms.
func (a *app) grow(by int) {
	switch {
	case a.view == viewTimeline:
		a.zoom([3]float64{2, 1, 0.5}[by+1])
	case a.focus && by > 0 && a.pane.line(a.pane.cur).Node < 0:
		a.pane.fold(true, true)
	default:
		a.share = min(80, max(20, a.share+10*by))
	}
}

func (a *app) fold() {
	switch v := a.lines(); {
	case v != nil && a.overlay == nil && a.view == viewRuns:
		l, ok := v.line()
		if !ok {
			return
		}
		if l.Depth < 2 {
			v.toggle()
			return
		}
		if v.talk == nil {
			v.talk = map[int64]bool{}
		}
		v.talk[l.N] = !v.talk[l.N]
		v.made = 0
		a.refresh(a.view, a.width())
		if !v.talk[l.N] { // the cursor was perhaps on what is gone
			for i, s := range v.shown {
				if v.all[s].N == l.N && v.all[s].Depth <= l.Depth {
					v.cur = i
					break
				}
			}
		}
	case v != nil:
		v.toggle()
	case a.focus:
		a.pane.fold(true, true)
	case !a.store.Unfold(a.list.sel):
		a.say("nothing folds here")
	default:
		a.land(a.list.sel)
	}
}

func (a *app) foldAll() {
	switch v := a.lines(); {
	case v != nil && a.overlay == nil && a.view == viewRuns:
		unfold := len(v.talk) == 0
		v.talk = map[int64]bool{}
		for _, l := range v.all {
			if unfold && l.N > 0 && l.Depth == 2 {
				v.talk[l.N] = true
			}
		}
		v.made = 0
	case v != nil && v.depth:
		fold := len(v.closed) == 0
		v.closed = map[string]bool{}
		for i, l := range v.all {
			if fold && l.Head && v.branch(i) {
				v.closed[v.key(i)] = true
			}
		}
		v.fold()
	case v == nil:
		n := a.store.Row(a.list.sel).N
		if a.store.Fold() {
			a.say("blocks of deltas are folded")
		} else {
			a.say("all deltas are shown")
		}
		follow := a.list.follow
		a.land(a.store.Pos(n))
		a.list.follow = follow
	}
}

// diff compares two marked rows, or the last mark with the selected row.
func (a *app) diff() {
	var n []int64
	for _, r := range a.lastMarks {
		if m, ok := a.marks[r]; ok {
			n = append(n, m)
		}
	}
	here := a.store.Row(a.list.sel).N
	switch {
	case len(n) >= 2 && n[len(n)-1] == here:
		n = n[len(n)-2:]
	case len(n) >= 1 && n[len(n)-1] != here:
		n = []int64{n[len(n)-1], here}
	default:
		a.say("mark a row with m and a letter, go to another one, then press d")
		return
	}
	var d [2]*view.Detail
	for i := range d {
		at, ok := a.store.Align(a.store.Pos(n[i]))
		if !ok {
			return
		}
		d[i] = a.store.Detail(at)
	}
	a.overlay = &lines{title: fmt.Sprintf("What entry %d (-) and entry %d (+) do not have in common", n[0], n[1]),
		build: func(v *lines, width int) { v.set(view.Diff(d[0], d[1], width-3)) }}
	a.overlay.layout(a.width())
}
