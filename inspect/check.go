package inspect

import (
	"cmp"
	"slices"

	"pitap/record"
)

// Source is a set of rules that looks at the entries of one capture. record.Framing is one.
type Source interface {
	Entry(*record.Entry) // the next entry
	Finish()             // no entry follows
	Findings() []record.Finding
}

// Report is what a check of one capture gives.
type Report struct {
	Findings  []record.Finding // in the order of N
	Entries   int64            // number of the last entry
	Lost      int64            // bytes that were not recorded, and so not checked
	Condition string           // "" when the capture is whole; see record.Capture.Condition
	Damage    []record.Damage  // places that could not be read
}

// Check applies the rules of all sources to a capture. progress may be nil; it is called with the number of bytes of
// the file that were read. An error is of reading.
func Check(c *record.Capture, sources []Source, progress func(read int64)) (*Report, error) {
	r := &Report{}
	for c.Next() {
		e := c.Entry()
		r.Entries = e.N
		if e.Note != nil && e.Note.Kind == "gap" {
			for _, n := range e.Note.Lost {
				r.Lost += n
			}
		}
		for _, s := range sources {
			s.Entry(e)
		}
		if progress != nil {
			progress(c.Unit())
		}
	}
	if err := c.Err(); err != nil {
		return nil, err
	}
	for _, s := range sources {
		s.Finish()
		r.Findings = append(r.Findings, s.Findings()...)
	}
	slices.SortStableFunc(r.Findings, func(a, b record.Finding) int { return cmp.Compare(a.N, b.N) })
	r.Condition, r.Damage = c.Condition(), c.Damage()
	return r, nil
}

// Select keeps the findings of rules that match one of the patterns (all when there are none) and are at least as bad.
func (r *Report) Select(rules []Pattern, least record.Severity) {
	r.Findings = slices.DeleteFunc(r.Findings, func(f record.Finding) bool {
		fits := len(rules) == 0 || slices.ContainsFunc(rules, func(p Pattern) bool { return p.match(f.Rule) || p.match(shortRule(f.Rule)) })
		return !fits || f.Severity < least
	})
}

// Count counts the findings of a severity.
func (r *Report) Count(s record.Severity) (n int) {
	for i := range r.Findings {
		if r.Findings[i].Severity == s {
			n++
		}
	}
	return n
}

// Rules are all rules that there are.
func Rules() []record.Rule { return record.FramingRules }

// FindRules gives the rules that a pattern matches, with or without the part before the slash.
func FindRules(pattern string) []record.Rule {
	p := NewPattern(pattern)
	var rules []record.Rule
	for _, r := range Rules() {
		if p.match(r.ID) || p.match(shortRule(r.ID)) {
			rules = append(rules, r)
		}
	}
	return rules
}
