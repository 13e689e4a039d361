package tui

import (
	"fmt"
	"time"

	"pitap/inspect/view"
)

// A view of many lines is made anew seldom, while it grows.
const (
	manyLines = 2000
	seldom    = 500 * time.Millisecond
)

// lines is a view that is made of lines.
type lines struct {
	all    []view.Line
	shown  []int // indexes of the lines that are not folded away
	closed map[string]bool
	talk   map[int64]bool // entries whose text is unfolded
	top    int
	cur    int
	height int
	width  int
	made   uint64 // version of the store
	when   time.Time
	late   bool // it will be made anew soon
	title  string
	heads  string                    // of the columns, below the title
	build  func(v *lines, width int) // lays the lines out for a width; nil where refresh does
	enter  func(l view.Line)         // nil: jump to the entry
	depth  bool                      // the lines fold by depth
	help   bool                      // it is the help
}

// layout makes the lines anew for a width, when that is another one.
func (v *lines) layout(width int) {
	if v.build != nil && (v.width != width || v.all == nil) {
		v.width = width
		v.build(v, width)
	}
}

// above is the number of lines above the first one that moves.
func (v *lines) above() int { return b2i(v.title != "") + b2i(v.heads != "") }

// set replaces the lines and keeps the place.
func (v *lines) set(all []view.Line) {
	v.all = all
	v.fold()
}

// key names a line, so that it stays folded when the lines are made anew.
func (v *lines) key(i int) string { return fmt.Sprint(v.all[i].Depth, ":", v.all[i].N) }

// branch tells whether a line holds others.
func (v *lines) branch(i int) bool { return i+1 < len(v.all) && v.all[i+1].Depth > v.all[i].Depth }

// fold finds the lines that are shown.
func (v *lines) fold() {
	v.shown = v.shown[:0]
	hide := -1
	for i := range v.all {
		l := &v.all[i]
		if hide >= 0 && l.Depth > hide {
			continue
		}
		hide = -1
		v.shown = append(v.shown, i)
		if v.depth && v.closed[v.key(i)] {
			hide = l.Depth
		}
	}
	v.cur = max(0, min(v.cur, len(v.shown)-1))
}

// line is the one under the cursor.
func (v *lines) line() (l view.Line, ok bool) {
	if v.cur < 0 || v.cur >= len(v.shown) {
		return l, false
	}
	return v.all[v.shown[v.cur]], true
}

// toggle folds or unfolds at the cursor.
func (v *lines) toggle() {
	if _, ok := v.line(); !ok || !v.depth {
		return
	}
	i := v.shown[v.cur]
	if !v.branch(i) { // a leaf folds what holds it
		for i >= 0 && v.all[i].Depth >= v.all[v.shown[v.cur]].Depth && v.all[i].Depth > 0 {
			i--
		}
		if i < 0 || !v.branch(i) {
			return
		}
	}
	if v.closed == nil {
		v.closed = map[string]bool{}
	}
	k := v.key(i)
	v.closed[k] = !v.closed[k]
	v.fold()
	for j, s := range v.shown {
		if s == i {
			v.cur = j
		}
	}
}

func (v *lines) move(n int) { v.cur = max(0, min(v.cur+n, len(v.shown)-1)) }

// find goes to the next line that holds the pattern; ok is false when there is none.
func (v *lines) find(p *view.Pattern, from, dir int) (ok bool) {
	n := len(v.shown)
	for k := range n {
		i := ((from+dir*k)%n + n) % n
		if start, _ := p.In(v.all[v.shown[i]].Text()); start >= 0 {
			v.cur = i
			return true
		}
	}
	return false
}

func (a *app) drawLines(p painter, v *lines) {
	v.layout(p.w)
	if v.title != "" {
		p.fill(0, a.theme.bar)
		p.print(1, 0, p.w-2, v.title, a.theme.style(view.Strong, a.theme.bar))
		p = p.part(0, 1, p.w, p.h-1)
	}
	if v.heads != "" {
		p.fill(0, a.theme.title)
		p.print(1, 0, p.w-2, v.heads, a.theme.title)
		p = p.part(0, 1, p.w, p.h-1)
	}
	v.height = p.h
	if v.cur < v.top {
		v.top = v.cur
	}
	if v.cur >= v.top+p.h {
		v.top = v.cur - p.h + 1
	}
	v.top = max(0, min(v.top, len(v.shown)-p.h))
	for y := range p.h {
		i := v.top + y
		if i >= len(v.shown) {
			break
		}
		l := v.all[v.shown[i]]
		on := a.theme.base
		if i == v.cur {
			on = a.theme.sel
			p.fill(y, on)
		}
		x := 1
		if k := v.shown[i]; v.depth && v.branch(k) && v.closed[v.key(k)] {
			p.print(0, y, 1, "▸", a.theme.style(view.Dim, on))
		}
		p.line(x, y, l, on, a.pattern)
	}
	if v.top+p.h < len(v.shown) && p.h > 1 {
		p.right(0, p.h-1, p.w, fmt.Sprintf(" %d%% ", 100*(v.top+p.h)/len(v.shown)), a.theme.bar)
	}
}

// refresh makes the lines of a view, when what they tell has changed.
func (a *app) refresh(which int, width int) *lines {
	v := &a.views[which]
	st := a.store.State()
	version := st.Version
	waits := st.Live && time.Since(v.when) > seldom // what is waited for gets older
	if v.width == width && v.all != nil && v.made == version && !waits {
		return v
	}
	if v.width == width && v.made != 0 && len(v.all) > manyLines && time.Since(v.when) < seldom {
		if !v.late {
			v.late = true
			time.AfterFunc(seldom, a.kick)
		}
		return v
	}
	v.when, v.late = time.Now(), false
	v.made, v.width = version, width
	switch which {
	case viewRuns:
		v.depth = true
		v.heads = a.store.RunsHead(width - 2)
		v.set(a.withTalk(v, a.store.Runs(width-2), width))
	case viewFindings:
		v.depth = true
		if v.closed == nil {
			v.closed = map[string]bool{}
		}
		v.set(a.store.Findings(width - 2))
	case viewFigures:
		v.set(a.store.Figures(width - 2))
	case viewProcess:
		v.set(a.store.Process(width - 2))
	}
	return v
}

// withTalk puts what was said below the messages and tools that are unfolded.
func (a *app) withTalk(v *lines, all []view.Line, width int) []view.Line {
	if len(v.talk) == 0 {
		return all
	}
	var out []view.Line
	for _, l := range all {
		out = append(out, l)
		if l.N == 0 || !v.talk[l.N] || l.Depth < 2 {
			continue
		}
		for _, said := range a.store.Talk(l.N, width-2) {
			said.Depth, said.N = l.Depth+1, l.N
			out = append(out, said)
		}
	}
	return out
}
