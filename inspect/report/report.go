// Package report writes what a check of captures has found: for people, and in the formats of programs that gather
// findings (JSON, SARIF 2.1.0, JUnit's XML, annotations of GitHub's workflows).
//
// Nothing of a capture acts on who reads it: control characters become visible, and what has a meaning in a format is
// escaped.
package report

import (
	"slices"

	"pitap/record"
)

// Report is what a check of one capture gives.
type Report struct {
	Path      string // of the capture
	Agent     string // what was checked against: "pi 1.6.0 (header)"
	Findings  []record.Finding
	Entries   int64
	Lost      int64           // bytes that were not recorded, and so not checked
	Condition string          // "" when the capture is whole; see record.Capture.Condition
	Damage    []record.Damage // places that could not be read
}

// Select keeps the findings that are at least as bad, and whose rule is wanted.
func (r *Report) Select(wanted func(rule string) bool, least record.Severity) {
	r.Findings = slices.DeleteFunc(r.Findings, func(f record.Finding) bool { return f.Severity < least || !wanted(f.Rule) })
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

// Fails tells whether there is a finding that is at least as bad, or damage.
func (r *Report) Fails(least record.Severity) bool {
	return len(r.Damage) > 0 || slices.ContainsFunc(r.Findings, func(f record.Finding) bool { return f.Severity >= least })
}
