package record

import (
	"math/bits"

	"pitap/record/scan"
)

// Flags is a set of framing rules, one bit each, in the order of FramingRules.
type Flags uint32

const (
	flagCRLF Flags = 1 << iota
	flagLoneCR
	flagU2028
	flagU2029
	flagU0085
	flagBOM
	flagUTF16
	flagBlankLine
	flagInvalidUTF8
	flagInvalidJSON
	flagNotObject
	flagRawNewline
	flagConcatenated
	flagJunk
	flagControl
	flagNUL
	flagUnterminated
	flagOversize
	flagSplit
	flagReplacement
)

const ruleCount = 20

// pipeSize is what a pipe takes at a time, and the longest line that the readers of line with a default limit take.
const pipeSize = 65536

// rule returns the number in FramingRules of the first flag.
func (f Flags) rule() int { return bits.TrailingZeros32(uint32(f)) }

// said is f without what would only say the same once more: several separators in one record are one cause, and one
// finding, whose text names all of them.
func (f Flags) said() Flags {
	if separators := f & (flagU2028 | flagU2029 | flagU0085); separators != 0 {
		f = f&^separators | separators&-separators
	}
	return f
}

// Names returns the ids of the rules, in the order of FramingRules; nil for none.
func (f Flags) Names() []string {
	var names []string
	for ; f != 0; f &= f - 1 {
		if i := f.rule(); i < ruleCount {
			names = append(names, FramingRules[i].ID)
		}
	}
	return names
}

// ParseFlag returns the flag of the framing rule with an id such as "framing/crlf"; ok is false if there is none.
func ParseFlag(id string) (f Flags, ok bool) {
	for i := range FramingRules {
		if FramingRules[i].ID == id {
			return 1 << i, true
		}
	}
	return 0, false
}

// FlagsOf tells what is wrong with the framing of one whole record, as far as the record alone shows it: a raw newline
// is seen by Framing only, and with it other flags of the lines around it turn out to have been wrong. body is without
// its line end eol, r is scan.Scan(body). FlagsOf does not allocate, and returns at once for a record that is clean.
func FlagsOf(body []byte, eol string, r scan.Result) Flags {
	if clean(int64(len(body)), eol, &r) {
		return 0
	}
	l := line{size: int64(len(body)), eol: eol, head: headOf(body), body: body, res: r}
	return l.flags()
}

// clean tells whether no rule about a single record can apply.
func clean(size int64, eol string, r *scan.Result) bool {
	return r.Valid && r.Object && r.Marks&^scan.Escaped == 0 && eol == "\n" && size < pipeSize
}
