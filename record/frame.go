package record

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/cespare/xxhash/v2"
	"github.com/klauspost/compress/zstd"
)

// Facts of the zstd format, RFC 8878.
const (
	frameMagic     = 0xFD2FB528
	skippableMagic = 0x184D2A50 // to 0x184D2A5F
	seekTableMagic = 0x184D2A5E // of the frame that holds a seek table
	maxBlock       = 128 << 10
	blockHeader    = 3
)

const (
	// A frame is closed at the first entry boundary after so many bytes of content: with 1 MiB, sessions that repeat
	// long outputs grow by a third, since a frame knows nothing of those before it; with more, damage costs more.
	frameSize  = 2 << 20
	windowSize = 2 << 20 // of the frames that are written
	maxWindow  = 32 << 20
)

// File is what a capture is written to; *os.File is one.
type File interface {
	io.WriterAt
	Truncate(size int64) error
	Sync() error
}

// frameWriter lays content into zstd frames. Each flush is one write to the file, and after an error the file can be
// brought back to the last flush.
type frameWriter struct {
	file    File
	enc     *zstd.Encoder
	out     []byte        // compressed, not in the file yet
	pos     int64         // where out goes: the end of the last flush
	start   int64         // of the open frame
	size    int64         // of its content, what was not flushed included
	sum     xxhash.Digest // of its content
	flushed xxhash.Digest // of what of it is in the file
	sync    bool          // after every flush
}

func newFrameWriter(f File, pos int64, sync bool) (*frameWriter, error) {
	w := &frameWriter{file: f, pos: pos, start: pos, sync: sync}
	w.sum.Reset()
	enc, err := zstd.NewWriter((*outBuffer)(w), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(windowSize),
		zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithLowerEncoderMem(true))
	if err != nil {
		return nil, err
	}
	w.enc = enc
	return w, nil
}

// outBuffer takes what the encoder puts out.
type outBuffer frameWriter

func (b *outBuffer) Write(p []byte) (int, error) {
	b.out = append(b.out, p...)
	return len(p), nil
}

// write adds content to the open frame. It reaches the file with the next flush or close.
func (w *frameWriter) write(p []byte) error {
	w.size += int64(len(p))
	w.sum.Write(p)
	_, err := w.enc.Write(p)
	return err
}

// flush brings all content to the file, in an open frame.
func (w *frameWriter) flush() error {
	if err := w.enc.Flush(); err != nil {
		return err
	}
	return w.put()
}

// close ends the open frame, if it has content, and begins a new one.
func (w *frameWriter) close() error {
	if w.size == 0 {
		return nil
	}
	if err := w.enc.Close(); err != nil {
		return err
	}
	if err := w.put(); err != nil {
		return err
	}
	w.begin()
	return nil
}

func (w *frameWriter) begin() {
	w.start, w.size = w.pos, 0
	w.out = w.out[:0]
	w.sum.Reset()
	w.enc.Reset((*outBuffer)(w))
}

func (w *frameWriter) put() error {
	if len(w.out) == 0 {
		return nil
	}
	if size, short := w.short(); short {
		return fmt.Errorf("%w to %d of %d bytes", errShort, size, w.pos)
	} else if size > w.pos {
		w.file.Truncate(w.pos) // nothing of ours stands there
	}
	if _, err := w.file.WriteAt(w.out, w.pos); err != nil {
		return err
	}
	if w.sync { // what may not be on the disk does not count as written
		if err := w.file.Sync(); err != nil {
			return err
		}
	}
	w.pos += int64(len(w.out))
	w.flushed = w.sum
	w.out = w.out[:0]
	if cap(w.out) > 4<<20 {
		w.out = nil
	}
	return nil
}

// errShort is wrapped by the error about a file that somebody has made shorter than it was written: written on, it would
// have a hole.
var errShort = errors.New("capture was cut by another program")

// short tells whether the file is shorter than it was written, and its size; that is 0 where it can't be asked.
func (w *frameWriter) short() (size int64, short bool) {
	f, ok := w.file.(io.Seeker) // where the file stands matters to nobody: it is written by offset
	if !ok {
		return 0, false
	}
	size, err := f.Seek(0, io.SeekEnd)
	if err == nil && size < w.pos { // some file systems write later than they say
		w.file.Sync()
		size, err = f.Seek(0, io.SeekEnd)
	}
	if err != nil {
		return 0, false
	}
	return size, size < w.pos
}

// repair cuts the file back to its last flush and closes the frame that is open there. What was written since is gone.
func (w *frameWriter) repair() error {
	if err := w.file.Truncate(w.pos); err != nil {
		return err
	}
	if w.pos > w.start {
		if _, err := w.file.WriteAt(frameEnd(w.flushed.Sum64()), w.pos); err != nil {
			w.file.Truncate(w.pos)
			return err
		}
		w.pos += blockHeader + 4
	}
	w.begin()
	return nil
}

// frameEnd is what closes a frame that was cut behind a block: an empty last block and the content's checksum.
func frameEnd(sum uint64) []byte {
	return binary.LittleEndian.AppendUint32([]byte{1, 0, 0}, uint32(sum))
}

// span is where a frame lies in a file.
type span struct {
	start, end int64 // end: behind the frame, or behind its last whole block when it is not whole
	whole      bool
	closed     bool // its last block is there, if not its checksum
	skippable  bool
	magic      uint32
	checksum   bool
	content    int64 // at most so many bytes
}

// errFrame is wrapped by errors about bytes that are no zstd frame.
var errFrame = errors.New("not a zstd frame")

// walk finds the frame that starts at off, without decoding it, in a source of size bytes. A frame that goes on past
// size is not whole, and that is no error.
func walk(src io.ReaderAt, off, size int64) (span, error) { return walkFrame(src, off, size, nil) }

// walkFrame is walk, and tells each whole block's end.
func walkFrame(src io.ReaderAt, off, size int64, block func(end int64)) (span, error) {
	s := span{start: off, end: off}
	var head [24]byte // the longest header, and the first block's
	n, err := readAt(src, head[:], off, size)
	if err != nil {
		return s, err
	}
	if n < 4 {
		if n > 0 && !magicPrefix(head[:n]) {
			return s, fmt.Errorf("%w: it starts with %#x", errFrame, head[:n])
		}
		return s, nil
	}
	s.magic = binary.LittleEndian.Uint32(head[:])
	if s.magic&^0xF == skippableMagic {
		s.skippable = true
		if n < 8 {
			return s, nil
		}
		s.end = off + 8 + int64(binary.LittleEndian.Uint32(head[4:]))
		s.whole = s.end <= size
		return s, nil
	}
	if s.magic != frameMagic {
		return s, fmt.Errorf("%w: it starts with %#08x", errFrame, s.magic)
	}
	if n < 5 {
		return s, nil
	}
	var h zstd.Header
	if err := h.Decode(head[:n]); err != nil {
		if n < len(head) && errors.Is(err, io.ErrUnexpectedEOF) {
			return s, nil
		}
		return s, fmt.Errorf("%w: %v", errFrame, err)
	}
	if h.WindowSize > maxWindow {
		return s, fmt.Errorf("frame needs a window of %d bytes, more than %d; compress it again with zstd -19 or less", h.WindowSize, maxWindow)
	}
	s.checksum = h.HasCheckSum
	return walkBlocks(src, s, off+int64(h.HeaderSize), size, block)
}

func walkBlocks(src io.ReaderAt, s span, at, size int64, block func(end int64)) (span, error) {
	s.end = min(at, size)
	for {
		var b [blockHeader]byte
		n, err := readAt(src, b[:], at, size)
		if err != nil {
			return s, err
		}
		if n < len(b) {
			return s, nil
		}
		v := uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16
		length, last := int64(v>>3), v&1 != 0
		content := length
		switch v >> 1 & 3 {
		case 1: // one byte, repeated
			length = 1
		case 2:
			content = maxBlock
		case 3:
			return s, fmt.Errorf("%w: reserved block type at byte %d", errFrame, at)
		}
		if length > maxBlock {
			return s, fmt.Errorf("%w: block of %d bytes at byte %d", errFrame, length, at)
		}
		at += blockHeader + length
		if at > size {
			return s, nil
		}
		s.end = at
		s.content += content
		if block != nil {
			block(at)
		}
		if !last {
			continue
		}
		s.closed = true
		if s.checksum {
			if at += 4; at > size {
				return s, nil
			}
		}
		s.end, s.whole = at, true
		return s, nil
	}
}

// magicPrefix tells whether p, of less than four bytes, could be the beginning of a frame.
func magicPrefix(p []byte) bool {
	frame := binary.LittleEndian.AppendUint32(nil, frameMagic)
	skip := binary.LittleEndian.AppendUint32(nil, skippableMagic|uint32(p[0]&0xF))
	return bytes.HasPrefix(frame, p) || bytes.HasPrefix(skip, p)
}

// readAt reads what there is of p at off, before size. A short count is no error.
func readAt(src io.ReaderAt, p []byte, off, size int64) (int, error) {
	if off >= size {
		return 0, nil
	}
	p = p[:min(int64(len(p)), size-off)]
	n, err := src.ReadAt(p, off)
	if n == len(p) || err == io.EOF {
		err = nil
	}
	return n, err
}
