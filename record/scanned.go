package record

import "pitap/record/scan"

// Scan judges the bytes of a record and tells where its members are. It uses what is known from reading the capture;
// else it looks over the bytes, and m is where it notes the members. What it returns is valid as long as Body.
func (e *Entry) Scan(m *scan.Spans) (scan.Result, *scan.Spans) {
	if e.spans != nil {
		return e.scanned, e.spans
	}
	return scan.ScanMembers(e.Body, m), m
}

// BehindJunk returns where in a line that is no JSON a whole record begins that goes on to the line's end, behind a byte
// order mark, a terminal's escape sequence or other text that was written to the same stream; 0 when there is none.
func BehindJunk(line []byte) int {
	r := scan.Scan(line)
	if r.JSON {
		return 0
	}
	at := innerStart(headOf(line), &r)
	if at == 0 || !scan.Scan(line[at:]).JSON {
		return 0
	}
	return at
}

// Hints returns what the rule's findings say to do: about records of the client, and about those of the agent. Rules that
// are not about framing have none.
func (r *Rule) Hints() (client, agent string) { return r.client, r.agent }
