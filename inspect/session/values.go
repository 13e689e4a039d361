package session

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/cespare/xxhash/v2"

	"pitap/record/rpc"
	"pitap/record/scan"
)

// idOf is how pi writes an id when it gives it back: by that, commands and responses find each other.
func idOf(token []byte) string {
	id, ok := rpc.AppendEcho(make([]byte, 0, 64), token)
	if !ok {
		id = token
	}
	if len(id) > maxKept {
		return fmt.Sprintf("%s… (%d bytes, %016x)", clip(string(id[:64]), 60), len(id), xxhash.Sum64(id))
	}
	return string(id)
}

// memberOf gives the last member of that name of an object, which is JSON; nil when there is none.
func memberOf(object []byte, name string) (value []byte) {
	if len(object) == 0 || object[0] != '{' {
		return nil
	}
	for w := scan.WalkOver(object); w.Next(); {
		if w.Is(name) {
			value = w.Value
		}
	}
	return value
}

// stringOf gives the text of a string token, cut; "" for what is none.
func stringOf(token []byte) string {
	if len(token) < 2 || token[0] != '"' {
		return ""
	}
	if len(token) > 4*maxKept {
		token = append(append([]byte(nil), token[:4*maxKept]...), '"')
	}
	text, _ := scan.Unquote(nil, token)
	return clip(string(text), maxKept)
}

// clip cuts a text after n bytes, between characters.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n] + "…"
}

func intOf(token []byte) int64 {
	if len(token) == 0 || len(token) > 24 {
		return 0
	}
	if len(token) < 18 {
		n, plain := int64(0), true
		for _, c := range token {
			plain = plain && c >= '0' && c <= '9'
			n = n*10 + int64(c-'0')
		}
		if plain {
			return n
		}
	}
	f, err := strconv.ParseFloat(string(token), 64)
	if err != nil || f > 1e15 || f < -1e15 {
		return 0
	}
	return int64(f)
}

func hash(b []byte) uint64 { return xxhash.Sum64(b) }

// sum is a text of which only the length and a hash are kept.
type sum struct {
	digest  xxhash.Digest
	bytes   int64
	inexact bool // of halves of characters, which the sum is not that of
}

func (s *sum) add(text []byte, lossy bool) {
	if s.bytes == 0 {
		s.digest.Reset()
	}
	s.inexact = s.inexact || lossy
	s.digest.Write(text)
	s.bytes += int64(len(text))
}

// is tells whether the text is this one.
func (s *sum) is(text []byte) bool {
	if s.bytes == 0 || s.inexact {
		return len(text) == 0 || s.inexact
	}
	return s.bytes == int64(len(text)) && s.digest.Sum64() == hash(text)
}

func trimLine(s string) string { return string(bytes.TrimSpace([]byte(s))) }
