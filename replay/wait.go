package replay

import (
	"fmt"
	"time"
)

// held notes that the script stands still.
func (p *player) held(h hold) {
	if h == p.hold && p.pos == p.holdPos {
		return
	}
	if h == busy && p.pos == p.holdPos && p.hold >= pause {
		return // an answer out of turn does not end a wait
	}
	p.letGo()
	p.hold, p.holdPos, p.since, p.said = h, p.pos, p.now, false
	if h == finished || h == gate && p.s.steps[p.pos].kind != sent {
		if p.onlyEndLeft() { // a client that kills us now has had all
			p.rep.Outcome, p.rep.Ended = Complete, p.otherEnd("nothing that the replay saw: it goes on, or was killed")
			p.report()
			p.rep.Outcome, p.rep.Ended = Running, ""
		}
	}
}

// letGo ends a wait that was said.
func (p *player) letGo() {
	if p.said {
		p.said = false
		p.rep.Waits = appendListed(p.rep.Waits, Wait{For: p.waitingAt(p.holdPos), N: p.entry(p.holdPos), Second: p.now.Sub(p.since).Seconds()})
	}
}

// deadline is when something happens by itself.
func (p *player) deadline() time.Time {
	far := p.now.Add(time.Hour)
	switch p.hold {
	case breath, clock:
		return p.wake
	case busy:
		if p.terms > 1 {
			return p.since.Add(lastWrite)
		}
	case pause:
		return p.since.Add(pauseTime)
	case gate, finished:
		d := far
		if len(p.releasable()) > 0 {
			d = p.silentSince().Add(pauseTime)
		}
		if p.endless() {
			return d
		}
		if !p.said {
			return earlier(d, p.since.Add(min(sayAfter, p.limit())))
		}
		return earlier(d, p.since.Add(p.limit()))
	}
	return far
}

// limit is how long the script waits at most.
func (p *player) limit() time.Duration {
	if p.s.short && p.pos >= len(p.s.steps) { // nobody waits for an end that was not recorded
		return pauseTime
	}
	if p.wait < 0 {
		return 1 << 62
	}
	return p.wait
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// endless tells whether the script stands where pi, too, would stand idle until somebody ends it.
func (p *player) endless() bool {
	if len(p.open) > 0 {
		return false
	}
	if p.pos >= len(p.s.steps) {
		return len(p.s.steps) == 0 || !p.s.steps[len(p.s.steps)-1].open
	}
	st := &p.s.steps[p.pos]
	return st.kind != sent && !st.open
}

func (p *player) silentSince() time.Time {
	if p.lastClient.After(p.since) {
		return p.lastClient
	}
	return p.since
}

// tick does what is due by the clock.
func (p *player) tick() {
	switch {
	case p.over:
		return
	case p.out.busy:
		if p.terms > 1 && p.hold == busy && !p.now.Before(p.since.Add(lastWrite)) {
			p.tooSlow()
		}
		return
	}
	switch p.hold {
	case pause:
		if p.pos == p.holdPos && !p.now.Before(p.since.Add(pauseTime)) {
			p.asking(p.s.steps[p.pos].cmd.q).unwaited = true
			p.skip()
		}
	case gate, finished:
		if p.pos != p.holdPos {
			return
		}
		if list := p.releasable(); len(list) > 0 && !p.now.Before(p.silentSince().Add(pauseTime)) {
			for _, c := range list {
				p.release(c)
			}
			return
		}
		if p.endless() {
			return
		}
		waited := p.now.Sub(p.since)
		if waited >= sayAfter && !p.said {
			p.said = true
			p.say("waits for %s", p.waitingFor())
			p.report()
		}
		if waited >= p.limit() {
			p.said = false
			if p.s.short && p.pos >= len(p.s.steps) {
				p.finish(Unfinished, "nothing more was recorded", 1, "")
				return
			}
			what := p.waitingFor()
			p.rep.Waits = appendListed(p.rep.Waits, Wait{For: what, N: p.entry(p.pos), Second: waited.Seconds(), GaveUp: true})
			p.finish(GaveUp, fmt.Sprintf("waited %v (--wait, PITAP_WAIT) for %s", waited.Round(100*time.Millisecond), what), 1, "")
		}
	}
}

// waitingFor names what holds the script, in words.
func (p *player) waitingFor() string { return p.waitingAt(p.pos) }

func (p *player) waitingAt(pos int) string {
	if pos >= len(p.s.steps) {
		if p.s.condition != "" {
			return "nothing: the capture ends here (" + p.s.condition + ")"
		}
		return "the client's end"
	}
	text := p.placeName(pos)
	for _, c := range p.open {
		if c.step > pos {
			return fmt.Sprintf("%s; %s (%s) has come before it: the order is another", text, c.what(), p.s.place(c.n))
		}
	}
	return text
}

// placeName names what a step waits for.
func (p *player) placeName(pos int) string {
	if pos >= len(p.s.steps) {
		return "the end"
	}
	st := &p.s.steps[pos]
	text := "the client to read what it was sent"
	switch st.kind {
	case sent:
		text = st.cmd.what()
	case eof:
		text = "the client to close stdin"
	case signal:
		text = "the signal " + st.name
	case closed:
		text = "the client to close stdout"
	}
	return fmt.Sprintf("%s (%s)", text, p.s.place(st.n))
}

// what names a command for people.
func (c *command) what() string {
	name := c.kind
	switch {
	case c.dialog != nil:
		return "the answer to " + c.dialog.what
	case name == "":
		name = "a line"
	}
	for _, l := range c.load.leaves {
		if l.string {
			return name + " " + l.show(0)
		}
	}
	return name
}

// releasable are commands whose answers pi gives at once, and which the script holds back.
func (p *player) releasable() []*command {
	var list []*command
	for _, c := range p.open {
		if c.answer > p.pos && !c.late {
			list = append(list, c)
		}
	}
	return list
}

// release gives a command's answer, and the events that it causes, before their turn.
func (p *player) release(c *command) {
	if p.played == nil {
		p.played = map[int]bool{}
	}
	var causes []int
	seen := map[string]bool{}
	for i := c.answer - 1; i > c.step; i-- {
		st := &p.s.steps[i]
		if st.kind != events || st.name == "" || seen[st.name] || p.played[i] || i < p.pos {
			continue
		}
		for _, name := range c.emits {
			if name == st.name {
				seen[name] = true
				causes = append([]int{i}, causes...)
			}
		}
	}
	for _, i := range causes {
		e, _, err := p.s.src.entry(p.s.steps[i].at)
		if err != nil {
			p.finish(Broken, err.Error(), 1, "")
			return
		}
		p.played[i] = true
		p.answers = append(p.answers, append(append([]byte(nil), e.body...), e.eol...))
	}
	p.giveAnswer(c, p.cmds[c.index].id)
	p.answered(c, outOfTurn)
	p.rep.Reordered = appendListed(p.rep.Reordered, fmt.Sprintf("%s (%s) was answered before %s had come", c.what(), p.s.place(c.n), p.placeName(p.pos)))
}

// giveAnswer queues the recorded answer of a command, with the id of a live one.
func (p *player) giveAnswer(c *command, id []byte) {
	e, _, err := p.s.src.entry(p.s.steps[c.answer].at)
	if err != nil {
		p.finish(Broken, err.Error(), 1, "")
		return
	}
	b := append(withLiveID(nil, e.body, c.id, id), e.eol...)
	for _, i := range c.parts {
		e, _, err := p.s.src.entry(p.s.steps[i].at)
		if err != nil {
			p.finish(Broken, err.Error(), 1, "")
			return
		}
		b = append(append(b, e.body...), e.eol...)
	}
	p.answers = append(p.answers, b)
}
