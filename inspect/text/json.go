package text

import (
	"bytes"
	"unicode/utf8"
)

// kind is what a token is.
type kind uint8

const (
	tokEnd     kind = iota // no more bytes
	tokOpen                // { or [
	tokClose               // } or ]
	tokColon               // :
	tokComma               // ,
	tokKey                 // a string before a colon
	tokString              // another string
	tokNumber              //
	tokLiteral             // true, false, null
	tokJunk                // all the rest, from the first token on that JSON does not allow there
)

// place is what may come next.
type place uint8

const (
	atValue      place = iota
	atFirstValue       // behind [: a value or ]
	atFirstKey         // behind {: a key or }
	atKey
	atColon
	atComma // or the end of the container
	atEnd   // behind the whole value
)

// walker goes through the tokens of a JSON text, one at a time, without recursion and without changing or decoding
// any. Its memory is one bit for each level of nesting. It allows what a text view can do with: control characters in
// strings, any escapes, an end anywhere.
type walker struct {
	s      []byte
	i      int // where the next token is looked for
	at     place
	depth  int
	arrays []byte // one bit a level: whether it is an array
}

// next returns the next token and what it is. Strings come with their quotes, the last one perhaps without the second;
// junk comes with the white space before it.
func (w *walker) next() (kind, []byte) {
	space := w.i
	for w.i < len(w.s) && isSpace(w.s[w.i]) {
		w.i++
	}
	if w.i == len(w.s) {
		return tokEnd, nil
	}
	from := w.i
	k, n := w.token(w.s[from:])
	w.i += n
	if k == tokJunk {
		from = space
	}
	return k, w.s[from:w.i]
}

// token returns the kind and the length of the token at the start of s and steps behind it.
func (w *walker) token(s []byte) (kind, int) {
	value := w.at == atValue || w.at == atFirstValue
	switch c := s[0]; {
	case value && (c == '{' || c == '['):
		w.push(c == '[')
		return tokOpen, 1
	case c == ']' && (w.at == atFirstValue || w.at == atComma && w.inArray()),
		c == '}' && (w.at == atFirstKey || w.at == atComma && !w.inArray()):
		w.depth--
		w.valueDone()
		return tokClose, 1
	case c == ':' && w.at == atColon:
		w.at = atValue
		return tokColon, 1
	case c == ',' && w.at == atComma:
		w.at = atKey
		if w.inArray() {
			w.at = atValue
		}
		return tokComma, 1
	case c == '"' && (w.at == atKey || w.at == atFirstKey):
		w.at = atColon
		return tokKey, stringLen(s)
	case c == '"' && value:
		w.valueDone()
		return tokString, stringLen(s)
	case value:
		if k, n := word(s); k != tokJunk {
			w.valueDone()
			return k, n
		}
	}
	return tokJunk, len(s)
}

// push enters an object or an array.
func (w *walker) push(array bool) {
	if w.depth/8 == len(w.arrays) {
		w.arrays = append(w.arrays, 0)
	}
	b := &w.arrays[w.depth/8]
	bit := byte(1) << (w.depth % 8)
	w.at = atFirstKey
	*b &^= bit
	if array {
		w.at = atFirstValue
		*b |= bit
	}
	w.depth++
}

// inArray says whether the innermost open container is an array; there is one.
func (w *walker) inArray() bool {
	d := w.depth - 1
	return w.arrays[d/8]>>(d%8)&1 == 1
}

// valueDone steps behind a value.
func (w *walker) valueDone() {
	w.at = atComma
	if w.depth == 0 {
		w.at = atEnd
	}
}

// stringLen returns the length of the string whose opening quote s starts with, all of s when it does not end.
func stringLen(s []byte) int {
	for i := 1; ; {
		q := bytes.IndexByte(s[i:], '"')
		if q < 0 {
			return len(s)
		}
		i += q + 1
		slashes := 0 // each is counted once, as the next search begins behind the quote
		for b := i - 2; b > 0 && s[b] == '\\'; b-- {
			slashes++
		}
		if slashes%2 == 0 {
			return i
		}
	}
}

// cutQuote cuts a token behind its opening quote, if it has one: shown apart from the rest, no combining mark that the
// string begins with can join it.
func cutQuote(tok []byte) (quote, rest []byte) {
	n := 0
	if tok[0] == '"' {
		n = 1
	}
	return tok[:n], tok[n:]
}

// word returns the kind and the length of the number or the literal at the start of s, junk for anything else.
func word(s []byte) (kind, int) {
	n := 0
	for n < len(s) && isWord(s[n]) {
		n++
	}
	switch string(s[:min(n, 6)]) {
	case "true", "false", "null":
		return tokLiteral, n
	}
	if isNumber(s[:n]) {
		return tokNumber, n
	}
	return tokJunk, n
}

// isNumber says whether s is a number as JSON writes it.
func isNumber(s []byte) bool {
	s = bytes.TrimPrefix(s, []byte("-"))
	n := digits(s)
	if n == 0 || n > 1 && s[0] == '0' {
		return false
	}
	s = s[n:]
	if len(s) > 0 && s[0] == '.' {
		n = digits(s[1:])
		if n == 0 {
			return false
		}
		s = s[1+n:]
	}
	if len(s) > 0 && s[0]|0x20 == 'e' {
		s = s[1:]
		if len(s) > 0 && (s[0] == '+' || s[0] == '-') {
			s = s[1:]
		}
		n = digits(s)
		return n > 0 && n == len(s)
	}
	return len(s) == 0
}

// digits returns the number of digits at the start of s.
func digits(s []byte) int {
	n := 0
	for n < len(s) && s[n]-'0' < 10 {
		n++
	}
	return n
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }

func isWord(c byte) bool {
	return c-'0' < 10 || c|0x20-'a' < 26 || c == '+' || c == '-' || c == '.'
}

// Compact appends msg as one line of visible text to dst, at most maxBytes bytes of it, and returns the extended
// slice; what is longer ends in an ellipsis. White space between JSON tokens is left out; numbers, strings with their
// escapes, the order of keys and duplicate keys stay as they are. From where msg is not JSON on, it is shown as by
// Visible.
//
// It looks at a few times maxBytes of msg, so a preview of a huge record costs nothing: of a text that is mostly
// white space less is shown than would fit.
func Compact(dst, msg []byte, maxBytes int) []byte {
	maxBytes = max(0, min(maxBytes, 8*len(msg))) // visible text is never longer
	w := walker{s: msg}
	whole := true
	if maxBytes < len(msg)/4-64 {
		w.s, whole = wholeRunes(msg[:4*maxBytes+256]), false
	}
	p := preview{dst: dst, limit: len(dst) + maxBytes, safe: len(dst)}
	for {
		k, tok := w.next()
		if k == tokEnd {
			break
		}
		if quote, rest := cutQuote(tok); !p.add(quote) || !p.add(rest) {
			return p.cut()
		}
	}
	if !whole {
		return p.cut()
	}
	return p.dst
}

// preview is text of limited length.
type preview struct {
	dst   []byte
	limit int // of len(dst)
	safe  int // the last end of a unit that leaves room for an ellipsis
}

// add appends s in visible form, unit by unit; it returns false when not all of it fits.
func (p *preview) add(s []byte) bool {
	for len(s) > 0 {
		n := asciiUnits(s, p.limit-len(p.dst))
		if n > 0 {
			if last := min(len(p.dst)+n, p.limit-len(Ellipsis)); last > len(p.dst) {
				p.safe = last
			}
			p.dst = append(p.dst, s[:n]...)
		} else {
			var raw bool
			if n, raw = unit(s); raw {
				p.dst = append(p.dst, s[:n]...)
			} else {
				p.dst = appendMark(p.dst, s[:n])
			}
			if len(p.dst) > p.limit {
				return false
			}
			if len(p.dst) <= p.limit-len(Ellipsis) {
				p.safe = len(p.dst)
			}
		}
		s = s[n:]
	}
	return true
}

// cut ends the text with an ellipsis, if there is room for one.
func (p *preview) cut() []byte {
	p.dst = p.dst[:p.safe]
	if p.limit-p.safe >= len(Ellipsis) {
		p.dst = append(p.dst, Ellipsis...)
	}
	return p.dst
}

// wholeRunes returns s without the start of a character that was cut at its end.
func wholeRunes(s []byte) []byte {
	for i := 1; i < utf8.UTFMax && i <= len(s); i++ {
		if c := s[len(s)-i]; utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRune(s[len(s)-i:]) {
				return s[:len(s)-i]
			}
			break
		}
	}
	return s
}
