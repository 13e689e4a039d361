package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"pitap/inspect"
	"pitap/inspect/text"
	"pitap/record"
)

// checking is what the check command was asked for.
type checking struct {
	rules    []inspect.Pattern
	severity record.Severity
	json     bool
}

func runCheck(t *tool, args []string) error {
	f := t.flags("check")
	rules := f.StringSlice("rule", nil, "only findings of the rule `RULE`")
	severity := f.String("severity", "note", "only findings that are at least so bad: `error`, hazard or note")
	asJSON := f.Bool("json", false, "write an object for each capture, one a line")
	explain := f.String("explain", "", "say what `RULE` means and do nothing else; all: of all rules")
	color := colorFlag(f)
	if done, err := t.parse(f, args); done || err != nil {
		return err
	}
	out, err := t.output(*color)
	if err != nil {
		return err
	}
	if f.Changed("explain") {
		return explainRules(*explain, out)
	}
	c := checking{json: *asJSON}
	if c.severity, err = parseSeverity(*severity); err != nil {
		return err
	}
	for _, r := range *rules {
		if len(inspect.FindRules(r)) == 0 {
			return unknownRule(r)
		}
		c.rules = append(c.rules, inspect.NewPattern(r))
	}
	return t.check(c, f.Args(), out)
}

func parseSeverity(name string) (record.Severity, error) {
	for _, s := range []record.Severity{record.SevError, record.SevHazard, record.SevNote} {
		if s.String() == strings.TrimSuffix(name, "s") {
			return s, nil
		}
	}
	return 0, usageError("check: --severity is %q; it takes error, hazard or note", name)
}

func unknownRule(name string) error {
	ids := make([]string, 0, len(inspect.Rules()))
	for _, r := range inspect.Rules() {
		ids = append(ids, r.ID)
	}
	return usageError("check: there is no rule %q; there are: %s", name, strings.Join(ids, " "))
}

// check checks captures one after another. What is wrong with one does not keep it from the others.
func (t *tool) check(c checking, names []string, out *output) error {
	if len(names) == 0 {
		names = []string{""}
	}
	bad := false
	for i, name := range names {
		r, path, err := t.checkOne(c, name, out)
		if err != nil {
			if len(names) == 1 {
				return err
			}
			out.Flush()
			t.complain(err)
			bad = true
			continue
		}
		bad = bad || r.Count(record.SevError) > 0 || len(r.Damage) > 0
		switch {
		case c.json:
			err = reportJSON(r, path, out)
		default:
			if i > 0 {
				out.WriteByte('\n')
			}
			err = reportText(r, path, out)
		}
		if err == nil {
			err = out.Flush()
		}
		if err != nil && !bad {
			return err
		} else if err != nil {
			break
		}
	}
	if bad {
		return statusError{status: statusNo}
	}
	return nil
}

func (t *tool) checkOne(c checking, name string, out *output) (*inspect.Report, string, error) {
	var args []string
	if name != "" {
		args = []string{name}
	}
	capture, err := t.open(args)
	if err != nil {
		return nil, "", err
	}
	defer capture.Close()
	size := capture.Size()
	r, err := inspect.Check(capture, []inspect.Source{record.NewFraming()}, func(read int64) { out.progress.at("checked", read, size) })
	out.progress.clear()
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", capture.Path, err)
	}
	r.Select(c.rules, c.severity)
	return r, capture.Path, nil
}

// reportText writes findings for people.
func reportText(r *inspect.Report, path string, out *output) error {
	p := out.palette
	fmt.Fprintf(out, "%s: %s\n", p.Bold(visible(filepath.Base(path))), verdict(r, p))
	for _, d := range r.Damage {
		fmt.Fprintf(out, "  %s at %s\n", p.Red("damaged"), visible(d.Error()))
	}
	if r.Lost > 0 {
		fmt.Fprintf(out, "  %s bytes were not recorded, and so not checked\n", text.Count(r.Lost))
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		severity := map[record.Severity]func(string) string{record.SevError: p.Red, record.SevHazard: p.Yellow}[f.Severity]
		if severity == nil {
			severity = func(s string) string { return s }
		}
		fmt.Fprintf(out, "\n  %s %s  %s\n", severity(text.Pad(f.Severity.String(), 6)), p.Bold(f.Rule), place(f))
		paragraph(out, "         ", f.Text)
		paragraph(out, "         ", "hint: "+f.Hint)
	}
	return nil
}

// paragraph writes words, each line behind a prefix, wrapped on a terminal.
func paragraph(out *output, prefix, words string) {
	width := 0
	if out.terminal {
		width = min(max(out.width, 60), 100) - len(prefix)
	}
	lines := text.Wrap(visible(words), width)
	fmt.Fprintf(out, "%s%s\n", prefix, strings.ReplaceAll(lines, "\n", "\n"+prefix))
}

// verdict sums a report up.
func verdict(r *inspect.Report, p text.Palette) string {
	var words []string
	for _, s := range []record.Severity{record.SevError, record.SevHazard, record.SevNote} {
		n := r.Count(s)
		switch {
		case n == 1:
			words = append(words, "1 "+s.String())
		case n > 1:
			words = append(words, fmt.Sprintf("%d %ss", n, s))
		}
	}
	all := strings.Join(words, ", ")
	switch {
	case r.Count(record.SevError) > 0:
		all = p.Red(all)
	case len(words) > 0:
		all = p.Yellow(all)
	default:
		all = p.Green("nothing found")
	}
	all += fmt.Sprintf(" in %s entries", text.Count(r.Entries))
	if r.Condition != "" {
		all += "; " + r.Condition
	}
	return all
}

// place says where a finding is.
func place(f *record.Finding) string {
	s := fmt.Sprintf("%s #%d, byte %d", f.From, f.N, f.Off)
	if f.At > 0 {
		s += fmt.Sprintf(" (%d in the record)", f.At)
	}
	if f.Count > 1 {
		s += fmt.Sprintf(", %s records up to #%d", text.Count(f.Count), f.Last)
	}
	return s
}

// findingJSON is a finding for programs.
type findingJSON struct {
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

type reportForm struct {
	Capture   string        `json:"capture"`
	Entries   int64         `json:"entries"`
	Condition string        `json:"condition,omitempty"`
	Damage    []damageJSON  `json:"damage,omitempty"`
	Lost      int64         `json:"lost,omitempty"`
	Errors    int           `json:"errors"`
	Hazards   int           `json:"hazards"`
	Notes     int           `json:"notes"`
	Findings  []findingJSON `json:"findings"`
}

type damageJSON struct {
	Off   int64  `json:"off"` // byte in the file
	Cause string `json:"cause"`
}

// reportJSON writes a report for programs, as one line.
func reportJSON(r *inspect.Report, path string, out *output) error {
	j := reportForm{Capture: path, Entries: r.Entries, Condition: r.Condition, Lost: r.Lost, Errors: r.Count(record.SevError),
		Hazards: r.Count(record.SevHazard), Notes: r.Count(record.SevNote), Findings: []findingJSON{}}
	for _, d := range r.Damage {
		j.Damage = append(j.Damage, damageJSON{d.Off, d.Cause})
	}
	for _, f := range r.Findings {
		j.Findings = append(j.Findings, findingJSON{f.Rule, f.Severity.String(), f.From.String(), f.N, f.Off, f.At, f.Count, f.Last, f.Text, f.Hint})
	}
	b, err := json.Marshal(j)
	if err != nil {
		return err
	}
	if out.terminal {
		b = text.Visible(nil, b)
	}
	_, err = out.Write(append(b, '\n'))
	return err
}

// explainRules says what rules mean.
func explainRules(name string, out *output) error {
	rules := inspect.FindRules(name)
	if name == "all" {
		rules = inspect.Rules()
	}
	if len(rules) == 0 {
		return unknownRule(name)
	}
	for i, r := range rules {
		if i > 0 {
			out.WriteByte('\n')
		}
		fmt.Fprintf(out, "%s  %s: %s\n", out.palette.Bold(r.ID), r.Severity, r.Title)
		paragraph(out, "  ", r.Explain)
	}
	return out.Flush()
}
