//go:build linux

package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pitap/internal/pitest"
	"pitap/internal/zoo"
	"pitap/record"
)

// sizes of records: around a pipe's, and large.
func sizes() []int {
	all := []int{65_535, 65_536, 65_537, 1 << 20, 8 << 20}
	if !testing.Short() {
		all = append(all, 64<<20)
	}
	if long {
		all = append(all, 256<<20)
	}
	return all
}

// Big records both ways: the first byte is there before the last was written, memory stays bounded, all is recorded.
func TestCase13(t *testing.T) {
	if zoo.Plainly(t) {
		return
	}
	for _, size := range sizes() {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			t.Parallel()
			f := behind(t)
			const head, tail = `{"type":"big","data":"`, "\"}\n"
			half := (size - len(head) - len(tail)) / 2
			body := size - len(head) - len(tail) - half
			s := f.start(zoo.Out(head), zoo.Fill("x", half), zoo.Line(), zoo.Fill("y", body), zoo.Out(tail), zoo.Digest(), zoo.Exit(3))
			s.Patience *= 6
			s.Until("half of the record", func(out, err []byte) bool { return len(out) == len(head)+half })
			s.Send("go on")
			command := append(append([]byte(head), bytes.Repeat([]byte("z"), half+body)...), tail...)
			s.SendBytes(command)
			s.CloseStdin()
			s.Until("the digest", func(out, err []byte) bool { return len(out) > size && out[len(out)-1] == '\n' })
			peak := zoo.Peak(s.Pid())
			s.Finish(3)
			same(t, "digest", s.Out.Bytes()[size:], []byte(zoo.Sum(command)+"\n"))
			want := head + strings.Repeat("x", half) + strings.Repeat("y", body) + tail
			same(t, "record", s.Out.Bytes()[:size], []byte(want))
			c := f.captured()
			c.session(s)
			bounded(t, f, peak, 128)
		})
	}
}

// bounded fails when pitap has taken more than so many MiB.
func bounded(t *testing.T, f *front, peak, limit int) {
	t.Helper()
	t.Logf("pitap took %d MiB", peak>>20)
	if !zoo.Raced && peak > limit<<20 {
		t.Errorf("pitap took %d MiB, more than %d", peak>>20, limit)
	}
}

// Records that would make a parser recurse, or wait for an end that never comes.
func TestDeepRecords(t *testing.T) {
	if zoo.Plainly(t) {
		return
	}
	size := 64 << 20
	if testing.Short() {
		size = 4 << 20
	}
	for _, unit := range []string{"[", `{"a":`, `"`} {
		t.Run(unit, func(t *testing.T) {
			t.Parallel()
			f := behind(t)
			n := size / len(unit)
			s := f.start(zoo.Whole(unit, n), zoo.Digest(), zoo.Exit(3))
			s.Patience *= 6
			sent := append(bytes.Repeat([]byte(unit), n), '\n')
			s.SendBytes(sent)
			s.CloseStdin()
			s.Until("the digest", func(out, err []byte) bool { return len(out) > n*len(unit)+1 && out[len(out)-1] == '\n' })
			peak := zoo.Peak(s.Pid())
			s.Finish(3)
			same(t, "stdout", s.Out.Bytes(), append(bytes.Clone(sent), zoo.Sum(sent)+"\n"...))
			f.captured().session(s)
			bounded(t, f, peak, 128)
		})
	}
}

// A flood while the client stalls, in both directions, on both kinds of connection.
func TestFloodInBoundedMemory(t *testing.T) {
	if zoo.Plainly(t) {
		return
	}
	for _, stdio := range []pitest.Stdio{pitest.Pipes, pitest.SocketPairs} {
		t.Run(stdio.String(), func(t *testing.T) {
			t.Parallel()
			f := behind(t)
			f.stdio = stdio
			const n, size = 20_000, 4000 // 80 MB
			s := f.start(zoo.Out("go\n"), zoo.Flood(n, size), zoo.Line(), zoo.Exit(3))
			s.Patience *= 6
			s.Expect("")
			for range 3 {
				have := len(s.Out.Bytes())
				s.Until("some more", func(out, err []byte) bool { return len(out) > have+(1<<20) })
				s.StopReading()
				pauseOf(t, 300*ms)
				s.ResumeReading()
			}
			s.Until("all", func(out, err []byte) bool { return len(out) == 3+n*size })
			peak := zoo.Peak(s.Pid())
			s.Send("exit")
			s.Wait(3)
			s.WaitForEnd()
			f.captured().session(s)
			bounded(t, f, peak, 96)
		})
	}
}

// TestCase26 is about captures that were cut, at every byte: never complete, all whole entries readable.
func TestCase26(t *testing.T) {
	t.Parallel()
	f := behind(t)
	s := f.start(zoo.Lines(3), zoo.Exit(0))
	s.SendBytes([]byte("{\"a\":1}\n{\"b\":2}\n{\"c\":3}\n"))
	s.Finish(0)
	c := f.captured()
	c.session(s)
	content := readFile(t, c.path)
	cut := f.file("cut.jsonl.zst")
	complete := 0
	for n := len(content) - 1; n >= 0; n-- {
		writeFile(t, cut, content[:n])
		got := readNow(t, cut)
		if got.condition == "" {
			complete++ // only the index is missing: the end note is there
			if got.note(record.NoStream, "end") == nil {
				t.Errorf("cut at byte %d of %d: called complete", n, len(content))
			}
		}
		for _, from := range []record.Stream{record.Client, record.Agent} {
			if !bytes.HasPrefix(c.bytes[from], got.bytes[from]) {
				t.Errorf("cut at byte %d: %q of %v, which was %q", n, got.bytes[from], from, c.bytes[from])
			}
		}
	}
	if complete == 0 || complete > len(content)/2 {
		t.Errorf("%d of %d prefixes are called complete", complete, len(content))
	}
}
