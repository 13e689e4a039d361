package session

import (
	"strconv"

	"github.com/cespare/xxhash/v2"

	"pitap/record/rpc"
	"pitap/record/scan"
)

// Run is what pi does from agent_start to agent_settled, retries and queued messages included.
type Run struct {
	Start   Moment
	End     *Moment  // the latest agent_end, nil while there is none
	Settled *Moment  // agent_settled; in versions without it the last agent_end
	Aborted bool     // agent_settled said so
	Broken  string   // why it never settled: "exit", "the session was replaced", "another run began"
	Prompt  *Command // that started it; nil when it began by itself
	Turns   []*Turn
	Agents  int // agent_starts
	Retries int
	Events  int64
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
	Preview string // of a user's or custom message the text, cut; of an assistant's the text's beginning

	blocks map[int]*block // while it is open
	order  []int          // of the blocks
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

// block is a content block of an open message. Of its text only the sum is kept.
type block struct {
	kind  string // text, thinking, toolcall
	sum   xxhash.Digest
	bytes int64
	start int64 // number of its first entry
	ended bool

	inexact bool // the sum is not that of the text
}

// Tool is one execution of a tool.
type Tool struct {
	Start   Moment
	End     *Moment
	ID      string // toolCallId, cut
	Name    string
	Parent  string // of a nested call
	Updates int64
	Failed  bool
}

func (s *Session) event(r *Record) {
	if s.run != nil {
		s.run.Events++
	}
	switch r.Type {
	case "agent_start":
		s.agentStart(r)
	case "agent_end":
		s.agentEnd(r)
	case "agent_settled":
		s.settled(r)
	case "turn_start":
		if s.run != nil {
			s.run.Turns = append(s.run.Turns, &Turn{Start: *s.moment(r.Entry, r.Kind)})
		}
	case "turn_end":
		if t := s.turn(); t != nil && t.End == nil {
			t.End = s.moment(r.Entry, r.Kind)
		}
	case "message_start", "message_end":
		s.message(r)
	case "message_update":
		s.update(r)
	case "tool_execution_start", "tool_execution_update", "tool_execution_end":
		s.tool(r)
	case "bash_execution_update":
		if c := s.bashCommand(r); c != nil {
			c.Updates++
		}
	case "compaction_start":
		s.compact = s.moment(r.Entry, r.Kind)
	case "compaction_end":
		s.compact = nil
	case "auto_retry_start":
		s.retry = s.moment(r.Entry, r.Kind)
		if s.run == nil && len(s.Runs) > 0 { // versions without agent_settled: the run goes on
			s.run = s.Runs[len(s.Runs)-1]
			s.run.Settled = nil
		}
		if s.run != nil {
			s.run.Retries++
		}
	case "auto_retry_end":
		s.retry = nil
	}
}

func (s *Session) agentStart(r *Record) {
	s.retry = nil
	if s.run != nil && s.run.End == nil && s.run.Agents > 0 {
		s.brokenRun(s.run, "another run began")
	}
	if s.run == nil {
		s.run = &Run{Start: *s.moment(r.Entry, r.Kind), Prompt: s.startingPrompt()}
		if s.run.Prompt != nil {
			s.run.Prompt.Run = s.run
		}
		s.Runs = append(s.Runs, s.run)
	}
	s.run.Agents++
	s.run.End = nil
}

// startingPrompt finds the prompt that a run belongs to: the latest accepted one that has none yet.
func (s *Session) startingPrompt() *Command {
	for i := len(s.Commands) - 1; i >= 0 && i >= len(s.Commands)-100; i-- {
		c := s.Commands[i]
		if c.known == nil || !c.known.StartsRun {
			continue
		}
		if c.Run != nil {
			return nil
		}
		open := c.Response == nil || c.Success && (c.Disposition == "started" || c.Disposition == "")
		if open && c.Slash == "" || c.Disposition == "started" {
			return c
		}
	}
	return nil
}

func (s *Session) agentEnd(r *Record) {
	if s.run == nil {
		return
	}
	s.run.End = s.moment(r.Entry, r.Kind)
	settles := s.voc.Event("agent_settled").At(s.Version) <= rpc.Maybe
	if !settles && string(memberOf(r.Body, "willRetry")) != "true" {
		s.run.Settled = s.run.End
		s.run = nil
	}
}

func (s *Session) settled(r *Record) {
	if s.run == nil || s.run.End == nil {
		s.lostPrompt(r)
		return
	}
	s.run.Settled = s.moment(r.Entry, r.Kind)
	s.run.Aborted = string(memberOf(r.Body, "aborted")) == "true"
	s.run = nil
}

// reset ends what belongs to a session that another one has replaced.
func (s *Session) reset(c *Command) {
	if s.run != nil {
		s.brokenRun(s.run, "the session was replaced by "+c.Type)
		s.run = nil
	}
}

func (s *Session) brokenRun(r *Run, why string) { r.Broken = why }

// turn is the turn that goes on or ended last in the run that goes on; nil without one.
func (s *Session) turn() *Turn {
	if s.run == nil || len(s.run.Turns) == 0 {
		return nil
	}
	return s.run.Turns[len(s.run.Turns)-1]
}

// openMessage is the message that has begun and not ended, or nil.
func (s *Session) openMessage() *Message {
	if t := s.turn(); t != nil && len(t.Messages) > 0 {
		if m := t.Messages[len(t.Messages)-1]; m.End == nil {
			return m
		}
	}
	return nil
}

func (s *Session) message(r *Record) {
	var body []byte
	ms := scan.MembersOf(r.Body)
	for ms.Next() {
		if ms.Is("message") {
			body = r.Body[ms.Start:ms.End]
		}
	}
	if r.Type == "message_start" {
		m := &Message{Start: *s.moment(r.Entry, r.Kind), Latest: r.T}
		m.fill(body)
		if t := s.turn(); t != nil {
			t.Messages = append(t.Messages, m)
		}
		return
	}
	m := s.openMessage()
	if m == nil {
		return
	}
	m.fill(body)
	m.End, m.Latest = s.moment(r.Entry, r.Kind), r.T
	m.blocks, m.order = nil, nil
}

// fill takes what a record says of the whole message.
func (m *Message) fill(body []byte) {
	ms := scan.MembersOf(body)
	for ms.Next() {
		value := body[ms.Start:ms.End]
		switch {
		case ms.Is("role"):
			m.Role = stringOf(value)
		case ms.Is("model"):
			m.Model = stringOf(value)
		case ms.Is("stopReason"):
			m.Stop = stringOf(value)
		case ms.Is("errorMessage"):
			m.Error = stringOf(value)
		case ms.Is("usage"):
			m.Usage = usageOf(value)
		case ms.Is("content"):
			m.Preview = previewOf(value)
		}
	}
}

func usageOf(object []byte) (u Usage) {
	ms := scan.MembersOf(object)
	for ms.Next() {
		value := object[ms.Start:ms.End]
		switch {
		case ms.Is("input"):
			u.Input = intOf(value)
		case ms.Is("output"):
			u.Output = intOf(value)
		case ms.Is("cacheRead"):
			u.CacheRead = intOf(value)
		case ms.Is("cacheWrite"):
			u.CacheWrite = intOf(value)
		case ms.Is("cost"):
			u.Cost, _ = strconv.ParseFloat(string(memberOf(value, "total")), 64)
		}
	}
	return u
}

func intOf(token []byte) int64 {
	if len(token) > 20 {
		return 0
	}
	f, _ := strconv.ParseFloat(string(token), 64)
	return int64(f)
}

// previewOf gives the beginning of a message's text: a string, or the first text block of an array.
func previewOf(content []byte) string {
	if text := stringOf(content); text != "" {
		return text
	}
	for at := 1; at < len(content) && content[0] == '['; {
		end := scan.ValueEnd(content, at)
		if end < 0 {
			return ""
		}
		if text := stringOf(memberOf(content[at:end], "text")); text != "" {
			return text
		}
		for at = end; at < len(content) && content[at] != ','; at++ {
			if content[at] == ']' {
				return ""
			}
		}
		at++
	}
	return ""
}

// update takes one message_update. It is the record that comes most often.
func (s *Session) update(r *Record) {
	m := s.openMessage()
	if m == nil {
		if s.Lost == 0 {
			s.find("order/nesting", r.Entry, r.Kind, r.Kind+" without an open message")
		}
		return
	}
	m.Updates++
	m.Latest = r.T
	var event []byte
	ms := scan.MembersOf(r.Body)
	for ms.Next() {
		if ms.Is("assistantMessageEvent") {
			event = r.Body[ms.Start:ms.End]
			break
		}
	}
	index := -1
	var text []byte
	ms = scan.MembersOf(event)
	for ms.Next() {
		switch {
		case ms.Is("contentIndex"):
			index = int(intOf(event[ms.Start:ms.End]))
		case ms.Is("delta"), ms.Is("content"):
			text = event[ms.Start:ms.End]
		}
	}
	if index < 0 || index > 10_000 {
		return
	}
	s.block(m, r, index, text)
}

func (s *Session) block(m *Message, r *Record, index int, text []byte) {
	kind, step := cutLast(r.Sub)
	b := m.blocks[index]
	if b == nil {
		b = &block{kind: kind, start: r.N}
		b.sum.Reset()
		if m.blocks == nil {
			m.blocks = map[int]*block{}
		}
		m.blocks[index] = b
	}
	switch step {
	case "delta":
		if m.First == nil {
			m.First = s.moment(r.Entry, r.Kind)
		}
		var lossy bool
		s.pairs.scratch, lossy = scan.Unquote(s.pairs.scratch[:0], text)
		b.inexact = b.inexact || lossy // half a character, which the next delta may complete
		b.sum.Write(s.pairs.scratch)
		b.bytes += int64(len(s.pairs.scratch))
		m.Text += int64(len(s.pairs.scratch))
	case "end":
		if kind != "toolcall" && len(text) > 0 && !b.inexact {
			s.pairs.scratch, _ = scan.Unquote(s.pairs.scratch[:0], text)
			if int64(len(s.pairs.scratch)) != b.bytes || xxhash.Sum64(s.pairs.scratch) != b.sum.Sum64() {
				s.deltasDiffer(m, r, b, int64(len(s.pairs.scratch)))
			}
		}
		b.ended = true
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

func (s *Session) tool(r *Record) {
	var id, name, parent string
	failed := false
	ms := scan.MembersOf(r.Body)
	for ms.Next() {
		value := r.Body[ms.Start:ms.End]
		switch {
		case ms.Is("toolCallId"):
			id = stringOf(value)
		case ms.Is("toolName"):
			name = stringOf(value)
		case ms.Is("parentToolCallId"):
			parent = stringOf(value)
		case ms.Is("isError"):
			failed = string(value) == "true"
		}
	}
	t := s.tools[id]
	switch r.Type {
	case "tool_execution_start":
		t = &Tool{Start: *s.moment(r.Entry, r.Kind), ID: id, Name: name, Parent: parent}
		s.tools[id] = t
		s.Tools = append(s.Tools, t)
		if turn := s.turn(); turn != nil {
			turn.Tools = append(turn.Tools, t)
		}
	case "tool_execution_update":
		if t != nil {
			t.Updates++
		}
	case "tool_execution_end":
		if t == nil {
			s.toolEndAlone(r, id)
			return
		}
		t.End, t.Failed = s.moment(r.Entry, r.Kind), failed
		delete(s.tools, id)
	}
}

// bashCommand finds the bash command that an update belongs to.
func (s *Session) bashCommand(r *Record) *Command {
	if r.ID != nil {
		for _, c := range s.pairs.open[canonical(r.ID)] {
			if c.Type == "bash" {
				return c
			}
		}
		return nil
	}
	if list := s.pairs.bare["bash"]; len(list) > 0 {
		return list[0]
	}
	return nil
}
