package record

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

const (
	maxLine = 32 << 20 // of an entry line; this package writes less than 17 MiB
	readBuf = 256 << 10
)

// Damage is a place of a capture that can't be read, or not be believed.
type Damage struct {
	Off   int64 // of the frame in the file; in a capture that is not compressed, of the line
	Cause string
}

// Error says where and what.
func (d Damage) Error() string { return fmt.Sprintf("byte %d: %s", d.Off, d.Cause) }

// Source is what a capture is read from; *os.File is one.
type Source interface {
	io.ReaderAt
}

// Reader gives the entries of a capture in order. It reads every prefix of a capture, and goes on behind damage. It is
// not safe for concurrent use.
//
//	for r.Next() {
//		e := r.Entry()
//	}
//	if err := r.Err(); err != nil ...
//	for _, d := range r.Damage() ...
type Reader struct {
	// Wait, if it is set, is called at the end of what there is; with true the reader looks for more (the file grows).
	Wait func() bool

	src     Source
	size    func() (int64, error)
	limit   int64 // size of the file when it was asked last
	content content
	buf     []byte // content, from at on not yet given
	at      int
	passed  int64 // content before buf
	unit    int64 // offset of the frame or line that was read last
	dec     decoder
	entry   Entry
	header  *Header
	n       int64 // number of the latest entry
	ended   bool  // the end note was read
	torn    bool  // the file stops inside a frame or line
	damage  []Damage
	more    int // damage that is not listed
	err     error
}

// content gives the joined content of a capture's frames, piece by piece.
type content interface {
	// next appends to buf. It returns io.EOF at the end of what there is now, and a Damage when content was skipped:
	// then the line that is in buf is cut.
	next(buf []byte, limit int64) ([]byte, error)
	// unit is the offset in the file of the frame that gave bytes last, or of the byte at the given place of the content.
	unit(at int64) int64
	// torn tells whether the end of what there is lies inside a frame.
	torn() bool
}

// NewReader returns a reader of the capture in src; size gives the number of its bytes, which may grow.
func NewReader(src Source, size func() (int64, error)) *Reader {
	return &Reader{src: src, size: size}
}

// Header returns the capture's header. Errors wrap ErrNoCapture or ErrVersion, or are of the file; io.ErrUnexpectedEOF
// means that the capture stops before the header does, as an empty file does.
func (r *Reader) Header() (*Header, error) {
	if r.header != nil || r.err != nil {
		return r.header, r.err
	}
	line, ok := r.line()
	switch {
	case r.err != nil:
	case !ok && len(r.damage) > 0:
		r.err = fmt.Errorf("%w: %w", r.damage[0], ErrNoCapture)
	case !ok && r.limit == 0:
		r.err = fmt.Errorf("empty file: %w", io.ErrUnexpectedEOF)
	case !ok:
		r.err = fmt.Errorf("stops before the header does: %w", io.ErrUnexpectedEOF)
	default:
		r.header, r.err = ParseHeader(line)
	}
	return r.header, r.err
}

// Next reads the next entry. It returns false at the end, and after an error.
func (r *Reader) Next() bool {
	if _, err := r.Header(); err != nil {
		return false
	}
	for {
		line, ok := r.line()
		if !ok && !r.Torn() {
			return false
		}
		if !ok { // a last line without LF, as fixtures edited by hand have it
			line = r.buf[r.at:]
			r.at = len(r.buf)
			if r.dec.parse(line, &r.entry) != nil || !r.accept() {
				return false
			}
			r.torn = false
			return true
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if err := r.dec.parse(line, &r.entry); err != nil {
			r.damaged(Damage{r.unit, fmt.Sprintf("entry after number %d: %v", r.n, err)})
			continue
		}
		if r.accept() {
			return true
		}
	}
}

// accept checks the entry's place among the others.
func (r *Reader) accept() bool {
	e := &r.entry
	switch {
	case e.N == 0:
		e.N = r.n + 1
	case e.N <= r.n:
		r.damaged(Damage{r.unit, fmt.Sprintf("entry %d stands behind entry %d", e.N, r.n)})
		return false
	case e.N > r.n+1 && (e.Note == nil || e.Note.Kind != "gap"):
		r.damaged(Damage{r.unit, fmt.Sprintf("entries %d to %d are missing", r.n+1, e.N-1)})
	}
	r.n = e.N
	r.ended = e.Note != nil && e.Note.Kind == "end"
	return true
}

// Entry returns the entry that Next read, valid until the next call.
func (r *Reader) Entry() *Entry { return &r.entry }

// Err returns the error that stopped the reader; damage and a cut capture are none.
func (r *Reader) Err() error { return r.err }

// Damage returns what could not be read so far.
func (r *Reader) Damage() []Damage { return r.damage }

// Unit returns the offset in the file of the frame (or line) that holds the entry.
func (r *Reader) Unit() int64 { return r.unit }

// Ended tells whether the last entry read was the end note. A capture without one was cut, or is still being written.
func (r *Reader) Ended() bool { return r.ended }

// Torn tells whether the file stops inside a frame or a line.
func (r *Reader) Torn() bool { return r.torn }

// damaged notes damage; a hostile file does not fill the memory with it.
func (r *Reader) damaged(d Damage) {
	if len(r.damage) < 1000 {
		r.damage = append(r.damage, d)
	} else {
		r.damage[999] = Damage{d.Off, fmt.Sprintf("and %d more places; the last: %s", r.more, d.Cause)}
		r.more++
	}
}

// line returns the next line without its LF.
func (r *Reader) line() ([]byte, bool) {
	scanned := r.at
	for {
		if i := bytes.IndexByte(r.buf[scanned:], '\n'); i >= 0 {
			line := r.buf[r.at : scanned+i]
			r.unit = r.content.unit(r.passed + int64(r.at))
			r.at = scanned + i + 1
			return line, true
		}
		rest := len(r.buf) - r.at
		if rest > maxLine {
			r.damaged(Damage{r.unit, fmt.Sprintf("a line of more than %d bytes", maxLine)})
			rest = 0
			r.at = len(r.buf)
			if !r.skipLine() {
				return nil, false
			}
			rest = len(r.buf) - r.at
		}
		r.passed += int64(r.at)
		r.buf = append(r.buf[:0], r.buf[r.at:]...)
		r.at, scanned = 0, rest
		if rest == 0 && cap(r.buf) > 8<<20 {
			r.buf = nil
		}
		if !r.fill() {
			return nil, false
		}
		scanned = min(scanned, len(r.buf)) // a damaged frame drops the cut line
	}
}

// skipLine drops content up to the next LF.
func (r *Reader) skipLine() bool {
	for {
		r.passed += int64(len(r.buf))
		r.buf, r.at = r.buf[:0], 0
		if !r.fill() {
			return false
		}
		if i := bytes.IndexByte(r.buf, '\n'); i >= 0 {
			r.at = i + 1
			return true
		}
	}
}

// fill adds content to buf.
func (r *Reader) fill() bool {
	if r.err != nil {
		return false
	}
	for {
		if r.content == nil && !r.detect() {
			if r.err == nil && r.Wait != nil && r.Wait() {
				continue
			}
			return false
		}
		before := len(r.buf)
		buf, err := r.content.next(r.buf, r.limit)
		r.buf = buf
		r.torn = false
		var d Damage
		switch {
		case errors.As(err, &d):
			r.damaged(d)
			r.buf = r.buf[:0]
			continue
		case err != nil && err != io.EOF:
			r.err = err
			return false
		}
		if len(r.buf) > before {
			return true
		}
		if err == nil {
			continue
		}
		if size, serr := r.size(); serr != nil {
			r.err = serr
			return false
		} else if size > r.limit {
			r.limit = size
			continue
		}
		if r.Wait == nil || !r.Wait() {
			r.torn = r.content.torn() || len(r.buf) > 0
			return false
		}
	}
}

// detect finds out whether the file is compressed.
func (r *Reader) detect() bool {
	size, err := r.size()
	if err != nil {
		r.err = err
		return false
	}
	r.limit = size
	var head [4]byte
	n, err := readAt(r.src, head[:], 0, size)
	switch {
	case err != nil:
		r.err = err
	case n == 0:
	case isFrame(head[:n]):
		r.content, r.err = newFrameContent(r.src)
		return r.err == nil
	case n < 4 && magicPrefix(head[:n]):
		r.torn = true
	default:
		r.content = &plainContent{src: r.src}
		return true
	}
	return false
}

func isFrame(head []byte) bool {
	if len(head) < 4 {
		return false
	}
	m := binary.LittleEndian.Uint32(head)
	return m == frameMagic || m&^0xF == skippableMagic
}

// plainContent is a capture that is not compressed.
type plainContent struct {
	src Source
	pos int64
}

func (c *plainContent) next(buf []byte, limit int64) ([]byte, error) {
	at := len(buf)
	k := int(min(readBuf, limit-c.pos))
	if k <= 0 {
		return buf, io.EOF
	}
	buf = append(buf, make([]byte, k)...)
	n, err := readAt(c.src, buf[at:], c.pos, limit)
	c.pos += int64(n)
	if err == nil && n == 0 {
		err = io.EOF
	}
	return buf[:at+n], err
}

func (c *plainContent) unit(at int64) int64 { return at }
func (c *plainContent) torn() bool          { return false }
