package scan

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
	bom   = "\ufeff"
)

// stops looks at eight bytes of a string at once. The lowest bit that is set in what it returns is in the first byte
// that is a quote, a backslash, below 0x20 or above 0x7e; higher bits mean nothing.
func stops(w uint64) uint64 {
	// A byte less than its subtrahend borrows into its high bit. XOR with 2 maps the quote (0x22) to 0x20, next to the
	// controls, and these onto each other. A borrow goes wrong only above a byte that is a hit itself.
	ctl := (w ^ 0x02*ones) - 0x21*ones
	esc := (w ^ '\\'*ones) - ones
	return ((ctl|esc)&^w | (w + ones) | w) & highs
}

// odd is stops for bytes out of strings: below 0x20 or above 0x7e.
func odd(w uint64) uint64 {
	return ((w-0x20*ones)&^w | (w + ones) | w) & highs
}

// markRest looks for marks where JSON has ended, at b of the record's offset s.base, to the end of the piece.
func (s *Scanner) markRest(b []byte) {
	i := 0
	for i < len(b) {
		for i+8 <= len(b) {
			w := odd(binary.LittleEndian.Uint64(b[i:]))
			if w != 0 {
				i += bits.TrailingZeros64(w) >> 3
				break
			}
			i += 8
		}
		if i == len(b) {
			break
		}
		c := b[i]
		if c < 0x80 {
			s.mark(byteMark(c), s.base+i)
			i++
			continue
		}
		size, mark := char(b[i:])
		if size == 0 {
			s.keepChar(b[i:])
			break
		}
		if s.base+i == 0 && size == 3 && string(b[i:i+3]) == bom {
			mark |= BOM
		}
		s.mark(mark, s.base+i)
		i += size
	}
	s.base += len(b)
}

// byteMark is the mark of an ASCII byte.
func byteMark(c byte) Marks {
	switch {
	case c == '\r':
		return RawCR
	case c == 0:
		return NUL
	case c == '\t', c == '\n':
		return 0
	case c < 0x20, c == 0x7f:
		return Control
	}
	return 0
}

// char looks at the character that b begins with, which is not ASCII. size is its length, 1 for a byte that is not
// UTF-8, 0 when b ends within it.
func char(b []byte) (size int, mark Marks) {
	r, size := utf8.DecodeRune(b)
	switch {
	case r == utf8.RuneError && size <= 1:
		if !utf8.FullRune(b) {
			return 0, 0
		}
		return 1, NotUTF8
	case r == 0x85:
		return size, NextLine
	case r < 0xa0:
		return size, Control
	case r == 0x2028:
		return size, LineSep
	case r == 0x2029:
		return size, ParaSep
	case r == utf8.RuneError:
		return size, Replacement
	}
	return size, 0
}

// plain returns the offset behind the characters from b[i] on that are not ASCII, whole, UTF-8, and have no mark,
// as far as that is easily seen: it takes the common ones of two and three bytes.
func plain(b []byte, i int) int {
	for i+3 <= len(b) {
		c := b[i]
		switch {
		case c-0xe3 <= 0xec-0xe3: // U+3000 to U+CFFF
			if b[i+1]&0xc0 != 0x80 || b[i+2]&0xc0 != 0x80 {
				return i
			}
			i += 3
		case c-0xc3 <= 0xdf-0xc3: // U+00C0 to U+07FF
			if b[i+1]&0xc0 != 0x80 {
				return i
			}
			i += 2
		default:
			return i
		}
	}
	return i
}
