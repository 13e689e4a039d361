package record

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"pitap/record/scan"
)

// decoder reads entry lines. It owns the bytes of the entry that it read last.
type decoder struct {
	body  []byte // decoded text and base64
	cuts  []Cut
	super []int64
}

// ParseEntry reads one entry line, with or without its LF. Body may lie in line. Members and notes that are not known
// are no error. Offsets in errors count from the line's first byte.
func ParseEntry(line []byte) (*Entry, error) {
	e := new(Entry)
	return e, new(decoder).parse(line, e)
}

// parse reads an entry line into e, whose slices are valid until the next call. In fixtures n and t are missing: then
// they are 0.
func (d *decoder) parse(line []byte, e *Entry) error {
	line = bytes.TrimSuffix(line, []byte{'\n'})
	*e = Entry{Line: line, EOL: "\n"}
	at := skipSpace(line, 0)
	if at >= len(line) || line[at] != '{' {
		return fmt.Errorf("no JSON object")
	}
	var ln memberLine
	if err := ln.walk(line, at+1); err != nil {
		return err
	}
	if ln.note {
		if err := parseNote(line, e); err != nil {
			return err
		}
		e.Line = line
		return nil
	}
	return d.members(line, &ln, e)
}

// memberLine holds where the members of an entry line are, as spans of their values.
type memberLine struct {
	n, t, off, from, part, last, eol, cuts, more, flags, super, msg, text, base64 []byte
	scanned                                                                       scan.Result // of msg
	note                                                                          bool
}

func (m *memberLine) walk(line []byte, at int) error {
	at = skipSpace(line, at)
	if at < len(line) && line[at] == '}' {
		return trailing(line, at+1)
	}
	for {
		at = skipSpace(line, at)
		keyEnd := scan.ValueEnd(line, at)
		if keyEnd < 0 || line[at] != '"' {
			return fmt.Errorf("no member name at byte %d", at)
		}
		key := line[at+1 : keyEnd-1]
		at = skipSpace(line, keyEnd)
		if at >= len(line) || line[at] != ':' {
			return fmt.Errorf("no colon at byte %d", at)
		}
		at = skipSpace(line, at+1)
		if string(key) == "msg" && line[len(line)-1] == '}' {
			// The last member, as this package writes it: one pass tells its end and all that is asked of it later.
			if r := scan.Scan(line[at : len(line)-1]); r.Valid {
				m.msg, m.scanned = line[at:len(line)-1], r
				return nil
			}
		}
		end := scan.ValueEnd(line, at)
		if end < 0 {
			return fmt.Errorf("no JSON value at byte %d", at)
		}
		m.set(key, line[at:end])
		at = skipSpace(line, end)
		switch {
		case at < len(line) && line[at] == ',':
			at++
		case at < len(line) && line[at] == '}':
			return trailing(line, at+1)
		default:
			return fmt.Errorf("no comma at byte %d", at)
		}
	}
}

func trailing(line []byte, at int) error {
	if at = skipSpace(line, at); at < len(line) {
		return fmt.Errorf("something behind the object at byte %d", at)
	}
	return nil
}

func (m *memberLine) set(key, value []byte) {
	switch string(key) {
	case "n":
		m.n = value
	case "t":
		m.t = value
	case "off":
		m.off = value
	case "from":
		m.from = value
	case "part":
		m.part = value
	case "last":
		m.last = value
	case "eol":
		m.eol = value
	case "cuts":
		m.cuts = value
	case "moreCuts":
		m.more = value
	case "flags":
		m.flags = value
	case "supersedes":
		m.super = value
	case "msg":
		m.msg = value
		m.scanned = scan.Scan(value)
	case "text":
		m.text = value
	case "base64":
		m.base64 = value
	case "note":
		m.note = true
	}
}

func (d *decoder) members(line []byte, m *memberLine, e *Entry) error {
	for _, f := range []struct {
		name  string
		value []byte
		to    *int64
	}{{"n", m.n, &e.N}, {"t", m.t, &e.T}, {"off", m.off, &e.Off}, {"moreCuts", m.more, &e.MoreCuts}} {
		if f.value == nil {
			continue
		}
		v, err := strconv.ParseInt(string(f.value), 10, 64)
		if err != nil || v < 0 {
			return fmt.Errorf("member %s is %.30q, not a count", f.name, f.value)
		}
		*f.to = v
	}
	from, _ := d.unquote(nil, m.from)
	e.From, _ = ParseStream(string(from))
	if e.From == NoStream {
		return fmt.Errorf("member from is %.30q: neither client, agent nor stderr", m.from)
	}
	e.Part, e.Last = string(m.part) == "true", string(m.last) == "true"
	if e.Part && !e.Last {
		e.EOL = ""
	}
	if m.eol != nil {
		eol, _ := d.unquote(nil, m.eol)
		if e.EOL = string(eol); e.EOL != "" && e.EOL != "\n" && e.EOL != "\r\n" {
			return fmt.Errorf("member eol is %.30q", m.eol)
		}
	}
	if err := d.lists(m, e); err != nil {
		return err
	}
	return d.bytes(m, e)
}

// lists reads the members that few entries have.
func (d *decoder) lists(m *memberLine, e *Entry) error {
	if m.cuts != nil {
		var pairs [][2]int64
		if err := json.Unmarshal(m.cuts, &pairs); err != nil {
			return fmt.Errorf("member cuts: %v", err)
		}
		d.cuts = d.cuts[:0]
		for _, p := range pairs {
			d.cuts = append(d.cuts, Cut{p[0], p[1]})
		}
		e.Cuts = d.cuts
	}
	if m.super != nil {
		d.super = d.super[:0]
		if err := json.Unmarshal(m.super, &d.super); err != nil {
			return fmt.Errorf("member supersedes: %v", err)
		}
		e.Supersedes = d.super
	}
	if m.flags != nil {
		var names []string
		if err := json.Unmarshal(m.flags, &names); err != nil {
			return fmt.Errorf("member flags: %v", err)
		}
		for _, name := range names {
			f, _ := ParseFlag(name) // a flag that is not known is ignored
			e.Flags |= f
		}
	}
	return nil
}

func (d *decoder) bytes(m *memberLine, e *Entry) error {
	switch {
	case m.msg != nil:
		e.Form, e.Body, e.scanned = Msg, m.msg, m.scanned
	case m.text != nil:
		body, ok := d.unquote(d.body[:0], m.text)
		if !ok {
			return errors.New("member text is no string of whole characters")
		}
		e.Form, e.Body, d.body = Text, body, body
	case m.base64 != nil:
		text, ok := d.unquote(nil, m.base64)
		body, err := base64.StdEncoding.AppendDecode(d.body[:0], text)
		if err != nil || !ok {
			return fmt.Errorf("member base64: %v", err)
		}
		e.Form, e.Body, d.body = Base64, body, body
	default:
		return errors.New("neither msg, text, base64 nor note")
	}
	if cap(d.body) > 4<<20 {
		d.body = nil
	}
	return nil
}

// unquote decodes a JSON string token; ok is false for what is none, and for lone surrogates.
func (d *decoder) unquote(dst, token []byte) ([]byte, bool) {
	if len(token) < 2 || token[0] != '"' {
		return dst, false
	}
	out, lossy := scan.Unquote(dst, token)
	return out, !lossy
}

// parseNote reads a note, with or without n and t.
func parseNote(line []byte, e *Entry) error {
	var j struct {
		N int64 `json:"n"`
		T int64 `json:"t"`
		noteJSON
	}
	if err := json.Unmarshal(line, &j); err != nil {
		return fmt.Errorf("note: %v", err)
	}
	e.N, e.T = j.N, j.T
	e.From, _ = ParseStream(j.From)
	if j.Off != nil {
		e.Off = *j.Off
	}
	e.EOL = ""
	e.Note = &Note{Kind: j.Note, Signal: j.Signal, To: j.To, Code: j.Code, Error: j.Error, Since: j.Since, For: j.For,
		By: j.By, Bytes: j.Bytes, Lost: j.Lost, Path: j.Path, Data: j.Data, Totals: j.Totals}
	if j.Wall != nil {
		e.Note.Wall = *j.Wall
	}
	return nil
}

func skipSpace(b []byte, at int) int {
	for at < len(b) && (b[at] == ' ' || b[at] == '\t' || b[at] == '\r') {
		at++
	}
	return at
}
