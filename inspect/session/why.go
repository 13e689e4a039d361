package session

import (
	"fmt"
	"strings"

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
		return s.waiting(open, t), true
	case s.Last[record.Client] == nil && s.Last[record.Agent] == nil:
		return fmt.Sprintf("Nothing was said yet, in %s: the client has sent no command.", ago(t)), false
	}
	return "Nothing is open: the agent waits for the client's next command.", true
}

// waiting says what is open at t.
func (s *Session) waiting(open []Waiting, t int64) string {
	first := open[0]
	out := first.said(t) + "."
	if first.Then != "" {
		out += " " + first.Then
	}
	var rest []string
	for _, w := range open[1:] {
		rest = append(rest, w.said(t))
	}
	if len(rest) > 0 {
		out += " Behind that, " + join(rest) + "."
	}
	return capital(out)
}

// said is what is open, with its age at t.
func (w *Waiting) said(t int64) string { return fmt.Sprintf("%s, for %s", w.Words, ago(t-w.Since)) }

// said says what crossed last in each direction.
func (s *Session) said(t int64) string {
	side := func(stream record.Stream, name, verb string) string {
		if m := s.Last[stream]; m != nil {
			return fmt.Sprintf("the %s last %s %s (entry %d), %s ago", name, verb, clip(m.Kind, 60), m.N, ago(t-m.T))
		}
		return fmt.Sprintf("the %s has %s nothing", name, verb)
	}
	return " " + capital(side(record.Client, "client", "sent")) + "; " + side(record.Agent, "agent", "sent") + "."
}

// ending says how a session ended.
func (s *Session) ending() string {
	e := s.Exit
	if e == nil {
		end := "The recording stops here without the agent's exit: pitap was killed, the machine stopped, or this is a copy of a capture that went on."
		if open := s.Open(s.T); len(open) > 0 {
			end += " Then: " + lower(s.waiting(open, s.T))
		} else {
			end += " Nothing was open."
		}
		return end + s.said(s.T)
	}
	if e.Error != "" {
		return fmt.Sprintf("The agent could not be started: %s (status %d).", strings.TrimRight(e.Error, "."), e.Code)
	}
	out := fmt.Sprintf("The agent %s, %s after the start%s.", e.words(), ago(e.T), s.cause())
	out += s.openThen()
	if lines, best := s.lastWords(); len(lines) > 0 {
		out += fmt.Sprintf(" On stderr it said: %s", clip(trimLine(lines[best].Text), 200))
	}
	return out
}

// openThen says what was open when the session ended.
func (s *Session) openThen() string {
	stop := s.stop(s.Exit.T)
	open := s.Open(stop)
	held := s.heldReader(stop)
	switch {
	case len(open) > 0:
		return held + " Open was then: " + lower(s.waiting(open, stop))
	case held != "":
		return held
	}
	return " Nothing was open."
}

// heldReader tells of a client that did not read until shortly before the end.
func (s *Session) heldReader(stop int64) string {
	for i := len(s.Stalls) - 1; i >= 0; i-- {
		st := s.Stalls[i]
		if st.Stream == record.Agent && st.For >= longStall && st.Since < stop && st.Since+st.For > stop {
			return fmt.Sprintf(" The client had not read the agent's output for %s then.", ago(stop-st.Since))
		}
	}
	return ""
}

// cause says what made the agent end.
func (s *Session) cause() string {
	e := s.Exit
	if s.diedOfLine() {
		c := s.Commands[len(s.Commands)-1]
		return fmt.Sprintf(", %s after the line of entry %d, which killed it", ago(e.T-c.T), c.N)
	}
	for i := len(s.Signals) - 1; i >= 0; i-- {
		if sig := s.Signals[i]; deadly(sig.Kind) && sig.N < e.N {
			return fmt.Sprintf(", %s after it was sent %s (entry %d)", ago(e.T-sig.T), sig.Kind, sig.N)
		}
	}
	if c := s.Closed[record.Agent]; c != nil && c.N < e.N && (e.Code != 0 || e.Signal == "SIGPIPE") {
		return fmt.Sprintf(", %s after the client had stopped reading its output for good (entry %d)", ago(e.T-c.T), c.N)
	}
	if c := s.EOF[record.Client]; c != nil && c.N < e.N {
		return fmt.Sprintf(", %s after the client had closed its input (entry %d)", ago(e.T-c.T), c.N)
	}
	switch {
	case e.Signal != "":
		return ": a signal that did not come through pitap"
	case e.Code == 143 || e.Code == 129:
		return ", as pi does on a signal; it did not come through pitap"
	}
	return ", by itself"
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
