package inspect

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/rivo/uniseg"

	"pitap/inspect/text"
	"pitap/record"
)

// ListTable lays captures out as a table of lines no wider than so many cells, 0 for any; columns that have no room are
// left out. named says that each capture's name is shown, to be typed; without, a file that can't be read is named in
// the place of its folder.
func ListTable(list []*Listed, width int, named bool, p text.Palette) *text.Table {
	columns := listColumns(width > 0 && width < 120)
	if !named {
		columns = columns[1:]
	}
	rows := make([][]text.Cell, 0, len(list))
	for _, l := range list {
		row := make([]text.Cell, len(columns))
		for i, c := range columns {
			row[i] = c.cell(l, p)
		}
		if !named && l.Error != "" {
			row[len(row)-1].Text = filepath.Base(l.Path)
		}
		rows = append(rows, row)
	}
	shown, room := fitting(columns, rows, width)
	table := &text.Table{Width: width, Title: p.Dim}
	for _, i := range shown {
		table.Columns = append(table.Columns, columns[i].Column)
	}
	for _, row := range rows {
		cells := make([]text.Cell, 0, len(shown))
		for _, i := range shown {
			c := row[i]
			if i == len(columns)-1 && width > 0 {
				c.Text = lastCells(c.Text, room)
			}
			cells = append(cells, c)
		}
		table.Add(cells...)
	}
	return table
}

// listColumn is a column of the list.
type listColumn struct {
	text.Column
	drop int // the first to go on a narrow terminal has the highest; 0: it stays
	cell func(l *Listed, p text.Palette) text.Cell
}

func listColumns(narrow bool) []listColumn {
	plain := func(f func(l *Listed) string) func(*Listed, text.Palette) text.Cell {
		return func(l *Listed, _ text.Palette) text.Cell { return text.Cell{Text: f(l)} }
	}
	// A file that is no capture tells nothing but its name and size.
	known := func(f func(l *Listed) string) func(*Listed, text.Palette) text.Cell {
		return plain(func(l *Listed) string {
			if l.Error != "" {
				return ""
			}
			return f(l)
		})
	}
	right := func(title string) text.Column { return text.Column{Title: title, Right: true} }
	return []listColumn{
		{text.Column{Title: "name", Max: 40}, 0, func(l *Listed, p text.Palette) text.Cell { return text.Cell{Text: l.Name, Style: p.Bold} }},
		{text.Column{Title: "state"}, 0, stateCell},
		{text.Column{Title: "start"}, 0, plain(func(l *Listed) string { return startWords(l.Start.Local(), time.Now(), narrow) })},
		{right("duration"), 6, known(durationWords)},
		{text.Column{Title: "agent", Max: 20}, 1, known(func(l *Listed) string { return strings.TrimSpace(l.Agent + " " + l.Version) })},
		{text.Column{Title: "client", Max: 20}, 7, known(func(l *Listed) string { return orDash(l.Client) })},
		{right("entries"), 3, known(func(l *Listed) string {
			if l.Entries == 0 {
				return "-"
			}
			return text.Count(l.Entries)
		})},
		{right("size"), 4, plain(func(l *Listed) string { return text.Size(l.Size) })},
		{text.Column{Title: "framing", Max: 34}, 2, framingCell},
		{text.Column{Title: "label", Max: 40}, 0, plain(func(l *Listed) string { return l.Label })},
		{text.Column{Title: "folder"}, 5, plain(func(l *Listed) string { return l.Folder })},
	}
}

// leastFolder is how many cells of a folder are worth to be shown: of a folder the end says most.
const leastFolder = 12

// fitting chooses the columns that a line of so many cells has room for, and says how many cells are left for the folder,
// the last of them. A width of 0 has room for all.
func fitting(columns []listColumn, rows [][]text.Cell, width int) (shown []int, room int) {
	widths := make([]int, len(columns))
	for i, c := range columns {
		for _, row := range rows {
			w := text.Width(text.VisibleString(row[i].Text))
			if c.Max > 0 {
				w = min(w, c.Max)
			}
			widths[i] = max(widths[i], w)
		}
		if widths[i] > 0 || width == 0 { // a column that is empty says nothing to people
			widths[i] = max(widths[i], len(c.Title))
			shown = append(shown, i)
		}
	}
	if width == 0 {
		return shown, 0
	}
	last := len(columns) - 1
	widths[last] = min(widths[last], leastFolder)
	for {
		total, next := 0, -1
		for k, i := range shown {
			total += widths[i] + 2
			if d := columns[i].drop; d > 0 && (next < 0 || d > columns[shown[next]].drop) {
				next = k
			}
		}
		if room = width - (total - 2); room >= 0 || next < 0 {
			return shown, widths[last] + max(room, 0)
		}
		shown = append(shown[:next], shown[next+1:]...)
	}
}

func stateCell(l *Listed, p text.Palette) text.Cell {
	state := text.Cell{Text: string(l.Condition)}
	switch l.Condition {
	case CondWhole:
		state.Text = ""
	case CondFixture:
	case CondLive:
		state.Style = p.Green
	case CondCut:
		state.Style = p.Yellow
	default:
		state.Style = p.Red
	}
	return state
}

// startWords says when a session began; narrow without what goes without saying.
func startWords(start, now time.Time, narrow bool) string {
	switch {
	case !narrow:
		return start.Format("2006-01-02 15:04:05")
	case start.Year() == now.Year() && start.YearDay() == now.YearDay():
		return start.Format("today 15:04:05")
	case start.Year() == now.Year():
		return start.Format("Jan _2 15:04:05")
	}
	return start.Format("2006-01-02 15:04")
}

func durationWords(l *Listed) string {
	switch {
	case l.Condition == CondLive:
		return text.Duration(int64(time.Since(l.Start)))
	case l.Duration > 0:
		return text.Duration(int64(l.Duration * 1e9))
	}
	return "-"
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// framingCell names the rules of framing that flagged a record while it was recorded, the worst first.
func framingCell(l *Listed, p text.Palette) text.Cell {
	switch {
	case l.Error != "":
		return text.Cell{}
	case l.Findings == nil:
		return text.Cell{Text: "-"}
	}
	var names []string
	c := text.Cell{}
	for _, s := range []record.Severity{record.SevError, record.SevHazard, record.SevNote} {
		for i := range record.FramingRules {
			r := &record.FramingRules[i]
			if r.Severity != s || l.Flagged[r.ID] == 0 {
				continue
			}
			if len(names) == 0 {
				c.Style = map[record.Severity]func(string) string{record.SevError: p.Red, record.SevHazard: p.Yellow}[s]
			}
			names = append(names, strings.TrimPrefix(r.ID, "framing/"))
		}
	}
	const most = 2
	if len(names) > most {
		names = append(names[:most], fmt.Sprintf("+%d", len(names)-most))
	}
	c.Text = strings.Join(names, " ") // "" says nothing of the rest, which only pitap check looks at
	return c
}

// lastCells cuts the beginning off a text that is wider than the given number of cells: of a folder the end says most.
func lastCells(s string, cells int) string {
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

// maxTail is more than what lastCells looks at of what a folder's name can be, in bytes.
const maxTail = 8 << 10
