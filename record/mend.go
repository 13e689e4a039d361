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

// ErrWhole is wrapped by the error that Mend returns for a capture that needs no mending.
var ErrWhole = errors.New("capture is whole")

// Mended says what Mend did.
type Mended struct {
	Kept    int64 // bytes of the file that were kept
	Dropped int64 // bytes behind them that held no whole entry, or an index that was cut
	Entries int64 // entries of the open frame that are kept
}

// Mend makes a capture that was cut readable for every zstd program: it closes the frame that was open, drops what is
// no whole entry, and adds the index. There is still no end note, so readers still say that it was cut. A capture that
// needs nothing gives ErrWhole; one that is live, damaged, or holds no header yet gives an error. Then the file stays as
// it is.
func Mend(path string) (*Mended, error) {
	m, err := mend(path)
	if err != nil {
		return nil, fmt.Errorf("mend %s: %w", path, err)
	}
	return m, nil
}

func mend(path string) (*Mended, error) {
	c, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	a, _ := c.file.Stat()
	if b, err := f.Stat(); err != nil || !os.SameFile(a, b) {
		return nil, errors.New("it is another file now")
	}
	if err := Lock(f); err != nil {
		if _, known := Locked(c.file); known || c.Live() {
			return nil, errors.New("it is live")
		}
	}
	size := c.Size()
	if _, err := ReadIndex(f, size); err == nil {
		return nil, ErrWhole
	}
	if _, err := c.Header(); err != nil {
		return nil, err
	}
	if _, ok := c.content.(*plainContent); ok {
		return nil, errors.New("it is not compressed: there is nothing to mend")
	}
	return rewriteEnd(f, size)
}

// rewriteEnd writes the end of a capture of size bytes anew.
func rewriteEnd(f *os.File, size int64) (*Mended, error) {
	rows, err := Index(f, size)
	if err != nil {
		return nil, err
	}
	end := int64(0)
	for _, r := range rows {
		if r.Off != end {
			return nil, Damage{Off: end, Cause: "the frame is damaged"}
		}
		end += r.Size
	}
	open, err := openFrame(f, end, size)
	if err != nil {
		return nil, Damage{Off: end, Cause: err.Error()}
	}
	tail, err := open.whole()
	if err != nil {
		return nil, err
	}
	m := &Mended{Kept: open.kept, Dropped: size - open.kept, Entries: int64(bytes.Count(open.lines, []byte{'\n'}))}
	if end == 0 {
		m.Entries-- // the header is none
	}
	if _, err := f.WriteAt(tail, open.kept); err != nil {
		return nil, err
	}
	size = open.kept + int64(len(tail))
	if err := f.Truncate(size); err != nil {
		return nil, err
	}
	more, err := indexFrom(f, end, size)
	if err != nil {
		return nil, err
	}
	rows = append(rows, more...)
	index := appendIndex(nil, rows)
	if _, err := f.WriteAt(appendSeekTable(index, rows, len(index)), size); err != nil {
		return nil, err
	}
	return m, f.Sync()
}

// openEnd is what a capture ends with behind its last whole frame.
type openEnd struct {
	lines  []byte // the whole lines of the open frame
	kept   int64  // end in the file of the frame's last block that ends with a line's end, or where the frame begins
	before int    // bytes of lines that lie before kept
	closed bool   // kept is the end of the frame's last block, only the checksum is missing
}

// openFrame reads what there is at off, behind the last whole frame.
func openFrame(src io.ReaderAt, off, size int64) (*openEnd, error) {
	open := &openEnd{kept: off}
	ends := []int64{off}
	s, err := walkFrame(src, off, size, func(end int64) { ends = append(ends, end) })
	if err != nil || s.skippable {
		return open, err
	}
	if s.end-off > maxVerified {
		return nil, fmt.Errorf("the frame is open and has more than %d bytes", maxVerified)
	}
	raw := make([]byte, s.end-off)
	if n, err := readAt(src, raw, off, s.end); err != nil || n < len(raw) {
		return nil, fmt.Errorf("read %d of %d bytes of the open frame: %w", n, len(raw), err)
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderMaxMemory(maxVerified))
	if err != nil {
		return nil, err
	}
	defer dec.Close()
	// A flush ends with a whole entry, so few blocks have to be looked at.
	for i := len(ends) - 1; i > 0; i-- {
		content, err := dec.DecodeAll(raw[:ends[i]-off], nil)
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, err
		}
		lines := content[:bytes.LastIndexByte(content, '\n')+1]
		if open.lines == nil {
			open.lines = lines
		}
		if len(lines) == len(content) {
			open.kept, open.before = ends[i], len(content)
			open.closed = s.closed && i == len(ends)-1
			break
		}
	}
	return open, nil
}

// whole is what has to stand behind kept so that no frame is open: the frame's end, and the lines that are not in it as
// a frame of their own.
func (o *openEnd) whole() ([]byte, error) {
	var tail []byte
	if o.before > 0 {
		tail = frameEnd(xxhash.Sum64(o.lines[:o.before]))
	}
	if o.closed {
		tail = tail[blockHeader:]
	}
	if o.before == len(o.lines) {
		return tail, nil
	}
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(windowSize))
	if err != nil {
		return nil, err
	}
	defer enc.Close()
	return enc.EncodeAll(o.lines[o.before:], tail), nil
}
