package scan

import (
	"encoding/binary"
	"math/bits"
)

// run looks over b, the next piece of the record, and returns how much of it it has taken: all of it, unless s.one.
//
// It is the hottest function of the program, which is why it is one long function of labels: what the grammar expects
// is where it stands in the code. Where b ends, that place is kept as s.state, and the next piece goes on from there.
func (s *Scanner) run(b []byte) int {
	var (
		i     = 0       // in b
		c     byte      // b[i], mostly
		w     uint64    // eight bytes of a string
		st    = s.state // where it stands, set at every label that can run out of bytes
		depth = s.depth
		top   = s.top
		key   = s.key
		spans = s.spans
	)

resume:
	switch st {
	case stStart:
		goto start
	case stValue:
		goto value
	case stElement:
		goto element
	case stMember:
		goto member
	case stKey:
		goto wantKey
	case stColon:
		goto colon
	case stAfter:
		goto after
	case stDone:
		goto done
	case stString:
		goto str
	case stEscape:
		goto escape
	case stHex:
		goto hex
	case stWord:
		goto word
	case stBad:
		s.markRest(b)
		return len(b)
	default:
		goto number
	}

start:
	st = stStart
	if i >= len(b) {
		goto out
	}
	c = b[i]
	if blank[c] {
		goto skip
	}
	s.kind = kinds[c]

value:
	st = stValue
	if i >= len(b) {
		goto out
	}
	c = b[i]
	if depth == 1 && spans != nil && top&1 != 0 && !blank[c] {
		spans.value(s.base + i)
	}
	switch kinds[c] {
	case KindString:
		i++
		key = false
		goto str
	case KindObject:
		if depth&63 == 0 && depth > 0 {
			s.spill(depth, top)
		}
		i++
		depth++
		s.deepest = max(s.deepest, depth)
		top = top<<1 | 1
		goto member
	case KindArray:
		if depth&63 == 0 && depth > 0 {
			s.spill(depth, top)
		}
		i++
		depth++
		s.deepest = max(s.deepest, depth)
		top <<= 1
		goto element
	case KindNumber:
		i++
		switch c {
		case '-':
			st = stMinus
		case '0':
			st = stZero
		default:
			st = stInt
		}
		goto number
	case KindTrue:
		s.word, s.left = "true", 0
		goto word
	case KindFalse:
		s.word, s.left = "false", 0
		goto word
	case KindNull:
		s.word, s.left = "null", 0
		goto word
	}
	goto skip

element:
	st = stElement
	if i >= len(b) {
		goto out
	}
	c = b[i]
	if c == ']' {
		goto pop
	}
	if blank[c] {
		goto skip
	}
	goto value

member:
	st = stMember
	if i >= len(b) {
		goto out
	}
	c = b[i]
	if c == '}' {
		goto pop
	}
	if c != '"' {
		goto skip
	}
	i++
	key = true
	if depth == 1 && spans != nil {
		spans.key(s.base + i)
	}
	goto str

wantKey:
	st = stKey
	if i >= len(b) {
		goto out
	}
	c = b[i]
	if c != '"' {
		goto skip
	}
	i++
	key = true
	if depth == 1 && spans != nil {
		spans.key(s.base + i)
	}
	goto str

colon:
	st = stColon
	if i >= len(b) {
		goto out
	}
	c = b[i]
	if c != ':' {
		goto skip
	}
	i++
	goto value

after:
	if depth == 0 {
		goto done
	}
	if depth == 1 && spans != nil {
		spans.valueEnd(s.base + i)
	}
	st = stAfter
	if i >= len(b) {
		goto out
	}
	c = b[i]
	if c == ',' {
		i++
		if top&1 != 0 {
			goto wantKey
		}
		goto value
	}
	if c == '}' && top&1 != 0 || c == ']' && top&1 == 0 {
		goto pop
	}
	goto skip

pop:
	i++
	depth--
	top >>= 1
	if depth&63 == 0 && depth > 0 {
		top = s.unspill(depth)
	}
	goto after

done:
	st = stDone
	if s.one || i >= len(b) {
		goto out
	}
	c = b[i]
	goto skip

skip: // a byte that does not belong there, unless it is white space
	if !blank[c] {
		goto bad
	}
	if c == '\r' {
		s.mark(RawCR, s.base+i)
	}
	i++
	goto resume

str:
	for i+8 <= len(b) {
		w = stops(binary.LittleEndian.Uint64(b[i:]))
		if w != 0 {
			i += bits.TrailingZeros64(w) >> 3
			goto stop
		}
		i += 8
	}
	for i < len(b) && b[i]-0x20 < 0x7f-0x20 && b[i] != '"' && b[i] != '\\' {
		i++
	}

stop:
	st = stString
	if i >= len(b) {
		goto out
	}
	c = b[i]
	switch {
	case c == '"':
		if key {
			if depth == 1 && spans != nil {
				spans.keyEnd(s.base + i)
			}
			i++
			goto colon
		}
		i++
		goto after
	case c == '\\':
		i++
		goto escape
	case c < 0x20:
		goto bad
	}
	i = s.inString(b, i)
	goto str

escape:
	st = stEscape
	if i >= len(b) {
		goto out
	}
	c = b[i]
	if escapes[c] == 0 {
		goto bad
	}
	i++
	if c != 'u' {
		goto str
	}
	s.marks |= Escaped
	s.left = 4

hex:
	st = stHex
	for s.left > 0 {
		if i >= len(b) {
			goto out
		}
		if hexDigits[b[i]] == 0 {
			goto bad
		}
		i++
		s.left--
	}
	goto str

word:
	st = stWord
	for int(s.left) < len(s.word) {
		if i >= len(b) {
			goto out
		}
		if b[i] != s.word[s.left] {
			goto bad
		}
		i++
		s.left++
	}
	goto after

number:
	for i < len(b) {
		c = b[i]
		next := numbers[st-stMinus][numberClass[c]]
		if next == stStart {
			if numberEnds(st) {
				goto after
			}
			goto bad
		}
		st = next
		i++
	}

out:
	s.state, s.depth, s.top, s.key = st, depth, top, key
	s.base += i
	return i

bad:
	s.base += i
	s.state, s.end, s.errAt, s.byte = stBad, wrongIn(st), s.base, b[i]
	if !s.one {
		s.markRest(b[i:])
	}
	return len(b)
}

// inString takes the bytes from b[i] on of a string that are DEL or not ASCII, and returns the offset behind them.
func (s *Scanner) inString(b []byte, i int) int {
	for i < len(b) {
		i = plain(b, i)
		if i == len(b) || b[i] < 0x7f {
			break
		}
		if b[i] == 0x7f {
			s.mark(Control, s.base+i)
			i++
			continue
		}
		size, mark := char(b[i:])
		if size == 0 {
			s.keepChar(b[i:])
			return len(b)
		}
		s.mark(mark, s.base+i)
		i += size
	}
	return i
}

// wrongIn is how JSON ended in an error in state st.
func wrongIn(st state) Ending {
	switch st {
	case stString, stEscape, stHex:
		return EndWrongInString
	case stDone:
		return EndWrongBehind
	}
	return EndWrong
}

// numberEnds tells whether a number can end in state st.
func numberEnds(st state) bool {
	return st == stZero || st == stInt || st == stFrac || st == stExp
}

// numbers is what follows in a number, by state from stMinus on, and by class of the next byte; stStart where the
// byte is no part of the number.
var numbers = [stExp - stMinus + 1][classes]state{
	0:                 {classZero: stZero, classDigit: stInt},
	stZero - stMinus:  {classPoint: stPoint, classE: stE},
	stInt - stMinus:   {classZero: stInt, classDigit: stInt, classPoint: stPoint, classE: stE},
	stPoint - stMinus: {classZero: stFrac, classDigit: stFrac},
	stFrac - stMinus:  {classZero: stFrac, classDigit: stFrac, classE: stE},
	stE - stMinus:     {classZero: stExp, classDigit: stExp, classSign: stSign},
	stSign - stMinus:  {classZero: stExp, classDigit: stExp},
	stExp - stMinus:   {classZero: stExp, classDigit: stExp},
}

// Classes of bytes in numbers.
const (
	classNone = iota
	classZero
	classDigit
	classPoint
	classE
	classSign
	classes
)

var numberClass = [256]uint8{
	'0': classZero, '1': classDigit, '2': classDigit, '3': classDigit, '4': classDigit, '5': classDigit,
	'6': classDigit, '7': classDigit, '8': classDigit, '9': classDigit,
	'.': classPoint, 'e': classE, 'E': classE, '+': classSign, '-': classSign,
}

// kinds tells by its first byte what a value is.
var kinds = [256]Kind{
	'{': KindObject, '[': KindArray, '"': KindString, 't': KindTrue, 'f': KindFalse, 'n': KindNull,
	'-': KindNumber, '0': KindNumber, '1': KindNumber, '2': KindNumber, '3': KindNumber, '4': KindNumber,
	'5': KindNumber, '6': KindNumber, '7': KindNumber, '8': KindNumber, '9': KindNumber,
}

var blank = [256]bool{' ': true, '\t': true, '\n': true, '\r': true}

// escapes holds what may follow a backslash, and the byte that it stands for.
var escapes = [256]byte{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'u': 'u',
}

// hexDigits holds the value of a hexadecimal digit plus 1, 0 for other bytes.
var hexDigits = [256]uint8{
	'0': 1, '1': 2, '2': 3, '3': 4, '4': 5, '5': 6, '6': 7, '7': 8, '8': 9, '9': 10,
	'a': 11, 'b': 12, 'c': 13, 'd': 14, 'e': 15, 'f': 16, 'A': 11, 'B': 12, 'C': 13, 'D': 14, 'E': 15, 'F': 16,
}
