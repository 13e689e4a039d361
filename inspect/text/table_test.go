package text

import (
	"strings"
	"testing"
)

func TestTable(t *testing.T) {
	columns := []Column{{Title: "name", Max: 8}, {Title: "size", Right: true}, {Title: "what"}}
	rows := [][]string{
		{"plain", "12B", "some words that are longer than the line"},
		{"日本語の名前", "1.2K", "שלום"},
		{"👨‍👩‍👧‍👦", "3", ""},
		{"e\u0301\x1b[2J\u202e", "🇩🇪"},
		{"", "", "x", "beyond"},
	}
	for _, c := range []struct {
		width int
		want  string
	}{
		{0, `name     size  what
plain     12B  some words that are longer than the line
日本語…  1.2K  שלום
👨‍👩‍👧‍👦          3
é␛[2J…     🇩🇪
               x
`},
		{24, `name     size  what
plain     12B  some wor…
日本語…  1.2K  שלום
👨‍👩‍👧‍👦          3
é␛[2J…     🇩🇪
               x
`},
		{12, `name     si…
plain    12B
日本語…  1.…
👨‍👩‍👧‍👦         3
é␛[2J…    🇩🇪

`},
		{3, `na…
pl…
日…
👨‍👩‍👧‍👦
é␛…

`},
	} {
		table := Table{Columns: columns, Width: c.width}
		for _, r := range rows {
			table.AddText(r...)
		}
		var b strings.Builder
		if err := table.Flush(&b); err != nil {
			t.Fatal(err)
		}
		got := b.String()
		if want := strings.ReplaceAll(c.want, "é", "e\u0301"); got != want {
			t.Errorf("width %d:\n%s\nwant\n%s", c.width, got, want)
		}
		for line := range strings.Lines(got) {
			if w := Width(strings.TrimSuffix(line, "\n")); c.width > 0 && w > c.width {
				t.Errorf("width %d: a line of %d: %q", c.width, w, line)
			}
		}
	}
}

// Rows that come after the first flush stand under the earlier ones, whatever is in them.
func TestTableGrows(t *testing.T) {
	p := Palette{Enabled: true}
	table := Table{Columns: []Column{{Min: 4}, {Right: true}, {}}}
	var b strings.Builder
	for _, row := range [][]Cell{
		{{Text: "a"}, {Text: "123", Style: p.Red}, {Text: "x"}},
		{{Text: "longer"}, {Text: "1", Style: p.Red}, {Text: "日本\n", Style: p.Bold}},
		{{Text: "b", Style: p.Dim}, {Text: "12345"}, {}},
	} {
		table.Add(row...)
		if err := table.Flush(&b); err != nil {
			t.Fatal(err)
		}
	}
	want := "a     \x1b[31m123\x1b[39m  x\nlon…    \x1b[31m1\x1b[39m  \x1b[1m日本␊\x1b[22m\n\x1b[2mb\x1b[22m     12…\n"
	if got := b.String(); got != want {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
}

func TestTableTitles(t *testing.T) {
	table := Table{Columns: []Column{{Title: "a\x1b"}, {Title: "b", Right: true, Min: 3}}, Title: Palette{Enabled: true}.Bold}
	var b strings.Builder
	for range 2 { // once is enough
		if err := table.Flush(&b); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := b.String(), "\x1b[1ma␛\x1b[22m    \x1b[1mb\x1b[22m\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if err := (&Table{}).Flush(&b); err != nil {
		t.Error(err)
	}
}

func TestTableLongCells(t *testing.T) {
	table := Table{Columns: []Column{{}, {}}}
	table.AddText(strings.Repeat("x", 1<<20), strings.Repeat("y", 1<<20))
	table.AddText("a", "b")
	var b strings.Builder
	if err := table.Flush(&b); err != nil {
		t.Fatal(err)
	}
	want := strings.Repeat("x", 79) + "…  " + strings.Repeat("y", 1<<20) + "\na" + strings.Repeat(" ", 81) + "b\n"
	if got := b.String(); got != want {
		t.Errorf("%d bytes, want %d", len(got), len(want))
	}
}
