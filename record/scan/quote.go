package scan

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// Unquote appends to dst the text that the JSON string token stands for, quotes included, and returns the longer
// slice. The text is UTF-8: lossy tells that U+FFFD stands in it for an escaped lone surrogate, for a byte that is not
// UTF-8, or that token has no quotes or a wrong escape, which is then taken as it is written.
func Unquote(dst, token []byte) (text []byte, lossy bool) {
	n := len(token)
	if n < 2 || token[0] != '"' || token[n-1] != '"' {
		text, _ = Unescape(dst, token)
		return text, true
	}
	return Unescape(dst, token[1:n-1])
}

// Unescape is Unquote for a token without its quotes.
func Unescape(dst, token []byte) (text []byte, lossy bool) {
	valid := utf8.Valid(token)
	for {
		i := bytes.IndexByte(token, '\\')
		plain := token
		if i >= 0 {
			plain = token[:i]
		}
		if valid {
			dst = append(dst, plain...)
		} else {
			for _, r := range string(plain) { // gives U+FFFD for each byte that is none
				dst = utf8.AppendRune(dst, r)
			}
		}
		if i < 0 {
			return dst, lossy || !valid
		}
		var n int
		var whole bool
		dst, n, whole = unescapeOne(dst, token[i:])
		lossy = lossy || !whole
		token = token[i+n:]
	}
}

// unescapeOne appends what the escape stands for that b begins with, and returns its length. whole is false where that
// is a stopgap.
func unescapeOne(dst, b []byte) (text []byte, n int, whole bool) {
	if len(b) < 2 || escapes[b[1]] == 0 {
		return append(dst, '\\'), 1, false
	}
	if b[1] != 'u' {
		return append(dst, escapes[b[1]]), 2, true
	}
	r := unit(b)
	if r < 0 {
		return append(dst, '\\'), 1, false
	}
	if !utf16.IsSurrogate(r) {
		return utf8.AppendRune(dst, r), 6, true
	}
	if pair := utf16.DecodeRune(r, unit(b[6:])); pair != utf8.RuneError {
		return utf8.AppendRune(dst, pair), 12, true
	}
	return utf8.AppendRune(dst, utf8.RuneError), 6, false
}

// unit returns the UTF-16 code unit of the escape \uXXXX that b begins with, -1 if it does not.
func unit(b []byte) rune {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return -1
	}
	var r rune
	for _, c := range b[2:6] {
		if hexDigits[c] == 0 {
			return -1
		}
		r = r<<4 | rune(hexDigits[c]-1)
	}
	return r
}

const hexLower = "0123456789abcdef"

// AppendQuote appends text, which is UTF-8, to dst as a JSON string with its quotes, and returns the longer slice.
// Unquote gives the same bytes back. Escaped are the quote, the backslash, all control characters, U+2028 and U+2029,
// so that the string is safe in readers of lines and on terminals; all other characters stay as they are. A byte that
// is not UTF-8 becomes U+FFFD.
func AppendQuote(dst, text []byte) []byte {
	dst = append(dst, '"')
	from := 0 // what lies before it is in dst
	for i := 0; i < len(text); {
		i = quotable(text, i)
		if i == len(text) {
			break
		}
		if c := text[i]; c < 0x80 {
			dst = append(dst, text[from:i]...)
			dst = appendEscape(dst, c)
			i++
			from = i
			continue
		}
		size, mark := char(text[i:])
		if size == 0 {
			size, mark = 1, NotUTF8
		}
		if mark&(Control|NextLine|LineSep|ParaSep|NotUTF8) != 0 {
			dst = append(dst, text[from:i]...)
			r, _ := utf8.DecodeRune(text[i:])
			dst = appendUnit(dst, uint16(r)) // all of these are below U+10000
			from = i + size
		}
		i += size
	}
	dst = append(dst, text[from:]...)
	return append(dst, '"')
}

// quotable returns the offset behind the characters from b[i] on that are seen at once to need no escape.
func quotable(b []byte, i int) int {
	for {
		for ; i+8 <= len(b); i += 8 {
			if w := stops(binary.LittleEndian.Uint64(b[i:])); w != 0 {
				i += bits.TrailingZeros64(w) >> 3
				break
			}
		}
		for i < len(b) && b[i]-0x20 < 0x7f-0x20 && b[i] != '"' && b[i] != '\\' {
			i++
		}
		j := plain(b, i)
		if j == i {
			return i
		}
		i = j
	}
}

// appendEscape appends the shortest escape of an ASCII character.
func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, '\\', 'n')
	case '\t':
		return append(dst, '\\', 't')
	case '\r':
		return append(dst, '\\', 'r')
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	}
	return appendUnit(dst, uint16(c))
}

func appendUnit(dst []byte, u uint16) []byte {
	return append(dst, '\\', 'u', hexLower[u>>12], hexLower[u>>8&15], hexLower[u>>4&15], hexLower[u&15])
}
