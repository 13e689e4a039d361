package view

import (
	"path/filepath"
	"slices"
	"strings"

	"pitap/inspect"
	"pitap/inspect/text"
)

// Captures lays out a list of captures as a table, live ones first and else in their order: its head, and a line each
// with the capture's path. current is the path of the one that is shown.
func Captures(list []*inspect.Listed, width int, current string) (head Line, lines []Line) {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b *inspect.Listed) int { return rankOf(a) - rankOf(b) })
	t := inspect.ListTable(list, width-2, width >= 100, text.Palette{Enabled: true})
	if here, err := filepath.Abs(current); err == nil {
		current = here
	}
	var b strings.Builder
	t.Flush(&b)
	for i, l := range coloured(b.String()) {
		sign := Span{"  ", Plain}
		if i == 0 {
			l.Spans = append([]Span{sign}, l.Spans...)
			head = l
			continue
		}
		if l.Path = list[i-1].Path; l.Path == current {
			sign = Span{"◆ ", Warn}
		}
		l.Spans = append([]Span{sign}, l.Spans...)
		lines = append(lines, l)
	}
	return head, lines
}

// rankOf orders captures: live ones are first.
func rankOf(l *inspect.Listed) int {
	if l.Condition == inspect.CondLive {
		return 0
	}
	return 1
}
