package tui

import (
	"fmt"
	"strings"

	"github.com/gdamore/tcell/v2"

	"pitap/inspect/text"
	"pitap/inspect/view"
)

// stateWord is what the capture is, in a word or two.
func (a *app) stateWord() (word string, role view.Role) {
	st := a.store.State()
	switch {
	case st.Err != nil:
		return st.Trouble, view.Bad
	case !st.Done && !st.Live:
		return "reading", view.Good
	case st.Damage > 0:
		return "damaged", view.Bad
	case st.Done && st.Condition != "":
		return "cut", view.Bad
	case st.Done:
		return "whole", view.Good
	}
	return "live", view.Warn
}

// drawTabs draws the line of tabs: the views, what was found, which capture it is and how it is.
func (a *app) drawTabs(p painter) {
	p.fill(0, a.theme.bar)
	state, role := a.stateWord()
	state = " " + state + " "
	x := 0
	for i, name := range viewNames {
		style, left := a.theme.bar, a.theme.bar
		if i == a.view {
			style, left = a.theme.tab, a.theme.tab
		}
		label := fmt.Sprintf("%d %s", i+1, name)
		if p.w < 66 {
			label = fmt.Sprintf("%d%s", i+1, name[:min(len(name), max(2, (p.w-len(state))/viewCount-3))])
		} else if p.w < 100 && i > 0 && i == a.view+1 { // one blank is between tabs, and on both sides of the one that is shown
			left = a.theme.tab
		}
		from := x
		x = p.print(x, 0, p.w-x, " ", left)
		x = p.print(x, 0, p.w-x, label, style)
		if i == viewFindings {
			x = a.drawFound(p, x, style)
		}
		if p.w >= 100 {
			x = p.print(x, 0, p.w-x, " ", style)
		}
		a.shape.tabs[i] = [2]int{from, x}
	}
	if room := p.w - x - len(state) - 1; room >= 8 {
		p.right(x+1, 0, room, a.store.Title(room), a.theme.style(view.Strong, a.theme.bar))
	}
	p.right(0, 0, p.w, state, a.theme.style(role, a.theme.bar))
}

// signs of what was found, before a row and in the tab of findings.
const (
	errorSign  = "!"
	hazardSign = "?"
)

// drawFound says behind the tab of findings how many errors and hazards there are.
func (a *app) drawFound(p painter, x int, on tcell.Style) int {
	errors, hazards := a.store.Found()
	if errors+hazards > 0 && p.w >= 66 {
		x = p.print(x, 0, p.w-x, " ", on)
	}
	if errors > 0 {
		x = p.print(x, 0, p.w-x, text.Count(int64(errors))+errorSign, a.theme.style(view.Bad, on))
	}
	if hazards > 0 && (p.w >= 66 || errors == 0) {
		x = p.print(x, 0, p.w-x, text.Count(int64(hazards))+hazardSign, a.theme.style(view.Warn, on))
	}
	return x
}

const helpHint = "? help"

// drawBottom draws on the last lines of p the sentence of pitap why, over several where there is room, and what crossed
// last. It tells how many lines that are.
func (a *app) drawBottom(p painter) int {
	why, last, brief := a.store.Bottom()
	rows := 1
	switch {
	case p.h >= 20:
		rows = 3
	case p.h >= 10:
		rows = 2
	}
	said := sentences(why, p.w, rows)
	others := a.othersWords()
	crossed := directions(last, brief, p.w, p.h, text.Width(others)+3*b2i(others != "")+len(helpHint))
	if p.h < 6 {
		crossed = nil
	}
	h := len(said) + len(crossed)
	p = p.part(0, p.h-h, p.w, h)
	for y := range h {
		p.fill(y, a.theme.bar)
	}
	for y, l := range said {
		p.print(0, y, p.w, l, a.theme.style(view.Strong, a.theme.bar))
	}
	for i, l := range crossed {
		end := p.line(0, len(said)+i, l, a.theme.bar, nil)
		if i == len(crossed)-1 {
			p = p.part(end+2, 0, p.w-end-3, p.h)
			if text.Width(helpHint) <= p.w {
				p.right(0, h-1, p.w, helpHint, a.theme.style(view.Dim, a.theme.bar))
				p.w -= len(helpHint) + 3
			}
			if others != "" && text.Width(others) <= p.w {
				p.right(0, h-1, p.w, others, a.theme.style(view.Warn, a.theme.bar))
			}
		}
	}
	return h
}

// directions lays out what crossed last: in one line where that has room for it and so many cells more, else in two on a
// screen that is high enough, and else in few words.
func directions(last, brief []view.Line, w, h, more int) []view.Line {
	if len(last) != 2 {
		return []view.Line{{}}
	}
	join := func(l []view.Line, between string) (one view.Line) {
		one.Spans = append(append(append(one.Spans, l[0].Spans...), view.Span{Text: between, Role: view.Dim}), l[1].Spans...)
		return one
	}
	one := join(last, "  │  ")
	switch room := w - text.Width(one.Text()); {
	case room > more+2:
	case h >= 16:
		return last
	case room < 0:
		one = join(brief, " │ ")
	}
	return []view.Line{one}
}

// sentences lays out a text in so many lines. What does not fit ends behind a sentence, when not much room is lost by
// that, and an ellipsis tells that there is more.
func sentences(s string, width, rows int) []string {
	lay := func(s string) []string {
		return strings.Split(strings.TrimRight(text.Wrap(s, width), "\n"), "\n")
	}
	fits := func(l []string) bool { return len(l) <= rows && text.Width(l[0]) <= width }
	all := lay(s)
	if fits(all) {
		return all
	}
	for cut := s; ; {
		i := strings.LastIndex(cut, ". ")
		if i < 0 {
			break
		}
		cut = cut[:i]
		if l := lay(cut + ". " + text.Ellipsis); fits(l) {
			if len(l) == rows && text.Width(l[rows-1]) > width/2 {
				return l
			}
			break
		}
	}
	if len(all) > rows {
		all[rows-1] = strings.Join(all[rows-1:], " ")
	}
	return all[:min(rows, len(all))]
}
