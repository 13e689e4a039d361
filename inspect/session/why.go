package session

import (
	"fmt"
	"strings"

	"pitap/inspect/text"
	"pitap/record"
)

// Why says in one paragraph what is waited for, by whom and since when, or how the session ended. t is the time at
// which it is asked, in nanoseconds since the start; of a session that has ended the time does not matter.
func (s *Session) Why(t int64) string {
	why, said := s.why(t)
	if said {
		why += s.said(max(t, s.T))
	}
	return why
}

// Brief is Why in fewer words, for a screen that tells beside it what crossed last.
func (s *Session) Brief(t int64) string {
	if s.Ended && s.Exit == nil {
		if open := s.Open(s.T); len(open) > 0 {
			return "The recording was cut, before the agent's exit. Then: " + lower(s.waiting(open, s.T))
		}
		return "The recording was cut, before the agent's exit. Nothing was open."
	}
	why, _ := s.why(t)
	return why
}

// why is the sentence; said tells that what crossed last belongs behind it.
func (s *Session) why(t int64) (why string, said bool) {
	if s.Ended || s.Exit != nil {
		return s.ending(), false
	}
	t = max(t, s.T)
	open := s.Open(t)
	switch {
	case len(open) > 0:
		return s.waiting(open, t) + s.neverRan(), true
	case s.Last[record.Client] == nil && s.Last[record.Agent] == nil:
		return fmt.Sprintf("Nothing was said yet, in %s: the client has sent no command.", ago(t)), false
	}
	wrong := s.wrong()
	if len(wrong) == 0 {
		return "Nothing is open: the agent waits for the client's next command.", true
	}
	return "Nothing is open, but " + strings.Join(wrong, "; ") + ". The agent waits for the client's next command.", true
}

// waiting says what is open at t.
func (s *Session) waiting(open []Waiting, t int64) string {
	first := open[0]
	out := s.age(&first, t) + "."
	if first.Then != "" {
		out += " " + first.Then
	}
	var rest []string
	more := first.More
	for _, w := range open[1:] {
		rest = append(rest, s.age(&w, t))
		more += w.More
	}
	if len(rest) > maxSaid {
		more += len(rest) - maxSaid
		rest = rest[:maxSaid]
	}
	if more > 0 {
		least := ""
		if s.pairs.blind {
			least = "at least "
		}
		rest = append(rest, fmt.Sprintf("and %s%s more", least, text.Count(int64(more))))
	}
	if len(rest) > 0 {
		out += " Behind that, " + strings.Join(rest, "; ") + "."
	}
	return capital(out)
}

// timeless tells that entries have no times, as in fixtures.
func (s *Session) timeless() bool { return s.Ended && s.T == 0 && s.Entries > 1 }

// maxSaid is how much of what is open is told besides the first.
const maxSaid = 4

// age says what is open, with its age at t. What a recording that was cut had open went on for nobody knows how long.
func (s *Session) age(w *Waiting, t int64) string {
	least := ""
	switch {
	case s.timeless(), s.over() && t <= w.Since:
		return w.Words
	case s.over() && s.Exit == nil && !s.missing.edited:
		least = " at least"
	}
	return fmt.Sprintf("%s, for %s%s", w.Words, ago(t-w.Since), least)
}

// said says what crossed last in each direction, seen from t.
func (s *Session) said(t int64) string {
	past := s.over()
	side := func(stream record.Stream, name, verb string) string {
		m := s.Last[stream]
		if m == nil {
			return fmt.Sprintf(tense("the %s {has|had} %s nothing", past), name, verb)
		}
		what, how := clip(m.Kind, 60)+fmt.Sprintf(" (entry %d", m.N), ")"
		if stream == record.Client {
			what, how = s.lastSent(m)
		}
		when := ", " + ago(t-m.T) + " ago"
		if past {
			when = s.before(t - m.T)
		}
		return fmt.Sprintf("the %s last %s %s%s%s", name, verb, what, how, when)
	}
	return " " + capital(side(record.Client, "client", "sent")) + "; " + side(record.Agent, "agent", "sent") + "."
}

// before is how long before the end of a recording something was.
func (s *Session) before(ns int64) string {
	if ns <= 0 && !s.timeless() {
		return ", just then"
	}
	return s.after(", %s before that", ns)
}

// ending says how a session ended.
func (s *Session) ending() string {
	e := s.Exit
	if e == nil {
		return s.unended()
	}
	if e.Error != "" {
		return fmt.Sprintf("The agent could not be started: %s (status %d).", strings.TrimRight(e.Error, "."), e.Code)
	}
	out := fmt.Sprintf("The agent %s%s%s.", e.words(), s.after(", %s after the start", e.T), s.cause())
	out += s.openThen()
	if s.Damage != "" {
		out += " Not all of it can be read: the file is damaged " + s.Damage + "."
	}
	if lines, best := s.lastWords(); len(lines) > 0 {
		out += fmt.Sprintf(" On stderr it said: %s", clip(trimLine(lines[best].Text), 200))
	}
	return out
}

// unended says how a recording stops that does not hold the agent's exit.
func (s *Session) unended() string {
	end, unknown := fmt.Sprintf("The recording stops here%s, without the agent's exit.", s.after(", %s after the start", s.T)), ""
	if s.missing.edited {
		end = "This fixture ends without the agent's exit."
	} else {
		unknown = " What came after that is not known: pitap was killed, the machine stopped, or this is a copy of a capture that went on."
	}
	if s.Damage != "" {
		unknown = " What came after that can't be read: the file is damaged " + s.Damage + "."
	}
	end += s.toldToEnd()
	if open := s.Open(s.T); len(open) > 0 {
		end += " Open was then: " + lower(s.waiting(open, s.T))
	} else {
		end += " Nothing was open then."
	}
	end += s.neverRan()
	return end + s.said(s.T) + unknown
}

// after writes a span of time into words, nothing when there are no times.
func (s *Session) after(words string, ns int64) string {
	if s.timeless() {
		return ""
	}
	return fmt.Sprintf(words, ago(ns))
}

// openThen says what was open when the session ended.
func (s *Session) openThen() string {
	stop := s.stop(s.Exit.T)
	open := s.Open(stop)
	held := s.heldReader(stop)
	switch {
	case len(open) > 0:
		return held + " Open was then: " + lower(s.waiting(open, stop)) + s.wrongThen()
	case held == "":
		held = " Nothing was open"
	}
	if wrong := s.wrong(); len(wrong) > 0 {
		return strings.TrimSuffix(held, ".") + ", but " + strings.Join(wrong, "; ") + "."
	}
	return strings.TrimSuffix(held, ".") + "."
}

// heldReader tells of an end that did not read until shortly before the end of the session.
func (s *Session) heldReader(stop int64) string {
	for i := len(s.Stalls) - 1; i >= 0; i-- {
		st := s.Stalls[i]
		if st.Stream == record.Stderr || st.For < longStall || st.Since >= stop || st.Since+st.For <= stop {
			continue
		}
		if st.Stream == record.Client {
			return fmt.Sprintf(" The agent had not read its input for %s then.", ago(stop-st.Since))
		}
		return fmt.Sprintf(" The client had not read the agent's output for %s then.", ago(stop-st.Since))
	}
	return ""
}

// cause says what made the agent end.
func (s *Session) cause() string {
	e := s.Exit
	if s.diedOfLine() {
		c := s.Commands[len(s.Commands)-1]
		return fmt.Sprintf(",%s after the line of entry %d, which killed it", s.after(" %s", e.T-c.T), c.N)
	}
	if sig := s.deadlySignal(); sig != nil && sig.N < e.N {
		return fmt.Sprintf(",%s after it was sent %s (entry %d)", s.after(" %s", e.T-sig.T), sig.Kind, sig.N)
	}
	if c := s.Closed[record.Agent]; c != nil && c.N < e.N && (e.Code != 0 || e.Signal == "SIGPIPE") {
		return fmt.Sprintf(",%s after the client had stopped reading its output for good (entry %d)", s.after(" %s", e.T-c.T), c.N)
	}
	if c := s.EOF[record.Client]; c != nil && c.N < e.N {
		return fmt.Sprintf(",%s after the client had closed its input (entry %d)", s.after(" %s", e.T-c.T), c.N)
	}
	switch {
	case e.Signal != "":
		return ": a signal that did not come through pitap"
	case e.Code == 143 || e.Code == 129:
		return ", as pi does on a signal; it did not come through pitap"
	}
	return ", by itself"
}

// deadlySignal is the latest signal to the agent that ends it, nil without one.
func (s *Session) deadlySignal() *Signal {
	for i := len(s.Signals) - 1; i >= 0; i-- {
		if deadly(s.Signals[i].Kind) {
			return &s.Signals[i]
		}
	}
	return nil
}

// toldToEnd says what asked an agent to end whose end was not recorded.
func (s *Session) toldToEnd() string {
	if sig := s.deadlySignal(); sig != nil {
		return fmt.Sprintf(" The agent had been sent %s (entry %d)%s.", sig.Kind, sig.N, s.before(s.T-sig.T))
	}
	if c := s.EOF[record.Client]; c != nil {
		return fmt.Sprintf(" The client had closed its input (entry %d)%s.", c.N, s.before(s.T-c.T))
	}
	return ""
}

func (s *Session) diedOfLine() bool {
	var f findings
	f.init()
	return s.died(&f)
}

func capital(s string) string {
	if s == "" || s[0] >= 0x80 {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// lower is the inverse of capital: no sentence here begins with a name.
func lower(s string) string {
	if s == "" || s[0] >= 0x80 {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}
