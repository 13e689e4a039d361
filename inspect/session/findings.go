package session

import (
	"cmp"
	"fmt"
	"slices"

	"pitap/inspect/text"
	"pitap/record"
)

// findings collects what the rules of this package say.
type findings struct {
	list  []*record.Finding
	byKey map[findingKey]*record.Finding
	many  map[findingKey]int // findings of a rule about a stream; its key is ""

	latest    *record.Finding // that was added to
	latestKey findingKey
}

type findingKey struct {
	rule string
	from record.Stream
	key  string
}

// maxOfRule bounds the findings of one rule about one stream; what else there is is counted with the last.
const maxOfRule = 100

func (f *findings) init() {
	f.byKey, f.many = map[findingKey]*record.Finding{}, map[findingKey]int{}
}

// place is the entry that a finding is about, and where in it.
type place struct {
	n    int64
	from record.Stream
	off  int64 // in the stream
	at   int64 // in the record
}

// add says a finding. Findings of one rule with the same key are one finding with a count; an empty key means one for
// each rule and stream.
func (f *findings) add(rule string, p place, key, format string, args ...any) {
	k := findingKey{rule, p.from, key}
	old := f.latest
	if old == nil || k != f.latestKey {
		old = f.byKey[k]
	}
	if old != nil {
		old.Count++
		old.Last = max(old.Last, p.n)
		f.latest, f.latestKey = old, k
		return
	}
	group := findingKey{rule: rule, from: p.from}
	rest := f.many[group] >= maxOfRule
	if rest {
		k.key = "\x00rest"
		if old := f.byKey[k]; old != nil {
			old.Count++
			old.Last = max(old.Last, p.n)
			return
		}
	}
	f.many[group]++
	r := ruleOf(rule)
	n := &record.Finding{Rule: rule, Severity: r.Severity, N: p.n, From: p.from, Off: p.off, At: p.at, Count: 1, Last: p.n, Text: fmt.Sprintf(format, args...), Hint: r.hint}
	if rest {
		n.Text = "more of these, the first: " + n.Text
	}
	f.list = append(f.list, n)
	f.byKey[k] = n
}

// find says a finding about an entry.
func (s *Session) find(rule string, e *record.Entry, key, format string, args ...any) {
	s.findings.add(rule, place{n: e.N, from: e.From, off: e.Off}, key, format, args...)
}

// findAt is find for what is known only as a moment.
func (s *Session) findAt(rule string, from record.Stream, at Moment, key, format string, args ...any) {
	s.findings.add(rule, place{n: at.N, from: from}, key, format, args...)
}

// Findings gives what was found so far, framing included, in the order of entries.
func (s *Session) Findings() []record.Finding { return s.sorted(s.framing.Findings(), s.findings.list) }

// Pending gives the findings that there would be, besides those that there are, if the session ended now, at time t
// (nanoseconds since the start): commands that wait too long, dialogs without answer, stalls that go on.
func (s *Session) Pending(t int64) []record.Finding {
	if s.Ended {
		return nil
	}
	var f findings
	f.init()
	t = max(t, s.T)
	s.conclude(&f, t)
	f.list = append(f.list, s.halves(t)...)
	return s.sorted(nil, f.list)
}

// halves finds records whose rest has not come for a second, which nobody holds up: the other end waits for it.
func (s *Session) halves(t int64) (list []*record.Finding) {
	for stream, p := range s.parts {
		from := record.Stream(stream)
		if p == nil || p.damaged || s.stalled[stream] != nil || s.EOF[stream] != nil || t-p.latest < longStall {
			continue
		}
		rule := framingRule("framing/unterminated")
		hint := "end each record in LF (\\n), and flush it: the agent waits for the rest"
		if from == record.Agent {
			hint = "the agent may yet write the rest; see whether it still runs"
		}
		words := fmt.Sprintf("half a record, %s bytes, and its line end (LF) has not come in %s", text.Count(p.bytes), ago(t-p.latest))
		if p.cr >= 0 {
			words += fmt.Sprintf("; a CR, as at its byte %d, ends no line", p.cr)
		}
		list = append(list, &record.Finding{Rule: rule.ID, Severity: rule.Severity, N: p.N, From: from, Off: p.off + p.bytes, At: p.bytes, Count: 1, Last: p.N, Text: words, Hint: hint})
	}
	return list
}

func framingRule(id string) *record.Rule {
	for i := range record.FramingRules {
		if record.FramingRules[i].ID == id {
			return &record.FramingRules[i]
		}
	}
	panic("no rule " + id) // a misspelt id in this package
}

func (s *Session) sorted(out []record.Finding, more []*record.Finding) []record.Finding {
	for _, f := range more {
		if f.Rule == "end/killed-by-line" { // it says more than this one
			out = slices.DeleteFunc(out, func(o record.Finding) bool {
				return o.Rule == "framing/not-object" && o.N == f.N && o.Count == 1
			})
		}
		out = append(out, *f)
	}
	slices.SortStableFunc(out, func(a, b record.Finding) int {
		return cmp.Or(cmp.Compare(a.N, b.N), cmp.Compare(b.Severity, a.Severity), cmp.Compare(a.Rule, b.Rule))
	})
	return out
}

// ago writes a span of time.
func ago(ns int64) string { return text.Duration(ns) }

// sent looks at a command as it is sent.
func (s *Session) sent(c *Command, r *Record) {
	if list := s.pairs.open[c.ID]; c.ID != "" && len(list) > 0 {
		s.find("pair/id-reused", r.Entry, "", "%s has the id %s, as has %s (entry %d), which is not answered yet", c.words(), clip(c.ID, 60), list[0].words(), list[0].N)
	}
}

// answeredBy looks at the response of a command.
func (s *Session) answeredBy(c *Command, r *Record) {
	switch {
	case r.ID == nil && c.ID != "":
		s.find("pair/id-missing", r.Entry, "", "the response has no id; it probably answers %s (entry %d), whose id is %s", c.words(), c.N, clip(c.ID, 60))
	case r.ID != nil && c.Guessed && c.ID != idOf(r.ID):
		was := "has none"
		if c.ID != "" {
			was = "is " + clip(c.ID, 60)
		}
		s.find("pair/id-changed", r.Entry, "", "a response to %s has the id %s, which no command has; it probably answers that of entry %d, whose id %s", r.Command, clip(string(r.ID), 60), c.N, was)
	case r.Command != c.Type && r.Type != "":
		s.find("pair/wrong-command", r.Entry, "", "the response names the command %q, and its id is that of %s (entry %d)", r.Command, c.words(), c.N)
	}
	s.refused(c, r)
	if c.token != nil && r.ID != nil && changed(c.token, r.ID) {
		s.find("pair/id-changed", r.Entry, "", "the id %s of %s (entry %d) came back as %s", clip(string(c.token), 60), c.words(), c.N, clip(string(r.ID), 60))
	}
	if took := r.T - c.T; c.Early && took > earlyAnswer {
		s.findAt("pair/early", record.Client, c.Moment, "", "%s (entry %d) was sent before the agent was ready and answered %s later: most of that is pi's start", c.words(), c.N, ago(took))
	}
}

// refused looks at why a command failed.
func (s *Session) refused(c *Command, r *Record) {
	busy := containsAny(c.Error, "already processing", "compaction is in progress", "treamingBehavior")
	switch {
	case r.Success:
		if c.known == nil && c.Type != "" {
			s.findAt("field/unknown", record.Client, c.Moment, c.Type, "%q is a command that the vocabulary does not have, and pi answered it", clip(c.Type, 60))
		}
	case c.Type != "" && (c.known == nil || c.Error == "Unknown command: "+c.Type):
		s.findAt("command/unknown", record.Client, c.Moment, c.Type, "%s does not know the command %q%s", s.pi(), clip(c.Type, 60), s.spanOf(c))
	case c.Type == "prompt" && !c.Streaming && busy:
		why := "while a run went on, without streamingBehavior"
		if containsAny(c.Error, "compaction") {
			why = "while pi compacted the conversation"
		}
		s.findAt("run/prompt-while-busy", record.Client, c.Moment, "", "prompt (entry %d) came %s: pi refused it", c.N, why)
	}
}

// spanOf says which versions of pi have a command that this one has not.
func (s *Session) spanOf(c *Command) string {
	if c.known == nil {
		return ""
	}
	out := ""
	if span := c.known.Span.String(); span != "" {
		out = ", which is there " + span
	}
	if c.known.Became != "" {
		out += "; it is called " + c.known.Became + " now"
	}
	return out
}

// VersionWords says which version of pi it is, and how that is known: "1.6.0 (header)".
func (s *Session) VersionWords() string {
	return fmt.Sprintf("%s (%s)", s.Version, versionFrom(s.VersionFrom))
}

func versionFrom(from string) string {
	if from == "newest" { // nothing tells
		return "assumed"
	}
	return from
}

// pi names the program with its version, as far as that is known.
func (s *Session) pi() string {
	switch s.VersionFrom {
	case "header":
		return "pi " + s.Version.String()
	case "guess":
		return "pi (probably " + s.Version.String() + ")"
	}
	return "the agent"
}

func (s *Session) twice(c *Command, r *Record) {
	switch {
	case c.Type == "prompt" && s.traits.answersAtOnce && c.Success != r.Success: // in either order
		if c.Success {
			c.Success, c.Error = false, stringOf(r.get("error"))
			s.forgetPrompt(c)
		}
		return
	case s.pairs.doubts(c) || s.missing.client:
		return
	}
	s.find("pair/twice", r.Entry, "", "%s (entry %d) was answered by entry %d before", c.words(), c.N, c.Response.N)
}

// stray is a response that answers no command.
func (s *Session) stray(r *Record) {
	if s.missing.client || s.pairs.blind || r.Cut && r.ID == nil {
		return
	}
	if r.ID != nil {
		s.find("pair/stray", r.Entry, "", "a response to %q with the id %s, and no command has that id", clip(r.Command, 60), clip(string(r.ID), 60))
		return
	}
	s.find("pair/stray", r.Entry, "", "a response to %q without id, and no such command is open", clip(r.Command, 60))
}

func (c *Command) words() string {
	if c.Type == "" {
		return "a command without type"
	}
	return clip(c.Type, 60)
}
