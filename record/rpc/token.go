package rpc

import (
	"bytes"
	"unicode/utf8"

	"pitap/record/scan"
)

// typeOf returns the JSON type of a token, 0 for none, as its first byte tells it.
func typeOf(token []byte) Types {
	if len(token) == 0 {
		return 0
	}
	switch c := token[0]; c {
	case '"':
		return String
	case '{':
		return Object
	case '[':
		return Array
	case 't', 'f':
		return Bool
	case 'n':
		return Null
	default:
		if c == '-' || c >= '0' && c <= '9' {
			return Number
		}
		return 0
	}
}

// text returns what a string token says; another token as it is. It may be a part of token.
func text(token []byte) []byte {
	if typeOf(token) != String || len(token) < 2 {
		return token
	}
	inner := token[1 : len(token)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return inner
	}
	inner, _ = scan.Unescape(nil, inner)
	return inner
}

// member returns the last member of that name of an object, nil when it has none.
func member(obj []byte, name string) (value []byte) {
	for members := scan.MembersOf(obj); members.Next(); {
		if members.Is(name) {
			value = obj[members.Start:members.End]
		}
	}
	return value
}

// nextElement returns where the element lies that begins at array[at], after white space and a comma if need be.
// end is -1 when there is none.
func nextElement(array []byte, at int) (start, end int) {
	for at < len(array) && (array[at] == ',' || bytes.IndexByte([]byte(" \t\r\n"), array[at]) >= 0) {
		at++
	}
	if at >= len(array) || array[at] == ']' {
		return at, -1
	}
	return at, scan.ValueEnd(array, at)
}

// keyText is what a key says, quotes not included, as short as a name should be.
func keyText(key []byte) string {
	if bytes.IndexByte(key, '\\') >= 0 {
		key, _ = scan.Unescape(nil, key[:min(len(key), 6*maxName)])
	}
	return cutName(key)
}

// cutName returns name, or its beginning when no vocabulary could have it.
func cutName(name []byte) string { return cut(name, maxName) }

// shorten is a token, or as much of it as a message has room for.
func shorten(token []byte) string { return cut(token, 60) }

// cut returns at most size bytes of text and "…" in place of the rest, which is valid UTF-8 when text is.
func cut(text []byte, size int) string {
	if len(text) <= size {
		return string(text)
	}
	for size > 0 && !utf8.RuneStart(text[size]) {
		size--
	}
	return string(text[:size]) + "…"
}

func quote(name string) string { return string(scan.AppendQuote(nil, []byte(name))) }
