package record

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
)

// scaled is the size of a test, or a tenth of it where the race detector makes everything ten times as slow.
func scaled(n int) int {
	if racing {
		return max(1, n/10)
	}
	return n
}

// sample is a small capture of several frames, with entries of all forms.
type sample struct {
	data    []byte
	content []byte           // of all frames, joined
	lines   map[int64]string // entries by number, without LF
	frames  []sampleFrame
	end     int64 // of the last frame with content
}

type sampleFrame struct {
	start, end  int64
	first, last int64 // numbers of its entries
	blocks      []int64
}

var sampleStart = time.Date(2026, 11, 30, 14, 5, 0, 123456789, time.UTC)

// makeSample records six frames of a session, with two flushes in each.
func makeSample(t testing.TB) *sample {
	t.Helper()
	f := &memFile{}
	w, err := NewWriter(f, &Header{Pitap: Version, Start: sampleStart, Argv: []string{"pi", "--mode", "rpc"}, Host: "host", PID: 4711}, false)
	if err != nil {
		t.Fatal(err)
	}
	ok := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
	client, agent, stderr := NewSplitter(Client, w.Add), NewSplitter(Agent, w.Add), NewSplitter(Stderr, w.Add)
	now := int64(0)
	flush := func() {
		client.Flush()
		agent.Flush()
		ok(w.Flush())
	}
	var frames []sampleFrame
	for i := range 6 {
		frame := sampleFrame{start: w.frames.start, first: w.n + 1}
		now += 1_000_000
		client.Write(now, fmt.Appendf(nil, `{"id":"%d","type":"prompt","message":"frame %d, “größer” as %s"}`+"\n", i, i, strings.Repeat("x", 40*i)))
		flush()
		now += 1_000_000
		agent.Write(now, fmt.Appendf(nil, `{"type":"response","id":"%d","success":true}`+"\n"+`{"type":"message_update","delta":"some`, i))
		flush()
		now += 1_000_000
		agent.Write(now, []byte(` words"}`+"\n\xff\xfe junk\n"+"plain text\r\n"))
		stderr.Write(now, fmt.Appendf(nil, "warning %d\n", i))
		w.Add(&Entry{T: now, Note: &Note{Kind: "signal", Signal: "SIGWINCH", To: "agent"}})
		frame.last = w.n
		if i < 5 {
			ok(w.CloseFrame())
		} else {
			w.Add(&Entry{T: now, From: Agent, Note: &Note{Kind: "exit", Code: new(int)}})
			ok(w.End(now))
			frame.last = w.n
		}
		frames = append(frames, frame)
	}
	s := &sample{data: f.bytes(), lines: map[int64]string{}}
	for i := range frames {
		fr := &frames[i]
		sp, err := walkFrame(f, fr.start, int64(len(s.data)), func(end int64) { fr.blocks = append(fr.blocks, end) })
		ok(err)
		fr.end = sp.end
		s.end = sp.end
	}
	s.frames = frames
	s.content = decompress(t, s.data)
	for i, line := range strings.Split(strings.TrimSuffix(string(s.content), "\n"), "\n") {
		if i > 0 {
			s.lines[int64(i)] = line
		}
	}
	return s
}

// decompress joins the contents of the frames of a whole capture.
func decompress(t testing.TB, data []byte) []byte {
	t.Helper()
	c, err := newFrameContent(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	var out []byte
	for {
		n := len(out)
		if out, err = c.next(out, int64(len(data))); err != nil || len(out) == n {
			return out
		}
	}
}

// wholeLines counts the entries in the first n bytes of the capture's content that end there.
func wholeLines(content []byte) int64 { return int64(bytes.Count(content, []byte{'\n'})) - 1 }

// readBytes reads all of a capture.
func readBytes(data []byte) (r *Reader, entries []Entry) {
	r = NewReader(bytes.NewReader(data), func() (int64, error) { return int64(len(data)), nil })
	return r, readAll(r)
}

func readAll(r *Reader) (entries []Entry) {
	for r.Next() {
		entries = append(entries, clone(r.Entry()))
	}
	return entries
}

// clone makes an entry that stays.
func clone(e *Entry) Entry {
	c := *e
	c.Body = bytes.Clone(e.Body)
	c.Line = bytes.Clone(e.Line)
	c.Cuts = append([]Cut(nil), e.Cuts...)
	c.Supersedes = append([]int64(nil), e.Supersedes...)
	return c
}

// follow reads a capture that grows by the given pieces while it is read.
func follow(pieces [][]byte) (r *Reader, entries []Entry) {
	f := &memFile{}
	r = NewReader(f, f.size)
	r.Wait = func() bool {
		if len(pieces) == 0 {
			return false
		}
		f.data = append(f.data, pieces[0]...)
		pieces = pieces[1:]
		return true
	}
	return r, readAll(r)
}

// chop cuts data at the given places, and into pieces of at most n bytes.
func chop(data []byte, n int, at ...int64) (pieces [][]byte) {
	from := 0
	for i := range data {
		cut := i-from == n
		for _, a := range at {
			cut = cut || a == int64(i)
		}
		if cut && i > from {
			pieces = append(pieces, data[from:i])
			from = i
		}
	}
	return append(pieces, data[from:])
}
