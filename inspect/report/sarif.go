package report

import (
	"encoding/json"
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"pitap/inspect/session"
	"pitap/inspect/text"
	"pitap/record"
)

// The parts of SARIF 2.1.0 that are used here (OASIS, sarif-v2.1.0, section 3).
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool        sarifTool         `json:"tool"`
		Invocations []sarifInvocation `json:"invocations"`
		Results     []sarifResult     `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID      string      `json:"id"`
		Short   sarifText   `json:"shortDescription"`
		Full    sarifText   `json:"fullDescription"`
		Help    sarifText   `json:"help"`
		Default sarifConfig `json:"defaultConfiguration"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifConfig struct {
		Level string `json:"level"`
	}
	sarifInvocation struct {
		Successful    bool                `json:"executionSuccessful"`
		Notifications []sarifNotification `json:"toolExecutionNotifications,omitempty"`
	}
	sarifNotification struct {
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations"`
	}
	sarifResult struct {
		RuleID     string          `json:"ruleId"`
		RuleIndex  int             `json:"ruleIndex"`
		Level      string          `json:"level"`
		Message    sarifText       `json:"message"`
		Locations  []sarifLocation `json:"locations"`
		Occurrence int64           `json:"occurrenceCount"`
		Properties map[string]any  `json:"properties"`
	}
	sarifLocation struct {
		Physical sarifPhysical  `json:"physicalLocation"`
		Logical  []sarifLogical `json:"logicalLocations,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine int64 `json:"startLine"`
	}
	sarifLogical struct {
		Name string `json:"name"`
		Kind string `json:"kind"`
	}
)

var sarifLevels = [...]string{record.SevNote: "note", record.SevHazard: "warning", record.SevError: "error"}

// WriteSARIF writes reports as a SARIF 2.1.0 log with one run. version is pitap's own. A finding's line is that of its
// entry in the capture when it is not compressed: the header is line 1.
func WriteSARIF(w io.Writer, reports []*Report, version string) error {
	run := sarifRun{Tool: sarifTool{sarifDriver{Name: "pitap", Version: version}}, Results: []sarifResult{}}
	index := map[string]int{}
	for i, d := range session.Docs() {
		index[d.ID] = i
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{ID: d.ID, Short: sarifText{d.Title}, Full: sarifText{d.Explain},
			Help: sarifText{strings.Join(d.Hints, "; ")}, Default: sarifConfig{sarifLevels[d.Severity]}})
	}
	done := sarifInvocation{Successful: true}
	for _, r := range reports {
		at := sarifArtifact{uriOf(r.Path)}
		for _, d := range r.Damage {
			done.Notifications = append(done.Notifications, sarifNotification{"error", sarifText{text.VisibleString(d.Error())}, []sarifLocation{{Physical: sarifPhysical{Artifact: at}}}})
		}
		for i := range r.Findings {
			f := &r.Findings[i]
			run.Results = append(run.Results, sarifResult{RuleID: f.Rule, RuleIndex: index[f.Rule], Level: sarifLevels[f.Severity],
				Message: sarifText{text.VisibleString(f.Text)}, Occurrence: f.Count,
				Locations:  []sarifLocation{{sarifPhysical{at, &sarifRegion{max(1, f.N+1)}}, []sarifLogical{{place(f), "object"}}}},
				Properties: map[string]any{"entry": f.N, "from": f.From.String(), "offset": f.Off, "offsetInRecord": f.At, "lastEntry": f.Last, "hint": text.VisibleString(f.Hint)}})
		}
	}
	run.Invocations = []sarifInvocation{done}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}})
}

// uriOf is a path as a URI: relative, or of a file.
func uriOf(path string) string {
	u := url.URL{Path: filepath.ToSlash(path)}
	if filepath.IsAbs(path) {
		u.Scheme = "file"
		if !strings.HasPrefix(u.Path, "/") {
			u.Path = "/" + u.Path
		}
	}
	return u.String()
}
