package record

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/cespare/xxhash/v2"
	"github.com/klauspost/compress/zstd"
)

// ErrWhole is returned by Mend for a capture that needs no mending.
var ErrWhole = errors.New("capture is whole")

// Mended says what Mend did.
type Mended struct {
	Kept    int64 // bytes of the file that were kept
	Dropped int64 // bytes behind them that held no whole entry
	Entries int64 // entries of the open frame that are kept
}

// Mend makes a capture that was cut readable for every zstd program: it closes the frame that was open, drops what is
// no whole entry, and adds the index. There is still no end note, so readers still say that it was cut. A capture that
// needs nothing gives ErrWhole, one that is live an error.
func Mend(path string) (*Mended, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := Lock(f); err != nil {
		return nil, fmt.Errorf("%s: it is live, or can't be locked: %w", path, err)
	}
	size, err := fileSize(f)
	if err != nil {
		return nil, err
	}
	if _, err := ReadIndex(f, size); err == nil {
		return nil, fmt.Errorf("%s: %w", path, ErrWhole)
	}
	last, err := lastFrame(f, size)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	m := &Mended{}
	end := last.end
	if !last.whole {
		if end, err = closeOpen(f, last, m); err != nil {
			return nil, fmt.Errorf("%s: mend the frame at byte %d: %w", path, last.start, err)
		}
	}
	m.Kept = min(end, size)
	m.Dropped = size - m.Kept
	if err := f.Truncate(end); err != nil {
		return nil, err
	}
	return m, addIndex(f, end)
}

// lastFrame walks to the last frame with content.
func lastFrame(src io.ReaderAt, size int64) (last span, err error) {
	for off := int64(0); off < size; {
		s, err := walk(src, off, size)
		if err != nil {
			return s, Damage{off, err.Error()}
		}
		if s.skippable {
			if !s.whole { // an index that was cut: it is written anew
				return last, nil
			}
		} else {
			last = s
		}
		if !s.whole || s.end == off {
			return last, nil
		}
		off = s.end
	}
	return last, nil
}

// closeOpen ends an open frame behind its last block that ends with an entry. Entries of later blocks go to a frame of
// their own. It returns the new end of the file.
func closeOpen(f *os.File, s span, m *Mended) (end int64, err error) {
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow), zstd.IgnoreChecksum(true))
	if err != nil {
		return 0, err
	}
	defer dec.Close()
	var content []byte
	whole, sum := s.start, uint64(0) // the last block end with an entry's end, and the sum of the content before it
	kept := 0
	for _, at := range blockEnds(f, s) {
		part := io.NewSectionReader(f, s.start, at-s.start)
		if err := dec.Reset(io.MultiReader(part, bytes.NewReader(frameEnd(0)))); err != nil {
			return 0, err
		}
		var b bytes.Buffer
		if _, err := io.Copy(&b, io.LimitReader(dec, maxVerified)); err != nil {
			return 0, err
		}
		content = b.Bytes()
		if n := len(content); n > 0 && content[n-1] == '\n' {
			whole, sum, kept = at, xxhash.Sum64(content), n
		}
	}
	m.Entries = int64(bytes.Count(content, []byte{'\n'}))
	rest := content[kept : bytes.LastIndexByte(content, '\n')+1]
	if whole > s.start {
		if _, err := f.WriteAt(frameEnd(sum), whole); err != nil {
			return 0, err
		}
		whole += blockHeader + 4
	}
	if len(rest) == 0 {
		return whole, nil
	}
	w, err := newFrameWriter(f, whole, false)
	if err != nil {
		return 0, err
	}
	if err = w.write(rest); err == nil {
		err = w.close()
	}
	return w.pos, err
}

// blockEnds gives the ends of the whole blocks of a frame that is not whole.
func blockEnds(src io.ReaderAt, s span) []int64 {
	var ends []int64
	walkFrame(src, s.start, s.end, func(end int64) { ends = append(ends, end) })
	return ends
}

// Index finds out what the frames of a capture of size bytes hold, by reading all of it: for captures without an index.
func Index(src Source, size int64) ([]FrameInfo, error) {
	var rows []FrameInfo
	byOff := map[int64]int{}
	for off := int64(0); off < size; {
		s, err := walk(src, off, size)
		if err != nil || !s.whole {
			break
		}
		if !s.skippable {
			byOff[off] = len(rows)
			rows = append(rows, FrameInfo{Off: off, Size: s.end - off})
		}
		off = s.end
	}
	r := NewReader(src, func() (int64, error) { return size, nil })
	for r.Next() {
		e := r.Entry()
		i, ok := byOff[r.Unit()]
		if !ok {
			continue
		}
		row := &rows[i]
		row.add(e)
		row.Raw += int64(len(e.Line)) + 1
	}
	return rows, r.Err()
}

// addIndex writes the index of a capture whose frames end at end.
func addIndex(f *os.File, end int64) error {
	rows, err := Index(f, end)
	if err != nil {
		return err
	}
	if len(rows) > 0 { // the header line is content, too, but no entry
		r := NewReader(f, func() (int64, error) { return end, nil })
		if _, err := r.Header(); err != nil {
			return err
		}
		rows[0].Raw += r.passed + int64(r.at)
	}
	index := appendIndex(nil, rows)
	_, err = f.WriteAt(appendSeekTable(index, rows, len(index)), end)
	return err
}
