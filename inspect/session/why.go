package session

import (
	"fmt"
	"strings"

	"pitap/record"
)

// Why says in one paragraph what is waited for, by whom and since when, or how the session ended. t is the time at
// which it is asked, in nanoseconds since the start; of a session that has ended the time does not matter.
func (s *Session) Why(t int64) string {
	if s.Ended || s.Exit != nil {
		return s.ending()
	}
	open := s.Open(t)
	if len(open) == 0 {
		return s.idle(t)
	}
	first := open[0]
	out := fmt.Sprintf("%s, for %s.", first.Words, ago(t-first.Since))
	var rest []string
	for _, w := range open[1:] {
		rest = append(rest, fmt.Sprintf("%s, for %s", w.Words, ago(t-w.Since)))
	}
	if len(rest) > 0 {
		out += " Behind it: " + join(rest) + "."
	}
	return capital(out + s.crossed(t))
}

// idle is a session in which nothing is open.
func (s *Session) idle(t int64) string {
	if s.Last[record.Client] == nil && s.Last[record.Agent] == nil {
		return fmt.Sprintf("Nothing was said yet, for %s: the client has sent no command.", ago(t))
	}
	return "Nothing is open: the agent waits for the client's next command." + s.crossed(t)
}

// crossed says what crossed last in each direction.
func (s *Session) crossed(t int64) string {
	out := ""
	for _, side := range []struct {
		stream record.Stream
		name   string
	}{{record.Client, "client"}, {record.Agent, "agent"}} {
		if m := s.Last[side.stream]; m != nil {
			out += fmt.Sprintf(" The %s last sent %s (entry %d), %s ago.", side.name, m.Kind, m.N, ago(t-m.T))
		} else {
			out += fmt.Sprintf(" The %s has sent nothing.", side.name)
		}
	}
	return out
}

// ending says how a session ended.
func (s *Session) ending() string {
	if s.Exit == nil {
		end := "The capture ends here without the agent's exit: pitap was killed, or the machine stopped."
		if open := s.Open(s.T); len(open) > 0 {
			end += " At that time " + open[0].Words + "."
		}
		return end + s.crossed(s.T)
	}
	e := s.Exit
	if e.Error != "" {
		return fmt.Sprintf("The agent could not be started: %s (status %d).", e.Error, e.Code)
	}
	out := fmt.Sprintf("The agent %s, %s after the start%s.", e.words(), ago(e.T), s.cause())
	if work := s.underWay(); len(work) > 0 {
		out += " Open was then: " + join(work) + "."
		if w := s.waitedFor(); w != "" {
			out += " " + capital(w) + "."
		}
	} else {
		out += " Nothing was open."
	}
	for _, d := range s.Dialogs {
		if d.Open(e.T) {
			out += fmt.Sprintf(" Dialog %s had no answer.", d.words())
		}
	}
	if n := len(s.LastErr); n > 0 && (e.Code != 0 || e.Signal != "") && e.T-s.LastErr[n-1].T <= stderrNear {
		out += fmt.Sprintf(" Last on stderr: %s", clip(strings.TrimSpace(s.LastErr[n-1].Text), 200))
	}
	return out
}

// waitedFor names what was waited for longest when the session ended, if that explains the end.
func (s *Session) waitedFor() string {
	for _, w := range s.Open(s.stop()) {
		if w.rank < 7 && s.stop()-w.Since > 50_000_000 {
			return fmt.Sprintf("then %s, for %s", w.Words, ago(s.stop()-w.Since))
		}
	}
	return ""
}

// cause says what made the agent end.
func (s *Session) cause() string {
	e := s.Exit
	for i := len(s.Signals) - 1; i >= 0; i-- {
		if sig := s.Signals[i]; deadly(sig.Kind) && sig.N < e.N {
			return fmt.Sprintf(", %s after it was sent %s (entry %d)", ago(e.T-sig.T), sig.Kind, sig.N)
		}
	}
	if c := s.Closed[record.Agent]; c != nil && e.Code != 0 {
		return fmt.Sprintf(", %s after the client had closed its output (entry %d)", ago(e.T-c.T), c.N)
	}
	if c := s.EOF[record.Client]; c != nil && c.N < e.N {
		return fmt.Sprintf(", %s after the client had closed its input (entry %d)", ago(e.T-c.T), c.N)
	}
	if e.Signal != "" {
		return ", of a signal that did not come through pitap"
	}
	return ", by itself"
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
