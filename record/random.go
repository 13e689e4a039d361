package record

import (
	"bytes"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// maxRandom bounds the content of a frame that a FrameReader gives, in bytes.
const maxRandom = 96 << 20

// FrameReader gives the content of single frames of a capture, in any order: for readers that know from an index, or
// from Reader.Unit, where frames begin. It is not safe for concurrent use.
type FrameReader struct {
	src io.ReaderAt
	dec *zstd.Decoder
	buf []byte
}

// NewFrameReader returns a reader of the compressed capture in src.
func NewFrameReader(src io.ReaderAt) (*FrameReader, error) {
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderMaxMemory(maxRandom))
	if err != nil {
		return nil, err
	}
	return &FrameReader{src: src, dec: dec}, nil
}

// Append appends the content of the whole frame that begins at off and ends at or before limit: entry lines, in the
// first frame of a capture the header's line before them. An error names the frame; dst is then as it was.
func (r *FrameReader) Append(dst []byte, off, limit int64) ([]byte, error) {
	s, err := walk(r.src, off, limit)
	switch {
	case err != nil:
		return dst, Damage{Off: off, Cause: err.Error()}
	case !s.whole || s.skippable:
		return dst, Damage{Off: off, Cause: "no whole frame with content"}
	case s.end-s.start > maxRandom:
		return dst, Damage{Off: off, Cause: fmt.Sprintf("frame of %d bytes is too long to be read by itself", s.end-s.start)}
	}
	if n := int(s.end - s.start); cap(r.buf) < n {
		r.buf = make([]byte, n)
	}
	buf := r.buf[:s.end-s.start]
	if n, err := readAt(r.src, buf, off, limit); err != nil || n < len(buf) {
		return dst, Damage{Off: off, Cause: fmt.Sprintf("reading: %v", err)}
	}
	if cap(r.buf) > 4<<20 {
		r.buf = nil
	}
	out, err := r.dec.DecodeAll(buf, dst)
	if err != nil {
		return dst, Damage{Off: off, Cause: err.Error()}
	}
	return out, nil
}

// Kept appends what a Reader gives of a frame that Append can't read: the whole lines that stand before the damage. The
// error names the damage, and is there in any case.
func (r *FrameReader) Kept(dst []byte, off, limit int64) ([]byte, error) {
	c := &frameContent{src: r.src, dec: r.dec, pos: off, garbage: -1}
	defer r.dec.Reset(nil)
	for n := len(dst); ; {
		at := len(dst)
		var err error
		if dst, err = c.next(dst, limit); err == nil && len(dst)-n <= maxRandom && c.at == off && c.pos == off {
			continue
		}
		if err == nil {
			dst, err = dst[:at], Damage{Off: off, Cause: "no damaged frame"}
		}
		return dst[:n+bytes.LastIndexByte(dst[n:], '\n')+1], err
	}
}

// Close frees what the reader holds.
func (r *FrameReader) Close() { r.dec.Close() }
