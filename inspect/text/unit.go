package text

import (
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// Bounds of one unit, so that neither a cell nor the look at one grows with the input. Real writing needs less: at
// most six marks on a base (Burmese), three joiners in an emoji.
const (
	maxMarks = 6
	maxJoins = 4
)

const (
	zwj      = 0x200d
	textVS   = 0xfe0e // variation selector: show as text
	emojiVS  = 0xfe0f // variation selector: show as emoji
	keycap   = 0x20e3 // combining enclosing keycap
	hangulLV = 0xac00 // first Hangul syllable
	hangulZ  = 0xd7a3 // last one
)

// unit looks at the start of s, which is not empty. raw says that its first n bytes are one grapheme cluster that can
// be shown as it is; else they are one character, or one byte that is not UTF-8, which a mark has to stand for.
//
// Clusters follow Unicode's annex 29 but for three things: what has no business outside its sequence (a lone joiner or
// regional indicator, a combining mark without a base) is no cluster but a mark; the length is bounded; and only those
// Hangul jamo are joined that terminals join.
func unit(s []byte) (n int, raw bool) {
	r, n := utf8.DecodeRune(s)
	switch {
	case simple(r):
		if n == len(s) || s[n] < utf8.RuneSelf {
			return n, true
		}
	case n == 1 && r == utf8.RuneError, !shown(r), joins(r), isSkinTone(r), isVowel(r), isTrailing(r):
		return n, false
	case isRegional(r):
		next, size := utf8.DecodeRune(s[n:])
		if isRegional(next) {
			return n + size, true
		}
		return n, false
	}
	return extend(s, r, n), true
}

// extend returns the length of the cluster at the start of s whose base is r, of n bytes.
func extend(s []byte, r rune, n int) int {
	next, size := utf8.DecodeRune(s[n:])
	if simple(next) {
		return n
	}
	if isLeading(r) && isVowel(next) {
		n += size
		r = hangulLV // what follows is the same as after a syllable without a trailing consonant
		next, size = utf8.DecodeRune(s[n:])
	}
	if r >= hangulLV && r <= hangulZ && (r-hangulLV)%28 == 0 && isTrailing(next) {
		n += size
	}
	var sel, tone bool // seen since the last pictograph
	for marks, joined := 0, 0; n < len(s); {
		next, size = utf8.DecodeRune(s[n:])
		switch {
		case joins(next) && marks < maxMarks:
			marks++
		case next == emojiVS && isKeycapBase(r) && firstRune(s[n+size:]) == keycap && marks == 0 && !sel:
			sel = true
		case (next == textVS || next == emojiVS) && !sel && !tone && isPictograph(r):
			sel = true
		case isSkinTone(next) && !tone && isPictograph(r):
			tone = true
		case next == zwj && joined < maxJoins && isPictograph(r) && isPictograph(firstRune(s[n+size:])):
			n += size
			r, size = utf8.DecodeRune(s[n:])
			joined++
			sel, tone = false, false
		default:
			return n
		}
		n += size
	}
	return n
}

// unitWidth is the number of cells of s, a cluster that unit calls raw. It is at least 1.
func unitWidth(s []byte) int {
	r, n := utf8.DecodeRune(s)
	w := baseWidth(r)
	for n < len(s) {
		next, size := utf8.DecodeRune(s[n:])
		n += size
		switch {
		case next == textVS:
			w = 1
		case next == emojiVS && isKeycapBase(r):
		case next == emojiVS, next == zwj, isSkinTone(next), isRegional(next):
			w = 2
		case next == 0xff9e, next == 0xff9f:
			w++
		case joins(next):
			w += uniseg.StringWidth(string(next))
		}
	}
	return w
}

// baseWidth is the number of cells of r as terminals draw it by itself: 1 or 2.
func baseWidth(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case r >= 0x4e00 && r <= 0x9fff, r >= hangulLV && r <= hangulZ, r >= 0x3041 && r < 0x3097, r >= 0x30a0 && r < 0x3100:
		return 2
	}
	w := uniseg.StringWidth(string(r))
	if w > 2 {
		return 1 // U+2E3A and U+2E3B, which only uniseg takes for wide
	}
	return max(w, 1)
}

// simple says of many common characters that they can be shown and join nothing before them. For all others it is
// false: it only saves looking them up.
func simple(r rune) bool {
	switch {
	case r < 0x300:
		return r >= 0x20 && r < 0x7f || r >= 0xa0 && r != 0xad
	case r >= 0x3a3 && r < 0x3e2, r >= 0x400 && r <= 0x482, r >= 0x2010 && r < 0x2028, r >= 0x2030 && r < 0x205f:
		return true
	case r >= 0x2500 && r < 0x2600, r >= 0x3000 && r < 0x302a, r >= 0xff01 && r < 0xff9e, r >= 0x3041 && r < 0x3097, r >= 0x30a0 && r < 0x3100:
		return true
	}
	return r >= 0x4e00 && r <= 0x9fff || r >= hangulLV && r <= hangulZ
}

// shown says that r can be seen, or is a space: it is assigned, neither control nor format nor private, and not one of
// those letters and marks that are drawn as nothing.
func shown(r rune) bool {
	return simple(r) || unicode.IsGraphic(r) && !unicode.Is(unicode.Variation_Selector, r) &&
		!unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r)
}

// joins says that r is drawn in the cell of what stands before it: a combining mark, or one of the few letters that
// behave as one (Thai and Lao am, halfwidth voicing).
func joins(r rune) bool {
	if r < 0x300 || simple(r) {
		return false
	}
	switch r {
	case 0xe33, 0xeb3, 0xff9e, 0xff9f:
		return true
	}
	return unicode.Is(unicode.M, r) && shown(r)
}

// isPictograph says that r has the property Extended_Pictographic. uniseg does not export it, but only a pictograph
// holds another one across a joiner (rule GB11 of annex 29).
func isPictograph(r rune) bool {
	if r < 0xa9 {
		return false
	}
	s := string(r) + "\u200d\u2764"
	cluster, _, _, _ := uniseg.FirstGraphemeClusterInString(s, -1)
	return len(cluster) == len(s)
}

func isSkinTone(r rune) bool   { return r >= 0x1f3fb && r <= 0x1f3ff }
func isRegional(r rune) bool   { return r >= 0x1f1e6 && r <= 0x1f1ff }
func isKeycapBase(r rune) bool { return r >= '0' && r <= '9' || r == '#' || r == '*' }

// Hangul jamo: leading consonants, vowels, trailing consonants.
func isLeading(r rune) bool  { return r >= 0x1100 && r < 0x115f || r >= 0xa960 && r <= 0xa97c }
func isVowel(r rune) bool    { return r > 0x1160 && r < 0x11a8 || r >= 0xd7b0 && r <= 0xd7c6 }
func isTrailing(r rune) bool { return r >= 0x11a8 && r <= 0x11ff || r >= 0xd7cb && r <= 0xd7fb }

// firstRune returns the first rune of s, RuneError when there is none.
func firstRune(s []byte) rune {
	r, _ := utf8.DecodeRune(s)
	return r
}
