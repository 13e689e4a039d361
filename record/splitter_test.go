package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pitap/record/scan"
)

// split feeds the pieces to a splitter, as reads that return one nanosecond after another, and flushes behind those that
// flush names. It ends the stream.
func split(from Stream, pieces [][]byte, flush func(i int) bool) (entries []Entry) {
	s := NewSplitter(from, collect(&entries))
	for i, p := range pieces {
		s.Write(int64(i+1), p)
		if flush != nil && flush(i) {
			s.Flush()
		}
	}
	s.End(int64(len(pieces) + 1))
	return entries
}

// collect returns an emit function that keeps the entries.
func collect(entries *[]Entry) func(*Entry) int64 {
	return func(e *Entry) int64 {
		c := clone(e)
		c.N = int64(len(*entries) + 1)
		*entries = append(*entries, c)
		return c.N
	}
}

func always(int) bool { return true }

// rec is a record put together from entries.
type rec struct {
	off       int64
	body, eol string
	cut       bool // its beginning or end is missing
}

// assemble puts records together from the entries of one stream, as FORMAT.md tells readers to.
func assemble(entries []Entry) (records []rec) {
	superseded := map[int64]bool{}
	for _, e := range entries {
		for _, n := range e.Supersedes {
			superseded[n] = true
		}
	}
	var open *rec
	for _, e := range entries {
		if e.Note != nil || superseded[e.N] {
			continue
		}
		if open != nil && (!e.Part || e.Off != open.off+int64(len(open.body))) {
			open.cut = true
			records = append(records, *open)
			open = nil
		}
		if open == nil {
			open = &rec{off: e.Off}
		}
		open.body += string(e.Body)
		if e.Part && !e.Last {
			continue
		}
		open.eol = e.EOL
		if body, ok := strings.CutSuffix(open.body, "\r"); ok && e.Part && e.EOL == "\n" {
			open.body, open.eol = body, "\r\n"
		}
		records = append(records, *open)
		open = nil
	}
	if open != nil {
		open.cut = true
		records = append(records, *open)
	}
	return records
}

// wantRecords is what a stream's records are, in the simplest way.
func wantRecords(data []byte) (records []rec) {
	off := int64(0)
	for _, line := range bytes.SplitAfter(data, []byte{'\n'}) {
		if len(line) == 0 {
			break
		}
		body, eol := string(line), ""
		for _, end := range []string{"\r\n", "\n"} {
			if b, ok := strings.CutSuffix(body, end); ok {
				body, eol = b, end
				break
			}
		}
		records = append(records, rec{off: off, body: body, eol: eol})
		off += int64(len(line))
	}
	return records
}

// checkEntries says what is wrong with the entries that a splitter made of a stream.
func checkEntries(from Stream, data []byte, entries []Entry) error {
	var out bytes.Buffer
	b := Bytes{From: from, To: &out}
	for _, e := range entries {
		if err := b.Entry(&e); err != nil {
			return err
		}
		if err := checkEntry(from, &e); err != nil {
			return fmt.Errorf("entry %d at byte %d: %w", e.N, e.Off, err)
		}
	}
	if !bytes.Equal(out.Bytes(), data) || b.Lost != 0 {
		return fmt.Errorf("the bytes are %.100q, want %.100q", out.Bytes(), data)
	}
	if got, want := assemble(entries), wantRecords(data); !slices.Equal(got, want) {
		for i := range max(len(got), len(want)) {
			if i >= len(got) || i >= len(want) || got[i] != want[i] {
				return fmt.Errorf("%d records, want %d; number %d differs: %.200q", len(got), len(want), i, fmt.Sprint(got[min(i, len(got)):min(i+1, len(got))]))
			}
		}
	}
	return nil
}

// checkEntry says what is wrong with an entry by itself.
func checkEntry(from Stream, e *Entry) error {
	switch {
	case e.From != from:
		return fmt.Errorf("it is of %v", e.From)
	case e.Form == Msg && (e.Part || !json.Valid(e.Body) || !utf8.Valid(e.Body) || bytes.ContainsAny(e.Body, "\r\n") || !bytes.Equal(e.Body, bytes.TrimSpace(e.Body))):
		return fmt.Errorf("msg is %.100q", e.Body)
	case e.Form == Text && !utf8.Valid(e.Body):
		return fmt.Errorf("text is %.100q", e.Body)
	case e.Form == Base64 && utf8.Valid(e.Body):
		return fmt.Errorf("base64 where text would do: %.100q", e.Body)
	case e.Form != Msg && len(e.Body) > maxText, len(e.Body) > maxWhole:
		return fmt.Errorf("%d bytes", len(e.Body))
	case e.Part && e.Last && len(e.Supersedes) > 0, e.Last && !e.Part:
		return fmt.Errorf("part %v, last %v, supersedes %v", e.Part, e.Last, e.Supersedes)
	case len(e.Cuts) > maxCuts || len(e.Cuts) < maxCuts && e.MoreCuts > 0:
		return fmt.Errorf("%d cuts and %d more", len(e.Cuts), e.MoreCuts)
	case bytes.IndexByte(e.Body, '\n') >= 0:
		return fmt.Errorf("a line feed in it")
	}
	for i, c := range e.Cuts {
		if c.At <= 0 || i > 0 && (c.At <= e.Cuts[i-1].At || c.T < e.Cuts[i-1].T) {
			return fmt.Errorf("cuts %v", e.Cuts)
		}
	}
	return nil
}

func TestSplitEverywhere(t *testing.T) {
	for _, data := range []string{
		"",
		"\n",
		"\n\n",
		"{}\n",
		"{}",
		"{}\r\n",
		"{}\r",
		"\r\n\r\r\n\r",
		`{"a":1}` + "\n" + `{"b":"` + "\u2028é字𝄞" + `"}` + "\n",
		" {} \n\t\n[1,2]\nnull\n",
		"\xff\xfe\x00\n{}\n\xe5",
		"{\"a\":\r1}\n",
		`{"a":"\ud800"}` + "\n" + `{"a":"\ud834\udd1e"}` + "\n",
		"\xef\xbb\xbf{}\r\n",
	} {
		for _, from := range []Stream{Client, Stderr} {
			// Every two places to cut at, with a flush at none, the first, or both.
			for i := range len(data) + 1 {
				for j := i; j <= len(data); j++ {
					pieces := [][]byte{[]byte(data[:i]), []byte(data[i:j]), []byte(data[j:])}
					for mask := range 4 {
						entries := split(from, pieces, func(k int) bool { return mask>>k&1 > 0 })
						if err := checkEntries(from, []byte(data), entries); err != nil {
							t.Fatalf("%q cut at %d and %d, flushes %b: %v", data, i, j, mask, err)
						}
					}
				}
			}
			if err := checkEntries(from, []byte(data), split(from, chop([]byte(data), 1), always)); err != nil {
				t.Fatalf("%q byte by byte: %v", data, err)
			}
		}
	}
}

func TestSplitterForms(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for _, test := range []struct {
		record string
		from   Stream
		form   Form
	}{
		{`{"type":"prompt"}`, Client, Msg},
		{`{"a":1,"a":2}`, Agent, Msg},
		{`[]`, Agent, Msg},
		{`42`, Agent, Msg},
		{`null`, Client, Msg},
		{`"x"`, Client, Msg},
		{`{"a":"\u2028` + "\u2028\u0085\x7f" + `"}`, Agent, Msg},
		{`{"a":"\ud834\udd1e \\ud800"}`, Agent, Msg},
		{`{"a":"\ud800"}`, Agent, Text},
		{`{"a":"\udd1e\ud834"}`, Agent, Text},
		{`{"a":"\ud834x"}`, Agent, Text},
		{deep(200), Agent, Msg},
		{deep(201), Agent, Text},
		{``, Agent, Text},
		{` {}`, Agent, Text},
		{`{} `, Agent, Text},
		{"{}\t", Agent, Text},
		{"{\"a\":\r1}", Agent, Text},
		{`{"a":1`, Agent, Text},
		{`{}{}`, Agent, Text},
		{`{'a':1}`, Agent, Text},
		{`{"a":01}`, Agent, Text},
		{bom + `{}`, Agent, Text},
		{"plain text \x1b[0m", Agent, Text},
		{"{\"a\":\"\xff\"}", Client, Base64},
		{"\xff\xfe{\x00", Client, Base64},
		{`{"type":"x"}`, Stderr, Text},
		{"\xff", Stderr, Base64},
	} {
		entries := split(test.from, [][]byte{[]byte(test.record + "\n")}, nil)
		if len(entries) != 1 || entries[0].Form != test.form || string(entries[0].Body) != test.record || entries[0].EOL != "\n" {
			t.Errorf("%v %q: %+v, want form %d", test.from, test.record, entries, test.form)
		}
	}
}

func TestSplitterParts(t *testing.T) {
	var entries []Entry
	s := NewSplitter(Agent, collect(&entries))
	want := func(step string, lines ...string) {
		t.Helper()
		var got []string
		for i := range entries {
			got = append(got, strings.TrimSuffix(string(AppendEntry(nil, &entries[i])), "\n"))
		}
		if !slices.Equal(got, lines) {
			t.Errorf("%s:\n%s\nwant\n%s", step, strings.Join(got, "\n"), strings.Join(lines, "\n"))
		}
		entries = entries[len(entries):]
	}
	s.Write(10, []byte(`{"a":1}`+"\n"+`{"b"`))
	want("a record and a half", `{"n":1,"t":10,"from":"agent","off":0,"msg":{"a":1}}`)
	s.Flush()
	want("flushed", `{"n":1,"t":10,"from":"agent","off":8,"part":true,"text":"{\"b\""}`)
	s.Flush()
	want("flushed again")
	s.Write(20, []byte(`:2`))
	s.Flush()
	want("some more", `{"n":1,"t":20,"from":"agent","off":12,"part":true,"text":":2"}`)
	s.Write(30, []byte("}\r"))
	s.Flush()
	s.Write(40, []byte("\n"))
	want("complete", `{"n":1,"t":30,"from":"agent","off":14,"part":true,"text":"}\r"}`,
		`{"n":2,"t":40,"from":"agent","off":8,"eol":"\r\n","cuts":[[4,10],[6,20],[8,30]],"flags":["framing/crlf"],"supersedes":[1,1,1],"msg":{"b":2}}`)
	if s.Off() != 17 {
		t.Errorf("offset %d", s.Off())
	}
	s.Write(50, []byte("x"))
	s.Gap(100, false)
	want("a gap in a record", `{"n":1,"t":50,"from":"agent","off":17,"part":true,"text":"x"}`)
	s.Write(60, []byte(`rest"}`+"\n"+`{}`+"\n"))
	want("behind it", `{"n":1,"t":60,"from":"agent","off":118,"part":true,"last":true,"text":"rest\"}"}`, `{"n":2,"t":60,"from":"agent","off":125,"msg":{}}`)
	s.Gap(5, false)
	s.Flush()
	s.Write(70, []byte("more"))
	s.Flush()
	s.End(80)
	want("a gap between records, and no LF at the end", `{"n":1,"t":70,"from":"agent","off":133,"part":true,"text":"more"}`, `{"n":2,"t":80,"from":"agent","off":137,"part":true,"last":true,"eol":"","text":""}`)
	if s.Off() != 137 {
		t.Errorf("offset %d", s.Off())
	}
}

// TestSplitterSizes goes to the borders: texts of 1 MiB, records of 16 MiB, with line ends of both kinds, cut just there.
func TestSplitterSizes(t *testing.T) {
	t.Parallel()
	sizes := []int{maxText - 2, maxText - 1, maxText, maxText + 1, 2*maxText + 1}
	long := []int{maxWhole, maxWhole + 1, maxWhole + maxText + 1}
	if racing {
		sizes, long = []int{maxText - 1, maxText, maxText + 1}, []int{maxWhole + 1}
	}
	for _, form := range []string{"json", "text", "bytes"} {
		for _, size := range append(sizes, long...) {
			if form != "json" && size > 3*maxText {
				continue
			}
			for _, eol := range []string{"\n", "\r\n", ""} {
				if eol == "" && size > 2*maxText || eol != "\n" && size > 2*maxText && racing {
					continue
				}
				body := record(form, size)
				data := append(body, eol...)
				for _, flush := range []func(int) bool{nil, func(i int) bool { return i%11 == 3 }} {
					for _, n := range []int{64 << 10, 1 << 20} {
						if n > 64<<10 && (size > maxText+1 || racing && flush == nil) {
							continue
						}
						name := fmt.Sprintf("%s of %d bytes and %q in pieces of %d, flushed %v", form, size, eol, n, flush != nil)
						entries := split(Agent, chop(data, n), flush)
						if err := checkEntries(Agent, data, entries); err != nil {
							t.Errorf("%s: %v", name, err)
						}
						last := entries[len(entries)-1]
						if eol == "\r\n" && (size == maxText || size == maxWhole) { // with its CR it is longer: either will do
							continue
						}
						if whole := form == "json" && size <= maxWhole || size <= maxText; whole == last.Part {
							t.Errorf("%s: whole %v, supersedes %d", name, !last.Part, len(last.Supersedes))
						}
						if !last.Part && len(last.Supersedes) != len(entries)-1 {
							t.Errorf("%s: supersedes %d of %d", name, len(last.Supersedes), len(entries)-1)
						}
					}
				}
			}
		}
	}
}

// record makes a record of some size.
func record(form string, size int) []byte {
	body := bytes.Repeat([]byte("é"), size/2+1)[:size]
	if !utf8.Valid(body) {
		body[size-1] = 'e'
	}
	switch form {
	case "json":
		body[0], body[1], body[size-2], body[size-1] = '"', 'x', 'x', '"'
		if !json.Valid(body) || !utf8.Valid(body) {
			body = []byte(`"` + strings.Repeat("x", size-2) + `"`)
		}
	case "bytes":
		body[size/2] = 0xFF
	}
	return body
}

// TestSplitterMemory: a record of 256 MiB takes no more memory than one of 16 MiB.
func TestSplitterMemory(t *testing.T) {
	total, parts := int64(0), 0
	s := NewSplitter(Agent, func(e *Entry) int64 {
		total += int64(len(e.Body) + len(e.EOL))
		parts++
		return int64(parts)
	})
	piece := bytes.Repeat([]byte{'['}, 64<<10)
	pieces := scaled(4096)
	for i := range pieces {
		s.Write(int64(i), piece)
		if i%10 == 0 {
			s.Flush()
		}
		if cap(s.pending) > 2*maxWhole {
			t.Fatalf("%d MiB are kept", cap(s.pending)>>20)
		}
	}
	s.Write(5000, []byte("\n"))
	if want := int64(pieces<<16 + 1); total != want && total != want+16<<20 || s.Off() != want {
		t.Errorf("%d bytes in %d parts, offset %d", total, parts, s.Off())
	}
	if len(s.parts) > 0 || len(s.cuts) > 0 {
		t.Errorf("kept: %d parts, %d cuts", len(s.parts), len(s.cuts))
	}
}

// TestCutsBounded: a record that comes byte by byte has 1024 cuts and a count.
func TestCutsBounded(t *testing.T) {
	data := record("json", 5000)
	entries := split(Client, chop(append(data, '\n'), 1), nil)
	if e := entries[0]; len(entries) != 1 || len(e.Cuts) != maxCuts || e.MoreCuts != 5000-maxCuts || e.Cuts[7] != (Cut{8, 8}) {
		t.Errorf("%d cuts and %d more", len(e.Cuts), e.MoreCuts)
	}
}

func FuzzSplitter(f *testing.F) {
	f.Add([]byte("{}\n{\"a\":1}\r\n"), []byte{3, 1, 2, 9})
	f.Add([]byte("\xff\r\n\n\r"), []byte{1, 129, 1, 129, 1})
	f.Add([]byte(`{"a":"é`+"\u2028"+`"}`), []byte{7, 128, 130})
	f.Fuzz(func(t *testing.T, data, plan []byte) {
		var pieces [][]byte
		var flushes []bool
		for rest, i := data, 0; len(rest) > 0; i++ {
			n, flush := len(rest), false
			if i < len(plan) {
				n, flush = min(n, int(plan[i]&0x7F)), plan[i] > 0x7F
			}
			pieces, flushes = append(pieces, rest[:n]), append(flushes, flush)
			rest = rest[n:]
		}
		entries := split(Agent, pieces, func(i int) bool { return flushes[i] })
		if err := checkEntries(Agent, data, entries); err != nil {
			t.Fatal(err)
		}
		// Without flushes the entries are the same as for one piece, but for times and cuts.
		one, cut := split(Agent, [][]byte{data}, nil), split(Agent, pieces, nil)
		for i := range one {
			if i >= len(cut) {
				t.Fatalf("%d entries, %d in one piece", len(cut), len(one))
			}
			cut[i].T, cut[i].Cuts, cut[i].MoreCuts = one[i].T, nil, 0
			if err := sameEntry(&one[i], &cut[i]); err != nil {
				t.Fatal(err)
			}
		}
		// What is written is read.
		for i := range entries {
			got, err := ParseEntry(AppendEntry(nil, &entries[i]))
			if err == nil {
				got.Flags = entries[i].Flags
				err = sameEntry(&entries[i], got)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	})
}

func FuzzStorable(f *testing.F) {
	f.Add([]byte(`{"a":"\ud834\udd1e"}`))
	f.Add([]byte(`{"a":"\ud834"}`))
	f.Add([]byte(`["\\ud800"]`))
	f.Fuzz(func(t *testing.T, body []byte) {
		r := scan.Scan(body)
		if !storable(body, r) {
			return
		}
		if !json.Valid(body) || !utf8.Valid(body) {
			t.Fatalf("stored as msg: %q", body)
		}
		// Nothing in it changes when it is decoded: no lone surrogates.
		var v any
		d := json.NewDecoder(bytes.NewReader(body))
		d.UseNumber()
		if err := d.Decode(&v); err != nil {
			t.Fatal(err)
		}
		if had := bytes.Count(body, []byte("\ufffd")) + bytes.Count(bytes.ToLower(body), []byte(`\ufffd`)); had == 0 && strings.Contains(fmt.Sprint(v), "\ufffd") {
			t.Fatalf("stored as msg, with half a character: %q", body)
		}
	})
}
