package record

import (
	"cmp"
	"slices"

	"pitap/record/scan"
)

// Severity says how bad a finding is.
type Severity uint8

const (
	SevNote   Severity = iota // worth knowing
	SevHazard                 // allowed, but known readers break on it
	SevError                  // breaks the protocol
	sevCount
)

// String returns "note", "hazard" or "error".
func (s Severity) String() string {
	if s < sevCount {
		return [sevCount]string{"note", "hazard", "error"}[s]
	}
	return "unknown"
}

// Finding is what a rule says, once for its cause, about one or more records of a stream.
type Finding struct {
	Rule     string // id, such as framing/crlf
	Severity Severity
	N        int64  // number of the first entry that has it; of a record in parts, the first part's
	From     Stream // whose records
	Off      int64  // the place that is meant in that record: offset in the stream, in bytes
	At       int64  // the same from the start of the record; in a record of several lines, from the start of the first
	Count    int64  // how many records have it
	Last     int64  // number of the last entry that has it; of a record in parts, the first part's
	Text     string // one sentence without a full stop: what is wrong with the first, and where
	Hint     string // what to do about it, or who breaks on it
}

// Rule describes a rule for people.
type Rule struct {
	ID       string
	Severity Severity // of its findings; where those can differ, Explain says when
	Title    string   // a few words
	Explain  string   // a paragraph: what it means, who breaks on it, an example, what to do

	client, agent string // hints for findings about records of one or the other
}

// Framing applies the framing rules to the entries of one session, given in order.
//
// Its memory is bounded, however long the session and its records are: about 10 MiB at worst. It keeps nothing of the
// entries that it is given. It is not safe for concurrent use.
type Framing struct {
	keep    int // maxKept, or what a test wants, at least headSize
	streams [Agent + 1]framingStream
	found   []found
	index   [Agent + 1][ruleCount][causes]int // of the finding in found, plus 1
}

// A rule can give several findings about a stream, one for each severity, and one for the record that kills pi.
const (
	deadly = int(sevCount)
	causes = deadly + 1
)

// framingStream is what Framing knows of one stream.
type framingStream struct {
	next  int64 // offset behind the last record
	read  int64 // offset behind the last read that is known
	parts parts
	group group
	utf16 bool // the last record was UTF-16
}

// found is a finding as it grows.
type found struct {
	Finding
	largest, largestN int64 // for framing/oversize: bytes with LF, and entry
}

// NewFraming returns a checker for one session.
func NewFraming() *Framing { return &Framing{keep: maxKept} }

// Entry takes the next entry of the session.
func (f *Framing) Entry(e *Entry) {
	switch {
	case e.Note != nil:
		f.note(e)
	case e.From != Client && e.From != Agent: // stderr is no protocol
	case e.Part:
		f.part(e)
	case e.Form == Msg && e.scanned.Valid:
		f.EntryScanned(e, e.scanned)
	default:
		f.EntryScanned(e, scan.Scan(e.Body))
	}
}

// EntryScanned is Entry for a whole record of client or agent for which the caller has r, the result of
// scan.Scan(e.Body).
func (f *Framing) EntryScanned(e *Entry, r scan.Result) {
	s := &f.streams[e.From]
	s.parts.drop() // either e holds them again, or their end was lost
	s.next = e.Off + int64(len(e.Body)+len(e.EOL))
	s.noteReads(e.Off, e)
	if clean(int64(len(e.Body)), e.EOL, &r) && s.group.empty() && !s.utf16 {
		return
	}
	l := line{n: e.N, off: e.Off, from: e.From, eol: e.EOL, body: e.Body, res: r}
	l.lastRead = s.next - s.read
	if n := len(l.body); l.eol == "\n" && n > 0 && l.body[n-1] == '\r' {
		l.body, l.eol = l.body[:n-1], "\r\n"
		l.res = scan.Scan(l.body)
	}
	l.size, l.head = int64(len(l.body)), headOf(l.body)
	f.line(&l)
}

// noteReads notes where the last read within a record ended that starts at off.
func (s *framingStream) noteReads(off int64, e *Entry) {
	if n := len(e.Cuts); n > 0 {
		s.read = off + e.Cuts[n-1].At
	}
}

// note takes what is said about a stream: its end, and gaps in the recording, whose damage is no fault of the stream.
func (f *Framing) note(e *Entry) {
	for from := Client; from <= Agent; from++ {
		s := &f.streams[from]
		switch _, lost := e.Note.Lost[from.String()]; {
		case e.Note.Kind == "eof" && e.From == from:
			f.endParts(from, "")
			f.closeGroup(from)
		case e.Note.Kind == "gap" && (lost || e.From == from || e.From == NoStream && len(e.Note.Lost) == 0):
			s.parts.damage()
			f.closeGroup(from)
		}
	}
}

// Finish says that no entry follows. A record of which only parts have come is not judged.
func (f *Framing) Finish() {
	for from := Client; from <= Agent; from++ {
		f.streams[from].parts.drop()
		f.closeGroup(from)
	}
}

// Findings returns what was found so far, in the order of N. It may be called at any time; what it returns is the
// caller's. Lines that may yet turn out to belong to one record are judged as if nothing followed.
func (f *Framing) Findings() []Finding {
	now := *f
	if !now.streams[Client].group.empty() || !now.streams[Agent].group.empty() {
		now.found = slices.Clone(f.found)
		now.closeGroup(Client)
		now.closeGroup(Agent)
	}
	out := make([]Finding, len(now.found))
	for i := range now.found {
		out[i] = now.found[i].finish()
	}
	slices.SortStableFunc(out, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.N, b.N), cmp.Compare(a.From, b.From), cmp.Compare(a.At, b.At), cmp.Compare(a.Rule, b.Rule))
	})
	return out
}

// line takes the next record of its stream.
func (f *Framing) line(l *line) {
	s := &f.streams[l.from]
	goesOn := s.utf16 && (l.size == 0 || l.res.Marks&(scan.NUL|scan.NotUTF8) != 0)
	if s.utf16 = goesOn || isUTF16(l.head, l.res.Marks); s.utf16 {
		f.closeGroup(l.from)
		f.add(l, flagUTF16)
		return
	}
	f.offer(l)
}

// judge adds what the rules say about a record, those excepted that are in not.
func (f *Framing) judge(l *line, not Flags) {
	for flags := l.flags().said() &^ not; flags != 0; flags &= flags - 1 {
		f.add(l, flags&-flags)
	}
}

// add adds a record to the finding of a rule.
func (f *Framing) add(l *line, flag Flags) {
	sev := FramingRules[flag.rule()].Severity
	if (flag == flagLoneCR || flag == flagControl) && !l.verdict().JSON {
		sev = SevError
	}
	cause := int(sev)
	if flag == flagNotObject && l.killsPi() {
		cause = deadly
	}
	have := f.at(l.from, flag, cause)
	if have == nil {
		at := l.place(flag)
		have = f.start(flag, cause, Finding{Severity: sev, N: l.n, From: l.from, Off: l.off + at, At: at, Text: l.text(flag, at)})
	}
	have.Count++
	have.Last = l.n
	if size := l.size + int64(len(l.eol)); flag == flagOversize && size > have.largest {
		have.largest, have.largestN = size, l.n
	}
}

// at returns the finding of a rule about a stream, nil if there is none yet. It is good until the next start.
func (f *Framing) at(from Stream, flag Flags, cause int) *found {
	if i := f.index[from][flag.rule()][cause]; i > 0 {
		return &f.found[i-1]
	}
	return nil
}

// start starts a finding.
func (f *Framing) start(flag Flags, cause int, like Finding) *found {
	rule := &FramingRules[flag.rule()]
	like.Rule, like.Hint = rule.ID, rule.hint(like.From)
	f.found = append(f.found, found{Finding: like})
	f.index[like.From][flag.rule()][cause] = len(f.found)
	return &f.found[len(f.found)-1]
}
