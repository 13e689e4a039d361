package main

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"syscall"

	"pitap/inspect"
	"pitap/inspect/report"
	"pitap/inspect/session"
	"pitap/inspect/text"
	"pitap/record"
)

// checking is what the check command was asked for.
type checking struct {
	rules  []inspect.Pattern
	least  record.Severity // to be shown
	failOn record.Severity // to end with status 1; sevNever: never
	format string
	follow bool
}

const sevNever = record.SevError + 1

var checkFormats = []string{"text", "json", "sarif", "junit", "github"}

func runCheck(t *tool, args []string) error {
	f := t.flags("check")
	rules := f.StringSlice("rule", nil, "only findings of the rule `RULE`")
	severity := f.String("severity", "note", "only findings that are at least so bad: `error`, hazard or note")
	failOn := f.String("fail-on", "error", "exit with 1 for findings at least so bad: `error`, hazard, note or never")
	format := f.String("format", "text", "`FORMAT`: text, json, sarif, junit or github")
	asJSON := f.Bool("json", false, "the same as --format json")
	follow := f.BoolP("follow", "f", false, "go on while the capture is recorded")
	explain := f.String("explain", "", "say what `RULE` means and do nothing else; all: of all rules")
	t.dirFlag(f)
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
	c := checking{format: *format, follow: *follow}
	if *asJSON {
		if f.Changed("format") && *format != "json" {
			return usageError("check: --json and --format %s exclude each other", *format)
		}
		c.format = "json"
	}
	if !slices.Contains(checkFormats, c.format) {
		return usageError("check: --format is %q; it takes %s", c.format, strings.Join(checkFormats, ", "))
	}
	if c.least, err = parseSeverity("severity", *severity); err != nil {
		return err
	}
	if c.failOn = sevNever; *failOn != "never" {
		if c.failOn, err = parseSeverity("fail-on", *failOn); err != nil {
			return err
		}
	}
	for _, r := range *rules {
		if len(findRules(r)) == 0 {
			return unknownRule(r)
		}
		c.rules = append(c.rules, inspect.NewPattern(r))
	}
	if c.follow {
		return t.checkFollow(c, f.Args(), out)
	}
	return t.check(c, f.Args(), out)
}

func parseSeverity(flag, name string) (record.Severity, error) {
	for _, s := range []record.Severity{record.SevError, record.SevHazard, record.SevNote} {
		if s.String() == strings.TrimSuffix(name, "s") {
			return s, nil
		}
	}
	return 0, usageError("check: --%s is %q; it takes error, hazard or note", flag, name)
}

// findRules gives the rules that a pattern matches.
func findRules(pattern string) (found []session.Doc) {
	p := inspect.NewPattern(pattern)
	for _, d := range session.Docs() {
		if pattern == "all" || p.MatchRule(d.ID) {
			found = append(found, d)
		}
	}
	return found
}

func unknownRule(name string) error {
	var ids []string
	for _, r := range session.Rules() {
		ids = append(ids, r.ID)
	}
	return usageError("check: there is no rule %q; there are: %s", name, strings.Join(ids, " "))
}

// explainRules says what rules mean.
func explainRules(name string, out *output) error {
	docs := findRules(name)
	if len(docs) == 0 {
		return unknownRule(name)
	}
	if err := report.WriteDocs(out, docs, out.style()); err != nil {
		return err
	}
	return out.Flush()
}

// style is how this output is laid out.
func (o *output) style() report.Style { return report.Style{Palette: o.palette, Width: o.width} }

// wanted tells whether findings of a rule were asked for.
func (c *checking) wanted(rule string) bool {
	return len(c.rules) == 0 || slices.ContainsFunc(c.rules, func(p inspect.Pattern) bool { return p.MatchRule(rule) })
}

// check checks captures one after another. What is wrong with one does not keep it from the others.
func (t *tool) check(c checking, names []string, out *output) error {
	if len(names) == 0 {
		path, err := t.find(nil)
		if err != nil {
			return err
		}
		names = []string{path}
	}
	bad := false
	var all []*report.Report
	for i, name := range names {
		r, err := t.checkOne(c, name)
		if err != nil {
			if len(names) == 1 {
				return err
			}
			out.Flush()
			t.complain(err)
			bad = true
			continue
		}
		bad = bad || r.Fails(c.failOn)
		all = append(all, r)
		if err := c.write(r, i > 0, out); err != nil && !errors.Is(err, syscall.EPIPE) { // who has read enough wants the status
			return err
		}
	}
	if err := c.writeAll(all, out); err != nil && !errors.Is(err, syscall.EPIPE) {
		return err
	}
	if bad {
		return statusError{status: statusNo}
	}
	return nil
}

// checkOne checks one capture.
func (t *tool) checkOne(c checking, name string) (*report.Report, error) {
	capture, err := t.open([]string{name})
	if err != nil {
		return nil, err
	}
	defer capture.Close()
	s, err := t.read(capture)
	if err != nil {
		return nil, err
	}
	r := reportOf(capture, s)
	r.Findings = append(s.Findings(), s.Pending(now(capture, s))...)
	r.Select(c.wanted, c.least)
	return r, nil
}

// reportOf is the report about what was read, without its findings.
func reportOf(c *record.Capture, s *session.Session) *report.Report {
	return &report.Report{Path: c.Path, Agent: "pi " + s.VersionWords(), Entries: s.Entries, Lost: s.Lost,
		Condition: c.Condition(), Damage: c.Damage()}
}

// write writes a report in the formats that take one at a time.
func (c *checking) write(r *report.Report, more bool, out *output) (err error) {
	switch c.format {
	case "text":
		if more {
			out.WriteByte('\n')
		}
		err = r.WriteText(out, out.style())
	case "json":
		err = visibly(out, func(b *bytes.Buffer) error { return r.WriteJSON(b) })
	case "github":
		err = r.WriteGitHub(out)
	}
	if err != nil {
		return err
	}
	return out.Flush()
}

// writeAll writes reports in the formats that take all at once.
func (c *checking) writeAll(all []*report.Report, out *output) (err error) {
	switch c.format {
	case "sarif":
		err = report.WriteSARIF(out, all, version)
	case "junit":
		err = report.WriteJUnit(out, all, c.failOn)
	}
	if err != nil {
		return err
	}
	return out.Flush()
}

// visibly writes a line of JSON; what of it could act on a terminal is made visible on one.
func visibly(out *output, write func(*bytes.Buffer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	line := bytes.TrimSuffix(b.Bytes(), []byte{'\n'})
	if out.terminal {
		line = text.Visible(nil, line)
	}
	_, err := out.Write(append(line, '\n'))
	return err
}
