package record

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"
)

// Glance is what a list of captures says of one: it costs the first and the last frame of a capture, whatever its size.
type Glance struct {
	Header *Header
	Size   int64  // of the file, in bytes
	Live   bool   // a recorder is still writing it
	Ended  bool   // Last is the end note
	Torn   bool   // the file stops inside a frame or a line
	Last   *Entry // the last entry; nil when there is none or it can't be read

	Damaged bool // the first frame, which holds the header, or the last one, or the way there, can't be read
}

// Glancer looks at captures, one after another. It must not be copied.
type Glancer struct {
	dec *zstd.Decoder
	buf []byte

	sums    *FrameReader // of first frames
	content []byte

	spare []byte // of Capture.Last
}

// NewGlancer returns a Glancer. Close frees its memory.
func NewGlancer() (*Glancer, error) {
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderMaxMemory(maxVerified), zstd.IgnoreChecksum(true))
	if err != nil {
		return nil, err
	}
	sums, err := NewFrameReader(nil)
	return &Glancer{dec: dec, sums: sums}, err
}

// Close frees the Glancer's memory.
func (g *Glancer) Close() {
	g.dec.Close()
	g.sums.Close()
}

// Glance looks at a capture. An error is about the file or about its header: then it wraps what Reader.Header's does.
func (g *Glancer) Glance(path string) (*Glance, error) {
	c, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return g.look(c)
}

func (g *Glancer) look(c *Capture) (*Glance, error) {
	v := &Glance{Size: c.Size()}
	var head [4]byte
	n, err := readAt(c.file, head[:], 0, v.Size)
	if err != nil {
		return nil, err
	}
	plain := n > 0 && (head[0] == '{' || blankLine(head[:1]) || string(head[:3]) == bom)
	if v.Header, err = g.header(c.file, v.Size, plain); err != nil {
		v.Live, _ = Locked(c.file)
		return v, err
	}
	c.header = v.Header
	c.spare = g.spare
	var ok bool
	if v.Last, ok = c.Last(); ok {
		v.Last.Body, v.Last.Line, v.Last.Cuts = nil, nil, nil // what a list needs must not keep the buffer
	} else {
		v.Last = nil
	}
	g.spare = c.spare
	v.Torn, v.Damaged = c.torn, len(c.damage) > 0 || !plain && c.lastUnit > 0 && !g.right(c.file, v.Size)
	v.Ended = v.Last != nil && v.Last.Note != nil && v.Last.Note.Kind == "end"
	c.ended = v.Ended
	v.Live = c.Live()
	return v, nil
}

// right tells whether the checksum of the first frame is right, as far as it is known: what stands in the header was read
// without it. Of a frame that is no longer than ours; one with the last entry was checked when that was read.
func (g *Glancer) right(src io.ReaderAt, size int64) bool {
	s, err := walk(src, 0, size)
	if err != nil || s.skippable || !s.whole || s.content > 2*frameSize {
		return err == nil
	}
	g.sums.src = src
	g.content, err = g.sums.Append(g.content[:0], 0, size)
	return err == nil
}

// header reads no more of a capture than it must to give its first line.
func (g *Glancer) header(f *os.File, size int64, plain bool) (*Header, error) {
	if size == 0 {
		return nil, fmt.Errorf("empty file: %w", io.ErrUnexpectedEOF)
	}
	var content io.Reader = io.NewSectionReader(f, 0, size)
	if !plain {
		if err := g.dec.Reset(content); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrNoCapture, err)
		}
		content = g.dec
	}
	g.buf = g.buf[:0]
	for {
		at := len(g.buf)
		g.buf = append(g.buf, make([]byte, 4<<10)...)
		n, err := content.Read(g.buf[at:])
		g.buf = g.buf[:at+n]
		if i := bytes.IndexByte(g.buf[at:], '\n'); i >= 0 {
			return ParseHeader(g.buf[:at+i])
		}
		switch {
		case len(g.buf) > maxHeader:
			return nil, fmt.Errorf("%w: its first line has more than %d bytes", ErrNoCapture, maxHeader)
		case err == io.EOF || err == io.ErrUnexpectedEOF:
			if plain && len(g.buf) > 0 {
				return ParseHeader(g.buf)
			}
			return nil, fmt.Errorf("stops before the header does: %w", io.ErrUnexpectedEOF)
		case err != nil:
			return nil, fmt.Errorf("%w: %w", ErrNoCapture, err)
		}
	}
}
