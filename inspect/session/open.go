package session

import (
	"fmt"
	"slices"

	"pitap/record"
)

// Waiting is something that is open: somebody waits for somebody.
type Waiting struct {
	N     int64  // the entry that began it
	Since int64  // nanoseconds since the start
	What  string // "command", "prompt", "run", "model", "dialog", "tool", "bash", "compaction", "retry", "half", "stall", "end"
	For   string // who is waited for: "agent", "client", "model", "tool", "extension", "nobody"
	Words string // in words a user understands, without the age
	rank  int    // how much it explains; the lowest explains most
}

// Open gives what is open at time t (nanoseconds since the start), what explains most first. Of an ended capture it is
// what was open at its end.
func (s *Session) Open(t int64) []Waiting {
	var open []Waiting
	add := func(rank int, n, since int64, what, who, format string, args ...any) {
		open = append(open, Waiting{N: n, Since: since, What: what, For: who, Words: fmt.Sprintf(format, args...), rank: rank})
	}
	for stream, st := range s.stalled {
		if st == nil {
			continue
		}
		switch record.Stream(stream) {
		case record.Client:
			add(1, st.N, st.Since, "stall", "agent", "the agent does not read its input: %d bytes of the client wait", st.Bytes)
		case record.Agent:
			add(1, st.N, st.Since, "stall", "client", "the client does not read the agent's output: %d bytes wait, and behind them the agent", st.Bytes)
		default:
			add(3, st.N, st.Since, "stall", "client", "nobody reads the agent's stderr: %d bytes wait, and the agent may", st.Bytes)
		}
	}
	for stream, h := range s.half {
		if h == nil {
			continue
		}
		who := record.Stream(stream).String()
		add(2, h.N, h.T, "half", who, "half a record of the %s: %d bytes came, and no LF", who, h.Bytes)
	}
	s.openDialogs(t, add)
	s.openWork(t, add)
	s.openCommands(add)
	slices.SortStableFunc(open, func(a, b Waiting) int { return a.rank - b.rank })
	return open
}

type adder func(rank int, n, since int64, what, who, format string, args ...any)

func (s *Session) openDialogs(t int64, add adder) {
	for _, d := range s.Dialogs {
		if !d.Open(t) {
			continue
		}
		limit := ""
		if d.Timeout > 0 {
			limit = fmt.Sprintf(" (pi gives up %s after asking)", ago(d.Timeout))
		}
		add(4, d.N, d.T, "dialog", "client", "an extension asks %s and waits for the client's answer%s", d.words(), limit)
	}
}

// openWork gives what the agent is doing.
func (s *Session) openWork(t int64, add adder) {
	for _, tool := range s.Tools {
		if tool.End == nil && s.tools[tool.ID] == tool {
			add(5, tool.Start.N, tool.Start.T, "tool", "tool", "tool %s runs", tool.Name)
		}
	}
	if s.compact != nil {
		add(5, s.compact.N, s.compact.T, "compaction", "model", "pi compacts the conversation")
	}
	if s.retry != nil {
		add(5, s.retry.N, s.retry.T, "retry", "agent", "pi waits before it asks the model again")
	}
	if s.run == nil {
		return
	}
	since := max(s.run.Start.T, s.lastAgent())
	if m := s.openMessage(); m != nil && m.Role == "assistant" {
		add(6, m.Start.N, m.Latest, "model", "model", "the model is answering, and was last heard of in an update of the message that began with entry %d", m.Start.N)
	} else if len(s.tools) == 0 && s.compact == nil && s.retry == nil && s.run.End == nil {
		add(6, s.run.Start.N, since, "model", "model", "pi has asked the model and got nothing yet")
	}
	prompt := "a run that no prompt began"
	if p := s.run.Prompt; p != nil {
		prompt = fmt.Sprintf("the run of the prompt of entry %d", p.N)
	}
	if s.run.End != nil {
		add(8, s.run.Start.N, s.run.End.T, "run", "agent", "%s has ended and not settled", prompt)
	} else {
		add(8, s.run.Start.N, s.run.Start.T, "run", "agent", "%s has not settled", prompt)
	}
}

func (s *Session) lastAgent() int64 {
	if m := s.Last[record.Agent]; m != nil {
		return m.T
	}
	return 0
}

func (s *Session) openCommands(add adder) {
	for _, c := range s.open() {
		switch {
		case c.Type == "bash":
			add(5, c.N, c.T, "bash", "tool", "the client's bash command (entry %d) runs", c.N)
		case c.Type == "prompt" && c.Slash != "":
			add(7, c.N, c.T, "command", "extension", "the prompt %s (entry %d) has no response: pi answers it when the extension's command has ended", c.Slash, c.N)
		case c.Type == "prompt":
			add(7, c.N, c.T, "prompt", "agent", "prompt (entry %d) has no response: pi has not accepted it yet", c.N)
		default:
			add(7, c.N, c.T, "command", "agent", "%s (entry %d) has no response", c.words(), c.N)
		}
	}
}
