package record

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"pitap/record/scan"
)

const (
	maxWhole = 16 << 20 // a record of more bytes stays in parts
	maxText  = 1 << 20  // a text or base64 entry holds at most this many bytes
	maxDepth = 200      // deeper JSON is stored as text: jq 1.6 stops at 256
	maxCuts  = 1024     // further cuts are only counted
)

// A Splitter cuts the bytes of one stream into records, on LF alone, and gives each as an entry to its emit function.
// It decodes nothing and knows no longest record: it keeps at most 16 MiB, and what is longer leaves in parts.
//
// A Splitter is not safe for concurrent use.
type Splitter struct {
	from Stream
	// emit takes an entry whose N is not set yet and returns the number that it got. The entry and its Body are the
	// splitter's own, valid during the call.
	emit func(*Entry) int64

	off   int64 // of the next byte, in the stream
	start int64 // of the pending record's first byte
	last  int64 // when the read before this one returned

	pending []byte  // of the pending record, from offset start+gone on
	gone    int64   // bytes of the pending record that are in parts and no longer in pending
	written int     // bytes of pending that are in parts
	parts   []int64 // numbers of these parts
	partial bool    // the pending record can't be written whole: it is too long, or its beginning was lost
	cuts    []Cut
	more    int64 // cuts beyond maxCuts
	entry   Entry

	longest int // pending record since the last flush, in bytes
	quiet   int // flushes since a long one
}

// NewSplitter returns a splitter at the beginning of a stream.
func NewSplitter(from Stream, emit func(*Entry) int64) *Splitter {
	return &Splitter{from: from, emit: emit}
}

// Off returns how many bytes of the stream came, those lost in gaps included.
func (s *Splitter) Off() int64 { return s.off }

// Write takes the bytes of one read that returned t nanoseconds after the start. It does not keep p.
func (s *Splitter) Write(t int64, p []byte) {
	if s.off > s.start && len(p) > 0 {
		if len(s.cuts) < maxCuts {
			s.cuts = append(s.cuts, Cut{At: s.off - s.start, T: s.last})
		} else {
			s.more++
		}
	}
	for len(p) > 0 {
		i := bytes.IndexByte(p, '\n')
		switch {
		case i < 0:
			s.hold(t, p)
			p = nil
		case s.open():
			s.hold(t, p[:i])
			s.off++
			s.complete(t, "\n")
			p = p[i+1:]
		default:
			s.off += int64(i) + 1
			s.record(t, p[:i], "\n")
			s.start = s.off
			p = p[i+1:]
		}
	}
	s.last = t
}

// open tells whether a record has begun and not ended.
func (s *Splitter) open() bool { return s.off > s.start || s.partial }

// hold keeps bytes of the pending record, within bounds.
func (s *Splitter) hold(t int64, p []byte) {
	for len(p) > 0 {
		room := maxWhole - len(s.pending)
		if s.partial {
			room = maxText - (len(s.pending) - s.written)
		}
		k := min(len(p), room)
		s.pending = append(s.pending, p[:k]...)
		s.off += int64(k)
		p = p[k:]
		if k == room && (len(p) > 0 || s.partial) {
			s.partial = true
			s.flush(t)
			s.forget()
		}
	}
}

// Flush writes what is known of a pending record as parts. Readers skip them when the whole record follows.
func (s *Splitter) Flush() {
	if !s.open() {
		s.shrink()
		return
	}
	s.flush(s.last)
	if s.partial {
		s.forget()
	}
}

// shrink gives the memory of a long record back when no other long one has followed for some flushes.
func (s *Splitter) shrink() {
	if cap(s.pending) <= maxText || s.longest > maxText {
		s.longest, s.quiet = 0, 0
		return
	}
	if s.quiet++; s.quiet > 50 {
		s.pending = nil
	}
}

func (s *Splitter) flush(t int64) {
	for s.written < len(s.pending) {
		p := piece(s.pending[s.written:])
		s.part(t, p, "", false)
	}
}

// part writes the next bytes of the pending record.
func (s *Splitter) part(t int64, p []byte, eol string, last bool) {
	s.entry = Entry{T: t, From: s.from, Off: s.start + s.gone + int64(s.written), Form: formOf(p), Body: p, EOL: eol, Part: true, Last: last}
	if last {
		s.entry.Cuts, s.entry.MoreCuts = s.cuts, s.more
		if s.off-s.start > pipeSize {
			s.entry.Flags = flagOversize
		}
	}
	n := s.emit(&s.entry)
	s.written += len(p)
	if !s.partial {
		s.parts = append(s.parts, n)
	}
}

// forget drops the bytes that are in parts, since the record will never be written whole.
func (s *Splitter) forget() {
	s.gone += int64(s.written)
	s.pending = append(s.pending[:0], s.pending[s.written:]...)
	s.written, s.parts = 0, s.parts[:0]
}

// complete ends the pending record.
func (s *Splitter) complete(t int64, eol string) {
	s.longest = max(s.longest, len(s.pending))
	switch {
	case !s.partial && (s.written == 0 || s.fits()):
		s.record(t, s.pending, eol)
	default:
		rest := s.pending[s.written:]
		if eol == "\n" {
			rest, eol = trimCR(rest)
		}
		for len(rest) > maxText {
			p := piece(rest)
			s.part(t, p, "", false)
			rest = rest[len(p):]
		}
		s.part(t, rest, eol, true)
	}
	s.reset()
}

// fits tells whether the pending record, of which parts were written, may be written whole.
func (s *Splitter) fits() bool {
	if len(s.pending) <= maxText {
		return true
	}
	body, _ := trimCR(s.pending)
	return s.from != Stderr && storable(body, scan.Scan(body))
}

func (s *Splitter) reset() {
	s.pending, s.parts, s.cuts = s.pending[:0], s.parts[:0], s.cuts[:0]
	s.start, s.gone, s.written, s.more, s.partial = s.off, 0, 0, 0, false
}

// record emits a whole record; its first byte is at s.start.
func (s *Splitter) record(t int64, body []byte, eol string) {
	if eol == "\n" {
		body, eol = trimCR(body)
	}
	s.entry = Entry{T: t, From: s.from, Off: s.start, Body: body, EOL: eol, Supersedes: s.parts, Cuts: s.cuts, MoreCuts: s.more}
	e := &s.entry
	if s.from == Stderr {
		e.Form = formOf(body)
	} else {
		r := scan.Scan(body)
		e.Flags = FlagsOf(body, eol, r)
		switch {
		case storable(body, r):
			e.Form = Msg
		case r.Marks&scan.NotUTF8 != 0:
			e.Form = Base64
		default:
			e.Form = Text
		}
	}
	if e.Form == Msg || len(body) <= maxText {
		s.emit(e)
		return
	}
	flags := e.Flags
	for at := 0; at < len(body); {
		p := piece(body[at:])
		s.entry = Entry{T: t, From: s.from, Off: s.start + int64(at), Form: formOf(p), Body: p, Part: true}
		at += len(p)
		if at == len(body) {
			s.entry.Last, s.entry.EOL = true, eol
			s.entry.Cuts, s.entry.MoreCuts, s.entry.Flags = s.cuts, s.more, flags
		}
		s.emit(&s.entry)
	}
}

// End says that the stream has ended: a pending record has no LF.
func (s *Splitter) End(t int64) {
	if s.off > s.start {
		s.complete(t, "")
	}
	s.reset()
}

// next is the offset in the stream of the next byte to be written.
func (s *Splitter) next() int64 { return s.start + s.gone + int64(s.written) }

// rewind makes the bytes of the pending record that lie behind pos be written again, as far as they are still known.
func (s *Splitter) rewind(pos int64) {
	if !s.partial {
		s.written = int(min(int64(s.written), max(0, pos-s.start)))
	}
}

// Gap says that the next lost bytes of the stream were not recorded. What is known of the pending record is written
// as parts; what comes up to the next LF is the end of a record whose beginning is lost.
//
// With line, the last of the lost bytes was an LF, and what comes next is a record's beginning.
func (s *Splitter) Gap(lost int64, line bool) {
	if lost == 0 {
		return
	}
	s.Flush()
	s.off += lost
	s.reset()
	s.partial = !line
}

// storable tells whether a record with this verdict may stand in a capture as msg: it is JSON for every reader, also
// for jq 1.6, which takes no lone surrogates, and its first and last byte are not white space, which a reader of the
// entry would not see.
func storable(body []byte, r scan.Result) bool {
	return r.Valid && r.Depth <= maxDepth && r.Marks&scan.RawCR == 0 &&
		body[0] > ' ' && body[len(body)-1] > ' ' &&
		(r.Marks&scan.Escaped == 0 || !loneSurrogate(body))
}

// loneSurrogate tells whether JSON has an escape of one half of a character.
func loneSurrogate(json []byte) bool {
	for {
		i := bytes.IndexByte(json, '\\')
		if i < 0 {
			return false
		}
		json = json[i+1:]
		if json[0] != 'u' {
			json = json[1:]
			continue
		}
		v, err := strconv.ParseUint(string(json[1:5]), 16, 16)
		json = json[5:]
		if err != nil || !utf16.IsSurrogate(rune(v)) {
			continue
		}
		if len(json) < 6 || json[0] != '\\' || json[1] != 'u' {
			return true
		}
		low, err := strconv.ParseUint(string(json[2:6]), 16, 16)
		if err != nil || utf16.DecodeRune(rune(v), rune(low)) == utf8.RuneError {
			return true
		}
		json = json[6:]
	}
}

func formOf(p []byte) Form {
	if utf8.Valid(p) {
		return Text
	}
	return Base64
}

// piece returns at most maxText bytes from the beginning of p, not cut inside a character if that can be helped.
func piece(p []byte) []byte {
	if len(p) <= maxText {
		return p
	}
	for k := maxText; k > maxText-utf8.UTFMax; k-- {
		if utf8.RuneStart(p[k]) {
			return p[:k]
		}
	}
	return p[:maxText]
}

func trimCR(p []byte) (body []byte, eol string) {
	if n := len(p); n > 0 && p[n-1] == '\r' {
		return p[:n-1], "\r\n"
	}
	return p, "\n"
}
