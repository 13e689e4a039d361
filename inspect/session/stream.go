package session

import (
	"pitap/record/scan"
)

// block is a content block of an open message. Of its text only the sum is kept.
type block struct {
	kind  string // text, thinking, toolcall
	text  sum
	start int64 // number of its first entry
	ended bool
}

// maxBlocks bounds the blocks of one message; indexes beyond are not looked at.
const maxBlocks = 10_000

// update takes one message_update. It is the record that comes most often.
func (s *Session) update(r *Record) {
	m := s.life.open
	if m == nil {
		if s.judges() && !s.settling(r) {
			s.find("order/nesting", r.Entry, r.Type, "message_update without an open message of the assistant")
		}
		return
	}
	m.Updates++
	m.Latest = r.T
	event := r.get("assistantMessageEvent")
	index, text := int64(-1), []byte(nil)
	for ms := scan.MembersOf(event); ms.Next(); {
		switch string(ms.Key) {
		case "contentIndex":
			index = intOf(event[ms.Start:ms.End])
		case "delta", "content":
			text = event[ms.Start:ms.End]
		}
	}
	if index < 0 || index >= maxBlocks || r.Cut {
		return
	}
	s.block(m, r, int(index), text)
}

func (s *Session) block(m *Message, r *Record, index int, text []byte) {
	kind, step := cutLast(r.Sub)
	b := m.blocks[index]
	if b == nil {
		b = &block{kind: kind, start: r.N}
		if m.blocks == nil {
			m.blocks = map[int]*block{}
		}
		m.blocks[index] = b
		if step != "start" {
			s.streamed(r, index, "without "+kind+"_start")
		}
	} else {
		switch {
		case step == "start":
			s.streamed(r, index, "for a block that has begun before")
			*b = block{kind: kind, start: r.N}
		case b.kind != kind:
			s.streamed(r, index, "in a block of kind "+b.kind)
			return
		case b.ended:
			s.streamed(r, index, "behind "+kind+"_end")
			return
		}
	}
	switch step {
	case "delta":
		if m.First == nil {
			m.First = r.at()
			if s.run != nil && s.run.first == nil {
				s.run.first = m.First
			}
		}
		var lossy bool // half a character, which the next delta may complete
		s.scratch, lossy = scan.Unquote(s.scratch[:0], text)
		b.text.add(s.scratch, lossy)
		m.Text += int64(len(s.scratch))
	case "end":
		b.ended = true
		if kind != "toolcall" && !s.life.dark && !s.missing.edited && !s.addsUp(b, text) {
			s.find("order/deltas", r.Entry, "", "the deltas of the %s block that begins with entry %d have %d bytes, and its end gives another text, of %d bytes", kind, b.start, b.text.bytes, len(s.scratch))
		}
	}
}

func (s *Session) addsUp(b *block, text []byte) bool {
	s.scratch, _ = scan.Unquote(s.scratch[:0], text)
	return b.text.is(s.scratch)
}

// streamed finds an update that does not fit those before it in its block.
func (s *Session) streamed(r *Record, index int, how string) {
	if s.judges() {
		s.find("order/update", r.Entry, "", "%s of content block %d %s", r.Sub, index, how)
	}
}

// cutLast splits a name such as text_delta.
func cutLast(name string) (kind, step string) {
	for i := len(name) - 1; i >= 0; i-- {
		if name[i] == '_' {
			return name[:i], name[i+1:]
		}
	}
	return name, ""
}
