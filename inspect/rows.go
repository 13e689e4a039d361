package inspect

import (
	"io"
	"strconv"
	"strings"

	"pitap/inspect/text"
	"pitap/record"
)

// rowWriter writes rows as lines of text whose columns stand below each other. The first rows set the widths.
type rowWriter struct {
	w       io.Writer
	palette text.Palette
	width   int // of the terminal; 0: nothing is cut
	titles  bool

	first  []rowText // rows that wait for the widths
	widths [colSummary]int
	set    bool
	last   int64 // time of the row before
	any    bool
	buf    strings.Builder
}

// The columns of a row.
const (
	colN = iota
	colTime
	colGap
	colArrow
	colKind
	colID
	colSize
	colSummary
)

var (
	columnTitles = [colSummary]string{"#", "time", "gap", "", "kind", "id", "size"}
	columnRight  = [colSummary]bool{colN: true, colTime: true, colGap: true, colSize: true}
	columnMin    = [colSummary]int{3, 8, 7, 1, 13, 0, 4}
)

// rowText is a row as text.
type rowText struct {
	cells   [colSummary]string
	flags   string
	summary string
	from    record.Stream
	note    bool
	gap     int64
	tone    Tone
}

// measured is how many rows set the widths.
const measured = 200

// maxKind is how wide a kind may be, in cells: kinds come from the session, and rows are kept.
const maxKind = 80

func (w *rowWriter) add(r *Row, v *Seen, summary []byte, tone Tone) error {
	t := rowText{summary: string(summary), from: r.From, note: r.Note != nil, tone: tone}
	t.cells[colN] = strconv.FormatInt(r.N, 10)
	t.cells[colTime] = text.Since(r.T)
	if w.any {
		if t.gap = max(0, r.T-w.last); t.gap >= 1000 { // some notes stand behind what came after them
			t.cells[colGap] = "+" + text.Duration(t.gap)
		}
	}
	w.any, w.last = true, max(w.last, r.T)
	t.cells[colArrow] = arrow(r)
	t.cells[colKind] = text.Cut(v.Short, maxKind)
	t.cells[colID] = v.ID
	if r.Note == nil {
		t.cells[colSize] = text.Size(r.Size)
	}
	t.flags = flagWords(v.Flags)
	if w.set {
		return w.write(&t)
	}
	if w.first = append(w.first, t); len(w.first) >= measured {
		return w.flush()
	}
	return nil
}

func arrow(r *Row) string {
	switch {
	case r.Note != nil:
		return "·"
	case r.From == record.Client:
		return "→"
	case r.From == record.Agent:
		return "←"
	}
	return "!"
}

// flagWords names what was remarkable about a record's framing.
func flagWords(f record.Flags) string {
	if f == 0 {
		return ""
	}
	names := f.Names()
	short := make([]string, len(names))
	for i, name := range names {
		short[i] = shortRule(name)
	}
	return strings.Join(short, " ")
}

// shortRule is a rule's id without the part that all of its kind share.
func shortRule(id string) string { return id[strings.IndexByte(id, '/')+1:] }

// flush writes the rows that were kept; it sets the widths.
func (w *rowWriter) flush() error {
	if !w.set && len(w.first) == 0 {
		return nil
	}
	if !w.set {
		w.measure()
		if w.titles {
			if err := w.title(); err != nil {
				return err
			}
		}
	}
	for i := range w.first {
		if err := w.write(&w.first[i]); err != nil {
			return err
		}
	}
	w.first = nil
	return nil
}

func (w *rowWriter) measure() {
	w.set = true
	w.widths = columnMin
	for i := range w.first {
		for c, s := range w.first[i].cells {
			w.widths[c] = max(w.widths[c], text.Width(s))
		}
	}
	limit := func(c, cells int) { w.widths[c] = min(w.widths[c], cells) }
	switch {
	case w.width > 0 && w.width < 60:
		limit(colKind, 14)
		w.widths[colID], w.widths[colSize], w.widths[colGap] = 0, 0, 0
		return
	case w.width == 0: // nothing is cut: what is wider moves the rest of its line
		limit(colKind, 32)
		limit(colID, 12)
	case w.width < 100: // what matters is the summary
		limit(colKind, 18)
		limit(colID, 8)
		w.widths[colSize] = 0
		if w.width < 90 {
			w.widths[colGap] = 0
		}
	case w.width < 160:
		limit(colKind, 22)
		limit(colID, 10)
	default:
		limit(colKind, 32)
		limit(colID, 36)
	}
	w.widths[colID] = max(w.widths[colID], 6)
}

func (w *rowWriter) title() error {
	t := rowText{cells: columnTitles}
	w.buf.Reset()
	w.layout(&t, func(_ int, s string) string { return w.palette.Dim(s) })
	w.buf.WriteByte('\n')
	_, err := io.WriteString(w.w, w.buf.String())
	return err
}

func (w *rowWriter) write(t *rowText) error {
	w.buf.Reset()
	used := w.layout(t, func(c int, s string) string { return w.colour(t, c, s) })
	w.tail(t, used)
	w.buf.WriteByte('\n')
	_, err := io.WriteString(w.w, w.buf.String())
	return err
}

// layout writes the columns before the summary and returns their width in cells.
func (w *rowWriter) layout(t *rowText, colour func(c int, s string) string) (used int) {
	pad := 0
	for c, s := range t.cells {
		width := w.widths[c]
		if width == 0 {
			continue
		}
		if w.width > 0 {
			s = text.Cut(s, max(0, min(width, w.width-used-pad)))
		} else {
			s = text.VisibleString(s)
		}
		cells := text.Width(s)
		before := 0
		if columnRight[c] {
			before = max(0, width-cells)
			if w.width > 0 {
				before = min(before, max(0, w.width-used-pad-cells))
			}
		}
		if s != "" {
			writeSpaces(&w.buf, pad+before)
			w.buf.WriteString(colour(c, s))
			used += pad + before + cells
			pad = max(0, width-cells-before)
		} else {
			pad += width
		}
		pad += 2
		if c == colArrow {
			pad--
		}
	}
	if (t.summary != "" || t.flags != "") && (w.width == 0 || used+pad < w.width) {
		writeSpaces(&w.buf, pad)
		used += pad
	}
	return used
}

// tail writes the flags and the summary.
func (w *rowWriter) tail(t *rowText, used int) {
	flags, summary := t.flags, t.summary
	if flags != "" {
		flags = "[" + flags + "]"
	}
	if w.width > 0 {
		flags = text.Cut(flags, max(0, w.width-used))
		if used += text.Width(flags); flags != "" {
			used++
		}
		summary = text.Cut(summary, max(0, w.width-used))
	} else {
		summary = text.VisibleString(summary)
	}
	w.buf.WriteString(w.palette.Yellow(flags))
	if flags != "" && summary != "" {
		w.buf.WriteByte(' ')
	}
	switch t.tone {
	case Bad:
		summary = w.palette.Red(summary)
	case Good:
		summary = w.palette.Green(summary)
	case Quiet:
		summary = w.palette.Dim(summary)
	}
	w.buf.WriteString(summary)
}

// colour gives a column its colour.
func (w *rowWriter) colour(t *rowText, c int, s string) string {
	p := w.palette
	switch c {
	case colN, colSize, colID:
		return p.Dim(s)
	case colGap:
		if t.gap >= 1e9 {
			return p.Yellow(s)
		}
		return p.Dim(s)
	case colArrow, colKind:
		switch {
		case t.note:
			return p.Magenta(s)
		case t.from == record.Client:
			return p.Cyan(s)
		case t.from == record.Stderr:
			return p.Red(s)
		}
	}
	return s
}

func writeSpaces(b *strings.Builder, n int) {
	for range n {
		b.WriteByte(' ')
	}
}
