// Package scan looks once over the bytes of a record and says what they are: JSON or not, UTF-8 or not, how deep,
// and which bytes in it are known to break readers. It never recurses, never allocates for records of ordinary depth,
// and can be fed a record in pieces.
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
)

// Kind is the type of the top-level JSON value.
type Kind uint8

// Result is the verdict on one record.
type Result struct {
	Valid  bool  // the bytes are one JSON text as JSON.parse takes it, white space around it allowed
	Object bool  // its first token is {
	Depth  int   // deepest nesting of objects and arrays that was seen
	Marks  Marks // of all bytes, also of those behind the first error
	ErrAt  int   // offset of the first byte that JSON does not allow there, len when it ends too early; -1 when Valid
}
