package session

import (
	"slices"
	"strconv"

	"pitap/record/scan"
)

// Run is what pi does from agent_start to agent_settled, retries and queued messages included.
type Run struct {
	Start   Moment
	End     *Moment  // the latest agent_end, nil while there is none
	Settled *Moment  // agent_settled; in versions without it the last agent_end
	Aborted bool     // agent_settled said so, or in versions that do not say it the last answer
	Broken  string   // why it never settled: "the session was replaced by ...", "another run began", "a gap in the recording"
	Prompt  *Command // that started it; nil when it began by itself
	Turns   []*Turn
	Agents  int // agent_starts
	Retries int
	Events  int64

	turns, calls int
	first        *Moment // the first delta
	rate         float64 // tokens per second of the longest answer
	most         int64   // its tokens
	usage        Usage
	dropped      bool // Turns were forgotten, or are not all
}

// Turn is one answer of the model and the tools that it calls.
type Turn struct {
	Start    Moment
	End      *Moment
	Messages []*Message
	Tools    []*Tool
}

// Message is a message of any role, put together from its records.
type Message struct {
	Role    string
	Start   Moment
	End     *Moment
	First   *Moment // the first delta
	Latest  int64   // when the latest update came, nanoseconds since the start
	Updates int64
	Text    int64 // bytes of text, thinking and tool arguments in deltas
	Model   string
	Stop    string // stopReason at the end
	Error   string // errorMessage at the end
	Usage   Usage
	Preview string // the beginning of its text

	blocks map[int]*block // of an assistant's message, while it is open
	last   *block         // that an update was about last
}

// Usage is what a message has cost.
type Usage struct {
	Input, Output, CacheRead, CacheWrite int64 // tokens
	Cost                                 float64
}

// Add adds what another message has cost.
func (u *Usage) Add(o Usage) {
	u.Input += o.Input
	u.Output += o.Output
	u.CacheRead += o.CacheRead
	u.CacheWrite += o.CacheWrite
	u.Cost += o.Cost
}

// Rate is the tokens per second from the first delta to the end, 0 when that cannot be told.
func (m *Message) Rate() float64 {
	if m.First == nil || m.End == nil || m.End.T <= m.First.T {
		return 0
	}
	return float64(m.Usage.Output) / (float64(m.End.T-m.First.T) / 1e9)
}

func (s *Session) event(r *Record) {
	if s.run != nil {
		s.run.Events++
	}
	switch r.Type {
	case "queue_update", "bash_execution_update", "entry_appended", "session_info_changed", "thinking_level_changed", "extension_error":
	default:
		s.moved = r.N
	}
	switch r.Type {
	case "message_update":
		s.update(r)
	case "agent_start":
		s.agentStart(r)
	case "agent_end":
		s.agentEnd(r)
	case "agent_settled":
		s.settled(r)
	case "turn_start":
		s.turnStart(r)
	case "turn_end":
		s.turnEnd(r)
	case "message_start":
		s.messageStart(r)
	case "message_end":
		s.messageEnd(r)
	case "tool_execution_start":
		s.toolStart(r)
	case "tool_execution_update":
		s.toolUpdate(r)
	case "tool_execution_end":
		s.toolEnd(r)
	case "bash_execution_update":
		s.bashUpdate(r)
	case "queue_update":
		s.queueUpdate(r)
	case "compaction_start", "auto_compaction_start":
		s.compact = r.at()
		s.compactCuts(r)
	case "compaction_end", "auto_compaction_end":
		s.compact = nil
	case "auto_retry_start":
		s.retryStart(r)
	case "auto_retry_end":
		s.retry = nil
	}
}

func (s *Session) retryStart(r *Record) {
	s.retry = r.at()
	if s.run == nil && len(s.Runs) > 0 && !s.traits.settles { // its agent_end did not say that it goes on
		last := s.Runs[len(s.Runs)-1]
		if last.Broken == "" {
			s.run = last
			s.run.Settled = nil
		}
	}
	if s.run != nil {
		s.run.Retries++
	}
}

func (s *Session) agentStart(r *Record) {
	s.retry = nil
	prompt := s.startingPrompt(r)
	if s.run != nil {
		switch {
		case s.run.End == nil:
			s.run.Broken = "another run began"
			s.endRun()
		case prompt != nil && prompt.N > s.run.End.N: // a version without agent_settled, though that was not known
			s.run.Settled = s.run.End
			s.endRun()
		}
	}
	if s.run == nil {
		if !s.life.dark {
			s.concludeTools(&s.findings)
		}
		s.run = &Run{Start: *r.at(), Prompt: prompt}
		s.addRun(s.run)
	}
	if prompt != nil {
		s.began(prompt)
	}
	s.run.Agents++
	s.run.End = nil
	clear(s.tools)
	s.life = life{}
}

// addRun adds a run to the list. Of very many the oldest are forgotten.
func (s *Session) addRun(r *Run) {
	if len(s.Runs) >= maxRuns {
		for _, old := range s.Runs[:len(s.Runs)-maxRuns/2] {
			s.forgetTurns(old)
		}
	}
	s.Runs = append(trimmed(s.Runs, maxRuns), r)
	s.figures.runs++
}

// room tells whether the tree may have one more node. Of the oldest runs what they were made of is forgotten.
func (s *Session) room() bool {
	if s.nodes >= maxNodes {
		for _, r := range s.Runs {
			if s.nodes < maxNodes/2 {
				break
			}
			if r != s.run {
				s.forgetTurns(r)
			}
		}
	}
	if s.nodes >= maxNodes {
		s.run.dropped = true
		return false
	}
	s.nodes++
	return true
}

func (s *Session) forgetTurns(r *Run) {
	if r.Turns == nil {
		return
	}
	for _, t := range r.Turns {
		s.nodes -= 1 + len(t.Messages) + len(t.Tools)
	}
	r.Turns, r.dropped = nil, true
}

// endRun ends the run that goes on: it has settled, or is broken.
func (s *Session) endRun() {
	s.run = nil
	s.life.open, s.life.other = nil, nil
}

func (s *Session) agentEnd(r *Record) {
	if s.run == nil {
		s.misplaced(r, "outside a run")
		return
	}
	s.life.open, s.life.other, s.life.turn = nil, nil, nil
	s.run.End = r.at()
	if !s.traits.settles && string(r.get("willRetry")) != "true" {
		s.run.Settled = s.run.End
		s.run.Aborted = s.life.stop == "aborted"
		s.endRun()
	}
}

func (s *Session) settled(r *Record) {
	if s.run == nil || s.run.End == nil {
		if s.lostPrompt(r) || s.run == nil {
			return
		}
	}
	s.run.Settled = r.at()
	s.run.Aborted = string(r.get("aborted")) == "true"
	s.endRun()
}

// reset ends what belongs to a session that another one has replaced, and a run that compact has cut off.
func (s *Session) reset(c *Command, cancelled bool) {
	cuts := c.known.CutsRun(s.Version)
	if cancelled || !c.Success && !cuts || c.Type == "compact" && !cuts {
		return
	}
	if c.known.ResetsSession && c.Success {
		s.queue.drop(c.Response, true)
		s.pairs.prompts = slices.DeleteFunc(s.pairs.prompts, func(p *Command) bool { return p.N < c.N && p.Response != nil }) // their runs never begin
	}
	if s.run != nil && s.run.Start.N < c.Response.N && (s.run.Prompt == nil || s.run.Prompt.N < c.N) {
		s.run.Broken = "the session was replaced by " + c.Type
		if c.Type == "compact" {
			s.run.Broken = "compact cut it off"
		}
		s.endRun()
		s.life = life{dark: true}
		clear(s.tools)
	}
	s.retry = nil
}

// compactCuts takes the start of a compaction that in old versions cuts off the run.
func (s *Session) compactCuts(r *Record) {
	if s.run == nil || s.run.End != nil || stringOf(r.get("reason")) != "manual" || !s.voc.Command("compact").CutsRun(s.Version) {
		return
	}
	s.run.Broken = "compact cut it off"
	s.endRun()
	s.life = life{dark: true}
	clear(s.tools)
}

// turn is the turn that goes on or ended last in the run that goes on; nil without one.
func (s *Session) turn() *Turn {
	if s.run == nil || len(s.run.Turns) == 0 {
		return nil
	}
	return s.run.Turns[len(s.run.Turns)-1]
}

func usageOf(object []byte) (u Usage) {
	u.Input = intOf(memberOf(object, "input"))
	u.Output = intOf(memberOf(object, "output"))
	u.CacheRead = intOf(memberOf(object, "cacheRead"))
	u.CacheWrite = intOf(memberOf(object, "cacheWrite"))
	if f, err := strconv.ParseFloat(string(memberOf(memberOf(object, "cost"), "total")), 64); err == nil && f < 1e12 && f > -1e12 {
		u.Cost = f
	}
	return u
}

// previewOf gives the beginning of a message's text: a string, or the first text block of an array.
func previewOf(content []byte) string { return stringOf(textOf(content)) }

// textOf gives the token of a message's text.
func textOf(content []byte) []byte {
	if len(content) > 0 && content[0] == '"' {
		return content
	}
	n := 0
	for e := scan.WalkOver(content); e.Next() && n < 100; n++ {
		if text := memberOf(e.Value, "text"); len(text) > 2 {
			return text
		}
	}
	return nil
}
