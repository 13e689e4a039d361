package scan

import "bytes"

// Alike recognizes records that differ from one that was seen before in the text of one string alone, as the deltas of a
// stream do. It compares bytes, which is much quicker than to scan them. The zero value knows none.
type Alike struct {
	id         int64
	head, tail []byte // what stands before the text, the quote included, and what stands behind it
	result     Result
	spans      []Span
	vain       int // records since one was recognized
}

// maxAlike is the size of records that are learned, in bytes.
const maxAlike = 8 << 10

// Learn takes a record of which r and m are what ScanMembers said, and in which text is a place in a string, from its
// first byte to the closing quote: records like this one are recognized from now on.
func (a *Alike) Learn(b []byte, r Result, m *Spans, text, quote int) {
	if len(b) > maxAlike || !r.Valid || r.Marks&^Escaped != 0 || m.More || text <= 0 || quote < text || quote >= len(b) {
		return
	}
	if Scan(b[text-1:quote+1]).Marks != r.Marks { // the marks must be those of the text
		return
	}
	a.id++
	a.head, a.tail = append(a.head[:0], b[:text]...), append(a.tail[:0], b[quote:]...)
	a.result, a.result.Marks = r, 0
	a.spans = append(a.spans[:0], m.List...)
	for i := range a.spans { // as if there was no text
		a.spans[i].move(text, text-quote)
	}
}

// move moves what of the member lies behind a place.
func (s *Span) move(place, by int) {
	for _, at := range [...]*int{&s.Key, &s.KeyEnd, &s.Start, &s.End} {
		if *at > place {
			*at += by
		}
	}
}

// Match does what ScanMembers does, for a record that is like the one that was learned. id tells which one that was; it is
// 0, and nothing was done, for other records.
func (a *Alike) Match(b []byte, m *Spans) (r Result, id int64) {
	quote := len(b) - len(a.tail)
	if a.id == 0 || quote < len(a.head) || !bytes.HasPrefix(b, a.head) || !bytes.HasSuffix(b, a.tail) {
		return r, 0
	}
	r = a.result
	if end := shortString(b, len(a.head)-1); end != quote+1 {
		end, text := ScanValue(b, len(a.head)-1)
		if end != quote+1 || !text.Valid || text.Marks&^Escaped != 0 {
			return r, 0
		}
		r.Marks = text.Marks
	}
	a.vain = 0
	m.List, m.More = append(m.List[:0], a.spans...), false
	for i := range m.List {
		m.List[i].move(len(a.head), quote-len(a.head))
	}
	return r, a.id
}

// ID returns the number of the record that was learned last, 0 when there was none, and where its text begins.
func (a *Alike) ID() (id int64, text int) { return a.id, len(a.head) }

// Size is the size of a record that was learned last, without its text.
func (a *Alike) Size() int { return len(a.head) + len(a.tail) }

// Wanted tells whether it is worth while to learn one more record. It is to be asked for each that was not recognized:
// when many in a row were learned in vain, since records differ in more than a text, only some are wanted.
func (a *Alike) Wanted() bool {
	a.vain++
	return a.vain <= 8 || a.vain%64 == 0
}
