package replay

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"pitap/record"
)

// maxMemory is how many bytes of entries a Script keeps in memory. A longer capture is read again as it is played.
var maxMemory = 32 << 20 // changed by tests alone

// place is where an entry stands: skip entries behind the one that begins at unit. A unit is a line, or a frame of a
// compressed capture.
type place struct {
	unit int64
	skip int32
}

// piece is what a step needs of an entry.
type piece struct {
	t    int64
	body []byte
	eol  string
	cuts []int // offsets in body and eol at which reads ended when it was recorded
}

// source gives the entries of a capture by their places. The piece is valid until the next call; next is the place of
// the entry behind it.
type source interface {
	entry(p place) (e piece, next place, err error)
}

// memory is a capture in memory: of each entry its time, the lengths of its bytes and of its line end, how many cuts it
// has, and all of these. They lie in chunks, so that nothing is moved when there are more; the unit of a place is a chunk and an offset in it.
type memory struct {
	chunks [][]byte
	size   int // of all entries, in bytes
}

const (
	memoryHead  = 8 + 4 + 2
	memoryChunk = 1 << 20
	maxCuts     = 64 // of a record that are kept
)

// memorySize is how much an entry takes.
func memorySize(e *record.Entry) int {
	return memoryHead + len(e.Body) + len(e.EOL) + 4*min(len(e.Cuts), maxCuts)
}

// add keeps an entry, and returns the unit of its place.
func (m *memory) add(e *record.Entry) int64 {
	size := memorySize(e)
	last := len(m.chunks) - 1
	if last < 0 || cap(m.chunks[last])-len(m.chunks[last]) < size {
		room := min(memoryChunk, max(4<<10, m.size)) // a short session takes little
		m.chunks = append(m.chunks, make([]byte, 0, max(room, size)))
		last++
	}
	b := m.chunks[last]
	at := int64(last)<<32 | int64(len(b))
	b = binary.LittleEndian.AppendUint64(b, uint64(e.T))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(e.Body)))
	cuts := e.Cuts[:min(len(e.Cuts), maxCuts)]
	b = append(append(append(b, byte(len(e.EOL)), byte(len(cuts))), e.Body...), e.EOL...)
	for _, c := range cuts {
		b = binary.LittleEndian.AppendUint32(b, uint32(min(max(c.At, 0), math.MaxUint32)))
	}
	m.chunks[last] = b
	m.size += size
	return at
}

func (m *memory) entry(p place) (e piece, next place, err error) {
	chunk, at := p.unit>>32, p.unit&(1<<32-1)
	if p.unit >= 0 && chunk < int64(len(m.chunks)) && at == int64(len(m.chunks[chunk])) {
		chunk, at = chunk+1, 0
	}
	if p.unit < 0 || chunk >= int64(len(m.chunks)) || at+memoryHead > int64(len(m.chunks[chunk])) {
		return e, p, io.ErrUnexpectedEOF
	}
	b := m.chunks[chunk][at:]
	head, rest := b[:memoryHead], b[memoryHead:]
	e.t = int64(binary.LittleEndian.Uint64(head))
	n, eol, cuts := int(binary.LittleEndian.Uint32(head[8:])), int(head[12]), int(head[13])
	e.body = rest[:n:n]
	switch eol {
	case 1:
		e.eol = "\n"
	case 2:
		e.eol = "\r\n"
	}
	for i := range cuts {
		e.cuts = append(e.cuts, int(binary.LittleEndian.Uint32(rest[n+eol+4*i:])))
	}
	return e, place{unit: chunk<<32 | at + memoryHead + int64(n+eol+4*cuts)}, nil
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

func (f *file) entry(p place) (piece, place, error) {
	if f.kept && f.last == p {
		return f.piece(), f.at, nil
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
		return piece{}, p, fmt.Errorf("read again at byte %d: %w", p.unit, err)
	}
	f.at, f.last, f.kept = place{p.unit, p.skip + 1}, p, true
	return f.piece(), f.at, nil
}

func (f *file) piece() piece {
	e := f.rd.Entry()
	p := piece{t: e.T, body: e.Body, eol: e.EOL}
	for _, c := range e.Cuts[:min(len(e.Cuts), maxCuts)] {
		p.cuts = append(p.cuts, int(min(max(c.At, 0), math.MaxUint32)))
	}
	return p
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
