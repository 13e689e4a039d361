package scan

import "bytes"

// maxSpans is how many members Spans holds: records of the protocol have fewer.
const maxSpans = 20

// Spans tells where the members of a record's outermost object are, as Scan saw them in passing. It is good for the bytes
// that were scanned; the zero value, and that of what is no object, has no members.
type Spans struct {
	List []Span
	More bool // the object has more members than List holds

	open bool // the value of the last one goes on
}

// Span is one member. Offsets are those of the bytes that were scanned.
type Span struct {
	Key, KeyEnd int // the key as it is written, without its quotes
	Start, End  int // the value
}

// ScanMembers is Scan, and notes in m where the members of the object are, up to where JSON ends. m may be used again and
// again.
func ScanMembers(b []byte, m *Spans) Result {
	m.List, m.More, m.open = m.List[:0], false, false
	s := Scanner{spans: m}
	s.Write(b)
	if n := len(m.List); n > 0 && m.List[n-1].End == 0 { // JSON ended within it
		m.List = m.List[:n-1]
	}
	return s.Result()
}

// Find returns the value of the last member with that name, which is the one that readers of JSON take, and nil when
// there is none. b is what was scanned. Members that List does not hold are looked for.
func (m *Spans) Find(b []byte, name string) (value []byte) {
	for i := len(m.List) - 1; i >= 0; i-- {
		s := &m.List[i]
		if key := b[s.Key:s.KeyEnd]; string(key) == name || len(key) > len(name) && isEscaped(key, name) {
			value = b[s.Start:s.End]
			break
		}
	}
	if m.More {
		return m.findMore(b, name)
	}
	return value
}

// isEscaped tells whether the key is another way to write name.
func isEscaped(key []byte, name string) bool {
	if bytes.IndexByte(key, '\\') < 0 {
		return false
	}
	m := Member{Key: key}
	return m.Is(name)
}

func (m *Spans) findMore(b []byte, name string) (value []byte) {
	for ms := MembersOf(b); ms.Next(); {
		if ms.Is(name) {
			value = b[ms.Start:ms.End]
		}
	}
	return value
}

// key notes where the key of a member begins.
func (m *Spans) key(at int) {
	if len(m.List) == maxSpans {
		m.More = true
		return
	}
	m.List = append(m.List, Span{Key: at})
}

// keyEnd notes where it ends.
func (m *Spans) keyEnd(at int) {
	if !m.More {
		m.List[len(m.List)-1].KeyEnd = at
	}
}

// value notes where the value begins.
func (m *Spans) value(at int) {
	if !m.More {
		m.List[len(m.List)-1].Start, m.open = at, true
	}
}

// valueEnd notes where it ends. It may be called once more after that.
func (m *Spans) valueEnd(at int) {
	if m.open {
		m.List[len(m.List)-1].End, m.open = at, false
	}
}

// NewScanner returns a Scanner that notes in m where the members of the record's outermost object are; offsets are those
// of the record. A key or a value that goes on has no end yet (0).
func NewScanner(m *Spans) *Scanner {
	*m = Spans{}
	return &Scanner{spans: m}
}
