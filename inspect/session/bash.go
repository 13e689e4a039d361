package session

import "pitap/record/scan"

// bashUpdate takes output of a bash command of the client.
func (s *Session) bashUpdate(r *Record) {
	c := s.bashCommand(r)
	if c == nil {
		s.bashAlone(r)
		return
	}
	c.Updates++
	var lossy bool
	s.scratch, lossy = scan.Unquote(s.scratch[:0], r.get("delta"))
	c.output.add(s.scratch, lossy)
}

// bashCommand finds the bash command that an update belongs to.
func (s *Session) bashCommand(r *Record) *Command {
	list := s.pairs.bare["bash"]
	if r.ID != nil {
		list = s.pairs.open[idOf(r.ID)]
	}
	for _, c := range list[:min(len(list), maxTwins)] {
		if c.Type == "bash" {
			return c
		}
	}
	return nil
}

// maxTwins is how many open commands with one id are looked at for the one that an update is about.
const maxTwins = 100

// twins takes a bash command whose updates cannot be told from those of others that are open.
func (p *pairs) twins(c *Command) {
	list := p.bare["bash"]
	if c.ID != "" {
		list = p.open[c.ID]
	}
	c.output.inexact = len(list) > maxTwins
	for _, other := range list[:min(len(list), maxTwins)] {
		if other.output != nil {
			other.output.inexact, c.output.inexact = true, true
		}
	}
}

// bashAlone finds output that comes when no bash command is open.
func (s *Session) bashAlone(r *Record) {
	if s.missing.client || s.missing.agent || s.pairs.blind || r.ID != nil && len(s.pairs.open[idOf(r.ID)]) > maxTwins {
		return
	}
	if r.ID == nil {
		s.find("order/bash", r.Entry, "", "bash_execution_update, and no bash command without id is open")
		return
	}
	s.find("order/bash", r.Entry, "", "bash_execution_update with the id %s, and no bash command with that id is open", clip(string(r.ID), 60))
}

// bashEnd compares the output of a bash command with its updates.
func (s *Session) bashEnd(c *Command, r *Record, data []byte) {
	out := c.output
	c.output = nil
	if !s.traits.bashUpdates || !r.Success || r.Cut || s.pairs.doubts(c) || c.Guessed || s.missing.edited || out == nil ||
		string(memberOf(data, "truncated")) != "false" || string(memberOf(data, "cancelled")) != "false" {
		return
	}
	s.scratch, _ = scan.Unquote(s.scratch[:0], memberOf(data, "output"))
	if !out.is(s.scratch) {
		s.find("order/deltas", r.Entry, "bash", "the updates of bash (entry %d) have %d bytes, and its response gives another output, of %d bytes", c.N, out.bytes, len(s.scratch))
	}
}
