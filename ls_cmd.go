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

func listTable(found []record.Found, out *output) error {
	if len(found) == 0 {
		return nil
	}
	p := out.palette
	table := text.Table{Width: out.width, Title: p.Dim, Columns: []text.Column{{Title: "name", Max: 40}, {Title: "state"}, {Title: "start"},
		{Title: "duration", Right: true}, {Title: "agent", Max: 20}, {Title: "client", Max: 20}, {Title: "entries", Right: true},
		{Title: "size", Right: true}, {Title: "findings"}, {Title: "folder"}, {Title: "label"}}}
	listed := 0
	err := inspect.List(found, func(l *inspect.Listed) error {
		if out.width > 0 {
			l.Folder = lastCells(l.Folder, 30)
		}
		table.Add(cells(l, p)...)
		listed++
		out.progress.at("looked at captures", int64(listed), int64(len(found)))
		return nil
	})
	if err != nil {
		return err
	}
	return table.Flush(out)
}

// cells is a capture's row.
func cells(l *inspect.Listed, p text.Palette) []text.Cell {
	state := text.Cell{Text: string(l.Condition)}
	switch l.Condition {
	case inspect.CondWhole:
		state.Text = ""
	case inspect.CondLive:
		state.Style = p.Green
	case inspect.CondCut:
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
	if l.Condition == inspect.CondLive {
		duration = text.Duration(int64(time.Since(l.Start)))
	}
	agent := strings.TrimSpace(l.Agent + " " + l.Version)
	return append(row, text.Cell{Text: duration}, text.Cell{Text: agent}, text.Cell{Text: orDash(l.Client)}, text.Cell{Text: entries},
		text.Cell{Text: text.Size(l.Size)}, findingsCell(l, p), text.Cell{Text: l.Folder}, text.Cell{Text: l.Label})
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// findingsCell counts a capture's findings.
func findingsCell(l *inspect.Listed, p text.Palette) text.Cell {
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

// lastCells cuts the beginning off a text that is wider than the given number of cells: of a folder the end says most.
func lastCells(s string, cells int) string {
	s = visible(s)
	cut := false
	for text.Width(s) > cells && len(s) > 0 {
		_, n := utf8.DecodeRuneInString(s)
		s, cut = s[n:], true
	}
	if cut {
		s = text.Ellipsis + s
	}
	return s
}
