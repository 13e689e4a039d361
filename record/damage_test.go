package record

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"testing"
)

// long asks for the tables that take minutes.
var long = os.Getenv("PITAP_TEST_LONG") == "1"

// masks gives what is done to the byte at a place: one bit of it is changed, in the long form each in turn.
func masks(at int) []byte {
	if !long {
		return []byte{1 << (at % 8)}
	}
	return []byte{1, 2, 4, 8, 16, 32, 64, 128}
}

// TestFlipOfOpenCapture changes each byte of a capture whose recorder was killed. What is in its open frame has no
// checksum: there an entry may be another, and the reader says of how many that is so.
func TestFlipOfOpenCapture(t *testing.T) {
	t.Parallel()
	s := makeSample(t)
	last := s.frames[len(s.frames)-1]
	for _, cut := range []int64{last.blocks[0], last.blocks[len(last.blocks)-2]} {
		_, whole := readBytes(s.data[:cut])
		for at := range int(cut) {
			if racing && at%10 > 0 {
				continue
			}
			for _, mask := range masks(at) {
				data := bytes.Clone(s.data[:cut])
				data[at] ^= mask
				r, entries := readBytes(data)
				if err := s.checkOpen(r, entries, whole, s.frameOf(at)); err != nil {
					t.Fatalf("byte %d of %d ^ %#x, in frame %d: %v\ndamage %v, %d unchecked", at, cut, mask, s.frameOf(at), err, r.Damage(), r.Unchecked())
				}
			}
		}
	}
}

// checkOpen says what is wrong with reading a sample that was cut in its last frame, when one frame is damaged; whole is
// what it gives undamaged.
func (s *sample) checkOpen(r *Reader, entries, whole []Entry, frame int) error {
	open := s.frames[len(s.frames)-1]
	if len(entries) < len(whole) && len(r.Damage()) == 0 && !r.Torn() {
		return fmt.Errorf("%d of %d entries without a word", len(entries), len(whole))
	}
	if frame < len(s.frames)-1 {
		cut := &sample{frames: slices.Clone(s.frames), lines: map[int64]string{}}
		for _, e := range whole {
			cut.lines[e.N] = string(e.Line)
		}
		cut.frames[len(s.frames)-1].last = int64(len(whole))
		return cut.checkDamaged(r, entries, frame)
	}
	for i, e := range entries {
		said := int64(len(entries)-i) <= r.Unchecked() || slices.ContainsFunc(r.Damage(), func(d Damage) bool { return d.Off == open.start })
		if string(e.Line) != s.lines[e.N] && !said || e.N != int64(i+1) && e.N < open.first {
			return fmt.Errorf("entry %d is %s, was %s", e.N, e.Line, s.lines[e.N])
		}
	}
	if int64(len(entries)) < open.first-1 {
		return fmt.Errorf("%d entries, and %d stand in whole frames", len(entries), open.first-1)
	}
	return nil
}

// TestDamageKeepsTheBeginning: of a small capture, which has one frame, damage leaves what stands before it.
func TestDamageKeepsTheBeginning(t *testing.T) {
	f := &memFile{}
	w, err := NewWriter(f, &Header{Pitap: Version, Start: sampleStart}, false)
	if err != nil {
		t.Fatal(err)
	}
	var flushed []int // size of the file, and entries
	for i := range 20 {
		w.Add(&Entry{T: int64(i), From: Agent, Form: Msg, Body: fmt.Appendf(nil, `{"type":"x","text":"%x"}`, traffic(300, uint64(i))), EOL: "\n"})
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		flushed = append(flushed, len(f.data))
	}
	if err := w.End(30); err != nil {
		t.Fatal(err)
	}
	_, want := readBytes(f.data)
	for i, at := range flushed[:19] {
		data := bytes.Clone(f.data)
		for j := at; j < flushed[i+1]; j++ { // a block of the file system was lost
			data[j] = 0xFF
		}
		r, entries := readBytes(data)
		if len(entries) != i+1 || len(r.Damage()) != 1 || r.Damage()[0].Off != 0 || r.Ended() {
			t.Errorf("behind %d entries: %d are kept, damage %v", i+1, len(entries), r.Damage())
			continue
		}
		for k, e := range entries {
			if !bytes.Equal(e.Line, want[k].Line) {
				t.Errorf("behind %d entries: entry %d is %s", i+1, k, e.Line)
			}
		}
		c, err := NewFrameReader(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.Kept(nil, 0, int64(len(data)))
		if wholeLines(got) != int64(i+1) || err == nil {
			t.Errorf("behind %d entries: the frame by itself keeps %d, %v", i+1, wholeLines(got), err)
		}
		c.Close()
	}
}

// TestWrongNumberStopsNothing: what is kept of a damaged frame has a number that is too great, and the frames behind it
// are read.
func TestWrongNumberStopsNothing(t *testing.T) {
	line := func(n int) string { return fmt.Sprintf(`{"n":%d,"from":"agent","off":0,"msg":{"n":%d}}`+"\n", n, n) }
	first := line(1) + line(2) + line(900)
	frame := []byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58, byte(len(first) << 3), byte(len(first) >> 5), 0}
	frame = append(append(frame, first...), 0xFF, 0xFF, 0xFF) // a block of a kind that does not exist
	data := slices.Concat(compressed([]byte(`{"pitap":1}`+"\n")), frame, compressed([]byte(line(4)+line(5))))
	r, entries := readBytes(data)
	var got []int64
	for _, e := range entries {
		got = append(got, e.N)
	}
	if !slices.Equal(got, []int64{1, 2, 900, 4, 5}) || len(r.Damage()) < 2 {
		t.Errorf("entries %v, damage %v", got, r.Damage())
	}
}
