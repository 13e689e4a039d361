package scan

import "math/bits"

// placed is how many of the marks have a place: those from NotUTF8 to Control.
const placed = 8

// Scanner judges a record that comes in pieces: the same verdict for the same bytes, however they are cut. The zero
// value is ready to use. Its memory is one bit for each level of nesting beyond 256.
type Scanner struct {
	state state
	left  uint8 // stHex: digits still to come; stWord: bytes of word that have come
	key   bool  // the string at hand is a key
	one   bool  // stop behind the first value (ScanValue)
	kind  Kind
	marks Marks
	word  string // stWord: true, false or null
	spans *Spans // nil, or where members of the outermost object are noted

	base   int         // offset of the next byte in the record
	errAt  int         // in stBad: where JSON ended
	end    Ending      // in stBad: in what
	byte   byte        // in stBad: at what
	firsts [placed]int // by mark: where it was seen first

	// A character that began in one piece and ends in another.
	part  [4]byte
	parts int

	// The open brackets, one bit each, 1 for an object; the innermost is bit 0 of top. When top is full it goes to
	// words, then to more.
	depth, deepest int
	top            uint64
	words          [3]uint64
	more           []uint64
}

// state is what the grammar expects next.
type state uint8

const (
	stStart   state = iota // the record's value
	stValue                // a value
	stElement              // a value or ]
	stMember               // a key or }
	stKey                  // a key
	stColon                // :
	stAfter                // , or the closing bracket
	stDone                 // white space
	stString               // the rest of a string
	stEscape               // what follows a backslash
	stHex                  // digits of \u
	stMinus                // number: what follows -
	stZero                 // number: what follows a leading 0
	stInt                  // number: more digits, or . or e
	stPoint                // number: the first digit behind .
	stFrac                 // number: more digits, or e
	stE                    // number: sign or digit
	stSign                 // number: the first digit of the exponent
	stExp                  // number: more digits
	stWord                 // the rest of true, false or null
	stBad                  // nothing: JSON has ended in an error, only marks are looked for
)

// Reset makes s ready for another record. Memory for deep nesting is given up.
func (s *Scanner) Reset() { *s = Scanner{} }

// Write looks over the next bytes of the record. It does not keep p.
func (s *Scanner) Write(p []byte) {
	for s.parts > 0 && len(p) > 0 {
		p = s.finishChar(p)
	}
	for len(p) > 0 {
		p = p[s.run(p):]
	}
}

// Result is the verdict as if the record ended here. More may be written after it.
func (s *Scanner) Result() Result {
	r := Result{
		Object:    s.kind == KindObject,
		Depth:     s.deepest,
		Marks:     s.marks,
		Kind:      s.kind,
		JSONErrAt: s.base,
		UTF8ErrAt: -1,
	}
	switch s.state {
	case stDone:
		r.End = EndWhole
	case stZero, stInt, stFrac, stExp:
		if s.depth == 0 {
			r.End = EndWhole
		}
	case stString, stEscape, stHex:
		r.End = EndEarlyInString
	case stBad:
		r.End, r.JSONErrAt, r.ErrByte = s.end, s.errAt, s.byte
	}
	if r.JSON = r.End == EndWhole; r.JSON {
		r.JSONErrAt = -1
	}
	r.ErrAt = r.JSONErrAt
	if r.UTF8ErrAt = s.First(NotUTF8); r.UTF8ErrAt >= 0 {
		r.Marks |= NotUTF8
		if r.JSON || r.UTF8ErrAt < r.ErrAt {
			r.ErrAt = r.UTF8ErrAt
		}
	}
	r.Valid = r.ErrAt < 0
	return r
}

// First returns the offset in the record at which a mark was seen first, -1 when it was not, or is Escaped. Of several
// marks it is the first of any.
func (s *Scanner) First(marks Marks) int {
	if s.marks&marks == 0 && s.parts == 0 {
		return -1
	}
	first := -1
	for bit, at := range s.firsts {
		if m := Marks(1 << bit); m&marks&s.marks != 0 && (first < 0 || at < first) {
			first = at
		}
	}
	if marks&BOM&s.marks != 0 {
		return 0
	}
	if marks&NotUTF8 != 0 && s.parts > 0 && (first < 0 || s.base-s.parts < first) {
		first = s.base - s.parts
	}
	return first
}

// mark notes what was seen at an offset of the record.
func (s *Scanner) mark(m Marks, at int) {
	if s.marks&m == m {
		return
	}
	s.marks |= m
	if bit := bits.TrailingZeros32(uint32(m)); bit < placed {
		s.firsts[bit] = at
	}
}

// finishChar takes from p what the character in s.part lacks and returns the rest of p.
func (s *Scanner) finishChar(p []byte) []byte {
	var buf [8]byte
	had := copy(buf[:], s.part[:s.parts])
	n := had + copy(buf[had:4], p)
	size, mark := char(buf[:n])
	switch {
	case size == 0: // p is too short, too
		copy(s.part[:], buf[:n])
		s.parts = n
		s.base += n - had
		return nil
	case mark&NotUTF8 != 0:
		// The other bytes of part are not UTF-8 either, and can make no other mark.
		s.mark(NotUTF8, s.base-had)
		s.parts = 0
		return p
	}
	if s.base == had && string(buf[:3]) == bom {
		mark |= BOM
	}
	s.mark(mark, s.base-had)
	s.parts = 0
	s.base += size - had
	return p[size-had:]
}

// keepChar keeps the beginning of a character at the end of a piece.
func (s *Scanner) keepChar(b []byte) {
	s.parts = copy(s.part[:], b)
}

// spill stores the 64 innermost brackets away when there are that many more to come.
func (s *Scanner) spill(depth int, w uint64) {
	if i := depth/64 - 1; i < len(s.words) {
		s.words[i] = w
	} else {
		s.more = append(s.more, w)
	}
}

// unspill is the inverse of spill.
func (s *Scanner) unspill(depth int) uint64 {
	i := depth/64 - 1
	if i < len(s.words) {
		return s.words[i]
	}
	i -= len(s.words)
	w := s.more[i]
	s.more = s.more[:i]
	return w
}
