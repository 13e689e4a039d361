package session

import (
	"pitap/record"
	"pitap/record/scan"
)

// block is a content block of an open message. Of its text only the sum is kept.
type block struct {
	index int
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
	u := &r.update
	if u.kind == "" { // an update that is not written as pi writes it
		u.read(r.get("assistantMessageEvent"))
		u.kind, u.step = cutLast(r.Sub)
	}
	if u.index < 0 || u.index >= maxBlocks || r.Cut {
		return
	}
	b := m.last
	if b == nil || b.index != u.index {
		b = m.blocks[u.index]
	}
	if b = s.block(m, b, r); b != nil {
		m.last = b
		s.streams(m, b, r)
		s.learn(r, m, b)
	}
}

// same is a delta that others are like.
type same struct {
	id      int64 // as record.Entry.Alike has it
	kind    *kind
	message *Message
	block   *block
}

// learn takes a delta of which nothing but its text will be looked at, once enough of them were.
func (s *Session) learn(r *Record, m *Message, b *block) {
	id, _ := r.Alike()
	if id == s.same.id {
		return
	}
	s.same = same{}
	if id != 0 && r.update.step == "delta" && r.kind.sample >= sampleAgent && (r.kind.guessed >= guessLooks || s.VersionFrom == "header") {
		s.same = same{id, r.kind, m, b}
	}
}

// another takes a delta that is like the one before it. It returns false, and has done nothing, for any other record.
func (s *Session) another(r *Record) bool {
	d := &s.same
	id, text := r.Alike()
	if id == 0 || id != d.id || d.message != s.life.open || d.block != d.message.last || d.block.ended || r.From != record.Agent {
		return false
	}
	r.kind = d.kind
	s.moved = r.N
	s.crossed(r)
	s.figures.count(r)
	if s.run != nil {
		s.run.Events++
	}
	d.message.Updates++
	d.message.Latest = r.T
	var lossy bool
	s.scratch, lossy = scan.Unescape(s.scratch[:0], text)
	d.block.text.add(s.scratch, lossy)
	d.message.Text += int64(len(s.scratch))
	return true
}

// block returns the block that an update is about, b if it has begun; nil when the update does not belong there.
func (s *Session) block(m *Message, b *block, r *Record) *block {
	u := &r.update
	switch {
	case b == nil:
		b = &block{index: u.index, kind: u.kind, start: r.N}
		if m.blocks == nil {
			m.blocks = map[int]*block{}
		}
		m.blocks[u.index] = b
		if u.step != "start" {
			s.streamed(r, "without "+u.kind+"_start")
		}
	case u.step == "start":
		s.streamed(r, "for a block that has begun before")
		*b = block{index: u.index, kind: u.kind, start: r.N}
	case b.kind != u.kind:
		s.streamed(r, "in a block of kind "+b.kind)
		return nil
	case b.ended:
		s.streamed(r, "behind "+u.kind+"_end")
		return nil
	}
	return b
}

// streams takes what an update adds to its block.
func (s *Session) streams(m *Message, b *block, r *Record) {
	switch u := &r.update; u.step {
	case "delta":
		if m.First == nil {
			m.First = r.at()
			if s.run != nil && s.run.first == nil {
				s.run.first = m.First
			}
		}
		var lossy bool // half a character, which the next delta may complete
		s.scratch, lossy = scan.Unquote(s.scratch[:0], u.text)
		b.text.add(s.scratch, lossy)
		m.Text += int64(len(s.scratch))
	case "end":
		b.ended = true
		if b.kind != "toolcall" && !s.life.dark && !s.missing.edited && !s.addsUp(b, u.text) {
			s.find("order/deltas", r.Entry, "", "the deltas of the %s block that begins with entry %d have %d bytes, and its end gives another text, of %d bytes", b.kind, b.start, b.text.bytes, len(s.scratch))
		}
	}
}

func (s *Session) addsUp(b *block, text []byte) bool {
	s.scratch, _ = scan.Unquote(s.scratch[:0], text)
	return b.text.is(s.scratch)
}

// streamed finds an update that does not fit those before it in its block.
func (s *Session) streamed(r *Record, how string) {
	if s.judges() {
		s.find("order/update", r.Entry, "", "%s of content block %d %s", r.Sub, r.update.index, how)
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
