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
	pick := []int{inspect.ListState, inspect.ListStart, inspect.ListFolder, inspect.ListLabel}
	switch {
	case width >= 150:
		pick = []int{inspect.ListName, inspect.ListState, inspect.ListStart, inspect.ListDuration, inspect.ListAgent, inspect.ListClient,
			inspect.ListEntries, inspect.ListSize, inspect.ListFindings, inspect.ListFolder, inspect.ListLabel}
	case width >= 120:
		pick = []int{inspect.ListName, inspect.ListState, inspect.ListStart, inspect.ListDuration, inspect.ListEntries, inspect.ListFindings,
			inspect.ListFolder, inspect.ListLabel}
	case width >= 80:
		pick = []int{inspect.ListState, inspect.ListStart, inspect.ListDuration, inspect.ListEntries, inspect.ListFolder, inspect.ListLabel}
	}
	if !slices.ContainsFunc(list, func(l *inspect.Listed) bool { return l.Label != "" }) {
		pick = slices.DeleteFunc(pick, func(i int) bool { return i == inspect.ListLabel })
	}
	folder := width / 3
	switch {
	case width < 80:
		folder = width - 28
	case width < 120:
		folder = width / 2
	}
	p := text.Palette{Enabled: true}
	t := text.Table{Width: width - 3, Title: p.Dim}
	all := inspect.ListColumns()
	for _, i := range pick {
		t.Columns = append(t.Columns, all[i])
	}
	if here, err := filepath.Abs(current); err == nil {
		current = here
	}
	for _, l := range list {
		one := *l
		one.Folder = inspect.LastCells(one.Folder, max(12, folder))
		cells := one.Cells(p)
		row := make([]text.Cell, len(pick))
		for i, k := range pick {
			if k < len(cells) {
				row[i] = cells[k]
			}
			if k == inspect.ListStart && width < 120 {
				row[i].Text = one.Start.Local().Format("01-02 15:04:05")
			}
			if k == inspect.ListFolder && one.Error != "" { // what can't be read is named by its file
				row[i] = text.Cell{Text: filepath.Base(one.Path)}
			}
		}
		t.Add(row...)
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
