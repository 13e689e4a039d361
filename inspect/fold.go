package inspect

import (
	"slices"

	"pitap/record"
)

// keepHead is how much of a record that stands in parts is kept by default, in bytes.
const keepHead = 64 << 10

// Row is a record, however many entries hold it, or a note.
type Row struct {
	N    int64 // number of the entry, of a record in parts that of its last
	T    int64 // when that entry ended, in nanoseconds since the start
	From record.Stream
	Note *record.Note // nil for records

	Off   int64       // of the record's first byte in its stream
	Form  record.Form // how the entries hold it; Base64 when any of its parts is base64
	Body  []byte      // the record's bytes; of one in parts the beginning
	Size  int64       // bytes of the record without its line end, as far as there are any
	EOL   string      // as in record.Entry
	Flags record.Flags

	First   int64 // number of the first entry; N unless the record stands in parts
	Open    bool  // the record had no end where the capture ended
	Broken  bool  // the rest of the record was not recorded
	Missing int64 // bytes of the stream just before it that no entry has

	Line []byte // the entry's line in the capture; nil for records in parts

	entry *record.Entry // of a whole record, to use what is known from reading it
}

// Parts tells whether the record stands in several entries, and Body may be its beginning only.
func (r *Row) Parts() bool { return r.Note == nil && r.Line == nil }

// Fold makes rows of entries: parts are held back until the record that they belong to is complete, and left out when
// an entry holds it as a whole. Of a record in parts it keeps the first Keep bytes.
type Fold struct {
	Keep int // 0: 64 KiB

	open [4]pending // by stream
	next [4]int64   // by stream: offset behind the last record or part
	row  Row
}

// pending is a record that is not complete.
type pending struct {
	Row
	head []byte
	next int64 // offset of what should come
	any  bool
}

// Add takes the next entry of a capture. It calls emit for each row that is complete; rows come in the order of their
// numbers. A row and its bytes are valid during the call. The first error of emit ends it and is returned.
func (f *Fold) Add(e *record.Entry, emit func(*Row) error) error {
	if e.Note != nil {
		return f.note(e, emit)
	}
	if err := f.giveUp(e, emit); err != nil {
		return err
	}
	p := &f.open[e.From&3]
	missing := f.missing(e)
	if !e.Part {
		p.any = false
		f.row = Row{N: e.N, T: e.T, From: e.From, Off: e.Off, Form: e.Form, Body: e.Body, Size: int64(len(e.Body)), EOL: e.EOL,
			Flags: e.Flags, First: e.N, Missing: missing, Line: e.Line, entry: e}
		return emit(&f.row)
	}
	if !p.any {
		*p = pending{Row: Row{From: e.From, Off: e.Off, Form: e.Form, First: e.N, Missing: missing}, head: p.head[:0], any: true}
	}
	p.add(e, f.Keep)
	if !e.Last {
		return nil
	}
	p.any = false
	return emit(p.done())
}

// giveUp gives up the pending record of an entry's stream if the entry does not go on with it.
func (f *Fold) giveUp(e *record.Entry, emit func(*Row) error) error {
	if p := &f.open[e.From&3]; e.Note == nil && p.any && !f.continues(p, e) {
		return f.broken(p, emit)
	}
	return nil
}

// continues tells whether an entry goes on with the pending record, or holds it as a whole.
func (f *Fold) continues(p *pending, e *record.Entry) bool {
	if e.Part {
		return e.Off == p.next || e.Off == 0
	}
	return slices.Contains(e.Supersedes, p.First) || len(e.Supersedes) > 0 && e.Off == p.Off
}

// missing counts the bytes of a stream that lie before an entry and that none has. Entries of fixtures may lack
// offsets.
func (f *Fold) missing(e *record.Entry) int64 {
	next := &f.next[e.From&3]
	n := e.Off - *next
	if e.Off == 0 || n < 0 {
		n = 0
	}
	*next = max(*next, e.Off+int64(len(e.Body)+len(e.EOL)))
	return n
}

func (f *Fold) note(e *record.Entry, emit func(*Row) error) error {
	if e.Note.Kind == "gap" {
		for i := range f.open {
			if p := &f.open[i]; p.any && e.Note.Lost[p.From.String()] > 0 {
				if err := f.broken(p, emit); err != nil {
					return err
				}
			}
		}
	}
	f.row = Row{N: e.N, T: e.T, From: e.From, Note: e.Note, Off: e.Off, First: e.N, Line: e.Line}
	return emit(&f.row)
}

// broken gives up a pending record, the rest of which is nowhere.
func (f *Fold) broken(p *pending, emit func(*Row) error) error {
	p.any = false
	p.Broken = true
	return emit(p.done())
}

// Rest calls emit for the records that are not complete, as they are where the capture ends or has come to. They stay
// pending: should the capture go on, they are given again.
func (f *Fold) Rest(emit func(*Row) error) error {
	var rest []*pending
	for i := range f.open {
		if f.open[i].any {
			rest = append(rest, &f.open[i])
		}
	}
	slices.SortFunc(rest, func(a, b *pending) int { return int(min(max(a.N-b.N, -1), 1)) })
	for _, p := range rest {
		row := *p.done()
		row.Open = true
		if err := emit(&row); err != nil {
			return err
		}
	}
	return nil
}

// add takes a part.
func (p *pending) add(e *record.Entry, keep int) {
	if keep == 0 {
		keep = keepHead
	}
	p.N, p.T = e.N, e.T
	p.Size += int64(len(e.Body))
	p.EOL = e.EOL
	p.Flags |= e.Flags
	if e.Form == record.Base64 {
		p.Form = record.Base64
	}
	p.head = append(p.head, e.Body[:min(len(e.Body), max(0, keep-len(p.head)))]...)
	p.next = e.Off + int64(len(e.Body))
}

func (p *pending) done() *Row {
	p.Body = p.head
	return &p.Row
}
