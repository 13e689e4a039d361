package record

import "slices"

// hint is the rule's advice about a record of a stream.
func (r *Rule) hint(from Stream) string {
	if from == Client {
		return r.client
	}
	return r.agent
}

// FramingRules are the rules about how records stand in their stream, whatever they say. What pi does was observed with
// pi 1.6.0.
var FramingRules = slices.Concat(lineRules, textRules, recordRules)

// lineRules are about line ends and about characters that some take for line ends, up to framing/u0085.
var lineRules = []Rule{
	{
		ID: "framing/crlf", Severity: SevHazard, Title: "CR LF at the end of a line",
		Explain: "Records end in LF alone. pi strips one CR before the LF, and to JSON the CR is white space, so most readers " +
			"take such a line; those that compare lines, count bytes or skip empty lines trip over it: \"\\r\\n\" is no empty " +
			"line. It comes from text mode on Windows, or from a terminal in between. Write bytes, and \"\\n\" alone.",
		client: "write LF alone; pi strips one CR before the LF, so it takes the record all the same",
		agent:  "strip one CR before the LF, and look for what translates line ends on the way: pi writes LF alone",
	},
	{
		ID: "framing/lone-cr", Severity: SevHazard, Title: "a CR within a line",
		Explain: "A CR that is not before an LF ends no line, but Node's readline (every version) and other readers with " +
			"universal newlines, such as Python's text mode, end one there and get two halves. As white space between the parts " +
			"of a record it is allowed. In a string, or as the line end between two records, it makes the line invalid, and the " +
			"finding is an error. Example: {\"type\":\"abort\"}\\r{\"type\":\"get_state\"}\\n.",
		client: "write no CR outside of escapes; end records in LF: pi ends a line at LF only",
		agent:  "split on LF only: Node's readline and readers with universal newlines end a line at a CR",
	},
	{
		ID: "framing/u2028", Severity: SevHazard, Title: "raw U+2028",
		Explain: "JSON allows U+2028 (E2 80 A8, LINE SEPARATOR) raw in strings, and pi writes it so. The readline of Node 24 " +
			"ends a line there (Node 16 to 22 do not), and so does Python's str.splitlines: the record falls into two lines, " +
			"neither of which is JSON. One finding for records with U+2028, whatever else of this kind they hold. Split bytes on " +
			"0x0A only, before decoding.",
		client: "pi splits on LF only and takes it; write \\u2028 if something between you and pi reads lines",
		agent:  "split the bytes on LF (0x0A) only; do not use the readline of Node 24, nor Python's str.splitlines",
	},
	{
		ID: "framing/u2029", Severity: SevHazard, Title: "raw U+2029",
		Explain: "JSON allows U+2029 (E2 80 A9, PARAGRAPH SEPARATOR) raw in strings, and pi writes it so. The readline of Node " +
			"24 ends a line there, and so does Python's str.splitlines. Records that hold U+2028 too are counted under " +
			"framing/u2028. Split bytes on 0x0A only, before decoding.",
		client: "pi splits on LF only and takes it; write \\u2029 if something between you and pi reads lines",
		agent:  "split the bytes on LF (0x0A) only; do not use the readline of Node 24, nor Python's str.splitlines",
	},
	{
		ID: "framing/u0085", Severity: SevHazard, Title: "raw U+0085",
		Explain: "JSON allows U+0085 (C2 85, NEXT LINE) raw in strings, and pi writes it so. Python's str.splitlines ends a line " +
			"there. Records that hold U+2028 or U+2029 too are counted under those. Split bytes on 0x0A only, before decoding.",
		client: "pi splits on LF only and takes it; write \\u0085 if something between you and pi reads lines",
		agent:  "split the bytes on LF (0x0A) only; do not use Python's str.splitlines",
	},
}

// textRules are about how text became bytes and whether these are JSON, up to framing/raw-newline.
var textRules = []Rule{
	{
		ID: "framing/bom", Severity: SevError, Title: "byte order mark",
		Explain: "The line begins with EF BB BF, a byte order mark. JSON allows none: pi answers with a parse error, and " +
			"JSON.parse and Python's json.loads refuse it. It comes from encoders such as .NET's Encoding.UTF8 and Windows " +
			"PowerShell's utf8. Write UTF-8 without it.",
		client: "write UTF-8 without a byte order mark; pi answers this line with a parse error and goes on",
		agent:  "something writes a byte order mark into pi's stdout: find it; JSON parsers refuse the record",
	},
	{
		ID: "framing/utf16", Severity: SevError, Title: "UTF-16 text",
		Explain: "The bytes are UTF-16, where each ASCII character is two bytes, one of them NUL. Its line end is cut through the " +
			"middle by whoever splits on LF, so that all lines after the first begin or end with half a character. All of them " +
			"are one finding. It comes from a writer whose encoding is called Unicode, on Windows mostly. Write UTF-8.",
		client: "write UTF-8; pi answers each of these lines with a parse error",
		agent:  "what runs in pi's place writes UTF-16: set its output encoding to UTF-8",
	},
	{
		ID: "framing/blank-line", Severity: SevError, Title: "blank line",
		Explain: "The line is empty or holds white space only. It is no record: pi answers each with a parse error, and " +
			"JSON.parse throws. It comes from an extra newline behind a record that has one, or from println on top of it.",
		client: "write one LF a record; pi answers each blank line with a parse error and goes on",
		agent:  "skip blank lines; something in pi's process writes them to its stdout",
	},
	{
		ID: "framing/invalid-utf8", Severity: SevError, Title: "bytes that are not UTF-8",
		Explain: "Some byte is not UTF-8, as JSON must be. In a string pi, like all that JavaScript decodes, silently takes U+FFFD " +
			"for it, and the text is damaged for good; stricter readers refuse the record. It comes from text in another " +
			"encoding (Latin-1, a Windows code page), or from a character that was cut in two. Only a recording of the bytes " +
			"still has what it was.",
		client: "encode text as UTF-8; pi takes U+FFFD for such a byte in a string and says nothing",
		agent:  "find what writes another encoding to pi's stdout: pi itself writes UTF-8",
	},
	{
		ID: "framing/invalid-json", Severity: SevError, Title: "a line that is no JSON",
		Explain: "The line is no JSON text, for no reason that a more specific rule knows: a line of plain text, a record that ends " +
			"too early, or a mistake within. pi answers such a line with a parse error that has no id, and goes on. Lines of text from the " +
			"agent come from children that inherit its stdout and from fs.writeSync(1); console.log goes to stderr.",
		client: "pi answers with a parse error without id and goes on",
		agent:  "skip lines that are no JSON objects; extensions and children with inherited stdio can write to pi's stdout",
	},
	{
		ID: "framing/not-object", Severity: SevError, Title: "JSON, but no object",
		Explain: "The line is JSON, but each record is an object. From the client the line null kills pi since 0.65.0 (exit status 1, with a stack " +
			"trace on stderr); other values are answered with an error.",
		client: "send objects only; null kills pi since 0.65.0, other values are answered with an error",
		agent:  "skip lines that are no JSON objects; pi itself writes objects only",
	},
	{
		ID: "framing/raw-newline", Severity: SevError, Title: "a record of several lines",
		Explain: "Lines that are no records each are one when they are joined: a newline stands raw in a string, where JSON wants " +
			"\\n, or the object was pretty-printed. The whole group is one finding, at the first newline. pi answers each line " +
			"with a parse error. Write a record on one line, with a JSON encoder, without indentation. Only lines up to 1 MiB " +
			"together are recognized.",
		client: "write each record on one line, with a JSON encoder and no indentation; pi answers each of these lines with a parse error",
		agent:  "what runs in pi's place must write each record on one line, without indentation",
	},
}

// recordRules are about what stands in a line, and about its size and end.
var recordRules = []Rule{
	{
		ID: "framing/concatenated", Severity: SevError, Title: "several objects on one line",
		Explain: "Behind a whole object another one begins on the same line. JSON.parse refuses the line, so all of its records are " +
			"lost; pi answers with one parse error. It comes from a writer that forgets the LF, or from two that write at once.",
		client: "end each record in LF, also before flushing; pi answers such a line with one parse error and executes nothing",
		agent:  "two processes may be writing to pi's stdout at once; pi itself ends each record in LF",
	},
	{
		ID: "framing/junk-before-record", Severity: SevError, Title: "junk before a record",
		Explain: "A whole object ends the line, but something stands before it: escape sequences for a terminal (OSC sets the title, " +
			"CSI colours), or text whose writer left out the newline. JSON parsers refuse the line. The finding's place is where " +
			"the record starts. From pi it comes from extensions and children that write to its stdout.",
		client: "write nothing but records to pi's stdin; pi answers this line with a parse error",
		agent:  "find what writes to pi's stdout besides pi (an extension, a child with inherited stdio); a tolerant reader can start at this byte",
	},
	{
		ID: "framing/control-character", Severity: SevNote, Title: "raw control character",
		Explain: "A control character stands raw in the line. JSON allows DEL and U+0080 to U+009F in strings, and pi writes them so: a note, since " +
			"they may do something to a terminal that shows them. A byte below 0x20 is not allowed: in a string it must be escaped, elsewhere only " +
			"TAB may stand. The line is then no JSON, and the finding is an error. (NUL has a rule of its own.)",
		client: "escape control characters in strings as \\u00XX",
		agent:  "make control characters visible before showing text in a terminal; pi itself escapes those below 0x20",
	},
	{
		ID: "framing/nul", Severity: SevError, Title: "NUL byte",
		Explain: "A NUL byte makes the line invalid. It comes from the end of a C string that was written with it, or from a file " +
			"that was truncated while its writer went on. UTF-16, which is full of them, has a rule of its own.",
		client: "write no NUL; one in a string is written \\u0000",
		agent:  "find what writes to pi's stdout besides pi: pi itself writes no NUL",
	},
	{
		ID: "framing/unterminated", Severity: SevHazard, Title: "no LF at the end",
		Explain: "The stream ends without LF. pi executes a last line without it; readers that wait for an LF never see it. If the " +
			"record is not whole, its writer ended in the middle of it: pi does so on a signal when its reader is slow, since it " +
			"does not flush, and then the record, or the last read, often has exactly 65,536 bytes, what a pipe takes at a time.",
		client: "end the last record in LF too; pi executes it all the same",
		agent:  "drop a last line that is no whole record; close pi's stdin and read to the end before sending signals",
	},
	{
		ID: "framing/oversize", Severity: SevHazard, Title: "a record over 64 KiB",
		Explain: "The record has more than 65,536 bytes, LF included. Go's bufio.Scanner with its default buffer and Python's asyncio " +
			"StreamReader.readline with its default limit fail on it. Sessions of pi have records of several MB as a matter of course " +
			"(whole messages, images). pi takes any length, but needs time with the square of it: 8 MiB 0.7 s, 64 MiB 27 s.",
		client: "pi takes it, but the time grows with the square of the length: 8 MiB take 0.7 s, 64 MiB 27 s",
		agent:  "raise the limit: Go's bufio.Scanner (Buffer) and Python's asyncio StreamReader.readline (limit) stop at 64 KiB",
	},
	{
		ID: "framing/split-at-separator", Severity: SevError, Title: "a record that was split in a string",
		Explain: "Lines that are no records each are one when they are joined in the middle of a string, and their writer does escape " +
			"newlines, so it was no newline that cut them: something on the way reads lines, takes U+2028, U+2029 or another " +
			"separator for a line end, and writes LF in its place. Let that something split on 0x0A only.",
		client: "something between you and pi splits lines at U+2028 or U+2029 (the readline of Node 24 does): split on LF only",
		agent:  "something between pi and you splits lines at U+2028 or U+2029 (the readline of Node 24 does): split on LF only",
	},
	{
		ID: "framing/replacement-character", Severity: SevNote, Title: "U+FFFD",
		Explain: "The record holds U+FFFD (EF BF BD), which decoders put in the place of bytes that they cannot decode. Unless someone " +
			"typed it, something before this record lost text: a file in another encoding, a chunk that was decoded by itself though it " +
			"ended within a character, or invalid UTF-8 that pi was sent.",
		client: "text was lost before it was sent: look for chunks that are decoded one by one",
		agent:  "text was lost before pi wrote it: in a file, a tool's output, or a command that was not UTF-8",
	},
}
