// Package scan looks once over the bytes of a record and says what they are: JSON or not, UTF-8 or not, how deep,
// and which bytes in it are known to break readers. It never recurses, never allocates for records of ordinary depth,
// and can be fed a record in pieces.
//
// Scan judges a record that is there as a whole, Scanner one that comes in pieces; Members walks over the members of
// an object, Unquote and AppendQuote translate between text and JSON strings. No function keeps a slice that it was
// given, and all of them may be used by many goroutines at once on different data.
package scan

// Marks is a set of things seen in a record.
type Marks uint32

const (
	NotUTF8     Marks = 1 << iota // some byte is not UTF-8
	LineSep                       // U+2028
	ParaSep                       // U+2029
	NextLine                      // U+0085
	Replacement                   // U+FFFD
	RawCR                         // a CR byte
	NUL                           // a NUL byte
	Control                       // another C0 control (not TAB, LF, CR, NUL), or DEL, or U+0080 to U+009F except U+0085
	BOM                           // EF BB BF at the very start
	Escaped                       // a \uXXXX escape in a string, as long as the record is JSON
)

// Kind is the type of the top-level JSON value, as its first byte tells it.
type Kind uint8

const (
	NoKind Kind = iota // no value begins there
	KindObject
	KindArray
	KindString
	KindNumber
	KindTrue
	KindFalse
	KindNull
)

// Ending is how a reader of JSON, of bytes that are not UTF-8 as of others, comes to its end.
type Ending uint8

const (
	EndEarly         Ending = iota // too early: more could make it JSON
	EndEarlyInString               // too early, within a string
	EndWrong                       // at a byte that may not stand there
	EndWrongInString               // at a byte that may not stand there, within a string
	EndWrongBehind                 // at a byte behind a whole value
	EndWhole                       // with one value and nothing else
)

// Result is the verdict on one record.
type Result struct {
	Valid  bool  // the bytes are one JSON text as JSON.parse takes it, white space around it allowed
	Object bool  // its first token is {
	Depth  int   // deepest nesting of objects and arrays that was seen
	Marks  Marks // of all bytes, also of those behind the first error
	ErrAt  int   // offset of the first byte that JSON does not allow there, len when it ends too early; -1 when Valid

	// JSON is Valid for a reader that, as JavaScript's decoders do, takes U+FFFD for each byte that is not UTF-8:
	// Valid is JSON without NotUTF8. When JSON holds and Valid does not, ErrAt is the first byte that is not UTF-8.
	JSON      bool
	Kind      Kind   // of the first token
	End       Ending // EndWhole where JSON holds
	ErrByte   byte   // with EndWrong...: the byte at JSONErrAt
	JSONErrAt int    // where JSON ended as End says; -1 where JSON holds
	UTF8ErrAt int    // offset of the first byte that is not UTF-8, -1 if there is none
}

// Scan looks over the record b in one pass. It allocates only for nesting of more than 256, one bit a level.
//
// The grammar is that of JavaScript's JSON.parse: white space is space, TAB, LF and CR; duplicate keys and escaped lone
// surrogates are fine, raw bytes below 0x20 in strings, leading zeros, trailing commas and a byte order mark are not.
// UTF-8 is judged as package unicode/utf8 does: no surrogates, no overlong forms.
func Scan(b []byte) Result {
	var s Scanner
	s.Write(b)
	return s.Result()
}

// ScanValue looks over the one JSON value that begins at b[pos], after white space if need be, and stops behind it.
// The offsets in r count from the start of b. end is the offset of the first byte behind the value, -1 when there is
// no whole value; that a string in it is not UTF-8 is no reason for that (see Result.JSON).
func ScanValue(b []byte, pos int) (end int, r Result) {
	if pos < 0 || pos > len(b) {
		return -1, Result{ErrAt: len(b), JSONErrAt: len(b), UTF8ErrAt: -1}
	}
	s := Scanner{base: pos, one: true}
	end = pos + s.run(b[pos:])
	r = s.Result()
	if !r.JSON {
		end = -1
	}
	return end, r
}

// ValueEnd returns the offset of the first byte behind the JSON value that begins at b[pos], after white space if
// need be, -1 if there is none.
func ValueEnd(b []byte, pos int) int {
	if pos < 0 {
		return -1
	}
	pos = skipBlank(b, pos)
	end := shortString(b, pos)
	if end < 0 {
		end = shortNumber(b, pos)
	}
	if end < 0 {
		end, _ = ScanValue(b, pos)
	}
	return end
}
