package inspect

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	"pitap/inspect/text"
	"pitap/record"
)

// part is an entry that holds a piece of a record.
func part(n, off int64, s, more string) string {
	return fmt.Sprintf(`{"n":%d,"t":%d,"from":"agent","off":%d,"part":true%s,"text":%s}`, n, n*1000, off, more, quoteJSON(s))
}

func whole(n, off int64, s, more string) string {
	return fmt.Sprintf(`{"n":%d,"t":%d,"from":"agent","off":%d%s,"text":%s}`, n, n*1000, off, more, quoteJSON(s))
}

func quoteJSON(s string) string { return `"` + strings.ReplaceAll(s, `"`, `\"`) + `"` }

func capture(lines ...string) []byte {
	return []byte(`{"pitap":1}` + "\n" + strings.Join(lines, "\n") + "\n")
}

func TestFold(t *testing.T) {
	const last = `,"last":true`
	tests := []struct {
		name  string
		lines []string
		want  string // for each row: entries:bytes and what is special
	}{
		{"whole records", []string{whole(1, 0, "a", ""), whole(2, 2, "b", "")}, "1-1:a 2-2:b"},
		{"superseded parts", []string{part(1, 0, "ab", ""), part(2, 2, "c", ""), whole(3, 0, "abcd", `,"supersedes":[1,2]`)}, "3-3:abcd"},
		{"a record in parts", []string{part(1, 0, "ab", ""), part(2, 2, "cd", last)}, "1-2:abcd(4)"},
		{"other streams in between", []string{part(1, 0, "ab", ""), `{"n":2,"from":"client","text":"x"}`, `{"n":3,"note":"signal"}`, part(4, 2, "c", last)}, "2-2:x 3-3:signal 1-4:abc(3)"},
		{"no end", []string{part(1, 0, "ab", ""), part(2, 2, "c", "")}, "1-2:abc(3),open"},
		{"a gap in the middle", []string{part(1, 0, "ab", ""), `{"n":2,"note":"gap","lost":{"agent":10}}`, part(3, 12, "yz", last)}, "1-1:ab(2),broken 2-2:gap 3-3:yz(2),missing10"},
		{"a gap elsewhere", []string{part(1, 0, "ab", ""), `{"n":2,"note":"gap","lost":{"client":10}}`, part(3, 2, "c", last)}, "2-2:gap 1-3:abc(3)"},
		{"a damaged frame took the end", []string{part(1, 0, "ab", ""), whole(5, 9, "x", "")}, "1-1:ab(2),broken 5-5:x,missing7"},
		{"a damaged frame took the beginning", []string{part(4, 9, "x", ""), whole(5, 2, "abcdefghx", `,"supersedes":[2,3,4]`)}, "5-5:abcdefghx"},
		{"parts without offsets", []string{part(1, 0, "ab", ""), part(2, 0, "c", last), whole(3, 0, "d", "")}, "1-2:abc(3) 3-3:d"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			emit := func(r *Row) error {
				s := fmt.Sprintf("%d-%d:%s", r.First, r.N, r.Body)
				if r.Note != nil {
					s = fmt.Sprintf("%d-%d:%s", r.First, r.N, r.Note.Kind)
				}
				if r.Parts() {
					s += fmt.Sprintf("(%d)", r.Size)
				}
				if r.Open {
					s += ",open"
				}
				if r.Broken {
					s += ",broken"
				}
				if r.Missing > 0 {
					s += fmt.Sprintf(",missing%d", r.Missing)
				}
				got = append(got, s)
				return nil
			}
			var f Fold
			r := source(capture(test.lines...))
			for r.Next() {
				f.Add(r.Entry(), emit)
			}
			f.Rest(emit)
			if s := strings.Join(got, " "); s != test.want {
				t.Errorf("rows %s\nwant %s", s, test.want)
			}
		})
	}
}

// TestFoldIsBounded folds a record of many parts, of which only the beginning may be kept.
func TestFoldIsBounded(t *testing.T) {
	body := []byte(strings.Repeat("x", 1<<20))
	f := Fold{Keep: 100}
	var row Row
	for i := range int64(64) {
		f.Add(&record.Entry{N: i + 1, From: record.Agent, Off: i << 20, Form: record.Text, Body: body, Part: true, Last: i == 63},
			func(r *Row) error { row = *r; return nil })
	}
	if row.Size != 64<<20 || len(row.Body) != 100 || row.First != 1 || row.N != 64 {
		t.Errorf("row %d-%d of %d bytes, %d kept; want 1-64 of %d, 100 kept", row.First, row.N, row.Size, len(row.Body), 64<<20)
	}
	if c := cap(f.open[record.Agent].head); c > 1<<10 {
		t.Errorf("keeps %d bytes", c)
	}
}

// TestJSONParts sees which lines --json writes: superseded parts never, those of a long record as they come.
func TestJSONParts(t *testing.T) {
	big := strings.Repeat("x", 1<<20)
	long := []string{part(1, 0, "find me", "")}
	for i := range int64(20) {
		long = append(long, part(i+2, 7+i<<20, big, ""))
	}
	long = append(long, part(22, 7+20<<20, "end", `,"last":true`))
	tests := []struct {
		name  string
		grep  string
		lines []string
		want  int
	}{
		{"superseded", "", []string{part(1, 0, "ab", ""), whole(2, 0, "abc", `,"supersedes":[1]`)}, 1},
		{"in parts", "", []string{part(1, 0, "ab", ""), part(2, 2, "c", `,"last":true`)}, 2},
		{"in parts, matched in the second", "c", []string{part(1, 0, "ab", ""), part(2, 2, "c", `,"last":true`)}, 2},
		{"matched across two parts", "bc", []string{part(1, 0, "ab", ""), part(2, 2, "c", `,"last":true`)}, 2},
		{"not matched", "z", []string{part(1, 0, "ab", ""), part(2, 2, "c", `,"last":true`), whole(3, 4, "z", "")}, 1},
		{"given up for another", "ab", []string{part(1, 0, "ab", ""), part(5, 9, "yz", `,"last":true`)}, 1},
		{"given up for one that matches", "yz", []string{part(1, 0, "ab", ""), part(5, 9, "yz", `,"last":true`)}, 1},
		{"half a record", "", []string{part(1, 0, "ab", "")}, 1},
		{"a long record", "find me", long, 22},
		{"not a long record", "zzz", long, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			opt := ShowOptions{Form: JSON}
			if test.grep != "" {
				opt.Filter.Grep = regexp.MustCompile(test.grep)
			}
			if got := strings.Count(show(t, capture(test.lines...), opt), "\n"); got != test.want {
				t.Errorf("%d lines, want %d", got, test.want)
			}
		})
	}
}

// TestJSONIsVerbatim sees that all lines come out as they stand in the capture.
func TestJSONIsVerbatim(t *testing.T) {
	content := string(session(t))
	got := show(t, []byte(content), ShowOptions{Form: JSON})
	var want strings.Builder
	for line := range strings.Lines(content) {
		if !strings.Contains(line, `"pitap":1`) && !strings.Contains(line, `"n":41,`) { // the header, and a superseded part
			want.WriteString(line)
		}
	}
	if got != want.String() {
		t.Error(firstDifference([]byte(got), []byte(want.String())))
	}
}

func TestPendingIsShownOncePerLength(t *testing.T) {
	var b strings.Builder
	s := NewShow(&b, ShowOptions{})
	add := func(line string) {
		e, err := record.ParseEntry([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Entry(e); err != nil {
			t.Fatal(err)
		}
	}
	lines := func() int {
		s.Flush()
		n := strings.Count(b.String(), "\n")
		b.Reset()
		return n
	}
	for i, step := range []struct {
		do   func()
		want int
	}{
		{func() { add(part(1, 0, `{"type":`, "")) }, 0},
		{func() { s.Pending(); s.Pending() }, 1},
		{func() { add(part(2, 8, `"a`, "")); s.Pending() }, 1},
		{func() { s.Pending() }, 0},
		{func() { add(whole(3, 0, `{"type":"a"}`, `,"supersedes":[1,2]`)) }, 1},
		{func() { s.Pending() }, 0},
	} {
		step.do()
		if got := lines(); got != step.want {
			t.Errorf("step %d wrote %d lines, want %d", i, got, step.want)
		}
	}
}

func TestLineText(t *testing.T) {
	tests := []struct {
		token string
		max   int
		want  string
	}{
		{`"plain"`, 100, "plain"},
		{`"plain"`, 5, "plain"},
		{`"plainer"`, 5, "plain…"},
		{`"a\nb\"c\\"`, 100, "a\nb\"c\\"},
		{`"a\nb"`, 2, "a\n…"},
		{`"名前"`, 4, "名…"},
		{`"\ud83d\ude00!"`, 100, "😀!"},
		{`"ab\ud83d\ude00"`, 3, "ab😀"}, // an escape is not cut
		{`"\ud83d"`, 100, "\ufffd"},
		{`17`, 100, "17"},
		{`{"a": [1, 2]}`, 100, `{"a":[1,2]}`},
	}
	for _, test := range tests {
		l := &line{limit: 1000}
		l.text([]byte(test.token), test.max)
		if got := string(l.done()); got != test.want {
			t.Errorf("text(%s, %d) = %q, want %q", test.token, test.max, got, test.want)
		}
	}
}

func TestIDs(t *testing.T) {
	for token, want := range map[string]string{
		`"req-1"`: "req-1", `1`: "1", `"1"`: `"1"`, `null`: "null", `"null"`: `"null"`, `"two words"`: `"two words"`, `""`: `""`,
		`"12345678-abcd"`: "12345678-abcd", `{"a":1}`: `{"a":1}`, `1.50e2`: "1.50e2", `"1.50e2"`: `"1.50e2"`,
	} {
		if got := idText([]byte(token)); got != want {
			t.Errorf("idText(%s) = %s, want %s", token, got, want)
		}
	}
}

// FuzzShow shows anything that a capture may hold: it must end, keep to its limits and be safe for a terminal.
func FuzzShow(f *testing.F) {
	for line := range strings.Lines(string(session(f))) {
		f.Add([]byte(line))
	}
	f.Add([]byte(`{"from":"agent","msg":{"type":"message_end","message":{"role":"assistant","content":[[[]]]}}}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		content := append([]byte("{\"pitap\":1}\n"), line...)
		for _, opt := range []ShowOptions{{Terminal: true, Width: 100}, {Pretty: true}, {Form: JSON, Terminal: true}} {
			got := show(t, content, opt)
			if bad := unsafe.FindString(got); bad != "" {
				t.Fatalf("%q in %q", bad, got)
			}
			if opt.Width == 0 {
				continue
			}
			for l := range strings.Lines(got) {
				if w := text.Width(strings.TrimSuffix(l, "\n")); w > 100 {
					t.Fatalf("a line of %d cells: %q", w, l)
				}
			}
		}
	})
}

// FuzzSummary gives any record to the summaries.
func FuzzSummary(f *testing.F) {
	for line := range strings.Lines(string(session(f))) {
		if e, err := record.ParseEntry([]byte(line)); err == nil {
			f.Add(e.Body, e.From == record.Client)
		}
	}
	f.Fuzz(func(t *testing.T, body []byte, client bool) {
		from := record.Agent
		if client {
			from = record.Client
		}
		var s Summarizer
		for _, limit := range []int{0, 1, 50, 4096} {
			r := &Row{N: 1, From: from, Form: record.Text, Body: body, Size: int64(len(body)), EOL: "\n", Line: []byte{}}
			out, _ := s.Summary(r, s.Look(r), limit)
			if len(out) > limit+300 {
				t.Fatalf("%d bytes, limit %d", len(out), limit)
			}
		}
	})
}

// BenchmarkShow shows a session of 10 MB, in memory and not compressed.
func BenchmarkShow(b *testing.B) {
	header, rest, _ := bytes.Cut(session(b), []byte("\n"))
	content := append(header, '\n')
	for n := regexp.MustCompile(`"n":\d+,`); len(content) < 10<<20; {
		content = append(content, n.ReplaceAll(rest, nil)...)
	}
	for name, opt := range map[string]ShowOptions{"pipe": {}, "terminal": {Terminal: true, Width: 120}, "json": {Form: JSON}, "grep": {Filter: Filter{Grep: regexp.MustCompile("nothing has it")}}} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(content)))
			for b.Loop() {
				s := NewShow(io.Discard, opt)
				for r := source(content); r.Next(); {
					s.Entry(r.Entry())
				}
				s.Flush()
			}
		})
	}
}
