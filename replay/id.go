package replay

import (
	"bytes"

	"pitap/record/rpc"
	"pitap/record/scan"
)

// echo appends an id as pi gives it back; one that pi could not give back, it appends as it is.
func echo(dst, token []byte) []byte {
	token = bytes.Trim(token, " \t\r\n")
	if out, ok := rpc.AppendEcho(dst, token); ok {
		return out
	}
	return append(dst, token...)
}

// keyStart is the offset in b of the quote before key, which is a part of b.
func keyStart(b, key []byte) int { return cap(b) - cap(key) - 1 }

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
