// Package session is what a capture means: which response belongs to which command, what happened in each run, what is
// open at a moment, what went wrong, and in figures how it went.
//
// A Session is built in one pass over the entries of a capture, in order, and can be asked at any time, so the same
// code follows a live capture. Its memory grows with commands, dialogs, messages, tools and findings, not with deltas.
// It is not safe for concurrent use.
//
//	s := session.New(header)
//	for r.Next() {
//		s.Add(r.Entry())
//	}
//	s.End(r.Ended())
//
// The rules of the protocol's life cycle follow pi's documents and sources; where a version of pi differs, the
// vocabulary (package rpc) tells.
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
	Lost     int64      // bytes that were not recorded
	LastErr  []Line     // the latest lines on stderr
	Last     [4]*Moment // by stream: the latest record
	Ended    bool       // no more entries come
	Cut      bool       // Ended, and without an end note

	voc      *rpc.Vocabulary
	guess    rpc.Guess
	framing  *record.Framing
	pairs    pairs
	dialogs  map[string]*Dialog // by id
	run      *Run               // the run that goes on, or nil
	tools    map[string]*Tool   // that go on, by call id
	compact  *Moment            // a compaction goes on
	retry    *Moment            // pi waits before it tries again
	half     [4]*Half           // by stream: a record that is not complete
	stalled  [4]*Stall
	volumes  volumes
	findings findings
	observe  []observer
	gapped   [4]bool // by stream: something was lost just before
	ready    bool    // the agent has written something
}

// observer looks at every record of the protocol; rules that need no more than what a Session shows are observers.
type observer func(s *Session, r *Record)

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

// Half is a record whose end has not come.
type Half struct {
	Moment       // of the first part
	Bytes  int64 // that came
	prefix []byte
	size   int64
}

// BadLine is a line from the client that is not JSON: pi answers it with a parse error.
type BadLine struct {
	Moment
	Response *Moment
}

// Record is a record of the protocol as the session's rules see it. It is valid during the call.
type Record struct {
	*record.Entry
	rpc.Head
	Body []byte // the bytes; of a record that stayed in parts, the first of them
	Size int64  // of the whole record, in bytes
	Cut  bool   // Body is not all of it
}

// maxKept bounds texts that are kept of a record, in bytes.
const maxKept = 256

// New begins a session. The header may be nil.
func New(h *record.Header) *Session {
	s := &Session{Header: h, voc: rpc.Load(), framing: record.NewFraming(), dialogs: map[string]*Dialog{}, tools: map[string]*Tool{}}
	s.Version, s.VersionFrom = rpc.Newest(), "newest"
	if h != nil {
		if v, ok := rpc.ParseVersion(h.Agent.Version); ok {
			s.Version, s.VersionFrom = v, "header"
		}
	}
	s.pairs.init()
	s.observe = observers()
	return s
}

// Add takes the next entry. It keeps nothing of it.
func (s *Session) Add(e *record.Entry) {
	s.Entries++
	s.T = max(s.T, e.T)
	s.framing.Entry(e)
	switch {
	case e.Note != nil:
		s.note(e)
	case e.From == record.Stderr:
		s.stderr(e)
	case e.Part:
		s.part(e)
	default:
		if len(e.Supersedes) > 0 {
			s.half[e.From] = nil
		}
		s.record(&Record{Entry: e, Body: e.Body, Size: int64(len(e.Body))})
	}
}

// part remembers the beginning of a record that comes in pieces.
func (s *Session) part(e *record.Entry) {
	h := s.half[e.From]
	if h == nil {
		h = &Half{Moment: Moment{e.N, e.T, "half"}}
		s.half[e.From] = h
	}
	if room := 64<<10 - len(h.prefix); room > 0 {
		h.prefix = append(h.prefix, e.Body[:min(room, len(e.Body))]...)
	}
	h.Bytes += int64(len(e.Body))
	if !e.Last {
		return
	}
	s.half[e.From] = nil
	if s.gapped[e.From] { // its beginning is lost
		s.gapped[e.From] = false
		return
	}
	s.record(&Record{Entry: e, Body: h.prefix, Size: h.Bytes, Cut: h.Bytes > int64(len(h.prefix))})
}

func (s *Session) record(r *Record) {
	s.gapped[r.From] = false
	r.Head = rpc.Look(r.From.String(), r.Body)
	kind := r.Kind
	if kind == "" {
		kind = "not a record"
	}
	s.Last[r.From] = s.moment(r.Entry, kind)
	s.volumes.count(r)
	if s.VersionFrom != "header" && r.From == record.Agent && !r.Cut {
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

func (s *Session) guessVersion(r *Record) {
	s.guess.See("agent", r.Body)
	if v, _, _, evidence := s.guess.Version(); evidence != "" && !v.IsZero() {
		s.Version, s.VersionFrom = v, "guess"
	}
}

func (s *Session) fromClient(r *Record) {
	switch {
	case r.Type == "extension_ui_response":
		s.answered(r)
	case isJSON(r.Body): // what is no object is answered as a command without type
		s.command(r)
	default:
		s.Bad = append(s.Bad, &BadLine{Moment: Moment{r.N, r.T, "not a record"}})
	}
}

// isJSON tells whether a record is JSON for pi, which takes U+FFFD for what is not UTF-8; of a record that is not all
// there the beginning decides.
func isJSON(body []byte) bool {
	r := scan.Scan(body)
	return r.JSON || r.Object && r.ErrAt >= len(body)
}

func (s *Session) fromAgent(r *Record) {
	s.ready = true
	switch r.Type {
	case "response":
		s.response(r)
	case "extension_ui_request":
		s.asked(r)
	case "":
	default:
		s.event(r)
	}
}

func (s *Session) stderr(e *record.Entry) {
	text := e.Body[:min(len(e.Body), maxKept)]
	s.LastErr = append(s.LastErr, Line{Moment{e.N, e.T, "stderr"}, string(text)})
	if len(s.LastErr) > 20 {
		s.LastErr = append(s.LastErr[:0], s.LastErr[1:]...)
	}
	s.volumes.count(&Record{Entry: e, Size: int64(len(e.Body))})
}

func (s *Session) note(e *record.Entry) {
	n := e.Note
	at := &Moment{e.N, e.T, n.Kind}
	switch n.Kind {
	case "eof":
		s.EOF[e.From] = at
	case "closed":
		s.Closed[e.From] = at
	case "signal":
		at.Kind = n.Signal
		s.Signals = append(s.Signals, Signal{*at, n.To})
	case "stall":
		s.stall(e)
	case "gap":
		for name, bytes := range n.Lost {
			s.Lost += bytes
			if stream, ok := record.ParseStream(name); ok {
				s.gapped[stream] = true
				s.half[stream] = nil
			}
		}
		s.pairs.doubt()
	case "exit":
		s.Exit = &Exit{Moment: *at, Signal: n.Signal, Error: n.Error}
		if n.Code != nil {
			s.Exit.Code = *n.Code
		}
	}
}

func (s *Session) stall(e *record.Entry) {
	st := s.stalled[e.From]
	if st == nil {
		st = &Stall{Stream: e.From, Since: e.Note.Since, Bytes: e.Note.Bytes, N: e.N}
		s.stalled[e.From] = st
		s.Stalls = append(s.Stalls, st)
	}
	if e.Note.For > 0 {
		st.For = e.Note.For
		s.stalled[e.From] = nil
	}
}

// End says that no more entries come; whole tells whether the last one was the end note.
func (s *Session) End(whole bool) {
	if s.Ended {
		return
	}
	s.Ended, s.Cut = true, !whole
	s.framing.Finish()
	s.conclude()
}

func (s *Session) moment(e *record.Entry, kind string) *Moment {
	return &Moment{e.N, e.T, kind}
}
