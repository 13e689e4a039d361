package record

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

func TestReadWhole(t *testing.T) {
	s := makeSample(t)
	r, entries := readBytes(s.data)
	h, err := r.Header()
	if err != nil || !h.Start.Equal(sampleStart) || h.PID != 4711 || h.Argv[2] != "rpc" {
		t.Fatalf("header %+v, %v", h, err)
	}
	if r.Err() != nil || len(r.Damage()) > 0 || !r.Ended() || r.Torn() {
		t.Fatalf("err %v, damage %v, ended %v, torn %v", r.Err(), r.Damage(), r.Ended(), r.Torn())
	}
	if len(entries) != len(s.lines) {
		t.Fatalf("%d entries, want %d", len(entries), len(s.lines))
	}
	for i, e := range entries {
		if e.N != int64(i+1) || string(e.Line) != s.lines[e.N] {
			t.Fatalf("entry %d is %s, want %s", e.N, e.Line, s.lines[int64(i+1)])
		}
	}
	if end := entries[len(entries)-1].Note; end.Totals.Entries != int64(len(entries)) || end.Totals.Streams["client"].Records != 6 {
		t.Errorf("totals %+v", end.Totals)
	}
}

// checkPrefix says what is wrong with reading a part of the sample of which so much content is whole.
func checkPrefix(s *sample, r *Reader, entries []Entry, content []byte) error {
	want := wholeLines(content)
	rest := content[bytes.LastIndexByte(content, '\n')+1:]
	if len(rest) > 0 && bytes.HasSuffix(rest, []byte{'}'}) && ParseLine(rest) == nil { // all but the LF
		want++
	}
	switch {
	case want < 0 && !errors.Is(r.Err(), io.ErrUnexpectedEOF):
		return fmt.Errorf("error %v for a capture without a header", r.Err())
	case want >= 0 && r.Err() != nil:
		return r.Err()
	case int64(len(entries)) != max(0, want):
		return fmt.Errorf("%d entries, want %d", len(entries), want)
	case len(r.Damage()) > 0:
		return fmt.Errorf("damage %v", r.Damage())
	case r.Ended() != (want == int64(len(s.lines))):
		return fmt.Errorf("ended is %v after %d of %d entries", r.Ended(), want, len(s.lines))
	}
	for i, e := range entries {
		if e.N != int64(i+1) || string(e.Line) != s.lines[e.N] {
			return fmt.Errorf("entry %d is %s", e.N, e.Line)
		}
	}
	return nil
}

// ParseLine tells whether line is an entry.
func ParseLine(line []byte) error {
	_, err := ParseEntry(line)
	return err
}

// contentOf returns the content of all whole blocks in the first n bytes of the sample.
func (s *sample) contentOf(t *testing.T, n int64) []byte {
	t.Helper()
	var raw []byte
	for _, f := range s.frames {
		if f.end <= n {
			raw = s.data[:f.end]
			continue
		}
		for i, b := range f.blocks {
			if b <= n && i < len(f.blocks)-1 {
				raw = append(bytes.Clone(s.data[:b]), frameEnd(0)...)
			} else if b <= n {
				raw = append(bytes.Clone(s.data[:b]), 0, 0, 0, 0)
			}
		}
		break
	}
	out, err := plainDecoder.DecodeAll(raw, nil)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestEveryPrefix(t *testing.T) {
	t.Parallel()
	s := makeSample(t)
	for n := range len(s.data) + 1 {
		if racing && n%5 > 0 {
			continue
		}
		data := s.data[:n]
		content := s.contentOf(t, int64(n))
		r, entries := readBytes(data)
		if err := checkPrefix(s, r, entries, content); err != nil {
			t.Errorf("first %d of %d bytes: %v", n, len(s.data), err)
		}
		inside := int64(n) < s.end && !slices.ContainsFunc(s.frames, func(f sampleFrame) bool { return f.end == int64(n) || n == 0 })
		if inside && !r.Torn() {
			t.Errorf("first %d of %d bytes: not torn", n, len(s.data))
		}
		if n%16 == 0 || n < 64 {
			for _, size := range []int{1, 7, 1000} {
				r, entries := follow(chop(data, size))
				if err := checkPrefix(s, r, entries, content); err != nil {
					t.Errorf("first %d of %d bytes, followed in pieces of %d: %v", n, len(s.data), size, err)
				}
			}
		}
	}
}

// Of a plain capture, too.
func TestEveryPrefixPlain(t *testing.T) {
	t.Parallel()
	s := makeSample(t)
	for n := range len(s.content) + 1 {
		r, entries := readBytes(s.content[:n])
		content := s.content[:n]
		if n > 0 && wholeLines(content) < 0 && ParseHeaderLine(content) == nil { // all but the LF
			content = append(bytes.Clone(content), '\n')
		}
		if err := checkPrefix(s, r, entries, content); err != nil {
			t.Errorf("first %d of %d bytes: %v", n, len(s.content), err)
		}
	}
}

// ParseHeaderLine tells whether line is a header.
func ParseHeaderLine(line []byte) error {
	_, err := ParseHeader(line)
	return err
}

// frameOf returns which frame of the sample holds the byte, len(frames) for the index and what follows.
func (s *sample) frameOf(at int) int {
	for i, f := range s.frames {
		if int64(at) < f.end {
			return i
		}
	}
	return len(s.frames)
}

// TestEveryFlip changes each byte of a capture, in two ways. A changed frame is named and not given, or given as it was,
// and all other frames are read.
func TestEveryFlip(t *testing.T) {
	t.Parallel()
	s := makeSample(t)
	for at := range s.data {
		if racing && at%10 > 0 {
			continue
		}
		for _, mask := range append(masks(at), 0xFF) {
			data := bytes.Clone(s.data)
			data[at] ^= mask
			r, entries := readBytes(data)
			if err := s.checkDamaged(r, entries, s.frameOf(at)); err != nil {
				t.Fatalf("byte %d ^ %#x, in frame %d: %v\ndamage %v", at, mask, s.frameOf(at), err, r.Damage())
			}
			if mask == 0xFF || at%2 > 0 { // following takes longer
				continue
			}
			r, entries = follow(chop(data, 300))
			wrong := false
			for _, e := range entries {
				wrong = wrong || s.lines[e.N] != string(e.Line)
			}
			if wrong && len(r.Damage()) == 0 {
				t.Fatalf("byte %d ^ %#x, followed: wrong entries without a word", at, mask)
			}
			if len(entries) < len(s.lines) && len(r.Damage()) == 0 && r.Ended() {
				t.Fatalf("byte %d ^ %#x, followed: %d of %d entries without a word", at, mask, len(entries), len(s.lines))
			}
		}
	}
}

// checkDamaged says what is wrong with reading the sample when one frame is damaged.
func (s *sample) checkDamaged(r *Reader, entries []Entry, frame int) error {
	if r.Err() != nil {
		return r.Err()
	}
	got := map[int64]bool{}
	unchecked := int64(-1) // the frame of which entries are kept that no checksum covers
	for _, d := range r.Damage() {
		if strings.Contains(d.Cause, "could be read, unchecked") {
			unchecked = d.Off
		}
	}
	for _, e := range entries {
		if want := s.lines[e.N]; string(e.Line) != want {
			if frame >= 0 && frame < len(s.frames) && s.frames[frame].start == unchecked {
				continue
			}
			return fmt.Errorf("entry %d is %s, was %s", e.N, e.Line, want)
		}
		if got[e.N] {
			return fmt.Errorf("entry %d twice", e.N)
		}
		got[e.N] = true
	}
	for i, f := range s.frames {
		for n := f.first; n <= f.last && i != frame; n++ {
			if !got[n] {
				return fmt.Errorf("entry %d of frame %d at byte %d is missing", n, i, f.start)
			}
		}
	}
	if len(entries) == len(s.lines) {
		return nil
	}
	at := s.frames[frame].start
	if !slices.ContainsFunc(r.Damage(), func(d Damage) bool { return d.Off == at }) && r.Ended() {
		return fmt.Errorf("%d of %d entries, and damage at byte %d is not named", len(entries), len(s.lines), at)
	}
	return nil
}

func TestDamagedFrames(t *testing.T) {
	s := makeSample(t)
	f := func(i int) []byte { return s.data[s.frames[i].start:s.frames[i].end] }
	tail := s.data[s.end:]
	join := func(p ...[]byte) []byte { return bytes.Join(p, nil) }
	overwritten := join(f(0), f(1), bytes.Repeat([]byte{0}, len(f(2))), f(3), f(4), f(5), tail)
	for _, test := range []struct {
		name    string
		data    []byte
		frames  []int // whose entries are given
		kept    int64 // entries that are given of frame 2
		damage  []string
		noEnd   bool
		noStart bool
	}{
		{name: "whole", data: s.data, frames: []int{0, 1, 2, 3, 4, 5}},
		{name: "without index", data: s.data[:s.end], frames: []int{0, 1, 2, 3, 4, 5}},
		{name: "two swapped", data: join(f(0), f(2), f(1), f(3), f(4), f(5), tail), frames: []int{0, 2, 3, 4, 5}, damage: []string{"are missing", "left out"}},
		{name: "first two swapped", data: join(f(1), f(0), f(2), f(3), f(4), f(5), tail), frames: []int{1, 2, 3, 4, 5}, damage: []string{"the header is missing", "are missing", "line after entry", "left out"}, noStart: true},
		{name: "one twice", data: join(f(0), f(1), f(1), f(2), f(3), f(4), f(5), tail), frames: []int{0, 1, 2, 3, 4, 5}, damage: []string{"left out"}},
		{name: "one removed", data: join(f(0), f(1), f(3), f(4), f(5), tail), frames: []int{0, 1, 3, 4, 5}, damage: []string{"are missing"}},
		{name: "first removed", data: join(f(1), f(2), f(3), f(4), f(5), tail), frames: []int{1, 2, 3, 4, 5}, damage: []string{"the header is missing", "are missing"}, noStart: true},
		{name: "last removed", data: join(f(0), f(1), f(2), f(3), f(4), tail), frames: []int{0, 1, 2, 3, 4}, noEnd: true},
		{name: "one overwritten with zeros", data: overwritten, frames: []int{0, 1, 3, 4, 5}, damage: []string{"not a zstd frame", "are missing"}},
		{name: "one cut short", data: join(f(0), f(1), f(2)[:len(f(2))/2], f(3), f(4), f(5), tail), frames: []int{0, 1, 3, 4, 5}, kept: 3, damage: []string{"could be read, unchecked", "are missing"}},
		{name: "last cut short, index behind it", data: join(s.data[:s.frames[5].start], f(5)[:20], tail), frames: []int{0, 1, 2, 3, 4}, damage: []string{""}, noEnd: true},
		{name: "garbage behind the end", data: join(s.data, []byte("garbage that somebody appended")), frames: []int{0, 1, 2, 3, 4, 5}, damage: []string{"not a zstd frame"}},
		{name: "zeros behind the end", data: join(s.data, make([]byte, 5000)), frames: []int{0, 1, 2, 3, 4, 5}, damage: []string{"not a zstd frame"}},
		{name: "garbage between frames", data: join(f(0), f(1), []byte("garbage"), f(2), f(3), f(4), f(5), tail), frames: []int{0, 1, 2, 3, 4, 5}, damage: []string{"not a zstd frame"}},
		{name: "the whole capture twice", data: join(s.data, s.data), frames: []int{0, 1, 2, 3, 4, 5}, damage: []string{"line after entry", "left out"}},
		{name: "foreign skippable frames", data: join([]byte("\x5f\x2a\x4d\x18\x03\x00\x00\x00abc"), f(0), []byte("\x50\x2a\x4d\x18\x00\x00\x00\x00"), f(1), f(2), f(3), f(4), f(5)), frames: []int{0, 1, 2, 3, 4, 5}},
		{name: "skippable frame that claims 4 GiB", data: join(f(0), f(1), []byte("\x50\x2a\x4d\x18\xff\xff\xff\xff"), f(2)), frames: []int{0, 1}, noEnd: true},
		{name: "empty frames", data: join(f(0), emptyFrame, emptyFrame, f(1), f(2), f(3), f(4), f(5)), frames: []int{0, 1, 2, 3, 4, 5}},
	} {
		check := func(t *testing.T, r *Reader, entries []Entry) {
			if r.Err() != nil {
				t.Fatal(r.Err())
			}
			var want, got []int64
			for _, i := range test.frames {
				if i == 3 && test.kept > 0 {
					for n := range test.kept {
						want = append(want, s.frames[2].first+n)
					}
				}
				for n := s.frames[i].first; n <= s.frames[i].last; n++ {
					want = append(want, n)
				}
			}
			for _, e := range entries {
				got = append(got, e.N)
				if string(e.Line) != s.lines[e.N] {
					t.Errorf("entry %d is %s", e.N, e.Line)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("entries %v, want %v", got, want)
			}
			if r.Ended() == test.noEnd {
				t.Errorf("ended is %v", r.Ended())
			}
			for i, d := range r.Damage() {
				if i >= len(test.damage) || !strings.Contains(d.Error(), test.damage[i]) {
					t.Errorf("damage %v, want %q", r.Damage(), test.damage)
					break
				}
			}
			if len(r.Damage()) < len(test.damage) {
				t.Errorf("damage %v, want %q", r.Damage(), test.damage)
			}
			if h, err := r.Header(); err != nil || h.Pitap != 1 || (h.PID == 0) != test.noStart {
				t.Errorf("header %+v, %v", h, err)
			}
		}
		t.Run(test.name, func(t *testing.T) {
			r, entries := readBytes(test.data)
			check(t, r, entries)
		})
		t.Run(test.name+", followed", func(t *testing.T) {
			r, entries := follow([][]byte{test.data})
			check(t, r, entries)
		})
	}
}

// Damage is told near the byte where it is, not where its frame begins.
func TestDamageIsNear(t *testing.T) {
	s := makeSample(t)
	frame := s.frames[1]
	at := frame.blocks[len(frame.blocks)/2]
	data := bytes.Clone(s.data)
	for i := range 40 {
		data[at+int64(i)] = 0xFF
	}
	r, _ := readBytes(data)
	d := r.Damage()
	if len(d) == 0 || d[0].Off != frame.start || d[0].Near < at-200_000 || d[0].Near > at+200_000 || d[0].Near <= frame.start {
		t.Fatalf("damage %+v, byte %d of the frame at %d was overwritten", d, at, frame.start)
	}
	if want := fmt.Sprintf("near byte %d", d[0].Near); d[0].Where() != want || !strings.HasPrefix(d[0].Error(), strings.TrimPrefix(want, "near ")+": ") {
		t.Errorf("says %q and %q", d[0].Where(), d[0].Error())
	}
}
