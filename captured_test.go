//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"pitap/internal/pitest"
	"pitap/record"
)

// captured is a capture that was read.
type captured struct {
	t         *testing.T
	path      string
	header    record.Header
	entries   []record.Entry
	bytes     map[record.Stream][]byte
	lost      int64
	damage    []record.Damage
	condition string
}

// captured reads the session's capture when it has ended. Nil without pitap.
func (f *front) captured() *captured {
	f.t.Helper()
	if !f.recorded {
		return nil
	}
	return readCapture(f.t, f.onlyCapture())
}

// onlyCapture waits until there is a capture.
func (f *front) onlyCapture() string {
	f.t.Helper()
	var files []string
	eventually(f.t, "a capture", func() bool {
		files, _ = filepath.Glob(filepath.Join(f.dir, "*.zst"))
		return len(files) == 1
	})
	return files[0]
}

// readCapture waits until nobody writes the capture any more, and reads it.
func readCapture(t *testing.T, path string) *captured {
	t.Helper()
	eventually(t, "the capture to end", func() bool { return !live(t, path) })
	return readNow(t, path)
}

func live(t *testing.T, path string) bool {
	t.Helper()
	c, err := record.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	return c.Live()
}

// readNow reads what there is of a capture.
func readNow(t *testing.T, path string) *captured {
	t.Helper()
	file, err := record.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	c := &captured{t: t, path: path, bytes: map[record.Stream][]byte{}}
	streams := map[record.Stream]*record.Bytes{}
	joined := map[record.Stream]*bytes.Buffer{}
	for _, s := range []record.Stream{record.Client, record.Agent, record.Stderr} {
		joined[s] = new(bytes.Buffer)
		streams[s] = &record.Bytes{From: s, To: joined[s]}
	}
	for file.Next() {
		e := *file.Entry()
		if b := streams[e.From]; b != nil {
			if err := b.Entry(&e); err != nil {
				t.Fatal(err)
			}
		}
		e.Body, e.Line, e.Supersedes, e.Cuts = bytes.Clone(e.Body), nil, slices.Clone(e.Supersedes), slices.Clone(e.Cuts)
		if e.Note != nil {
			n := *e.Note
			e.Note = &n
		}
		c.entries = append(c.entries, e)
	}
	if err := file.Err(); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatalf("read %s: %v", path, err)
	}
	if h, err := file.Header(); err == nil {
		c.header = *h
	}
	for s, b := range streams {
		c.bytes[s] = joined[s].Bytes()
		c.lost += b.Lost
	}
	c.damage, c.condition = file.Damage(), file.Condition()
	return c
}

// whole fails the test unless the capture is complete and holds just these bytes.
func (c *captured) whole(client, agent, stderr []byte) {
	if c == nil {
		return
	}
	c.t.Helper()
	if c.late(map[record.Stream][]byte{record.Client: client, record.Agent: agent, record.Stderr: stderr}) {
		return
	}
	if c.condition != "" || len(c.damage) > 0 || c.lost > 0 {
		c.t.Errorf("capture: %q, damage %v, %d bytes lost; want a whole one", c.condition, c.damage, c.lost)
	}
	for s, want := range map[record.Stream][]byte{record.Client: client, record.Agent: agent, record.Stderr: stderr} {
		same(c.t, "capture: bytes of "+s.String(), c.bytes[s], want)
	}
	if c.note(record.NoStream, "end") == nil {
		c.t.Error("capture: no end note")
	}
}

// late tells whether the recorder could not keep up, as on a machine that is busy with much else. Then all that is
// missing must be counted.
func (c *captured) late(want map[record.Stream][]byte) bool {
	c.t.Helper()
	gap := c.note(record.NoStream, "gap")
	if gap == nil || gap.Note.Error != "the file is too slow" || c.condition != "" || len(c.damage) > 0 {
		return false
	}
	for s, b := range want {
		if got := int64(len(c.bytes[s])) + lostOf(c, s); got != int64(len(b)) {
			c.t.Errorf("capture: %d bytes of %v recorded, %d in gaps, %d came", len(c.bytes[s]), s, lostOf(c, s), len(b))
		}
	}
	say := c.t.Errorf
	if busy() {
		say = c.t.Logf
	}
	say("capture: the recorder was late; %d bytes lost", c.lost)
	return true
}

// busy tells whether the machine has much more to do than these tests.
func busy() bool {
	b, err := os.ReadFile("/proc/loadavg")
	var load float64
	fmt.Sscan(string(b), &load)
	return err == nil && load > 4*float64(runtime.NumCPU())
}

// lostOf adds up the gaps of a stream.
func lostOf(c *captured, s record.Stream) (n int64) {
	for _, e := range c.entries {
		if e.Note != nil && e.Note.Kind == "gap" {
			n += e.Note.Lost[s.String()]
		}
	}
	return n
}

// session is whole with the bytes that a conversation had.
func (c *captured) session(s *pitest.Conversation) {
	if c == nil {
		return
	}
	c.t.Helper()
	c.whole(s.In(), s.Out.Bytes(), s.Err.Bytes())
}

// note is the first note of a kind about a stream, nil when there is none.
func (c *captured) note(from record.Stream, kind string) *record.Entry {
	for i, e := range c.entries {
		if e.Note != nil && e.Note.Kind == kind && e.From == from {
			return &c.entries[i]
		}
	}
	return nil
}

// notes counts the notes of a kind.
func (c *captured) notes(kind string) (n int) {
	for _, e := range c.entries {
		if e.Note != nil && e.Note.Kind == kind {
			n++
		}
	}
	return n
}

// records gives the entries that hold whole records of a stream.
func (c *captured) records(from record.Stream) (found []record.Entry) {
	for _, e := range c.entries {
		if e.Note == nil && e.From == from && !e.Part {
			found = append(found, e)
		}
	}
	return found
}
