// Package text is what every text view stands on: it turns bytes from a capture into text that is safe to print, and
// measures it in terminal cells.
//
// Nothing from a capture may reach a terminal as it is: an escape sequence would act on the terminal, a bidi override
// would show other words than were sent, an invisible character would hide something, and each of them would shift
// the columns behind it. [Visible] replaces all of these by marks that can be seen. [Width], [Cut], [Pad], [Table],
// [Compact] and [Pretty] work on the same units as Visible does, take any bytes, and print visible text only.
//
// Everything here may be called from several goroutines, except the methods of one Table. Nothing recurses, and
// nothing but Visible and Pretty (which must) and Width reads more of its input than what it shows.
package text

import (
	"encoding/binary"
	"math"
	"unicode/utf8"
	"unsafe"
)

// Bytes is what holds text here: valid UTF-8 or not, any length.
type Bytes interface{ string | []byte }

// The brackets of a mark. Both are one cell wide.
const (
	markOpen  = "⟨"
	markClose = "⟩"
)

// Visible appends s to dst in printable UTF-8 and returns the extended slice; dst may be nil, s is only read.
//
//   - C0 controls and DEL become their symbols: ␛ ␊ ␍ ␉ ␡
//   - C1 controls, bidi controls, line and paragraph separators, zero-width and other invisible characters, tag
//     characters, private, unassigned and noncharacters become marks such as ⟨U+202E⟩
//   - bytes that are not UTF-8 become ⟨ff⟩, one mark a byte
//   - joiners, variation selectors, skin tones and regional indicators stay in well-formed emoji sequences and become
//     marks elsewhere; so do combining marks without a base and after the sixth on one base
//
// All else is unchanged. The result is at most 8 times as long as s. Visible text stays as it is when it is passed
// through again. A mark is not told from the same characters in the capture.
func Visible(dst, s []byte) []byte {
	dst, _ = appendVisible(dst, s, math.MaxInt)
	return dst
}

// VisibleString is Visible for strings. It returns s itself when nothing in it has to change.
func VisibleString(s string) string {
	b := view(s)
	if asciiRun(b) == len(b) {
		return s
	}
	return string(Visible(make([]byte, 0, len(b)+len(b)/8), b))
}

// appendVisible is Visible that stops after the first unit with which dst has max bytes or more (long ASCII runs are
// cut at max). n says how many bytes of s it has used: as units do not depend on what stands before them, the next
// call goes on there.
func appendVisible(dst, s []byte, max int) (out []byte, n int) {
	for n < len(s) && len(dst) < max {
		if run := asciiUnits(s[n:], max-len(dst)); run > 0 {
			dst = append(dst, s[n:n+run]...)
			n += run
			continue
		}
		size, raw := unit(s[n:])
		if raw {
			dst = append(dst, s[n:n+size]...)
		} else {
			dst = appendMark(dst, s[n:n+size])
		}
		n += size
	}
	return dst, n
}

// appendMark appends what is shown for s, which is one character or one byte that is not UTF-8.
func appendMark(dst, s []byte) []byte {
	const digits = "0123456789ABCDEF"
	r, size := utf8.DecodeRune(s)
	switch {
	case size == 1 && r == utf8.RuneError:
		const lower = "0123456789abcdef"
		dst = append(dst, markOpen...)
		dst = append(dst, lower[s[0]>>4], lower[s[0]&15])
		return append(dst, markClose...)
	case r < 0x20:
		return utf8.AppendRune(dst, 0x2400+r)
	case r == 0x7f:
		return append(dst, "␡"...)
	}
	dst = append(dst, markOpen+"U+"...)
	for i := hexDigits(r) - 1; i >= 0; i-- {
		dst = append(dst, digits[r>>(4*i)&15])
	}
	return append(dst, markClose...)
}

// markWidth is the number of cells of what appendMark appends.
func markWidth(s []byte) int {
	r, size := utf8.DecodeRune(s)
	switch {
	case size == 1 && r == utf8.RuneError:
		return len("<ff>")
	case r < 0x80:
		return 1
	}
	return len("<U+>") + hexDigits(r)
}

// hexDigits is the number of digits that r is written with, at least 4.
func hexDigits(r rune) int {
	switch {
	case r > 0xfffff:
		return 6
	case r > 0xffff:
		return 5
	}
	return 4
}

// asciiUnits returns the length, at most max, of the printable ASCII at the start of s whose bytes are each a unit of
// their own: the last one is left out when what follows could combine with it. It looks no further than max.
func asciiUnits(s []byte, max int) int {
	if max < len(s) {
		s = s[:max+1]
	}
	n := asciiRun(s)
	if n > 0 && n < len(s) && s[n] >= utf8.RuneSelf {
		n--
	}
	return min(n, max)
}

// asciiRun returns the length of the printable ASCII (space to tilde) at the start of s. It looks at eight bytes at a
// time, as nearly all traffic is ASCII.
func asciiRun(s []byte) int {
	const (
		ones = 0x0101010101010101
		low  = 0x20 * ones
		high = 0x80 * ones
	)
	i := 0
	for ; i+8 <= len(s); i += 8 {
		// A byte below 0x20 borrows into its top bit, 0x7f carries into it, a byte from 0x80 has it.
		x := binary.LittleEndian.Uint64(s[i:])
		if (x|(x-low)|(x+ones))&high != 0 {
			break
		}
	}
	for i < len(s) && s[i]-0x20 < 0x5f {
		i++
	}
	return i
}

// view returns the bytes of s, which the caller must not change: a string of many megabytes is not copied to be cut
// to a few cells.
func view[T Bytes](s T) []byte {
	switch v := any(s).(type) {
	case string:
		return unsafe.Slice(unsafe.StringData(v), len(v))
	case []byte:
		return v
	}
	return nil
}
