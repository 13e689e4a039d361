package replay

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"pitap/record"
)

// maxMemory is how many bytes of entries a Script keeps in memory. A longer capture is read again as it is played.
const maxMemory = 32 << 20

// place is where an entry stands: skip entries behind the one that begins at unit. A unit is a line, or a frame of a
// compressed capture.
type place struct {
	unit int64
	skip int32
}

// source gives the entries of a capture by their places. The entry is valid until the next call; next is the place of
// the entry behind it.
type source interface {
	entry(p place) (e *record.Entry, next place, err error)
}

// memory is a capture in memory: its entry lines, each with its LF.
type memory struct {
	lines []byte
	e     record.Entry
}

func (m *memory) entry(p place) (*record.Entry, place, error) {
	if p.unit < 0 || p.unit >= int64(len(m.lines)) {
		return nil, p, io.ErrUnexpectedEOF
	}
	line := m.lines[p.unit:]
	line = line[:bytes.IndexByte(line, '\n')+1]
	e, err := record.ParseEntry(line)
	return e, place{unit: p.unit + int64(len(line))}, err
}

// file is a capture that is read again from its file.
type file struct {
	src    record.Source
	size   int64
	frames bool // compressed
	rd     *record.Reader
	at     place // what rd reads next
	last   place // what rd read last, and whether its entry is still there
	kept   bool
}

func (f *file) entry(p place) (*record.Entry, place, error) {
	if f.kept && f.last == p {
		return f.rd.Entry(), f.at, nil
	}
	f.kept = false
	if f.rd == nil || f.at != p {
		f.rd = f.reader(p.unit)
		for range p.skip {
			f.rd.Next()
		}
	}
	if !f.rd.Next() {
		err := f.rd.Err()
		if err == nil {
			err = errors.New("the entry is not there any more")
		}
		f.rd = nil
		return nil, p, fmt.Errorf("read again at byte %d: %w", p.unit, err)
	}
	f.at, f.last, f.kept = place{p.unit, p.skip + 1}, p, true
	return f.rd.Entry(), f.at, nil
}

// reader reads from a unit on. The reader wants a header, so it is given one in front of what is there.
func (f *file) reader(unit int64) *record.Reader {
	s := &spliced{head: (&record.Header{Pitap: record.Version}).Encode(), src: f.src, from: unit}
	if f.frames {
		s.head = rawFrame(s.head)
	}
	size := int64(len(s.head)) + f.size - unit
	return record.NewReader(s, func() (int64, error) { return size, nil })
}

// spliced is a source from some offset on, with other bytes in front.
type spliced struct {
	head []byte
	src  io.ReaderAt
	from int64
}

func (s *spliced) ReadAt(p []byte, off int64) (n int, err error) {
	if off < int64(len(s.head)) {
		n = copy(p, s.head[off:])
		if n == len(p) {
			return n, nil
		}
	}
	more, err := s.src.ReadAt(p[n:], s.from+off+int64(n)-int64(len(s.head)))
	return n + more, err
}

// rawFrame is a zstd frame (RFC 8878) that holds content as it is, without a checksum; content is shorter than 256 bytes.
func rawFrame(content []byte) []byte {
	b := []byte{0x28, 0xB5, 0x2F, 0xFD, 0x20, byte(len(content))}
	header := uint32(len(content))<<3 | 1
	b = append(b, byte(header), byte(header>>8), byte(header>>16))
	return append(b, content...)
}

// compressed tells whether a file begins as a sequence of zstd frames.
func compressed(src io.ReaderAt) bool {
	var head [4]byte
	if n, _ := src.ReadAt(head[:], 0); n < len(head) {
		return false
	}
	magic := binary.LittleEndian.Uint32(head[:])
	return magic == 0xFD2FB528 || magic&^0xF == 0x184D2A50
}
