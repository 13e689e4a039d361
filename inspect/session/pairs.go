package session

import (
	"bytes"
	"strings"

	"pitap/record/rpc"
	"pitap/record/scan"
)

// Command is a command with its response.
type Command struct {
	Moment
	Type     string // "" when it has none
	ID       string // as pi writes it, JSON; "" when it has none. A long one is cut and ends in its length and a hash.
	Size     int64
	Response *Moment // nil while there is none
	Success  bool
	Error    string // of a response that failed, cut
	Answers  int    // responses that it got
	Guessed  bool   // the pair is a guess: the response had no id, or several commands the same
	Slash    string // prompt: the extension command or template that its message begins with
	// Disposition is what pi made of a prompt, steer or follow_up: started, queued, handled; "" when it did not say.
	Disposition string
	Streaming   bool    // prompt: it has a streamingBehavior
	Run         *Run    // prompt: the run that it started, once that has begun
	Queued      *Moment // the response that said so, of a message that waits for its turn, or has
	Delivered   *Moment // the message with which it was given to the model
	Dropped     *Moment // what emptied the queue before
	Updates     int64   // bash: bash_execution_updates
	Early       bool    // it was sent before the agent had written anything

	known   *rpc.Command
	token   []byte // the id as it was sent, when that differs from ID
	doubted bool   // its response may be missing in the capture
	era     int64  // of pairs when it was sent
	unended bool   // no LF ends it
	inRun   bool   // sent while a run went on
	raced   bool   // prompt: sent after another one, and before that one's run had begun
	lost    bool   // prompt: found to be lost
	deep    bool   // its id is nested so deep that pi dies of it
	text    uint64 // hash of the message's text, as it is in the queue
	output  *sum   // bash: of its updates
}

// Latency is how long the response took, in nanoseconds; ok is false without one.
func (c *Command) Latency() (ns int64, ok bool) {
	if c.Response == nil {
		return 0, false
	}
	return c.Response.T - c.T, true
}

// pairs finds the command of a response.
type pairs struct {
	open    map[string][]*Command // without response, by id
	bare    map[string][]*Command // without id and response, by type
	waiting int                   // commands in both
	done    map[string]*Command   // the latest that was answered, by id
	order   []string              // of done, a ring
	next    int                   // in order
	bad     []*BadLine            // lines without response
	blind   bool                  // there was more than is kept: what matches nothing says nothing
	era     int64                 // how often something was missing
	guesses int                   // commands that may be looked through for a guess
	prompts []*Command            // the latest prompts that have no run
	lost    []*Command            // prompts that never ran, the first ones
	more    int                   // how many more there are
}

const (
	maxDone = 10_000
	deepID  = 1000 // levels
)

func (p *pairs) init() {
	p.open, p.bare, p.done = map[string][]*Command{}, map[string][]*Command{}, map[string]*Command{}
	p.guesses = 10_000_000
}

// doubt says that something is missing here: perhaps the response to what is open.
func (p *pairs) doubt() {
	p.era++
	p.bad = nil
}

// doubts tells whether the response to a command may be missing.
func (p *pairs) doubts(c *Command) bool { return c.doubted || c.era < p.era }

func (s *Session) command(r *Record) {
	c := &Command{Moment: *r.at(), Type: r.Type, Size: r.Size, known: s.voc.Command(r.Type), Early: s.ready == nil, unended: r.EOL == "", inRun: s.run != nil, era: s.pairs.era}
	if r.ID != nil {
		c.ID = idOf(r.ID)
		c.deep = len(r.ID) > deepID && scan.Scan(r.ID).Depth > deepID
		if string(r.ID) != c.ID {
			c.token = append([]byte(nil), r.ID[:min(len(r.ID), maxKept)]...)
		}
	}
	switch r.Type {
	case "prompt", "steer", "follow_up":
		s.message1(c, r)
	case "bash":
		c.output = new(sum)
		s.pairs.twins(c)
	}
	// Before 0.57.0 a line ends at these, too: pi sees two lines that are no records.
	if !s.traits.strictLF && splitsOld(r.Body) {
		c.doubted, s.pairs.blind = true, true
	}
	s.sent(c, r)
	s.figures.sent(c)
	s.keep(c)
	s.pairs.wait(c)
}

func splitsOld(body []byte) bool {
	res := scan.Scan(body)
	return res.Marks&(scan.LineSep|scan.ParaSep|scan.RawCR) != 0
}

// keep adds a command to the list. Of very many the oldest are forgotten.
func (s *Session) keep(c *Command) {
	s.Commands = trimmed(s.Commands, maxList)
	s.Commands = append(s.Commands, c)
}

// trimmed returns the newer half of a list that has grown too long.
func trimmed[T any](list []T, limit int) []T {
	if len(list) < limit {
		return list
	}
	return append(make([]T, 0, limit), list[len(list)-limit/2:]...)
}

// wait adds a command to the open ones.
func (p *pairs) wait(c *Command) {
	if p.waiting >= maxWaiting {
		p.blind = true
		return
	}
	p.waiting++
	if c.ID != "" {
		p.open[c.ID] = append(p.open[c.ID], c)
	} else {
		p.bare[c.Type] = append(p.bare[c.Type], c)
	}
}

// message1 reads what decides about the life of a prompt, steer or follow_up.
func (s *Session) message1(c *Command, r *Record) {
	message := r.get("message")
	if text := stringOf(message); len(text) > 1 && text[0] == '/' {
		c.Slash = firstWord(text)
	}
	s.scratch, _ = scan.Unquote(s.scratch[:0], message)
	c.text = hash(s.scratch)
	c.Streaming = c.Type == "prompt" && r.get("streamingBehavior") != nil
	if c.Type == "prompt" {
		s.prompted(c)
	}
}

func (s *Session) response(r *Record) {
	if r.Command == "parse" && r.ID == nil && s.parseError(r) {
		return
	}
	if s.traits.sendResponses && strings.HasPrefix(r.Command, "extension_send") {
		return
	}
	c, guessed := s.match(r)
	if c == nil {
		s.stray(r)
		return
	}
	c.Answers++
	s.pairs.close(c)
	if c.Answers > 1 {
		s.twice(c, r)
		return
	}
	c.Response = r.at()
	c.Success, c.Guessed = r.Success, guessed
	c.Error = stringOf(r.get("error"))
	s.figures.answered(c)
	s.answeredBy(c, r)
	if c.known == nil {
		return
	}
	data := r.get("data")
	switch c.Type {
	case "prompt", "steer", "follow_up":
		c.Disposition = stringOf(memberOf(data, "disposition"))
		s.accepted(c)
	case "clear_queue":
		s.queue.drop(c.Response, r.Success)
	case "bash":
		s.bashEnd(c, r, data)
	}
	if c.known.ResetsSession || c.Type == "compact" {
		s.reset(c, string(memberOf(data, "cancelled")) == "true")
	}
}

// match finds the command that a response answers: by id, exact in type; without an id the first of the same type that
// has none. What is left is a guess: the one open command of that type, whatever its id.
func (s *Session) match(r *Record) (c *Command, guessed bool) {
	if r.ID != nil {
		id := idOf(r.ID)
		list := s.pairs.open[id]
		for _, c := range list {
			if c.Type == r.Command {
				return c, len(list) > 1
			}
		}
		done := s.pairs.done[id]
		switch {
		case done != nil && (len(list) == 0 || done.Type == r.Command):
			return done, false
		case len(list) > 0:
			return list[0], false
		}
		return s.likely(r), true
	}
	if list := s.pairs.bare[r.Command]; len(list) > 0 {
		return list[0], true
	}
	return s.likely(r), true
}

// likely finds the one open command of the response's type; of several, when pi leaves the id out, the first.
func (s *Session) likely(r *Record) (found *Command) {
	if s.missing.client || r.Command == "" && (r.ID != nil || r.Success) {
		return nil
	}
	for _, m := range [2]map[string][]*Command{s.pairs.open, s.pairs.bare} {
		if s.pairs.guesses -= len(m); s.pairs.guesses < 0 {
			return nil
		}
		for _, list := range m {
			for _, c := range list {
				switch {
				case c.Type != r.Command:
				case found != nil && r.ID != nil:
					return nil
				case found == nil || c.N < found.N:
					found = c
				}
			}
		}
	}
	return found
}

// close takes a command that was answered from the open ones.
func (p *pairs) close(c *Command) {
	m, key := p.open, c.ID
	if c.ID == "" {
		m, key = p.bare, c.Type
	} else {
		p.remember(c)
	}
	list := m[key]
	for i, other := range list {
		if other == c {
			list = append(list[:i:i], list[i+1:]...)
			p.waiting--
			break
		}
	}
	if len(list) == 0 {
		delete(m, key)
	} else {
		m[key] = list
	}
}

// remember keeps the ids that were answered last.
func (p *pairs) remember(c *Command) {
	if p.done[c.ID] == nil {
		if len(p.order) < maxDone {
			p.order = append(p.order, c.ID)
		} else {
			delete(p.done, p.order[p.next])
			p.order[p.next] = c.ID
			p.next = (p.next + 1) % maxDone
			p.blind = p.blind || c.Answers == 0
		}
	}
	p.done[c.ID] = c
}

func (s *Session) badLine(r *Record) {
	b := &BadLine{Moment: *r.at(), unended: r.EOL == "", cr: bytes.IndexByte(r.Body, '\r')}
	s.Bad = append(trimmed(s.Bad, maxList), b)
	if len(s.pairs.bad) >= maxWaiting || !s.traits.strictLF && splitsOld(r.Body) {
		s.pairs.blind = true
		return
	}
	s.pairs.bad = append(s.pairs.bad, b)
}

// parseError ties an answer to no command to the line that pi could not read; false when it is none.
func (s *Session) parseError(r *Record) bool {
	p := &s.pairs
	if len(p.bad) > 0 {
		p.bad[0].Response = r.at()
		p.bad = p.bad[1:]
		return true
	}
	if !s.traits.parseIsAny || !strings.HasPrefix(stringOf(r.get("error")), "Failed to parse command") {
		return p.blind || s.missing.client
	}
	var c *Command // the latest one that is open
	for _, list := range p.open {
		for _, one := range list {
			if c == nil || one.N > c.N {
				c = one
			}
		}
	}
	for _, list := range p.bare {
		if one := list[len(list)-1]; c == nil || one.N > c.N {
			c = one
		}
	}
	if c == nil {
		return true
	}
	c.Answers++
	p.close(c)
	c.Response, c.Guessed, c.Error = r.at(), true, stringOf(r.get("error"))
	s.figures.answered(c)
	if c.ID != "" {
		s.find("pair/id-missing", r.Entry, "", "the response is a parse error without id; as pi %s answers every exception like that, it probably answers %s (entry %d), whose id is %s", s.Version, c.words(), c.N, clip(c.ID, 60))
	}
	return true
}

func firstWord(text string) string {
	for i, c := range text {
		if c == ' ' || c == '\n' {
			return text[:i]
		}
	}
	return text
}
