package record

import (
	"bytes"

	"pitap/record/scan"
)

// alike tells that a record is, but for one string, the same as others before it.
type alike struct {
	id          int64 // of what they have in common; 0: nothing
	start, text int32 // of the string: of its text, and where that ends
}

// Alike tells of a record that was read from a capture whether it is, byte for byte but for the text of one string, like
// others: those that have the same id, which is not 0. text is what stands in the string, as it is written, without the
// quotes.
func (e *Entry) Alike() (id int64, text []byte) {
	if e.same.id == 0 {
		return 0, nil
	}
	return e.same.id, e.Body[e.same.start:e.same.text]
}

var deltaKey = []byte(`"delta":"`)

// scan is scan.ScanMembers for msg. The deltas of a stream, of which there are very many, are mostly like each other.
func (m *members) scan(b []byte) scan.Result {
	if r, id := m.alike.Match(b, m.spans); id != 0 {
		m.same = alikeAt(m.alike, b)
		return r
	}
	r := scan.ScanMembers(b, m.spans)
	if !m.alike.Wanted() {
		return r
	}
	// Within a string the quotes of this would be escaped, so it is a member.
	if i := bytes.Index(b[:min(len(b), 512)], deltaKey); i >= 0 && r.Valid {
		text := i + len(deltaKey)
		before, _ := m.alike.ID()
		m.alike.Learn(b, r, m.spans, text, scan.ValueEnd(b, text-1)-1)
		if id, _ := m.alike.ID(); id != before {
			m.same = alikeAt(m.alike, b)
		}
	}
	return r
}

func alikeAt(a *scan.Alike, b []byte) alike {
	id, text := a.ID()
	return alike{id, int32(text), int32(text + len(b) - a.Size())}
}
