package scan

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// Member is one member of an object. Offsets are those of the bytes that MembersOf was given.
type Member struct {
	Key        []byte // the key as it is written, without its quotes; a part of those bytes. See Is.
	Raw        int    // behind the colon
	Start, End int    // the value; between Raw and Start is white space
	Result     Result // the verdict on the value; its ErrAt counts from the start of those bytes
}

// Is tells whether the member's key is name, however it is written.
func (m *Member) Is(name string) bool {
	if string(m.Key) == name {
		return true
	}
	if len(m.Key) <= len(name) || bytes.IndexByte(m.Key, '\\') < 0 {
		return false // an escape is longer than what it stands for
	}
	var buf [64]byte
	key, _ := Unescape(buf[:0], m.Key)
	return string(key) == name
}

// Members walks over the members of an object in the order in which they are written, duplicates included.
//
//	ms := scan.MembersOf(b)
//	for ms.Next() {
//		if ms.Is("type") { ... b[ms.Start:ms.End] ... }
//	}
//	if ms.ObjectEnd() < 0 { ... } // b did not begin with a whole object
//
// It takes what Scan takes, member by member: what has been given out is JSON even where the object turns out to have
// no end.
type Members struct {
	Member
	b     []byte
	pos   int // where to go on
	first bool
	end   int // -1 until the closing bracket was seen
}

// MembersOf begins a walk over the members of the object that b begins with, after white space if need be. What
// follows the object in b is not looked at. b must not change during the walk.
func MembersOf(b []byte) Members {
	m := Members{b: b, end: -1, pos: len(b)}
	if i := skipBlank(b, 0); i < len(b) && b[i] == '{' {
		m.pos = i + 1
		m.first = true
	}
	return m
}

// Next steps to the next member, whose fields m then shows. It returns false behind the last one, and where the bytes
// are not JSON.
func (m *Members) Next() bool {
	i := skipBlank(m.b, m.pos)
	m.pos = len(m.b) // unless all goes well
	if m.end >= 0 || i >= len(m.b) {
		return false
	}
	if m.b[i] == '}' {
		m.end = i + 1
		return false
	}
	if !m.first {
		if m.b[i] != ',' {
			return false
		}
		i = skipBlank(m.b, i+1)
	}
	m.first = false
	if i >= len(m.b) || m.b[i] != '"' {
		return false
	}
	end := ValueEnd(m.b, i)
	if end < 0 {
		return false
	}
	m.Key = m.b[i+1 : end-1]
	i = skipBlank(m.b, end)
	if i >= len(m.b) || m.b[i] != ':' {
		return false
	}
	return m.value(i + 1)
}

// value takes the member's value, the colon of which ends at b[raw].
func (m *Members) value(raw int) bool {
	m.Raw = raw
	m.Start = skipBlank(m.b, raw)
	m.Result = Result{Valid: true, JSON: true, ErrAt: -1, End: EndWhole, JSONErrAt: -1, UTF8ErrAt: -1}
	if m.End = shortString(m.b, m.Start); m.End >= 0 {
		m.Result.Kind = KindString
	} else if m.End = shortNumber(m.b, m.Start); m.End >= 0 {
		m.Result.Kind = KindNumber
	} else if m.End, m.Result = ScanValue(m.b, m.Start); m.End < 0 {
		return false
	}
	m.pos = m.End
	return true
}

// ObjectEnd returns the offset behind the object, -1 when Next has not come there or there is no whole object.
func (m *Members) ObjectEnd() int { return m.end }

// skipBlank returns the offset of the first byte from b[i] on that is not white space.
func skipBlank(b []byte, i int) int {
	for i < len(b) && blank[b[i]] {
		i++
	}
	return i
}

// shortString returns the end of the string at b[i] when all of it is unremarkable ASCII, else -1.
func shortString(b []byte, i int) int {
	if i >= len(b) || b[i] != '"' {
		return -1
	}
	i++
	for ; i+8 <= len(b); i += 8 {
		if w := stops(binary.LittleEndian.Uint64(b[i:])); w != 0 {
			i += bits.TrailingZeros64(w) >> 3
			if b[i] != '"' {
				return -1
			}
			return i + 1
		}
	}
	for ; i < len(b) && b[i]-0x20 < 0x7f-0x20 && b[i] != '\\'; i++ {
		if b[i] == '"' {
			return i + 1
		}
	}
	return -1
}

// shortNumber returns the end of the number at b[i] when it is a plain one, a comma or bracket behind it, else -1.
func shortNumber(b []byte, i int) int {
	if i >= len(b) || b[i]-'1' > 8 {
		return -1
	}
	for ; i < len(b); i++ {
		switch c := b[i]; {
		case c-'0' <= 9:
		case c == ',' || c == '}':
			return i
		default:
			return -1
		}
	}
	return -1
}
