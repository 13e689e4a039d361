package view

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"pitap/inspect/session"
	"pitap/inspect/text"
	"pitap/record"
)

// sevRole is the role of a severity.
func sevRole(s record.Severity) Role {
	switch s {
	case record.SevError:
		return Bad
	case record.SevHazard:
		return Warn
	}
	return Dim
}

// Findings lays out what was found, the worst first.
func (s *Store) Findings(width int) (lines []Line) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.damage {
		lines = append(lines, wrapped(Bad, "", "damage  "+d.Error(), width)...)
	}
	if s.sess == nil {
		return lines
	}
	list := slices.Clone(s.findings().list)
	slices.SortStableFunc(list, func(a, b record.Finding) int { return cmp.Compare(b.Severity, a.Severity) })
	counts := [3]int{}
	for _, f := range list {
		counts[min(f.Severity, 2)]++
	}
	lines = append(lines, head(fmt.Sprintf("%s, %s, %s", text.Plural(counts[2], "error"), text.Plural(counts[1], "hazard"), text.Plural(counts[0], "note"))))
	for _, f := range list {
		lines = append(lines, Line{})
		lines = append(lines, findingLines(f, width)...)
	}
	if len(list) == 0 && s.done {
		lines = append(append(lines, Line{}), wrapped(Good, "", "Nothing was found: framing and protocol are as they should be.", width)...)
	}
	return lines
}

// findingLines lays out one finding with its explanation folded below it.
func findingLines(f record.Finding, width int) []Line {
	l := Line{N: f.N, Value: f.Rule, Head: true}
	sev := f.Severity.String()
	l.add(sevRole(f.Severity), sev).add(Strong, strings.Repeat(" ", max(1, 8-len(sev)))+f.Rule)
	l.add(Dim, fmt.Sprintf("  #%d", f.N))
	if f.Count > 1 {
		l.add(Dim, fmt.Sprintf(", %s times, last #%d", text.Count(f.Count), f.Last))
	}
	lines := []Line{l}
	lines = append(lines, wrapped(Plain, "        ", f.Text, width)...)
	if f.Hint != "" {
		lines = append(lines, wrapped(Good, "        ", "→ "+f.Hint, width)...)
	}
	for _, r := range session.Rules() {
		if r.ID == f.Rule {
			lines = append(lines, wrapped(Dim, "          ", r.Explain, width)...)
		}
	}
	for i := range lines[1:] {
		lines[i+1].N, lines[i+1].Depth = f.N, 1
	}
	return lines
}

func (s *Store) findingLines(from, to int64, width int) (lines []Line) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sess == nil {
		return nil
	}
	for _, f := range s.findings().list {
		if f.N >= from && f.N <= to || f.Last >= from && f.Last <= to {
			lines = append(lines, Line{})
			lines = append(lines, findingLines(f, width)...)
		}
	}
	return lines
}

// FindingAfter gives the number of the next entry that has a finding, before it with dir < 0; 0 when there is none.
func (s *Store) FindingAfter(n int64, dir int) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sess == nil {
		return 0
	}
	best := int64(0)
	see := func(k int64) {
		if dir > 0 && k > n && (best == 0 || k < best) || dir < 0 && k < n && k > best {
			best = k
		}
	}
	for _, f := range s.findings().list {
		see(f.N)
		see(f.Last)
	}
	return best
}

// OpenAfter gives the number of the next entry that something open began with, before it with dir < 0; 0 for none.
func (s *Store) OpenAfter(n int64, dir int) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	best := int64(0)
	for _, k := range s.openEntries() {
		if dir > 0 && k > n && (best == 0 || k < best) || dir < 0 && k < n && k > best {
			best = k
		}
	}
	return best
}

// openEntries are the numbers of the entries with which something began that is open, or was at the end.
func (s *Store) openEntries() (list []int64) {
	if s.sess == nil {
		return nil
	}
	for _, w := range s.sess.Open(s.now()) {
		list = append(list, w.N)
	}
	for _, c := range s.sess.Commands {
		if c.Response == nil {
			list = append(list, c.N)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

var entryNumber = regexp.MustCompile(`#(\d+)`)

// Process lays out what ran where, what it said on stderr, how it ended, and what is open.
func (s *Store) Process(width int) (lines []Line) {
	s.mu.Lock()
	defer s.mu.Unlock()
	field := func(name, value string) {
		if value == "" {
			return
		}
		value = text.VisibleString(value)
		for i, w := range wrapped(Plain, "", value, width-12) {
			l := Line{Value: value}
			if i > 0 {
				name = ""
			}
			l.add(Dim, fmt.Sprintf("%-11s ", name))
			l.Spans = append(l.Spans, w.Spans...)
			lines = append(lines, l)
		}
	}
	lines = append(lines, head("session"))
	field("capture", s.Path)
	if s.err != nil {
		field("trouble", s.err.Error())
	}
	field("state", s.stateWords())
	for i, d := range s.damage {
		if i == 10 {
			field("", fmt.Sprintf("and %d more places", len(s.damage)-i))
			break
		}
		field("damage", d.Error())
	}
	if h := s.header; h != nil {
		field("command", strings.Join(h.Argv, " "))
		field("agent", strings.TrimSpace(h.Agent.Path+"  "+h.Agent.Version))
		if h.Agent.PID > 0 {
			pid := strconv.Itoa(h.Agent.PID)
			if s.live && !s.done {
				if state := processState(h.Agent.PID, h.PID); state != "" {
					pid += ", " + state
				}
			}
			field("agent's pid", pid)
		}
		field("folder", h.Cwd)
		if h.Client.Name != "" || h.Client.PID > 0 {
			field("client", fmt.Sprintf("%s (pid %d)", h.Client.Name, h.Client.PID))
		}
		if !h.Start.IsZero() {
			field("start", h.Start.Local().Format("2006-01-02 15:04:05.000 MST"))
		}
		field("label", h.Label)
		field("host", strings.TrimSpace(h.Host+"  "+h.OS))
		field("recorded by", h.Tool)
		field("left out", h.Cut)
	}
	if s.sess == nil {
		return lines
	}
	field("pi", s.sess.VersionWords())
	now := s.now()
	lines = append(lines, Line{}, head("in words"))
	lines = append(lines, wrapped(Plain, "", s.sess.Why(now), width)...)
	return append(lines, s.processRest(now, width)...)
}

// stateWords says what the capture is.
func (s *Store) stateWords() string {
	switch {
	case s.live && !s.done:
		return "live: being recorded, " + text.Count(s.count) + " entries so far"
	case !s.done:
		return "being read"
	case s.err != nil:
		word, _ := s.trouble()
		return word
	case s.cond != "":
		return s.cond
	}
	return "whole, " + text.Count(s.count) + " entries"
}

func (s *Store) processRest(now int64, width int) (lines []Line) {
	at := func(n, t int64, role Role, what string) {
		head := fmt.Sprintf("%8s  %12s  ", "#"+strconv.FormatInt(n, 10), text.Since(t))
		for _, w := range wrapped(role, "", what, width-len(head)) {
			l := Line{N: n}
			l.add(Dim, head)
			l.Spans = append(l.Spans, w.Spans...)
			lines = append(lines, l)
			head = strings.Repeat(" ", len(head))
		}
	}
	sess := s.sess
	open := sess.Open(now)
	title := "open now"
	if sess.Ended {
		title = "open at the end"
	}
	lines = append(lines, Line{}, head(title))
	for _, w := range open {
		at(w.N, w.Since, Warn, fmt.Sprintf("%s, for %s", w.Words, text.Duration(now-w.Since)))
	}
	if len(open) == 0 {
		lines = append(lines, R(Dim, "nothing"))
	}
	lines = append(lines, Line{}, head("signals, ends, exit"))
	before := len(lines)
	for _, g := range sess.Signals {
		to := "the agent"
		if g.To == "group" {
			to = "the agent's process group"
		}
		at(g.N, g.T, Note, g.Kind+" to "+to)
	}
	for _, side := range []record.Stream{record.Client, record.Agent, record.Stderr} {
		if m := sess.EOF[side]; m != nil {
			at(m.N, m.T, Note, "end of the stream "+side.String())
		}
		if m := sess.Closed[side]; m != nil {
			at(m.N, m.T, Note, "the reader of "+side.String()+" went away")
		}
	}
	if x := sess.Exit; x != nil {
		switch {
		case x.Error != "":
			at(x.N, x.T, Bad, "could not be started: "+x.Error)
		case x.Signal != "":
			at(x.N, x.T, Bad, "died of "+x.Signal)
		case x.Code != 0:
			at(x.N, x.T, Bad, fmt.Sprintf("exit %d", x.Code))
		default:
			at(x.N, x.T, Good, "exit 0")
		}
	}
	if len(lines) == before {
		lines = append(lines, R(Dim, "none"))
	}
	slices.SortStableFunc(lines[before:], func(a, b Line) int { return cmp.Compare(a.N, b.N) })
	if len(sess.LastErr) > 0 {
		lines = append(lines, Line{}, head("last on stderr"))
		for _, l := range sess.LastErr {
			at(l.N, l.T, Stderr, l.Text)
		}
	}
	return lines
}
