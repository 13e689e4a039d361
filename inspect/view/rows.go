package view

import (
	"bytes"
	"strings"

	"pitap/inspect"
	"pitap/inspect/text"
	"pitap/record"
	"pitap/record/scan"
)

// Row is what the list shows of an entry, or of a block of deltas. Its texts are visible already.
type Row struct {
	Pos   int64
	N, T  int64
	Gap   int64 // nanoseconds since the entry before it
	From  record.Stream
	Note  bool
	Arrow string
	Kind  string // in few letters
	Full  string // as the protocol has it
	ID    string
	Size  int64
	Took  int64 // nanoseconds since what it answers or ends, -1 without such a thing
	Flags string
	Text  string
	Tone  inspect.Tone
	Count int64 // entries of the block, 1 for a row of its own
	Last  int64 // number of the block's last entry
	Taken int64 // entries of the block that the filter takes; Count without a filter
	Quiet bool  // a delta, or an end that says nothing new
}

const (
	maxRows    = 4000
	maxRowText = 600 // bytes of a row's text
)

// Row gives a row. The caller must not change it.
func (s *Store) Row(pos int64) *Row {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.links.update(s.sess) {
		clear(s.rows)
	}
	if r := s.rows[pos]; r != nil {
		return r
	}
	if len(s.rows) > maxRows {
		clear(s.rows)
	}
	r := s.makeRow(pos)
	s.rows[pos] = r
	return r
}

// entry parses the entry at a position. Its bytes lie in a frame's content and must not be changed.
func (s *Store) entry(pos int64) (*record.Entry, error) {
	k := s.frameAt(pos)
	if k < 0 || pos >= s.count {
		return nil, errNoEntry
	}
	f := s.frames[k]
	if f.bad != "" {
		return nil, errDamaged{f.bad}
	}
	c, err := s.content(f)
	if err != nil {
		f.bad = err.Error()
		return nil, err
	}
	i := int(pos - f.base)
	e, err := record.ParseEntry(c.line(i))
	if err != nil {
		return nil, err
	}
	if e.N == 0 {
		e.N = f.first + int64(i)
	}
	return e, nil
}

type errDamaged struct{ cause string }

func (e errDamaged) Error() string { return e.cause }

const errNoEntry = constError("no such entry")

type constError string

func (e constError) Error() string { return string(e) }

// asRow makes what package inspect speaks of of an entry.
func (s *Store) asRow(pos int64, e *record.Entry) *inspect.Row {
	r := &inspect.Row{N: e.N, T: e.T, From: e.From, Note: e.Note, Off: e.Off, Form: e.Form, Body: e.Body,
		Size: int64(len(e.Body)), EOL: e.EOL, Flags: e.Flags, First: e.N, Line: e.Line}
	if !e.Part {
		return r
	}
	r.Line = nil
	p, ok := s.parts[pos]
	if !ok {
		return r
	}
	r.Size = p.bytes
	r.Open = !p.whole
	if !p.whole && pos < s.loaded && (!s.pass.half[e.From&3].any || s.pass.half[e.From&3].last != pos) {
		r.Open, r.Broken = false, true
	}
	if p.first == pos {
		return r
	}
	if first, err := s.entry(p.first); err == nil {
		r.First, r.Off, r.Body = first.N, first.Off, first.Body[:min(len(first.Body), 64<<10)]
	}
	return r
}

func (s *Store) makeRow(pos int64) *Row {
	row := &Row{Pos: pos, Count: 1, Taken: 1, Took: -1, N: -1}
	e, err := s.entry(pos)
	if err != nil {
		row.Arrow, row.Kind, row.Text, row.Tone = "×", "damage", text.VisibleString(err.Error()), inspect.Bad
		if k := s.frameAt(pos); k >= 0 {
			f := s.frames[k]
			row.N, row.T, row.Last = f.first, f.t0, f.first+int64(f.count)-1
			row.Count = int64(f.count)
		}
		return row
	}
	r := s.asRow(pos, e)
	row.N, row.T, row.From, row.Note, row.Last = r.N, r.T, r.From, r.Note != nil, r.N
	row.Gap = s.gap(pos, r.T)
	var sum inspect.Summarizer
	if l := s.links.to(r.N); l != nil {
		row.Took = l.took
		if p, err := s.entry(s.pos(l.a)); err == nil {
			sum.Look(s.asRow(s.pos(l.a), p))
		}
	}
	v := sum.Look(r)
	said, tone := sum.Summary(r, v, maxRowText)
	row.Arrow = inspect.Arrow(r)
	row.Kind, row.Full, row.ID = text.VisibleString(v.Short), text.VisibleString(v.Kind), text.VisibleString(v.ID)
	row.Size, row.Flags, row.Tone = r.Size, inspect.FlagWords(r.Flags), tone
	start, end := s.group(pos)
	row.Quiet = isDelta(v.Kind)
	if end-start > 1 && row.Quiet {
		said = s.block(row, pos, start, end, said)
	}
	row.Text = string(text.Visible(nil, said))
	return row
}

func isDelta(kind string) bool {
	return strings.HasPrefix(kind, "message_update:") || kind == "bash_execution_update" || kind == "tool_execution_update"
}

// gap is the time since the entry before. Notes of lag are passed over: they stand behind what was recorded late.
func (s *Store) gap(pos, t int64) int64 {
	for at := pos - 1; at >= 0 && at >= pos-maxAside; at-- {
		if k := s.frameAt(at + 1); k > 0 && s.frames[k].base == at+1 {
			return max(0, t-s.frames[k-1].t1)
		}
		e, err := s.entry(at)
		if err != nil {
			return 0
		}
		if e.Note == nil || e.Note.Kind != "lag" {
			return max(0, t-e.T)
		}
	}
	return 0
}

// block makes a row of a block: how many entries, and the text so far.
func (s *Store) block(row *Row, pos, start, end int64, said []byte) []byte {
	row.Count = end - start - s.asides(start, end)
	if row.Taken = row.Count; s.filter != nil {
		row.Taken = s.taken(start, end)
	}
	if e, err := s.entry(end - 1); err == nil {
		row.Last = e.N
	}
	kind, _, ok := cutLast(row.Kind)
	if !ok || strings.HasSuffix(row.Full, "execution_update") {
		kind = row.Kind
	}
	row.Kind = kind
	if row.Full == "tool_execution_update" { // each says all that there is so far
		if e, err := s.entry(end - 1); err == nil {
			var sum inspect.Summarizer
			r := s.asRow(end-1, e)
			said, _ = sum.Summary(r, sum.Look(r), maxRowText)
		}
		return said
	}
	growing := end == s.count && s.live && !s.done
	from := start
	if growing {
		from = max(start, end-100)
	}
	joined := s.join(nil, from, end, maxRowText)
	if growing && (from > start || len(joined) > 160) {
		joined = append([]byte(text.Ellipsis), tail(joined, 160)...)
	}
	return joined
}

// taken counts the entries between two positions that the filter takes.
func (s *Store) taken(from, to int64) (n int64) {
	for k := max(0, s.frameAt(from)); k < len(s.frames) && s.frames[k].base < to; k++ {
		if f := s.frames[k]; f.gen == s.filterGen {
			words := f.shown(s.filterGen)
			n += int64(count(int(min(to-f.base, int64(f.count))), words) - count(int(max(0, from-f.base)), words))
		}
	}
	return n
}

// tail gives the last bytes of a text, about n of them.
func tail(b []byte, n int) []byte {
	if len(b) <= n {
		return b
	}
	b = b[len(b)-n:]
	for len(b) > 0 && b[0]&0xC0 == 0x80 {
		b = b[1:]
	}
	return b
}

// join appends the texts of deltas to dst, up to a length.
func (s *Store) join(dst []byte, from, to int64, limit int) []byte {
	for pos := from; pos < to; pos++ {
		if len(dst) >= limit {
			return append(dst[:limit], text.Ellipsis...)
		}
		e, err := s.entry(pos)
		if err != nil {
			continue
		}
		dst = appendDelta(dst, e.Body)
	}
	return dst
}

// appendDelta appends the text that a delta brings.
func appendDelta(dst, body []byte) []byte {
	event := member(body, "assistantMessageEvent")
	if event == nil {
		event = body
	}
	if delta := member(event, "delta"); len(delta) > 1 && delta[0] == '"' {
		dst, _ = scan.Unquote(dst, delta)
	}
	return dst
}

// member gives the value of the last member of that name, nil without one.
func member(object []byte, name string) (value []byte) {
	for m := scan.MembersOf(object); m.Next(); {
		if m.Is(name) {
			value = object[m.Start:m.End]
		}
	}
	return value
}

// str gives the text of a string token, cut at a number of bytes; other tokens as they are.
func str(token []byte, limit int) string {
	if len(token) < 2 || token[0] != '"' {
		return string(token[:min(len(token), limit)])
	}
	if len(token) > 2*limit {
		token = append(bytes.Clone(token[:2*limit]), '"')
	}
	s, _ := scan.Unquote(nil, token)
	if len(s) > limit {
		s = append(s[:limit:limit], text.Ellipsis...)
	}
	return string(s)
}
