package inspect

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pitap/inspect/text"
	"pitap/record"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares what was got with a file in testdata.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("differs from %s (go test -update writes it):\n%s", path, firstDifference(got, want))
	}
}

func firstDifference(got, want []byte) string {
	g, w := strings.SplitAfter(string(got), "\n"), strings.SplitAfter(string(want), "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return "got  " + g[i] + "want " + w[i]
		}
	}
	return "one is longer"
}

// source gives a capture that is in memory to a reader.
func source(content []byte) *record.Reader {
	return record.NewReader(bytes.NewReader(content), func() (int64, error) { return int64(len(content)), nil })
}

// show gives what Show writes for a capture.
func show(t testing.TB, content []byte, opt ShowOptions) string {
	t.Helper()
	var b bytes.Buffer
	s := NewShow(&b, opt)
	r := source(content)
	for r.Next() {
		if err := s.Entry(r.Entry()); errors.Is(err, ErrDone) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Pending(), s.Flush()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func session(t testing.TB) []byte {
	t.Helper()
	content, err := os.ReadFile("testdata/session.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func TestShowGolden(t *testing.T) {
	tests := []struct {
		name string
		opt  ShowOptions
	}{
		{"pipe.txt", ShowOptions{}},
		{"terminal80.txt", ShowOptions{Terminal: true, Width: 80}},
		{"terminal120-colour.txt", ShowOptions{Terminal: true, Width: 120, Palette: text.Palette{Enabled: true}}},
		{"pretty.txt", ShowOptions{Pretty: true, Filter: Filter{Kinds: []Pattern{NewPattern("prompt"), NewPattern("not-json"), NewPattern("exit")}}}},
		{"json-terminal.txt", ShowOptions{Form: JSON, Terminal: true, Filter: Filter{Kinds: []Pattern{NewPattern("text_delta"), NewPattern("ui:select")}}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			golden(t, test.name, []byte(show(t, session(t), test.opt)))
		})
	}
}

// numbers gives the numbers of the rows that are shown with a filter.
func numbers(t testing.TB, content []byte, f Filter) string {
	t.Helper()
	var ns []string
	for line := range strings.Lines(show(t, content, ShowOptions{Filter: f})) {
		ns = append(ns, strings.Fields(line)[0])
	}
	return strings.Join(ns, " ")
}

func place(t testing.TB, s string) *Place {
	t.Helper()
	p, err := ParsePlace(s)
	if err != nil {
		t.Fatal(err)
	}
	return &p
}

func TestFilter(t *testing.T) {
	patterns := func(list ...string) (p []Pattern) {
		for _, s := range list {
			p = append(p, NewPattern(s))
		}
		return p
	}
	tests := []struct {
		name string
		f    Filter
		want string
	}{
		{"records and notes of a stream", Filter{From: []string{"client"}, Since: place(t, "#30")}, "30 31 32 33 34 50 55"},
		{"stderr", Filter{From: []string{"stderr"}}, "39"},
		{"notes", Filter{From: []string{FromNote}}, "40 43 45 47 48 49 50 51 52 53 54"},
		{"a prefix of a kind", Filter{Kinds: patterns("tool_exec")}, "15 16 20"},
		{"a short kind", Filter{Kinds: patterns("text_delta", "ui:select")}, "11 17"},
		{"a long kind", Filter{Kinds: patterns("extension_ui")}, "17 18 19"},
		{"a pattern matches all of it", Filter{Kinds: patterns("response:*t")}, "4"},
		{"one of two kinds", Filter{Kinds: patterns("prompt", "blank")}, "3 32 55"},
		{"a note's kind", Filter{Kinds: patterns("exit")}, "54"},
		{"an id, also of what answers", Filter{IDs: patterns("req-1")}, "1 2"},
		{"a number is no string", Filter{IDs: patterns("2")}, "3 4"},
		{"a tool call's id", Filter{IDs: patterns("call_1")}, "15 16 20"},
		{"the beginning of an id", Filter{IDs: patterns("9733*")}, "17 18"},
		{"the bytes", Filter{Grep: regexp.MustCompile(`"isError":\s*true`)}, "20 21"},
		{"the bytes of a record in parts", Filter{Grep: regexp.MustCompile(`mess`), Since: place(t, "#40")}, "44 55"},
		{"times", Filter{Since: place(t, "2.2539s"), Until: place(t, "2.354s")}, "18 19 20 21"},
		{"a time as the column has it", Filter{Since: place(t, "2.353900"), Until: place(t, "0:02.354")}, "20 21"},
		{"numbers", Filter{Since: place(t, "#40"), Until: place(t, "#43")}, "40 42 43"},
		{"framing, recorded or not", Filter{Flagged: true}, "27 30 31 32 33 36 37"},
		{"both of two", Filter{From: []string{"agent"}, Kinds: patterns("response"), Grep: regexp.MustCompile("false")}, "2 29 35"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := numbers(t, session(t), test.f); got != test.want {
				t.Errorf("shows %s, want %s", got, test.want)
			}
		})
	}
}

func TestParsePlace(t *testing.T) {
	for s, want := range map[string]Place{
		"1.5s": {T: 15e8}, "2m": {T: 120e9}, "1h2m": {T: 3720e9}, "12.345678": {T: 12345678000}, "3": {T: 3e9}, "1:02:03.5": {T: 37235e8},
		"0": {}, "#1": {N: 1}, "#120": {N: 120},
	} {
		if got, err := ParsePlace(s); err != nil || got != want {
			t.Errorf("ParsePlace(%q) = %+v, %v; want %+v", s, got, err, want)
		}
	}
	for _, s := range []string{"", "#", "#0", "#-1", "#x", "x", "-1s", "1:2:3:4", "1:60", "NaN", "Inf", "1e300"} {
		if got, err := ParsePlace(s); err == nil {
			t.Errorf("ParsePlace(%q) = %+v, want an error", s, got)
		}
	}
}

// TestUntilStops sees that nothing is read behind what is asked for.
func TestUntilStops(t *testing.T) {
	content := session(t)
	s := NewShow(new(bytes.Buffer), ShowOptions{Filter: Filter{Until: place(t, "#3")}})
	r := source(content)
	for r.Next() {
		if err := s.Entry(r.Entry()); errors.Is(err, ErrDone) {
			if n := r.Entry().N; n != 4 {
				t.Errorf("done at entry %d, want 4", n)
			}
			return
		}
	}
	t.Error("read to the end")
}

// unsafe finds what must not reach a terminal.
var unsafe = regexp.MustCompile("[\\x00-\\x08\\x0b-\\x1a\\x1c-\\x1f\\x7f\u0080-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]|\\x1b[^\\[]|\\x1b\\[[^m]*[A-Za-ln-z]")

const hostile = `\u001b]0;owned\u0007\u009b31m\u202e\u2028\r\u0000` + "\u009b31m\u202e\u2028\u2066\u200b\u007f"

func TestNothingActsOnTheTerminal(t *testing.T) {
	content := []byte(strings.Join([]string{
		`{"pitap":1}`,
		`{"from":"client","msg":{"id":"` + hostile + `","type":"prompt` + hostile + `","message":"` + hostile + `","` + hostile + `":1}}`,
		`{"from":"client","msg":{"id":["` + hostile + `"],"type":"bash","command":"` + hostile + `"}}`,
		`{"from":"agent","msg":{"type":"response","command":"` + hostile + `","success":"` + hostile + `","error":"` + hostile + `"}}`,
		`{"from":"agent","msg":{"type":"message_update","assistantMessageEvent":{"type":"` + hostile + `","delta":"` + hostile + `"}}}`,
		`{"from":"agent","msg":{"type":"message_end","message":{"role":"` + hostile + `","content":[{"type":"` + hostile + `"},{"type":"text","text":"` + hostile + `"}]}}}`,
		`{"from":"agent","msg":{"type":"tool_execution_start","toolCallId":"` + hostile + `","toolName":"` + hostile + `","args":"` + hostile + `"}}`,
		`{"from":"agent","msg":{"type":"extension_ui_request","method":"` + hostile + `","title":"` + hostile + `","options":["` + hostile + `"]}}`,
		`{"from":"agent","text":"` + hostile + `"}`,
		`{"from":"agent","base64":"G10wO/+bMW0="}`,
		`{"from":"stderr","text":"` + hostile + `"}`,
		`{"note":"exit","error":"` + hostile + `"}`,
		`{"note":"` + hostile + `","x":"` + hostile + `"}`,
		`{"note":"signal","signal":"` + hostile + `"}`,
		`{"from":"agent","part":true,"text":"` + hostile + `"}`,
	}, "\n") + "\n")
	query, err := ParseQuery(".")
	if err != nil {
		t.Fatal(err)
	}
	opts := []ShowOptions{
		{}, {Terminal: true, Width: 80}, {Terminal: true, Width: 200, Palette: text.Palette{Enabled: true}, Pretty: true},
		{Terminal: true, Form: JSON}, {Terminal: true, Form: JSON, Pretty: true}, {Terminal: true, Form: Results, Query: query},
		{Terminal: true, Form: Results, Query: query, Strings: true},
	}
	for i, opt := range opts {
		got := show(t, content, opt)
		if bad := unsafe.FindString(got); bad != "" || len(got) == 0 {
			t.Errorf("options %d: %q is in\n%q", i, bad, got)
		}
		if !opt.Palette.Enabled && strings.Contains(got, "\x1b") {
			t.Errorf("options %d: an escape sequence without colours is in\n%q", i, got)
		}
	}
}

func TestTerminalWidth(t *testing.T) {
	for _, width := range []int{1, 20, 40, 80, 100, 160, 300} {
		got := show(t, session(t), ShowOptions{Terminal: true, Width: width})
		for line := range strings.Lines(got) {
			if w := text.Width(strings.TrimSuffix(line, "\n")); w > max(width, 70) {
				t.Errorf("width %d: a line of %d cells: %s", width, w, line)
			}
		}
	}
}

// On a narrow terminal no line of show is wider than it, and none loses its kind. A gap is never negative: some notes
// stand behind what came after them.
func TestShowNarrow(t *testing.T) {
	text := `{"pitap":1}
{"n":1,"t":1000000000,"from":"client","off":0,"msg":{"id":"a-rather-long-identifier-of-mine","type":"prompt","message":"say something long and longer"}}
{"n":2,"t":3000000000,"note":"lag","by":500000000}
{"n":3,"t":2000000000,"from":"agent","off":0,"msg":{"type":"message_update","assistantMessageEvent":{"type":"text_delta","contentIndex":0,"delta":"Hello and more of it"}}}
{"n":4,"t":3500000000,"from":"agent","off":200,"msg":{"type":"agent_start"}}
`
	for _, width := range []int{20, 40, 59, 80, 120} {
		r := record.NewReader(strings.NewReader(text), func() (int64, error) { return int64(len(text)), nil })
		var out bytes.Buffer
		s := NewShow(&out, ShowOptions{Terminal: true, Width: width})
		for r.Next() {
			if err := s.Entry(r.Entry()); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Flush(); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(out.String()) {
			if w := len([]rune(strings.TrimSuffix(line, "\n"))); w > width {
				t.Errorf("%d cells: a line of %d: %q", width, w, line)
			}
		}
		if width >= 40 && (!strings.Contains(out.String(), "text_delta") || !strings.Contains(out.String(), "Hel")) {
			t.Errorf("%d cells:\n%s", width, out.String())
		}
		if strings.Contains(out.String(), "-1.00s") || width >= 100 && !strings.Contains(out.String(), "+500ms") {
			t.Errorf("%d cells, gaps:\n%s", width, out.String())
		}
	}
}
