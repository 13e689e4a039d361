package record

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/klauspost/compress/zstd"
)

const (
	maxVerified = 32 << 20 // content of a frame that is checked before any of it is given; ours have less than 25 MiB
	maxDamage   = 10_000   // then a file is given up
)

// frameContent gives the content of a sequence of zstd frames. Content of a whole frame is given when its checksum was
// found right; a frame of more than 32 MiB, which only other programs write, is given piece by piece, and found wrong
// only at its end. Of one that can't be decoded to its end it gives what comes before that. An open frame is given up to
// its last whole block, and read again from its beginning when it has grown: it holds about 2 MiB.
type frameContent struct {
	src     io.ReaderAt
	dec     *zstd.Decoder
	pos     int64  // of the frame that is read, or comes next
	given   int64  // bytes of its content that were given
	seen    int64  // where it ended when they were, as far as it is open
	at      int64  // of the frame that gave bytes last
	raw     []byte // a frame as it stands in the file
	damages int
	garbage int64 // where damage reached the end of the file: what is written there belongs to it, until a frame begins

	passed  func(f span, content int64) // if it is set, told of every frame when what follows it is asked for
	last    span                        // the frame to tell of
	content int64                       // bytes of its content

	// A frame that is read piece by piece:
	big   bool // there is one
	open  span // it
	skip  int64
	wrong error // what is known to be wrong with it: it is damaged where it ends
	stop  error // that ended it, when its last bytes were given
	taken counter
}

// counter counts what is read through it.
type counter struct {
	io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += int64(n)
	return n, err
}

func newFrameContent(src io.ReaderAt) (*frameContent, error) {
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderMaxMemory(maxVerified))
	return &frameContent{src: src, dec: dec, garbage: -1}, err
}

func (c *frameContent) unit(int64) int64 { return c.at }

func (c *frameContent) torn(limit int64) bool { return c.pos < limit }

func (c *frameContent) seek(off int64) {
	c.dec.Reset(nil)
	c.pos, c.given, c.seen, c.big, c.wrong, c.stop = off, 0, 0, false, nil, nil
}

func (c *frameContent) next(buf []byte, limit int64) ([]byte, error) {
	if c.big {
		return c.piece(buf, limit)
	}
	if c.passed != nil && c.last.whole {
		c.passed(c.last, c.content)
	}
	c.last.whole = false
	for c.pos < limit {
		f, err := walk(c.src, c.pos, limit)
		switch {
		case err != nil && f.end > f.start && errors.Is(err, errFrame):
			return c.broken(buf, f, err, limit)
		case err != nil:
			return buf, c.damaged(err, limit)
		case f.skippable && f.whole:
			c.pos = f.end
			continue
		case f.skippable:
			return buf, io.EOF
		}
		if !f.whole {
			next, err := findFrame(c.src, c.pos+1, limit)
			switch {
			case err != nil:
				return buf, err
			case next < limit: // none follows an open frame, so the length of a block is wrong
				f.end = min(f.end, next)
				return c.broken(buf, f, fmt.Errorf("the frame does not end before the next one, at byte %d", next), limit)
			}
			if f.end == f.start || c.seen == f.end {
				return buf, io.EOF
			}
		}
		return c.frame(buf, f, limit)
	}
	return buf, io.EOF
}

// broken begins to give a frame of which cause is known to be wrong: what comes before that is read, and no checksum
// tells whether it is right.
func (c *frameContent) broken(buf []byte, f span, cause error, limit int64) ([]byte, error) {
	f.whole = false
	c.wrong = cause
	return c.stream(buf, f, limit)
}

// frame gives what is new of a frame.
func (c *frameContent) frame(buf []byte, f span, limit int64) ([]byte, error) {
	size := f.end - f.start
	if size > maxVerified || len(buf) > maxLine/4 { // with a line that goes on, the content may take too much memory
		return c.stream(buf, f, limit)
	}
	if int64(cap(c.raw)) < size {
		c.raw = make([]byte, size+size/4)
	}
	c.raw = c.raw[:size]
	if n, err := readAt(c.src, c.raw, f.start, f.end); err != nil || int64(n) < size {
		return buf, err // the file has become shorter just now
	}
	out, err := c.dec.DecodeAll(c.raw, slices.Grow(buf, int(min(f.content, frameSize+frameSize/4))))
	if cap(c.raw) > 1<<20 {
		c.raw = nil
	}
	switch {
	case errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return c.stream(out[:len(buf)], f, limit)
	case errors.Is(err, zstd.ErrCRCMismatch): // whatever is wrong in it may stand anywhere
		return buf, c.damaged(err, limit)
	case err != nil && (f.whole || !errors.Is(err, io.ErrUnexpectedEOF)):
		return c.broken(out[:len(buf)], f, err, limit)
	}
	content := out[len(buf):]
	fresh := int64(len(content)) - c.given
	c.at = c.pos
	c.end(f, int64(len(content)))
	if fresh < 0 { // after an error the writer has cut off what it had not finished
		return out[:len(buf)], errTaken
	}
	n := copy(content, content[len(content)-int(fresh):])
	return out[:len(buf)+n], nil
}

// end notes that all of a frame was given that is there, so much content.
func (c *frameContent) end(f span, content int64) {
	if !f.whole {
		c.given, c.seen = content, f.end
		return
	}
	c.last, c.content = f, content
	c.pos, c.given, c.seen = f.end, 0, 0
}

// stream begins to give a frame piece by piece.
func (c *frameContent) stream(buf []byte, f span, limit int64) ([]byte, error) {
	c.taken = counter{Reader: io.NewSectionReader(c.src, f.start, f.end-f.start)}
	if err := c.dec.Reset(&c.taken); err != nil {
		return buf, c.damaged(err, limit)
	}
	c.big, c.open, c.skip, c.at = true, f, c.given, c.pos
	return c.piece(buf, limit)
}

// piece gives the next bytes of a frame.
func (c *frameContent) piece(buf []byte, limit int64) ([]byte, error) {
	n, err := 0, c.stop
	if err == nil {
		if cap(buf)-len(buf) < readBuf {
			buf = slices.Grow(buf, min(len(buf), maxLine/2)+4*readBuf)
		}
		room := buf[len(buf):min(cap(buf), len(buf)+4*readBuf)]
		n, err = c.dec.Read(room)
		skipped := min(int64(n), c.skip)
		c.skip -= skipped
		n = copy(room, room[skipped:n])
		c.given += int64(n)
		buf = buf[:len(buf)+n]
	}
	f := c.open
	switch {
	case err == nil:
		return buf, nil
	case n > 0 && (err != io.EOF || c.wrong != nil): // with damage they would not be taken
		c.stop = err
		return buf, nil
	case c.wrong != nil:
		return buf, c.damaged(c.wrong, limit)
	case err == io.EOF, !f.whole && errors.Is(err, io.ErrUnexpectedEOF):
		c.big, c.stop = false, nil
		c.end(f, c.given)
		return buf, nil
	}
	return buf, c.damaged(err, limit)
}

// errTaken says that the line that is in the reader's buffer has no end, and that no word about it is needed.
var errTaken = errors.New("the line has no end")

// damaged names the damage of the present frame and goes to the next one.
func (c *frameContent) damaged(cause error, limit int64) error {
	d := Damage{Off: c.pos, Cause: cause.Error()}
	if c.big {
		d.Near = c.open.start + c.taken.n
	}
	if errors.Is(cause, zstd.ErrCRCMismatch) {
		d.Cause = "checksum mismatch"
	}
	if c.damages++; c.damages > maxDamage {
		return fmt.Errorf("%w; more than %d places are damaged", d, maxDamage)
	}
	goesOn := c.pos == c.garbage && errors.Is(cause, errFrame)
	next, err := findFrame(c.src, c.pos+1, limit)
	if err != nil {
		return err
	}
	c.seek(next)
	if c.garbage = -1; next == limit {
		c.garbage = next
	}
	if goesOn {
		return errTaken
	}
	return d
}

// findFrame finds the first frame with content that begins at or behind from; size if there is none.
func findFrame(src io.ReaderAt, from, size int64) (int64, error) {
	magic := binary.LittleEndian.AppendUint32(nil, frameMagic)
	buf := make([]byte, min(64<<10, max(0, size-from)))
	for from < size {
		n, err := readAt(src, buf, from, size)
		if err != nil {
			return 0, err
		}
		for at := 0; ; at++ {
			i := bytes.Index(buf[at:n], magic)
			if i < 0 {
				break
			}
			at += i
			if plausible(src, from+int64(at), size) {
				return from + int64(at), nil
			}
		}
		if n < len(magic) {
			break
		}
		from += int64(n - len(magic) + 1)
	}
	return size, nil
}

// plausible tells whether a frame stands at off: the magic number alone may be there by chance.
func plausible(src io.ReaderAt, off, size int64) bool {
	blocks := 0
	_, err := walkFrame(src, off, size, func(int64) { blocks++ })
	return err == nil && blocks > 0
}
