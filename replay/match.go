package replay

import (
	"fmt"
	"slices"

	"pitap/record/rpc"
	"pitap/record/scan"
)

// receive takes a line of the client.
func (p *player) receive(l line) {
	p.now = now()
	if l.end {
		p.eof = true
		p.comesTooSoon("the end of stdin")
		return
	}
	p.lastClient = p.now
	p.rep.Received++
	if l.tooLong {
		p.miss("", nil, payload{}, l.body, fmt.Sprintf("a record of more than %d bytes", maxLine), nil)
		return
	}
	kind := ""
	head := rpc.Look("client", l.body)
	if scan.Scan(l.body).JSON {
		kind = head.Type
	} else {
		head.ID = nil
	}
	load := payloadOf(l.body)
	if kind != "" && rpc.Load().UIResponse(kind) != nil {
		p.uiResponse(head.ID, load, l.body)
		return
	}
	if c := p.find(kind, load); c != nil {
		p.ahead++
		p.matched(c, head.ID)
		return
	}
	if q := p.question(kind, load); q != nil {
		p.asks = append(p.asks, &ask{q: q, id: slices.Clone(head.ID), marks: p.marksAt(p.pos)})
		return
	}
	known := rpc.Load().Command(kind)
	if known != nil && known.ChangesState && p.a.MatchType {
		if c := p.findType(kind); c != nil {
			p.ahead++
			p.matched(c, head.ID)
			return
		}
	}
	p.unknown(kind, head, load, l.body)
}

// find returns the first recorded command that changes something, has not been matched, and is the same.
func (p *player) find(kind string, load payload) *command {
	list := p.byKind[kind]
	for len(list) > 0 && p.cmds[list[0].index].matched {
		list = list[1:]
	}
	p.byKind[kind] = list
	for _, c := range list {
		if !p.cmds[c.index].matched && p.m.equal(c.load, load) {
			return c
		}
	}
	return nil
}

// findType returns the first recorded command of a type that has not been matched.
func (p *player) findType(kind string) *command {
	for _, c := range p.byKind[kind] {
		if !p.cmds[c.index].matched {
			return c
		}
	}
	return nil
}

// matched notes that a recorded command has come, with the id it came with.
func (p *player) matched(c *command, id []byte) {
	p.cmds[c.index] = state{matched: true, id: slices.Clone(id)}
	if c.answer >= 0 {
		p.open = append(p.open, c)
	}
}

func (p *player) answered(c *command, how uint8) {
	p.cmds[c.index].answered = how
	p.open = slices.DeleteFunc(p.open, func(o *command) bool { return o == c })
}

// uiResponse takes the answer to a UI request.
func (p *player) uiResponse(id []byte, load payload, body []byte) {
	d := p.s.dialogs[string(id)]
	if d == nil || !d.waits || d.answer == nil || p.cmds[d.answer.index].matched {
		return // pi ignores these
	}
	first, differences := p.m.diff(d.answer.load, load)
	if differences == 0 {
		p.ahead++
		p.matched(d.answer, nil)
		return
	}
	p.rep.Misses = appendListed(p.rep.Misses, Miss{Record: shorten(body), Kind: "extension_ui_response", Nearest: d.answer.n, First: &first,
		Why: fmt.Sprintf("another answer to %s than in %s: %s", d.what, p.s.place(d.answer.n), first)})
	p.finish(Different, fmt.Sprintf("%s was answered differently: %s", d.what, first), 1, "")
}

// signalled takes a signal.
func (p *player) signalled(name string) {
	p.now = now()
	if endsBy(name) == 0 {
		if p.others == nil {
			p.others = map[string]int{}
		}
		p.others[name]++
		return
	}
	if p.fault != nil && p.fault.kind.Name == "no-term" && name == "SIGTERM" {
		return
	}
	p.signals, p.lastSignal = append(p.signals, name), name
	p.terms++
	if p.tooSoon == "" {
		p.comesTooSoon("the signal " + name)
	}
}

// tooSlow ends the replay after a second signal that ends pi: then it does not wait for its reader any more.
func (p *player) tooSlow() {
	p.abandon = true
	code, sig := statusOf(p.lastSignal)
	if exit := p.s.exit; exit != nil && p.signalsRecorded() > 1 {
		p.finish(Complete, "", deref(exit.Code), exit.Signal)
		return
	}
	p.finish(Unfinished, "a second "+p.lastSignal, code, sig)
}

func deref(n *int) int {
	if n == nil {
		return 0
	}
	return *n
}

func (p *player) signalsRecorded() (n int) {
	for _, g := range p.s.gates {
		if p.s.steps[g].kind == signal {
			n++
		}
	}
	return n
}

// endsBy tells with what number a signal ends pi, 0 when it does not.
func endsBy(name string) int {
	switch name {
	case "SIGHUP":
		return 1
	case "SIGINT":
		return 2
	case "SIGQUIT":
		return 3
	case "SIGTERM":
		return 15
	}
	return 0
}

// statusOf is how pi ends at a signal: it exits at TERM and HUP, others kill it.
func statusOf(name string) (code int, signal string) {
	switch name {
	case "SIGTERM", "SIGHUP":
		return 128 + endsBy(name), ""
	}
	return 0, name
}

// unknown answers a record that matches nothing.
func (p *player) unknown(kind string, head rpc.Head, load payload, body []byte) {
	nearest, first := p.nearest(kind, load)
	var why string
	known := rpc.Load().Command(kind)
	switch {
	case nearest != nil:
		why = fmt.Sprintf("no recorded %s is the same; nearest is %s, which differs at %s", orLine(kind), p.s.place(nearest.n), first)
	case known != nil && p.recorded(kind, load) > 0:
		why = fmt.Sprintf("%s was recorded %s like this, and this is one more", kind, times(p.recorded(kind, load)))
	case p.used(kind):
		why = fmt.Sprintf("each recorded %s has been used", kind)
	default:
		why = fmt.Sprintf("no %s was recorded", orLine(kind))
	}
	if g := p.nextGate(); known != nil && known.ChangesState && g < len(p.s.steps) && (nearest == nil || p.s.steps[g].cmd != nearest) {
		why += "; the script waits for " + p.placeName(g)
	}
	var d *Difference
	if nearest != nil {
		d = &first
	}
	p.miss(kind, &head, load, body, why, d)
	if nearest != nil {
		p.rep.Misses[len(p.rep.Misses)-1].Nearest = nearest.n
	}
	p.report()
}

func orLine(kind string) string {
	if kind == "" {
		return "line"
	}
	return kind
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// used tells whether commands of a type were recorded, all of which have come.
func (p *player) used(kind string) bool {
	return slices.ContainsFunc(p.s.commands, func(c *command) bool { return c.gate && c.kind == kind && c.dialog == nil })
}

// recorded counts the recorded commands that are the same, matched or not.
func (p *player) recorded(kind string, load payload) (n int) {
	for _, c := range p.s.commands {
		if c.gate && c.kind == kind && p.m.equal(c.load, load) {
			n++
		}
	}
	return n
}

// nearest finds the recorded command of the type that differs least, those that have not come first.
func (p *player) nearest(kind string, load payload) (best *command, first Difference) {
	fewest := -1
	for _, c := range p.s.commands {
		if c.kind != kind || c.dialog != nil || c.gate && p.cmds[c.index].matched {
			continue
		}
		d, n := p.m.diff(c.load, load)
		if n > 0 && (fewest < 0 || n < fewest) {
			best, first, fewest = c, d, n
		}
	}
	return best, first
}

// miss answers a record with an error and notes it.
func (p *player) miss(kind string, head *rpc.Head, load payload, body []byte, why string, first *Difference) {
	if last := len(p.rep.Misses) - 1; last >= 0 && p.rep.Misses[last].Kind == kind && p.rep.Misses[last].Why == why {
		p.rep.Misses[last].Times = max(p.rep.Misses[last].Times, 1) + 1
	} else {
		p.rep.Misses = append(p.rep.Misses, Miss{Record: shorten(body), Kind: kind, First: first, Why: why})
	}
	if len(p.rep.Misses) > maxListed {
		p.rep.Misses = slices.Delete(p.rep.Misses, maxListed-2, maxListed-1)
	}
	p.say("miss: %s: %s", shorten(body), why)
	b := []byte{'{'}
	command := "parse"
	if head != nil && head.ID != nil {
		b = append(echo(append(b, `"id":`...), head.ID), ',')
	}
	if kind != "" {
		command = kind
	}
	b = append(b, `"type":"response","command":`...)
	b = scan.AppendQuote(b, []byte(command))
	b = append(b, `,"success":false,"error":`...)
	b = scan.AppendQuote(b, []byte("pitap replay: "+why))
	p.answers = append(p.answers, append(b, "}\n"...))
}

func shorten(body []byte) string {
	l := leaf{text: string(body[:min(len(body), 1000)])}
	return l.show(0)
}

// missAsk is a miss of a question that was recorded without an answer.
func (p *player) missAsk(a *ask, why string) {
	head := &rpc.Head{ID: a.id}
	p.miss(a.q.kind, head, a.q.load, []byte(a.q.asked[0].what()), why, nil)
	p.report()
}
