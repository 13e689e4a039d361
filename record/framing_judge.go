package record

import (
	"bytes"

	"pitap/record/scan"
)

const (
	headSize      = 4096 // what is looked for at the beginning of a record is looked for in so many bytes
	maxCandidates = 16   // brackets in the head at which a record behind junk may start
)

func headOf(body []byte) []byte { return body[:min(len(body), headSize)] }

// line is one record, as the rules see it.
type line struct {
	n, off   int64 // entry number, offset in the stream
	from     Stream
	size     int64 // without the line end
	eol      string
	lastRead int64 // bytes from the end of the last read before it that is known, to its own end

	head []byte      // its first bytes, at most headSize
	body []byte      // all of it, nil for a record that was too long to be kept
	res  scan.Result // of all of it

	// base is where in it a record begins, and inner the verdict from there on: behind a byte order mark or junk. Where
	// there is a body, flags finds out.
	base  int
	inner scan.Result

	long, longInner *scan.Scanner // where there is no body: they have seen what res and inner are about
}

// verdict is the verdict on the record without what stands before it.
func (l *line) verdict() *scan.Result {
	if l.base > 0 {
		return &l.inner
	}
	return &l.res
}

// killsPi tells whether the record is null, which ends pi.
func (l *line) killsPi() bool { return l.from == Client && l.verdict().Kind == scan.KindNull }

// first is where in the record a mark was seen first, behind base.
func (l *line) first(mark scan.Marks) int64 {
	switch {
	case l.long == nil:
		var s scan.Scanner
		s.Write(l.body[l.base:])
		return int64(l.base + s.First(mark))
	case l.base > 0:
		return int64(l.base + l.longInner.First(mark))
	}
	return int64(l.long.First(mark))
}

// place is where in the record a flag's finding is.
func (l *line) place(flag Flags) int64 {
	r := l.verdict()
	wrong := int64(l.base + r.JSONErrAt)
	switch flag {
	case flagCRLF, flagUnterminated:
		return l.size
	case flagLoneCR:
		if r.JSON || concatenated(r) {
			return l.first(scan.RawCR)
		}
		return wrong
	case flagU2028:
		return l.first(scan.LineSep)
	case flagU2029:
		return l.first(scan.ParaSep)
	case flagU0085:
		return l.first(scan.NextLine)
	case flagReplacement:
		return l.first(scan.Replacement)
	case flagInvalidUTF8:
		return int64(l.base + r.UTF8ErrAt)
	case flagControl:
		if r.JSON {
			return l.first(scan.Control)
		}
		return wrong
	case flagJunk, flagNUL:
		if r.JSON {
			return int64(l.base) // where the record starts
		}
		return wrong
	case flagInvalidJSON:
		if r.Object {
			return wrong
		}
		return int64(l.base) // text, whatever its first letters have in common with JSON
	case flagConcatenated:
		return wrong
	case flagOversize:
		return pipeSize
	}
	return 0
}

// flags applies the rules about a single record. The specific cause replaces the general one.
func (l *line) flags() Flags {
	if isUTF16(l.head, l.res.Marks) {
		return flagUTF16
	}
	var f Flags
	if l.eol == "\r\n" {
		f |= flagCRLF
	}
	if l.size+int64(len(l.eol)) > pipeSize {
		f |= flagOversize
	}
	if l.body != nil {
		if l.base = innerStart(l.head, &l.res); l.base > 0 {
			l.inner = scan.Scan(l.body[l.base:])
		}
	}
	switch {
	case l.res.Marks&scan.BOM != 0:
		f |= flagBOM
		if blank(&l.inner) {
			return f
		}
	case l.base > 0 && l.inner.JSON:
		return f | l.junk() | l.flagsOfJSON(&l.inner)
	default:
		l.base = 0
	}
	r := l.verdict()
	switch {
	case r.JSON:
		return f | l.flagsOfJSON(r)
	case blank(r):
		return f | flagBlankLine
	}
	return f | l.flagsOfBad(r)
}

// blank tells whether there was nothing but white space.
func blank(r *scan.Result) bool { return r.Kind == scan.NoKind && r.End == scan.EndEarly && !r.JSON }

// flagsOfJSON is about a record that is JSON, though some bytes may not be UTF-8.
func (l *line) flagsOfJSON(r *scan.Result) Flags {
	var f Flags
	if !r.Object {
		f |= flagNotObject
	}
	for _, m := range [...]struct {
		mark scan.Marks
		flag Flags
	}{
		{scan.NotUTF8, flagInvalidUTF8}, {scan.LineSep, flagU2028}, {scan.ParaSep, flagU2029}, {scan.NextLine, flagU0085},
		{scan.RawCR, flagLoneCR}, {scan.Control, flagControl}, {scan.Replacement, flagReplacement},
	} {
		if r.Marks&m.mark != 0 {
			f |= m.flag
		}
	}
	if l.eol == "" {
		f |= flagUnterminated
	}
	return f
}

// flagsOfBad is about a line that is no JSON.
func (l *line) flagsOfBad(r *scan.Result) Flags {
	early := r.End == scan.EndEarly || r.End == scan.EndEarlyInString
	if early && l.eol == "" && r.Object {
		if r.UTF8ErrAt >= 0 && r.JSONErrAt-r.UTF8ErrAt > 3 {
			return flagUnterminated | flagInvalidUTF8
		}
		return flagUnterminated // and if its last character is not UTF-8, it is because it was cut
	}
	var f Flags
	if l.eol == "" {
		f = flagUnterminated
	}
	switch {
	case concatenated(r) && r.Marks&scan.RawCR == 0:
		return f | flagConcatenated
	case concatenated(r):
		return f | flagLoneCR
	case r.UTF8ErrAt >= 0:
		return f | flagInvalidUTF8
	case early:
		return f | flagInvalidJSON
	case r.ErrByte == '\r':
		return f | flagLoneCR
	case r.ErrByte == 0:
		return f | flagNUL
	case r.ErrByte < 0x20 || r.ErrByte == 0x7f:
		return f | flagControl
	}
	return f | flagInvalidJSON
}

// junk is the rule about what stands before the record at base.
func (l *line) junk() Flags {
	if len(bytes.Trim(l.head[:l.base], "\x00")) == 0 {
		return flagNUL
	}
	return flagJunk
}

// concatenated tells whether an object begins on the line behind a whole one.
func concatenated(r *scan.Result) bool {
	return r.End == scan.EndWrongBehind && r.Object && r.ErrByte == '{'
}

// innerStart tells where in a record with this head and verdict another one may begin: behind a byte order mark, or
// behind junk that is no JSON, which it must tell from the head alone. It returns 0 for nowhere.
func innerStart(head []byte, r *scan.Result) int {
	if r.Marks&scan.BOM != 0 {
		return 3
	}
	wrong := r.End == scan.EndWrong || r.End == scan.EndWrongInString || r.End == scan.EndWrongBehind
	if !wrong || r.JSONErrAt >= len(head) || concatenated(r) {
		return 0
	}
	at := 0
	for range maxCandidates {
		i := bytes.IndexByte(head[at+1:], '{')
		if i < 0 {
			return 0
		}
		at += 1 + i
		end, v := scan.ScanValue(head, at)
		if end < 0 && (v.End == scan.EndEarly || v.End == scan.EndEarlyInString) && len(head) == headSize {
			return at
		}
		if end >= 0 && len(bytes.TrimLeft(head[end:], " \t\r\n")) == 0 {
			return at
		}
	}
	return 0
}

// isUTF16 tells whether a record looks like UTF-16, which has a NUL beside each ASCII character. As the LF of UTF-16
// is cut through the middle, the text may begin with half a character.
func isUTF16(head []byte, marks scan.Marks) bool {
	if marks&scan.NUL == 0 {
		return false
	}
	even, odd := zeros(head)
	most, least := max(even, odd), min(even, odd)
	return most >= 2 && most*8 >= len(head) && least*8 <= most
}

// zeros counts the NUL bytes at even and at odd offsets.
func zeros(head []byte) (even, odd int) {
	for i, c := range head {
		if c == 0 {
			if i%2 == 0 {
				even++
			} else {
				odd++
			}
		}
	}
	return even, odd
}
