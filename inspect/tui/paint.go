package tui

import (
	"github.com/gdamore/tcell/v2"
	"github.com/rivo/uniseg"

	"pitap/inspect/text"
	"pitap/inspect/view"
)

// painter draws into a part of the screen. Everything that is drawn goes through print, so nothing reaches a cell that
// package text does not call visible.
type painter struct {
	on         *canvas
	theme      *theme
	x, y, w, h int
}

// part is a painter for a part of the part, cut to it.
func (p painter) part(x, y, w, h int) painter {
	x, y = max(0, x), max(0, y)
	return painter{p.on, p.theme, p.x + x, p.y + y, max(0, min(w, p.w-x)), max(0, min(h, p.h-y))}
}

// fill clears a line with a style.
func (p painter) fill(y int, st tcell.Style) {
	if y < 0 || y >= p.h {
		return
	}
	for x := range p.w {
		p.on.set(p.x+x, p.y+y, ' ', st)
	}
}

// print draws text from cell x on, cut to width cells (to the part's edge when that is less), and returns the cell behind
// it.
func (p painter) print(x, y, width int, s string, st tcell.Style) int {
	if width = min(width, p.w-x); width <= 0 || y < 0 || y >= p.h || s == "" || x < 0 {
		return x
	}
	if plain(s) {
		end := x + min(len(s), width)
		cut := len(s) > width
		for i := range end - x {
			p.on.set(p.x+x+i, p.y+y, rune(s[i]), st)
		}
		if cut {
			p.on.set(p.x+end-1, p.y+y, '…', st)
		}
		return end
	}
	s = text.Cut(s, width)
	state := -1
	for s != "" {
		var cluster string
		cluster, s, _, state = uniseg.FirstGraphemeClusterInString(s, state)
		cells := text.Width(cluster)
		if cells == 0 || x+cells > p.w {
			continue
		}
		if _, drawn := p.on.cells.Put(p.x+x, p.y+y, cluster, st); drawn != cells {
			for i := range cells { // the screen would count it otherwise: hold its place
				p.on.set(p.x+x+i, p.y+y, '□', st)
			}
		}
		x += cells
	}
	return x
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func plain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// right draws text so that it ends before cell x+width.
func (p painter) right(x, y, width int, s string, st tcell.Style) {
	p.print(x+max(0, width-text.Width(s)), y, width, s, st)
}

// line draws the spans of a line, what the pattern matches marked, on a background.
func (p painter) line(x, y int, l view.Line, on tcell.Style, pattern *view.Pattern) int {
	for _, s := range l.Spans {
		x = p.marked(x, y, s.Text, p.theme.style(s.Role, on), pattern)
	}
	return x
}

// marked is print with what the pattern matches marked.
func (p painter) marked(x, y int, s string, st tcell.Style, pattern *view.Pattern) int {
	for s != "" && x < p.w {
		if len(s) > 4000 {
			s = text.Cut(s, p.w-x)
		}
		start, end := pattern.In(s)
		if start < 0 || end <= start {
			break
		}
		x = p.print(x, y, p.w, s[:start], st)
		x = p.print(x, y, p.w, s[start:end], p.theme.roles[view.Mark])
		s = s[end:]
	}
	return p.print(x, y, p.w, s, st)
}
