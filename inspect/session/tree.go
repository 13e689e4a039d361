package session

import (
	"fmt"
	"io"
	"strings"

	"pitap/inspect/text"
)

// WriteRuns writes the tree of runs, turns, messages and tools as text, a line each.
func (s *Session) WriteRuns(w io.Writer, p text.Palette) error {
	out := &treeWriter{w: w, p: p}
	if len(s.Runs) == 0 {
		out.line(0, "no runs")
	}
	for i, r := range s.Runs {
		out.run(i+1, r)
	}
	return out.err
}

type treeWriter struct {
	w   io.Writer
	p   text.Palette
	err error
}

func (o *treeWriter) line(depth int, format string, args ...any) {
	if o.err == nil {
		_, o.err = fmt.Fprintf(o.w, "%s%s\n", strings.Repeat("  ", depth), fmt.Sprintf(format, args...))
	}
}

func (o *treeWriter) run(i int, r *Run) {
	stats, usage := r.stats(), r.usage
	state := ""
	switch {
	case r.Broken != "":
		state = o.p.Yellow(r.Broken)
	case r.Settled == nil:
		state = o.p.Yellow("not settled")
	case r.Aborted:
		state = o.p.Yellow("aborted")
	default:
		state = ago(stats.Took)
	}
	head := fmt.Sprintf("run %d  #%d  at %s  %s", i, r.Start.N, text.Since(r.Start.T), state)
	if r.Prompt != nil {
		head += fmt.Sprintf("  prompt #%d", r.Prompt.N)
	}
	if r.Retries > 0 {
		head += fmt.Sprintf("  %d retries", r.Retries)
	}
	o.line(0, "%s%s", o.p.Bold(head), usageWords(usage))
	if r.dropped {
		o.line(1, "%d turns, not all of which are listed", r.turns)
	}
	for j, t := range r.Turns {
		took := "open"
		if t.End != nil {
			took = ago(t.End.T - t.Start.T)
		}
		o.line(1, "turn %d  #%d  %s", j+1, t.Start.N, took)
		for _, m := range t.Messages {
			o.message(m)
		}
		for _, tool := range t.Tools {
			o.tool(tool)
		}
	}
}

func (o *treeWriter) message(m *Message) {
	parts := []string{fmt.Sprintf("%s  #%d", text.VisibleString(m.Role), m.Start.N)}
	if m.End != nil && m.End.T > m.Start.T && m.Role == "assistant" {
		parts = append(parts, ago(m.End.T-m.Start.T))
	}
	if m.First != nil {
		parts = append(parts, fmt.Sprintf("first delta %s", ago(m.First.T-m.Start.T)))
	}
	if m.Updates > 0 {
		parts = append(parts, fmt.Sprintf("%d updates", m.Updates))
	}
	if rate := m.Rate(); rate > 0 {
		parts = append(parts, fmt.Sprintf("%.0f tokens/s", rate))
	}
	if m.Stop != "" && m.Stop != "stop" {
		parts = append(parts, text.VisibleString(m.Stop))
	}
	if m.End == nil {
		parts = append(parts, o.p.Yellow("open"))
	}
	line := strings.Join(parts, "  ")
	if m.Error != "" {
		line += "  " + o.p.Red(text.Cut(m.Error, 80))
	} else if m.Preview != "" && m.Role != "system" {
		line += "  " + o.p.Dim(text.Cut(strings.TrimSpace(m.Preview), 80))
	}
	o.line(2, "%s%s", line, usageWords(m.Usage))
}

func (o *treeWriter) tool(t *Tool) {
	state := o.p.Yellow("open")
	if t.End != nil {
		state = ago(t.End.T - t.Start.T)
		if t.Failed {
			state += " " + o.p.Red("failed")
		}
	}
	nested := ""
	if t.Parent != "" {
		nested = "  nested"
	}
	o.line(2, "tool %s  #%d  %s%s", text.VisibleString(t.Name), t.Start.N, state, nested)
}

func usageWords(u Usage) string {
	if u.Input == 0 && u.Output == 0 {
		return ""
	}
	out := fmt.Sprintf("  %s in, %s out", text.Count(u.Input+u.CacheRead+u.CacheWrite), text.Count(u.Output))
	if u.Cost > 0 {
		out += fmt.Sprintf("  $%.4f", u.Cost)
	}
	return out
}
