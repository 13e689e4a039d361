package record

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"pitap/record/scan"
)

// text says in one sentence what is wrong with the record; at is the place in it.
func (l *line) text(flag Flags, at int64) string {
	r := l.verdict()
	switch flag {
	case flagCRLF:
		return fmt.Sprintf("the line ends in CR LF: the CR is byte %d of the record", at)
	case flagLoneCR:
		return l.textOfCR(r, at)
	case flagU2028, flagU2029, flagU0085:
		return l.textOfSeparators(r)
	case flagBOM:
		return "the record begins with a byte order mark (EF BB BF), its JSON at byte 3"
	case flagUTF16:
		return "the text is " + utf16Name(l.head) + ", not UTF-8: its characters are two bytes each, and so is its line end"
	case flagBlankLine:
		if l.size == 0 {
			return "the line is empty"
		}
		return fmt.Sprintf("the line is blank: %d bytes of white space", l.size)
	case flagInvalidUTF8:
		return l.textOfUTF8(r, at)
	case flagInvalidJSON:
		return l.textOfJSON(r, at)
	case flagNotObject:
		return l.textOfKind(r)
	case flagConcatenated:
		return fmt.Sprintf("a second object begins at byte %d of the line, behind a whole one", at)
	case flagJunk:
		return fmt.Sprintf("the record starts at byte %d of the line, behind %s", at, describeJunk(l.head[:l.base]))
	case flagControl:
		return l.textOfControl(r, at)
	case flagNUL:
		if r.JSON {
			return fmt.Sprintf("the record starts at byte %d of the line, behind NUL bytes", at)
		}
		return fmt.Sprintf("a NUL byte is at byte %d of the record", at)
	case flagUnterminated:
		return l.textOfEnd(r)
	case flagOversize:
		return fmt.Sprintf("the record has %s bytes with its line end, more than the %s of default readers", group3(l.size+int64(len(l.eol))), group3(pipeSize))
	case flagReplacement:
		return fmt.Sprintf("U+FFFD is at byte %d of the record: decoders put it where bytes are not UTF-8", at)
	}
	return ""
}

func (l *line) textOfCR(r *scan.Result, at int64) string {
	switch {
	case r.JSON:
		return fmt.Sprintf("a CR is at byte %d within the line, between the parts of the record: Node's readline ends a line there", at)
	case concatenated(r):
		return fmt.Sprintf("a CR alone, at byte %d of the line, stands between two records: pi splits on LF only", at)
	case r.End == scan.EndWrongInString:
		return fmt.Sprintf("a raw CR is in a string at byte %d of the record: JSON wants it written \\r", at)
	}
	return fmt.Sprintf("a CR is at byte %d within the line", at)
}

func (l *line) textOfSeparators(r *scan.Result) string {
	var names []string
	breaks := "Python's str.splitlines ends a line there"
	for _, m := range [...]struct {
		mark scan.Marks
		name string
	}{{scan.LineSep, "U+2028"}, {scan.ParaSep, "U+2029"}, {scan.NextLine, "U+0085"}} {
		if r.Marks&m.mark == 0 {
			continue
		}
		names = append(names, fmt.Sprintf("%s at byte %d", m.name, l.first(m.mark)))
		if m.mark == scan.LineSep || m.mark == scan.ParaSep {
			breaks = "the readline of Node 24 and Python's str.splitlines end a line there"
		}
	}
	return "the record holds a raw " + list(names) + ": " + breaks
}

func (l *line) textOfUTF8(r *scan.Result, at int64) string {
	text := fmt.Sprintf("byte %d of the record", at)
	if at < int64(len(l.head)) {
		text += fmt.Sprintf(" (0x%02x)", l.head[at])
	}
	text += " is not UTF-8"
	switch {
	case !r.JSON:
		return text + ", and the line is no JSON"
	case l.from == Client:
		return text + ": pi silently takes U+FFFD for it"
	}
	return text
}

func (l *line) textOfJSON(r *scan.Result, at int64) string {
	switch {
	case r.Kind != scan.KindObject:
		return "a line of text that is no record: " + show(l.head[l.base:])
	case r.End == scan.EndEarlyInString:
		return fmt.Sprintf("the record ends within a string, after %d bytes", at)
	case r.End == scan.EndEarly:
		return fmt.Sprintf("the record ends too early, after %d bytes", at)
	case r.End == scan.EndWrongBehind:
		return fmt.Sprintf("something that is no JSON follows the record at byte %d of the line", at)
	}
	c := strconv.QuoteRuneToASCII(rune(r.ErrByte))
	if r.ErrByte >= utf8.RuneSelf {
		c = fmt.Sprintf("0x%02x", r.ErrByte)
	}
	return fmt.Sprintf("the record is no JSON: %s may not stand at byte %d", c, at)
}

func (l *line) textOfKind(r *scan.Result) string {
	name := [...]string{scan.KindArray: "an array", scan.KindString: "a string", scan.KindNumber: "a number",
		scan.KindTrue: "true", scan.KindFalse: "false", scan.KindNull: "null"}[r.Kind]
	if l.killsPi() {
		return "the record is null, which kills pi since 0.65.0 (exit status 1)"
	}
	return "the record is " + name + ", not an object"
}

func (l *line) textOfControl(r *scan.Result, at int64) string {
	if r.JSON {
		return fmt.Sprintf("a raw control character (DEL, or U+0080 to U+009F) is in a string at byte %d of the record", at)
	}
	name := controlName(r.ErrByte)
	if r.End == scan.EndWrongInString {
		return fmt.Sprintf("a raw %s is in a string at byte %d of the record: JSON wants it escaped", name, at)
	}
	if r.ErrByte == 0x1b && at < int64(len(l.head)) {
		return fmt.Sprintf("%s is at byte %d of the line, which is no record", describeJunk(l.head[at:][:sequence(l.head[at:])]), at)
	}
	return fmt.Sprintf("a raw %s is at byte %d of the line", name, at)
}

func (l *line) textOfEnd(r *scan.Result) string {
	text := fmt.Sprintf("the stream ends without LF behind a record of %s bytes", group3(l.size))
	if !r.JSON {
		text = fmt.Sprintf("the stream ends after %s bytes of a record that is not whole", group3(l.size))
	}
	switch {
	case l.from != Agent:
	case l.size == pipeSize:
		return text + ", which is exactly one pipe buffer: this is how pi ends when it does not flush"
	case l.lastRead == pipeSize:
		return text + "; its last read brought " + group3(pipeSize) + ", exactly one pipe buffer: this is how pi ends when it does not flush"
	}
	return text
}

// textOfGroup says what is wrong with lines that are one record.
func textOfGroup(g *group, flag Flags) string {
	first, last := &g.lines[0], &g.lines[len(g.lines)-1]
	lines := fmt.Sprintf("entries %d to %d are one record", first.n, last.n)
	switch {
	case first.n == last.n: // not in a capture of ours
		lines = fmt.Sprintf("%d lines are one record", len(g.lines))
	case len(g.lines) == 2:
		lines = fmt.Sprintf("entries %d and %d are one record", first.n, last.n)
	}
	switch {
	case flag == flagSplit:
		return fmt.Sprintf("%s, split in a string behind byte %d, where U+2028 or U+2029 may have been", lines, first.size)
	case g.space == 0:
		return fmt.Sprintf("%s, cut by a raw newline in a string at byte %d: JSON wants it written \\n", lines, first.size)
	}
	return fmt.Sprintf("%s, spread over %d lines: the first newline is at byte %d", lines, len(g.lines), first.size)
}

// finish returns the finding as it is told now.
func (f *found) finish() Finding {
	out := f.Finding
	if f.largestN > f.N {
		out.Text += fmt.Sprintf("; the largest, entry %d, has %s", f.largestN, group3(f.largest))
	}
	return out
}

// utf16Name tells which UTF-16 it is.
func utf16Name(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}):
		return "UTF-16 (little-endian, with a byte order mark)"
	case bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		return "UTF-16 (big-endian, with a byte order mark)"
	}
	if even, odd := zeros(head); even > odd {
		return "UTF-16 (big-endian)"
	}
	return "UTF-16 (little-endian)"
}

// show quotes the beginning of a line, safe to print.
func show(b []byte) string {
	const most = 48
	if len(b) <= most {
		return strconv.QuoteToASCII(string(b))
	}
	return strconv.QuoteToASCII(string(bytes.ToValidUTF8(b[:most], nil))) + "..."
}

// list joins as one says it: a, b and c.
func list(names []string) string {
	if n := len(names) - 1; n > 0 {
		return strings.Join(names[:n], ", ") + " and " + names[n]
	}
	return strings.Join(names, "")
}

// group3 writes a figure with commas: 65,536.
func group3(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
