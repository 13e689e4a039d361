package session

import (
	"fmt"
	"slices"
	"strings"

	"pitap/record"
)

// Spans of time after which something is worth saying, in nanoseconds.
const (
	earlyAnswer = 2_000_000_000  // a command that was sent before the agent was ready
	slowAnswer  = 2_000_000_000  // a command that pi answers at once is unanswered after that
	longSilence = 10_000_000_000 // somebody is waited for and nothing comes
	longStall   = 1_000_000_000
	stderrNear  = 2_000_000_000 // stderr counts as shortly before an exit
	lineKills   = 2_000_000_000 // an exit so soon behind a line was its doing
	handledIdle = 5_000_000_000 // a client that says nothing after a prompt was handled perhaps waits for a run
)

// conclude says what can be said only at the end, which is at t.
func (s *Session) conclude(f *findings, t int64) {
	var said told
	s.concludeCommands(f, t, &said)
	s.concludeDialogs(f, t, &said)
	s.concludeWaits(f, t, &said)
	s.concludeEnd(f, &said)
	for _, st := range s.stalled {
		if st != nil {
			s.findStall(f, st, t)
		}
	}
	s.concludeHandled(f, t)
	s.concludeQueue(f, t)
	s.concludeTools(f)
	for _, c := range s.pairs.prompts {
		if s.raceLost(c) && s.run == nil {
			s.lost(f, c, "")
		}
	}
	s.concludeStderr(f)
}

// told is what findings say already of what was open, so that the end need not.
type told struct {
	commands map[*Command]bool
	run      bool // and its tools
}

func (t *told) command(c *Command) {
	if t.commands == nil {
		t.commands = map[*Command]bool{}
	}
	t.commands[c] = true
}

// concludeHandled finds a client that perhaps waits for a run that never comes.
func (s *Session) concludeHandled(f *findings, t int64) {
	if len(s.Commands) == 0 {
		return
	}
	c := s.Commands[len(s.Commands)-1]
	if c.Type == "prompt" && c.Disposition == "handled" && s.run == nil && s.stop(t)-c.Response.T >= handledIdle {
		f.add("run/handled", place{n: c.N, from: record.Client}, "", "prompt (entry %d) was handled without a run, and the client sent no command in the %s after that", c.N, ago(s.stop(t)-c.Response.T))
	}
}

// concludeStderr finds what stderr said before a bad end; of several lines the first that speaks of an error is shown.
func (s *Session) concludeStderr(f *findings) {
	lines, best := s.lastWords()
	for range lines {
		l := lines[best]
		f.add("end/stderr", place{n: lines[0].N, from: record.Stderr}, "", "stderr said this shortly before the agent %s: %s", s.Exit.words(), clip(trimLine(l.Text), 120))
	}
	if len(lines) > 0 {
		f.byKey[findingKey{"end/stderr", record.Stderr, ""}].Last = lines[len(lines)-1].N
	}
}

// lastWords gives the lines on stderr shortly before a bad end, and the one that says most.
func (s *Session) lastWords() (near []Line, best int) {
	if s.Exit == nil || s.Exit.Error != "" || s.Exit.Code == 0 && s.Exit.Signal == "" {
		return nil, 0
	}
	for _, l := range s.LastErr {
		if s.Exit.T-l.T > stderrNear || trimLine(l.Text) == "" {
			continue
		}
		near = append(near, l)
		if telling(l.Text) > telling(near[best].Text) {
			best = len(near) - 1
		}
	}
	return near, best
}

// telling is how much a line on stderr says of why a program ended.
func telling(line string) int {
	line = strings.TrimSpace(line)
	word, _, colon := strings.Cut(line, ": ")
	switch {
	case colon && strings.HasSuffix(word, "Error") && !strings.Contains(word, " "): // TypeError: ...
		return 3
	case containsAny(line, "rror: ", "rror [", "panic: ", "atal"):
		return 2
	case strings.HasPrefix(line, "at ") || strings.HasPrefix(line, "Node.js v") || strings.Trim(line, "^~ {}[]();,") == "":
		return 0
	}
	return 1
}

// open gives the commands without response, in the order in which they were sent.
func (s *Session) open() []*Command {
	var open []*Command
	for _, m := range [2]map[string][]*Command{s.pairs.open, s.pairs.bare} {
		for _, list := range m {
			open = append(open, list...)
		}
	}
	slices.SortFunc(open, func(a, b *Command) int { return int(a.N - b.N) })
	return open
}

// stop is the moment from which on nothing can be answered: the client's end of input, a signal, the exit; t when there
// was none before.
func (s *Session) stop(t int64) int64 {
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
	case "SIGTERM", "SIGHUP", "SIGINT", "SIGQUIT", "SIGABRT", "SIGKILL":
		return true
	}
	return false
}

// unread tells that the client did not read the agent's output to the end: what did not come says nothing of pi.
func (s *Session) unread() bool {
	return s.Closed[record.Agent] != nil || s.stalled[record.Agent] != nil
}

// concludeCommands finds commands that pi answers at once and did not, although it was alive after them.
func (s *Session) concludeCommands(f *findings, t int64, said *told) {
	last := s.Last[record.Agent]
	if s.unread() || s.stalled[record.Client] != nil || last == nil {
		return
	}
	for _, c := range s.open() {
		if c.known == nil && c.Type != "" || c.known != nil && c.known.AnswersLate(s.Version) || s.pairs.doubts(c) {
			continue
		}
		if alive := min(last.T, s.stop(t)) - max(c.T, s.ready.T); alive >= slowAnswer {
			said.command(c)
			f.add("pair/unanswered", place{n: c.N, from: record.Client}, "", "%s (entry %d) has no response, and the agent wrote other things up to %s after it", c.words(), c.N, ago(alive))
		}
	}
}

// concludeWaits finds what was waited for in vain when the session stopped.
func (s *Session) concludeWaits(f *findings, t int64, said *told) {
	stop := s.stop(t)
	if s.unread() || s.missing.agent || s.openDialog(stop) != nil || s.Exit != nil && s.Exit.Error != "" {
		return
	}
	since := func(from int64) int64 { // how long nothing came
		if last := s.Last[record.Agent]; last != nil {
			from = max(from, last.T)
		}
		return stop - from
	}
	for _, c := range s.open() {
		wait := since(c.T)
		if said.commands[c] || s.pairs.doubts(c) || wait < longSilence || c.Type == "bash" || s.stalled[record.Client] != nil || s.compact != nil {
			continue
		}
		what := "the agent has said nothing since"
		if s.ready == nil {
			what = "the agent has said nothing at all"
		}
		said.command(c)
		f.add("wait/response", place{n: c.N, from: record.Client}, "", "%s (entry %d) had no response in %s, and %s", c.words(), c.N, ago(stop-c.T), what)
	}
	s.concludePrompts(f, since, said)
	r := s.run
	if r == nil || len(s.tools) > 0 || s.retry != nil || s.compact != nil || since(r.Start.T) < longSilence {
		return
	}
	what := "the model has sent nothing"
	if s.life.open != nil {
		what = "the model has stopped in the middle of its answer"
	} else if r.End != nil {
		what = "the run has ended and does not settle"
	}
	said.run = true
	f.add("wait/run", place{n: r.Start.N, from: record.Agent}, "", "the run%s has not settled: %s, for %s", r.of(), what, ago(since(r.Start.T)))
}

// concludePrompts finds a prompt that was accepted and whose run has not begun.
func (s *Session) concludePrompts(f *findings, since func(int64) int64, said *told) {
	for _, c := range s.pending() {
		if wait := since(c.T); wait >= longSilence {
			said.run = true
			f.add("wait/run", place{n: c.N, from: record.Client}, "", "prompt (entry %d) was accepted, and its run has not begun: the agent has said nothing, for %s", c.N, ago(wait))
		}
	}
}

// of names the prompt of a run.
func (r *Run) of() string {
	if r.Prompt != nil {
		return " of " + r.Prompt.prompt()
	}
	return fmt.Sprintf(" that began with entry %d", r.Start.N)
}

// concludeEnd finds what was under way when the session ended.
func (s *Session) concludeEnd(f *findings, said *told) {
	work := s.underWay(said)
	exit := s.Exit
	if exit == nil {
		if s.Ended && s.Cut && !s.missing.edited && len(work) > 0 && s.Last[record.Agent] != nil {
			f.add("end/cut", place{n: s.Last[record.Agent].N, from: record.Agent}, "", "the recording stops here, without the agent's exit, and there was open: %s", join(work))
		}
		return
	}
	killed := exit.Signal
	for _, sig := range s.Signals {
		if deadly(sig.Kind) && sig.N < exit.N {
			killed = sig.Kind
		}
	}
	if killed == "" && (exit.Code == 143 || exit.Code == 129) {
		killed = "a signal that did not come through pitap"
	}
	eof := s.EOF[record.Client]
	while := ""
	if len(work) > 0 {
		while = " while it worked: " + join(work)
	}
	p := place{n: exit.N, from: record.Agent}
	switch {
	case exit.Error != "":
		f.add("end/no-start", p, "", "the agent could not be started: %s", exit.Error)
	case s.died(f):
	case killed != "" && len(work) > 0:
		f.add("end/killed", p, "", "the agent was ended by %s%s", killed, while)
	case killed != "":
	case s.Closed[record.Agent] != nil && exit.Code != 0:
		f.add("end/reader-gone", p, "", "the client stopped reading the agent's output for good (entry %d)%s; the agent %s", s.Closed[record.Agent].N, while, exit.words())
	case exit.Code != 0:
		f.add("end/died", p, "", "the agent %s%s%s", exit.words(), s.cause(), while)
	case len(work) == 0:
	case eof != nil && eof.N < exit.N:
		f.add("end/eof", place{n: eof.N, from: record.Client}, "", "the client closed the agent's input, %s after the start, with work in flight, which pi drops: %s", ago(eof.T), join(work))
	case s.pairs.waiting > 0:
		f.add("end/open", p, "", "the agent exited by itself with 0, and there was open: %s", join(work))
	default:
		f.add("end/left", p, "", "the agent exited by itself with 0 while it worked: %s", join(work))
	}
}

// died finds an agent that a line of the client has killed: null, or an id that is nested too deep. What was sent behind
// it has no response either.
func (s *Session) died(f *findings) bool {
	e := s.Exit
	if e.Code == 0 || e.Signal != "" || e.Error != "" || s.ready == nil {
		return false
	}
	var killer *Command
	for i := len(s.Commands) - 1; i >= max(0, len(s.Commands)-100); i-- {
		c := s.Commands[i]
		if c.Response != nil {
			break
		}
		if (c.Type == "" || c.deep) && c.N < e.N && e.T-c.T < lineKills {
			killer = c
		}
	}
	if killer == nil {
		return false
	}
	f.add("end/killed-by-line", place{n: killer.N, from: record.Client}, "", "the line of entry %d has killed the agent: it %s %s later", killer.N, e.words(), ago(e.T-killer.T))
	return true
}

// underWay says what the agent has not finished, as far as it was not told before.
func (s *Session) underWay(said *told) []string {
	var work []string
	for _, c := range s.open() {
		if !said.commands[c] {
			work = append(work, fmt.Sprintf("%s of entry %d without response", c.words(), c.N))
		}
	}
	if said.run {
		return work
	}
	if s.run != nil {
		work = append(work, "the run"+s.run.of())
	}
	for _, c := range s.pending() {
		work = append(work, c.prompt()+", which was accepted and whose run has not begun")
	}
	for _, t := range s.openTools() {
		work = append(work, fmt.Sprintf("tool %s of entry %d", clip(t.Name, 60), t.Start.N))
	}
	return work
}

// openTools gives the tools that run, in the order in which they began.
func (s *Session) openTools() []*Tool {
	var open []*Tool
	for _, t := range s.tools {
		open = append(open, t)
	}
	slices.SortFunc(open, func(a, b *Tool) int { return int(a.Start.N - b.Start.N) })
	return open
}

func (e *Exit) words() string {
	if e.Signal != "" {
		return "died of " + e.Signal
	}
	return fmt.Sprintf("exited with %d", e.Code)
}

func join(list []string) string {
	if len(list) > 4 {
		return strings.Join(list[:4], "; ") + fmt.Sprintf("; and %d more", len(list)-4)
	}
	return strings.Join(list, "; ")
}
