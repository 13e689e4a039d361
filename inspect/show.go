package inspect

import (
	"errors"
	"io"

	"github.com/itchyny/gojq"

	"pitap/inspect/text"
	"pitap/record"
)

// Form says what Show writes.
type Form uint8

const (
	Lines   Form = iota // a line of text a row
	JSON                // the lines of the entries, as they stand in the capture
	Results             // what a Query gives, a line of JSON each
)

// ShowOptions say what Show writes. The zero value is one line of plain text a row.
type ShowOptions struct {
	Filter  Filter
	Form    Form
	Query   *Query // for Results
	Strings bool   // Results: strings are written as they are, not as JSON
	Pretty  bool   // Lines: the bodies below them; else JSON over several lines

	Terminal bool // the output is a terminal: whatever could act on it is made visible
	Width    int  // of the terminal in cells: lines are cut; 0: no limit
	Palette  text.Palette
}

// ErrDone is returned by Show.Entry when nothing that could follow would be shown.
var ErrDone = errors.New("nothing more to show")

// Show writes the entries of one capture that are asked for.
type Show struct {
	Shown int64 // rows that were asked for

	w    io.Writer
	opt  ShowOptions
	fold Fold
	sum  Summarizer
	rows rowWriter

	parts [4]parts // by stream
	told  [4]int64 // by stream: how long half a record was when it was shown
	buf   []byte
}

// parts is what is kept of the parts of a pending record.
type parts struct {
	grep    grepper
	lines   [][]byte // JSON: the lines of its entries, which a whole record may yet supersede
	size    int      // bytes of the record in lines
	writing bool     // JSON: the record is shown, and too long to be superseded
}

// maxHeld is more than a record may have that is written again as a whole, in bytes.
const maxHeld = 16<<20 + 1

// NewShow returns a Show that writes to w. Lines are kept at first, to align them: call Flush.
func NewShow(w io.Writer, opt ShowOptions) *Show {
	s := &Show{w: w, opt: opt}
	s.rows = rowWriter{w: w, palette: opt.Palette, width: opt.Width, titles: opt.Terminal}
	if opt.Pretty {
		s.fold.Keep = 1 << 20
	}
	if opt.Form == Results {
		s.fold.Keep = maxQuery
	}
	return s
}

// Entry takes the next entry of the capture. It returns ErrDone when there is no need for more.
func (s *Show) Entry(e *record.Entry) error {
	err := s.fold.giveUp(e, s.row) // before anything is kept of the new record
	if err == nil && e.Part {
		err = s.part(e)
	}
	if err == nil {
		err = s.fold.Add(e, s.row)
	}
	if errors.Is(err, errHalt) {
		return ErrDone
	}
	if until := s.opt.Filter.Until; err == nil && until != nil && e.Note == nil && !e.Part && until.passed(e.N, e.T) {
		return ErrDone
	}
	return err
}

// part looks at a part before it is folded.
func (s *Show) part(e *record.Entry) error {
	p := &s.parts[e.From&3]
	if re := s.opt.Filter.Grep; re != nil {
		p.grep.part(re, e.Body)
	}
	if s.opt.Form != JSON {
		return nil
	}
	if p.writing {
		return s.json(e.Line)
	}
	p.lines = append(p.lines, append([]byte(nil), e.Line...))
	if p.size += len(e.Body); p.size <= maxHeld {
		return nil
	}
	// No record will supersede so many parts. What is known of it now decides.
	row := *s.fold.open[e.From&3].done()
	row.Open = true
	p.writing = s.asked(&row, s.sum.Look(&row))
	return s.held(p, p.writing)
}

// held writes or drops the lines that were kept.
func (s *Show) held(p *parts, write bool) error {
	for _, l := range p.lines {
		if !write {
			break
		}
		if err := s.json(l); err != nil {
			return err
		}
	}
	p.lines, p.size = nil, 0
	return nil
}

// asked tells whether a row is to be shown.
func (s *Show) asked(r *Row, v *Seen) bool {
	f := &s.opt.Filter
	if !f.match(r, v) {
		return false
	}
	switch {
	case f.Grep == nil:
		return true
	case r.Note != nil:
		return false
	case r.Parts():
		return s.parts[r.From&3].grep.found
	}
	return f.Grep.Match(r.Body)
}

// row takes a row that is complete.
func (s *Show) row(r *Row) error {
	v := s.sum.Look(r)
	asked := s.asked(r, v)
	if asked {
		s.Shown++
	}
	var err error
	switch {
	case s.opt.Form == JSON && r.Parts():
		err = s.held(&s.parts[r.From&3], asked)
	case !asked:
	case s.opt.Form == JSON:
		err = s.json(r.Line)
	case s.opt.Form == Results:
		err = s.opt.Query.Run(r, s.result)
	default:
		err = s.line(r, v)
	}
	if r.Note == nil && !r.Open {
		p := &s.parts[r.From&3]
		p.grep.reset()
		p.lines, p.size, p.writing = nil, 0, false
		s.told[r.From&3] = 0
	}
	return err
}

// json writes a line of JSON.
func (s *Show) json(line []byte) error {
	if s.opt.Pretty {
		return text.Pretty(s.w, line, text.PrettyOptions{Palette: s.opt.Palette})
	}
	s.buf = s.buf[:0]
	if s.opt.Terminal {
		s.buf = text.Visible(s.buf, line)
	} else {
		s.buf = append(s.buf, line...)
	}
	if cap(s.buf) > 4<<20 {
		defer func() { s.buf = nil }()
	}
	s.buf = append(s.buf, '\n')
	_, err := s.w.Write(s.buf)
	return err
}

// result writes what a query gave.
func (s *Show) result(v any) error {
	if str, ok := v.(string); ok && s.opt.Strings {
		if s.opt.Terminal {
			str = text.VisibleString(str)
		}
		_, err := io.WriteString(s.w, str+"\n")
		return err
	}
	b, err := gojq.Marshal(v)
	if err != nil {
		return err
	}
	return s.json(b)
}

// line writes a row as text.
func (s *Show) line(r *Row, v *Seen) error {
	limit := 4 << 10
	if s.opt.Width > 0 {
		limit = 4*s.opt.Width + 64
	}
	summary, tone := s.sum.Summary(r, v, limit)
	if err := s.rows.add(r, v, summary, tone); err != nil || !s.opt.Pretty {
		return err
	}
	if err := s.rows.flush(); err != nil {
		return err
	}
	body := r.Body
	if r.Note != nil {
		body = r.Line
	}
	opt := text.PrettyOptions{Palette: s.opt.Palette, Prefix: "    "}
	if err := text.Pretty(s.w, body, opt); err != nil {
		return err
	}
	if more := r.Size - int64(len(body)); r.Parts() && more > 0 {
		_, err := io.WriteString(s.w, "    "+text.Ellipsis+" "+text.Count(more)+" more bytes; pitap extract gives them all\n")
		return err
	}
	return nil
}

// Flush writes lines that were kept to be aligned. It does not flush the writer.
func (s *Show) Flush() error { return s.rows.flush() }

// Pending shows the records that are not complete, but none that was shown already at its present length. It is to be
// called when the capture ends, and may be when nothing has come for a while.
func (s *Show) Pending() error {
	if s.opt.Form == Results {
		return nil
	}
	return s.fold.Rest(func(r *Row) error {
		if s.told[r.From&3] == r.Size && r.Size > 0 {
			return nil
		}
		s.told[r.From&3] = r.Size
		v := s.sum.Look(r)
		asked := s.asked(r, v)
		if asked {
			s.Shown++
		}
		switch {
		case s.opt.Form == JSON:
			return s.held(&s.parts[r.From&3], asked)
		case asked:
			return s.line(r, v)
		}
		return nil
	})
}
