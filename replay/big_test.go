package replay

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"pitap/record"
)

// bigCapture records, as the recorder does, a session whose answer to the second question is a record of size bytes.
func bigCapture(t testing.TB, file string, size, deltas int) (out []byte) {
	t.Helper()
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w, err := record.NewWriter(f, &record.Header{Pitap: record.Version, Start: time.Now().UTC()}, false)
	if err != nil {
		t.Fatal(err)
	}
	sides := map[record.Stream]*record.Splitter{}
	for _, s := range []record.Stream{record.Client, record.Agent} {
		sides[s] = record.NewSplitter(s, w.Add)
	}
	put := func(s record.Stream, b []byte) {
		if s == record.Agent {
			out = append(out, b...)
		}
		sides[s].Write(1, b)
	}
	put(record.Client, []byte(`{"id":"p","type":"prompt","message":"go"}`+"\n"))
	put(record.Agent, []byte(`{"id":"p","type":"response","command":"prompt","success":true}`+"\n"))
	for i := range deltas {
		put(record.Agent, fmt.Appendf(nil, `{"type":"message_update","n":%d,"delta":"%s"}`+"\n", i, strings.Repeat("abcdefgh", 30)))
	}
	put(record.Client, []byte(`{"id":"m","type":"get_messages"}`+"\n"))
	put(record.Agent, []byte(`{"id":"m","type":"response","command":"get_messages","success":true,"data":"`))
	for i := 0; i < size; i += 1 << 20 {
		put(record.Agent, bytes.Repeat([]byte{byte('a' + i>>20%26)}, min(1<<20, size-i)))
	}
	put(record.Agent, []byte("\"}\n"))
	w.Add(&record.Entry{From: record.Client, Note: &record.Note{Kind: "eof"}})
	code := 0
	w.Add(&record.Entry{From: record.Agent, Note: &record.Note{Kind: "exit", Code: &code}})
	if err := w.End(2); err != nil {
		t.Fatal(err)
	}
	return out
}

// play plays a script at full speed to a client that sends all at once, and gives the sum of what came.
func play(t testing.TB, s *Script, send string, to io.Writer) *Report {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	a := &Agent{Script: s, Out: to, Speed: MaxSpeed}
	stays(a, send, 0)
	r, err := a.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A capture that does not fit into memory is read as it is played, also where an answer is in parts, or is out of turn.
func TestBig(t *testing.T) {
	was := maxMemory
	defer func() { maxMemory = was }()
	maxMemory = 1 << 20
	for _, test := range []struct {
		name         string
		size, deltas int
		plain        bool
	}{
		{"in memory", 1 << 19, 100, false},
		{"frames", 17 << 20, 1000, false}, // a record that long stays in parts
		{"lines", 17 << 20, 1000, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "c.jsonl.zst")
			want := bigCapture(t, file, test.size, test.deltas)
			if test.plain {
				file = decompress(t, file)
			}
			s, err := Open(file)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if s.Shareable() != (test.size < maxMemory) {
				t.Errorf("in memory: %v", s.Shareable())
			}
			sum := sha256.New()
			r := play(t, s, `{"id":"p","type":"prompt","message":"go"}`+"\n"+`{"id":"m","type":"get_messages"}`+"\n", sum)
			if w := sha256.Sum256(want); r.Failed() || !bytes.Equal(sum.Sum(nil), w[:]) {
				t.Errorf("other bytes than recorded; %s", r)
			}
			// Another id, and the answer asked for twice: the second time it is out of turn.
			var got bytes.Buffer
			r = play(t, s, `{"id":"p","type":"prompt","message":"go"}`+"\n"+`{"id":12,"type":"get_messages"}`+"\n"+`{"type":"get_messages"}`+"\n", &got)
			lines := bytes.SplitAfter(got.Bytes(), []byte("\n"))
			answer := bytes.SplitAfter(want, []byte("\n"))[test.deltas+1]
			first := bytes.Replace(answer, []byte(`"m"`), []byte("12"), 1)
			second := bytes.Replace(answer, []byte(`"id":"m",`), nil, 1)
			if n := len(lines); r.Failed() || !bytes.Equal(lines[n-3], first) || !bytes.Equal(lines[n-2], second) {
				t.Errorf("%d lines, answers of %d and %d bytes, want %d and %d; %s", n, len(lines[n-3]), len(lines[n-2]), len(first), len(second), r)
			}
		})
	}
}

func decompress(t testing.TB, file string) string {
	t.Helper()
	c, err := record.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	plain := strings.TrimSuffix(file, ".zst")
	f, err := os.Create(plain)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	h, err := c.Header()
	if err != nil {
		t.Fatal(err)
	}
	f.Write(h.Encode())
	for c.Next() {
		f.Write(append(bytes.Clone(c.Entry().Line), '\n'))
	}
	return plain
}

// A client that reads slowly holds the replay up, and little of the capture is in memory then.
func TestBackPressure(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.jsonl.zst")
	bigCapture(t, file, 96<<20, 10)
	if testing.Short() || raceEnabled {
		t.Skip("takes a while")
	}
	runtime.GC()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	s, err := Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var most uint64
	out := writerFunc(func(p []byte) (int, error) {
		var m runtime.MemStats
		if len(p) > 1<<19 {
			runtime.GC()
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapAlloc)
		}
		return len(p), nil
	})
	if r := play(t, s, `{"id":"p","type":"prompt","message":"go"}`+"\n"+`{"id":"m","type":"get_messages"}`+"\n", out); r.Failed() {
		t.Error(r)
	}
	if used := int64(most) - int64(before.HeapAlloc); used > 64<<20 {
		t.Errorf("%d MiB in use", used>>20)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func BenchmarkDeltas(b *testing.B) {
	file := filepath.Join(b.TempDir(), "c.jsonl.zst")
	out := bigCapture(b, file, 1, 100_000)
	s, err := Open(file)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	b.SetBytes(int64(len(out)))
	for b.Loop() {
		if r := play(b, s, `{"id":"p","type":"prompt","message":"go"}`+"\n"+`{"id":"m","type":"get_messages"}`+"\n", io.Discard); r.Failed() {
			b.Fatal(r)
		}
	}
}

// A small file does not make a script that takes any amount of memory.
func TestTooManyCommands(t *testing.T) {
	was := maxScript
	defer func() { maxScript = was }()
	maxScript = 1 << 20
	many := func(n int, line string) string { return fixture(append(slices.Repeat([]string{line}, n), eofNote)...) }
	for _, test := range []struct {
		name, capture string
		ok            bool
	}{
		{"few", many(1000, "> {}"), true},
		{"many commands", many(10_000, "> {}"), false},
		{"much on stderr", many(20_000, "! x"), false},
		{"a command of many values", many(1, `> {"type":"prompt","x":[`+strings.Repeat("0,", 30_000)+"0]}"), false},
		{"many events", many(100_000, `< {"type":"message_update"}`), true},
	} {
		if _, err := Parse([]byte(test.capture)); (err == nil) != test.ok || err != nil && !strings.Contains(err.Error(), "too many") {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}
