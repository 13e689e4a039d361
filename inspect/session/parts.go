package session

import (
	"bytes"

	"pitap/record"
	"pitap/record/scan"
)

// maxValue is how much of one member is kept of a record that stays in parts, in bytes.
const maxValue = 4096

// parts is a record that comes in parts. It keeps a digest: its members, with long values cut.
type parts struct {
	Moment        // of the first part
	bytes   int64 // that came
	latest  int64 // when the latest came
	off     int64 // of the first part in its stream
	cr      int64 // where its first CR is; -1 without one
	damaged bool  // its beginning, or something of it, is missing
	scanner *scan.Scanner
	spans   scan.Spans
	keys    [][]byte
	values  [][]byte
}

// part takes the next part of a record.
func (s *Session) part(e *record.Entry) {
	p := s.parts[e.From]
	if p == nil {
		p = &parts{Moment: Moment{e.N, e.T, "half"}, off: e.Off, cr: -1}
		p.scanner = scan.NewScanner(&p.spans)
		s.parts[e.From] = p
	}
	if p.latest = e.T; !p.damaged {
		p.add(e.Body)
	}
	if !e.Last {
		return
	}
	s.parts[e.From] = nil
	if p.damaged {
		return
	}
	r := &Record{Entry: e, Body: p.digest(), Size: p.bytes, Cut: true, JSON: p.scanner.Result().JSON}
	whole := *e
	whole.N, whole.Off = p.N, e.Off+int64(len(e.Body))-p.bytes
	r.Entry = &whole
	scan.ScanMembers(r.Body, &s.spans)
	r.spans = &s.spans
	s.record(r)
}

// add takes bytes of the record.
func (p *parts) add(b []byte) {
	base := p.bytes
	if at := bytes.IndexByte(b, '\r'); at >= 0 && p.cr < 0 {
		p.cr = base + int64(at)
	}
	p.scanner.Write(b)
	p.bytes += int64(len(b))
	for i := range p.spans.List {
		if len(p.keys) == i {
			p.keys, p.values = append(p.keys, nil), append(p.values, nil)
		}
		m := &p.spans.List[i]
		p.keys[i] = appendPart(p.keys[i], b, base, int64(m.Key), endOf(m.KeyEnd, p.bytes))
		if m.Start > 0 {
			p.values[i] = appendPart(p.values[i], b, base, int64(m.Start), endOf(m.End, p.bytes))
		}
	}
}

// endOf is where what goes on ends for now.
func endOf(at int, now int64) int64 {
	if at == 0 {
		return now
	}
	return int64(at)
}

// appendPart appends what of the record's bytes from start to end lies in b, which begins at base, up to maxValue of
// them.
func appendPart(dst, b []byte, base, start, end int64) []byte {
	from := start + int64(len(dst)) - base
	to := min(end, start+maxValue) - base
	if from < 0 || to <= from || to > int64(len(b)) {
		return dst
	}
	return append(dst, b[from:to]...)
}

// digest is the record as an object with its members, of which long strings are cut and long objects and arrays empty.
func (p *parts) digest() []byte {
	d := []byte{'{'}
	for i, key := range p.keys {
		m := &p.spans.List[i]
		if m.End == 0 {
			break
		}
		if i > 0 {
			d = append(d, ',')
		}
		d = append(append(append(d, '"'), key...), '"', ':')
		value := p.values[i]
		switch {
		case m.End-m.Start <= len(value):
			d = append(d, value...)
		case len(value) < maxValue: // does not happen
			d = append(d, "null"...)
		case value[0] == '{':
			d = append(d, "{}"...)
		case value[0] == '[':
			d = append(d, "[]"...)
		case value[0] == '"':
			text, _ := scan.Unescape(nil, value[1:maxValue-12]) // it may have been cut in an escape
			d = scan.AppendQuote(d, text)
		default:
			d = append(d, '0')
		}
	}
	return append(d, '}')
}
