package report

import (
	"encoding/json"
	"io"

	"pitap/record"
)

// finding is a finding for programs.
type finding struct {
	Rule     string `json:"rule"`
	Severity string `json:"severity"`
	From     string `json:"from"`
	N        int64  `json:"n"`   // entry
	Off      int64  `json:"off"` // byte in the stream
	At       int64  `json:"at"`  // byte in the record
	Count    int64  `json:"count"`
	Last     int64  `json:"last"` // entry
	Text     string `json:"text"`
	Hint     string `json:"hint"`
}

type form struct {
	Capture   string    `json:"capture"`
	Agent     string    `json:"agent"`
	Entries   int64     `json:"entries"`
	Condition string    `json:"condition,omitempty"`
	Damage    []damage  `json:"damage,omitempty"`
	Lost      int64     `json:"lost,omitempty"`
	Errors    int       `json:"errors"`
	Hazards   int       `json:"hazards"`
	Notes     int       `json:"notes"`
	Findings  []finding `json:"findings"`
}

type damage struct {
	Off   int64  `json:"off"` // byte in the file
	Cause string `json:"cause"`
}

func formOf(f *record.Finding) finding {
	return finding{f.Rule, f.Severity.String(), f.From.String(), f.N, f.Off, f.At, f.Count, f.Last, f.Text, f.Hint}
}

// WriteJSON writes a report as one line of JSON.
func (r *Report) WriteJSON(w io.Writer) error {
	j := form{Capture: r.Path, Agent: r.Agent, Entries: r.Entries, Condition: r.Condition, Lost: r.Lost, Errors: r.Count(record.SevError),
		Hazards: r.Count(record.SevHazard), Notes: r.Count(record.SevNote), Findings: []finding{}}
	for _, d := range r.Damage {
		j.Damage = append(j.Damage, damage{d.Off, d.Cause})
	}
	for i := range r.Findings {
		j.Findings = append(j.Findings, formOf(&r.Findings[i]))
	}
	return json.NewEncoder(w).Encode(j)
}

// WriteFindingJSON writes one finding as a line of JSON.
func WriteFindingJSON(w io.Writer, f *record.Finding) error {
	return json.NewEncoder(w).Encode(formOf(f))
}
