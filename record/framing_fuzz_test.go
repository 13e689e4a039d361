package record

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pitap/record/scan"
)

// feedFraming gives the records of a stream to a checker as whole entries or, if cut is not nil, in the parts that it cuts.
// A record has the number of its first part, ten times its place in the stream.
func feedFraming(f *Framing, from Stream, stream []byte, cut func(n int) int) {
	var off, n int64
	for raw := range bytes.Lines(stream) {
		n += 10
		body, eol := bytes.CutSuffix(raw, []byte("\n"))
		e := Entry{N: n, From: from, Off: off, Form: Base64, Body: body}
		if eol {
			e.Body, e.EOL = trimCR(body)
		}
		off += int64(len(raw))
		if cut == nil {
			f.Entry(&e)
			continue
		}
		// Parts may also be cut between CR and LF.
		rest, end := e.Body, e.EOL
		if end == "\r\n" && cut(2) == 0 {
			rest, end = body, "\n"
		}
		for i := int64(0); ; i++ {
			k := min(len(rest), cut(len(rest)+1))
			last := k == len(rest)
			p := Entry{N: n + min(i, 9), From: from, Off: e.Off, Form: Base64, Body: rest[:k], Part: true, Last: last}
			if last {
				p.EOL = end
			}
			f.Entry(&p)
			if last {
				break
			}
			rest = rest[k:]
			e.Off += int64(k)
		}
	}
	f.Finish()
}

func FuzzFraming(f *testing.F) {
	for _, test := range append(clientRecords, agentRecords...) {
		f.Add([]byte(test.text), uint64(len(test.text)), true)
		f.Add([]byte(test.text), uint64(len(test.text)), false)
	}
	f.Add([]byte(strings.Repeat("{\"a\":\"\n", 300)+"}"), uint64(1), true)
	f.Fuzz(func(t *testing.T, stream []byte, seed uint64, client bool) {
		from := Agent
		if client {
			from = Client
		}
		whole := NewFraming()
		feedFraming(whole, from, stream, nil)
		want := whole.Findings()
		checkFindings(t, want, from, stream)

		random := rand.New(rand.NewPCG(seed, 1))
		parted := NewFraming()
		feedFraming(parted, from, stream, func(n int) int { return random.IntN(min(n, 9)) })
		if got := parted.Findings(); !slices.Equal(got, want) {
			t.Errorf("%q\nin parts %+v\nwhole    %+v", stream, got, want)
		}

		// What was found at any time must not depend on when one looks.
		looked := NewFraming()
		var n, off int64
		for raw := range bytes.Lines(stream) {
			body, eol := trimCR(bytes.TrimSuffix(raw, []byte("\n")))
			if raw[len(raw)-1] != '\n' {
				body, eol = raw, ""
			}
			n += 10
			looked.EntryScanned(&Entry{N: n, From: from, Off: off, Body: body, EOL: eol}, scan.Scan(body))
			off += int64(len(raw))
			looked.Findings()
		}
		looked.Finish()
		if got := looked.Findings(); !slices.Equal(got, want) {
			t.Errorf("%q\nlooked at %+v\nnot       %+v", stream, got, want)
		}
	})
}

// checkFindings checks what must hold for any findings about a stream.
func checkFindings(t *testing.T, findings []Finding, from Stream, stream []byte) {
	lines := int64(bytes.Count(stream, []byte("\n"))) + 1
	for i, f := range findings {
		if f.From != from || f.N < 10 || f.Last < f.N || f.N > 10*lines || f.Last > 10*lines || f.Count < 1 || f.Count > lines {
			t.Errorf("%q: %+v", stream, f)
		}
		if f.At < 0 || f.Off < f.At || f.Off > int64(len(stream)) || f.Text == "" || f.Hint == "" {
			t.Errorf("%q: %+v", stream, f)
		}
		for _, c := range []byte(f.Text) {
			if c < 0x20 || c >= 0x7f {
				t.Errorf("%q: text %q is not safe to print", stream, f.Text)
			}
		}
		for _, other := range findings[:i] {
			if f.Rule == other.Rule && f.Severity == other.Severity && f.Rule != "framing/not-object" {
				t.Errorf("%q: twice %+v", stream, f)
			}
		}
	}
}

// Records that are too long to be kept are judged as those that are whole.
func TestLongRecordsInParts(t *testing.T) {
	const keep = headSize + 1000
	pad := strings.Repeat("x", 2*keep)
	for _, test := range append(clientRecords, agentRecords...) {
		// Where a record holds a string, make it long.
		for line := range strings.Lines(test.text) {
			for _, quote := range []string{`":"`, `"a`, "\n"} {
				if strings.HasPrefix(test.name, "utf-16") {
					continue
				}
				stream := strings.Replace(line, quote, strings.TrimSuffix(quote, "\n")+pad, 1)
				if stream == line {
					continue
				}
				if quote == "\n" {
					stream += "\n"
				}
				whole, parted := NewFraming(), NewFraming()
				whole.keep, parted.keep = keep, keep
				feedFraming(whole, Client, []byte(stream), nil)
				feedFraming(parted, Client, []byte(stream), func(n int) int { return min(n, 3001) })
				if got, want := parted.Findings(), whole.Findings(); !slices.Equal(got, want) {
					t.Errorf("%s: %.100q\nin parts %+v\nwhole    %+v", test.name, stream, got, want)
				}
			}
		}
	}
}

func TestFramingMemory(t *testing.T) {
	f := NewFraming()
	part := bytes.Repeat([]byte("["), 1<<20)
	for i := range int64(10) {
		f.Entry(&Entry{N: i + 1, From: Agent, Off: i << 20, Body: part, Part: true})
	}
	if n := cap(f.streams[Agent].parts.buf); n > maxKept {
		t.Errorf("%d bytes kept of a long record", n)
	}
}

func BenchmarkFraming(b *testing.B) {
	body := []byte(`{"type":"message_update","message":{"role":"assistant","content":[{"type":"text","text":"` +
		strings.Repeat("some words, ", 20) + `"}]}}`)
	for name, f := range map[string]func() func(){
		"Scan": func() func() { return func() { scan.Scan(body) } },
		"Entry": func() func() {
			f, e := NewFraming(), Entry{From: Agent, Body: body, EOL: "\n"}
			return func() { f.Entry(&e) }
		},
		"EntryScanned": func() func() {
			f, e, r := NewFraming(), Entry{From: Agent, Body: body, EOL: "\n"}, scan.Scan(body)
			return func() { f.EntryScanned(&e, r) }
		},
		"Hazard": func() func() {
			body := append([]byte(nil), body...)
			copy(body[len(body)-20:], "\u2028")
			f, e := NewFraming(), Entry{From: Agent, Body: body, EOL: "\n"}
			return func() { f.Entry(&e) }
		},
		"Text": func() func() {
			f, e := NewFraming(), Entry{From: Agent, Body: []byte("some plain text, {with brackets}, that is no record"), EOL: "\n"}
			return func() { f.Entry(&e) }
		},
	} {
		b.Run(name, func(b *testing.B) {
			step := f()
			b.ReportAllocs()
			for b.Loop() {
				step()
			}
		})
	}
}
