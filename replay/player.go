package replay

import (
	"bytes"
	"fmt"
	"strings"
	"time"
)

// player is a replay that goes on. One goroutine owns it.
type player struct {
	a     *Agent
	s     *Script
	m     matcher
	rep   Report
	wait  time.Duration
	start time.Time
	now   time.Time

	out     *writer
	err     *errorWriter
	buf     []byte   // to be written next
	spare   []byte   // the buffer that is not buf
	answers [][]byte // to be written out of turn, before anything else

	pos    int // step of the script
	sub    int // records of the step that were written
	at     place
	played map[int]bool // steps that were played before their turn

	cmds   []state // by command.index
	byKind map[string][]*command
	open   []*command // matched, and not answered yet
	ahead  int        // matched, and not passed by the script yet
	gateAt int        // in Script.gates: the first that may hold
	asked  map[*question]*asking
	asks   []*ask

	eof        bool           // the client has closed our stdin
	tooSoon    string         // why it, or a signal, ends the replay where it stands
	gone       bool           // the client has closed our stdout
	dropped    bool           // something was to be written since
	signals    []string       // that end pi, and were not at their place yet
	others     map[string]int // that do not, by name
	terms      int            // how many ended pi so far
	lastSignal string         // of those

	afterResponse bool // what was written last is an answer
	respAt        time.Time
	wake          time.Time // when a step is due
	anchor        time.Time // the script's time anchorT is this moment
	anchorT       int64

	hold       hold // why the script stands still
	holdPos    int
	since      time.Time // when it began to
	lastClient time.Time // when a record came
	said       bool

	fault  *Fault
	cuts   []int   // in buf, at which reads ended when it was recorded
	writes []write // what the fault made of the records
	then   func()  // when the piece that is written is

	over    bool // the replay has ended
	abandon bool // bytes that the client has not read are given up
}

// state is what became of a recorded command.
type state struct {
	matched  bool
	id       []byte // of the live command; nil for none
	answered uint8  // inTurn, outOfTurn
}

const (
	inTurn    = 1
	outOfTurn = 2
)

// hold says why the script does not move.
type hold uint8

const (
	moved    hold = iota
	busy          // the client reads slowly
	breath        // a few milliseconds after an answer
	clock         // the next record is not due yet
	pause         // a question may come
	gate          // something of the client must come
	finished      // the end of the script
)

// advance moves the script on until it is held up.
func (p *player) advance() {
	batch := p.a.Speed == MaxSpeed && p.fault == nil
	for !p.over {
		if p.fault != nil && !p.out.busy {
			if len(p.buf) > 0 {
				p.take(p.buf)
				p.buf = p.buf[:0]
			}
			if p.pump(true) {
				continue
			}
			if len(p.writes) > 0 && (!p.writes[0].held || len(p.writes) > maxHeld) {
				p.held(breath)
				return
			}
		}
		if p.out.busy && (!batch || len(p.buf) >= chunk) {
			p.held(busy)
			return
		}
		if len(p.buf) > 0 && p.fault == nil && (!batch || len(p.buf) >= chunk) {
			p.flush()
			continue
		}
		if len(p.answers) > 0 {
			p.emit(p.answers[0])
			p.answers = p.answers[1:]
			p.afterResponse = true
			continue
		}
		if p.tooSoon != "" && !p.out.busy && !p.answersSoon() {
			p.breakOff()
			continue
		}
		h := p.step()
		if h == moved {
			continue
		}
		if p.out.busy {
			p.held(busy)
			return
		}
		if len(p.buf) > 0 {
			if p.fault == nil {
				p.flush()
			}
			continue
		}
		if p.fault.joins() && len(p.fault.joined) > 0 {
			p.writes = append(p.writes, write{b: p.fault.release()})
			continue
		}
		if p.tooSoon != "" && h != breath && h != clock {
			p.breakOff()
			continue
		}
		if p.serve(h) || p.over {
			continue
		}
		if len(p.writes) > 0 { // a response that another may overtake
			h = breath
		}
		p.held(h)
		return
	}
}

// step plays the step that the script stands at, if it can be played.
func (p *player) step() hold {
	if p.pos >= len(p.s.steps) {
		return p.tail()
	}
	st := &p.s.steps[p.pos]
	switch st.kind {
	case nothing:
		p.next()
	case events, response, stderr:
		return p.write(st)
	case sent:
		return p.sent(st)
	case eof:
		if !p.eof || len(p.asks) > 0 { // pi answers what came before the end
			return gate
		}
		p.pass(st)
	case signal:
		switch {
		case p.others[st.name] > 0:
			p.others[st.name]--
		case len(p.signals) > 0 && p.signals[0] == st.name:
			p.signals = p.signals[1:]
		default:
			return gate
		}
		p.pass(st)
	case closed:
		if !p.gone {
			return gate
		}
		p.dropped = false
		p.pass(st)
	}
	return moved
}

func (p *player) next() {
	p.pos++
	p.sub = 0
}

// pass goes through a gate: the recorded pace begins anew.
func (p *player) pass(st *step) {
	p.anchor, p.anchorT = p.now, st.t
	p.next()
}

// sent comes to a record that the client sent.
func (p *player) sent(st *step) hold {
	c := st.cmd
	if c.gate {
		if !p.cmds[c.index].matched {
			return gate
		}
		p.ahead--
		p.pass(st)
		return moved
	}
	if c.q == nil { // an answer that nobody waited for
		p.next()
		return moved
	}
	for i, a := range p.asks {
		if a.q == c.q {
			p.asks = append(p.asks[:i:i], p.asks[i+1:]...)
			p.tooEarly(a, c)
			p.matched(c, a.id)
			q := p.asking(c.q)
			q.given = max(q.given, c.nth)
			q.came++
			p.pass(st)
			return moved
		}
	}
	if p.asking(c.q).unwaited || p.eof || len(p.signals) > 0 {
		p.skip()
		return moved
	}
	return pause
}

// skip leaves out a question that the client did not ask.
func (p *player) skip() {
	p.rep.Skipped++
	p.next()
}

// write plays what the agent wrote.
func (p *player) write(st *step) hold {
	if p.sub == 0 && p.leftOut(st) {
		p.next()
		return moved
	}
	at := st.at
	if p.sub > 0 {
		at = p.at
	}
	e, next, err := p.s.src.entry(at)
	if err != nil {
		p.finish(Broken, err.Error(), 1, "")
		return moved
	}
	if h := p.due(st, e.t); h != moved {
		return h
	}
	switch {
	case st.kind == stderr:
		p.err.write(e.body)
		p.err.write([]byte(e.eol))
	case st.cmd != nil && !st.part:
		p.buf = append(p.idFor(p.buf, st, e), e.eol...)
	default:
		p.buf = append(append(p.buf, e.body...), e.eol...)
	}
	p.cuts = p.cuts[:0]
	for _, c := range e.cuts { // an id of another length stands in front
		p.cuts = append(p.cuts, c+len(p.buf)-len(e.body)-len(e.eol))
	}
	if st.kind == response && st.cmd != nil {
		p.answered(st.cmd, inTurn)
	}
	p.afterResponse = st.kind == response
	p.at = next
	if p.sub++; p.sub == st.count {
		p.next()
	}
	return moved
}

// leftOut tells whether a step must not be played: it was before, or answers what was not asked.
func (p *player) leftOut(st *step) bool {
	if p.played[p.pos] {
		return true
	}
	if st.kind != response || st.cmd == nil {
		return false
	}
	s := &p.cmds[st.cmd.index]
	return !s.matched || s.answered == outOfTurn || s.answered == inTurn && !st.part
}

// idFor appends a record that carries the id of a command, with the id that the client gave that command.
func (p *player) idFor(dst []byte, st *step, e piece) []byte {
	s := &p.cmds[st.cmd.index]
	return withLiveID(dst, e.body, st.cmd.id, s.id)
}

// withLiveID appends an agent's record to a command of recorded id with the live one in its place.
func withLiveID(dst, body, recorded, live []byte) []byte {
	if string(recorded) == string(live) && (recorded == nil) == (live == nil) {
		return append(dst, body...)
	}
	var id []byte
	if live != nil {
		id = echo(nil, live)
	}
	return withID(dst, body, id, recorded == nil) // old pi answers unknown commands without the id
}

// due tells whether a record may be written now.
func (p *player) due(st *step, t int64) hold {
	switch speed := p.a.Speed; {
	case speed == MaxSpeed || p.fault.joins() || st.kind == stderr && speed == 0:
	case speed > 0:
		p.wake = p.anchor.Add(time.Duration(float64(t-p.anchorT) / speed))
		if late := p.wake.Sub(p.now); p.a.MaxGap > 0 && late > p.a.MaxGap {
			p.anchor = p.anchor.Add(p.a.MaxGap - late)
			p.wake = p.now.Add(p.a.MaxGap)
		}
		if p.now = time.Now(); p.wake.After(p.now) {
			return clock
		}
	case p.afterResponse && st.kind == events:
		if len(p.buf) > 0 {
			return breath
		}
		if p.wake = p.respAt.Add(afterAnswer); p.wake.After(p.now) {
			return breath
		}
	}
	return moved
}

// emit puts bytes into the buffer.
func (p *player) emit(b []byte) {
	p.buf = append(p.buf, b...)
	p.cuts = p.cuts[:0]
}

// flush begins to write the buffer.
func (p *player) flush() {
	if p.gone {
		p.buf, p.dropped = p.buf[:0], true
		p.respAt = p.now
		return
	}
	p.out.write(p.buf)
	p.buf, p.spare = p.spare[:0], p.buf
	if cap(p.buf) > 4<<20 {
		p.buf = nil
	}
}

// wrote takes the end of a write.
func (p *player) wrote(err error) {
	p.out.busy = false
	p.now = time.Now()
	p.respAt = p.now
	if err != nil {
		p.gone, p.dropped = true, true
	}
	p.written()
}

// tail is the end of the script: the recorded end, or that of the client.
func (p *player) tail() hold {
	if len(p.asks) > 0 {
		return finished
	}
	if exit := p.s.exit; exit != nil {
		switch {
		case exit.Signal != "":
			p.finish(Complete, "", 0, exit.Signal)
		case exit.Code != nil:
			p.finish(Complete, "", *exit.Code, "")
		default:
			p.finish(Complete, "", 1, "")
		}
		return moved
	}
	if p.eof {
		p.finish(Complete, "", 0, "")
		return moved
	}
	return finished
}

// finish ends the replay.
func (p *player) finish(o Outcome, detail string, code int, signal string) {
	if p.over {
		return
	}
	p.over = true
	p.letGo()
	p.rep.Outcome, p.rep.Detail, p.rep.Code, p.rep.Signal = o, detail, code, signal
	for _, c := range p.s.commands {
		if c.gate && !p.cmds[c.index].matched {
			p.rep.NeverCame = appendListed(p.rep.NeverCame, fmt.Sprintf("%s (%s)", c.what(), p.s.place(c.n)))
		}
	}
	if o == GaveUp || o == Different || o == Broken || len(p.rep.Misses) > 0 {
		p.rep.Code, p.rep.Signal = 1, ""
	}
	p.lastWords()
	p.stand()
	if o != Complete {
		p.say("%s", strings.TrimSuffix(p.rep.String(), "\n"))
	}
}

// lastWords is what a fault still has to write at the end.
func (p *player) lastWords() {
	switch {
	case p.fault == nil:
	case p.fault.joins():
		p.writes = append(p.writes, write{b: p.fault.release()})
	case p.fault.kind.Name == "cut":
		b := append([]byte(`{"type":"pitap_noise","text":"`), bytes.Repeat([]byte{'x'}, p.fault.n)...)
		p.writes = append(p.writes, write{b: b[:p.fault.n]})
	}
}

func (p *player) say(format string, args ...any) {
	if !p.a.Quiet {
		p.err.write(fmt.Appendf(nil, "pitap replay: "+format+"\n", args...))
	}
}

// report tells how the replay stands.
func (p *player) report() {
	if p.a.OnReport == nil {
		return
	}
	p.stand()
	p.a.OnReport(&p.rep)
}

// stand notes where the script stands.
func (p *player) stand() {
	p.rep.At, p.rep.Last, p.rep.Lines = p.entry(p.pos), p.entry(len(p.s.steps)), p.s.lines
	p.rep.Waiting = ""
	if p.rep.Outcome != Complete && (p.out.busy || p.waitsAt(p.pos)) {
		p.rep.Waiting = p.waitingFor()
	}
}

// waitsAt tells whether a step waits for something to come from outside.
func (p *player) waitsAt(pos int) bool {
	if pos >= len(p.s.steps) {
		return !p.s.short
	}
	k := p.s.steps[pos].kind
	return k != nothing && k != events && k != response && k != stderr
}

// entry is the number of the entry that comes next at a step, or of the last one behind the end.
func (p *player) entry(pos int) int64 {
	if pos >= len(p.s.steps) {
		last := &p.s.steps[len(p.s.steps)-1]
		return last.n + int64(max(last.count, 1)) - 1
	}
	if pos == p.pos {
		return p.s.steps[pos].n + int64(p.sub)
	}
	return p.s.steps[pos].n
}
