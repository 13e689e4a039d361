package session

import (
	"fmt"
	"strings"

	"pitap/record"
)

const (
	slowAnswer = 2_000_000_000 // a command that pi answers at once is unanswered after that, nanoseconds
	longStall  = 1_000_000_000
	stderrNear = 2_000_000_000 // stderr counts as shortly before an exit, nanoseconds
)

// conclude says what can be said only at the end.
func (s *Session) conclude() {
	s.concludeCommands()
	s.concludeEnd()
	for _, d := range s.Dialogs {
		if d.Open(s.T) {
			s.findAt("dialog/unanswered", record.Agent, d.Moment, fmt.Sprint(d.N), fmt.Sprintf("dialog %s was never answered", d.words()))
		}
	}
	for _, st := range s.Stalls {
		if st.For >= longStall || st.For == 0 && s.T-st.Since >= longStall {
			s.findAt("flow/stall", st.Stream, Moment{st.N, st.Since, "stall"}, "", s.stallWords(st))
		}
	}
	s.concludeHandled()
	s.concludeTools()
	s.concludeStderr()
}

// concludeHandled finds a client that perhaps waits for a run that never comes.
func (s *Session) concludeHandled() {
	if len(s.Commands) == 0 {
		return
	}
	c := s.Commands[len(s.Commands)-1]
	if c.Disposition == "handled" && s.run == nil && s.stop()-c.Response.T >= 5_000_000_000 {
		s.findAt("run/handled", record.Client, c.Moment, "", fmt.Sprintf("prompt (entry %d) was handled without a run, and the client sent no command in the %s after that", c.N, ago(s.stop()-c.Response.T)))
	}
}

// concludeTools finds tools that never ended although their run has.
func (s *Session) concludeTools() {
	if s.Lost > 0 {
		return
	}
	for _, r := range s.Runs {
		if r.Settled == nil {
			continue
		}
		for _, turn := range r.Turns {
			for _, t := range turn.Tools {
				if t.End == nil && t.Parent == "" {
					s.findAt("order/tool-end", record.Agent, t.Start, "", fmt.Sprintf("tool %s (entry %d) has begun and never ended, and its run has settled", t.Name, t.Start.N))
				}
			}
		}
	}
}

// concludeStderr finds what stderr said before a bad end; of several lines the first that speaks of an error is shown.
func (s *Session) concludeStderr() {
	if s.Exit == nil || s.Exit.Error != "" || s.Exit.Code == 0 && s.Exit.Signal == "" {
		return
	}
	var near []Line
	best := 0
	for _, l := range s.LastErr {
		if s.Exit.T-l.T <= stderrNear && strings.TrimSpace(l.Text) != "" {
			near = append(near, l)
			if strings.Contains(l.Text, "rror") && !strings.Contains(near[best].Text, "rror") {
				best = len(near) - 1
			}
		}
	}
	for i := range near {
		l := near[(best+i)%len(near)]
		s.findAt("end/stderr", record.Stderr, l.Moment, "", fmt.Sprintf("stderr said this shortly before the agent %s: %s", s.Exit.words(), clip(strings.TrimSpace(l.Text), 120)))
	}
}

// open gives the commands without response.
func (s *Session) open() []*Command {
	var open []*Command
	for _, c := range s.Commands {
		if c.Response == nil {
			open = append(open, c)
		}
	}
	return open
}

// stop is the moment from which on nothing can be answered: the client's end of input, a signal, the exit.
func (s *Session) stop() int64 {
	t := s.T
	if e := s.EOF[record.Client]; e != nil {
		t = min(t, e.T)
	}
	if s.Exit != nil {
		t = min(t, s.Exit.T)
	}
	for _, sig := range s.Signals {
		if deadly(sig.Kind) {
			t = min(t, sig.T)
		}
	}
	return t
}

func deadly(signal string) bool {
	switch signal {
	case "SIGTERM", "SIGHUP", "SIGINT", "SIGQUIT", "SIGABRT":
		return true
	}
	return false
}

// concludeCommands finds commands that pi answers at once and did not.
func (s *Session) concludeCommands() {
	if s.Closed[record.Agent] != nil || s.stalled[record.Agent] != nil {
		return // the client did not read: what it was not sent says nothing of pi
	}
	stop := s.stop()
	for _, c := range s.open() {
		late := c.known == nil || c.known.AnswersLate(s.Version)
		if late || c.doubted || stop-c.T < slowAnswer {
			continue
		}
		s.findAt("pair/unanswered", record.Client, c.Moment, fmt.Sprint(c.N), fmt.Sprintf("%s (entry %d) has no response after %s, and pi answers it at once", c.words(), c.N, ago(stop-c.T)))
	}
}

// concludeEnd finds what was under way when the session ended.
func (s *Session) concludeEnd() {
	work := s.underWay()
	exit := s.Exit
	if exit == nil {
		return
	}
	killed := exit.Signal
	for _, sig := range s.Signals {
		if deadly(sig.Kind) {
			killed = sig.Kind
		}
	}
	eof := s.EOF[record.Client]
	switch {
	case s.died(work):
	case len(work) == 0:
	case killed != "":
		s.findAt("end/killed", record.Agent, exit.Moment, "", fmt.Sprintf("the agent was ended by %s while it worked: %s", killed, join(work)))
	case s.Closed[record.Agent] != nil && exit.Code != 0:
		s.findAt("end/reader-gone", record.Agent, exit.Moment, "", fmt.Sprintf("the client closed the agent's output (entry %d) while it worked: %s; the agent %s", s.Closed[record.Agent].N, join(work), exit.words()))
	case eof != nil && eof.N < exit.N:
		s.findAt("end/eof", record.Client, *eof, "", fmt.Sprintf("the client closed its output %s after the start with work in flight, which pi drops: %s", ago(eof.T), join(work)))
	case exit.Code == 0:
		s.findAt("end/open", record.Agent, exit.Moment, "", fmt.Sprintf("the agent exited by itself with 0, and there was open: %s", join(work)))
	default:
		s.findAt("end/died", record.Agent, exit.Moment, "", fmt.Sprintf("the agent %s while it worked: %s", exit.words(), join(work)))
	}
}

// died finds an agent that a line of the client has killed: null, or an id that is nested too deep.
func (s *Session) died(work []string) bool {
	if s.Exit.Code == 0 || len(s.Commands) == 0 {
		return false
	}
	c := s.Commands[len(s.Commands)-1]
	if c.Response != nil || c.Type != "" || s.Exit.T-c.T > slowAnswer || s.Exit.Signal != "" {
		return false
	}
	s.findAt("end/killed-by-line", record.Client, c.Moment, "", fmt.Sprintf("the line of entry %d has killed the agent: it %s %s later", c.N, s.Exit.words(), ago(s.Exit.T-c.T)))
	return true
}

// underWay says what the agent has not finished.
func (s *Session) underWay() []string {
	var work []string
	for _, c := range s.open() {
		work = append(work, fmt.Sprintf("%s of entry %d without response", c.words(), c.N))
	}
	if s.run != nil && s.run.Settled == nil {
		work = append(work, fmt.Sprintf("the run that began with entry %d", s.run.Start.N))
	}
	for _, t := range s.Tools {
		if t.End == nil && s.tools[t.ID] == t {
			work = append(work, fmt.Sprintf("tool %s of entry %d", t.Name, t.Start.N))
		}
	}
	return work
}

func (e *Exit) words() string {
	if e.Signal != "" {
		return "died of " + e.Signal
	}
	return fmt.Sprintf("exited with %d", e.Code)
}

func (s *Session) stallWords(st *Stall) string {
	who := "the client did not read the agent's output"
	switch st.Stream {
	case record.Client:
		who = "the agent did not read its input"
	case record.Stderr:
		who = "nobody read the agent's stderr"
	}
	if st.For == 0 {
		return fmt.Sprintf("%s from %s on, to the end of what was recorded", who, ago(st.Since))
	}
	return fmt.Sprintf("%s for %s", who, ago(st.For))
}

func join(list []string) string {
	if len(list) > 4 {
		return strings.Join(list[:4], "; ") + fmt.Sprintf("; and %d more", len(list)-4)
	}
	return strings.Join(list, "; ")
}

func clip(s string, n int) string {
	if len(s) > n {
		return s[:n] + "…"
	}
	return s
}
