package tui

import (
	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"
)

// MouseHandler handles the mouse: tabs, rows, the wheel.
func (a *app) MouseHandler() func(action tview.MouseAction, ev *tcell.EventMouse, setFocus func(tview.Primitive)) (bool, tview.Primitive) {
	return func(action tview.MouseAction, ev *tcell.EventMouse, setFocus func(tview.Primitive)) (bool, tview.Primitive) {
		x, y := ev.Position()
		if action != tview.MouseMove {
			a.untouched = false
		}
		switch action {
		case tview.MouseLeftClick, tview.MouseLeftDoubleClick:
			a.click(x, y, action == tview.MouseLeftDoubleClick)
		case tview.MouseScrollUp:
			a.wheel(x, y, -3)
		case tview.MouseScrollDown:
			a.wheel(x, y, 3)
		default:
			return false, nil
		}
		return true, nil
	}
}

// in tells whether a cell lies in a part of the screen, and where.
func (p painter) in(x, y int) (dx, dy int, ok bool) {
	dx, dy = x-p.x, y-p.y
	return dx, dy, dx >= 0 && dx < p.w && dy >= 0 && dy < p.h
}

func (a *app) click(x, y int, double bool) {
	a.message = ""
	if a.prompt != nil {
		return
	}
	if y == 0 {
		for i, t := range a.shape.tabs {
			if x >= t[0] && x < t[1] {
				a.show(i)
			}
		}
		return
	}
	if v := a.lines(); v != nil {
		_, dy, ok := a.shape.body.in(x, y)
		dy -= v.above()
		if ok && dy >= 0 && v.top+dy < len(v.shown) {
			v.cur = v.top + dy
			if double {
				a.enter()
			}
		}
		return
	}
	if a.view == viewTimeline {
		if dx, _, ok := a.shape.body.in(x, y); ok && dx >= a.chart.left {
			t0, t1 := a.chart.t0, a.chart.t1
			if t1 <= t0 {
				t0, t1 = 0, max(a.store.Now(), 1)
			}
			a.land(a.nearest(t0 + int64((float64(dx-a.chart.left)+0.5)/float64(max(1, a.chart.cells))*float64(t1-t0))))
		}
		return
	}
	if dx, dy, ok := a.shape.detail.in(x, y); ok {
		a.clickDetail(dx, dy)
		return
	}
	if _, dy, ok := a.shape.list.in(x, y); ok {
		a.focus = false
		dy -= a.shape.list.h - a.list.height
		if dy >= 0 && dy < len(a.list.drawn) {
			a.list.sel, a.list.follow = a.list.drawn[dy], false
			if double {
				a.enter()
			}
		}
	}
}

// nearest is the position of the record that is nearest to a time.
func (a *app) nearest(t int64) int64 {
	pos := a.store.At(t)
	if pos > 0 {
		if before, behind := a.store.Row(pos-1).T, a.store.Row(pos).T; t-before < behind-t || behind < t {
			return pos - 1
		}
	}
	return pos
}

// clickDetail takes a click on the pane: on its head another mode, below the line under it.
func (a *app) clickDetail(dx, dy int) {
	if dy == 0 {
		at := 1
		for i, name := range modeNames {
			if i == asQuery && a.program == "" {
				continue
			}
			if dx >= at && dx < at+len(name)+2 {
				a.mode(i - a.pane.mode)
			}
			at += len(name) + 2
		}
		return
	}
	again := a.focus && a.pane.cur == a.pane.top+dy-1
	a.focus = true
	a.pane.cur = a.pane.top + dy - 1
	a.pane.clamp(true)
	if again {
		a.enter()
	}
}

func (a *app) wheel(x, y, n int) {
	if v := a.lines(); v != nil {
		v.move(n)
		return
	}
	if a.view == viewTimeline {
		a.zoom(map[bool]float64{true: 0.7, false: 1.4}[n < 0])
		return
	}
	if _, _, ok := a.shape.detail.in(x, y); ok {
		p := &a.pane
		p.top = max(0, min(p.top+n, p.rows-p.height))
		p.cur = max(p.top, min(p.cur, p.top+p.height-1))
		return
	}
	if n < 0 || !a.list.follow {
		a.list.follow = false
		a.list.scroll(a.store, n)
	}
}
