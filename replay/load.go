package replay

import (
	"bytes"
	"slices"

	"pitap/record"
	"pitap/record/rpc"
	"pitap/record/scan"
)

// maxScript is how many bytes of memory a script may take, about, without the entries that it plays: about a million
// commands, or five million pieces. Without a bound a small file could take any amount.
var maxScript = 512 << 20 // changed by tests alone

const (
	stepSize    = 100
	commandSize = 300
	leafSize    = 48
)

// loader makes a script of entries.
type loader struct {
	s           *Script
	memory      *memory // nil once there is too much
	entries     int
	taken       int                   // of maxScript
	outstanding map[string][]*command // commands without an answer, by echoed id and name
	byHash      map[uint64][]*question
	open        bool // a run is going on
	fresh       bool // the next record begins a new step

	plain int64      // of entries that are alike: those are events that nothing depends on; 0: none
	spans scan.Spans // of an entry of which they were not known

	doubled int64  // number of a response that stands there twice
	last    []byte // the response before

	parts  [2]partial // of the client's and of the agent's record
	exited *record.Note
}

// partial is a record that its capture holds in parts.
type partial struct {
	steps []int
	first []byte // the beginning of it
	body  []byte // of a client's record, all of it
}

func (l *loader) entry(e *record.Entry, at place) {
	l.entries++
	mem := int64(-1)
	if l.memory != nil && l.memory.size+memorySize(e) > maxMemory {
		l.memory = nil
	}
	if l.memory != nil && e.Note == nil && e.From != record.Client {
		mem = l.memory.add(e)
	}
	st := step{n: e.N, t: e.T, at: at, mem: mem, count: 1, open: l.open, bytes: len(e.Body), marks: len(l.s.marks)}
	switch {
	case e.Note != nil:
		l.note(e, st)
	case e.From == record.Stderr:
		st.kind = stderr
		l.add(st)
	case e.Part:
		l.part(e, st)
	case e.From == record.Client:
		l.drop(0, e)
		l.client(e.Body, st)
	default:
		l.drop(1, e)
		if id, _ := e.Alike(); id != 0 && id == l.plain {
			l.event(st)
			return
		}
		_, m := e.Scan(&l.spans)
		head := rpc.LookAt("agent", e.Body, m)
		plain := l.agent(e.Body, head, st)
		if id, _ := e.Alike(); id != 0 && plain {
			l.plain = id
		}
	}
}

// add appends a step.
func (l *loader) add(st step) int {
	l.fresh = true
	l.taken += stepSize
	l.s.steps = append(l.s.steps, st)
	i := len(l.s.steps) - 1
	switch st.kind {
	case eof, signal, closed:
		l.s.gates = append(l.s.gates, i)
	case sent:
		if st.cmd.gate {
			l.s.gates = append(l.s.gates, i)
		}
	}
	return i
}

func (l *loader) note(e *record.Entry, st step) {
	switch n := e.Note; {
	case n.Kind == "eof" && e.From == record.Client:
		st.kind = eof
	case n.Kind == "signal":
		st.kind, st.name = signal, n.Signal
	case n.Kind == "closed" && e.From == record.Agent:
		st.kind = closed
	case n.Kind == "exit":
		l.exited = n
		return
	default:
		l.fresh = true
		return
	}
	if l.exited == nil { // what comes to a recorder whose agent has gone moves nothing
		l.add(st)
	}
}

// part takes a part of a record. Parts that are there again as a whole are dropped when that comes.
func (l *loader) part(e *record.Entry, st step) {
	side := 0
	if e.From == record.Agent {
		side = 1
	}
	p := &l.parts[side]
	if p.first == nil {
		p.first = append([]byte{}, e.Body[:min(len(e.Body), 64<<10)]...)
	}
	if side == 0 {
		if len(p.body) < maxLine {
			p.body = append(p.body, e.Body...)
		}
		if e.Last {
			body := p.body
			*p = partial{}
			l.client(body, st)
		}
		return
	}
	st.kind = events
	p.steps = append(p.steps, l.add(st))
	if e.Last {
		l.finishParts(p)
		*p = partial{}
	}
}

// finishParts looks whether a record in parts is an answer.
func (l *loader) finishParts(p *partial) {
	head := rpc.Look("agent", p.first)
	if head.Type != "response" {
		return
	}
	c := l.answered(head)
	if c == nil {
		return
	}
	first := p.steps[0]
	l.s.steps[first].kind, l.s.steps[first].cmd = response, c
	c.answer, c.parts = first, p.steps[1:]
	for _, i := range p.steps[1:] {
		l.s.steps[i].kind, l.s.steps[i].cmd, l.s.steps[i].part = response, c, true
	}
}

// drop forgets the parts of a record that came whole.
func (l *loader) drop(side int, e *record.Entry) {
	p := &l.parts[side]
	if len(e.Supersedes) > 0 {
		for _, i := range p.steps {
			l.s.steps[i].kind = nothing
		}
	}
	*p = partial{}
}

// client takes a record of the client.
func (l *loader) client(body []byte, st step) {
	head := rpc.Look("client", body)
	c := &command{n: st.n, id: slices.Clone(head.ID), kind: head.Type, load: payloadOf(body), answer: -1}
	st.kind, st.cmd, c.step = sent, c, len(l.s.steps)
	if !scan.Scan(body).JSON {
		c.kind = ""
		l.await("parse", nil, c)
	} else if voc := rpc.Load(); voc.UIResponse(head.Type) != nil {
		if d := l.s.dialogs[string(head.ID)]; d != nil && d.waits && d.answer == nil {
			d.answer, c.dialog, c.gate = c, d, true
		}
	} else {
		if known := voc.Command(head.Type); known != nil && known.ChangesState {
			c.gate, c.late, c.emits = true, known.AnswersLate(l.s.version), known.Emits
		}
		l.await(head.Type, head.ID, c)
	}
	l.taken += commandSize + len(c.id)
	for _, leaf := range c.load.leaves {
		l.taken += leafSize + len(leaf.path) + len(leaf.text)
	}
	c.index = len(l.s.commands)
	l.s.commands = append(l.s.commands, c)
	l.add(st)
}

// await notes that a command has no answer yet.
func (l *loader) await(name string, id []byte, c *command) {
	key := answerKey(name, id)
	l.outstanding[key] = append(l.outstanding[key], c)
}

func answerKey(name string, id []byte) string {
	if id == nil {
		return name
	}
	return name + "\x00" + string(echo(nil, id))
}

// answered finds the command that a response answers.
func (l *loader) answered(head rpc.Head) *command {
	key := answerKey(head.Command, head.ID)
	queue := l.outstanding[key]
	if len(queue) == 0 && head.ID == nil {
		// Old pi answers unknown commands without id.
		for k, q := range l.outstanding {
			if len(q) > 0 && q[0].kind == head.Command && !q[0].gate {
				key, queue = k, q
				break
			}
		}
	}
	if len(queue) == 0 {
		return nil
	}
	if len(queue) == 1 {
		delete(l.outstanding, key)
	} else {
		l.outstanding[key] = queue[1:]
	}
	return queue[0]
}

// agent takes a record of the agent. plain tells that it does no more than to be written at its place.
func (l *loader) agent(body []byte, head rpc.Head, st step) (plain bool) {
	st.kind = events
	single := false // it may have to be played out of its place
	switch head.Type {
	default:
		plain = true
	case "response":
		st.kind, single = response, true
		if st.cmd = l.answered(head); st.cmd != nil {
			st.cmd.answer = len(l.s.steps)
		} else if head.ID != nil && l.doubled == 0 && bytes.Equal(l.last, body) {
			l.doubled = st.n // as a merge by hand leaves it: agents answer once
		}
		l.last = append(l.last[:0], body...)
		if c := st.cmd; c != nil && c.gate && c.late && !rpc.Load().Command(c.kind).StartsRun {
			l.s.marks = append(l.s.marks, waypoint{st.n, "the response to " + c.kind})
		}
	case "agent_start":
		l.open = true
	case "agent_end", "agent_settled":
		if l.open {
			l.event(st)
			l.s.marks = append(l.s.marks, waypoint{st.n, head.Type})
			l.open, l.fresh = false, true
			l.s.steps[len(l.s.steps)-1].open = false
			return false
		}
	case "extension_ui_request":
		if head.ID != nil {
			method := rpc.Load().Method(head.Sub)
			l.s.dialogs[string(head.ID)] = &dialog{what: dialogName(head, body), waits: method != nil && method.Dialog}
		}
		single = true
	case "bash_execution_update":
		single = true
		if queue := l.outstanding[answerKey("bash", head.ID)]; len(queue) > 0 {
			st.cmd = queue[0]
		}
	case "queue_update", "thinking_level_changed", "session_info_changed", "compaction_start", "compaction_end":
		single = true
	}
	if single {
		st.open = l.open
		st.name = head.Type
		l.add(st)
		return false
	}
	l.event(st)
	return plain
}

// dialogName names a UI request for people, by its method and title.
func dialogName(head rpc.Head, body []byte) string {
	name := "the dialog " + head.Sub
	if load := payloadOf(body[:min(len(body), 4<<10)]); len(body) <= 4<<10 {
		for i := range load.leaves {
			if leaf := &load.leaves[i]; leaf.path == "title" && leaf.string {
				name += " " + leaf.show(0)
			}
		}
	}
	return name
}

// event adds an event to those before it, if they are one step.
func (l *loader) event(st step) {
	st.kind, st.open = events, l.open
	if last := len(l.s.steps) - 1; !l.fresh && l.s.steps[last].count < 1<<20 {
		l.s.steps[last].count++
		l.s.steps[last].bytes += st.bytes
		l.s.steps[last].open = l.open
		return
	}
	l.add(st)
	l.fresh = false
}

// end makes the questions, when all answers are known.
func (l *loader) end() {
	for _, c := range l.s.commands {
		switch {
		case c.gate || c.kind == "extension_ui_response":
		case c.kind == "" && c.answer < 0: // a line that ended the agent, as null does
			c.gate = true
			l.s.gates = append(l.s.gates, c.step)
		default:
			l.question(c)
		}
	}
	slices.Sort(l.s.gates)
	l.s.exit = l.exited
	if l.open {
		l.s.left = "a run"
	} else if i := slices.IndexFunc(l.s.commands, func(c *command) bool { return c.gate && c.dialog == nil && c.answer < 0 }); i >= 0 {
		l.s.left = l.s.commands[i].what()
	}
	l.s.short = l.exited == nil && l.s.left != ""
}

func (l *loader) question(c *command) {
	for _, q := range l.byHash[c.load.hash] {
		if q.kind == c.kind && same(q.load, c.load) {
			c.q, c.nth = q, len(q.asked)
			q.asked = append(q.asked, c)
			return
		}
	}
	q := &question{kind: c.kind, load: c.load, asked: []*command{c}}
	c.q = q
	l.byHash[c.load.hash] = append(l.byHash[c.load.hash], q)
	l.s.questions = append(l.s.questions, q)
}

func same(a, b payload) bool { return slices.Equal(a.leaves, b.leaves) }
