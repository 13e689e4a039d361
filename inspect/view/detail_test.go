package view

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pitap/inspect/text"
	"pitap/record"
)

// written makes a plain capture of entries.
func written(t *testing.T, entries ...*record.Entry) string {
	t.Helper()
	h := record.Header{Pitap: 1, Argv: []string{"pi"}}
	b := h.Encode()
	for i, e := range entries {
		if e.N == 0 {
			e.N = int64(i + 1)
		}
		b = record.AppendEntry(b, e)
	}
	path := filepath.Join(t.TempDir(), "w.jsonl")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func all(lines []Line) string { return strings.Join(texts(lines), "\n") }

func TestRaw(t *testing.T) {
	body := []byte("{\"type\":\"a\",\t\"x\":\"\u2028é\"}")
	s := opened(t, written(t, &record.Entry{T: 5e6, From: record.Agent, Form: record.Msg, Body: body, EOL: "\r\n",
		Cuts: []record.Cut{{At: 3, T: 1e6}, {At: 16, T: 2e6}}}))
	d := s.Detail(0)
	var lines []Line
	for i := range d.RawRows(16) {
		lines = append(lines, d.RawLine(i, 16))
	}
	for _, want := range []string{
		`00000000  7b 22 74╎79 70 65 22 3a  22 61 22 2c 09 22 78 22  {"t╎ype":"a",␉"x"`,
		`00000010 ╎3a 22 e2 80 a8 c3 a9 22  7d 0d 0a                 ╎:"·····"}␍␊`,
	} {
		if !strings.Contains(all(lines), want) {
			t.Errorf("want the line\n%s\nin\n%s", want, all(lines))
		}
	}
	meta := all(d.Meta(80))
	for _, want := range []string{"line end CR LF", "byte 3, read by 0.001000 (4.00ms before its end)", "reads     3, cut at:"} {
		if !strings.Contains(meta, want) {
			t.Errorf("%q is not in\n%s", want, meta)
		}
	}
	for _, l := range append(lines, d.Meta(80)...) {
		if said := l.Text(); text.VisibleString(said) != said {
			t.Errorf("%q is not visible text", said)
		}
	}
}

// TestBigParts looks at a record of 20 MiB that stands in parts: all views must come at once, and all bytes be there.
func TestBigParts(t *testing.T) {
	const size = 20 << 20
	body := []byte(`{"type":"big","text":"`)
	for len(body) < size-2 {
		body = append(body, "0123456789abcdef\\n"...)
	}
	body = append(body[:size-2], `"}`...)
	var entries []*record.Entry
	const part = 1<<20 - 5
	for off := 0; off < size; off += part {
		end := min(off+part, size)
		entries = append(entries, &record.Entry{From: record.Agent, Form: record.Text, Off: int64(100 + off), Body: body[off:end], EOL: "\n", Part: true, Last: end == size})
		if off%3 == 0 && end < size {
			entries = append(entries, &record.Entry{From: record.Stderr, Form: record.Text, Body: []byte("busy"), EOL: "\n"})
		}
	}
	entries = append(entries, &record.Entry{From: record.Client, Form: record.Msg, Body: []byte(`{"type":"abort"}`), EOL: "\n"})
	s := opened(t, written(t, entries...))
	list := rows(t, s)
	big := int64(-1)
	for _, pos := range list {
		if s.Row(pos).Kind == "big" {
			big = pos
		}
	}
	if big < 0 || len(list) > 20 {
		t.Fatalf("%d rows, and the record is at %d", len(list), big)
	}
	if r := s.Row(big); r.Size != size || r.Kind != "big" {
		t.Errorf("the row is %+v", r)
	}
	d := s.Detail(big)
	if d.Size != size || len(d.Body) != maxBody {
		t.Errorf("size %d, %d bytes held", d.Size, len(d.Body))
	}
	for off := int64(0); off < size; off += 9 * part {
		for _, at := range []int64{off, off + part - 8, off + part/2, off - 3} {
			at = min(max(at, 0), size-16)
			if got := d.Bytes(at, 16); !bytes.Equal(got, body[at:at+16]) {
				t.Fatalf("at %d the bytes are %q, want %q", at, got, body[at:at+16])
			}
		}
		if line := d.RawLine(int(off/16), 16).Text(); strings.Contains(line, "␊") || len([]rune(line)) < 70 {
			t.Fatalf("the line around byte %d is %q", off, line)
		}
	}
	if got := d.Bytes(size-4, 16); !bytes.Equal(got, body[size-4:]) {
		t.Errorf("the last bytes are %q", got)
	}
	if l := d.RawLine(d.RawRows(16)-1, 16).Text(); !strings.Contains(l, `"}␊`) && !strings.Contains(l, "␊") {
		t.Errorf("the last line is %q", l)
	}
	if d.Tree == nil || len(d.Tree.Lines(80)) < 3 || len(d.Pretty(80)) < 2 {
		t.Error("tree or pretty show nothing")
	}
	var said []string
	for _, l := range d.Tree.Lines(80) {
		said = append(said, l.Text())
	}
	if all := strings.Join(said, "\n"); !strings.Contains(all, "text: \"0123") || !strings.Contains(all, "… and 4,194,304 more bytes") {
		t.Errorf("the tree of a record that is not all there:\n%s", all)
	}
	for _, l := range d.Tree.Lines(80) {
		if l.Path == ".text" {
			d.Tree.Turn(l.Node)
		}
	}
	said = nil
	for _, l := range d.Tree.Lines(80) {
		said = append(said, l.Text())
	}
	if all := strings.Join(said, "\n"); !strings.Contains(all, "string, 16.0M of it, and more, which the raw view shows") || !strings.Contains(all, "│ 0123456789abcdef") {
		t.Errorf("the tree with the string unfolded:\n%.3000s", all)
	}
}

func TestTree(t *testing.T) {
	body := []byte(`{"a":[1,{"b":"x\ny"}],"odd key":null,"n":1e400,"deep":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}`)
	tree, ok := NewTree(body, 0)
	if !ok {
		t.Fatal("no tree")
	}
	said := all(tree.Lines(60))
	for _, want := range []string{"▾ a: [2]", `b: "x\ny"`, "odd key: null", "n: 1e400"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not in\n%s", want, said)
		}
	}
	for _, l := range tree.Lines(60) {
		switch {
		case strings.Contains(l.Text(), "odd key"):
			if l.Path != `["odd key"]` {
				t.Errorf("its path is %s", l.Path)
			}
		case strings.Contains(l.Text(), "b: "):
			if l.Path != ".a[1].b" || string(tree.Value(l.Node)) != `"x\ny"` {
				t.Errorf("b is %s %s", l.Path, tree.Value(l.Node))
			}
			tree.Turn(l.Node)
		}
	}
	if said := all(tree.Lines(60)); !strings.Contains(said, "│ x\n") || !strings.Contains(said, "│ y") {
		t.Errorf("the string is not unfolded:\n%s", said)
	}
	if _, ok := NewTree([]byte(`"text"`), 0); ok {
		t.Error("a string is a tree")
	}
}

func FuzzTree(f *testing.F) {
	f.Add([]byte(`{"a":[1,{"b":"x\ny"}]}`))
	f.Add([]byte(`[[[[`))
	f.Fuzz(func(t *testing.T, b []byte) {
		tree, ok := NewTree(b, 1)
		if !ok {
			return
		}
		for i := range 40 {
			lines := tree.Lines(30)
			tree.Turn(lines[i%len(lines)].Node)
			for _, l := range lines {
				if said := l.Text(); text.VisibleString(said) != said {
					t.Fatalf("%q is not visible text", said)
				}
				tree.Value(l.Node)
			}
		}
	})
}
