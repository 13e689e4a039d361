package record

import (
	"fmt"
	"unicode/utf8"
)

// describeJunk says what stands before a record: which escape sequences, or text.
func describeJunk(junk []byte) string {
	var names []string
	for b := junk; len(b) > 0; {
		name, n := nextJunk(b)
		b = b[n:]
		if len(names) == 0 || names[len(names)-1] != name {
			names = append(names, name)
		}
		if len(names) == 4 && len(b) > 0 {
			names[3] = "more"
			break
		}
	}
	if len(names) == 1 {
		return fmt.Sprintf("%s (%d bytes)", names[0], len(junk))
	}
	return list(names)
}

// nextJunk names the first thing in b and returns its length.
func nextJunk(b []byte) (name string, n int) {
	c := b[0]
	switch {
	case c == 0x1b:
		return escapeName(b), sequence(b)
	case c < 0x20 && c != '\t', c == 0x7f:
		return controlName(c), 1
	case c >= utf8.RuneSelf:
		if r, size := utf8.DecodeRune(b); r == utf8.RuneError && size == 1 {
			return "bytes that are not UTF-8", 1
		}
	}
	n = 1
	for n < len(b) && b[n] >= 0x20 && b[n] != 0x7f && utf8.FullRune(b[n:]) {
		r, size := utf8.DecodeRune(b[n:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		n += size
	}
	return "the text " + show(b[:n]), n
}

// escapeName names the escape sequence that b begins with.
func escapeName(b []byte) string {
	if len(b) < 2 {
		return "an ESC"
	}
	switch b[1] {
	case ']':
		return "an OSC escape sequence"
	case '[':
		return "a CSI escape sequence"
	case 'P', 'X', '^', '_':
		return "a DCS, SOS, PM or APC escape sequence"
	}
	return "an escape sequence"
}

// sequence returns the length of the escape sequence that b begins with, of as much as is there.
func sequence(b []byte) int {
	if len(b) < 2 {
		return len(b)
	}
	switch b[1] {
	case ']', 'P', 'X', '^', '_': // up to BEL or ESC \
		for i := 2; i < len(b); i++ {
			if b[i] == 0x07 {
				return i + 1
			}
			if b[i] == 0x1b {
				return min(i+2, len(b))
			}
		}
		return len(b)
	case '[': // up to a byte from @ to ~
		for i := 2; i < len(b); i++ {
			if b[i] >= 0x40 && b[i] <= 0x7e {
				return i + 1
			}
		}
		return len(b)
	}
	i := 1
	for i < len(b)-1 && b[i] >= 0x20 && b[i] < 0x30 {
		i++
	}
	return i + 1
}

var controlNames = [...]string{0: "NUL", 7: "BEL", 8: "BS", 9: "TAB", 10: "LF", 11: "VT", 12: "FF", 13: "CR", 27: "ESC",
	28: "FS", 29: "GS", 30: "RS", 31: "US"}

// controlName names a control character.
func controlName(c byte) string {
	name := "control character"
	switch {
	case c == 0x7f:
		name = "DEL"
	case int(c) < len(controlNames) && controlNames[c] != "":
		name = controlNames[c]
	}
	return fmt.Sprintf("%s (0x%02x)", name, c)
}
