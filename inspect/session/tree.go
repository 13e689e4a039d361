package session

import (
	"fmt"
	"io"
	"strings"

	"pitap/inspect/text"
)

// WriteRuns writes the tree of runs, turns, messages and tools as text, a line each. width is that of the terminal, 0 for
// no limit.
func (s *Session) WriteRuns(w io.Writer, p text.Palette, width int) error {
	out := &treeWriter{w: w, p: p, width: width}
	if len(s.Runs) == 0 {
		out.line(0, "no runs")
	}
	for i, r := range s.Runs {
		out.run(i+1, r)
	}
	return out.err
}

type treeWriter struct {
	w     io.Writer
	p     text.Palette
	width int
	err   error
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
		state = o.p.Yellow("aborted") + " after " + ago(stats.Took)
	default:
		state = ago(stats.Took)
	}
	head := fmt.Sprintf("run %d  #%d  at %s  %s", i, r.Start.N, text.Since(r.Start.T), state)
	if r.Prompt != nil {
		head += fmt.Sprintf("  prompt #%d", r.Prompt.N)
		if r.first != nil {
			head += fmt.Sprintf(", first delta %s later", ago(stats.FirstDelta))
		}
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
		tools := t.Tools
		for _, m := range t.Messages {
			for len(tools) > 0 && tools[0].Start.N < m.Start.N {
				o.tool(tools[0])
				tools = tools[1:]
			}
			o.message(m, t)
		}
		for _, tool := range tools {
			o.tool(tool)
		}
	}
}

func (o *treeWriter) message(m *Message, t *Turn) {
	parts := []string{fmt.Sprintf("%s  #%d", text.VisibleString(m.Role), m.Start.N)}
	if m.End != nil && m.End.T > m.Start.T && m.Role == "assistant" {
		parts = append(parts, ago(m.End.T-m.Start.T))
	}
	if m.First != nil {
		parts = append(parts, "first delta "+text.After(m.First.T-t.Start.T)+" in the turn")
	}
	if m.Updates > 0 {
		parts = append(parts, fmt.Sprintf("%d updates", m.Updates))
	}
	if rate := m.Rate(); rate > 0 {
		parts = append(parts, fmt.Sprintf("%.0f tokens/s", rate))
	}
	if m.Stop != "" && m.Stop != "stop" && m.Stop != "pending" {
		parts = append(parts, text.VisibleString(m.Stop))
	}
	line := strings.Join(parts, "  ") + usageWords(m.Usage)
	open := ""
	if m.End == nil {
		open = "  open"
	}
	words, style := strings.TrimSpace(m.Preview), o.p.Dim
	switch {
	case m.Error != "":
		words, style = m.Error, o.p.Red
	case m.Role == "system":
		words = ""
	}
	room := 80
	if o.width > 0 {
		room = min(room, o.width-text.Width(line)-len(open)-6)
	}
	if words = text.Cut(words, max(room, 0)); words != "" {
		words = "  " + style(words)
	}
	if open != "" {
		open = "  " + o.p.Yellow("open")
	}
	o.line(2, "%s%s%s", line, open, words)
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
