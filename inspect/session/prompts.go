package session

import (
	"fmt"
	"slices"

	"pitap/record"
)

// maxPrompts bounds the prompts that may yet begin a run.
const maxPrompts = 64

// startingPrompt finds the prompt that a run belongs to: the first accepted one that has none yet. A command of an
// extension begins no run, but a prompt template, which looks alike, does.
func (s *Session) startingPrompt(r *Record) *Command {
	var slash, open *Command
	for _, c := range s.pairs.prompts {
		switch {
		case c.Response == nil:
			if open == nil && c.Slash == "" {
				open = c // it may yet be accepted
			}
		case !c.Success:
		case c.Disposition == "started", c.Disposition == "" && c.Slash == "":
			return c
		case c.Disposition == "" && r.T-c.Response.T < 1_000_000_000:
			slash = c
		}
	}
	if slash != nil {
		return slash
	}
	return open
}

// prompted takes a prompt that is sent.
func (s *Session) prompted(c *Command) {
	p := &s.pairs
	p.prompts = slices.DeleteFunc(p.prompts, func(old *Command) bool {
		// What was accepted and has begun nothing meanwhile was handled by an extension, or is lost.
		idle := old.Response != nil && c.T-old.Response.T > 50_000_000
		if idle && s.raceLost(old) {
			s.lost(&s.findings, old, "")
		}
		return idle && old.Disposition != "started"
	})
	if len(p.prompts) >= maxPrompts {
		p.prompts = append(p.prompts[:0], p.prompts[1:]...)
	}
	p.prompts = append(p.prompts, c)
}

// began takes the start of a prompt's run.
func (s *Session) began(c *Command) {
	c.Run = s.run
	s.forgetPrompt(c)
	for _, other := range s.pairs.prompts {
		other.raced = true
	}
}

func (s *Session) forgetPrompt(c *Command) {
	s.pairs.prompts = slices.DeleteFunc(s.pairs.prompts, func(p *Command) bool { return p == c })
}

// accepted takes the response to a prompt, steer or follow_up.
func (s *Session) accepted(c *Command) {
	queued := c.Disposition == "queued" || c.Disposition == "" && c.Success && (c.Type != "prompt" || c.Streaming && c.inRun)
	if queued {
		c.Queued = c.Response
		s.queue.add(c)
	}
	if c.Type == "prompt" && (!c.Success || queued || c.Disposition == "handled") {
		s.forgetPrompt(c)
	}
}

// raceLost tells whether a prompt was lost in a version of pi that does not say so: it was sent before the run of another
// one had begun, accepted, and began none.
func (s *Session) raceLost(c *Command) bool {
	return c.raced && c.Success && c.Run == nil && c.Slash == "" && !c.Streaming && !c.lost && !s.traits.settles &&
		!s.missing.agent && !s.missing.client
}

// pending gives the prompts of which pi has said that they start a run, and whose run has not begun, though nothing is
// missing that could tell. Versions that do not say it take prompts, too, that start none.
func (s *Session) pending() (list []*Command) {
	if s.run != nil || s.missing.agent || s.missing.client {
		return nil
	}
	for _, c := range s.pairs.prompts {
		if c.Disposition == "started" && c.Success && c.Run == nil && !c.lost && !c.raced {
			list = append(list, c)
		}
	}
	return list
}

// lostPrompt is an agent_settled for which no run had ended: pi accepted a prompt and lost it.
func (s *Session) lostPrompt(r *Record) bool {
	if s.missing.agent || s.missing.client {
		return false
	}
	var able []*Command
	lost := 0
	for _, c := range s.pairs.prompts {
		if c.Success && c.Slash == "" && c.Run == nil {
			if able = append(able, c); c.raced && !able[lost].raced {
				lost = len(able) - 1
			}
		}
	}
	switch {
	case len(able) == 0:
		return false
	case lost == 0 && !able[0].raced && len(able) > 1:
		lost = 1 // the first one is about to run
	}
	s.lost(&s.findings, able[lost], fmt.Sprintf("; agent_settled of entry %d is all that came of it", r.N))
	s.forgetPrompt(able[lost])
	return true
}

func (s *Session) lost(f *findings, c *Command, more string) {
	why := "it was sent before the run of the prompt before it had begun"
	if !c.raced && len(s.pairs.prompts) < 2 {
		why = "no agent_start came"
	}
	if f == &s.findings && !c.lost {
		c.lost = true
		if len(s.pairs.lost) < maxSaid {
			s.pairs.lost = append(s.pairs.lost, c)
		} else {
			s.pairs.more++
		}
	}
	f.add("run/prompt-lost", place{n: c.N, from: record.Client}, "", "prompt (entry %d) was accepted and never ran: %s%s", c.N, why, more)
}
