package replay

import (
	"fmt"
	"slices"
	"sort"
	"time"

	"pitap/record/rpc"
)

func now() time.Time { return time.Now() }

// ask is a question of the client that has no answer yet.
type ask struct {
	q     *question
	id    []byte
	marks int // waypoints that had been written when it came
}

// asking is what became of a recorded question.
type asking struct {
	given    int  // place in question.asked of the latest answer that was given; -1 for none
	came     int  // how often the client has asked
	unwaited bool // it was waited for once, and did not come
}

func (p *player) asking(q *question) *asking {
	a := p.asked[q]
	if a == nil {
		a = &asking{given: -1}
		p.asked[q] = a
	}
	return a
}

// question finds the recorded question that is the same.
func (p *player) question(kind string, load payload) *question {
	var found *question
	for _, q := range p.s.questions {
		if q.kind != kind {
			continue
		}
		if q.load.hash == load.hash && same(q.load, load) {
			return q
		}
		if found == nil && p.m.equal(q.load, load) {
			found = q
		}
	}
	return found
}

// serve does what can be done while the script stands still for a reason. It returns false when nothing was.
func (p *player) serve(h hold) bool {
	if h == breath || h == busy {
		return false
	}
	if h == pause && p.overtaken() {
		p.skip()
		return true
	}
	served := false
	for _, a := range slices.Clone(p.asks) {
		if h == clock && p.soon(a) {
			continue
		}
		p.asks = slices.DeleteFunc(p.asks, func(o *ask) bool { return o == a })
		p.answer(a)
		served = true
	}
	if served {
		return true
	}
	return p.ends(h)
}

// overtaken tells whether something has come that was recorded behind the question that the script pauses at.
func (p *player) overtaken() bool {
	if p.ahead > 0 || p.eof || len(p.signals) > 0 {
		return true
	}
	for _, a := range p.asks {
		if c := a.q.after(p.pos); c != nil && c.step < p.nextGate() {
			return true
		}
	}
	return false
}

// soon tells whether the script comes to a question's place within a moment.
func (p *player) soon(a *ask) bool {
	c := a.q.after(p.pos - 1)
	if c == nil || c.step >= p.nextGate() || p.a.Speed <= 0 {
		return false
	}
	due := p.anchor.Add(time.Duration(float64(p.s.steps[c.step].t-p.anchorT) / p.a.Speed))
	return due.Sub(p.now) < pauseTime
}

// after returns the question's first place behind a step, nil if there is none.
func (q *question) after(step int) *command {
	i := sort.Search(len(q.asked), func(i int) bool { return q.asked[i].step > step })
	if i == len(q.asked) {
		return nil
	}
	return q.asked[i]
}

// nextGate is the step of the first gate from here on that is shut.
func (p *player) nextGate() int {
	for ; p.gateAt < len(p.s.gates); p.gateAt++ {
		g := p.s.gates[p.gateAt]
		if g < p.pos {
			continue
		}
		break
	}
	for _, g := range p.s.gates[p.gateAt:] {
		if st := &p.s.steps[g]; st.kind != sent || !p.cmds[st.cmd.index].matched {
			return g
		}
	}
	return len(p.s.steps)
}

// answer gives the answer to a question that is not asked at a recorded place: the latest that the script has passed,
// never older than the one given last, else the next to come.
func (p *player) answer(a *ask) {
	list, st := a.q.asked, p.asking(a.q)
	st.came++
	next := sort.Search(len(list), func(i int) bool { return list[i].step >= p.pos })
	i := max(next-1, st.given)
	for i >= 0 && list[i].answer < 0 {
		i--
	}
	early := i < 0
	if early {
		for i = next; i < len(list) && list[i].answer < 0; i++ {
		}
	}
	if i == len(list) {
		why := fmt.Sprintf("%s was recorded (%s), but not an answer", orLine(a.q.kind), p.s.place(list[0].n))
		p.missAsk(a, why)
		return
	}
	switch {
	case p.tooEarly(a, list[i]):
		p.rep.Extra++
	case early:
		p.rep.Extra++
		p.rep.Early = appendListed(p.rep.Early, fmt.Sprintf("%s: the answer is that of %s", list[i].what(), p.s.place(list[i].n)))
	case st.came <= next: // it makes up for a place that was left out, since the client is slow
		p.rep.Skipped--
		if p.pos == p.holdPos {
			p.since = p.now // it comes along; each place does this once
		}
	default:
		p.rep.Extra++
	}
	st.given = max(st.given, i)
	p.giveAnswer(list[i], a.id)
}

// tooEarly notes a question that came before something had been written that its answer follows: pi, which takes longer,
// would have answered as things stood then. What a client that did not wait sees here, it does not see there.
func (p *player) tooEarly(a *ask, c *command) bool {
	marks := p.s.steps[c.step].marks
	if marks <= a.marks {
		return false
	}
	m := p.s.marks[marks-1]
	p.rep.TooEarly++
	p.rep.Early = appendListed(p.rep.Early, fmt.Sprintf("%s (%s) came before %s (%s) had been sent: pi would have answered otherwise",
		c.what(), p.s.place(c.n), m.name, p.s.place(m.n)))
	return true
}

// marksAt is how many waypoints are before a step.
func (p *player) marksAt(pos int) int {
	if pos >= len(p.s.steps) {
		return len(p.s.marks)
	}
	return p.s.steps[pos].marks
}

// ends looks whether the client has ended the session before its recorded end.
func (p *player) ends(h hold) bool {
	switch {
	case len(p.signals) > 0 && h != pause:
		name := p.signals[0]
		code, sig := statusOf(name)
		p.finishEarly("the signal "+name, code, sig)
	case p.eof && h != pause:
		p.finishEarly("the end of stdin", 0, "")
	case p.gone && p.dropped:
		p.finishEarly("the client closed stdout", 1, "")
	default:
		return false
	}
	return true
}

// comesTooSoon takes the client's end: when it comes before something had been written that stands before its recorded
// place, pi ends without that.
func (p *player) comesTooSoon(what string) {
	end := p.pos
	for ; end < len(p.s.steps); end++ {
		if st := &p.s.steps[end]; st.kind == eof || st.kind == closed || st.kind == signal && endsBy(st.name) != 0 {
			break
		}
	}
	if at := p.marksAt(p.pos); at < p.marksAt(end) {
		m := p.s.marks[at]
		p.tooSoon = fmt.Sprintf("%s came before %s (%s) had been sent", what, m.name, p.s.place(m.n))
	}
}

// answersSoon tells whether something that came before the end is answered before the next waypoint.
func (p *player) answersSoon() bool {
	at := p.marksAt(p.pos)
	return slices.ContainsFunc(p.open, func(c *command) bool { return p.atOnce(c) && p.s.steps[c.answer].marks == at })
}

// atOnce tells whether pi still answers a command when its end has come.
func (p *player) atOnce(c *command) bool {
	return c.answer >= p.pos && (!c.late || rpc.Load().Command(c.kind).StartsRun)
}

// breakOff ends the replay in the middle, as pi would: what it answers at once is answered.
func (p *player) breakOff() {
	for _, c := range slices.Clone(p.open) {
		if p.atOnce(c) {
			p.giveAnswer(c, p.cmds[c.index].id)
			p.answered(c, outOfTurn)
			p.rep.Reordered = appendListed(p.rep.Reordered, fmt.Sprintf("%s (%s) was answered at the end", c.what(), p.s.place(c.n)))
		}
	}
	asks := p.asks
	p.asks = nil
	for _, a := range asks {
		p.answer(a)
	}
	for _, b := range p.answers {
		p.emit(b)
	}
	p.answers = nil
	code, sig := 0, ""
	if len(p.signals) > 0 {
		code, sig = statusOf(p.signals[0])
	}
	p.finish(Unfinished, p.tooSoon, code, sig)
}

// finishEarly ends the replay as pi would at what the client did. Where nothing but the session's end was left, that
// is as good as the recorded one.
func (p *player) finishEarly(what string, code int, signal string) {
	if p.onlyEndLeft() {
		p.rep.Ended = p.otherEnd(what)
		p.finish(Complete, "", code, signal)
		return
	}
	p.finish(Unfinished, what+" came before the recorded end", code, signal)
}

// onlyEndLeft tells whether an idle agent waits for nothing but its end, and had nothing more to say then. A capture
// that does not tell how the agent ended has no more to say at its end, whatever ends the agent there.
func (p *player) onlyEndLeft() bool {
	if p.pos >= len(p.s.steps) && p.s.exit == nil {
		return true
	}
	if !p.endless() {
		return false
	}
	for i := p.pos; i < len(p.s.steps); i++ {
		switch p.s.steps[i].kind {
		case events, response, sent:
			return false
		}
	}
	return true
}

// otherEnd tells of an end that is not the recorded one.
func (p *player) otherEnd(what string) string {
	if p.pos >= len(p.s.steps) {
		return ""
	}
	recorded := "another end"
	switch st := &p.s.steps[p.pos]; st.kind {
	case eof:
		recorded = "the client closed stdin"
	case closed:
		recorded = "the client closed stdout"
	case signal:
		recorded = "the signal " + st.name
	}
	return fmt.Sprintf("it ended by %s; recorded: %s (%s)", what, recorded, p.s.place(p.s.steps[p.pos].n))
}
