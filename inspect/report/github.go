package report

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"pitap/inspect/text"
	"pitap/record"
)

var githubCommands = [...]string{record.SevNote: "notice", record.SevHazard: "warning", record.SevError: "error"}

// WriteGitHub writes a report as commands that make annotations in GitHub's workflows. A finding's line is that of its
// entry in the capture when it is not compressed.
func (r *Report) WriteGitHub(w io.Writer) error {
	file := property(filepath.ToSlash(r.Path))
	for _, d := range r.Damage {
		if _, err := fmt.Fprintf(w, "::error file=%s,title=pitap: damaged::%s\n", file, data(text.VisibleString(d.Error()))); err != nil {
			return err
		}
	}
	for i := range r.Findings {
		if err := r.WriteFindingGitHub(w, &r.Findings[i]); err != nil {
			return err
		}
	}
	return nil
}

// WriteFindingGitHub writes one finding.
func (r *Report) WriteFindingGitHub(w io.Writer, f *record.Finding) error {
	_, err := fmt.Fprintf(w, "::%s file=%s,line=%d,title=%s::%s\n", githubCommands[f.Severity], property(filepath.ToSlash(r.Path)), max(1, f.N+1),
		property("pitap: "+f.Rule), data(fmt.Sprintf("%s\n(%s)\nhint: %s", text.VisibleString(f.Text), place(f), text.VisibleString(f.Hint))))
	return err
}

// data escapes the text of a command; property that of its properties.
func data(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func property(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(s)
}
