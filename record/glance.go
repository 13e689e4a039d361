package record

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"
)

// maxGlance is how much of a frame is decoded for the sake of its last line, in bytes.
const maxGlance = 256 << 20

// Glance is what a list of captures says of one: it costs the first bytes of a capture and its last frame, whatever its
// size.
type Glance struct {
	Header *Header
	Size   int64  // of the file, in bytes
	Live   bool   // a recorder is still writing it
	Ended  bool   // Last is the end note
	Torn   bool   // the file stops inside a frame or a line
	Last   *Entry // the last entry; nil when there is none or it can't be read

	Damaged bool // the last frame, or the way there, can't be read
}

// Glancer looks at captures, one after another. It must not be copied.
type Glancer struct {
	dec *zstd.Decoder
	buf []byte
}

// NewGlancer returns a Glancer. Close frees its memory.
func NewGlancer() (*Glancer, error) {
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderMaxMemory(maxVerified), zstd.IgnoreChecksum(true))
	return &Glancer{dec: dec}, err
}

// Close frees the Glancer's memory.
func (g *Glancer) Close() { g.dec.Close() }

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
	plain := n == 4 && !isFrame(head[:])
	if v.Header, err = g.header(c.file, v.Size, plain); err != nil {
		v.Live, _ = Locked(c.file)
		return v, err
	}
	c.header = v.Header
	if plain {
		g.plainLast(c.file, v)
	} else {
		g.frameLast(c.file, v)
	}
	v.Ended = v.Last != nil && v.Last.Note != nil && v.Last.Note.Kind == "end"
	c.ended = v.Ended
	v.Live = c.Live()
	return v, nil
}

// header reads no more of a capture than it must to give its first line.
func (g *Glancer) header(f *os.File, size int64, plain bool) (*Header, error) {
	if size == 0 {
		return nil, fmt.Errorf("empty file: %w", io.ErrUnexpectedEOF)
	}
	var content io.Reader = io.NewSectionReader(f, 0, size)
	if !plain {
		if err := g.dec.Reset(content); err != nil {
			return nil, fmt.Errorf("%w: %w", err, ErrNoCapture)
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
			return nil, fmt.Errorf("first line of more than %d bytes: %w", maxHeader, ErrNoCapture)
		case err == io.EOF || err == io.ErrUnexpectedEOF:
			if plain && len(g.buf) > 0 {
				return ParseHeader(g.buf)
			}
			return nil, fmt.Errorf("stops before the header does: %w", io.ErrUnexpectedEOF)
		case err != nil:
			return nil, fmt.Errorf("%w: %w", err, ErrNoCapture)
		}
	}
}

// frameLast finds the last entry in the last frame that has one.
func (g *Glancer) frameLast(f *os.File, v *Glance) {
	start, end := int64(0), v.Size
	whole := true
	if rows, err := ReadIndex(f, v.Size); err == nil {
		for _, r := range rows {
			if r.Count > 0 {
				start, end = r.Off, r.Off+r.Size
			}
		}
	} else {
		last, err := lastFrame(f, v.Size)
		if err != nil {
			v.Damaged = true
			return
		}
		start, end, whole = last.start, last.end, last.whole
		v.Torn = !whole
	}
	if end-start > maxVerified { // not of this program's making, and too much for a glance
		return
	}
	var content io.Reader = io.NewSectionReader(f, start, end-start)
	if !whole {
		content = io.MultiReader(content, bytes.NewReader(frameEnd(0)))
	}
	if g.dec.Reset(content) != nil {
		v.Damaged = true
		return
	}
	g.buf = g.buf[:0]
	for total := 0; total < maxGlance; {
		if len(g.buf) == cap(g.buf) {
			// Only the last line is asked for.
			if i := bytes.LastIndexByte(g.buf[:max(0, len(g.buf)-1)], '\n'); i >= len(g.buf)/2 {
				g.buf = append(g.buf[:0], g.buf[i+1:]...)
			} else if len(g.buf) > 2*maxLine {
				return
			} else {
				g.buf = append(g.buf, make([]byte, len(g.buf)+64<<10)...)[:len(g.buf)]
			}
		}
		n, err := g.dec.Read(g.buf[len(g.buf):cap(g.buf)])
		g.buf = g.buf[:len(g.buf)+n]
		total += n
		if err == io.EOF {
			v.Last = lastEntry(g.buf)
		}
		if err != nil {
			v.Damaged = err != io.EOF
			break
		}
	}
	if cap(g.buf) > 4<<20 {
		g.buf = nil
	}
}

// plainLast finds the last entry of a capture that is not compressed.
func (g *Glancer) plainLast(f *os.File, v *Glance) {
	for k := int64(64 << 10); ; k *= 4 {
		k = min(k, v.Size)
		tail := make([]byte, k)
		if n, err := readAt(f, tail, v.Size-k, v.Size); err != nil || int64(n) < k {
			return
		}
		v.Torn = tail[k-1] != '\n'
		if v.Last = lastEntry(tail); v.Last != nil || k == v.Size || k > maxLine {
			return
		}
	}
}

// lastEntry parses the last whole line that has another line end before it; nil when there is none or it is no entry.
func lastEntry(content []byte) *Entry {
	end := bytes.LastIndexByte(content, '\n')
	if end < 0 {
		return nil
	}
	begin := bytes.LastIndexByte(content[:end], '\n') + 1
	e, err := ParseEntry(content[begin:end])
	if err != nil {
		return nil
	}
	// What a list needs must not keep the buffer.
	e.Body, e.Line, e.Cuts = nil, nil, nil
	return e
}
