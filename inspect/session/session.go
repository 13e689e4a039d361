// Package session is what a capture means: which response belongs to which command, what happened in each run, what is
// open at a moment, what went wrong, and in figures how it went.
//
// A Session is built in one pass over the entries of a capture, in order, and can be asked at any time, so the same
// code follows a live capture. Its memory grows with commands, dialogs, messages, tools and findings, not with deltas,
// and is bounded: of very long sessions the oldest commands, dialogs and tools are forgotten one by one (figures count
// them all), and so is what runs were made of. It is not safe for concurrent use.
//
//	s := session.New(header)
//	for r.Next() {
//		s.Add(r.Entry())
//	}
//	s.End(r.Ended())
//
// The rules of the protocol's life cycle follow pi's documents and sources; where a version of pi differs, the
// vocabulary (package rpc) tells. Nothing is concluded from what a capture does not hold: after a gap, and in a capture
// that begins in the middle, rules that need what is missing say nothing.
package session

import (
	"pitap/record"
	"pitap/record/rpc"
	"pitap/record/scan"
)

// Session is the meaning of the entries that were added so far.
type Session struct {
	Header  *record.Header // may be nil
	Version rpc.Version    // of pi; see VersionFrom
	// VersionFrom is "header", "guess" or "newest": where Version comes from. A guess gets better as entries come.
	VersionFrom string

	Entries  int64
	T        int64 // of the latest entry, nanoseconds since the start
	Commands []*Command
	Bad      []*BadLine // from the client, which pi could not read
	Dialogs  []*Dialog
	Runs     []*Run
	Tools    []*Tool
	Stalls   []*Stall
	Signals  []Signal
	Exit     *Exit
	EOF      [4]*Moment // by stream: its writer ended it
	Closed   [4]*Moment // by stream: its reader went away
	Lost     int64      // bytes that were not recorded, as far as that is known
	LastErr  []Line     // the latest lines on stderr
	Last     [4]*Moment // by stream: the latest record
	Ended    bool       // no more entries come
	Cut      bool       // Ended, and without an end note
	Damage   string     // set by who reads the file: where it is damaged, in words; "" when it is not

	voc      *rpc.Vocabulary
	traits   traits
	guess    rpc.Guess
	framing  *record.Framing
	kinds    kinds
	pairs    pairs
	queue    queue
	asks     asks
	run      *Run // the run that goes on, or nil
	life     life
	moved    int64            // number of the latest event of a run, turn, message or tool
	nodes    int              // turns, messages and tools that Runs holds
	tools    map[string]*Tool // that go on, by call id
	compact  *Moment          // a compaction goes on
	retry    *Moment          // pi waits before it tries again
	parts    [4]*parts        // by stream: a record that is not complete
	stalled  [4]*Stall
	figures  figures
	findings findings
	observe  []observer
	missing  missing
	ready    *Moment   // the agent's first record
	latest   [4]Moment // what Last points to
	rec      Record    // the record at hand
	same     same
	spans    scan.Spans
	scratch  []byte // for decoded text
}

// observer looks at every record of the protocol; rules that need no more than the record are observers.
type observer func(s *Session, r *Record)

// Bounds of what is kept, whatever the traffic.
const (
	maxKept    = 256    // bytes of a text of a record
	maxList    = 50_000 // commands, dialogs, tools: each
	maxNodes   = 50_000 // turns, messages and tools in the tree of runs
	maxRuns    = 10_000
	maxWaiting = 20_000 // commands without response, dialogs without answer, tools without end, bad lines: each
	maxNotes   = 1000   // stalls and signals: each
)

// Moment is an entry and its time.
type Moment struct {
	N    int64  // number of the entry
	T    int64  // nanoseconds since the start
	Kind string // of the record, or what happened
}

// Line is a line on stderr.
type Line struct {
	Moment
	Text string // cut
}

// Signal is one that the proxy passed on.
type Signal struct {
	Moment
	To string
}

// Exit is the end of the agent.
type Exit struct {
	Moment
	Code   int
	Signal string // "" when it exited
	Error  string // it could not be started
}

// Stall is a time in which a reader took nothing.
type Stall struct {
	Stream record.Stream // whose reader
	Since  int64         // nanoseconds since the start
	For    int64         // nanoseconds; 0 while it goes on
	Bytes  int64         // that waited
	N      int64         // the first note about it
}

// BadLine is a line from the client that is not JSON: pi answers it with a parse error.
type BadLine struct {
	Moment
	Response *Moment

	unended bool // no LF ends it
	cr      int  // where its first CR is; -1 without one
}

// Record is a record of the protocol as the session's rules see it. It is valid during the call.
type Record struct {
	*record.Entry
	rpc.Head
	Body []byte // the bytes; of a record that stayed in parts, its members with long values cut
	Size int64  // of the whole record, in bytes
	Cut  bool   // Body is not all of it
	JSON bool   // it is JSON for pi, which takes U+FFFD for what is not UTF-8

	spans  *scan.Spans // of the members in Body
	kind   *kind
	update update // of a message_update
}

// get returns the value of the member with that name, nil when there is none.
func (r *Record) get(name string) []byte { return r.spans.Find(r.Body, name) }

// at is the record's moment.
func (r *Record) at() *Moment { return &Moment{r.N, r.T, r.kind.name} }

// New begins a session. The header may be nil.
func New(h *record.Header) *Session {
	s := &Session{Header: h, voc: rpc.Load(), framing: record.NewFraming(), tools: map[string]*Tool{}}
	s.Version, s.VersionFrom = rpc.Newest(), "newest"
	if h != nil {
		if v, ok := rpc.ParseVersion(h.Agent.Version); ok {
			s.Version, s.VersionFrom = v, "header"
		}
		if h.Cut != "" {
			s.missing.all()
			s.missing.edited = true
			s.life.dark = true
		}
	}
	s.traits = traitsOf(s.voc, s.Version)
	s.pairs.init()
	s.asks.init()
	s.kinds.init()
	s.findings.init()
	s.observe = []observer{lookFields, secrets}
	return s
}

// Add takes the next entry. It keeps nothing of it.
func (s *Session) Add(e *record.Entry) {
	s.Entries++
	s.T = max(s.T, e.T)
	s.checkMissing(e)
	switch {
	case e.Note != nil:
		s.framing.Entry(e)
		s.note(e)
	case e.From == record.Stderr:
		s.stderr(e)
	case e.Part:
		s.framing.Entry(e)
		s.part(e)
	default:
		res, spans := e.Scan(&s.spans)
		s.framing.EntryScanned(e, res)
		s.parts[e.From] = nil // e holds them again, or their end is lost
		s.rec = Record{Entry: e, Body: e.Body, Size: int64(len(e.Body)), JSON: res.JSON, spans: spans}
		if !s.another(&s.rec) {
			s.record(&s.rec)
		}
	}
}

// record takes a whole record of the protocol, or the digest of one.
func (s *Session) record(r *Record) {
	switch {
	case r.JSON && r.From == record.Agent && r.lookUpdate():
	case r.JSON:
		r.Head = rpc.LookAt(r.From.String(), r.Body, r.spans)
	case r.From == record.Agent:
		s.behindJunk(r)
	}
	r.kind = s.kinds.of(r)
	s.crossed(r)
	s.figures.count(r)
	if s.VersionFrom != "header" && r.From == record.Agent && r.JSON && !r.Cut {
		s.guessVersion(r)
	}
	if r.From == record.Client {
		s.fromClient(r)
	} else {
		s.fromAgent(r)
	}
	for _, f := range s.observe {
		f(s, r)
	}
}

// crossed notes that the record is the latest of its stream.
func (s *Session) crossed(r *Record) {
	last := &s.latest[r.From]
	last.N, last.T, last.Kind = r.N, r.T, r.kind.name
	s.Last[r.From] = last
}

// behindJunk takes the record that something else stands before on its line: pi did write it, though its readers miss it.
func (s *Session) behindJunk(r *Record) {
	at := record.BehindJunk(r.Body)
	if at == 0 || r.Cut {
		return
	}
	r.Body = r.Body[at:]
	res := scan.ScanMembers(r.Body, &s.spans)
	r.spans, r.JSON = &s.spans, res.JSON
	r.Head = rpc.LookAt(r.From.String(), r.Body, r.spans)
}

func (s *Session) guessVersion(r *Record) {
	if r.kind.guessed >= guessLooks {
		return
	}
	r.kind.guessed++
	s.guess.See("agent", r.Body)
	if v, _, _, evidence := s.guess.Version(); evidence != "" && !v.IsZero() && (v != s.Version || s.VersionFrom != "guess") {
		s.Version, s.VersionFrom = v, "guess"
		s.traits = traitsOf(s.voc, v)
	}
}

// guessLooks is how many records of a kind tell something of the version.
const guessLooks = 8

func (s *Session) fromClient(r *Record) {
	switch {
	case r.Type == "extension_ui_response":
		s.answered(r)
	case r.JSON: // what is no object is answered as a command without type
		s.command(r)
	default:
		s.badLine(r)
	}
}

func (s *Session) fromAgent(r *Record) {
	if s.ready == nil {
		s.ready = r.at()
	}
	switch r.Type {
	case "response":
		s.response(r)
	case "extension_ui_request":
		s.asked(r)
	case "":
		if !r.JSON && r.EOL != "" { // what it was to be is not known; the beginning of a last record is no matter
			s.darken("a line that is no record")
			s.pairs.doubt()
			s.asks.forget()
		}
	default:
		s.event(r)
	}
}

// End says that no more entries come; whole tells whether the last one was the end note.
func (s *Session) End(whole bool) {
	if s.Ended {
		return
	}
	s.Ended, s.Cut = true, !whole
	s.framing.Finish()
	s.conclude(&s.findings, s.T)
}
