package scan

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestScanTakesWhatJavaScriptTakes(t *testing.T) {
	for _, text := range jsonYes {
		if r := Scan([]byte(text)); !r.Valid || !r.JSON || r.ErrAt != -1 {
			t.Errorf("%q: want valid, got %+v", text, r)
		}
	}
	for _, text := range jsonNo {
		if r := Scan([]byte(text)); r.Valid || r.JSON || r.ErrAt < 0 || r.ErrAt > len(text) {
			t.Errorf("%q: want invalid, got %+v", text, r)
		}
	}
}

func TestScanResult(t *testing.T) {
	bad := func(errAt int, marks Marks) Result { return Result{ErrAt: errAt, Marks: marks} }
	object := func(errAt, depth int, marks Marks) Result {
		return Result{Object: true, Kind: KindObject, Depth: depth, Marks: marks, ErrAt: errAt}
	}
	valid := func(r Result) Result {
		r.Valid, r.JSON, r.ErrAt = true, true, -1
		return r
	}
	lenient := func(r Result) Result {
		r.JSON = true
		return r
	}
	tests := []struct {
		name, text string
		want       Result
	}{
		{"empty", "", bad(0, 0)},
		{"blank", " \t", bad(2, 0)},
		{"object", `{"a":[[]]}`, valid(object(0, 3, 0))},
		{"not an object", ` [1,{}]`, valid(Result{Kind: KindArray, Depth: 2})},
		{"null", `null`, valid(Result{Kind: KindNull})},
		{"number", `-1.5e3`, valid(Result{Kind: KindNumber})},
		{"ends in a number", `-1.`, Result{Kind: KindNumber, ErrAt: 3}},
		{"ends in a word", `tru`, Result{Kind: KindTrue, ErrAt: 3}},
		{"wrong word", `trux`, Result{Kind: KindTrue, ErrAt: 3}},
		{"wrong escape", `"ab\x41"`, Result{Kind: KindString, ErrAt: 4}},
		{"wrong digit", `"\u12g4"`, Result{Kind: KindString, Marks: Escaped, ErrAt: 5}},
		{"leading zero", `{"a":01}`, object(6, 1, 0)},
		{"trailing comma", `{"a":1,}`, object(7, 1, 0)},
		{"wrong bracket", `{"a":[1}`, object(7, 2, 0)},
		{"two objects", `{}{"a":[]}`, object(2, 1, 0)},
		{"text", "plain text", bad(0, 0)},
		{"bom", "\ufeff{}", bad(0, BOM)},
		{"bom within", `{"a":"` + "\ufeff" + `"}`, valid(object(0, 1, 0))},
		{"bom later", "x\ufeff", bad(0, 0)},
		{"separators", `{"a":"` + "\u2028|\u2029|\u0085" + `"}`, valid(object(0, 1, LineSep|ParaSep|NextLine))},
		{"separator out of a string", "\u2028{}", bad(0, LineSep)},
		{"neighbours of the separators", `"` + "\u2027\u202a\u0084\u0086\u00a0" + `"`, valid(Result{Kind: KindString, Marks: Control})},
		{"replacement", `"` + "\ufffd" + `"`, valid(Result{Kind: KindString, Marks: Replacement})},
		{"beside the replacement", `"` + "\ufffc\ufeff\uffff" + `"`, valid(Result{Kind: KindString})},
		{"del", `"` + "\x7f" + `"`, valid(Result{Kind: KindString, Marks: Control})},
		{"c1", `"` + "\u0080" + `"`, valid(Result{Kind: KindString, Marks: Control})},
		{"no-break space", `"` + "\u00a0" + `"`, valid(Result{Kind: KindString})},
		{"cr as white space", "{\r}\r", valid(object(0, 1, RawCR))},
		{"cr before all", "\r{}", valid(object(0, 1, RawCR))},
		{"cr in a string", "\"a\rb\"", Result{Kind: KindString, ErrAt: 2, Marks: RawCR}},
		{"nul", "{}\x00", object(2, 1, NUL)},
		{"escape sequence", "\x1b]0;t\x07{}", bad(0, Control)},
		{"tab in a string", "\"\t\"", Result{Kind: KindString, ErrAt: 1}},
		{"marks behind the error", "x\x00\r\x01\u2028\u2029\u0085\ufffd", bad(0, NUL|RawCR|Control|LineSep|ParaSep|NextLine|Replacement)},
		{"bad byte in a string", "{\"a\":\"x\xff\"}", lenient(object(7, 1, NotUTF8))},
		{"bad byte, then an error", "{\"a\":\"x\xff\",}", object(7, 1, NotUTF8)},
		{"an error, then a bad byte", "{,\xff", object(1, 1, NotUTF8)},
		{"bad byte out of a string", "{\xff}", object(1, 1, NotUTF8)},
		{"two bad bytes", "\"\xe2\x80\"", lenient(Result{Kind: KindString, ErrAt: 1, Marks: NotUTF8})},
		{"cut character", "\"a\xe2\x80", Result{Kind: KindString, ErrAt: 2, Marks: NotUTF8}},
		{"cut character behind an error", "a\xe2\x80", Result{ErrAt: 0, Marks: NotUTF8}},
		{"overlong", "\"\xc0\xaf\"", lenient(Result{Kind: KindString, ErrAt: 1, Marks: NotUTF8})},
		{"surrogate", "\"\xed\xa0\x80\"", lenient(Result{Kind: KindString, ErrAt: 1, Marks: NotUTF8})},
		{"beyond unicode", "\"\xf4\x90\x80\x80\"", lenient(Result{Kind: KindString, ErrAt: 1, Marks: NotUTF8})},
		{"long string", `"` + strings.Repeat("abc漢é😀", 50) + "\u2028" + `"`, valid(Result{Kind: KindString, Marks: LineSep})},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := Scan([]byte(test.text))
			got := r
			got.End, got.ErrByte, got.JSONErrAt, got.UTF8ErrAt = 0, 0, 0, 0 // see TestEnding
			if got != test.want {
				t.Errorf("Scan(%q)\n got %+v\nwant %+v", test.text, got, test.want)
			}
			for cut := range len(test.text) + 1 {
				if got := scanIn(test.text[:cut], test.text[cut:]); got != r {
					t.Errorf("cut at %d of %q\n got %+v\nwant %+v", cut, test.text, got, r)
				}
			}
			var bytewise []string
			for i := range len(test.text) {
				bytewise = append(bytewise, test.text[i:i+1])
			}
			if got := scanIn(bytewise...); got != r {
				t.Errorf("cut at every byte of %q\n got %+v\nwant %+v", test.text, got, r)
			}
		})
	}
}

func scanIn(pieces ...string) Result {
	var s Scanner
	for _, p := range pieces {
		s.Result() // must not change anything
		s.Write([]byte(p))
	}
	return s.Result()
}

func TestEnding(t *testing.T) {
	tests := []struct {
		text string
		end  Ending
		json int
		utf8 int
	}{
		{`{}`, EndWhole, -1, -1},
		{`12`, EndWhole, -1, -1},
		{``, EndEarly, 0, -1},
		{` `, EndEarly, 1, -1},
		{`{"a"`, EndEarly, 4, -1},
		{`{"a":tr`, EndEarly, 7, -1},
		{`{"a":1`, EndEarly, 6, -1},
		{`-`, EndEarly, 1, -1},
		{`{"a`, EndEarlyInString, 3, -1},
		{`{"a\`, EndEarlyInString, 4, -1},
		{`{"a\u12`, EndEarlyInString, 7, -1},
		{`text`, EndWrong, 1, -1},
		{`{"a" 1`, EndWrong, 5, -1},
		{`[01]`, EndWrong, 2, -1},
		{`{"a":trux`, EndWrong, 8, -1},
		{"{\"a\nb\"}", EndWrongInString, 3, -1},
		{`{"a\x`, EndWrongInString, 4, -1},
		{`{}x`, EndWrongBehind, 2, -1},
		{`{} {}`, EndWrongBehind, 3, -1},
		{`01`, EndWrongBehind, 1, -1},
		{"{}\x00", EndWrongBehind, 2, -1},
		{"\"\xff\"", EndWhole, -1, 1},
		{"\"\xff\"\xff", EndWrongBehind, 3, 1},
		{"{,\xff", EndWrong, 1, 2},
		{"\"a\xe6\xbc", EndEarlyInString, 4, 2},
		{"\"\xff\xe6\xbc", EndEarlyInString, 4, 1},
		{"\ufeff{}", EndWrong, 0, -1},
	}
	for _, test := range tests {
		r := Scan([]byte(test.text))
		if r.End != test.end || r.JSONErrAt != test.json || r.UTF8ErrAt != test.utf8 {
			t.Errorf("Scan(%q) = %+v, want end %d at %d, UTF-8 error at %d", test.text, r, test.end, test.json, test.utf8)
		}
		if i := r.JSONErrAt; i >= 0 && i < len(test.text) && r.ErrByte != test.text[i] {
			t.Errorf("Scan(%q) ended at %q", test.text, r.ErrByte)
		}
	}
}

func TestFirst(t *testing.T) {
	text := "{\"a\":\"漢\ufffd\u0085\x7f\u2029\u2028\"}\r\r\x00\xff\x00\u2028\x7f\xff\xe2"
	for _, size := range []int{1, 2, 3, 7, len(text)} {
		var s Scanner
		for rest := []byte(text); len(rest) > 0; rest = rest[min(size, len(rest)):] {
			s.Write(rest[:min(size, len(rest))])
		}
		for mark, what := range map[Marks]string{
			Replacement: "\ufffd", NextLine: "\u0085", Control: "\x7f", ParaSep: "\u2029", LineSep: "\u2028", RawCR: "\r",
			NUL: "\x00", NotUTF8: "\xff", NextLine | LineSep: "\u0085", Control | ParaSep: "\x7f",
		} {
			if got, want := s.First(mark), strings.Index(text, what); got != want {
				t.Errorf("in pieces of %d: %q first at %d, want %d", size, what, got, want)
			}
		}
		if got := s.First(BOM); got != -1 {
			t.Errorf("BOM at %d", got)
		}
	}
	var s Scanner
	s.Write([]byte("\ufeff{}\xe2"))
	if s.First(BOM) != 0 || s.First(NotUTF8) != 5 || s.First(NUL) != -1 {
		t.Errorf("BOM at %d, cut character at %d, NUL at %d", s.First(BOM), s.First(NotUTF8), s.First(NUL))
	}
}

// Every byte value at every place of a word, so that the arithmetic on eight bytes at once cannot go wrong unseen.
func TestScanEveryByteAtEveryPlace(t *testing.T) {
	for _, fill := range []byte{'a', '"' + 1, 0x20, 0x7e, '\\' - 1, '\\' + 1, '!'} {
		for place := range 17 {
			for c := range 256 {
				b := append([]byte{'"'}, bytes.Repeat([]byte{fill}, 17)...)
				b = append(b, '"')
				b[1+place] = byte(c)
				if got, want := Scan(b).Valid, json.Valid(b) && utf8.Valid(b); got != want {
					t.Fatalf("%q: valid is %v, want %v", b, got, want)
				}
				rest := append([]byte{'x'}, b...)
				var want Marks
				if c < 0x80 {
					want = byteMark(byte(c))
				} else {
					want = NotUTF8
				}
				if got := Scan(rest).Marks; got != want {
					t.Fatalf("%q: marks are %b, want %b", rest, got, want)
				}
			}
		}
	}
}

func TestDepth(t *testing.T) {
	for _, n := range []int{1, 2, 63, 64, 65, 127, 128, 129, 255, 256, 257, 320, 1000} {
		for _, pair := range [][2]string{{"[", "]"}, {`{"a":`, "}"}, {`[{"a":`, "}]"}, {`{"b":[1,`, "]}"}} {
			levels := n
			if len(pair[1]) == 2 {
				levels = 2 * n
			}
			text := strings.Repeat(pair[0], n) + "0" + strings.Repeat(pair[1], n)
			r := Scan([]byte(text))
			if !r.Valid || r.Depth != levels {
				t.Errorf("%d times %q: %+v", n, pair[0], r)
			}
			// The wrong bracket at each level must be seen.
			for i := len(text) - n*len(pair[1]); i < len(text); i++ {
				b := []byte(text)
				b[i] ^= ']' ^ '}'
				if r := Scan(b); r.Valid || r.ErrAt != i {
					t.Fatalf("%d times %q, wrong bracket at %d: %+v", n, pair[0], i, r)
				}
			}
		}
	}
}

func TestDeepNestingCostsABitALevel(t *testing.T) {
	for _, unit := range []string{"[", `{"a":`, `"`} {
		b := bytes.Repeat([]byte(unit), 64<<20/len(unit))
		if r := Scan(b); r.Valid {
			t.Errorf("64 MiB of %q are valid", unit)
		}
	}
	var s Scanner
	s.Write(bytes.Repeat([]byte("["), 1<<20))
	if bits := 64 * cap(s.more); bits > 3<<20/2 {
		t.Errorf("%d bits for %d levels", bits, 1<<20)
	}
	s.Reset()
	s.Write([]byte(`{}`))
	if r := s.Result(); !r.Valid || r.Depth != 1 {
		t.Errorf("after Reset: %+v", r)
	}
}

func TestScanDoesNotAllocate(t *testing.T) {
	b := []byte(strings.Repeat(`{"a":[`, 128) + `"` + "é漢\u2028" + `\n"` + strings.Repeat("]}", 128))
	if n := testing.AllocsPerRun(10, func() { Scan(b) }); n != 0 {
		t.Errorf("%v allocations for depth 256", n)
	}
	if r := Scan(b); !r.Valid || r.Depth != 256 {
		t.Errorf("%+v", r)
	}
}

func TestScanValue(t *testing.T) {
	tests := []struct {
		text string
		pos  int
		end  int
	}{
		{`{"a":1} x`, 0, 7},
		{`{"a":1} x`, 5, 6},
		{`{"a": [1, 2] }`, 5, 12},
		{`  "a\"b",`, 0, 8},
		{`12`, 0, 2},
		{`12]`, 0, 2},
		{`-`, 0, -1},
		{`truefalse`, 0, 4},
		{`tru`, 0, -1},
		{`{}{}`, 0, 2},
		{`{}{}`, 2, 4},
		{`{}`, 2, -1},
		{`{}`, 3, -1},
		{`{}`, -1, -1},
		{`[1,`, 0, -1},
		{`,`, 0, -1},
		{"\"\xff\" ", 0, 3},
		{"\"\xe2\x80", 0, -1},
	}
	for _, test := range tests {
		if got := ValueEnd([]byte(test.text), test.pos); got != test.end {
			t.Errorf("ValueEnd(%q, %d) = %d, want %d", test.text, test.pos, got, test.end)
		}
	}
	if _, r := ScanValue([]byte(`{"a":x}`), 5); r.ErrAt != 5 {
		t.Errorf("error at %d, want 5 from the start of the bytes", r.ErrAt)
	}
}

func FuzzScan(f *testing.F) {
	for _, text := range append(jsonYes, jsonNo...) {
		f.Add([]byte(text), uint64(len(text)))
	}
	f.Add([]byte("{\"a\":\"x\xff\xe2\x80\xa8\",}\xe2\x80"), uint64(1))
	f.Fuzz(func(t *testing.T, b []byte, seed uint64) {
		r := Scan(b)
		if r.Depth < 10000 {
			if want := json.Valid(b) && utf8.Valid(b); r.Valid != want {
				t.Errorf("Scan(%q) = %+v, want valid %v", b, r, want)
			}
			if want := json.Valid([]byte(string([]rune(string(b))))); r.JSON != want {
				t.Errorf("Scan(%q) = %+v, want JSON %v", b, r, want)
			}
		}
		if got := r.Marks&NotUTF8 == 0; got != utf8.Valid(b) {
			t.Errorf("Scan(%q) says UTF-8 %v", b, got)
		}
		if want := marksOf(b); r.Marks&^Escaped != want {
			t.Errorf("Scan(%q) has marks %b, want %b", b, r.Marks, want)
		}
		for pos := range min(len(b), 20) {
			if end, _ := ScanValue(b, pos); end != ValueEnd(b, pos) {
				t.Errorf("%q from %d: ScanValue ends at %d, ValueEnd at %d", b, pos, end, ValueEnd(b, pos))
			}
		}
		if r.Valid != (r.ErrAt == -1) || r.ErrAt > len(b) {
			t.Errorf("Scan(%q) = %+v", b, r)
		}
		// The error is where it is said to be: what lies before it can still become valid, one byte more cannot.
		if !r.Valid && r.ErrAt < len(b) {
			if p := Scan(b[:r.ErrAt]); !p.Valid && p.ErrAt != r.ErrAt {
				t.Errorf("Scan(%q) = %+v, but up to there it is %+v", b, r, p)
			}
		}
		random := rand.New(rand.NewPCG(seed, 1))
		var s Scanner
		for rest := b; len(rest) > 0; {
			n := 1 + random.IntN(min(len(rest), 9))
			s.Write(rest[:n])
			rest = rest[n:]
			if sofar := b[:len(b)-len(rest)]; random.IntN(4) == 0 && s.Result() != Scan(sofar) {
				t.Errorf("in pieces, up to %q: %+v, want %+v", sofar, s.Result(), Scan(sofar))
			}
		}
		if got := s.Result(); got != r {
			t.Errorf("in pieces %q: %+v, want %+v", b, got, r)
		}
		var whole Scanner
		whole.Write(b)
		for mark := NotUTF8; mark <= Escaped; mark <<= 1 {
			if got, want := s.First(mark), whole.First(mark); got != want || (got < 0) != (r.Marks&mark&^Escaped == 0) {
				t.Errorf("in pieces %q: mark %b first at %d, want %d", b, mark, got, want)
			}
		}
	})
}

// marksOf is Marks by the book.
func marksOf(b []byte) Marks {
	var m Marks
	for i, r := range string(b) {
		_, size := utf8.DecodeRune(b[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			m |= NotUTF8
		case r == utf8.RuneError:
			m |= Replacement
		case r == '\u2028':
			m |= LineSep
		case r == '\u2029':
			m |= ParaSep
		case r == '\u0085':
			m |= NextLine
		case r == '\r':
			m |= RawCR
		case r == 0:
			m |= NUL
		case r == '\ufeff' && i == 0:
			m |= BOM
		case r < ' ' && r != '\t' && r != '\n', r >= 0x7f && r < 0xa0:
			m |= Control
		}
	}
	return m
}
