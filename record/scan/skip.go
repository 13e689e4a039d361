package scan

import "bytes"

// Skip returns the offset behind the value that begins at b[pos], which is known to be JSON: it looks for the end and at
// nothing else, which is much quicker than ValueEnd. Of other bytes it returns some offset, len(b) at most.
func Skip(b []byte, pos int) int {
	if pos >= len(b) {
		return len(b)
	}
	switch b[pos] {
	case '"':
		return skipString(b, pos)
	case '{', '[':
		return skipNested(b, pos)
	}
	for pos < len(b) && b[pos] != ',' && b[pos] != '}' && b[pos] != ']' && !blank[b[pos]] {
		pos++
	}
	return pos
}

// skipString returns the offset behind the string at b[pos].
func skipString(b []byte, pos int) int {
	escaped := pos // a backslash before it has been counted
	for at := pos + 1; ; at++ {
		i := bytes.IndexByte(b[at:], '"')
		if i < 0 {
			return len(b)
		}
		at += i
		escapes := 0
		for at-1-escapes > escaped && b[at-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return at + 1
		}
		escaped = at
	}
}

// skipNested returns the offset behind the object or array at b[pos].
func skipNested(b []byte, pos int) int {
	depth := 0
	for pos < len(b) {
		switch structure[b[pos]] {
		case 1:
			depth++
		case 2:
			if depth--; depth == 0 {
				return pos + 1
			}
		case 3:
			pos = skipString(b, pos)
			continue
		}
		pos++
	}
	return pos
}

var structure = [256]uint8{'{': 1, '[': 1, '}': 2, ']': 2, '"': 3}

// Walk goes over the members of an object, or the elements of an array, that is known to be JSON. Of other bytes it gives
// some of them.
//
//	for w := scan.WalkOver(b); w.Next(); {
//		if w.Is("type") { ... w.Value ... }
//	}
type Walk struct {
	Key   []byte // of a member, as it is written, without its quotes
	Value []byte

	b     []byte
	at    int
	array bool
}

// WalkOver begins a walk. b begins with the object or array; in any other value there is nothing.
func WalkOver(b []byte) Walk {
	if len(b) == 0 || b[0] != '{' && b[0] != '[' {
		return Walk{}
	}
	return Walk{b: b, at: 1, array: b[0] == '['}
}

// Next goes to the next member or element.
func (w *Walk) Next() bool {
	b, at := w.b, w.at
	for at < len(b) && (blank[b[at]] || b[at] == ',') {
		at++
	}
	w.at = len(b)
	if at >= len(b) || b[at] == '}' || b[at] == ']' {
		return false
	}
	if !w.array {
		end := Skip(b, at)
		if end-at < 2 {
			return false
		}
		w.Key = b[at+1 : end-1]
		for at = end; at < len(b) && (blank[b[at]] || b[at] == ':'); {
			at++
		}
	}
	end := Skip(b, at)
	if end == at { // no value
		return false
	}
	w.Value, w.at = b[at:end], end
	return true
}

// Is tells whether the member's key is name, however it is written.
func (w *Walk) Is(name string) bool {
	return string(w.Key) == name || len(w.Key) > len(name) && isEscaped(w.Key, name)
}
