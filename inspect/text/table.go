package text

import (
	"io"
	"strings"
)

// Column is one column of a Table. The zero value is as wide as its widest cell, text on the left, without a title.
type Column struct {
	Title string // in visible form when printed, like every cell
	Right bool   // text on the right, for figures
	Min   int    // cells; narrower columns are made as wide
	Max   int    // cells; what is wider is cut; 0: 80, but for a last column with text on the left no limit
}

// Cell is one text in a row.
type Cell struct {
	Text  string                // any bytes: it is printed in visible form
	Style func(s string) string // such as Palette.Red, called with what is printed, without the padding; may be nil
}

// gap stands between two columns.
const gap = "  "

// Table writes rows whose columns stand below each other, measured in terminal cells. Rows are kept until Flush: the
// first Flush sets the widths, and rows that come later are cut and padded to the same ones, so that a table can grow
// while it is read.
type Table struct {
	Columns []Column
	Width   int                   // cells of the terminal: no line is wider; 0: no limit
	Title   func(s string) string // style of the titles; may be nil

	rows   [][]Cell
	widths []int // nil before the first Flush
}

// Add appends a row. Cells that are missing are empty, those beyond the columns are left out. The table keeps copies
// of the texts, no longer than what it can print of them.
func (t *Table) Add(cells ...Cell) {
	row := make([]Cell, len(t.Columns))
	for i := range min(len(cells), len(row)) {
		row[i] = Cell{strings.Clone(t.cut(i, cells[i].Text)), cells[i].Style}
	}
	t.rows = append(t.rows, row)
}

// AddText is Add for cells without styles.
func (t *Table) AddText(texts ...string) {
	cells := make([]Cell, len(texts))
	for i, s := range texts {
		cells[i].Text = s
	}
	t.Add(cells...)
}

// Flush writes the rows that were added since the last call to w, before the first of all the titles, if there are
// any, and forgets them. It returns the first error of w.
func (t *Table) Flush(w io.Writer) error {
	var b strings.Builder
	if t.widths == nil {
		t.measure()
		t.titles(&b)
	}
	for i, row := range t.rows {
		t.line(&b, row)
		if b.Len() >= chunk || i == len(t.rows)-1 {
			if _, err := io.WriteString(w, b.String()); err != nil {
				return err
			}
			b.Reset()
		}
	}
	t.rows = nil
	if b.Len() > 0 { // titles without rows
		_, err := io.WriteString(w, b.String())
		return err
	}
	return nil
}

// cut returns the text of a cell of column i as far as it can be printed.
func (t *Table) cut(i int, s string) string {
	limit := t.Columns[i].Max
	if limit <= 0 && (i < len(t.Columns)-1 || t.Columns[i].Right) {
		limit = 80 // or one hostile text widens every line
	}
	switch {
	case limit > 0 && (t.Width <= 0 || limit < t.Width):
		return Cut(s, limit)
	case t.Width > 0:
		return Cut(s, t.Width)
	}
	return VisibleString(s)
}

// measure sets the widths of the columns.
func (t *Table) measure() {
	t.widths = make([]int, len(t.Columns))
	for i, c := range t.Columns {
		w := max(c.Min, Width(t.cut(i, c.Title)))
		for _, row := range t.rows {
			w = max(w, Width(row[i].Text))
		}
		t.widths[i] = w
	}
}

// titles writes the line of titles, nothing when there are none.
func (t *Table) titles(b *strings.Builder) {
	row := make([]Cell, len(t.Columns))
	any := false
	for i, c := range t.Columns {
		row[i] = Cell{c.Title, t.Title}
		any = any || c.Title != ""
	}
	if any {
		t.line(b, row)
	}
}

// line writes one row. The last column is as wide as the line allows; nothing but styles follows the last text.
func (t *Table) line(b *strings.Builder, row []Cell) {
	room, pad := t.Width, 0
	for i, c := range row {
		last := i == len(row)-1
		if i > 0 {
			pad += len(gap)
		}
		width := t.widths[i]
		if t.Width > 0 {
			left := max(room-len(gap)*min(i, 1), 0)
			if last && !t.Columns[i].Right {
				width = left
			}
			width = min(width, left)
			room = left - width
		} else if last && !t.Columns[i].Right {
			width = max(width, Width(c.Text))
		}
		s, w := cut(c.Text, width)
		before := 0
		if t.Columns[i].Right {
			before = width - w
		}
		if s != "" {
			b.WriteString(spaces(pad + before))
			if c.Style != nil {
				s = c.Style(s)
			}
			b.WriteString(s)
			pad = width - w - before
		} else {
			pad += width
		}
	}
	b.WriteByte('\n')
}
