package text

import (
	"math"
	"strings"
)

// Ellipsis stands for what was cut off. It is one cell wide.
const Ellipsis = "…"

// maxUnit is more than the bytes of any unit: a base, maxMarks marks, and maxJoins times a joiner with a pictograph, a
// selector and a skin tone.
const maxUnit = 128

// Width is the number of terminal cells that s takes when it is printed through Visible. It reads all of s.
//
// Terminals differ for some emoji: those that know nothing of joiners and skin tones draw each part by itself. What
// is measured here is what Unicode asks for.
func Width[T Bytes](s T) int {
	_, w := fit(view(s), math.MaxInt)
	return w
}

// Cut returns s in visible form, at most the given number of cells wide. When s is wider it ends in an ellipsis.
// Neither a cluster nor a mark is ever split, so the result can be some cells narrower. It reads a few bytes a cell,
// however long s is.
func Cut[T Bytes](s T, cells int) string {
	out, _ := cut(s, cells)
	return out
}

// Pad is Cut with spaces behind it, exactly the given number of cells wide.
func Pad[T Bytes](s T, cells int) string {
	out, w := cut(s, cells)
	return out + spaces(cells-w)
}

// PadLeft is Cut with spaces before it, exactly the given number of cells wide: for figures.
func PadLeft[T Bytes](s T, cells int) string {
	out, w := cut(s, cells)
	return spaces(cells-w) + out
}

// cut returns what Cut does and its width.
func cut[T Bytes](s T, cells int) (string, int) {
	b := view(s)
	if cells <= 0 || len(b) == 0 {
		return "", 0
	}
	if cells < len(b)/maxUnit-2 {
		b = b[:(cells+2)*maxUnit] // a unit takes a cell, so no more is needed
	}
	end, w := fit(b, cells)
	if end == len(b) {
		if asciiRun(b) == len(b) {
			return string(s), w
		}
		return string(Visible(nil, b)), w
	}
	end, w = fit(b[:end], cells-1)
	return string(append(Visible(nil, b[:end]), Ellipsis...)), w + 1
}

// fit returns the length n of the longest start of s, in whole units, that is at most the given number of cells wide,
// and its width w.
func fit(s []byte, cells int) (n, w int) {
	for n < len(s) {
		if run := asciiUnits(s[n:], cells-w); run > 0 {
			n += run
			w += run
			continue
		}
		size, raw := unit(s[n:])
		var c int
		if raw {
			c = unitWidth(s[n : n+size])
		} else {
			c = markWidth(s[n : n+size])
		}
		if c > cells-w {
			break
		}
		n += size
		w += c
	}
	return n, w
}

// spaces returns n spaces, none when n is negative.
func spaces(n int) string {
	const some = "                                                                "
	if n <= len(some) {
		return some[:max(n, 0)]
	}
	return strings.Repeat(" ", n)
}
