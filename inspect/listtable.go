package inspect

import (
	"fmt"
	"strings"
	"time"

	"github.com/rivo/uniseg"

	"pitap/inspect/text"
	"pitap/record"
)

// The columns of a table of captures, in the order of ListColumns.
const (
	ListName = iota
	ListState
	ListStart
	ListDuration
	ListAgent
	ListClient
	ListEntries
	ListSize
	ListFindings
	ListFolder
	ListLabel
)

// ListColumns are the columns of a table of captures.
func ListColumns() []text.Column {
	return []text.Column{{Title: "name", Max: 40}, {Title: "state"}, {Title: "start"}, {Title: "duration", Right: true}, {Title: "agent", Max: 20},
		{Title: "client", Max: 20}, {Title: "entries", Right: true}, {Title: "size", Right: true}, {Title: "findings"}, {Title: "folder"}, {Title: "label"}}
}

// Cells is a capture's row of the table. Of a file that can't be read it has what is known.
func (l *Listed) Cells(p text.Palette) []text.Cell {
	state := text.Cell{Text: string(l.Condition)}
	switch l.Condition {
	case CondWhole:
		state.Text = ""
	case CondLive:
		state.Style = p.Green
	case CondCut:
		state.Style = p.Yellow
	default:
		state.Style = p.Red
	}
	row := []text.Cell{{Text: l.Name, Style: p.Bold}, state, {Text: l.Start.Local().Format("2006-01-02 15:04:05")}}
	if l.Error != "" {
		return append(row, make([]text.Cell, 4)...)[:7:7]
	}
	entries, duration := "-", "-"
	if l.Entries > 0 {
		entries = text.Count(l.Entries)
	}
	if l.Duration > 0 {
		duration = text.Duration(int64(l.Duration * 1e9))
	}
	if l.Condition == CondLive {
		duration = text.Duration(int64(time.Since(l.Start)))
	}
	agent := strings.TrimSpace(l.Agent + " " + l.Version)
	return append(row, text.Cell{Text: duration}, text.Cell{Text: agent}, text.Cell{Text: orDash(l.Client)}, text.Cell{Text: entries},
		text.Cell{Text: text.Size(l.Size)}, l.findingsCell(p), text.Cell{Text: l.Folder}, text.Cell{Text: l.Label})
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// findingsCell counts a capture's findings.
func (l *Listed) findingsCell(p text.Palette) text.Cell {
	if l.Findings == nil {
		return text.Cell{Text: "-"}
	}
	var words []string
	for _, s := range []record.Severity{record.SevError, record.SevHazard, record.SevNote} {
		switch n := l.Findings[s.String()]; n {
		case 0:
		case 1:
			words = append(words, "1 "+s.String())
		default:
			words = append(words, fmt.Sprintf("%d %ss", n, s))
		}
	}
	c := text.Cell{Text: strings.Join(words, ", ")}
	switch {
	case l.Findings["error"] > 0:
		c.Style = p.Red
	case l.Findings["hazard"] > 0:
		c.Style = p.Yellow
	case len(words) == 0:
		c = text.Cell{Text: "none", Style: p.Dim}
	}
	return c
}

// LastCells cuts the beginning off a text that is wider than the given number of cells: of a folder the end says most.
func LastCells(s string, cells int) string {
	if len(s) > maxTail {
		s = s[len(s)-maxTail:]
	}
	s = text.VisibleString(s)
	width := text.Width(s)
	if width <= cells {
		return s
	}
	for state := -1; s != "" && width >= cells; {
		var cluster string
		cluster, s, _, state = uniseg.FirstGraphemeClusterInString(s, state)
		width -= text.Width(cluster)
	}
	return text.Ellipsis + s
}

// maxTail is more than what LastCells looks at of what a folder's name can be, in bytes.
const maxTail = 8 << 10
