package session

import "pitap/record/scan"

// life is where the agent is in a turn: what rules of order need. It is forgotten when something is missing.
type life struct {
	dark  bool // something is missing, or was cut off: nothing is known before the next agent_start
	turn  *Turn
	open  *Message // of an assistant
	other *Message // of another role

	spoke   bool   // the turn's assistant message has ended
	stop    string // its stopReason
	message uint64 // hash of it
	calls   []call
	results []uint64 // hashes of the turn's toolResult messages
	many    bool     // more than is kept
}

// call is a tool call of the turn's assistant message.
type call struct {
	id, name string
	args     uint64 // hash
	start    *Moment
	end      *Moment
	result   bool
}

const maxCalls = 1000

// judges tells whether rules of the order of events apply: not in versions that mix them up, nor behind a gap.
func (s *Session) judges() bool { return s.traits.ordered && !s.life.dark && !s.missing.edited }

// misplaced finds an event where the life cycle has none.
func (s *Session) misplaced(r *Record, where string) {
	if s.judges() && s.traits.nested && s.ready != nil {
		s.find("order/nesting", r.Entry, r.Kind+where, "%s %s", r.kind.name, where)
	}
}

// settling finds events between agent_end and agent_settled that belong into a run.
func (s *Session) settling(r *Record) bool {
	if s.run == nil || s.run.End == nil || !s.traits.settles {
		return false
	}
	s.misplaced(r, "between agent_end and agent_settled")
	return true
}

func (s *Session) turnStart(r *Record) {
	if s.run == nil {
		s.misplaced(r, "outside a run")
		return
	}
	s.settling(r)
	t := &Turn{Start: *r.at()}
	if s.room() {
		s.run.Turns = append(s.run.Turns, t)
	}
	s.run.turns++
	dark := s.life.dark
	s.life = life{turn: t, dark: dark}
}

func (s *Session) turnEnd(r *Record) {
	l := &s.life
	if s.run == nil {
		s.misplaced(r, "outside a run")
		return
	}
	switch t := l.turn; {
	case t != nil:
		t.End = r.at()
		if s.judges() && !r.Cut {
			s.checkTurn(r, r.get("message"))
		}
	case !failed(stringOf(memberOf(r.get("message"), "stopReason"))): // a run that failed may end a turn that has not begun
		if !s.settling(r) {
			s.misplaced(r, "without turn_start")
		}
	}
	l.turn, l.calls, l.results, l.spoke = nil, nil, nil, false
}

func failed(stop string) bool { return stop == "error" || stop == "aborted" }

// checkTurn compares the end of a turn with what came in it.
func (s *Session) checkTurn(r *Record, message []byte) {
	l := &s.life
	if !s.missing.edited && l.spoke && hash(message) != l.message {
		s.find("order/turn-end", r.Entry, "", "the message of turn_end is not that of the turn's message_end")
	}
	if l.many {
		return
	}
	n := 0
	for e := scan.WalkOver(r.get("toolResults")); e.Next(); n++ {
		if !s.missing.edited && n < len(l.results) && hash(e.Value) != l.results[n] {
			s.find("order/turn-end", r.Entry, "", "element %d of the toolResults of turn_end is not the turn's toolResult message number %d", n, n+1)
		}
	}
	if n != len(l.results) {
		s.find("order/turn-end", r.Entry, "", "turn_end has %d toolResults, and %d toolResult messages came in the turn", n, len(l.results))
	}
	for i := range l.calls {
		c := &l.calls[i]
		what := ""
		switch {
		case c.start == nil:
			what = "tool_execution_start"
		case c.end == nil:
			what = "tool_execution_end"
		case !c.result:
			what = "toolResult message"
		}
		if what != "" {
			s.find("order/tool-end", r.Entry, "", "the turn ends, and the tool call %s of %s has no %s", clip(c.id, 60), clip(c.name, 60), what)
			delete(s.tools, c.id)
		}
	}
}

func (s *Session) messageStart(r *Record) {
	body := messageOf(r.get("message"))
	m := &Message{Start: *r.at(), Latest: r.T}
	m.fill(&body)
	l := &s.life
	if m.Role == "assistant" {
		l.open, l.other = m, nil
	} else {
		l.other = m
	}
	if m.Role == "user" {
		s.delivered(r, body.content)
	}
	s.placed(r, m, &body)
	if t := s.turn(); t != nil && s.room() {
		t.Messages = append(t.Messages, m)
	}
}

// placed finds messages where the life cycle has none.
func (s *Session) placed(r *Record, m *Message, body *messageBody) {
	l := &s.life
	if m.Role == "custom" || m.Role == "" || failed(m.Stop) || r.Cut {
		return // custom ones come anywhere, and a run that failed ends in a message of its own
	}
	what := m.Role + " message"
	switch {
	case s.run == nil:
		s.misplaced(r, "of "+what+" outside a run")
	case s.settling(r):
	case l.turn == nil:
		s.misplaced(r, "of "+what+" outside a turn")
	case m.Role == "toolResult" && !l.spoke:
		s.misplaced(r, "of "+what+" before the turn's assistant message")
	case m.Role == "toolResult":
		s.toolResult(r, body)
	case l.spoke && m.Role == "assistant":
		s.misplaced(r, "of a second assistant message in a turn")
	case l.spoke:
		s.misplaced(r, "of "+what+" behind the turn's assistant message")
	}
}

// toolResult takes the start of a tool's result: the tool has ended.
func (s *Session) toolResult(r *Record, body *messageBody) {
	l := &s.life
	id := stringOf(body.call)
	for i := range l.calls {
		c := &l.calls[i]
		if c.id != id || c.result {
			continue
		}
		c.result = true
		if c.end == nil && s.judges() {
			s.find("order/tool-end", r.Entry, "", "the toolResult message of tool call %s of %s comes before its tool_execution_end", clip(id, 60), clip(c.name, 60))
		}
		return
	}
	if !l.many && s.judges() {
		s.find("order/tool-end", r.Entry, "", "a toolResult message for %q, and the turn's assistant message has no such call", clip(id, 60))
	}
}

func (s *Session) messageEnd(r *Record) {
	body := messageOf(r.get("message"))
	l := &s.life
	m := l.other
	if string(body.role) == `"assistant"` || body.role == nil && m == nil {
		m = l.open
	}
	if m == nil {
		return
	}
	m.fill(&body)
	m.End, m.Latest = r.at(), r.T
	m.blocks, m.last = nil, nil
	if m == l.other {
		l.other = nil
	} else {
		l.open = nil
	}
	switch m.Role {
	case "assistant":
		s.spoke(r, m, &body)
	case "toolResult":
		if l.turn != nil {
			if len(l.results) < maxCalls {
				l.results = append(l.results, hash(body.all))
			} else {
				l.many = true
			}
		}
	}
}

// spoke takes the end of an assistant's message.
func (s *Session) spoke(r *Record, m *Message, body *messageBody) {
	l := &s.life
	s.figures.usage.Add(m.Usage)
	if s.run != nil {
		s.run.usage.Add(m.Usage)
		if m.Usage.Output > s.run.most {
			s.run.most, s.run.rate = m.Usage.Output, m.Rate()
		}
	}
	l.spoke, l.stop, l.message = true, m.Stop, hash(body.all)
	l.calls, l.many = nil, r.Cut
	if m.Stop == "pending" && s.judges() && s.traits.pending {
		s.find("order/nesting", r.Entry, "pending", "message_end of an assistant message whose stopReason is still pending")
	}
	if failed(m.Stop) || m.Stop == "deferred" {
		return
	}
	for e := scan.WalkOver(body.content); e.Next(); {
		c, isCall := callOf(e.Value)
		switch {
		case !isCall:
		case len(l.calls) == maxCalls:
			l.many = true
			return
		default:
			l.calls = append(l.calls, c)
		}
	}
}

// callOf reads a content block that is a tool call.
func callOf(block []byte) (c call, isCall bool) {
	for ms := scan.WalkOver(block); ms.Next(); {
		value := ms.Value
		switch {
		case ms.Is("type"):
			if isCall = string(value) == `"toolCall"`; !isCall {
				return c, false
			}
		case ms.Is("id"):
			c.id = stringOf(value)
		case ms.Is("name"):
			c.name = stringOf(value)
		case ms.Is("arguments"):
			c.args = hash(value)
		}
	}
	return c, isCall
}

// messageBody is the values of a message's members.
type messageBody struct{ all, role, content, model, stop, err, usage, call []byte }

func messageOf(object []byte) (m messageBody) {
	m.all = object
	for ms := scan.WalkOver(object); ms.Next(); {
		value := ms.Value
		switch {
		case ms.Is("role"):
			m.role = value
		case ms.Is("content"):
			m.content = value
		case ms.Is("model"):
			m.model = value
		case ms.Is("stopReason"):
			m.stop = value
		case ms.Is("errorMessage"):
			m.err = value
		case ms.Is("usage"):
			m.usage = value
		case ms.Is("toolCallId"):
			m.call = value
		}
	}
	return m
}

// fill takes what a record says of the whole message.
func (m *Message) fill(body *messageBody) {
	if body.role != nil {
		m.Role = stringOf(body.role)
	}
	if m.Role == "assistant" {
		m.Model, m.Stop, m.Error, m.Usage = stringOf(body.model), stringOf(body.stop), stringOf(body.err), usageOf(body.usage)
	}
	m.Preview = clip(previewOf(body.content), 160)
}
