package record

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

const (
	maxVerified = 64 << 20 // content of a frame that is checked before any of it is given
	maxDamage   = 10_000   // then a file is given up
)

// frameContent gives the content of a sequence of zstd frames. Content of a whole frame is given when its checksum was
// found right (a frame of more than 64 MiB is given piece by piece, and found wrong only at its end). An open frame is
// given up to its last whole block, and read again from its beginning when it has grown: it holds about 1 MiB.
type frameContent struct {
	src     Source
	pos     int64 // of the frame that is read, or comes next
	frame   span  // as it was walked last
	dec     *zstd.Decoder
	whole   *zstd.Decoder // checks checksums
	open    *zstd.Decoder // does not
	at      int64         // of the frame that gave bytes last
	given   int64         // bytes of the frame's content that were given
	skip    int64         // of these, still to be skipped by dec
	damages int
}

func newFrameContent(src Source) (*frameContent, error) {
	c := &frameContent{src: src}
	options := []zstd.DOption{zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderMaxMemory(1 << 40)}
	var err error
	if c.whole, err = zstd.NewReader(nil, options...); err != nil {
		return nil, err
	}
	c.open, err = zstd.NewReader(nil, append(options, zstd.IgnoreChecksum(true))...)
	return c, err
}

func (c *frameContent) unit(int64) int64 { return c.at }

func (c *frameContent) torn() bool {
	return c.frame.start == c.pos && !c.frame.whole && c.frame.end > c.pos
}

func (c *frameContent) next(buf []byte, limit int64) ([]byte, error) {
	for c.dec == nil {
		if c.pos >= limit {
			return buf, io.EOF
		}
		seen := c.frame
		var err error
		if c.frame, err = walk(c.src, c.pos, limit); err != nil {
			return buf, c.damaged(err, limit)
		}
		f := c.frame
		switch {
		case f.skippable && f.whole:
			c.pos = f.end
			continue
		case f.skippable, f.end == c.pos, seen.start == c.pos && seen.end == f.end && !f.whole && c.given > 0:
			return buf, io.EOF
		}
		if err := c.begin(); err != nil {
			return buf, c.damaged(err, limit)
		}
		if f.whole && c.given == 0 {
			return c.verified(buf, limit)
		}
	}
	return c.piece(buf, limit)
}

// begin sets a decoder on the frame.
func (c *frameContent) begin() error {
	section := io.NewSectionReader(c.src, c.frame.start, c.frame.end-c.frame.start)
	c.skip, c.at = c.given, c.pos
	if c.frame.whole {
		c.dec = c.whole
		return c.dec.Reset(section)
	}
	c.dec = c.open
	return c.dec.Reset(io.MultiReader(section, bytes.NewReader(frameEnd(0))))
}

// verified gives the whole content of the frame, if it is not too long for that.
func (c *frameContent) verified(buf []byte, limit int64) ([]byte, error) {
	before := len(buf)
	for c.dec != nil && len(buf)-before < maxVerified {
		var err error
		if buf, err = c.piece(buf, limit); err != nil {
			return buf[:before], err
		}
	}
	return buf, nil
}

// piece gives the next bytes of the frame.
func (c *frameContent) piece(buf []byte, limit int64) ([]byte, error) {
	if cap(buf)-len(buf) < readBuf {
		buf = append(make([]byte, 0, 2*cap(buf)+readBuf), buf...)
	}
	room := buf[len(buf):min(cap(buf), len(buf)+4*readBuf)]
	n, err := c.dec.Read(room)
	if skipped := int(min(int64(n), c.skip)); skipped > 0 {
		n = copy(room, room[skipped:n])
		c.skip -= int64(skipped)
	}
	buf = buf[:len(buf)+n]
	c.given += int64(n)
	switch {
	case err == nil:
		return buf, nil
	case err != io.EOF:
		return buf, c.damaged(err, limit)
	}
	c.dec = nil
	if !c.frame.whole {
		return buf, nil
	}
	c.pos, c.given = c.frame.end, 0
	return buf, nil
}

// damaged names the damage of the present frame and goes to the next one.
func (c *frameContent) damaged(cause error, limit int64) error {
	d := Damage{c.pos, cause.Error()}
	if errors.Is(cause, zstd.ErrCRCMismatch) {
		d.Cause = "checksum mismatch"
	}
	if c.damages++; c.damages > maxDamage {
		return fmt.Errorf("%w; more than %d places are damaged", d, maxDamage)
	}
	from := c.pos + 1
	c.dec, c.given, c.frame = nil, 0, span{}
	next, err := findFrame(c.src, from, limit)
	if err != nil {
		return err
	}
	c.pos = next
	return d
}

// findFrame finds the first place at or behind from that looks like the beginning of a frame; size if there is none.
func findFrame(src io.ReaderAt, from, size int64) (int64, error) {
	buf := make([]byte, 64<<10)
	for from < size {
		n, err := readAt(src, buf, from, size)
		if err != nil {
			return 0, err
		}
		for at := 0; at+4 <= n; at++ {
			i := bytes.IndexByte(buf[at:n-3], frameMagic&0xFF)
			if i < 0 {
				break
			}
			at += i
			if binary.LittleEndian.Uint32(buf[at:]) == frameMagic && plausible(src, from+int64(at), size) {
				return from + int64(at), nil
			}
		}
		if n < 4 {
			break
		}
		from += int64(n - 3)
	}
	return size, nil
}

// plausible tells whether a frame header and the header of a first block stand at off.
func plausible(src io.ReaderAt, off, size int64) bool {
	var head [24]byte
	n, err := readAt(src, head[:], off, size)
	if err != nil {
		return false
	}
	var h zstd.Header
	if err := h.Decode(head[:n]); err != nil || h.WindowSize > maxWindow {
		return false
	}
	return n < h.HeaderSize+blockHeader || head[h.HeaderSize]>>1&3 != 3
}
