package replay

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"pitap/record/rpc"
)

// A FaultKind is something that agents and pipes do to their clients, rarely, and that clients get wrong.
type FaultKind struct {
	Name    string
	Arg     string // what its argument is, and the default; "" for none
	Catches string // which clients
	Fatal   bool   // a client's test may fail, but it must end
}

// Faults returns all kinds of faults.
func Faults() []FaultKind {
	return []FaultKind{
		{"split", "", "readers that take a read for a record, or decode each read by itself: each byte comes in a write of its own", false},
		{"split-char", "", "readers that decode each read by itself: writes end inside of characters", false},
		{"recorded", "", "the same, where reads ended when the capture was made; a fixture has forgotten where", false},
		{"join", "", "readers that take a read for one record: all that is ready comes in one write", false},
		{"pause-lf", "TIME, 20ms", "readers that take what has come for a record: a pause before each LF", false},
		{"crlf", "", "readers that keep the CR: lines end in CR LF", false},
		{"u2028", "", "readers that split on U+2028 and U+2029, as Node 24's readline and Python's splitlines do", false},
		{"big", "BYTES, 70000", "readers with a longest line, as Go's Scanner and Python's asyncio have: records over 64 KiB", false},
		{"cut", "BYTES, 65536", "readers that parse what has no LF: the last record is cut off at the exit", false},
		{"junk", "", "readers that end at what is no JSON: a terminal's escapes before a record that nobody needs", false},
		{"stray", "", "readers that end at what is no JSON: lines of plain text", false},
		{"utf8", "", "readers that decode strictly: bytes that are not UTF-8, in a member that nobody needs, kill Python's json.loads(bytes)", false},
		{"reorder", "TIME, 50ms", "clients that take the next response for theirs: responses overtake each other", false},
		{"withhold", "N, 1", "clients that wait for ever: the answer to question N never comes, asked again it does", true},
		{"fast", "", "clients that listen too late: events come in one write with the response before them", false},
		{"stderr", "BYTES, 1000000", "clients that don't read stderr: the agent waits until they do", false},
		{"exit", "N, 3", "clients that wait for ever for an agent that has gone: exit 1 after record N", true},
		{"kill", "N, 3", "the same, by SIGKILL", true},
		{"no-term", "", "clients that wait for ever for an agent to end: SIGTERM is ignored", true},
		{"stall", "TIME, 2s", "clients with short patience: nothing comes for a time", false},
	}
}

// Fault is one fault, for one replay.
type Fault struct {
	kind    FaultKind
	n       int           // argument that is a number
	d       time.Duration // argument that is a time
	rnd     *rand.Rand
	records int
	joined  []byte
	done    bool
}

// ParseFault reads NAME or NAME=ARG. With the same seed it does the same things.
func ParseFault(text string, seed uint64) (*Fault, error) {
	name, arg, given := strings.Cut(text, "=")
	for _, k := range Faults() {
		if k.Name != name {
			continue
		}
		f := &Fault{kind: k, rnd: rand.New(rand.NewPCG(seed, 0))}
		what, def, ok := strings.Cut(k.Arg, ", ")
		switch {
		case !ok && given:
			return nil, fmt.Errorf("fault %s takes no argument", name)
		case !given:
			arg = def
		}
		var err error
		switch what {
		case "TIME":
			f.d, err = time.ParseDuration(arg)
		case "N", "BYTES":
			f.n, err = strconv.Atoi(arg)
		}
		if err != nil || f.n < 0 || f.n > 1<<30 || f.d < 0 {
			return nil, fmt.Errorf("fault %s: %q is no %s", name, arg, what)
		}
		return f, nil
	}
	return nil, fmt.Errorf("no fault %q; --fault list names them", name)
}

// write is a piece of output: the bytes of one write.
type write struct {
	b     []byte
	delay time.Duration // before it
	at    time.Time     // when delay is over; zero: it has not begun
	until func() bool   // wait for this, too
	held  bool          // a response that others may overtake
	then  func()        // called when it is written
}

// joins tells whether records are kept for a common write.
func (f *Fault) joins() bool { return f != nil && (f.kind.Name == "join" || f.kind.Name == "fast") }

// take makes writes of a record that is to be written, or keeps it.
func (p *player) take(rec []byte) {
	f := p.fault
	f.records++
	rec = bytes.Clone(rec)
	put := func(w ...write) { p.writes = append(p.writes, w...) }
	switch f.kind.Name {
	case "split":
		all := make([]int, 0, len(rec))
		for i := range rec {
			all = append(all, i)
		}
		p.pieces(rec, all, func(n int) bool { return n == len(rec)/2 })
	case "split-char":
		var inside []int
		for i, c := range rec {
			if !utf8.RuneStart(c) {
				inside = append(inside, i)
			}
		}
		p.pieces(rec, inside, func(n int) bool { return n > 0 && n <= maxApart })
	case "recorded":
		p.pieces(rec, p.cuts, func(n int) bool { return n > 0 })
	case "join", "fast":
		f.joined = append(f.joined, rec...)
	case "pause-lf":
		if n := len(rec) - 1; n > 0 && rec[n] == '\n' {
			lf := write{b: rec[n:]}
			p.apart(&lf)
			lf.delay = f.d
			put(write{b: rec[:n]}, lf)
			return
		}
		put(write{b: rec})
	case "crlf":
		if body, ok := bytes.CutSuffix(rec, []byte("\n")); ok {
			rec = append(bytes.TrimSuffix(body, []byte("\r")), "\r\n"...)
		}
		put(write{b: rec})
	case "u2028":
		put(write{b: withMember(rec, "\u2028 and \u2029")})
	case "utf8":
		put(write{b: withMember(rec, "\xff\xfe\xc3")})
	case "big":
		if f.records == 2 || f.rnd.IntN(10) == 0 {
			rec = withMember(rec, strings.Repeat("x", f.n))
		}
		put(write{b: rec})
	case "junk":
		put(write{b: rec})
		if f.records == 1 || f.rnd.IntN(5) == 0 {
			put(write{b: []byte("\x1b]0;pi\x07{\"type\":\"pitap_noise\"}\n")})
		}
	case "stray":
		put(write{b: rec})
		if f.records == 1 || f.rnd.IntN(5) == 0 {
			put(write{b: []byte("npm warn something\n")}, write{b: []byte("\n")})
		}
	case "reorder":
		p.reorder(rec)
	case "withhold":
		p.withhold(rec)
	case "stderr":
		w := write{b: rec}
		if f.records == 1 {
			p.err.write(bytes.Repeat([]byte("warning: something that nobody reads\n"), f.n/37+1))
			w.until = p.err.empty
		}
		put(w)
	case "exit", "kill":
		w := write{b: rec}
		if f.records == f.n {
			w.then = p.die
		}
		put(w)
	case "stall":
		w := write{b: rec}
		if f.records == 3 {
			w.delay = f.d
		}
		put(w)
	default:
		put(write{b: rec})
	}
}

const (
	maxApart  = 8                      // cuts in a record at which the reader is waited for
	apartTime = 500 * time.Millisecond // that it is waited for: it may be one that has stopped
)

// die is the end by the faults exit and kill.
func (p *player) die() {
	p.abandon = true
	if p.fault.kind.Name == "kill" {
		p.finish(Unfinished, "fault", 0, "SIGKILL")
	} else {
		p.finish(Unfinished, "fault", 1, "")
	}
}

// pieces makes a write of each piece of a record that is cut at the places, which rise; those that are out of it cut
// nothing. Of a piece, its number from 0 says whether it is sent apart.
func (p *player) pieces(rec []byte, cuts []int, apart func(n int) bool) {
	from, n := 0, 0
	piece := func(to int) {
		w := write{b: rec[from:to]}
		if apart(n) {
			p.apart(&w)
		}
		p.writes = append(p.writes, w)
		from = to
		n++
	}
	for _, at := range cuts {
		if at > from && at < len(rec) {
			piece(at)
		}
	}
	piece(len(rec))
}

// apart has a piece wait until the reader has taken what came before: else a busy reader might get both in one read.
func (p *player) apart(w *write) {
	if p.a.Unread == nil {
		w.delay = time.Millisecond
		return
	}
	var since time.Time
	w.until = func() bool {
		if since.IsZero() {
			since = p.now
		}
		return p.a.Unread() <= 0 || p.now.Sub(since) > apartTime
	}
}

// reorder lets a response wait until another one has overtaken it, or for a moment.
func (p *player) reorder(rec []byte) {
	held := slices.IndexFunc(p.writes, func(w write) bool { return w.held })
	switch {
	case rpc.Look("agent", rec).Type != "response":
		p.writes = append(p.writes, write{b: rec})
	case held >= 0: // with the events before it, which it may have caused
		late := p.writes[held].b
		p.writes = append(slices.Delete(p.writes, held, held+1), write{b: rec}, write{b: late})
	default:
		p.writes = append(p.writes, write{b: rec, delay: p.fault.d, held: true})
	}
}

// withhold leaves out the answer to a question.
func (p *player) withhold(rec []byte) {
	head := rpc.Look("agent", rec)
	known := rpc.Load().Command(head.Command)
	if head.Type == "response" && known != nil && known.ReadOnly() && !p.fault.done {
		if p.fault.n--; p.fault.n <= 0 {
			p.fault.done = true
			return
		}
	}
	p.writes = append(p.writes, write{b: rec})
}

// withMember adds a member that pi does not have to a record.
func withMember(rec []byte, text string) []byte {
	end := bytes.LastIndexByte(rec, '}')
	if end < 1 || rec[0] != '{' || rec[end-1] == '{' {
		return rec
	}
	out := append(bytes.Clone(rec[:end]), `,"pitap":"`...)
	return append(append(append(out, text...), '"'), rec[end:]...)
}

// pump writes the next piece of what a fault made of the records. It returns false when there is nothing to write now.
func (p *player) pump(patient bool) bool {
	if len(p.writes) == 0 {
		return false
	}
	w := &p.writes[0]
	if w.delay > 0 && w.at.IsZero() {
		w.at = p.now.Add(w.delay)
	}
	if patient && (w.at.After(p.now) || w.until != nil && !w.until()) {
		p.wake = w.at
		if w.until != nil {
			p.wake = p.now.Add(time.Millisecond)
		}
		return false
	}
	b, then := w.b, w.then
	p.writes = p.writes[1:]
	p.then = then
	if p.gone {
		p.dropped = true
		p.written()
		return true
	}
	p.out.write(b)
	return true
}

// written does what was to be done when a piece is written.
func (p *player) written() {
	if then := p.then; then != nil {
		p.then = nil
		then()
	}
}

// release gives up joined records, since nothing more is ready.
func (f *Fault) release() []byte {
	b := f.joined
	f.joined = nil
	return b
}
