package inspect

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"pitap/inspect/text"
	"pitap/record/scan"
)

// maxPick is how many members pick finds at once.
const maxPick = 8

// pick finds members of the object that b begins with: the tokens of their values in the order of names, nil for what
// is absent. Of a member that occurs twice it gives the last one, as JavaScript does.
func pick(b []byte, names ...string) (values [maxPick][]byte) {
	for m := scan.MembersOf(b); m.Next(); {
		for i, name := range names {
			if m.Is(name) {
				values[i] = b[m.Start:m.End]
				break
			}
		}
	}
	return values
}

// isString tells whether a token is a string.
func isString(token []byte) bool { return len(token) > 1 && token[0] == '"' }

// elements counts the elements of an array and gives the first of them, at most max.
func elements(array []byte, max int) (first [][]byte, n int) {
	if len(array) == 0 || array[0] != '[' {
		return nil, 0
	}
	for i := 1; ; {
		for i < len(array) && (array[i] == ',' || array[i] <= ' ') {
			i++
		}
		end := scan.ValueEnd(array, i)
		if end < 0 {
			return first, n
		}
		if n++; len(first) < max {
			first = append(first, array[i:end])
		}
		i = end
	}
}

// line is a line of text in the making, cut at a length. What is added when it is full is dropped. It may hold anything
// from a capture: who prints it makes it visible.
type line struct {
	b     []byte
	limit int // bytes
	cut   bool
}

// done returns the line, with an ellipsis when something was dropped.
func (l *line) done() []byte {
	if l.cut {
		l.b = append(l.b, text.Ellipsis...)
	}
	return l.b
}

// room tells how many bytes can be added.
func (l *line) room() int { return max(0, l.limit-len(l.b)) }

// add appends words of this program.
func (l *line) add(words ...string) {
	for _, s := range words {
		if l.room() == 0 {
			l.cut = true
			return
		}
		l.b = append(l.b, s...)
	}
}

// sep begins the next thing on the line, if there is one before it.
func (l *line) sep(s string) {
	if len(l.b) > 0 {
		l.add(s)
	}
}

// raw appends bytes of a capture.
func (l *line) raw(b []byte) {
	part := cutRunes(b, l.room())
	l.b = append(l.b, part...)
	l.cut = l.cut || len(part) < len(b)
}

// text appends what a string token says, at most max bytes of it; other tokens as they are written.
func (l *line) text(token []byte, max int) {
	if !isString(token) {
		l.json(token, max)
		return
	}
	limit := min(len(l.b)+max, l.limit)
	inner := token[1 : len(token)-1]
	for len(inner) > 0 {
		n := min(len(inner), limit-len(l.b))
		if n <= 0 {
			break
		}
		i := bytes.IndexByte(inner[:n], '\\')
		switch {
		case i < 0 && n < len(inner):
			l.b = append(l.b, cutRunes(inner, n)...)
			limit = len(l.b)
		case i != 0:
			if i < 0 {
				i = n
			}
			l.b = append(l.b, inner[:i]...)
			inner = inner[i:]
		default:
			n := escapeLen(inner)
			l.b, _ = scan.Unescape(l.b, inner[:n])
			inner = inner[n:]
		}
	}
	if len(inner) == 0 {
		return
	}
	if limit == l.limit {
		l.cut = true
	} else {
		l.b = append(l.b, text.Ellipsis...)
	}
}

// escapeLen is the length of the escape that b begins with; two halves of a character are one.
func escapeLen(b []byte) int {
	switch {
	case len(b) < 6 || b[1] != 'u':
		return min(len(b), 2)
	case len(b) >= 12 && b[2]|0x20 == 'd' && b[3] >= '8' && b[6] == '\\' && b[7] == 'u':
		return 12
	}
	return 6
}

// tail appends the end of what a string token says, at most max bytes of it.
func (l *line) tail(token []byte, max int) {
	if !isString(token) || len(token) > keepHead {
		l.text(token, max)
		return
	}
	said, _ := scan.Unquote(nil, token)
	said = bytes.TrimRight(said, "\r\n ")
	if max = min(max, l.room()); len(said) > max {
		said = said[len(said)-max:]
		for len(said) > 0 && !utf8.RuneStart(said[0]) {
			said = said[1:]
		}
		l.b = append(l.b, text.Ellipsis...)
	}
	l.b = append(l.b, said...)
}

// json appends a token as it is written, without white space, at most max bytes of it.
func (l *line) json(token []byte, max int) {
	l.b = text.Compact(l.b, token, min(max, l.room()))
}

// value appends a value of any type in few words: of an object that has one its id or name.
func (l *line) value(token []byte, max int) {
	if len(token) == 0 {
		return
	}
	switch {
	case token[0] == '"':
		l.quoted(token, max)
	case len(token) <= max/2 || token[0] != '{' && token[0] != '[':
		l.json(token, max)
	case token[0] == '[':
		_, n := elements(token, 0)
		l.add("[", strconv.Itoa(n), "]")
	default:
		v := pick(token, "id", "name", "type", "role")
		for _, name := range v[:4] {
			if isString(name) {
				l.add("{")
				l.text(name, max)
				l.add("}")
				return
			}
		}
		l.add("{", text.Ellipsis, "}")
	}
}

// quoted appends a string; with quotes when one could not see where it ends.
func (l *line) quoted(token []byte, max int) {
	if inner := token[1 : len(token)-1]; len(inner) > 0 && len(inner) <= max && plainWord(inner) {
		l.add(string(inner))
		return
	}
	l.add(`"`)
	l.text(token, max)
	l.add(`"`)
}

func plainWord(b []byte) bool {
	for _, c := range b {
		if c <= ' ' || c == '"' || c == '\\' || c == '=' || c >= 0x7f {
			return false
		}
	}
	return true
}

// members appends the members of an object as name=value, but for those of the given names.
func (l *line) members(object []byte, each int, but ...string) {
	for m := scan.MembersOf(object); m.Next() && l.room() > 0; {
		skip := false
		for _, name := range but {
			skip = skip || m.Is(name)
		}
		if skip {
			continue
		}
		l.sep(" ")
		l.raw(m.Key[:min(len(m.Key), 60)])
		l.add("=")
		l.value(object[m.Start:m.End], each)
	}
}

// cutRunes returns at most max bytes of b, without half a character at the end.
func cutRunes(b []byte, max int) []byte {
	if len(b) <= max {
		return b
	}
	for k := max; k > 0 && k > max-utf8.UTFMax; k-- {
		if utf8.RuneStart(b[k]) {
			return b[:k]
		}
	}
	return b[:max]
}
