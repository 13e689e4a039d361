package record

import (
	"bytes"
	"encoding/base64"
	"fmt"

	"pitap/record/scan"
)

const (
	maxCount = 1 << 60 // the greatest number in an entry, so that sums of them stay numbers
	maxSuper = 1 << 20 // parts that are superseded at once
)

// decoder reads entry lines. It owns the bytes of the entry that it read last.
type decoder struct {
	m     members
	body  []byte // decoded text and base64
	cuts  []Cut
	nums  []int64
	super []int64
	spans scan.Spans // of the members of msg
	alike scan.Alike // the latest delta
}

// ParseEntry reads one entry line, with or without its LF. Body may lie in line. Members and notes that are not known
// are no error. Offsets in errors count from the line's first byte.
func ParseEntry(line []byte) (*Entry, error) {
	e := new(Entry)
	return e, new(decoder).parse(line, e)
}

// members holds the members of an entry line.
type members struct {
	n, t, off, more    int64
	eol                string
	note, hasOff       bool
	part, last         bool
	cuts, flags, super token
	text, base64, msg  token
	from               token
	scanned            scan.Result // of msg
	spans              *scan.Spans // of msg
	alike              *scan.Alike
	same               alike
	tried              bool // lastMember was
}

// token is a JSON value of a line; at is its offset there. A member that is missing has none.
type token struct {
	b  []byte
	at int
}

// parse reads an entry line into e, whose slices are valid until the next call. In fixtures n, t and off may be missing:
// then they are 0.
func (d *decoder) parse(line []byte, e *Entry) error {
	line = bytes.TrimSuffix(line, []byte{'\n'})
	*e = Entry{Line: line}
	m := &d.m
	*m = members{eol: "\n", spans: &d.spans, alike: &d.alike}
	if !m.quick(line) {
		if err := m.walk(line); err != nil {
			return err
		}
	}
	if m.note {
		if err := parseNote(line, e); err != nil {
			return err
		}
		e.Line = line
		return nil
	}
	switch e.From = streamOf(m.from.b); {
	case m.from.b == nil:
		return fmt.Errorf("no member from, up to byte %d", len(line))
	case e.From == NoStream:
		return fmt.Errorf("member from at byte %d is %.30q, neither client, agent nor stderr", m.from.at, m.from.b)
	}
	e.N, e.T, e.Off = m.n, m.t, m.off
	e.Part, e.Last, e.EOL = m.part, m.part && m.last, m.eol
	if e.Part && !e.Last {
		e.EOL = ""
	}
	if err := d.lists(e); err != nil {
		return err
	}
	return d.bytes(e)
}

// walk finds the members of the object that line is.
func (m *members) walk(line []byte) error {
	at := skipSpace(line, 0)
	if at >= len(line) || line[at] != '{' {
		return fmt.Errorf("no JSON object at byte %d", at)
	}
	at = skipSpace(line, at+1)
	if at < len(line) && line[at] == '}' {
		return trailing(line, at+1)
	}
	for {
		end := valueEnd(line, at)
		if end < 0 || line[at] != '"' {
			return fmt.Errorf("no member name at byte %d", at)
		}
		key := line[at+1 : end-1]
		at = skipSpace(line, end)
		if at >= len(line) || line[at] != ':' {
			return fmt.Errorf("no colon at byte %d", at)
		}
		at = skipSpace(line, at+1)
		if string(key) == "msg" && m.lastMember(line, at) {
			return nil
		}
		if end = valueEnd(line, at); end < 0 {
			return fmt.Errorf("no JSON value at byte %d, for %.30q", at, key)
		}
		if err := m.set(key, token{line[at:end], at}); err != nil {
			return err
		}
		at = skipSpace(line, end)
		switch {
		case at < len(line) && line[at] == ',':
			at = skipSpace(line, at+1)
		case at < len(line) && line[at] == '}':
			return trailing(line, at+1)
		default:
			return fmt.Errorf("no comma at byte %d", at)
		}
	}
}

// lastMember takes msg where it is the last member, as this package writes it: one pass tells that it is JSON and all
// that is asked of it later. It is tried once a line, so that a line of many of them does not cost the square of it.
func (m *members) lastMember(line []byte, at int) bool {
	end := len(line) - 1
	if m.tried || at >= end || line[end] != '}' || line[end-1] <= ' ' {
		return false
	}
	m.tried = true
	b := line[at:end]
	r := m.scan(b)
	if r.Valid {
		m.msg, m.scanned = token{b, at}, r
	}
	return r.Valid
}

func trailing(line []byte, at int) error {
	if at = skipSpace(line, at); at < len(line) {
		return fmt.Errorf("something behind the object at byte %d", at)
	}
	return nil
}

// set takes a member. Of several of one name the last holds, as for other readers of JSON.
func (m *members) set(key []byte, v token) (err error) {
	var to *int64
	switch string(key) {
	case "n":
		to = &m.n
	case "t":
		to = &m.t
	case "off":
		to, m.hasOff = &m.off, true
	case "moreCuts":
		to = &m.more
	case "from":
		m.from = v
	case "part":
		m.part = string(v.b) == "true"
	case "last":
		m.last = string(v.b) == "true"
	case "eol":
		switch string(v.b) {
		case `""`:
			m.eol = ""
		case `"\n"`:
			m.eol = "\n"
		case `"\r\n"`:
			m.eol = "\r\n"
		default:
			return fmt.Errorf(`member eol at byte %d is %.30q, neither "", "\n" nor "\r\n"`, v.at, v.b)
		}
	case "cuts":
		m.cuts = v
	case "flags":
		m.flags = v
	case "supersedes":
		m.super = v
	case "text":
		m.text = v
	case "base64":
		m.base64 = v
	case "note":
		m.note = true
	case "msg":
		m.msg, m.scanned = v, scan.ScanMembers(v.b, m.spans)
		if !m.scanned.Valid {
			return fmt.Errorf("member msg is not UTF-8 at byte %d", v.at+max(0, m.scanned.ErrAt))
		}
	}
	if to != nil {
		if *to, err = count(v.b); err != nil {
			return fmt.Errorf("member %s at byte %d is %.30q, not a count", key, v.at, v.b)
		}
	}
	return nil
}

// streamOf reads the name of a stream as a JSON string; NoStream if it is none.
func streamOf(b []byte) Stream {
	for s := Client; s < streamCount; s++ {
		if name := streamNames[s]; len(b) == len(name)+2 && string(b[1:len(b)-1]) == name {
			return s
		}
	}
	return NoStream
}

// count reads a number without sign, fraction and exponent.
func count(b []byte) (v int64, err error) {
	v, n := digits(b)
	if n == 0 || n < len(b) {
		err = fmt.Errorf("not a count")
	}
	return v, err
}

// digits reads the decimal digits that b begins with; n is 0 for none, and for more than maxCount.
func digits(b []byte) (v int64, n int) {
	for n < len(b) && b[n]-'0' <= 9 {
		v = v*10 + int64(b[n]-'0')
		if v > maxCount {
			return 0, 0
		}
		n++
	}
	return v, n
}

// lists reads the members that few entries have.
func (d *decoder) lists(e *Entry) error {
	if v := d.m.cuts; v.b != nil {
		nums, total, bad := numbers(d.nums[:0], v.b, 2, 2*maxCuts)
		if bad >= 0 {
			return fmt.Errorf("member cuts is no list of pairs of counts at byte %d", v.at+bad)
		}
		d.nums, d.cuts = nums, d.cuts[:0]
		for i := 0; i < len(nums); i += 2 {
			d.cuts = append(d.cuts, Cut{nums[i], nums[i+1]})
		}
		if e.Cuts = d.cuts; len(e.Cuts) > 0 {
			e.MoreCuts = d.m.more + int64((total-len(nums))/2)
		}
	}
	if v := d.m.super; v.b != nil {
		nums, _, bad := numbers(d.super[:0], v.b, 1, maxSuper)
		if bad >= 0 {
			return fmt.Errorf("member supersedes is no list of counts at byte %d", v.at+bad)
		}
		d.super, e.Supersedes = nums, nums
	}
	for names := d.m.flags.b; ; { // names have no escapes
		from := bytes.IndexByte(names, '"') + 1
		n := bytes.IndexByte(names[from:], '"')
		if from == 0 || n < 0 {
			return nil
		}
		f, _ := ParseFlag(string(names[from : from+n])) // a flag that is not known is ignored
		e.Flags |= f
		names = names[from+n+1:]
	}
}

// numbers appends the counts in b to dst, up to limit of them: b is a JSON list of them, or with depth 2 a list of lists
// of two. total is how many there are, bad the offset of what is no such list, or -1.
func numbers(dst []int64, b []byte, depth, limit int) (nums []int64, total, bad int) {
	in := 0
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case c == '[' && in < depth:
			in++
		case c == ']' && (in == 1 || total%2 == 0):
			in--
		case c == ',' || c <= ' ':
		default:
			v, n := digits(b[i:])
			if n == 0 || in < depth {
				return dst, total, i
			}
			if total++; total <= limit {
				dst = append(dst, v)
			}
			i += n - 1
		}
	}
	return dst, total, -1
}

func (d *decoder) bytes(e *Entry) error {
	if cap(d.body) > 4<<20 {
		d.body = nil
	}
	m := &d.m
	switch {
	case m.msg.b != nil:
		e.Form, e.Body, e.scanned, e.spans, e.same = Msg, m.msg.b, m.scanned, m.spans, m.same
		return nil
	case m.text.b != nil:
		body, lossy := scan.Unquote(d.body[:0], m.text.b)
		if lossy || m.text.b[0] != '"' {
			return fmt.Errorf("member text at byte %d is no string of whole characters", m.text.at)
		}
		e.Form, e.Body, d.body = Text, body, body
		return nil
	case m.base64.b != nil:
		code := m.base64.b
		if len(code) < 2 || code[0] != '"' {
			return fmt.Errorf("member base64 at byte %d is no string", m.base64.at)
		}
		code = code[1 : len(code)-1]
		if bytes.IndexByte(code, '\\') >= 0 { // some writers of JSON escape the slash
			code, _ = scan.Unescape(nil, code)
		}
		body, err := base64.StdEncoding.AppendDecode(d.body[:0], code)
		if err != nil {
			return fmt.Errorf("member base64 at byte %d: %v", m.base64.at, err)
		}
		e.Form, e.Body, d.body = Base64, body, body
		return nil
	}
	return fmt.Errorf("no member msg, text, base64 or note, up to byte %d", len(e.Line))
}

// valueEnd returns the offset behind the JSON value at b[at], -1 if there is none. Short strings and counts, which is
// what most members are, are seen at once.
func valueEnd(b []byte, at int) int {
	if at >= len(b) {
		return -1
	}
	i := at
	switch c := b[at]; {
	case c == '"':
		for i++; i < len(b) && i < at+32 && b[i] >= ' ' && b[i] != '\\' && b[i] < 0x7F; i++ {
			if b[i] == '"' {
				return i + 1
			}
		}
	case c-'1' <= 8:
		for i++; i < len(b) && b[i]-'0' <= 9; i++ {
		}
		if i < len(b) && (b[i] == ',' || b[i] == '}') {
			return i
		}
	}
	return scan.ValueEnd(b, at)
}

func skipSpace(b []byte, at int) int {
	for at < len(b) && (b[at] == ' ' || b[at] == '\t' || b[at] == '\r') {
		at++
	}
	return at
}
