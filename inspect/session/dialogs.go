package session

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"pitap/record"
	"pitap/record/scan"
)

// Dialog is a UI request that waits for an answer.
type Dialog struct {
	Moment
	ID      string // as pi writes it, JSON
	Method  string
	Title   string // cut
	Timeout int64  // nanoseconds after which pi goes on without an answer; 0: never
	Answer  *Moment
	Answers int

	options []uint64 // hashes of the texts, while it is open
	any     bool     // not all options are kept, or they are no plain texts
	count   int      // of options
	reply   []string // members one of which answers it
}

// Open tells whether the dialog waits for an answer at time t.
func (d *Dialog) Open(t int64) bool {
	return d.Answer == nil && (d.Timeout == 0 || t < d.T+d.Timeout)
}

// asks are the UI requests that are known by their ids.
type asks struct {
	dialogs map[string]*Dialog // answered ones, too
	told    map[string]bool    // requests that want no answer
	rings   [2]ring            // which of both to forget next
	options int                // that are kept of open dialogs
	blind   bool               // some have been forgotten
	astray  *Moment            // the latest answer to no dialog; its kind is what it names
}

const (
	maxTold    = 10_000
	maxOptions = 100_000
)

func (a *asks) init() {
	a.dialogs, a.told = map[string]*Dialog{}, map[string]bool{}
	a.rings[0].limit, a.rings[1].limit = maxWaiting, maxTold
}

// forget says that requests are missing in the capture.
func (a *asks) forget() { a.blind = true }

// ring is the last keys that were put in.
type ring struct {
	keys        []string
	next, limit int
}

// put adds a key and returns the one that has to go, if one has.
func (r *ring) put(key string) (old string, full bool) {
	if len(r.keys) < r.limit {
		r.keys = append(r.keys, key)
		return "", false
	}
	old, r.keys[r.next] = r.keys[r.next], key
	r.next = (r.next + 1) % r.limit
	return old, true
}

// asked takes a UI request.
func (s *Session) asked(r *Record) {
	a := &s.asks
	id := idOf(r.ID)
	if r.ID != nil && (a.dialogs[id] != nil || a.told[id]) {
		s.find("dialog/id-reused", r.Entry, "", "the UI request %s has the id %s, as has one before it", r.Sub, clip(id, 60))
	}
	method := s.voc.Method(r.Sub)
	if method == nil || !method.Dialog {
		if old, full := a.rings[1].put(id); full {
			delete(a.told, old)
			a.blind = true
		}
		a.told[id] = true
		return
	}
	d := &Dialog{Moment: *r.at(), ID: id, Method: r.Sub, Title: stringOf(r.get("title")), reply: method.Answer}
	if f, err := strconv.ParseFloat(string(r.get("timeout")), 64); err == nil && f > 0 && f < 1e12 {
		d.Timeout = int64(f * 1e6)
	}
	if d.Method == "select" {
		s.keepOptions(d, r.get("options"))
	}
	s.Dialogs = append(trimmed(s.Dialogs, maxList), d)
	if old, full := a.rings[0].put(id); full {
		s.forgetDialog(old)
	}
	a.dialogs[id] = d
}

func (s *Session) forgetDialog(id string) {
	if d := s.asks.dialogs[id]; d != nil {
		s.dropOptions(d)
		delete(s.asks.dialogs, id)
	}
	s.asks.blind = true
}

func (s *Session) keepOptions(d *Dialog, array []byte) {
	d.any = array == nil
	for e := scan.WalkOver(array); e.Next(); {
		if s.asks.options++; s.asks.options > maxOptions || e.Value[0] != '"' {
			d.any = true
			s.asks.options--
			return
		}
		d.count++
		s.scratch, _ = scan.Unquote(s.scratch[:0], e.Value)
		d.options = append(d.options, hash(s.scratch))
	}
}

func (s *Session) dropOptions(d *Dialog) {
	s.asks.options -= len(d.options)
	d.options = nil
}

// answered takes a UI response. pi ignores silently what answers nothing.
func (s *Session) answered(r *Record) {
	id := ""
	if r.ID != nil {
		id = idOf(r.ID)
	}
	d := s.asks.dialogs[id]
	switch {
	case d != nil:
	case s.asks.told[id]:
		s.find("dialog/needless", r.Entry, "", "the answer names %s, a UI request that wants none: pi ignores it", clip(id, 60))
		return
	case s.asks.blind || s.missing.agent:
		return
	case id == "":
		s.asks.astray = &Moment{r.N, r.T, "without an id"}
		s.find("dialog/wrong-id", r.Entry, "", "the answer has no id: pi ignores it%s", s.meant())
		return
	default:
		s.asks.astray = &Moment{r.N, r.T, "the id " + clip(id, 60) + ", which no dialog has"}
		s.find("dialog/wrong-id", r.Entry, "", "the answer names %s, and no dialog has that id: pi ignores it%s", clip(id, 60), s.meant())
		return
	}
	d.Answers++
	if d.Answers > 1 {
		s.find("dialog/twice", r.Entry, "", "dialog %s was answered before, by entry %d: pi ignores this one", d.words(), d.Answer.N)
		return
	}
	d.Answer = r.at()
	if d.Timeout > 0 && r.T >= d.T+d.Timeout {
		s.find("dialog/late", r.Entry, "", "the answer to dialog %s came %s after it was asked, and pi waits %s: pi ignores it", d.words(), ago(r.T-d.T), ago(d.Timeout))
	} else {
		s.checkAnswer(d, r)
	}
	s.dropOptions(d)
}

// meant names the dialog that an answer with a wrong id was probably for.
func (s *Session) meant() string {
	if d := s.openDialog(s.T); d != nil {
		return ", and dialog " + d.words() + " stays open"
	}
	return ""
}

// openDialog is the dialog that waits longest at time t, or nil. Only the latest are looked at.
func (s *Session) openDialog(t int64) (found *Dialog) {
	for _, d := range s.Dialogs[max(0, len(s.Dialogs)-100):] {
		if d.Open(t) {
			return d
		}
	}
	return nil
}

func (s *Session) checkAnswer(d *Dialog, r *Record) {
	wrong, found := "", false
	for _, name := range [...]string{"value", "confirmed", "cancelled"} {
		token := r.get(name)
		switch {
		case token == nil:
		case name == "cancelled":
			found = found || string(token) != "false"
		case !slices.Contains(d.reply, name):
			wrong = name + ", which no " + d.Method + " takes"
		case name == "value" && token[0] != '"':
			wrong = "a value that is no string"
		case name == "confirmed" && string(token) != "true" && string(token) != "false":
			wrong = "a confirmed that is neither true nor false: " + clip(string(token), 40)
		default:
			found = true
		}
	}
	switch value := r.get("value"); {
	case wrong != "" && string(r.get("cancelled")) == "true": // then pi looks no further
	case wrong != "":
		s.find("dialog/wrong-member", r.Entry, "", "the answer to dialog %s has %s; it takes %s", d.words(), wrong, orList(d.reply))
	case !found:
		s.find("dialog/wrong-member", r.Entry, "", "the answer to dialog %s has none of %s", d.words(), orList(d.reply))
	case value != nil && d.Method == "select" && !r.Cut && !s.offers(d, value):
		s.find("dialog/not-an-option", r.Entry, "", "the answer to dialog %s is %q, which is not among its %d options", d.words(), clip(stringOf(value), 60), d.count)
	}
}

// offers tells whether a value is among a dialog's options.
func (s *Session) offers(d *Dialog, value []byte) bool {
	s.scratch, _ = scan.Unquote(s.scratch[:0], value)
	return d.any || s.missing.edited || slices.Contains(d.options, hash(s.scratch))
}

func (d *Dialog) words() string {
	return d.Method + " " + strconv.Quote(clip(d.Title, 60)) + " (entry " + strconv.FormatInt(d.N, 10) + ")"
}

func orList(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}

// concludeDialogs finds dialogs that were never answered. What they hold up need not be told once more.
func (s *Session) concludeDialogs(f *findings, t int64, said *told) {
	stop := s.stop(t)
	held := false
	holds := s.holder()
	for _, d := range s.Dialogs {
		if !d.Open(stop) {
			continue
		}
		p := place{n: d.N, from: record.Agent}
		switch who := holds(d); {
		case who == "":
			f.add("dialog/open", p, "", "dialog %s was not answered; nothing seems to wait for it", d.words())
		case stop-d.T >= slowAnswer:
			f.add("dialog/unanswered", p, "", "dialog %s was not answered in %s: %s", d.words(), ago(stop-d.T), who)
			held = true
		case s.over():
			f.add("dialog/open", p, "", "dialog %s was not answered in the %s before the end: %s", d.words(), ago(stop-d.T), who)
		}
	}
	if !held {
		return
	}
	said.run = true
	for _, c := range s.open() {
		if c.Type == "prompt" || c.Type == "abort" {
			said.command(c)
		}
	}
}

// holder returns what tells who waits for a dialog, as far as can be seen: a prompt that was sent before it has no
// response, a tool that began before it has said nothing since, or a run that began before it has stood still since.
func (s *Session) holder() func(d *Dialog) string {
	var oldest *Command // of the prompts without response
	for _, m := range [2]map[string][]*Command{s.pairs.open, s.pairs.bare} {
		for _, list := range m {
			for _, c := range list {
				if c.Type == "prompt" && (oldest == nil || c.N < oldest.N) {
					oldest = c
				}
			}
		}
	}
	return func(d *Dialog) string {
		switch tool := s.lastTool(d.N); {
		case oldest != nil && oldest.N < d.N:
			return oldest.prompt() + tense(" {waits|waited} for it", s.over())
		case s.run == nil || s.run.Start.N > d.N:
		case tool != nil && (s.moved < d.N || tool.moved < d.N):
			return fmt.Sprintf(tense("the tool %s (entry %d) {seems to wait|seems to have waited} for it", s.over()), clip(tool.Name, 60), tool.Start.N)
		case s.moved < d.N:
			return "the run" + s.run.of() + tense(" {seems to wait|seems to have waited} for it", s.over())
		}
		return ""
	}
}

// lastTool is the latest of the tools that run which began before an entry; nil without one.
func (s *Session) lastTool(n int64) (last *Tool) {
	for _, t := range s.tools {
		if t.Start.N < n && (last == nil || t.Start.N > last.Start.N) {
			last = t
		}
	}
	return last
}
