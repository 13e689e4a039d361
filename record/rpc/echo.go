package rpc

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"pitap/record/scan"
)

const (
	maxEchoDepth = 4096 // pi itself dies of ids that are nested some thousands deep
	maxEchoMoved = 16   // bytes that are put in another place, for each byte of the token
)

// AppendEcho appends a JSON token as JSON.stringify(JSON.parse(token)) writes it, which is how pi gives an id back: numbers
// as JavaScript has them, integer keys first, of equal keys the last value, U+FFFD for what is not UTF-8. It takes one
// token, without white space around it. ok is false for a token that is none, that is nested too deep, or whose keys are
// in too much disorder; then what was appended means nothing.
func AppendEcho(dst, token []byte) (out []byte, ok bool) {
	e := echo{out: dst, in: token, room: int64(len(token)+256) * maxEchoMoved}
	for e.at < len(token) {
		if !e.next() {
			return e.out, false
		}
	}
	return e.out, len(e.open) == 0 && len(e.out) > len(dst)
}

// echo writes a token anew. It keeps what is open on a stack of its own.
type echo struct {
	out, in []byte
	at      int
	open    []echoOpen
	members []echoMember // of the open objects
	room    int64        // bytes that may still be moved
}

type echoOpen struct {
	object  bool
	wantKey bool // the next string is a key
	start   int  // in out, behind the bracket
	first   int  // of its members
}

// echoMember is a member of an object, as it was written.
type echoMember struct {
	start, keyEnd, end int   // in out
	index              int64 // of a key that is an array index, else -1
}

// next takes the next piece of the token: a scalar, a bracket, a comma or colon.
func (e *echo) next() bool {
	c := e.in[e.at]
	switch {
	case c == ' ' || c == '\t' || c == '\n' || c == '\r':
		e.at++
		return true
	case c == '{' || c == '[':
		return e.begin(c)
	case c == '}' || c == ']':
		return e.close(c)
	case c == ',' || c == ':':
		return e.separator(c)
	}
	end := scan.ValueEnd(e.in, e.at)
	if end < 0 {
		return false
	}
	value := e.in[e.at:end]
	e.at = end
	switch {
	case c == '"':
		e.string(value)
	case c == '-' || c >= '0' && c <= '9':
		e.out = appendNumber(e.out, value)
	default:
		e.out = append(e.out, value...)
	}
	return true
}

func (e *echo) begin(c byte) bool {
	if len(e.open) == maxEchoDepth {
		return false
	}
	e.out = append(e.out, c)
	e.open = append(e.open, echoOpen{object: c == '{', wantKey: c == '{', start: len(e.out), first: len(e.members)})
	e.at++
	return true
}

func (e *echo) separator(c byte) bool {
	if len(e.open) == 0 {
		return false
	}
	o := &e.open[len(e.open)-1]
	if o.object && c == ',' {
		e.endMember()
		o.wantKey = true
	}
	e.out = append(e.out, c)
	e.at++
	return true
}

func (e *echo) endMember() {
	if n := len(e.members); n > e.open[len(e.open)-1].first {
		e.members[n-1].end = len(e.out)
	}
}

func (e *echo) string(token []byte) {
	start := len(e.out)
	e.out = appendString(e.out, token)
	if n := len(e.open); n > 0 && e.open[n-1].wantKey {
		e.open[n-1].wantKey = false
		e.members = append(e.members, echoMember{start: start, keyEnd: len(e.out), index: arrayIndex(e.out[start+1 : len(e.out)-1])})
	}
}

func (e *echo) close(c byte) bool {
	n := len(e.open)
	if n == 0 || e.open[n-1].object != (c == '}') {
		return false
	}
	o := e.open[n-1]
	if o.object {
		e.endMember()
		if !e.order(o) {
			return false
		}
		e.members = e.members[:o.first]
	}
	e.open = e.open[:n-1]
	e.out = append(e.out, c)
	e.at++
	return true
}

// order puts the members of an object into the order in which JavaScript has them.
func (e *echo) order(o echoOpen) bool {
	list := e.members[o.first:]
	var kept []echoMember
	var at map[string]int
	indexes := false
	for i, m := range list {
		indexes = indexes || m.index >= 0
		if len(list) == 1 {
			break
		}
		if at == nil {
			at = make(map[string]int, len(list))
		}
		key := string(e.out[m.start:m.keyEnd])
		if first, twice := at[key]; twice {
			if kept == nil {
				kept = slices.Clone(list[:i])
			}
			kept[first] = m
			continue
		}
		at[key] = i
		if kept != nil {
			at[key] = len(kept)
			kept = append(kept, m)
		}
	}
	if kept == nil && !(indexes && len(list) > 1) {
		return true
	}
	if kept == nil {
		kept = slices.Clone(list)
	}
	slices.SortStableFunc(kept, func(a, b echoMember) int {
		return cmp.Compare(uint64(a.index), uint64(b.index)) // -1, which is no index, comes last
	})
	if e.room -= int64(len(e.out) - o.start); e.room < 0 {
		return false
	}
	old := bytes.Clone(e.out[o.start:])
	e.out = e.out[:o.start]
	for i, m := range kept {
		if i > 0 {
			e.out = append(e.out, ',')
		}
		e.out = append(e.out, old[m.start-o.start:m.end-o.start]...)
	}
	return true
}

// arrayIndex is the number of a key that JavaScript takes for an array index, else -1.
func arrayIndex(key []byte) int64 {
	if len(key) == 0 || len(key) > 10 || key[0] == '0' && len(key) > 1 {
		return -1
	}
	var n int64
	for _, c := range key {
		if c < '0' || c > '9' {
			return -1
		}
		n = n*10 + int64(c-'0')
	}
	if n >= math.MaxUint32 {
		return -1
	}
	return n
}

func appendNumber(dst, token []byte) []byte {
	f, err := strconv.ParseFloat(string(token), 64)
	switch {
	case err != nil && math.IsInf(f, 0):
		return append(dst, "null"...)
	case f == 0:
		return append(dst, '0') // -0, too
	}
	if a := math.Abs(f); a >= 1e-6 && a < 1e21 {
		return strconv.AppendFloat(dst, f, 'f', -1, 64)
	}
	start := len(dst)
	dst = strconv.AppendFloat(dst, f, 'e', -1, 64)
	// JavaScript writes e-7 where Go writes e-07.
	if i := bytes.IndexByte(dst[start:], 'e') + start; dst[i+2] == '0' {
		dst = slices.Delete(dst, i+2, i+3)
	}
	return dst
}

// appendString writes the string token with the escapes that JSON.stringify uses, and no others.
func appendString(dst, token []byte) []byte {
	dst = append(dst, '"')
	b := token[1 : len(token)-1]
	for len(b) > 0 {
		if i := plainASCII(b); i > 0 {
			dst = append(dst, b[:i]...)
			b = b[i:]
			continue
		}
		r, n := unit(b)
		b = b[n:]
		if utf16.IsSurrogate(r) && len(b) > 0 && b[0] == '\\' {
			low, n := unit(b)
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				r, b = pair, b[n:]
			}
		}
		dst = appendRune(dst, r)
	}
	return append(dst, '"')
}

func plainASCII(b []byte) (n int) {
	for n < len(b) && b[n] >= 0x20 && b[n] < 0x80 && b[n] != '"' && b[n] != '\\' {
		n++
	}
	return n
}

// unit returns the character, or the half of one, that the inside of a string token begins with, and its length.
func unit(b []byte) (rune, int) {
	if b[0] != '\\' || len(b) < 2 {
		if r, n := utf8.DecodeRune(b); r != utf8.RuneError || n > 1 {
			return r, n
		}
		return utf8.RuneError, badUTF8(b)
	}
	if b[1] == 'u' && len(b) >= 6 {
		if v, err := strconv.ParseUint(string(b[2:6]), 16, 16); err == nil {
			return rune(v), 6
		}
	}
	if i := bytes.IndexByte([]byte("bfnrt"), b[1]); i >= 0 {
		return rune("\b\f\n\r\t"[i]), 2
	}
	return rune(b[1]), 2
}

// badUTF8 is for how many of the bytes, which are not UTF-8, JavaScript's decoders put one U+FFFD: the beginning of a
// character as far as it goes, else one.
func badUTF8(b []byte) int {
	low, high, more := byte(0x80), byte(0xbf), 0
	switch c := b[0]; {
	case c >= 0xc2 && c <= 0xdf:
		more = 1
	case c >= 0xe0 && c <= 0xef:
		more = 2
		if c == 0xe0 {
			low = 0xa0
		} else if c == 0xed {
			high = 0x9f
		}
	case c >= 0xf0 && c <= 0xf4:
		more = 3
		if c == 0xf0 {
			low = 0x90
		} else if c == 0xf4 {
			high = 0x8f
		}
	}
	n := 1
	for ; n <= more && n < len(b) && b[n] >= low && b[n] <= high; n++ {
		low, high = 0x80, 0xbf
	}
	return n
}

func appendRune(dst []byte, r rune) []byte {
	switch {
	case r == '"' || r == '\\':
		return append(dst, '\\', byte(r))
	case r < 0x20:
		if i := bytes.IndexByte([]byte("\b\f\n\r\t"), byte(r)); i >= 0 {
			return append(dst, '\\', "bfnrt"[i])
		}
		fallthrough
	case utf16.IsSurrogate(r):
		const hex = "0123456789abcdef"
		return append(dst, '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
	}
	return utf8.AppendRune(dst, r)
}
