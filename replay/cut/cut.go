// Package cut makes fixtures of captures: small, readable, and the same for two recordings of the same conversation, so
// that they can be reviewed. A fixture replays as its capture does.
package cut

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"pitap/record"
	"pitap/record/rpc"
	"pitap/record/scan"
	"pitap/replay"
)

// Options say what to keep. The zero value keeps everything that a replay needs.
type Options struct {
	Run         int   // keep the run of this number, from 1; 0: all
	First, Last int64 // keep entries of these numbers; 0 and 0: all
	Exact       bool  // change nothing in the records
}

// Whatever is kept, the client's commands before the first run are, and the latest answer of each question.

// Cut reads a capture twice, from what open opens, and writes the fixture.
func Cut(w io.Writer, open func() (*record.Reader, error), opt Options) error {
	if opt.First > opt.Last && opt.Last != 0 {
		return fmt.Errorf("entries %d:%d: the first is behind the last", opt.First, opt.Last)
	}
	r, err := open()
	if err != nil {
		return err
	}
	p := plan{opt: opt}
	if err := p.read(r); err != nil {
		return err
	}
	if r, err = open(); err != nil {
		return err
	}
	h, err := r.Header()
	if err != nil {
		return err
	}
	c := cutter{to: w, opt: opt, keep: p.kept, long: p.long}
	c.rewrite = rewriter{ids: map[string]string{}, kinds: map[string]int{}}
	if err := c.header(h); err != nil {
		return err
	}
	for r.Next() {
		if err := c.entry(r.Entry()); err != nil {
			return err
		}
	}
	if err := r.Err(); err != nil {
		return err
	}
	return c.flush()
}

const (
	maxRecord = 16 << 20 // of a record that came in parts and is written as a whole, in bytes
	maxDelta  = 1 << 20  // of joined deltas
)

// parts are the bytes of a record that has come in part, or the fact that they are written.
type parts struct {
	b       []byte
	written bool
}

// cutter writes the fixture.
type cutter struct {
	to      io.Writer
	opt     Options
	keep    map[int64]bool // nil: all
	long    map[int64]bool // parts of records that are not there as a whole
	rewrite rewriter

	parts   [4]parts // of a record in parts, by stream
	pending []byte   // a record with a delta
	stream  string   // what it is a piece of
	delta   []byte   // the joined token of it and those before it, without quotes
	at, end int      // of the token in pending
	eol     string
}

func (c *cutter) header(h *record.Header) error {
	out := *h
	if !c.opt.Exact {
		out = record.Header{Pitap: h.Pitap, Agent: record.AgentInfo{Version: h.Agent.Version}, Label: h.Label, OS: ""}
		c.folders(h, &out)
		for _, a := range h.Argv {
			out.Argv = append(out.Argv, c.rewrite.replaced("", a, false))
		}
		out.Cut = "strings shortened; ids, times, figures of use and folders replaced; deltas joined"
	} else {
		out.Cut = "n and t left out"
	}
	if c.keep != nil {
		out.Cut += "; a part of the session"
	}
	_, err := c.to.Write(out.Encode())
	return err
}

// folders gives the fixture's folders, and those they stand for.
func (c *cutter) folders(h, out *record.Header) {
	for _, f := range []struct {
		was string
		now string
		to  *string
	}{{h.Home, "/home/user", &out.Home}, {h.Cwd, "/home/user/project", &out.Cwd}, {h.Tmp, "/tmp", &out.Tmp}} {
		was := strings.TrimRight(f.was, `/\`)
		if was == "" {
			continue
		}
		*f.to = f.now
		c.rewrite.pairs = append(c.rewrite.pairs, replay.Pair{Old: was, New: f.now})
		if strings.Count(was, "/")+strings.Count(was, `\`) > 1 {
			c.rewrite.pairs = append(c.rewrite.pairs, replay.Pair{Old: quotedPath(was), New: quotedPath(f.now)})
		}
	}
	if dir := replay.SessionDir(h.Argv); dir != "" {
		c.rewrite.pairs = append(c.rewrite.pairs, replay.Pair{Old: dir, New: "/home/user/sessions"})
	}
	if i := strings.LastIndex(filepath.ToSlash(h.Agent.Path), "/node_modules/"); i > 0 {
		c.rewrite.pairs = append(c.rewrite.pairs, replay.Pair{Old: h.Agent.Path[:i], New: "/usr/lib"})
	}
	c.rewrite.called(h.Host, "host")
	if home := filepath.ToSlash(strings.TrimRight(h.Home, `/\`)); home != "" {
		c.rewrite.called(home[strings.LastIndexByte(home, '/')+1:], "user")
	}
}

func (c *cutter) entry(e *record.Entry) error {
	if c.keep != nil && !c.keep[e.N] {
		return nil
	}
	if e.Note != nil {
		return c.note(e)
	}
	body, eol := e.Body, e.EOL
	if e.Part {
		if !c.long[e.N] {
			return nil
		}
		if e.From != record.Stderr {
			p := &c.parts[e.From&3]
			if p.written || len(p.b)+len(e.Body) > maxRecord {
				return c.part(p, e)
			}
			p.b = append(p.b, e.Body...)
			if !e.Last {
				return nil
			}
			body, p.b = p.b, nil
		}
	}
	if e.From == record.Agent && !c.opt.Exact {
		if done, err := c.join(body, eol); done || err != nil {
			return err
		}
	}
	if err := c.flush(); err != nil {
		return err
	}
	return c.write(e.From, body, eol)
}

// part writes a part of a record that is too long to be written as a whole, and before it those that came first.
func (c *cutter) part(p *parts, e *record.Entry) error {
	if err := c.flush(); err != nil {
		return err
	}
	first := p.b
	*p = parts{written: !e.Last}
	for len(first) > 0 {
		n := min(len(first), 1<<20)
		if err := c.line(&record.Entry{From: e.From, Part: true, Body: first[:n], Form: partForm(first[:n])}); err != nil {
			return err
		}
		first = first[n:]
	}
	return c.line(&record.Entry{From: e.From, Part: true, Last: e.Last, EOL: e.EOL, Body: e.Body, Form: partForm(e.Body)})
}

func partForm(b []byte) record.Form {
	if utf8.Valid(b) {
		return record.Text
	}
	return record.Base64
}

// join holds records back whose deltas may be joined.
func (c *cutter) join(body []byte, eol string) (done bool, err error) {
	stream, at, end := deltaOf(body)
	if stream == "" || eol != "\n" {
		return false, nil
	}
	if stream != c.stream {
		if err := c.flush(); err != nil {
			return false, err
		}
		c.stream, c.delta = stream, nil
	}
	if at >= 0 && len(c.delta)+end-at > maxDelta && len(c.delta) > 0 {
		if err := c.flush(); err != nil {
			return false, err
		}
		c.stream, c.delta = stream, c.delta[:0]
	}
	if at >= 0 {
		c.delta = append(c.delta, body[at+1:end-1]...)
	}
	c.pending, c.at, c.end, c.eol = append(c.pending[:0], body...), at, end, eol
	return true, nil
}

func (c *cutter) flush() error {
	if c.stream == "" {
		return nil
	}
	body := c.pending
	if c.at >= 0 {
		body = slices.Concat(body[:c.at+1], c.delta, body[c.end-1:])
	}
	c.stream = ""
	return c.write(record.Agent, body, c.eol)
}

func (c *cutter) note(e *record.Entry) error {
	switch k := e.Note.Kind; {
	case k == "exit", k == "signal", k == "file" && c.opt.Exact, k == "closed" && e.From == record.Agent, k == "eof" && e.From == record.Client:
	default:
		return nil
	}
	if err := c.flush(); err != nil {
		return err
	}
	return c.line(e)
}

func (c *cutter) write(from record.Stream, body []byte, eol string) error {
	if from != record.Stderr && !c.opt.Exact {
		body = c.rewrite.record(body, from == record.Client)
	} else if !c.opt.Exact {
		body = c.rewrite.line(body)
	}
	e := &record.Entry{From: from, Body: body, EOL: eol, Form: record.Text}
	switch r := scan.Scan(body); {
	case from != record.Stderr && r.Valid && r.Depth <= 200 && r.Marks&scan.RawCR == 0 && !bytes.ContainsAny(body[:1], " \t") && !loneSurrogate(r, body):
		e.Form = record.Msg
	case r.Marks&scan.NotUTF8 != 0:
		e.Form = record.Base64
	}
	return c.line(e)
}

// loneSurrogate tells whether half a character is escaped in the JSON: readers such as jq would not take it.
func loneSurrogate(r scan.Result, body []byte) bool {
	if r.Marks&scan.Escaped == 0 {
		return false
	}
	high := false // the escape before was the first half of a pair
	for i := 0; i < len(body); i++ {
		if body[i] != '\\' || i+1 == len(body) {
			if high {
				return true
			}
			continue
		}
		unit := uint64(0)
		if body[i+1] == 'u' && i+6 <= len(body) {
			unit, _ = strconv.ParseUint(string(body[i+2:i+6]), 16, 16)
			i += 4
		}
		i++
		second := unit >= 0xDC00 && unit < 0xE000
		if second != high {
			return true
		}
		high = unit >= 0xD800 && unit < 0xDC00
	}
	return high
}

// line writes an entry without n, t and off.
func (c *cutter) line(e *record.Entry) error {
	e.N, e.T = 0, 0
	off := int64(0)
	e.Off, e.Cuts, e.Flags = off, nil, 0
	b := record.AppendEntry(nil, e)
	b = bytes.Replace(b, []byte(`"n":0,"t":0,`), nil, 1)
	b = bytes.Replace(b, []byte(`,"off":0`), nil, 1)
	_, err := c.to.Write(b)
	return err
}

// plan finds out what to keep.
type plan struct {
	opt  Options
	kept map[int64]bool
	long map[int64]bool
}

// read reads a capture for what can only be known at its end.
func (p *plan) read(r *record.Reader) error {
	p.long = map[int64]bool{}
	var all []mark
	voc := rpc.Load()
	run := 0
	for r.Next() {
		e := r.Entry()
		m := mark{n: e.N}
		switch {
		case e.Note != nil:
			m.end = e.Note.Kind == "exit" || e.Note.Kind == "eof"
		case e.Part:
			p.long[e.N] = true
		case e.From == record.Client:
			head := rpc.Look("client", e.Body)
			m.client, m.kind, m.id = true, head.Type, string(head.ID)
			if known := voc.Command(head.Type); known != nil {
				m.question, m.starts = known.ReadOnly(), known.StartsRun
			}
		case e.From == record.Agent:
			head := rpc.Look("agent", e.Body)
			switch head.Type {
			case "response":
				m.answers, m.id = head.Command, string(head.ID)
			case "agent_start":
				run++
				m.begins = true
			case "agent_settled", "agent_end":
				m.settles = true
			}
		}
		for _, n := range e.Supersedes {
			delete(p.long, n)
		}
		m.run = run
		all = append(all, m)
	}
	if err := r.Err(); err != nil {
		return err
	}
	if p.opt.Run == 0 && p.opt.Last == 0 && p.opt.First == 0 {
		return nil
	}
	return p.choose(all, run)
}

// mark is what matters of an entry.
type mark struct {
	n                int64
	run              int // how many have begun
	client           bool
	kind             string // of a client's record
	id               string
	question, starts bool
	answers          string
	begins, settles  bool
	end              bool
}

func (p *plan) choose(all []mark, runs int) error {
	if p.opt.Run > runs {
		return fmt.Errorf("there is no run %d: the session has %d", p.opt.Run, runs)
	}
	if len(all) == 0 {
		return errors.New("no entries")
	}
	p.kept = map[int64]bool{}
	first, last := p.opt.First, p.opt.Last
	if last == 0 {
		last = all[len(all)-1].n
	}
	if p.opt.Run > 0 {
		first, last = runBounds(all, p.opt.Run)
	}
	setup := true
	for i, m := range all {
		setup = setup && !m.starts && m.run == 0
		if setup || m.end || m.n >= first && m.n <= last {
			p.kept[m.n] = true
		}
		if m.answers != "" && !p.kept[m.n] { // an answer to what is kept is kept
			if c := asked(all, i); c >= 0 && p.kept[all[c].n] {
				p.kept[m.n] = true
			}
		}
	}
	p.latest(all)
	return nil
}

// runBounds are the entries of a run: from the command that began it to where it settled.
func runBounds(all []mark, run int) (first, last int64) {
	for i, m := range all {
		if m.begins && m.run == run {
			first = m.n
			for j := i - 1; j >= 0 && !all[j].begins; j-- {
				if all[j].starts {
					first = all[j].n
					break
				}
			}
		}
		if m.run == run && (m.settles || last == 0) {
			last = m.n
			for _, q := range all[i+1:] { // and what was asked then
				if q.client && !q.question || q.end || q.run != run {
					break
				}
				last = q.n
			}
		}
	}
	return first, last
}

// asked finds the command that the answer all[i] belongs to.
func asked(all []mark, i int) int {
	for j := i - 1; j >= 0; j-- {
		if all[j].client && all[j].kind == all[i].answers && all[j].id == all[i].id {
			return j
		}
	}
	return -1
}

// latest keeps the latest answer of each question that would have none.
func (p *plan) latest(all []mark) {
	have := map[string]bool{}
	for _, m := range all {
		if m.answers != "" && p.kept[m.n] {
			have[m.answers] = true
		}
	}
	for i := len(all) - 1; i >= 0; i-- {
		m := all[i]
		if m.answers == "" {
			continue
		}
		c := asked(all, i)
		if c < 0 || !all[c].question || have[m.answers] {
			continue
		}
		have[m.answers] = true
		p.kept[m.n], p.kept[all[c].n] = true, true
	}
}
