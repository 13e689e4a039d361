package replay

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"pitap/record"
	"pitap/record/rpc"
)

// Script is a capture as a causal script: what the agent wrote, in recorded order, and between it what caused it. It is
// read-only once it is loaded: any number of agents may play it at once if it is in memory, see Shareable.
type Script struct {
	header    *record.Header
	steps     []step
	commands  []*command // what the client sent, in order
	gates     []int      // steps that hold all behind them until something comes from outside
	questions []*question
	dialogs   map[string]*dialog // by the token of their id
	marks     []waypoint         // where runs end, and commands that take their time
	version   rpc.Version
	condition string       // how the capture ends, in words; "" when it is whole
	lines     bool         // entries are numbered by their lines in the file
	left      string       // what was open at its end, in words
	short     bool         // it has no end, and something was open
	exit      *record.Note // how the agent ended; nil when that is not known
	src       source
	capture   *record.Capture // nil for a script in memory
}

// kind is what a step does.
type kind uint8

const (
	nothing  kind = iota
	events        // the agent writes count records, or a part of one
	response      // the agent answers a command
	stderr        // the agent writes to stderr
	sent          // the client sends a record
	eof           // the client closes the agent's stdin
	signal        // somebody sends the agent a signal
	closed        // the client closes the agent's stdout
)

// waypoint is something the agent writes that a client waits for before it goes on, if it is written right.
type waypoint struct {
	n    int64
	name string
}

// step is a piece of the script: something the agent writes, or what it waits for.
type step struct {
	kind  kind
	part  bool   // of an answer that its capture holds in parts: not the first
	open  bool   // a run is going on
	count int    // records
	n     int64  // number of the first entry
	marks int    // waypoints before it
	t     int64  // nanoseconds from the start of the capture
	at    place  // of the first entry
	mem   int64  // the same in a memory
	name  string // of events that a command causes: their type; of a signal: its name
	cmd   *command
	bytes int // of the records, about
}

// command is a record that the client sent when the capture was made.
type command struct {
	step   int // where it was sent
	n      int64
	id     []byte // its token; nil for none
	kind   string
	gate   bool // holds what is behind it
	late   bool // the agent may answer other commands before it
	emits  []string
	load   payload
	q      *question // of a record that changes nothing
	dialog *dialog   // that it answers
	answer int       // step of the response; -1 for none
	parts  []int     // further steps of an answer in parts
	nth    int       // place in q.asked
	index  int       // in Script.commands
}

// question is a record that changes nothing, with all its places in the script.
type question struct {
	kind  string
	load  payload
	asked []*command
}

// dialog is a UI request and the first answer to it.
type dialog struct {
	what   string // for people
	waits  bool   // it is one that waits for an answer
	answer *command
}

// Header returns the header of the capture.
func (s *Script) Header() *record.Header { return s.header }

// Condition says how the capture ends, "" when it is whole: a script of a cut capture ends where the capture does.
func (s *Script) Condition() string { return s.condition }

// Open says what was open when the session ended: a run, or a command without an answer; "" for nothing.
func (s *Script) Open() string { return s.left }

// Shareable tells whether several agents may play the script at once: it is in memory.
func (s *Script) Shareable() bool { return s.capture == nil }

// Close closes the capture of a script that is not in memory.
func (s *Script) Close() error {
	if s.capture == nil {
		return nil
	}
	return s.capture.Close()
}

// Open loads the script of a capture or fixture.
func Open(path string) (*Script, error) {
	c, err := record.Open(path)
	if err != nil {
		return nil, err
	}
	s, err := loadFile(c)
	if err == nil && s.src == nil {
		s.capture = c
		s.src = &file{src: c.File(), size: c.Size(), frames: compressed(c.File())}
		return s, nil
	}
	if err == nil && s.header.Cut == "" && !s.header.Start.IsZero() { // a fixture has no end note
		s.condition = c.Condition()
	} else if err == nil && c.Torn() {
		s.condition = "cut: the file stops inside a line"
	}
	c.Close()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// Parse loads the script of a capture or fixture in memory.
func Parse(capture []byte) (*Script, error) {
	r := record.NewReader(bytes.NewReader(capture), func() (int64, error) { return int64(len(capture)), nil })
	h, err := r.Header()
	if err != nil {
		return nil, err
	}
	s, err := load(h, r, r, numbersLines(h, bytes.NewReader(capture)))
	if err == nil && s.src == nil {
		s.src = &file{src: bytes.NewReader(capture), size: int64(len(capture)), frames: compressed(bytes.NewReader(capture))}
	}
	return s, err
}

// quickly is the size of a file, in bytes, from which on it is read by several goroutines.
const quickly = 64 << 10

func loadFile(c *record.Capture) (*Script, error) {
	h, err := c.Header()
	if err != nil {
		return nil, err
	}
	lines := numbersLines(h, c.File())
	if c.Size() < quickly {
		return load(h, c.Reader, c.Reader, lines)
	}
	a := c.Ahead()
	defer a.Close()
	return load(h, a, c.Reader, lines)
}

// entries are those of a capture, in order.
type entries interface {
	Next() bool
	Entry() *record.Entry
	Unit() int64
}

// load reads a capture to its end; what ended it and what is damaged is then told by state. What is longer than 32 MiB
// has no source yet.
func load(h *record.Header, r entries, state *record.Reader, lines *lineCounter) (*Script, error) {
	l := loader{s: &Script{header: h, dialogs: map[string]*dialog{}}, outstanding: map[string][]*command{}, byHash: map[uint64][]*question{}, memory: new(memory), fresh: true}
	l.s.lines = lines != nil
	l.s.version, _ = rpc.ParseVersion(h.Agent.Version)
	var at place
	for r.Next() {
		e := r.Entry()
		if u := r.Unit(); u != at.unit || l.entries == 0 {
			at = place{unit: u}
		}
		if lines != nil {
			e.N = lines.of(at.unit)
		}
		l.entry(e, at)
		at.skip++
		if l.taken > maxScript {
			return nil, fmt.Errorf("entry %d: too many commands to replay in one session; pitap cut --entries takes a part of it", e.N)
		}
	}
	if err := state.Err(); err != nil {
		return nil, err
	}
	if d := state.Damage(); len(d) > 0 {
		return nil, damaged(d[0], lines)
	}
	if l.doubled > 0 {
		return nil, fmt.Errorf("%s stands there twice: an answer that is given again", placeOf(lines != nil, l.doubled))
	}
	l.end()
	if l.memory != nil {
		l.s.src = l.memory
		for i := range l.s.steps {
			l.s.steps[i].at = place{unit: l.s.steps[i].mem}
		}
	}
	if len(l.s.steps) == 0 {
		return nil, errors.New("nothing to replay: the capture holds no records")
	}
	return l.s, nil
}

// damaged says where a capture can't be read: what is left of it would be another conversation.
func damaged(d record.Damage, lines *lineCounter) error {
	if lines != nil {
		cause := d.Cause
		if _, rest, ok := strings.Cut(cause, ": "); ok && strings.HasPrefix(cause, "line after entry") {
			cause = rest
		}
		return fmt.Errorf("line %d is damaged, and what is left is another conversation: %s", lines.of(d.Off), cause)
	}
	return fmt.Errorf("it is damaged, and what is left is another conversation: %w", d)
}

// place names an entry for people.
func (s *Script) place(n int64) string { return placeOf(s.lines, n) }

// placeOf names an entry by its number, which may be that of its line.
func placeOf(line bool, n int64) string {
	if line {
		return fmt.Sprintf("line %d", n)
	}
	return fmt.Sprintf("entry %d", n)
}

// lineCounter numbers the lines of a file, which is how people find an entry of a fixture: its entries have no numbers.
type lineCounter struct {
	src io.ReaderAt
	at  int64 // offset
	n   int64 // of the line that begins there
}

// numbersLines is nil for captures whose entries have numbers of their own.
func numbersLines(h *record.Header, src io.ReaderAt) *lineCounter {
	if !h.Start.IsZero() || compressed(src) {
		return nil
	}
	return &lineCounter{src: src, n: 1}
}

// of is the number of the line that begins at an offset, from 1.
func (l *lineCounter) of(off int64) int64 {
	if off < l.at {
		l.at, l.n = 0, 1
	}
	var buf [16 << 10]byte
	for l.at < off {
		n, err := l.src.ReadAt(buf[:min(int64(len(buf)), off-l.at)], l.at)
		l.n += int64(bytes.Count(buf[:n], []byte{'\n'}))
		l.at += int64(n)
		if n == 0 || err != nil && err != io.EOF {
			break
		}
	}
	return l.n
}
