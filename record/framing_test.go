package record

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"pitap/record/scan"
)

// framingSession feeds streams to a checker as a recorder would.
type framingSession struct {
	f         *Framing
	n         int64
	splitters [streamCount]*Splitter
}

func newFramingSession() *framingSession {
	s := &framingSession{f: NewFraming()}
	for from := Client; from < streamCount; from++ {
		s.splitters[from] = NewSplitter(from, s.entry)
	}
	return s
}

func (s *framingSession) entry(e *Entry) int64 {
	s.n++
	e.N = s.n
	s.f.Entry(e)
	return s.n
}

func (s *framingSession) write(from Stream, text string) { s.splitters[from].Write(0, []byte(text)) }

func (s *framingSession) eof(from Stream) {
	s.splitters[from].End(0)
	s.entry(&Entry{From: from, Note: &Note{Kind: "eof"}})
}

// inShort is a finding in short.
func inShort(f Finding) string {
	return fmt.Sprintf("%s %s n=%d off=%d at=%d count=%d last=%d", strings.TrimPrefix(f.Rule, "framing/"), f.Severity, f.N, f.Off, f.At, f.Count, f.Last)
}

// wantFindings compares findings with summaries, each of which may be followed by ": " and a part of the text.
func wantFindings(t *testing.T, got []Finding, want ...string) {
	t.Helper()
	for i, f := range got {
		if f.Text == "" || f.Hint == "" || strings.HasSuffix(f.Text, ".") {
			t.Errorf("%s: text %q, hint %q", inShort(f), f.Text, f.Hint)
		}
		if i >= len(want) {
			t.Errorf("unwanted: %s: %s", inShort(f), f.Text)
			continue
		}
		short, text, _ := strings.Cut(want[i], ": ")
		if inShort(f) != short || !strings.Contains(f.Text, text) {
			t.Errorf("got  %s: %s\nwant %s", inShort(f), f.Text, want[i])
		}
	}
	for i := len(got); i < len(want); i++ {
		t.Errorf("missing: %s", want[i])
	}
}

func inUTF16(text string, big, bom bool) string {
	if bom {
		text = "\ufeff" + text
	}
	var b strings.Builder
	for _, u := range utf16.Encode([]rune(text)) {
		if big {
			b.WriteByte(byte(u >> 8))
		}
		b.WriteByte(byte(u))
		if !big {
			b.WriteByte(byte(u >> 8))
		}
	}
	return b.String()
}

const abortRecord = `{"type":"abort"}` // 16 bytes

// framingCase is one stream from its beginning to its end, and what is found.
type framingCase struct {
	name, text string
	want       []string
}

var clientRecords = []framingCase{
	{"clean", abortRecord + "\n" + `{"id":"é漢😀","type":"prompt","message":"a\u2028\n"}` + "\n", nil},
	{"nothing", "", nil},
	{"white space in a record", ` { "type" : "abort" } ` + "\n", nil},

	{"crlf", abortRecord + "\r\n" + abortRecord + "\n" + abortRecord + "\r\n",
		[]string{"crlf hazard n=1 off=16 at=16 count=2 last=3: CR is byte 16"}},
	{"cr cr lf", abortRecord + "\r\r\n",
		[]string{"lone-cr hazard n=1 off=16 at=16 count=1 last=1", "crlf hazard n=1 off=17 at=17 count=1 last=1"}},
	{"lone cr as white space", abortRecord + "\n{\r\"type\":\"abort\"}\n",
		[]string{"lone-cr hazard n=2 off=18 at=1 count=1 last=2: Node's readline"}},
	{"lone cr in a string", "{\"a\":\"b\rc\"}\n", []string{"lone-cr error n=1 off=7 at=7 count=1 last=1: written \\r"}},
	{"lone cr between records", abortRecord + "\r" + abortRecord + "\n", []string{"lone-cr error n=1 off=16 at=16 count=1 last=1: pi splits on LF"}},
	{"lone cr, both ways", "{\r}\n{\"a\":\"\r\"}\n{\r}\n",
		[]string{"lone-cr hazard n=1 off=1 at=1 count=2 last=3", "lone-cr error n=2 off=10 at=6 count=1 last=2"}},

	{"separators", `{"id":"s","type":"set_session_name","name":"a` + "\u2028b\u2029c\u0085" + `d"}` + "\n",
		[]string{"u2028 hazard n=1 off=45 at=45 count=1 last=1: a raw U+2028 at byte 45, U+2029 at byte 49 and U+0085 at byte 53: the readline of Node 24 and Python's str.splitlines"}},
	{"u2028", abortRecord + "\n" + `{"a":"` + "\u2028" + `"}` + "\n" + `{"a":"` + "\u2028" + `"}` + "\n",
		[]string{"u2028 hazard n=2 off=23 at=6 count=2 last=3"}},
	{"u2029", `{"a":"` + "\u2029" + `"}` + "\n", []string{"u2029 hazard n=1 off=6 at=6 count=1 last=1"}},
	{"u0085", `{"a":"` + "\u0085" + `"}` + "\n", []string{"u0085 hazard n=1 off=6 at=6 count=1 last=1: U+0085 at byte 6: Python's"}},

	{"bom", "\ufeff" + abortRecord + "\n", []string{"bom error n=1 off=0 at=0 count=1 last=1: JSON at byte 3"}},
	{"bom before no record", "\ufefftext\n", []string{"bom error n=1 off=0 at=0 count=1 last=1", `invalid-json error n=1 off=3 at=3 count=1 last=1: no record: "text"`}},
	{"bom alone", "\ufeff\n", []string{"bom error n=1 off=0 at=0 count=1 last=1"}},
	{"bom and separator", "\ufeff" + `{"a":"` + "\u2028" + `"}` + "\n",
		[]string{"bom error n=1 off=0 at=0 count=1 last=1", "u2028 hazard n=1 off=9 at=9 count=1 last=1: at byte 9"}},

	{"utf-16 little-endian with bom", inUTF16(abortRecord+"\n"+abortRecord+"\n", false, true),
		[]string{"utf16 error n=1 off=0 at=0 count=3 last=3: UTF-16 (little-endian, with a byte order mark)"}},
	{"utf-16 little-endian", inUTF16(abortRecord+"\r\n{}\r\n", false, false), []string{"utf16 error n=1 off=0 at=0 count=3 last=3: UTF-16 (little-endian)"}},
	{"utf-16 big-endian with bom", inUTF16(abortRecord+"\n\n"+abortRecord+"\n", true, true),
		[]string{"utf16 error n=1 off=0 at=0 count=3 last=3: UTF-16 (big-endian, with a byte order mark)"}},
	{"utf-16 big-endian", inUTF16("{}\n", true, false), []string{"utf16 error n=1 off=0 at=0 count=1 last=1: UTF-16 (big-endian)"}},
	{"utf-16 without newline", inUTF16(abortRecord, false, true), []string{"utf16 error n=1 off=0 at=0 count=1 last=1"}},
	{"utf-16 text", inUTF16(`{"a":"漢字漢字漢字ਊ漢字漢字漢字"}`+"\n", false, false), []string{"utf16 error n=1 off=0 at=0 count=4 last=4"}},
	{"utf-16, then a record", inUTF16(abortRecord+"\n", true, true) + abortRecord + "\n" + abortRecord + "\n", []string{"utf16 error n=1 off=0 at=0 count=1 last=1"}},

	{"blank lines", abortRecord + "\n\n \t\n\n", []string{"blank-line error n=2 off=17 at=0 count=3 last=4: the line is empty"}},
	{"blank line", " \n", []string{"blank-line error n=1 off=0 at=0 count=1 last=1: 1 bytes of white space"}},
	{"crlf, blanks, bom", "{\"id\":\"a\",\"type\":\"abort\"}\r\n\r\n\n \n\xef\xbb\xbf{\"id\":\"b\",\"type\":\"abort\"}\n", []string{
		"crlf hazard n=1 off=25 at=25 count=2 last=2",
		"blank-line error n=2 off=27 at=0 count=3 last=4",
		"bom error n=5 off=32 at=0 count=1 last=5"}},

	{"invalid utf-8 in a string", "{\"type\":\"set_session_name\",\"name\":\"x\xff\"}\n" + abortRecord + "\n",
		[]string{"invalid-utf8 error n=1 off=36 at=36 count=1 last=1: byte 36 of the record (0xff) is not UTF-8: pi silently takes U+FFFD"}},
	{"invalid utf-8 out of a string", abortRecord + "\n{\xff}\n", []string{"invalid-utf8 error n=2 off=18 at=1 count=1 last=2: no JSON"}},

	{"text", "hello there\n", []string{`invalid-json error n=1 off=0 at=0 count=1 last=1: a line of text that is no record: "hello there"`}},
	{"mistake", abortRecord + "\n" + `{"type":abortRecord}` + "\n", []string{"invalid-json error n=2 off=25 at=8 count=1 last=2: 'a' may not stand at byte 8"}},
	{"too early", `{"type":"abort"` + "\n" + abortRecord + "\n", []string{"invalid-json error n=1 off=15 at=15 count=1 last=1: ends too early, after 15 bytes"}},
	{"within a string", `{"type":"abo` + "\n" + abortRecord + "\n", []string{"invalid-json error n=1 off=12 at=12 count=1 last=1: ends within a string"}},
	{"text behind a record", abortRecord + " ok\n", []string{"invalid-json error n=1 off=17 at=17 count=1 last=1: follows the record at byte 17"}},
	{"twice", "a\nb\n" + abortRecord + "\nc\n", []string{"invalid-json error n=1 off=0 at=0 count=3 last=4"}},

	{"null", abortRecord + "\nnull\n", []string{"not-object error n=2 off=17 at=0 count=1 last=2: null, which kills pi"}},
	{"null among others", "[]\nnull\nnull\n", []string{"not-object error n=1 off=0 at=0 count=1 last=1: an array", "not-object error n=2 off=3 at=0 count=2 last=3: null, which kills pi"}},
	{"other values", "42\n[]\n\"x\"\ntrue\n", []string{"not-object error n=1 off=0 at=0 count=4 last=4: a number, not an object"}},

	{"pretty-printed", abortRecord + "\n{\n  \"type\": \"abort\"\n}\n" + abortRecord + "\n", []string{"raw-newline error n=2 off=18 at=1 count=1 last=4: entries 2 to 4 are one record, spread over 3 lines"}},
	{"pretty-printed in many ways", "{\n\n \"a\": [\n1,\n{}\n,null\n],\n\"msg\": {\n\"b\": \"c\"\n},\"d\":{}\n}\n",
		[]string{"raw-newline error n=1 off=1 at=1 count=1 last=11: spread over 11 lines"}},
	{"pretty-printed with crlf", "{\r\n  \"type\": \"abort\"\r\n}\r\n", []string{
		"crlf hazard n=1 off=1 at=1 count=3 last=3", "raw-newline error n=1 off=1 at=1 count=1 last=3"}},
	{"pretty-printed with bom", "\ufeff{\n  \"type\": \"abort\"\n}\n", []string{
		"bom error n=1 off=0 at=0 count=1 last=1", "raw-newline error n=1 off=4 at=4 count=1 last=3"}},
	{"pretty-printed twice", "{\n\"a\":1}\n{\n\"b\":2}\n", []string{"raw-newline error n=1 off=1 at=1 count=2 last=4: entries 1 and 2"}},
	{"pretty-printed without end", "{\n\"a\":1}", []string{"raw-newline error n=1 off=1 at=1 count=1 last=2", "unterminated hazard n=2 off=8 at=6 count=1 last=2"}},
	{"newline in a string", "{\"type\":\"prompt\",\"message\":\"a\nb\n\nc\"}\n" + abortRecord + "\n",
		[]string{"raw-newline error n=1 off=29 at=29 count=1 last=4: cut by a raw newline in a string at byte 29"}},
	{"cut record before a pretty-printed one", "{\"a\":\"b\n{\n\"type\":\"abort\"\n}\n", []string{
		"invalid-json error n=1 off=7 at=7 count=1 last=1: within a string", "raw-newline error n=2 off=9 at=1 count=1 last=4"}},
	{"cut record before whole ones", "{\"a\":\n" + abortRecord + "\n" + abortRecord + "\n", []string{"invalid-json error n=1 off=5 at=5 count=1 last=1"}},

	{"concatenated", abortRecord + abortRecord + " " + abortRecord + "\n", []string{"concatenated error n=1 off=16 at=16 count=1 last=1: second object begins at byte 16"}},
	{"concatenated with a blank", abortRecord + " {}\n", []string{"concatenated error n=1 off=17 at=17 count=1 last=1"}},

	{"text before a record", "> " + abortRecord + "\n", []string{`junk-before-record error n=1 off=2 at=2 count=1 last=1: starts at byte 2 of the line, behind the text "> " (2 bytes)`}},
	{"cut record before a record", `{"type":"prompt","message":"hi{"type":"abort"}` + "\n", []string{"junk-before-record error n=1 off=30 at=30 count=1 last=1"}},

	{"control character in a string", "{\"a\":\"\x1b\"}\n", []string{"control-character error n=1 off=6 at=6 count=1 last=1: a raw ESC (0x1b) is in a string"}},
	{"tab in a string", "{\"a\":\"\t\"}\n", []string{"control-character error n=1 off=6 at=6 count=1 last=1: TAB (0x09)"}},
	{"DEL and C1 in a string", "{\"a\":\"\x7f\"}\n{\"a\":\"\u009b\"}\n", []string{"control-character note n=1 off=6 at=6 count=2 last=2"}},
	{"tab as white space", "{\t\"a\":1}\n", nil},

	{"nul behind a record", abortRecord + "\x00\n", []string{"nul error n=1 off=16 at=16 count=1 last=1"}},
	{"nul before a record", "\x00\x00" + abortRecord + "\n", []string{"nul error n=1 off=2 at=2 count=1 last=1: starts at byte 2"}},
	{"nul in a string", "{\"a\":\"\x00\"}\n", []string{"nul error n=1 off=6 at=6 count=1 last=1"}},
	{"nul, escaped", "{\"a\":\"\\u0000\"}\n", nil},

	{"unterminated", abortRecord + "\n" + abortRecord, []string{"unterminated hazard n=2 off=33 at=16 count=1 last=2: without LF behind a record of 16 bytes"}},
	{"unterminated text", "text", []string{"invalid-json error n=1 off=0 at=0 count=1 last=1", "unterminated hazard n=1 off=4 at=4 count=1 last=1"}},

	{"replacement character", `{"a":"` + "\ufffd" + `"}` + "\n", []string{"replacement-character note n=1 off=6 at=6 count=1 last=1: U+FFFD"}},
}

var agentRecords = []framingCase{
	{"clean", `{"type":"agent_start"}` + "\n", nil},
	{"junk on stdout", "\x1b]0;title\x07{\"type\":\"agent_settled\",\"aborted\":false}\nplain text\n\xff\xfe\x00\n", []string{
		"junk-before-record error n=1 off=10 at=10 count=1 last=1: starts at byte 10 of the line, behind an OSC escape sequence (10 bytes)",
		`invalid-json error n=2 off=51 at=0 count=1 last=2: a line of text that is no record: "plain text"`,
		"invalid-utf8 error n=3 off=62 at=0 count=1 last=3"}},
	{"more junk", "\x1b[31mred\x1b[0m \x1b]0;t\x1b\\{}\n", []string{
		`junk-before-record error n=1 off=20 at=20 count=1 last=1: behind a CSI escape sequence, the text "red", a CSI escape sequence and more`}},
	{"junk with brackets", "[12:00] {x} {\"type\":\"agent_start\"}\n", []string{"junk-before-record error n=1 off=12 at=12 count=1 last=1"}},
	{"junk before a record with a separator", "\x1b[0m{\"a\":\"\x7f\u2028\"}\n", []string{
		"junk-before-record error n=1 off=4 at=4 count=1 last=1: a CSI escape sequence (4 bytes)",
		"control-character note n=1 off=10 at=10 count=1 last=1", "u2028 hazard n=1 off=11 at=11 count=1 last=1: at byte 11"}},
	{"escape sequence alone", "\x1b[?25h\n", []string{"control-character error n=1 off=0 at=0 count=1 last=1: a CSI escape sequence (6 bytes) is at byte 0"}},
	{"other encoding", "\xa6\xa8\xa5\\: PID 1\n{\"type\":\"agent_start\"}\n", []string{"invalid-utf8 error n=1 off=0 at=0 count=1 last=1: byte 0 of the record (0xa6) is not UTF-8, and the line is no JSON"}},
	{"null", "null\n", []string{"not-object error n=1 off=0 at=0 count=1 last=1: null, not an object"}},
	{"split in a string", "{\"type\":\"x\",\"text\":\"a\nb\"}\n{\"type\":\"x\"}\n",
		[]string{"split-at-separator error n=1 off=21 at=21 count=1 last=2: entries 1 and 2 are one record, split in a string behind byte 21"}},
	{"cut by the end", `{"type":"x","text":"` + strings.Repeat("漢", 10) + "\xe6\xbc", []string{
		"unterminated hazard n=1 off=52 at=52 count=1 last=1: ends after 52 bytes of a record that is not whole"}},
}

func TestRecordsOfClient(t *testing.T) { testRecords(t, Client, clientRecords) }
func TestRecordsOfAgent(t *testing.T)  { testRecords(t, Agent, agentRecords) }

func testRecords(t *testing.T, from Stream, tests []framingCase) {
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newFramingSession()
			s.write(from, test.text)
			s.eof(from)
			s.f.Finish()
			wantFindings(t, s.f.Findings(), test.want...)
		})
	}
}

// Every rule must fire in the tests above, or in those of big records.
func TestEveryRuleIsTested(t *testing.T) {
	seen := map[string]bool{"oversize": true}
	for _, test := range append(clientRecords, agentRecords...) {
		for _, want := range test.want {
			id, _, _ := strings.Cut(want, " ")
			seen[id] = true
		}
	}
	for _, rule := range FramingRules {
		if !seen[strings.TrimPrefix(rule.ID, "framing/")] {
			t.Errorf("%s never fires", rule.ID)
		}
	}
}

func TestSplitByWhatReadsLines(t *testing.T) {
	// From the client a newline may have been typed into JSON by hand, unless it escapes others.
	s := newFramingSession()
	s.write(Client, "{\"type\":\"prompt\",\"message\":\"a\\nb\nc\"}\n")
	wantFindings(t, s.f.Findings(), "split-at-separator error n=1 off=32 at=32 count=1 last=2")
}

func TestBigRecords(t *testing.T) {
	record := func(size int) string { // with its LF
		return `{"a":"` + strings.Repeat("x", size-9) + "\"}\n"
	}
	for _, test := range []struct {
		name string
		text string
		want []string
	}{
		{"65,535", record(65535), nil},
		{"65,536", record(65536), nil},
		{"65,537", record(65537), []string{"oversize hazard n=1 off=65536 at=65536 count=1 last=1: 65,537 bytes with its line end"}},
		{"some", abortRecord + "\n" + record(70000) + record(90000) + record(80000),
			[]string{"oversize hazard n=2 off=65553 at=65536 count=3 last=4: the record has 70,000 bytes with its line end, more than the 65,536 of default readers; the largest, entry 3, has 90,000"}},
		{"8 MiB", record(8 << 20), []string{"oversize hazard n=1 off=65536 at=65536 count=1 last=1: 8,388,608 bytes"}},
		{"in parts", record(24 << 20), []string{"oversize hazard n=1 off=65536 at=65536 count=1 last=1: 25,165,824 bytes"}},
		{"not whole", record(2 * 65536)[:65536], []string{"unterminated hazard n=1 off=65536 at=65536 count=1 last=1: exactly one pipe buffer: this is how pi ends"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newFramingSession()
			s.write(Agent, test.text)
			s.eof(Agent)
			wantFindings(t, s.f.Findings(), test.want...)
		})
	}
}

func TestLastReadOfOnePipeBuffer(t *testing.T) {
	s := newFramingSession()
	s.write(Agent, `{"a":"`)
	s.write(Agent, strings.Repeat("x", 65536))
	s.eof(Agent)
	wantFindings(t, s.f.Findings(), "oversize hazard n=1 off=65536 at=65536 count=1 last=1",
		"unterminated hazard n=1 off=65542 at=65542 count=1 last=1: its last read brought 65,536, exactly one pipe buffer: this is how pi ends")
}

func TestLastReadThatBeganInTheRecordBefore(t *testing.T) {
	s := newFramingSession()
	s.write(Agent, `{"a":`)
	s.write(Agent, "1}\n"+strings.Repeat("{}\n", 1000)+`{"a":"`+strings.Repeat("x", 65536-3009))
	s.eof(Agent)
	wantFindings(t, s.f.Findings(), "unterminated hazard n=1002 off=65541 at=62533 count=1 last=1002: its last read brought 65,536")
}

func TestStreamsAreApart(t *testing.T) {
	s := newFramingSession()
	s.write(Client, "{\n")
	s.write(Agent, "text\n")
	s.write(Stderr, "text\n\xff\n\x00")
	s.write(Client, "}\n")
	s.write(Agent, "{\"a\":\n")
	s.write(Client, "text\n")
	s.write(Agent, "1}\n")
	wantFindings(t, s.f.Findings(), "raw-newline error n=1 off=1 at=1 count=1 last=5", "invalid-json error n=2 off=0 at=0 count=1 last=2",
		"raw-newline error n=6 off=10 at=5 count=1 last=8", "invalid-json error n=7 off=4 at=0 count=1 last=7")
}

func TestFindingsWhileTheSessionGoesOn(t *testing.T) {
	s := newFramingSession()
	s.write(Client, abortRecord+"\n{\n")
	wantFindings(t, s.f.Findings(), "invalid-json error n=2 off=18 at=1 count=1 last=2")
	s.write(Client, "\"a\":1\n")
	wantFindings(t, s.f.Findings(), "invalid-json error n=2 off=18 at=1 count=2 last=3")
	s.write(Client, "}\n")
	wantFindings(t, s.f.Findings(), "raw-newline error n=2 off=18 at=1 count=1 last=4")
	s.write(Client, "{\n")
	wantFindings(t, s.f.Findings(), "raw-newline error n=2 off=18 at=1 count=1 last=4", "invalid-json error n=5 off=28 at=1 count=1 last=5")
	s.f.Finish()
	wantFindings(t, s.f.Findings(), "raw-newline error n=2 off=18 at=1 count=1 last=4", "invalid-json error n=5 off=28 at=1 count=1 last=5")
}

func TestGroupsHaveBounds(t *testing.T) {
	s := newFramingSession()
	s.write(Client, "{\n"+strings.Repeat("\"a\":1,\n", 20000))
	s.eof(Client)
	wantFindings(t, s.f.Findings(), "invalid-json error n=1 off=1 at=1 count=20001 last=20001")

	s = newFramingSession()
	s.write(Client, "{\n"+strings.Repeat(`"a":"`+strings.Repeat("x", 100000)+"\",\n", 20))
	s.eof(Client)
	wantFindings(t, s.f.Findings(), "invalid-json error n=1 off=1 at=1 count=21 last=21", "oversize hazard n=2 off=65538 at=65536 count=20 last=21")
	if g := &s.f.streams[Client].group; !g.empty() || cap(g.lines) > 0 {
		t.Error("the group was not given up")
	}
}

// Lines that each begin a group which only the last one disproves must not be looked at once for each other.
func TestGroupsCostNoSquare(t *testing.T) {
	s := newFramingSession()
	for range 4 {
		s.write(Client, strings.Repeat("{\"a\":\n", 3000)+"x\n")
	}
	g := &s.f.streams[Client].group
	if g.again > maxAgain*g.came+20000 {
		t.Errorf("%d bytes came, %d were looked at again", g.came, g.again)
	}
	wantFindings(t, s.f.Findings(), "invalid-json error n=1 off=5 at=5 count=12004 last=12004")
}

func TestGapsAreNoFault(t *testing.T) {
	gap := func(s *framingSession, lost map[string]int64) { s.entry(&Entry{Note: &Note{Kind: "gap", Lost: lost}}) }
	part := func(s *framingSession, off int64, text string, last bool, eol string) {
		s.entry(&Entry{From: Agent, Off: off, Form: Text, Body: []byte(text), Part: true, Last: last, EOL: eol})
	}
	whole := func(s *framingSession, off int64, text string) {
		s.entry(&Entry{From: Agent, Off: off, Form: Text, Body: []byte(text), EOL: "\n"})
	}
	for _, test := range []struct {
		name string
		play func(s *framingSession)
		want []string
	}{
		{"the recorder's", func(s *framingSession) {
			s.write(Agent, "{}\n{\"a\":")
			s.splitters[Agent].Gap(100, false)
			gap(s, map[string]int64{"agent": 100})
			s.write(Agent, "1}\n{}\ntext\n")
		}, []string{"invalid-json error n=6 off=114 at=0 count=1 last=6"}},
		{"in a record", func(s *framingSession) {
			part(s, 0, `{"a":`, false, "")
			gap(s, map[string]int64{"agent": 10})
			part(s, 15, "1}", true, "\n")
			whole(s, 18, "text")
		}, []string{"invalid-json error n=4 off=18 at=0 count=1 last=4"}},
		{"in a record, without a note", func(s *framingSession) {
			part(s, 0, `{"a":`, false, "")
			part(s, 15, "1}", true, "\n")
			whole(s, 18, "text")
		}, []string{"invalid-json error n=3 off=18 at=0 count=1 last=3"}},
		{"of another stream", func(s *framingSession) {
			part(s, 0, `{"a":`, false, "")
			gap(s, map[string]int64{"client": 10})
			part(s, 5, "1", true, "\n")
		}, []string{"invalid-json error n=1 off=6 at=6 count=1 last=1"}},
		{"before a part", func(s *framingSession) {
			whole(s, 0, "{}")
			part(s, 9, "text", true, "\n")
		}, nil},
		{"between whole records", func(s *framingSession) {
			whole(s, 0, "{}")
			whole(s, 90, "text")
		}, []string{"invalid-json error n=2 off=90 at=0 count=1 last=2"}},
		{"between lines of one record", func(s *framingSession) {
			whole(s, 0, "{")
			gap(s, map[string]int64{"agent": 10})
			whole(s, 20, "}")
		}, []string{"invalid-json error n=1 off=1 at=1 count=2 last=3"}},
		{"at the end", func(s *framingSession) {
			part(s, 0, `{"a":`, false, "")
		}, nil},
		{"end of the stream", func(s *framingSession) {
			part(s, 0, `{"a":`, false, "")
			s.entry(&Entry{From: Client, Note: &Note{Kind: "eof"}})
			s.entry(&Entry{From: Agent, Note: &Note{Kind: "eof"}})
		}, []string{"unterminated hazard n=1 off=5 at=5 count=1 last=1"}},
		{"superseded parts", func(s *framingSession) {
			part(s, 0, `{"a":"`+"\u2028", false, "")
			part(s, 9, `b`, false, "")
			s.entry(&Entry{From: Agent, Off: 0, Form: Msg, Body: []byte(`{"a":"` + "\u2028" + `b"}`), EOL: "\n", Supersedes: []int64{1, 2}})
			whole(s, 13, "{}")
		}, []string{"u2028 hazard n=3 off=6 at=6 count=1 last=3"}},
		{"parts without an end", func(s *framingSession) {
			part(s, 0, `{"a":`, false, "")
			whole(s, 15, "{}")
		}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newFramingSession()
			test.play(s)
			s.f.Finish()
			wantFindings(t, s.f.Findings(), test.want...)
		})
	}
}

func TestFlags(t *testing.T) {
	for i, rule := range FramingRules {
		f, ok := ParseFlag(rule.ID)
		if !ok || f != 1<<i {
			t.Errorf("ParseFlag(%q) = %b, %v", rule.ID, f, ok)
		}
		if names := f.Names(); len(names) != 1 || names[0] != rule.ID {
			t.Errorf("%b has names %q", f, names)
		}
		if rule.Title == "" || rule.Explain == "" || rule.client == "" || rule.agent == "" || rule.Severity >= sevCount {
			t.Errorf("%s is not described", rule.ID)
		}
	}
	if len(FramingRules) != ruleCount {
		t.Errorf("%d rules", len(FramingRules))
	}
	for flag, id := range map[Flags]string{flagCRLF: "framing/crlf", flagOversize: "framing/oversize", flagReplacement: "framing/replacement-character",
		flagRawNewline: "framing/raw-newline", flagJunk: "framing/junk-before-record", flagU0085: "framing/u0085"} {
		if got, _ := ParseFlag(id); got != flag {
			t.Errorf("%s is %b, want %b", id, got, flag)
		}
	}
	if _, ok := ParseFlag("framing/new"); ok {
		t.Error("an unknown flag is known")
	}
	if names := Flags(0).Names(); names != nil {
		t.Errorf("no flags are %q", names)
	}
	if names := (Flags(1<<31) | flagBOM).Names(); len(names) != 1 {
		t.Errorf("unknown bits are %q", names)
	}
}

func TestFlagsOf(t *testing.T) {
	for _, test := range []struct {
		body, eol string
		want      Flags
	}{
		{abortRecord, "\n", 0},
		{abortRecord, "\r\n", flagCRLF},
		{abortRecord, "", flagUnterminated},
		{"", "\n", flagBlankLine},
		{"null", "\n", flagNotObject},
		{"text", "\n", flagInvalidJSON},
		{"{\"a\":\"\u2028\u2029\u0085\x7f\ufffd\xff\"}", "\n", flagU2028 | flagU2029 | flagU0085 | flagControl | flagReplacement | flagInvalidUTF8},
		{"\x1b[0m{}", "\n", flagJunk},
		{"\ufeff{}", "\n", flagBOM},
		{"{}{}", "\n", flagConcatenated},
		{inUTF16("{}", false, false), "\n", flagUTF16},
		{"{\"a\":\"" + strings.Repeat("x", 70000) + "\"}", "\n", flagOversize},
	} {
		body := []byte(test.body)
		r := scan.Scan(body)
		if got := FlagsOf(body, test.eol, r); got != test.want {
			t.Errorf("FlagsOf(%.40q, %q) = %q, want %q", test.body, test.eol, got.Names(), test.want.Names())
		}
		if n := testing.AllocsPerRun(10, func() { FlagsOf(body, test.eol, r) }); n != 0 {
			t.Errorf("FlagsOf(%.40q): %v allocations", test.body, n)
		}
	}
}
