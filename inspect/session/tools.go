package session

import (
	"pitap/record"
)

// Tool is one execution of a tool.
type Tool struct {
	Start   Moment
	End     *Moment
	ID      string // toolCallId, cut
	Name    string
	Parent  string // of a nested call
	Updates int64
	Failed  bool

	moved int64 // number of its latest update
}

func (s *Session) toolStart(r *Record) {
	t := &Tool{Start: *r.at(), ID: stringOf(r.get("toolCallId")), Name: stringOf(r.get("toolName")), Parent: stringOf(r.get("parentToolCallId"))}
	s.figures.toolStarted(t)
	s.startsCall(r, t)
	if len(s.tools) < maxWaiting {
		s.tools[t.ID] = t
	}
	s.Tools = append(trimmed(s.Tools, maxList), t)
	if s.run != nil {
		s.run.calls++
	}
	if turn := s.turn(); turn != nil && s.room() {
		turn.Tools = append(turn.Tools, t)
	}
}

// startsCall compares the start of a tool with the call in the assistant's message.
func (s *Session) startsCall(r *Record, t *Tool) {
	l := &s.life
	if !s.judges() || r.Cut {
		return
	}
	if t.Parent != "" {
		if s.tools[t.Parent] == nil && len(s.tools) < maxWaiting {
			s.find("order/tool-end", r.Entry, "", "the nested call %s starts, and its parent %s does not run", clip(t.ID, 60), clip(t.Parent, 60))
		}
		return
	}
	if s.run == nil || l.turn == nil || !l.spoke {
		s.misplaced(r, "without an assistant message that calls it")
		return
	}
	for i := range l.calls {
		c := &l.calls[i]
		if c.id != t.ID || c.start != nil {
			continue
		}
		c.start = r.at()
		if c.name != t.Name || !s.missing.edited && c.args != hash(r.get("args")) {
			s.find("order/tool-start", r.Entry, "", "tool_execution_start of %s has another name or other arguments than its call in the assistant's message", clip(t.ID, 60))
		}
		return
	}
	if !l.many {
		s.find("order/tool-start", r.Entry, "", "tool_execution_start of %s, and the turn's assistant message has no such call", clip(t.ID, 60))
	}
}

func (s *Session) toolUpdate(r *Record) {
	id := stringOf(r.get("toolCallId"))
	if t := s.tools[id]; t != nil {
		t.Updates++
		t.moved = r.N
		return
	}
	if s.judges() && s.traits.dropsLate && len(s.tools) < maxWaiting {
		s.find("order/tool-end", r.Entry, "update", "tool_execution_update of %s, which does not run", clip(id, 60))
	}
}

func (s *Session) toolEnd(r *Record) {
	id := stringOf(r.get("toolCallId"))
	t := s.tools[id]
	if t == nil {
		if s.judges() && len(s.tools) < maxWaiting {
			s.find("order/tool-end", r.Entry, "end", "tool_execution_end of %s without a start", clip(id, 60))
		}
		return
	}
	t.End, t.Failed = r.at(), string(r.get("isError")) == "true"
	delete(s.tools, id)
	s.figures.toolEnded(t)
	for i := range s.life.calls {
		if c := &s.life.calls[i]; c.id == id && c.start != nil && c.end == nil {
			c.end = t.End
			return
		}
	}
}

// concludeTools finds tools that never ended although their run has.
func (s *Session) concludeTools(f *findings) {
	if s.missing.agent || !s.traits.ordered {
		return
	}
	for _, t := range s.tools {
		if s.run == nil && t.Parent == "" {
			f.add("order/tool-end", place{n: t.Start.N, from: record.Agent}, "open", "tool %s (entry %d) has begun and never ended, and its run has settled", clip(t.Name, 60), t.Start.N)
		}
	}
}
