package report

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"pitap/inspect/session"
	"pitap/inspect/text"
	"pitap/record"
)

// Style is how text is laid out.
type Style struct {
	Palette text.Palette
	Width   int // of lines; 0: no limit
}

// WriteText writes a report for people: the worst first.
func (r *Report) WriteText(w io.Writer, style Style) error {
	if err := r.WriteHead(w, style); err != nil {
		return err
	}
	var b bytes.Buffer
	worst := slices.Clone(r.Findings)
	slices.SortStableFunc(worst, func(a, b record.Finding) int { return cmp.Compare(b.Severity, a.Severity) })
	for i := range worst {
		b.WriteByte('\n')
		writeFinding(&b, &worst[i], style)
	}
	_, err := b.WriteTo(w)
	return err
}

// WriteHead writes what a report comes to, without the findings.
func (r *Report) WriteHead(w io.Writer, style Style) error {
	var b bytes.Buffer
	p := style.Palette
	fmt.Fprintf(&b, "%s: %s", p.Bold(text.VisibleString(filepath.Base(r.Path))), r.verdict(p))
	switch {
	case r.Condition == "":
		b.WriteByte('\n')
	case style.Width > 0:
		b.WriteByte('\n')
		paragraph(&b, "  ", r.Condition, style.Width)
	default:
		b.WriteString("; " + r.Condition + "\n")
	}
	for _, d := range r.Damage {
		var words bytes.Buffer
		paragraph(&words, "  ", "damaged "+d.Where()+": "+d.Cause, style.Width)
		b.WriteString(strings.Replace(words.String(), "damaged", p.Red("damaged"), 1))
	}
	if r.Lost > 0 {
		paragraph(&b, "  ", text.Count(r.Lost)+" bytes were not recorded, and so not checked", style.Width)
	}
	_, err := b.WriteTo(w)
	return err
}

// WriteFinding writes one finding for people.
func WriteFinding(w io.Writer, f *record.Finding, style Style) error {
	var b bytes.Buffer
	writeFinding(&b, f, style)
	_, err := b.WriteTo(w)
	return err
}

func writeFinding(b *bytes.Buffer, f *record.Finding, style Style) {
	p := style.Palette
	severity := text.Pad(f.Severity.String(), 6)
	switch f.Severity {
	case record.SevError:
		severity = p.Red(severity)
	case record.SevHazard:
		severity = p.Yellow(severity)
	}
	where := place(f)
	fmt.Fprintf(b, "  %s %s", severity, p.Bold(f.Rule))
	if style.Width > 0 && 11+len(f.Rule)+text.Width(where) > fit(style.Width) {
		b.WriteByte('\n')
		paragraph(b, "         ", where, style.Width)
	} else {
		fmt.Fprintf(b, "  %s\n", where)
	}
	paragraph(b, "         ", f.Text, style.Width)
	if f.Hint != "" {
		paragraph(b, "         ", "hint: "+f.Hint, style.Width)
	}
}

// paragraph writes words, each line behind a prefix.
func paragraph(b *bytes.Buffer, prefix, words string, width int) {
	if width > 0 {
		width = fit(width) - len(prefix)
	}
	lines := text.Wrap(text.VisibleString(words), width)
	fmt.Fprintf(b, "%s%s\n", prefix, strings.ReplaceAll(lines, "\n", "\n"+prefix))
}

// fit is how wide a paragraph is on a terminal: longer lines are hard to read.
func fit(width int) int { return min(max(width, 30), 100) }

// Words sums a report up: "1 error, 2 notes", or "nothing found".
func (r *Report) Words() string {
	var words []string
	for _, s := range []record.Severity{record.SevError, record.SevHazard, record.SevNote} {
		switch n := r.Count(s); {
		case n == 1:
			words = append(words, "1 "+s.String())
		case n > 1:
			words = append(words, fmt.Sprintf("%d %ss", n, s))
		}
	}
	if len(words) == 0 {
		return "nothing found"
	}
	return strings.Join(words, ", ")
}

func (r *Report) verdict(p text.Palette) string {
	all := r.Words()
	switch {
	case r.Count(record.SevError) > 0:
		all = p.Red(all)
	case len(r.Findings) > 0:
		all = p.Yellow(all)
	default:
		all = p.Green(all)
	}
	all += fmt.Sprintf(" in %s entries", text.Count(r.Entries))
	return all
}

// place says where a finding is.
func place(f *record.Finding) string {
	s := fmt.Sprintf("#%d", f.N)
	if f.From != record.NoStream {
		s = f.From.String() + " " + s
	}
	if f.Off > 0 || f.At > 0 {
		s += fmt.Sprintf(", byte %d", f.Off)
	}
	if f.At > 0 {
		s += fmt.Sprintf(" (%d in the record)", f.At)
	}
	switch {
	case f.Count > 1 && f.Last > f.N:
		s += fmt.Sprintf(", %s times up to #%d", text.Count(f.Count), f.Last)
	case f.Count > 1:
		s += fmt.Sprintf(", %s times", text.Count(f.Count))
	}
	return s
}

// WriteDocs says what rules mean.
func WriteDocs(w io.Writer, docs []session.Doc, style Style) error {
	var b bytes.Buffer
	for i, d := range docs {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s  %s: %s\n", style.Palette.Bold(d.ID), d.Severity, d.Title)
		paragraph(&b, "  ", d.Explain, style.Width)
		if d.Example != "" {
			paragraph(&b, "  ", "Example: "+d.Example+".", style.Width)
		}
		if d.Versions != "" {
			paragraph(&b, "  ", "Versions of pi: "+d.Versions+".", style.Width)
		}
		for _, h := range d.Hints {
			paragraph(&b, "  ", "What to do: "+h+".", style.Width)
		}
	}
	_, err := b.WriteTo(w)
	return err
}
