package view

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"pitap/inspect"
	"pitap/inspect/text"
	"pitap/record"
)

const (
	maxBody   = 16 << 20 // of a record that is held at once
	maxPretty = 1 << 20  // of a record that is laid out as pretty JSON at once
)

// Detail is one row in full.
type Detail struct {
	Row    Row
	Entry  *record.Entry // its bytes are the detail's own
	Body   []byte        // the record's bytes, at most 16 MiB of them
	Size   int64         // of the record in bytes
	Block  bool          // several deltas
	Joined []byte        // of a block: its text
	Tree   *Tree         // nil for what is no JSON

	store  *Store
	parts  *bodyParts // nil for a record in one entry
	pretty []Line
}

// bodyParts is where the parts of a record stand.
type bodyParts struct {
	first, last int64 // positions of the first and the last
	from        record.Stream
	off         int64 // of the record in its stream
	count       int
	found       int64 // position of the part that was looked at last
}

// Detail gives a row in full.
func (s *Store) Detail(pos int64) *Detail {
	row := *s.Row(pos)
	s.mu.Lock()
	defer s.mu.Unlock()
	d := &Detail{Row: row, store: s}
	block := row.Count > 1
	if row.Full == "tool_execution_update" && block { // the last one says all that those before it do
		_, end := s.group(pos)
		pos, block = end-1, false
	}
	e, err := s.entry(pos)
	if err != nil {
		return d
	}
	clone := *e
	d.Size = int64(len(e.Body))
	if p, ok := s.parts[pos]; ok {
		d.gather(p, pos)
	} else {
		d.Body = bytes.Clone(e.Body)
	}
	clone.Body, clone.Line = d.Body, bytes.Clone(e.Line[:min(len(e.Line), maxBody)])
	d.Entry = &clone
	if block && row.Arrow != "×" {
		d.Block = true
		start, end := s.group(pos)
		d.Joined = s.join(nil, start, end, 4<<20)
	}
	body := d.Body
	if clone.Note != nil {
		body = clone.Line
	}
	if clone.From != record.Stderr || clone.Note != nil {
		if t, ok := NewTree(body, d.Size-int64(len(d.Body))); ok {
			d.Tree = t
		}
	}
	return d
}

// gather reads the beginning of a record in parts, as far as it is held.
func (d *Detail) gather(p part, last int64) {
	s := d.store
	first, err := s.entry(p.first)
	if err != nil {
		return
	}
	d.parts = &bodyParts{first: p.first, last: last, from: first.From, off: first.Off, count: p.count, found: p.first}
	d.Size = p.bytes
	d.Body = make([]byte, 0, min(max(0, p.bytes), maxBody))
	for pos := p.first; pos <= last && len(d.Body) < maxBody; pos++ {
		e, err := s.entry(pos)
		if err != nil || e.From != d.parts.from || !e.Part {
			continue
		}
		d.Body = append(d.Body, e.Body[:min(maxBody-len(d.Body), len(e.Body))]...)
	}
}

// Bytes gives up to n bytes of the record from an offset on; fewer where it ends, or where a part can't be read.
func (d *Detail) Bytes(off int64, n int) []byte {
	if end := off + int64(n); end <= int64(len(d.Body)) || d.parts == nil {
		from := min(off, int64(len(d.Body)))
		return d.Body[from:max(from, min(int64(len(d.Body)), end))]
	}
	d.store.mu.Lock()
	defer d.store.mu.Unlock()
	var b []byte
	for len(b) < n && off < d.Size {
		part := d.store.partAt(d.parts, off)
		if len(part) == 0 {
			break
		}
		part = part[:min(len(part), n-len(b))]
		b = append(b, part...)
		off += int64(len(part))
	}
	return b
}

// partAt gives the rest of the part that holds byte off of a record; nil when it can't be read. The parts stand in the
// order of their offsets, with entries of other streams between them.
func (s *Store) partAt(p *bodyParts, off int64) []byte {
	isPart := func(pos int64) *record.Entry {
		if e, err := s.entry(pos); err == nil && e.From == p.from && e.Part {
			return e
		}
		return nil
	}
	rest := func(e *record.Entry) []byte {
		if e == nil || off < e.Off-p.off || off >= e.Off-p.off+int64(len(e.Body)) {
			return nil
		}
		return e.Body[off-(e.Off-p.off):]
	}
	if b := rest(isPart(p.found)); b != nil {
		return b
	}
	// No part before lo begins behind off, and all at hi and behind it do.
	lo, hi := p.first, p.last+1
	for lo < hi {
		mid := lo + (hi-lo)/2
		at := mid
		e := isPart(at)
		for e == nil && at+1 < hi {
			at++
			e = isPart(at)
		}
		if e == nil || e.Off > p.off+off {
			hi = mid
		} else {
			lo = at + 1
		}
	}
	for at := lo - 1; at >= p.first; at-- {
		if e := isPart(at); e != nil {
			p.found = at
			return rest(e)
		}
	}
	return nil
}

// stopWriter gathers text up to a limit.
type stopWriter struct {
	bytes.Buffer
	limit int
}

var errStop = errors.New("enough")

func (w *stopWriter) Write(p []byte) (int, error) {
	w.Buffer.Write(p)
	if w.Len() > w.limit {
		return len(p), errStop
	}
	return len(p), nil
}

// Pretty lays the record out as indented JSON, or as text when it is none.
func (d *Detail) Pretty(width int) []Line {
	if d.pretty != nil {
		return d.pretty
	}
	d.pretty = []Line{}
	if d.Entry == nil {
		return d.pretty
	}
	if d.Block {
		d.pretty = d.textLines(d.Joined, width)
		return d.pretty
	}
	body := d.Body
	if d.Entry.Note != nil {
		body = d.Entry.Line
	}
	if d.Entry.From == record.Stderr && d.Entry.Note == nil {
		d.pretty = d.textLines(body, width)
		return d.pretty
	}
	w := &stopWriter{limit: 2 * maxPretty}
	part := body[:min(len(body), maxPretty)]
	text.Pretty(w, part, text.PrettyOptions{Palette: text.Palette{Enabled: true}})
	d.pretty = coloured(w.String())
	if rest := d.Size - int64(len(part)); rest > 0 && d.Entry.Note == nil {
		d.pretty = append(d.pretty, R(Warn, fmt.Sprintf("… and %s more bytes: the tree and the raw view show them", text.Count(rest))))
	}
	return d.pretty
}

func (d *Detail) textLines(b []byte, width int) (lines []Line) {
	for raw := range strings.Lines(string(b[:min(len(b), maxPretty)])) {
		raw = strings.TrimSuffix(raw, "\n")
		if raw == "" {
			lines = append(lines, Line{})
		}
		lines = append(lines, wrapped(Plain, "", raw, width)...)
	}
	return lines
}

// RawRows is the number of lines of the raw view with so many bytes a line.
func (d *Detail) RawRows(per int) int {
	return int((d.Size + int64(len(d.eol())) + int64(per) - 1) / int64(per))
}

func (d *Detail) eol() string {
	if d.Entry == nil || d.Entry.Note != nil {
		return ""
	}
	return d.Entry.EOL
}

// RawLine is line i of the raw view: offset, bytes in hexadecimal, and text, in which each byte has a cell. ╎ stands
// where a read of the recorder ended.
func (d *Detail) RawLine(i, per int) Line {
	off := int64(i) * int64(per)
	b := d.Bytes(off, per)
	if off+int64(len(b)) >= d.Size && len(b) < per {
		b = append(bytes.Clone(b), d.eol()[max(0, off-d.Size):]...)
		b = b[:min(len(b), per)]
	}
	var l Line
	l.add(Dim, fmt.Sprintf("%08x ", off))
	cut := func(at int64) bool {
		for _, c := range d.Entry.Cuts {
			if c.At == at && at > 0 {
				return true
			}
		}
		return false
	}
	marks := make([]bool, per+1)
	for j := range b {
		role := Plain
		switch c := b[j]; {
		case c < 0x20 || c == 0x7f:
			role = Symbol
		case c >= 0x80:
			role = Number
		}
		sep := " "
		if marks[j] = cut(off + int64(j)); marks[j] {
			sep = "╎"
		}
		if per >= 16 && j%8 == 0 && j > 0 && !marks[j] {
			sep = "  "
		} else if per >= 16 && j%8 == 0 && j > 0 {
			sep = "╎ "
		}
		l.add(Warn, sep).add(role, fmt.Sprintf("%02x", b[j]))
	}
	gaps := 0
	if per >= 16 {
		gaps = (per - 1) / 8
	}
	used := 3 * len(b)
	if len(b) > 0 && per >= 16 {
		used += (len(b) - 1) / 8
	}
	l.add(Plain, strings.Repeat(" ", max(0, 3*per+gaps-used)+2))
	for j, c := range b {
		if marks[j] {
			l.add(Warn, "╎")
		}
		switch {
		case c == 0x7f:
			l.add(Symbol, "␡")
		case c < 0x20:
			l.add(Symbol, string(rune(0x2400+int(c))))
		case c < 0x80:
			l.add(Plain, string(rune(c)))
		default:
			l.add(Number, "·")
		}
	}
	return l
}

// Text of what can be looked at in the order of Tab.

// Meta says everything about the entry that is not in its bytes.
func (d *Detail) Meta(width int) (lines []Line) {
	e := d.Entry
	field := func(name, format string, args ...any) {
		l := Line{Value: fmt.Sprintf(format, args...)}
		l.add(Dim, fmt.Sprintf("%-10s", name)).add(Plain, text.VisibleString(l.Value))
		lines = append(lines, l)
	}
	if e == nil {
		return []Line{R(Bad, d.Row.Text)}
	}
	if d.Block {
		field("entries", "%d to %d, %s of them", d.Row.N, d.Row.Last, text.Count(d.Row.Count))
		field("text", "%s bytes", text.Count(int64(len(d.Joined))))
	} else {
		field("entry", "%d", d.Row.N)
	}
	field("time", "%s s after the start", text.Since(d.Row.T))
	st := d.store.State()
	if st.Header != nil && !st.Header.Start.IsZero() {
		field("", "%s", st.Header.Start.Local().Add(durationOf(d.Row.T)).Format("2006-01-02 15:04:05.000000"))
	}
	field("gap", "%s since the entry before", text.Duration(d.Row.Gap))
	if d.Row.Took >= 0 {
		field("took", "%s", text.Duration(d.Row.Took))
	}
	field("kind", "%s", d.Row.Full)
	if d.Row.ID != "" {
		field("id", "%s", d.Row.ID)
	}
	if e.Note == nil {
		off := e.Off
		if d.parts != nil {
			off = d.parts.off
		}
		field("stream", "%s, bytes %s to %s", e.From, text.Count(off), text.Count(off+d.Size))
		field("size", "%s bytes, line end %s", text.Count(d.Size), map[string]string{"": "none", "\n": "LF", "\r\n": "CR LF"}[e.EOL])
		field("kept as", "%s", [...]string{"note", "JSON", "text", "base64"}[e.Form&3])
	}
	if d.parts != nil {
		field("parts", "%d", d.parts.count)
	}
	for _, name := range e.Flags.Names() {
		field("flag", "%s", name)
	}
	if len(e.Cuts) > 0 {
		field("reads", "%d, cut at:", int64(len(e.Cuts))+1+e.MoreCuts)
		for _, c := range e.Cuts[:min(len(e.Cuts), 200)] {
			field("", "byte %s, read by %s (%s before its end)", text.Count(c.At), text.Since(c.T), text.Duration(e.T-c.T))
		}
	}
	lines = append(lines, d.store.partnerLines(d.Row.N)...)
	return append(lines, d.store.findingLines(d.Row.N, d.Row.Last, width)...)
}

func (s *Store) partnerLines(n int64) (lines []Line) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.links.update(s.sess)
	add := func(name string, l *link, to int64) {
		line := Line{N: to, Value: fmt.Sprint(to)}
		line.add(Dim, fmt.Sprintf("%-10s", name)).add(Plain, fmt.Sprintf("entry %d, the %s, after %s", to, l.what, text.Duration(l.took)))
		lines = append(lines, line)
	}
	if l := s.links.from(n); l != nil {
		add("partner", l, l.b)
	}
	if l := s.links.to(n); l != nil {
		line := Line{N: l.a}
		line.add(Dim, fmt.Sprintf("%-10s", "partner")).add(Plain, fmt.Sprintf("entry %d, of which this is the %s, %s later", l.a, l.what, text.Duration(l.took)))
		lines = append(lines, line)
	}
	return lines
}

// jqLines are the results of a query over the record.
func (d *Detail) Query(q *inspect.Query) (lines []Line) {
	d.store.mu.Lock()
	r := d.store.asRow(d.Row.Pos, d.Entry)
	d.store.mu.Unlock()
	q.First, q.Errors = nil, 0
	err := q.Run(r, func(v any) error {
		b, err := marshal(v)
		if err != nil {
			return err
		}
		w := &stopWriter{limit: maxPretty}
		text.Pretty(w, b, text.PrettyOptions{Palette: text.Palette{Enabled: true}})
		lines = append(lines, coloured(w.String())...)
		if len(lines) > 20_000 {
			return errStop
		}
		return nil
	})
	if err == nil && len(q.First) > 0 {
		err = q.First[0]
	}
	if err != nil {
		lines = append(lines, R(Bad, text.VisibleString(err.Error())))
	}
	return lines
}
