package tui

import (
	"strings"

	"pitap/inspect/filter"
	"pitap/inspect/text"
	"pitap/inspect/view"
)

// showHelp shows the help, or takes it away again.
func (a *app) showHelp() {
	if a.overlay != nil && a.overlay.help {
		a.overlay = nil
		return
	}
	a.overlay = &lines{title: "Keys and words (? or q closes this)", help: true, enter: func(view.Line) {},
		build: func(v *lines, width int) { v.set(helpOf(width - 2)) }}
	a.overlay.layout(a.width())
}

// helpOf lays out the key table and the filter language for a width.
func helpOf(width int) (all []view.Line) {
	for i, part := range keyTable() {
		if i > 0 {
			all = append(all, view.Line{})
		}
		all = append(all, view.R(view.Strong, part.head))
		for _, k := range part.keys {
			all = append(all, helpLines(width, 19, k.keys, k.help)...)
		}
	}
	all = append(all, view.Line{}, view.R(view.Strong, "Filter language"))
	for l := range strings.Lines(filter.Help) {
		l = strings.TrimRight(l, "\n")
		head, rest, _ := strings.Cut(l, "  ")
		if i := strings.LastIndex(l[:min(len(l), 24)], "  "); i > 0 {
			head, rest = strings.TrimRight(l[:i], " "), strings.TrimLeft(l[i:], " ")
		}
		all = append(all, helpLines(width, 25, head, rest)...)
	}
	all = append(all, view.Line{}, view.R(view.Strong, "Signs"))
	for _, l := range []string{"→", "from the client", "←", "from the agent", "!", "the agent's stderr", "·", "a note: signal, end of a stream, stall, exit",
		"×3", "3 deltas of one block in one row, with their text so far; ×2/3 when the filter takes 2 of them", "◆", "belongs to the selected row", errorSign, "before the number: an error was found here; the tab of findings counts them", hazardSign, "before the number: a hazard was found here", "╎", "a read ended here (raw view)", "×", "a part of the capture that can't be read"} {
		if len([]rune(l)) <= 2 {
			all = append(all, view.Line{Spans: []view.Span{{Text: text.Pad(l, 19), Role: view.Key}}})
			continue
		}
		all[len(all)-1].Spans = append(all[len(all)-1].Spans, view.Span{Text: l})
	}
	return all
}

// helpLines lays out a name and what it means, in two columns when there is room.
func helpLines(width, column int, name, help string) (all []view.Line) {
	if width < 60 {
		all = append(all, view.R(view.Key, name))
		for l := range strings.Lines(text.Wrap(help, max(10, width-2))) {
			all = append(all, view.L("  "+strings.TrimRight(l, "\n")))
		}
		return all
	}
	for l := range strings.Lines(text.Wrap(help, width-column)) {
		all = append(all, view.Line{Spans: []view.Span{{Text: text.Pad(name, column-1) + " ", Role: view.Key}, {Text: strings.TrimRight(l, "\n")}}})
		name = ""
	}
	if len([]rune(name)) > column-1 {
		all = append([]view.Line{view.R(view.Key, name)}, all...)
	}
	return all
}
