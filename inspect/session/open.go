package session

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"pitap/inspect/text"
	"pitap/record"
)

// Waiting is something that is open: somebody waits for somebody.
type Waiting struct {
	N     int64  // the entry that began it
	Since int64  // nanoseconds since the start
	What  string // "stall", "half", "dialog", "tool", "bash", "compaction", "retry", "model", "prompt", "command", "run", "queue"
	For   string // who is waited for: "agent", "client", "model", "tool", "extension"
	Words string // in words a user understands, without the age; in the past tense when the session is over
	Then  string // a sentence on what that means, or ""
	More  int    // how many more of its kind there are that are not listed
	rank  int    // how much it explains; the lowest explains most
}

// Ranks of what is open: what explains most comes first.
const (
	rankStall = iota
	rankHalf
	rankDialog
	rankWork
	rankModel
	rankCommand
	rankRun
	rankLoose // nothing waits for it
)

// maxOpen bounds what Open gives of one kind.
const maxOpen = 100

// over tells that the session does not go on: what was open is spoken of in the past.
func (s *Session) over() bool { return s.Ended || s.Exit != nil }

// Open gives what is open at time t (nanoseconds since the start), what explains most first. Of an ended capture it is
// what was open at its end.
func (s *Session) Open(t int64) []Waiting {
	o := opening{t: t, past: s.over()}
	s.openStreams(&o)
	s.openDialogs(&o)
	s.openWork(&o)
	s.openModel(&o)
	s.openCommands(&o)
	slices.SortStableFunc(o.list, func(a, b Waiting) int { return cmp.Or(a.rank-b.rank, cmp.Compare(a.Since, b.Since)) })
	return o.list
}

// opening collects what is open at t.
type opening struct {
	t    int64
	past bool // it is over
	list []Waiting
}

// add adds one thing. In format and then, {is|was} is a verb in its two tenses.
func (o *opening) add(rank int, at Moment, what, who, then, format string, args ...any) {
	o.list = append(o.list, Waiting{N: at.N, Since: at.T, What: what, For: who, Words: fmt.Sprintf(tense(format, o.past), args...), Then: tense(then, o.past), rank: rank})
}

// more says that there are so many more of what was added last.
func (o *opening) more(n int) {
	if n > 0 && len(o.list) > 0 {
		o.list[len(o.list)-1].More = n
	}
}

// tense takes of each {now|then} one.
func tense(format string, past bool) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(format, "{")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		verbs, after, _ := strings.Cut(rest, "}")
		now, then, _ := strings.Cut(verbs, "|")
		if past {
			now = then
		}
		b.WriteString(now)
		format = after
	}
}

func (s *Session) openStreams(o *opening) {
	for stream, st := range s.stalled {
		if st == nil {
			continue
		}
		at, bytes := Moment{N: st.N, T: st.Since}, text.Count(st.Bytes)
		switch record.Stream(stream) {
		case record.Client:
			o.add(rankStall, at, "stall", "agent", "It {is|was} starting, busy, stopped, or {hangs|hung}.", "the agent {does|did} not read its input, and %s bytes of the client {wait|waited}", bytes)
		case record.Agent:
			o.add(rankStall, at, "stall", "client", "The agent {stands still until it does|stood still}.", "the client {does|did} not read the agent's output, and %s bytes {wait|waited}", bytes)
		default:
			o.add(rankStall, at, "stall", "client", "The agent may {stand still until somebody does|have stood still}.", "nobody {reads|read} the agent's stderr, and %s bytes {wait|waited}", bytes)
		}
	}
	for stream := range s.parts {
		s.openHalf(o, record.Stream(stream))
	}
}

// openHalf gives half a record, unless its rest is held up by who does not read it.
func (s *Session) openHalf(o *opening, stream record.Stream) {
	p := s.parts[stream]
	if p == nil || p.damaged || s.stalled[stream] != nil {
		return
	}
	who, other := "client", "agent"
	if stream == record.Agent {
		who, other = other, who
	}
	then := "It is not complete for the " + other + " before its line end (LF) {has come|came}."
	if p.cr >= 0 {
		then = fmt.Sprintf("It has a CR at byte %d, which ends no line: the %s {waits|waited} for an LF.", p.cr, other)
	}
	o.add(rankHalf, p.Moment, "half", who, then, "half a record {has|had} come from the %s, %s bytes without a line end", who, text.Count(p.bytes))
}

func (s *Session) openDialogs(o *opening) {
	n, holds := 0, s.holder()
	for _, d := range s.Dialogs {
		if !d.Open(o.t) {
			continue
		}
		if n++; n > maxOpen {
			continue
		}
		then := "The extension {waits until the client answers it|waited for the client to answer it}."
		if d.Timeout > 0 {
			then = "The extension {goes|would have gone} on by itself " + ago(d.Timeout) + " after it {asked|had asked}."
		}
		if a := s.asks.astray; a != nil && a.N > d.N && n == 1 {
			then = "Entry " + strconv.FormatInt(a.N, 10) + " answered " + a.Kind + ". " + then
		}
		rank := rankLoose
		if holds(d) != "" {
			rank = rankDialog
		}
		o.add(rank, d.Moment, "dialog", "client", then, "an extension {asks|had asked} the client something (%s) and {has|had} no answer", d.words())
	}
	o.more(n - maxOpen)
}

// openWork gives what the agent is doing besides asking the model.
func (s *Session) openWork(o *opening) {
	tools := s.openTools()
	for _, t := range tools[:min(len(tools), maxOpen)] {
		o.add(rankWork, t.Start, "tool", "tool", "", "the tool %s (entry %d) {runs|was running}", clip(t.Name, 60), t.Start.N)
	}
	o.more(len(tools) - maxOpen)
	if s.compact != nil {
		o.add(rankWork, *s.compact, "compaction", "model", "", "the agent {compacts|was compacting} the conversation")
	}
	if s.retry != nil {
		o.add(rankWork, *s.retry, "retry", "agent", "", "the agent {waits|was waiting} before it {asks|would ask} the model again, after an error")
	}
}

// soon is how long a model that streams may be silent, nanoseconds.
const soon = 3_000_000_000

// blocked tells that the agent stands still at time t: nobody reads what it writes, or it reads nothing itself. What its
// model does meanwhile is not known.
func (s *Session) blocked(t int64) bool {
	for i := len(s.Stalls) - 1; i >= max(0, len(s.Stalls)-10); i-- {
		if st := s.Stalls[i]; st.Stream != record.Stderr && st.Since <= t && (st.For == 0 || st.Since+st.For > t) {
			return true
		}
	}
	return false
}

// openModel gives the run that goes on, and what of it is the model's.
func (s *Session) openModel(o *opening) {
	r := s.run
	if r == nil {
		for _, c := range s.queue.waiting[:min(len(s.queue.waiting), maxOpen)] {
			o.add(rankLoose, c.Moment, "queue", "client", "", "the message of %s {is|was} queued, and {goes|would have gone} to the model with the next run", c.which())
		}
		o.more(len(s.queue.waiting) - maxOpen)
		for _, c := range s.pending() {
			o.add(rankCommand, c.Moment, "prompt", "agent", "No agent_start {has|had} come.", "%s {was|had been} accepted, and its run {has|had} not begun", c.prompt())
		}
		return
	}
	last := r.Start
	if m := s.Last[record.Agent]; m != nil && m.T > last.T {
		last = Moment{N: r.Start.N, T: m.T}
	}
	switch m := s.life.open; {
	case s.blocked(o.t): // who stands still hears nothing of the model
	case r.End != nil:
		o.add(rankRun, *r.End, "run", "agent", "", "the run%s {has|had} ended and not settled", r.of())
		return
	case m != nil && o.t-m.Latest < soon:
		o.add(rankModel, m.Start, "model", "model", "", "the model {is|was} answering")
	case m != nil && m.Updates > 0:
		o.add(rankModel, Moment{N: m.Start.N, T: m.Latest}, "model", "model", "", "the model {has|had} stopped in the middle of its answer, and sent nothing")
	case m != nil:
		o.add(rankModel, m.Start, "model", "model", "", "the model {has|had} begun an answer, and sent nothing of it")
	case len(s.tools) == 0 && s.compact == nil && s.retry == nil:
		o.add(rankModel, last, "model", "model", "", "the model {was|had been} asked, and {has|had} sent nothing")
	}
	o.add(rankRun, r.Start, "run", "agent", "", "the run%s {goes|was going} on", r.of())
}

func (s *Session) openCommands(o *opening) {
	open := s.open()
	for _, c := range open[:min(len(open), maxOpen)] {
		switch {
		case c.unended && s.Exit != nil && c.N > s.Exit.N: // the agent never saw its end
			o.add(rankHalf, c.Moment, "half", "client", "A record is not complete for the agent before its line end (LF) {has come|came}.", "%s came without a line end, and {has|had} no response", c.prompt())
		case c.Type == "bash":
			o.add(rankWork, c.Moment, "bash", "tool", "", "the client's %s {runs|was running}", c.which())
		case c.Type == "compact" && s.compact != nil:
			o.add(rankCommand, c.Moment, "command", "agent", "", "the command %s {has|had} no response", c.which())
		case c.Type == "prompt" && c.Slash != "":
			o.add(rankCommand, c.Moment, "command", "extension", "The prompt is answered only when that has ended.", "the extension's command %s {has|had} not ended, and %s {has|had} no response", clip(c.Slash, 60), c.prompt())
		case c.Type == "prompt":
			o.add(rankCommand, c.Moment, "prompt", "agent", "The agent {has|had} neither accepted nor refused it.", "%s {has|had} no response", c.prompt())
		case c.Type == "":
			o.add(rankCommand, c.Moment, "command", "agent", "", "the line of entry %d, which is no command, {has|had} no response", c.N)
		default:
			o.add(rankCommand, c.Moment, "command", "agent", "", "the command %s {has|had} no response", c.which())
		}
	}
	o.more(len(open) - maxOpen)
}
