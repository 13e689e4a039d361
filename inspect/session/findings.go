package session

import (
	"cmp"
	"fmt"
	"slices"

	"pitap/inspect/text"
	"pitap/record"
)

// findings collects what the rules of this package say.
type findings struct {
	list  []*record.Finding
	byKey map[string]*record.Finding
}

// find says a finding about an entry. Findings of one rule with the same key are one finding with a count; an empty key
// means one for each rule and stream.
func (s *Session) find(rule string, e *record.Entry, key, text string) {
	f := &s.findings
	if f.byKey == nil {
		f.byKey = map[string]*record.Finding{}
	}
	key = rule + "\x00" + e.From.String() + "\x00" + key
	if old := f.byKey[key]; old != nil {
		old.Count++
		old.Last = e.N
		return
	}
	r := ruleOf(rule)
	n := &record.Finding{Rule: rule, Severity: r.Severity, N: e.N, From: e.From, Off: e.Off, Count: 1, Last: e.N, Text: text, Hint: r.hint}
	f.list = append(f.list, n)
	f.byKey[key] = n
}

// findAt is find for what is known only as a moment.
func (s *Session) findAt(rule string, from record.Stream, at Moment, key, text string) {
	s.find(rule, &record.Entry{N: at.N, T: at.T, From: from}, key, text)
}

// Findings gives what was found so far, framing included, in the order of entries.
func (s *Session) Findings() []record.Finding {
	out := slices.Clone(s.framing.Findings())
	for _, f := range s.findings.list {
		out = append(out, *f)
	}
	slices.SortStableFunc(out, func(a, b record.Finding) int {
		return cmp.Or(cmp.Compare(a.N, b.N), cmp.Compare(b.Severity, a.Severity), cmp.Compare(a.Rule, b.Rule))
	})
	return out
}

// ago writes a span of time.
func ago(ns int64) string { return text.Duration(ns) }

// sent looks at a command as it is sent.
func (s *Session) sent(c *Command, r *Record) {
	if list := s.pairs.open[c.ID]; c.ID != "" && len(list) > 0 {
		s.find("pair/id-reused", r.Entry, "", fmt.Sprintf("%s has the id %s, as has %s (entry %d), which is not answered yet", c.words(), c.ID, list[0].Type, list[0].N))
	}
	if c.Type == "prompt" && !c.Streaming && c.Slash == "" && s.run != nil && s.run.End == nil {
		c.inRun = true
	}
}

// answeredBy looks at the response of a command.
func (s *Session) answeredBy(c *Command, r *Record) {
	switch {
	case r.ID == nil && c.ID != "":
		s.find("pair/id-missing", r.Entry, "", fmt.Sprintf("the response has no id; it probably answers %s (entry %d), whose id is %s", c.words(), c.N, c.ID))
	case r.Command != c.Type && !(r.Command == "parse" || c.Type == ""):
		s.find("pair/wrong-command", r.Entry, "", fmt.Sprintf("the response names the command %q, and its id is that of %s (entry %d)", r.Command, c.words(), c.N))
	}
	if c.known == nil && c.Type != "" && !r.Success {
		s.find("command/unknown", &record.Entry{N: c.N, T: c.T, From: record.Client}, c.Type, fmt.Sprintf("pi %s does not know the command %q: %s", s.Version, c.Type, c.Error))
	}
	if c.Type == "prompt" && !c.Streaming && c.inRun && !r.Success {
		s.find("run/prompt-while-busy", &record.Entry{N: c.N, T: c.T, From: record.Client}, "", fmt.Sprintf("prompt (entry %d) came while a run goes on, without streamingBehavior: pi refused it", c.N))
	}
	if c.token != "" && len(r.ID) <= maxKept && c.token != string(r.ID) {
		s.find("pair/id-changed", r.Entry, "", fmt.Sprintf("the id %s of %s (entry %d) came back as %s", c.token, c.words(), c.N, r.ID))
	}
	if took := r.T - c.T; c.Early && took > slowAnswer {
		s.find("pair/early", &record.Entry{N: c.N, T: c.T, From: record.Client}, "", fmt.Sprintf("%s (entry %d) was sent before the agent was ready and answered %s later: most of that is pi's start", c.words(), c.N, ago(took)))
	}
}

func (s *Session) twice(c *Command, r *Record) {
	if c.Type == "prompt" && !r.Success && s.voc.Behaves("prompt-answers-at-once", s.Version) {
		return
	}
	s.find("pair/twice", r.Entry, "", fmt.Sprintf("%s (entry %d) was answered by entry %d before", c.words(), c.N, c.Response.N))
}

// stray is a response that answers no command.
func (s *Session) stray(r *Record) {
	if s.gapped[record.Client] || s.Lost > 0 {
		return
	}
	if id := canonical(r.ID); id != "" {
		s.find("pair/stray", r.Entry, "", fmt.Sprintf("a response to %q with the id %s, and no command has that id", r.Command, id))
		return
	}
	s.find("pair/stray", r.Entry, "", fmt.Sprintf("a response to %q without id, and no such command is open", r.Command))
}

// lostPrompt is an agent_settled for which no run had ended: pi accepted a prompt and lost it.
func (s *Session) lostPrompt(r *Record) {
	if s.Lost > 0 {
		return
	}
	for i := len(s.Commands) - 1; i >= 0; i-- {
		c := s.Commands[i]
		if c.Type == "prompt" && c.Success && c.Run == nil && (c.Disposition == "started" || c.Disposition == "") && c.Slash == "" {
			s.find("run/prompt-lost", &record.Entry{N: c.N, T: c.T, From: record.Client}, fmt.Sprint(c.N),
				fmt.Sprintf("prompt (entry %d) was accepted and never ran: it was written before the run of the prompt before it had begun; agent_settled of entry %d is all that came of it", c.N, r.N))
			return
		}
	}
}

func (s *Session) deltasDiffer(m *Message, r *Record, b *block, content int64) {
	s.find("order/deltas", r.Entry, "", fmt.Sprintf("the deltas of the %s block that begins with entry %d have %d bytes, and its end says %d, or others", b.kind, b.start, b.bytes, content))
}

func (s *Session) toolEndAlone(r *Record, id string) {
	if s.Lost == 0 {
		s.find("order/tool-end", r.Entry, "", fmt.Sprintf("tool_execution_end of %q without a start", id))
	}
}

func (c *Command) words() string {
	if c.Type == "" {
		return "a command without type"
	}
	return c.Type
}
