package session

import (
	"fmt"
	"io"
	"slices"

	"pitap/inspect/text"
)

// WriteText writes the figures for people. width is that of the terminal, 0 for no limit.
func (st *Stats) WriteText(w io.Writer, p text.Palette, width int) error {
	live := ""
	if st.Live {
		live = " so far, live"
	}
	took := ago(st.Duration) + live + "  "
	if st.Duration == 0 && !st.Live { // a fixture has no times
		took = ""
	}
	head := fmt.Sprintf("%s%s entries  pi %s (%s)", took, text.Count(st.Entries), st.Version, versionFrom(st.From))
	if st.Lost > 0 {
		head += "  " + p.Red(text.Size(st.Lost)+" not recorded")
	}
	if u := st.Usage; u.Input+u.Output > 0 {
		head += fmt.Sprintf("  tokens: %s in, %s cached, %s out", text.Count(u.Input), text.Count(u.CacheRead+u.CacheWrite), text.Count(u.Output))
		if u.Cost > 0 {
			head += fmt.Sprintf(", $%.4f", u.Cost)
		}
	}
	if _, err := fmt.Fprintln(w, head); err != nil {
		return err
	}
	for _, part := range []func(p text.Palette, width int) (string, *text.Table){st.kindTable, st.latencyTable, st.slowTable, st.runTable, st.toolTable, st.stallTable, st.sizeTable} {
		title, table := part(p, width)
		if table == nil {
			continue
		}
		if _, err := fmt.Fprintf(w, "\n%s\n", p.Bold(title)); err != nil {
			return err
		}
		if err := table.Flush(w); err != nil {
			return err
		}
	}
	return nil
}

// maxRows bounds a table.
const maxRows = 40

func newTable(p text.Palette, width int, columns ...text.Column) *text.Table {
	return &text.Table{Columns: columns, Width: width, Title: p.Dim}
}

// fill adds rows to a table, without the columns in which they say nothing.
func fill(t *text.Table, rows [][]string) {
	var columns []text.Column
	kept := make([][]string, len(rows))
	for i, c := range t.Columns {
		if !slices.ContainsFunc(rows, func(row []string) bool { return row[i] != "" && row[i] != "-" && row[i] != "0" }) {
			continue
		}
		columns = append(columns, c)
		for k, row := range rows {
			kept[k] = append(kept[k], row[i])
		}
	}
	t.Columns = columns
	for _, row := range kept {
		t.AddText(row...)
	}
}

func right(title string) text.Column { return text.Column{Title: title, Right: true} }

func (st *Stats) kindTable(p text.Palette, width int) (string, *text.Table) {
	if len(st.Kinds) == 0 {
		return "", nil
	}
	t := newTable(p, width, text.Column{Title: "from"}, right("records"), right("bytes"), right("largest"), text.Column{Title: "kind"})
	for i, k := range st.Kinds {
		if i == maxRows {
			t.AddText("", "", "", "", fmt.Sprintf("and %d more kinds", len(st.Kinds)-i))
			break
		}
		t.AddText(k.From, text.Count(k.Records), text.Size(k.Bytes), text.Size(k.Largest), k.Kind)
	}
	return "records by kind (bytes with line ends)", t
}

func (st *Stats) latencyTable(p text.Palette, width int) (string, *text.Table) {
	if len(st.Commands) == 0 {
		return "", nil
	}
	t := newTable(p, width, text.Column{Title: "command", Max: 30}, right("answered"), right("failed"), right("open"), right("p50"), right("p90"), right("p99"), right("max"), right("entry"))
	var rows [][]string
	for i, l := range st.Commands {
		switch {
		case i == maxRows:
			rows = append(rows, []string{fmt.Sprintf("and %d more", len(st.Commands)-i), "", "", "", "", "", "", "", ""})
		case i > maxRows:
		case l.Count == 0:
			rows = append(rows, []string{l.Command, "0", "", blankZero(l.Open), "-", "-", "-", "-", ""})
		default:
			rows = append(rows, []string{l.Command, text.Count(int64(l.Count)), blankZero(l.Failed), blankZero(l.Open), ago(l.P50), ago(l.P90), ago(l.P99), ago(l.Max), fmt.Sprintf("#%d", l.Slowest)})
		}
	}
	fill(t, rows)
	return "latency of responses", t
}

func (st *Stats) slowTable(p text.Palette, width int) (string, *text.Table) {
	if len(st.Slowest) < 2 {
		return "", nil
	}
	t := newTable(p, width, right("entry"), right("took"), text.Column{Title: "command"})
	for _, s := range st.Slowest[:min(5, len(st.Slowest))] {
		t.AddText(fmt.Sprintf("#%d", s.N), ago(s.Took), s.Command)
	}
	return "slowest commands", t
}

func (st *Stats) runTable(p text.Palette, width int) (string, *text.Table) {
	if len(st.Runs) == 0 {
		return "", nil
	}
	t := newTable(p, width, right("entry"), right("start"), right("took"), right("turns"), right("tools"), right("first delta"), right("tokens/s"), right("in"), right("out"), right("cost"), text.Column{Title: ""})
	skip := max(0, len(st.Runs)-maxRows)
	var rows [][]string
	for _, r := range st.Runs[skip:] {
		rows = append(rows, r.row())
	}
	fill(t, rows)
	if left := st.RunCount - min(len(st.Runs), maxRows); left > 0 {
		return fmt.Sprintf("the last %d of %s runs (first delta: since the prompt)", len(st.Runs)-skip, text.Count(int64(st.RunCount))), t
	}
	return "runs (first delta: since the prompt)", t
}

// row is the run's line in the table.
func (r *RunStats) row() []string {
	took, state := ago(r.Took), ""
	switch {
	case r.Broken != "":
		took, state = "-", r.Broken
	case r.Took == 0:
		took, state = "-", "not settled"
	case r.Aborted:
		state = "aborted"
	}
	if r.Retries > 0 {
		state += fmt.Sprintf(" %d retries", r.Retries)
	}
	first, rate, cost := "-", "-", "-"
	if r.FirstDelta > 0 {
		first = ago(r.FirstDelta)
	}
	if r.Rate > 0 {
		rate = fmt.Sprintf("%.0f", r.Rate)
	}
	if r.Usage.Cost > 0 {
		cost = fmt.Sprintf("$%.4f", r.Usage.Cost)
	}
	return []string{fmt.Sprintf("#%d", r.N), text.Since(r.Start), took, fmt.Sprint(r.Turns), blankZero(r.Tools), first, rate, text.Count(r.Usage.Input), text.Count(r.Usage.Output), cost, state}
}

func (st *Stats) toolTable(p text.Palette, width int) (string, *text.Table) {
	if len(st.Tools) == 0 {
		return "", nil
	}
	t := newTable(p, width, text.Column{Title: "tool", Max: 30}, right("calls"), right("failed"), right("open"), right("time"), right("longest"), right("slowest"))
	var rows [][]string
	for i, s := range st.Tools {
		slowest := ""
		if s.Slowest > 0 {
			slowest = fmt.Sprintf("#%d", s.Slowest)
		}
		if i == maxRows {
			rows = append(rows, []string{fmt.Sprintf("and %d more", len(st.Tools)-i), "", "", "", "", "", ""})
			break
		}
		rows = append(rows, []string{s.Name, fmt.Sprint(s.Calls), blankZero(s.Failed), blankZero(s.Open), ago(s.Took), ago(s.Max), slowest})
	}
	fill(t, rows)
	return "tools", t
}

func (st *Stats) stallTable(p text.Palette, width int) (string, *text.Table) {
	if len(st.Stalls) == 0 {
		return "", nil
	}
	t := newTable(p, width, right("since"), right("took"), text.Column{Title: "what the reader of did not take"})
	for i, s := range st.Stalls {
		if i == 20 {
			t.AddText("", "", fmt.Sprintf("and %d more", len(st.Stalls)-i))
			break
		}
		over := ""
		if !s.Over {
			over = " (to the end)"
		}
		t.AddText(text.Since(s.Since), ago(s.Took), s.Stream+over)
	}
	return "stalls", t
}

// sizeClasses are those that records are counted in for people: each of less bytes than that, the last of any.
var sizeClasses = []struct {
	title string
	bits  int
}{{"<256B", 8}, {"<1K", 10}, {"<4K", 12}, {"<16K", 14}, {"<64K", 16}, {"<1M", 20}, {"1M and more", 64}}

func (st *Stats) sizeTable(p text.Palette, width int) (string, *text.Table) {
	t := newTable(p, width, text.Column{Title: "from"})
	for _, c := range sizeClasses {
		t.Columns = append(t.Columns, right(c.title))
	}
	var rows [][]string
	for _, from := range []string{"client", "agent", "stderr"} {
		row, class := []string{from}, 0
		var n, all int64
		for bits, count := range st.Sizes[from] {
			for bits >= sizeClasses[class].bits {
				row, n = append(row, countOrBlank(n)), 0
				class++
			}
			n += count
			all += count
		}
		if all > 0 {
			row = append(row, countOrBlank(n))
			rows = append(rows, append(row, make([]string, len(sizeClasses)+1-len(row))...))
		}
	}
	if len(rows) == 0 {
		return "", nil
	}
	fill(t, rows)
	return "records by size", t
}

func countOrBlank(n int64) string {
	if n == 0 {
		return ""
	}
	return text.Count(n)
}

func blankZero(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}
