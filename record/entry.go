package record

import (
	"time"

	"pitap/record/scan"
)

// Stream names one of the three byte streams of a session.
type Stream uint8

const (
	NoStream Stream = iota // a note about the session as a whole
	Client                 // what the client writes to the agent's stdin
	Agent                  // what the agent writes to its stdout
	Stderr                 // what the agent writes to its stderr
	streamCount
)

var streamNames = [streamCount]string{"", "client", "agent", "stderr"}

// String returns the name used in captures, "" for NoStream.
func (s Stream) String() string {
	if s < streamCount {
		return streamNames[s]
	}
	return "unknown"
}

// ParseStream is the inverse of String; ok is false for a name that is none.
func ParseStream(name string) (s Stream, ok bool) {
	for i, n := range streamNames {
		if n == name {
			return Stream(i), true
		}
	}
	return NoStream, false
}

// Form says how an entry holds the bytes of its record.
type Form uint8

const (
	NoForm Form = iota // a note: no bytes
	Msg                // member "msg": the record's own bytes, which are JSON
	Text               // member "text": a JSON string of the bytes, which are UTF-8
	Base64             // member "base64"
)

// Cut is a place where one of the recorder's reads ended inside a record.
type Cut struct {
	At int64 // offset in the record, in bytes; what lies before it had come by T
	T  int64 // nanoseconds since the start of the capture
}

// Entry is one line of a capture: a record (or a part of one) or a note.
type Entry struct {
	N    int64  // number, from 1, in the order in which things could have caused each other
	T    int64  // nanoseconds since Header.Start: when the read that ended the record returned
	From Stream // whose bytes, or what the note is about
	Off  int64  // offset of the first byte of Body in its stream, in bytes

	Form Form
	Body []byte // the bytes, without the line end; the reader's, valid until its next call
	EOL  string // "\n", "\r\n", or "" where the stream ended (or the part goes on)

	Part       bool    // Body is a piece of a record
	Last       bool    // the piece is the record's last
	Supersedes []int64 // numbers of the parts that this entry holds again as a whole
	Cuts       []Cut
	MoreCuts   int64 // cuts that were not listed
	Flags      Flags // what the recorder noticed about the framing

	Note *Note // nil for records

	Line []byte // the entry's own line in the capture without its LF; valid as long as Body

	scanned scan.Result // of Body, when Form is Msg and the entry was read from a capture
	spans   *scan.Spans // of its members, likewise
	same    alike
}

// Note is what an entry says that is not a record. Only the fields of its kind are set.
type Note struct {
	Kind string // "eof", "closed", "signal", "stall", "gap", "lag", "clock", "undelivered", "exit", "file", "end", ...

	Signal string           // signal, exit: "SIGTERM"
	To     string           // signal: "agent", or "group" for the agent's process group
	Code   *int             // exit: the exit status
	Error  string           // exit: why the agent could not be started; gap: why bytes were lost
	Since  int64            // stall: when it began, nanoseconds since start
	For    int64            // stall that is over: how long it took, nanoseconds
	By     int64            // lag: how far the file was behind, nanoseconds; clock: how far the wall clock moved
	Wall   time.Time        // clock: the new wall time
	Bytes  int64            // stall, undelivered: bytes that waited or were not delivered
	Lost   map[string]int64 // gap: bytes that were not recorded, by stream
	Totals *Totals          // end
	Path   string           // file: its path
	Data   []byte           // file: its bytes, base64 in the capture
}

// Totals are the figures of a whole capture, kept in its end note.
type Totals struct {
	Entries int64             `json:"entries"`           // of the capture, the end note included
	Streams map[string]Volume `json:"streams,omitempty"` // by name of stream
	Flagged map[string]int64  `json:"flagged,omitempty"` // records by flag
	Lost    int64             `json:"lost,omitempty"`    // bytes that no entry holds
}

// Volume counts what went through one stream.
type Volume struct {
	Records int64 `json:"records"`
	Bytes   int64 `json:"bytes"`
}
