package view

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pitap/record"
)

// TestLagInABlock writes notes of lag between deltas, out of the order of times as a recorder does: the deltas are one
// row, and no gap is negative.
func TestLagInABlock(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"pitap":1,"argv":["pi"]}` + "\n")
	n := 0
	add := func(at int, rest string) {
		n++
		fmt.Fprintf(&b, `{"n":%d,"t":%d,%s}`+"\n", n, at, rest)
	}
	delta := func(at int) {
		add(at, fmt.Sprintf(`"from":"agent","off":%d,"msg":{"type":"message_update","assistantMessageEvent":{"type":"text_delta","contentIndex":0,"delta":"w%d "}}`, n*200, n))
	}
	add(1_000_000, `"from":"agent","off":0,"msg":{"type":"agent_start"}`)
	delta(2_000_000)
	add(9_000_000, `"note":"lag","by":150000000`)
	delta(3_000_000)
	delta(4_000_000)
	add(9_500_000, `"note":"lag","by":350000000`)
	add(5_000_000, `"from":"agent","off":9000,"msg":{"type":"agent_end","messages":[]}`)
	path := filepath.Join(t.TempDir(), "lag.jsonl")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	s := opened(t, path)
	var kinds []string
	for _, at := range rows(t, s) {
		r := s.Row(at)
		kinds = append(kinds, fmt.Sprintf("%s*%d", r.Kind, r.Count))
		if r.Gap < 0 || r.Kind == "agent_end" && r.Gap != 1_000_000 {
			t.Errorf("entry %d has a gap of %d", r.N, r.Gap)
		}
		if r.Count == 3 && !strings.HasPrefix(r.Text, "w1 w3 w4") {
			t.Errorf("the block says %q", r.Text)
		}
	}
	if got, want := strings.Join(kinds, " "), "agent_start*1 text*3 lag*1 agent_end*1"; got != want {
		t.Errorf("the rows are %s, want %s", got, want)
	}
	s.Fold()
	if got := len(rows(t, s)); got != n {
		t.Errorf("%d rows of %d entries when nothing is folded", got, n)
	}
}

// TestScanIsTheLoaders looks at a frame as it is looked at before the loader has come to it, where lines that are like the
// one before them are not parsed: the blocks must be those that the loader finds.
func TestScanIsTheLoaders(t *testing.T) {
	delta := func(kind string, index int, text string) string {
		return fmt.Sprintf(`{"type":"message_update","usage":{"input":%d},"assistantMessageEvent":{"type":"%s","contentIndex":%d,"delta":%q}}`, len(text), kind, index, text)
	}
	bodies := []string{`{"type":"agent_start"}`}
	for i := range 300 {
		bodies = append(bodies, delta("text_delta", 0, fmt.Sprint("a", i)), delta("text_delta", 0, "b"))
		switch i % 7 {
		case 0:
			bodies = append(bodies, delta("text_delta", 1, "another content"), delta("text_delta", 1, "x"), delta("text_delta", 11, "y"))
		case 1:
			bodies = append(bodies, delta("thinking_delta", 0, "hm"), delta("thinking_delta", 0, "hm"))
		case 2:
			bodies = append(bodies, delta("text_end", 0, ""), delta("text_start", 0, ""), delta("text_delta", 0, "new"))
		case 3:
			bodies = append(bodies, `{"type":"x","text":`+fmt.Sprintf("%q", delta("text_delta", 0, "quoted"))+`}`)
		case 4:
			bodies = append(bodies, `{"type":"message_update","assistantMessageEvent":{"type":"done","contentIndex":0,"delta":"no delta"}}`)
		case 5:
			bodies = append(bodies, `{"type":"tool_execution_update","toolCallId":"c","partialResult":{}}`, `{"type":"tool_execution_update","toolCallId":"c","partialResult":{}}`)
		}
	}
	var entries []*record.Entry
	for i, b := range bodies {
		entries = append(entries, &record.Entry{From: record.Agent, Form: record.Msg, Body: []byte(b), EOL: "\n"})
		if i%11 == 0 {
			entries = append(entries, &record.Entry{Note: &record.Note{Kind: "lag", By: 2e8}})
		}
		if i%13 == 0 {
			entries = append(entries, &record.Entry{From: record.Client, Form: record.Msg, Body: []byte(`{"type":"abort"}`), EOL: "\n"})
		}
	}
	s := opened(t, written(t, entries...))
	if len(s.frames) != 1 {
		t.Fatalf("%d frames", len(s.frames))
	}
	f := s.frames[0]
	var want, got []bool
	for i := range f.count {
		want = append(want, f.cont.has(i), f.aside.has(i))
	}
	c, err := s.content(f)
	if err != nil {
		t.Fatal(err)
	}
	f.cont, f.aside = nil, nil
	s.scanFrame(f, c)
	for i := range f.count {
		got = append(got, f.cont.has(i), f.aside.has(i))
	}
	if !slices.Equal(got, want) {
		for i := range f.count {
			if got[2*i] != want[2*i] || got[2*i+1] != want[2*i+1] {
				t.Fatalf("of entry %d it says %v, the loader %v: %.200s", i, got[2*i:2*i+2], want[2*i:2*i+2], c.line(i))
			}
		}
	}
	if n := count(f.count, f.cont.word); n < 500 {
		t.Errorf("only %d entries go on with a block", n)
	}
}
