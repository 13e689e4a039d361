package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"pitap/inspect"
	"pitap/inspect/text"
	"pitap/record"
)

func runLs(t *tool, args []string) error {
	f := t.flags("ls")
	dir := f.String("dir", "", "list the captures in the folder `DIR`")
	asJSON := f.Bool("json", false, "write an object for each capture, one a line")
	color := colorFlag(f)
	if done, err := t.parse(f, args); done || err != nil {
		return err
	}
	if f.NArg() > 0 {
		return usageError("ls: it lists a folder: pitap ls --dir %s", f.Arg(0))
	}
	out, err := t.output(*color)
	if err != nil {
		return err
	}
	found, err := t.list(*dir)
	if err != nil {
		return err
	}
	if *asJSON {
		err = listJSON(found, out)
	} else {
		err = listTable(found, out)
	}
	if err != nil {
		return err
	}
	return out.Flush()
}

// list gives the captures of a folder, of the default one for "". That there are none yet is said, and no error.
func (t *tool) list(dir string) ([]record.Found, error) {
	dir, err := t.folder(dir)
	if err != nil {
		return nil, err
	}
	found, err := record.List(dir)
	if err == nil && len(found) == 0 {
		t.complain(noCaptures(dir))
	}
	return found, err
}

func listJSON(found []record.Found, out *output) error {
	return inspect.List(found, func(l *inspect.Listed) error {
		b, err := json.Marshal(l)
		if err != nil {
			return err
		}
		if out.terminal {
			b = text.Visible(nil, b)
		}
		_, err = out.Write(append(b, '\n'))
		return err
	})
}

// lsColumn is a column of the list.
type lsColumn struct {
	text.Column
	drop int // the first to go on a narrow terminal has the highest; 0: it stays
	cell func(l *inspect.Listed, p text.Palette) text.Cell
}

func lsColumns(narrow bool) []lsColumn {
	plain := func(f func(l *inspect.Listed) string) func(*inspect.Listed, text.Palette) text.Cell {
		return func(l *inspect.Listed, _ text.Palette) text.Cell { return text.Cell{Text: f(l)} }
	}
	// A file that is no capture tells nothing but its name and size.
	known := func(f func(l *inspect.Listed) string) func(*inspect.Listed, text.Palette) text.Cell {
		return plain(func(l *inspect.Listed) string {
			if l.Error != "" {
				return ""
			}
			return f(l)
		})
	}
	right := func(title string) text.Column { return text.Column{Title: title, Right: true} }
	return []lsColumn{
		{text.Column{Title: "name", Max: 40}, 0, func(l *inspect.Listed, p text.Palette) text.Cell { return text.Cell{Text: l.Name, Style: p.Bold} }},
		{text.Column{Title: "state"}, 0, stateCell},
		{text.Column{Title: "start"}, 0, plain(func(l *inspect.Listed) string { return startWords(l.Start.Local(), time.Now(), narrow) })},
		{right("duration"), 6, known(durationWords)},
		{text.Column{Title: "agent", Max: 20}, 1, known(func(l *inspect.Listed) string { return strings.TrimSpace(l.Agent + " " + l.Version) })},
		{text.Column{Title: "client", Max: 20}, 7, known(func(l *inspect.Listed) string { return orDash(l.Client) })},
		{right("entries"), 3, known(func(l *inspect.Listed) string {
			if l.Entries == 0 {
				return "-"
			}
			return text.Count(l.Entries)
		})},
		{right("size"), 4, plain(func(l *inspect.Listed) string { return text.Size(l.Size) })},
		{text.Column{Title: "framing", Max: 34}, 2, framingCell},
		{text.Column{Title: "label", Max: 40}, 0, plain(func(l *inspect.Listed) string { return l.Label })},
		{text.Column{Title: "folder"}, 5, plain(func(l *inspect.Listed) string { return l.Folder })},
	}
}

// leastFolder is how many cells of a folder are worth to be shown: of a folder the end says most.
const leastFolder = 12

func listTable(found []record.Found, out *output) error {
	if len(found) == 0 {
		return nil
	}
	columns := lsColumns(out.width > 0 && out.width < 120)
	rows := make([][]text.Cell, 0, len(found))
	err := inspect.List(found, func(l *inspect.Listed) error {
		row := make([]text.Cell, len(columns))
		for i, c := range columns {
			row[i] = c.cell(l, out.palette)
		}
		rows = append(rows, row)
		out.progress.at("looked at captures", int64(len(rows)), int64(len(found)))
		return nil
	})
	if err != nil {
		return err
	}
	shown, room := fitting(columns, rows, out.width)
	table := text.Table{Width: out.width, Title: out.palette.Dim}
	for _, i := range shown {
		table.Columns = append(table.Columns, columns[i].Column)
	}
	for _, row := range rows {
		cells := make([]text.Cell, 0, len(shown))
		for _, i := range shown {
			c := row[i]
			if i == len(columns)-1 && out.width > 0 {
				c.Text = lastCells(c.Text, room)
			}
			cells = append(cells, c)
		}
		table.Add(cells...)
	}
	return table.Flush(out)
}

// fitting chooses the columns that a line of so many cells has room for, and says how many cells are left for the folder,
// the last of them. A width of 0 has room for all.
func fitting(columns []lsColumn, rows [][]text.Cell, width int) (shown []int, room int) {
	widths := make([]int, len(columns))
	for i, c := range columns {
		for _, row := range rows {
			w := text.Width(visible(row[i].Text))
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

func stateCell(l *inspect.Listed, p text.Palette) text.Cell {
	state := text.Cell{Text: string(l.Condition)}
	switch l.Condition {
	case inspect.CondWhole:
		state.Text = ""
	case inspect.CondFixture:
	case inspect.CondLive:
		state.Style = p.Green
	case inspect.CondCut:
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

func durationWords(l *inspect.Listed) string {
	switch {
	case l.Condition == inspect.CondLive:
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
func framingCell(l *inspect.Listed, p text.Palette) text.Cell {
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
	if c.Text = strings.Join(names, " "); c.Text == "" {
		c = text.Cell{Text: "fine", Style: p.Dim}
	}
	return c
}

// lastCells cuts the beginning off a text that is wider than the given number of cells: of a folder the end says most.
func lastCells(s string, cells int) string {
	s = visible(s)
	if text.Width(s) <= cells {
		return s
	}
	for text.Width(s) > cells-1 && len(s) > 0 {
		_, n := utf8.DecodeRuneInString(s)
		s = s[n:]
	}
	return text.Ellipsis + s
}
