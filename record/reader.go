package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

const (
	maxLine  = 32 << 20 // of an entry line; this package writes less than 24 MiB
	readBuf  = 256 << 10
	maxNamed = 1000 // damaged places that are listed
)

// Damage is a place of a capture that can't be read, or not be believed.
type Damage struct {
	Off   int64 // of the frame in the file; in a capture that is not compressed, of the line
	Near  int64 // where in the file reading it failed, a little behind what is wrong; 0 when that is not known
	Cause string
}

// Error says where and what.
func (d Damage) Error() string {
	return strings.TrimPrefix(strings.TrimPrefix(d.Where(), "at "), "near ") + ": " + d.Cause
}

// Where says where it is: "near byte 5012", "at byte 0".
func (d Damage) Where() string {
	if d.Near > d.Off {
		return fmt.Sprintf("near byte %d", d.Near)
	}
	return fmt.Sprintf("at byte %d", d.Off)
}

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
	turn    func() bool // if it is set and true, it has moved the rest of buf to another one: entries are kept that lie in it
	buf     []byte      // content, from at on not yet given
	at      int
	long    bool  // buf goes on with the rest of a line that is too long
	unit    int64 // offset of the frame or line that was read last
	dec     decoder
	entry   Entry
	header  *Header
	n       int64 // number of the latest entry; -1 when it is not known
	behind  bool  // the latest entries stood behind later ones
	began   int64 // unit of the latest entry
	within  int64 // entries of it
	before  int64 // n before the first of them
	leap    bool  // some of their numbers do not follow on each other
	ends    [streamCount]int64
	ended   bool // the end note was read
	torn    bool // the file stops inside a frame or line
	damage  []Damage
	more    int // damage that is not listed
	err     error
}

// content gives the joined content of a capture's frames, piece by piece.
type content interface {
	// next appends to buf what there is in the first limit bytes of the file. It returns io.EOF when there is no more, a
	// Damage when content was skipped, and errTaken when it was taken back: then the line that is in buf is cut.
	next(buf []byte, limit int64) ([]byte, error)
	// unit is the offset in the file of the frame that gave bytes last, or of the byte so far before the end of what was
	// given.
	unit(before int64) int64
	// torn tells whether limit lies inside a frame.
	torn(limit int64) bool
	// seek makes next go on at an offset in the file that unit has given.
	seek(off int64)
}

// NewReader returns a reader of the capture in src; size gives the number of its bytes, which may grow.
func NewReader(src Source, size func() (int64, error)) *Reader {
	return &Reader{src: src, size: size}
}

// Header returns the capture's header. Errors wrap ErrNoCapture or ErrVersion, or are of the file; io.ErrUnexpectedEOF
// means that the capture stops before the header does, as an empty file does. Where the header is lost and entries are
// not, it has nothing but the version, and Damage tells of it.
func (r *Reader) Header() (*Header, error) {
	for r.header == nil && r.err == nil {
		line, ok := r.line()
		switch {
		case r.err != nil:
			return nil, r.err
		case !ok:
			r.header, r.err = r.noHeader()
		default:
			r.header, r.err = ParseHeader(line)
			if r.err == nil || errors.Is(r.err, ErrVersion) {
				break
			}
			if r.dec.parse(line, &r.entry) == nil {
				r.at -= len(line) + 1
				r.header, r.err = &Header{Pitap: Version}, nil
				r.damaged("the header is missing")
			} else if len(r.damage) > 0 { // the rest of a line that began in a damaged frame
				r.err = nil
			}
		}
	}
	return r.header, r.err
}

// noHeader is the header of a capture without a whole line, or the error.
func (r *Reader) noHeader() (*Header, error) {
	h, err := ParseHeader(r.buf[r.at:])
	switch {
	case err == nil:
		r.at = len(r.buf)
		return h, nil
	case len(r.damage) > 0:
		var b [64]byte // as the file has them: what is no zstd frame may be text
		n, _ := r.src.ReadAt(b[:], 0)
		if err := onlyText(b[:n]); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%w: %w", ErrNoCapture, r.damage[0])
	case json.Valid(r.buf[r.at:]): // a whole line without LF, another one
		return nil, err
	case r.limit == 0:
		return nil, fmt.Errorf("empty file: %w", io.ErrUnexpectedEOF)
	}
	return nil, fmt.Errorf("stops before the header does: %w", io.ErrUnexpectedEOF)
}

// Next reads the next entry. It returns false at the end, and after an error.
func (r *Reader) Next() bool {
	if _, err := r.Header(); err != nil {
		return false
	}
	for {
		line, ok := r.line()
		if !ok {
			return r.last()
		}
		if blankLine(line) {
			continue
		}
		if err := r.dec.parse(line, &r.entry); err != nil {
			r.damaged("line after entry %d: %v", max(0, r.n), err)
			continue
		}
		if r.accept() {
			return true
		}
	}
}

func blankLine(line []byte) bool {
	return len(line) == 0 || line[0] <= ' ' && len(bytes.TrimSpace(line)) == 0
}

// last reads a last line without LF, as editors leave it.
func (r *Reader) last() bool {
	if r.err != nil || r.long || r.content == nil || r.dec.parse(r.buf[r.at:], &r.entry) != nil {
		return false
	}
	r.unit = r.content.unit(int64(len(r.buf) - r.at))
	r.at = len(r.buf)
	r.torn = r.content.torn(r.limit)
	return r.accept()
}

// accept checks the entry's place among the others.
func (r *Reader) accept() bool {
	e := &r.entry
	switch {
	case e.N == 0:
		e.N = r.n + 1
	case e.N <= r.n:
		if !r.behind {
			r.damaged("entry %d and what follows stands behind entry %d; it is left out", e.N, r.n)
		}
		r.behind = true
		return false
	case e.N > r.n+1 && r.n >= 0 && (e.Note == nil || e.Note.Kind != "gap"):
		r.damaged("entries %d to %d are missing", r.n+1, e.N-1)
	}
	if r.unit != r.began || r.within == 0 {
		r.began, r.within, r.before, r.leap = r.unit, 0, r.n, false
	}
	r.leap = r.leap || r.within > 0 && e.N != r.n+1
	r.within++
	r.n, r.behind = e.N, false
	r.ended = e.Note != nil && e.Note.Kind == "end"
	if e.Note == nil {
		if !r.dec.m.hasOff {
			e.Off = r.ends[e.From]
		}
		r.ends[e.From] = e.Off + int64(len(e.Body)+len(e.EOL))
	}
	return true
}

// seek makes Next go on with the entries that end in the frame (or begin with the line) at an offset in the file that
// Unit or FrameInfo.Off told. n is the number of the entry before it, or -1 when that is not known.
func (r *Reader) seek(off, n int64) {
	r.content.seek(off)
	r.buf, r.at, r.long = r.buf[:0], 0, false
	r.n, r.behind, r.ended, r.torn, r.within = n, false, false, false, 0
}

// Entry returns the entry that Next read, valid until the next call.
func (r *Reader) Entry() *Entry { return &r.entry }

// Err returns the error that stopped the reader; damage and a cut capture are none.
func (r *Reader) Err() error { return r.err }

// Damage returns what could not be read so far; of very many places the first, and how many more there are.
func (r *Reader) Damage() []Damage {
	if r.more == 0 {
		return r.damage
	}
	return append(slices.Clip(r.damage), Damage{Off: r.unit, Cause: fmt.Sprintf("up to here %d more places", r.more)})
}

// Unit returns the offset in the file of the frame (or line) that holds the entry.
func (r *Reader) Unit() int64 { return r.unit }

// Ended tells whether the last entry read was the end note. A capture without one was cut, or is still being written.
func (r *Reader) Ended() bool { return r.ended }

// Torn tells whether the file stops inside a frame or a line.
func (r *Reader) Torn() bool { return r.torn }

// damaged notes damage at the present frame or line.
func (r *Reader) damaged(cause string, args ...any) {
	if r.note() {
		r.damage = append(r.damage, Damage{Off: r.unit, Cause: fmt.Sprintf(cause, args...)})
	}
}

// note tells whether there is room for more damage: a hostile file does not fill the memory with it.
func (r *Reader) note() bool {
	if len(r.damage) < maxNamed {
		return true
	}
	r.more++
	return false
}

// line returns the next line without its LF.
func (r *Reader) line() ([]byte, bool) {
	for from := r.at; ; {
		for !r.long && from == r.at && from < len(r.buf) && r.buf[from] == '\n' { // blank lines, perhaps very many
			r.at++
			from++
		}
		if i := bytes.IndexByte(r.buf[from:], '\n'); i >= 0 {
			line := r.buf[r.at : from+i]
			r.unit = r.content.unit(int64(len(r.buf) - r.at))
			r.at = from + i + 1
			from = r.at
			switch {
			case r.long:
				r.long = false
				continue
			case len(line) > maxLine:
				r.tooLong()
				continue
			}
			return line, true
		}
		if len(r.buf)-r.at > maxLine {
			if !r.long {
				r.unit = r.content.unit(int64(len(r.buf) - r.at))
				r.tooLong()
			}
			r.at, r.long = len(r.buf), true
		}
		if r.turn == nil || !r.turn() {
			r.buf = r.buf[:copy(r.buf, r.buf[r.at:])]
		}
		if len(r.buf) == 0 && cap(r.buf) > 16<<20 && r.turn == nil {
			r.buf = nil
		}
		r.at = 0
		if from = r.fill(); from < 0 {
			return nil, false
		}
	}
}

func (r *Reader) tooLong() {
	r.damaged("a line of more than %d bytes after entry %d", maxLine, max(0, r.n))
}

// fill adds content to buf and returns where in it that begins; -1 when there is no more.
func (r *Reader) fill() (from int) {
	for r.err == nil {
		from, err := len(r.buf), io.EOF
		if r.content != nil || r.detect() {
			r.buf, err = r.content.next(r.buf, r.limit)
		}
		var d Damage
		switch {
		case r.err != nil:
		case errors.As(err, &d):
			r.unchecked(&d)
			if r.note() {
				r.damage = append(r.damage, d)
			}
			r.buf, r.long = r.buf[:0], false
		case err == errTaken:
			r.buf, r.long = r.buf[:0], false
		case len(r.buf) > from:
			return from
		case err == io.EOF && !r.grown():
			return -1
		case err != nil && err != io.EOF:
			r.err = err
		}
	}
	return -1
}

// unchecked says of a damaged frame that entries of it were given.
func (r *Reader) unchecked(d *Damage) {
	if r.within == 0 || r.began != d.Off {
		return
	}
	d.Cause += fmt.Sprintf("; %d entries before that, up to entry %d, could be read, unchecked", r.within, r.n)
	if r.leap { // a number may be wrong: what follows does not count from it
		r.n = r.before
	}
	r.within = 0
}

// Unchecked returns how many of the entries that were read last stand in a frame that was not closed, and so has no
// checksum: damage in them may be seen as a line that is no entry, or not at all.
func (r *Reader) Unchecked() int64 {
	if c, ok := r.content.(*frameContent); ok && c.given > 0 && c.pos == r.began {
		return r.within
	}
	return 0
}

// grown waits until the file has grown, or been cut; false when it will not.
func (r *Reader) grown() bool {
	for {
		size, err := r.size()
		if err != nil {
			r.err = err
			return false
		}
		if size != r.limit {
			r.limit = size
			return true
		}
		if r.Wait == nil || !r.Wait() {
			r.torn = len(r.buf) > 0 || r.content == nil && size > 0 || r.content != nil && r.content.torn(size)
			return false
		}
	}
}

// detect finds out whether the file is compressed. It returns false when that can't be known yet, and after an error.
func (r *Reader) detect() bool {
	var head [4]byte
	n, err := readAt(r.src, head[:], 0, r.limit)
	switch {
	case err != nil:
		r.err = err
	case n == 0 || n < len(head) && (magicPrefix(head[:n]) || n < len(bom) && bom[:n] == string(head[:n])):
	case (head[0] == '{' || blankLine(head[:1])) && head[1] < 0x80 || string(head[:3]) == bom:
		r.content = &plainContent{src: r.src}
	default: // perhaps with a damaged beginning
		r.content, r.err = newFrameContent(r.src)
	}
	return r.err == nil && r.content != nil
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

func (c *plainContent) unit(before int64) int64 { return c.pos - before }
func (c *plainContent) torn(int64) bool         { return false }
func (c *plainContent) seek(off int64)          { c.pos = off }
