package report

import (
	"encoding/xml"
	"fmt"
	"io"

	"pitap/inspect/text"
	"pitap/record"
)

type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		Failure *junitFailure `xml:"failure,omitempty"`
		Out     string        `xml:"system-out,omitempty"`
	}
	junitFailure struct {
		Type    string `xml:"type,attr"`
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// WriteJUnit writes reports in the XML that JUnit's users read: a suite for each capture, a case for each finding. Those
// that are at least as bad as least have failed, the others say what they say on their output.
func WriteJUnit(w io.Writer, reports []*Report, least record.Severity) error {
	all := junitSuites{Name: "pitap check"}
	for _, r := range reports {
		s := junitSuite{Name: text.VisibleString(r.Path)}
		names := map[string]int{}
		add := func(name, kind, message, more string, failed bool) {
			if names[name]++; names[name] > 1 { // readers take two cases of one name for one
				name += fmt.Sprintf(" (%d)", names[name])
			}
			c := junitCase{Class: s.Name, Name: name}
			if failed {
				c.Failure = &junitFailure{kind, message, message + more}
				s.Failures++
			} else {
				c.Out = kind + ": " + message + more
			}
			s.Cases = append(s.Cases, c)
		}
		for _, d := range r.Damage {
			add("damage", "error", text.VisibleString(d.Error()), "", true)
		}
		for i := range r.Findings {
			f := &r.Findings[i]
			add(fmt.Sprintf("%s at %s", f.Rule, place(f)), f.Severity.String(), text.VisibleString(f.Text), "\nhint: "+text.VisibleString(f.Hint), f.Severity >= least)
		}
		if len(s.Cases) == 0 {
			s.Cases = append(s.Cases, junitCase{Class: s.Name, Name: "nothing found"})
		}
		s.Tests = len(s.Cases)
		all.Tests += s.Tests
		all.Failures += s.Failures
		all.Suites = append(all.Suites, s)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}
