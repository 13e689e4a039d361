package replay

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"pitap/record/scan"
)

// maxIDDepth is the nesting down to which an id is written as JavaScript writes it; deeper values stay as they are.
const maxIDDepth = 64

// echo appends a JSON token as JSON.stringify(JSON.parse(token)) writes it, which is how pi gives an id back.
func echo(dst, token []byte) []byte { return echoAt(dst, token, 0) }

func echoAt(dst, token []byte, depth int) []byte {
	token = bytes.Trim(token, " \t\r\n")
	if len(token) == 0 {
		return dst
	}
	switch c := token[0]; {
	case c == '"':
		return echoString(dst, token)
	case c == '-' || c >= '0' && c <= '9':
		return echoNumber(dst, token)
	case c == '{' && depth < maxIDDepth:
		return echoObject(dst, token, depth)
	case c == '[' && depth < maxIDDepth:
		return echoArray(dst, token, depth)
	}
	return append(dst, token...)
}

func echoArray(dst, token []byte, depth int) []byte {
	dst = append(dst, '[')
	for at, i := 1, 0; ; i++ {
		for at < len(token) && bytes.IndexByte([]byte(" \t\r\n,"), token[at]) >= 0 {
			at++
		}
		end := -1
		if at < len(token) && token[at] != ']' {
			end = scan.ValueEnd(token, at)
		}
		if end < 0 {
			return append(dst, ']')
		}
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = echoAt(dst, token[at:end], depth+1)
		at = end
	}
}

// echoObject writes integer keys first, in their order, then the others as they came; of a key that occurs twice the
// place of the first and the value of the last.
func echoObject(dst, token []byte, depth int) []byte {
	type pair struct {
		key   string // as JSON
		index int64  // of an integer key, else -1
		value []byte
	}
	var pairs []pair
	seen := map[string]int{}
	for m := scan.MembersOf(token); m.Next(); {
		text, _ := scan.Unescape(nil, m.Key)
		key := string(echoString(nil, token[keyStart(token, m.Key):][:len(m.Key)+2]))
		index := int64(-1)
		if n, err := strconv.ParseUint(string(text), 10, 32); err == nil && n < math.MaxUint32 && strconv.FormatUint(n, 10) == string(text) {
			index = int64(n)
		}
		if i, ok := seen[key]; ok {
			pairs[i].value = token[m.Start:m.End]
			continue
		}
		seen[key] = len(pairs)
		pairs = append(pairs, pair{key, index, token[m.Start:m.End]})
	}
	slices.SortStableFunc(pairs, func(a, b pair) int {
		switch {
		case a.index >= 0 && b.index >= 0:
			return int(a.index - b.index)
		case a.index >= 0:
			return -1
		case b.index >= 0:
			return 1
		}
		return 0
	})
	dst = append(dst, '{')
	for i, p := range pairs {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(dst, p.key...), ':')
		dst = echoAt(dst, p.value, depth+1)
	}
	return append(dst, '}')
}

// keyStart is the offset in b of the quote before key, which is a part of b.
func keyStart(b, key []byte) int { return cap(b) - cap(key) - 1 }

func echoNumber(dst, token []byte) []byte {
	f, err := strconv.ParseFloat(string(token), 64)
	switch {
	case err != nil && math.IsInf(f, 0):
		return append(dst, "null"...)
	case err != nil:
		return append(dst, token...)
	case f == 0:
		return append(dst, '0')
	}
	if a := math.Abs(f); a >= 1e-6 && a < 1e21 {
		return strconv.AppendFloat(dst, f, 'f', -1, 64)
	}
	s := strconv.AppendFloat(nil, f, 'e', -1, 64) // e-07 where JavaScript writes e-7
	if i := bytes.IndexByte(s, 'e'); i >= 0 && i+2 < len(s) && s[i+2] == '0' {
		s = slices.Delete(s, i+2, i+3)
	}
	return append(dst, s...)
}

// echoString decodes a string token and writes it with the escapes that JSON.stringify uses, and no others.
func echoString(dst, token []byte) []byte {
	if len(token) < 2 {
		return append(dst, token...)
	}
	dst = append(dst, '"')
	token = token[1 : len(token)-1]
	for len(token) > 0 {
		unit, n := unitAt(token)
		token = token[n:]
		if utf16.IsSurrogate(unit) {
			low, n := rune(-1), 0
			if len(token) > 0 {
				low, n = unitAt(token)
			}
			if pair := utf16.DecodeRune(unit, low); pair != utf8.RuneError {
				unit, token = pair, token[n:]
			}
		}
		dst = appendUnit(dst, unit)
	}
	return append(dst, '"')
}

// unitAt is the character, or the half of one, that b begins with, and its length.
func unitAt(b []byte) (rune, int) {
	if b[0] != '\\' || len(b) < 2 {
		return utf8.DecodeRune(b)
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

func appendUnit(dst []byte, r rune) []byte {
	switch {
	case r == '"' || r == '\\':
		return append(dst, '\\', byte(r))
	case r == '\b':
		return append(dst, `\b`...)
	case r == '\f':
		return append(dst, `\f`...)
	case r == '\n':
		return append(dst, `\n`...)
	case r == '\r':
		return append(dst, `\r`...)
	case r == '\t':
		return append(dst, `\t`...)
	case r < 0x20 || utf16.IsSurrogate(r):
		const hex = "0123456789abcdef"
		return append(dst, '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
	}
	return utf8.AppendRune(dst, r)
}

// withID appends an agent's record with another id: id is a token, nil to leave the member out. A record without an id
// gets it in front, where pi writes it, if insert says so. The rest of the record stays byte for byte; it may be the
// beginning of a record.
func withID(dst, body, id []byte, insert bool) []byte {
	start, end, value := -1, -1, -1
	for m := scan.MembersOf(body); m.Next(); {
		if m.Is("id") {
			start, value, end = keyStart(body, m.Key), m.Start, m.End
		}
	}
	switch {
	case start < 0 && (id == nil || !insert):
		return append(dst, body...)
	case start < 0:
		open := bytes.IndexByte(body, '{') + 1
		dst = append(append(append(dst, body[:open]...), `"id":`...), id...)
		if rest := bytes.TrimLeft(body[open:], " \t"); len(rest) > 0 && rest[0] != '}' {
			dst = append(dst, ',')
		}
		return append(dst, body[open:]...)
	case id != nil:
		dst = append(append(dst, body[:value]...), id...)
		return append(dst, body[end:]...)
	}
	if rest := bytes.TrimLeft(body[end:], " \t"); len(rest) > 0 && rest[0] == ',' {
		return append(append(dst, body[:start]...), rest[1:]...)
	}
	return append(append(dst, bytes.TrimRight(body[:start], " \t,")...), body[end:]...)
}
