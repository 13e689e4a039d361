package session

import (
	"strconv"

	"pitap/record/rpc"
	"pitap/record/scan"
)

// Command is a command with its response.
type Command struct {
	Moment
	Type     string // "" when it has none
	ID       string // canonical, as JSON; "" when it has none
	Size     int64
	Response *Moment // nil while there is none
	Success  bool
	Error    string // of a response that failed, cut
	Answers  int    // responses that it got
	Guessed  bool   // the pair is a guess: the response had no id
	Slash    string // prompt: the extension command or template that its message begins with
	// Disposition is what pi made of a prompt, steer or follow_up: started, queued, handled; "" when it did not say.
	Disposition string
	Streaming   bool // prompt: it has a streamingBehavior
	Run         *Run // prompt: the run that it started, once that has begun
	Updates     int64
	Early       bool // it was sent before the agent had written anything

	known   *rpc.Command
	token   string // of an id that is a number, as it was sent
	doubted bool   // something was lost while it was open
	inRun   bool   // sent while a run went on
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
	open map[string][]*Command // without response, by id
	bare map[string][]*Command // without id and response, by type
	done map[string]*Command   // the latest that was answered, by id
	bad  int                   // index in Session.Bad of the first line without response

	scratch []byte // for decoded text
}

func (p *pairs) init() {
	p.open, p.bare, p.done = map[string][]*Command{}, map[string][]*Command{}, map[string]*Command{}
}

// doubt marks what is open: its response may have been lost.
func (p *pairs) doubt() {
	for _, m := range [2]map[string][]*Command{p.open, p.bare} {
		for _, list := range m {
			for _, c := range list {
				c.doubted = true
			}
		}
	}
}

func (s *Session) command(r *Record) {
	c := &Command{Moment: Moment{r.N, r.T, r.Kind}, Type: r.Type, Size: r.Size, known: s.voc.Command(r.Type), Early: !s.ready, inRun: s.run != nil}
	if c.Kind == "" {
		c.Kind = "command without type"
	}
	if r.ID != nil {
		c.ID = canonical(r.ID)
		if r.ID[0] == '-' || r.ID[0] >= '0' && r.ID[0] <= '9' {
			c.token = string(r.ID[:min(len(r.ID), maxKept)])
		}
	}
	if r.Type == "prompt" {
		c.prompt(r.Body)
	}
	s.Commands = append(s.Commands, c)
	s.sent(c, r)
	if c.ID != "" {
		s.pairs.open[c.ID] = append(s.pairs.open[c.ID], c)
	} else {
		s.pairs.bare[c.Type] = append(s.pairs.bare[c.Type], c)
	}
}

// prompt reads what decides about a prompt's life.
func (c *Command) prompt(body []byte) {
	ms := scan.MembersOf(body)
	for ms.Next() {
		switch {
		case ms.Is("message"):
			if text := stringOf(body[ms.Start:ms.End]); len(text) > 1 && text[0] == '/' {
				c.Slash = firstWord(text)
			}
		case ms.Is("streamingBehavior"):
			c.Streaming = true
		}
	}
}

func (s *Session) response(r *Record) {
	if r.Command == "parse" && r.ID == nil {
		s.parseError(r)
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
	c.Response = &Moment{r.N, r.T, r.Kind}
	c.Success, c.Guessed = r.Success, guessed
	var data []byte
	ms := scan.MembersOf(r.Body)
	for ms.Next() {
		switch {
		case ms.Is("error"):
			c.Error = stringOf(r.Body[ms.Start:ms.End])
		case ms.Is("data"):
			data = r.Body[ms.Start:ms.End]
		}
	}
	if c.Type == "prompt" || c.Type == "steer" || c.Type == "follow_up" {
		c.Disposition = stringOf(memberOf(data, "disposition"))
	}
	s.answeredBy(c, r)
	if r.Success && c.known != nil && c.known.ResetsSession && string(memberOf(data, "cancelled")) != "true" {
		s.reset(c)
	}
}

// match finds the command that a response answers: by id, exact in type; without an id the first of the same type that
// has none; and as old versions of pi answer unknown commands without id, one with an id of a type that is not known.
func (s *Session) match(r *Record) (c *Command, guessed bool) {
	if r.ID != nil {
		id := canonical(r.ID)
		list := s.pairs.open[id]
		for _, c := range list {
			if c.Type == r.Command {
				return c, len(list) > 1
			}
		}
		if len(list) > 0 {
			return list[0], false
		}
		return s.pairs.done[id], false
	}
	if list := s.pairs.bare[r.Command]; len(list) > 0 {
		return list[0], true
	}
	if r.Success {
		return nil, false
	}
	for i := len(s.Commands) - 1; i >= 0 && i >= len(s.Commands)-1000; i-- {
		if c := s.Commands[i]; c.Response == nil && c.Type == r.Command {
			return c, true
		}
	}
	return nil, false
}

// close takes a command that was answered from the open ones.
func (p *pairs) close(c *Command) {
	m, key := p.open, c.ID
	if c.ID == "" {
		m, key = p.bare, c.Type
	} else {
		p.done[c.ID] = c
	}
	list := m[key]
	for i, other := range list {
		if other == c {
			list = append(list[:i:i], list[i+1:]...)
			break
		}
	}
	if len(list) == 0 {
		delete(m, key)
	} else {
		m[key] = list
	}
}

func (s *Session) parseError(r *Record) {
	if s.pairs.bad >= len(s.Bad) {
		s.stray(r)
		return
	}
	s.Bad[s.pairs.bad].Response = &Moment{r.N, r.T, r.Kind}
	s.pairs.bad++
}

// canonical is how JSON.stringify(JSON.parse(token)) writes an id, which is how pi echoes it; long ones are cut.
func canonical(token []byte) string {
	switch {
	case len(token) == 0:
		return ""
	case token[0] == '"':
		text, _ := scan.Unquote(nil, token)
		return `"` + string(text[:min(len(text), maxKept)]) + `"`
	case token[0] == '-' || token[0] >= '0' && token[0] <= '9':
		if len(token) > 400 {
			return string(token[:maxKept])
		}
		f, err := strconv.ParseFloat(string(token), 64)
		if err != nil && f != 0 && (f > 1 || f < -1) { // JavaScript's Infinity, which JSON.stringify writes as null
			return "null"
		}
		return "#" + strconv.FormatFloat(f, 'g', -1, 64)
	}
	return string(token[:min(len(token), maxKept)])
}

// memberOf gives the last member of that name of an object, nil when there is none.
func memberOf(object []byte, name string) (value []byte) {
	if len(object) == 0 {
		return nil
	}
	ms := scan.MembersOf(object)
	for ms.Next() {
		if ms.Is(name) {
			value = object[ms.Start:ms.End]
		}
	}
	return value
}

// stringOf gives the text of a string token, cut; "" for what is none.
func stringOf(token []byte) string {
	if len(token) < 2 || token[0] != '"' {
		return ""
	}
	if len(token) > 4*maxKept {
		token = append(append([]byte(nil), token[:4*maxKept]...), '"')
	}
	text, _ := scan.Unquote(nil, token)
	if len(text) > maxKept {
		text = text[:maxKept]
	}
	return string(text)
}

func firstWord(text string) string {
	for i, c := range text {
		if c == ' ' || c == '\n' {
			return text[:i]
		}
	}
	return text
}
