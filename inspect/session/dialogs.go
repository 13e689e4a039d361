package session

import (
	"bytes"
	"fmt"
	"strconv"

	"pitap/record/scan"
)

// Dialog is a UI request that waits for an answer.
type Dialog struct {
	Moment
	ID      string // cut
	Method  string
	Title   string // cut
	Timeout int64  // nanoseconds after which pi goes on without an answer; 0: never
	Answer  *Moment
	Answers int

	options [][]byte // tokens, while it is open
	many    bool     // more options than are kept
	reply   []string // members one of which answers it
}

// Open tells whether the dialog waits for an answer at time t.
func (d *Dialog) Open(t int64) bool {
	return d.Answer == nil && (d.Timeout == 0 || t < d.T+d.Timeout)
}

const maxOptions = 200

// asked takes a UI request. Only dialogs are kept: nothing answers the others.
func (s *Session) asked(r *Record) {
	method := s.voc.Method(r.Sub)
	if method == nil || !method.Dialog {
		return
	}
	d := &Dialog{Moment: *s.moment(r.Entry, r.Kind), Method: r.Sub, reply: method.Answer}
	ms := scan.MembersOf(r.Body)
	for ms.Next() {
		value := r.Body[ms.Start:ms.End]
		switch {
		case ms.Is("id"):
			d.ID = stringOf(value)
		case ms.Is("title"):
			d.Title = stringOf(value)
		case ms.Is("timeout"):
			if f, err := strconv.ParseFloat(string(value), 64); err == nil && f > 0 && f < 1e12 {
				d.Timeout = int64(f * 1e6)
			}
		case ms.Is("options"):
			d.keepOptions(value)
		}
	}
	s.Dialogs = append(s.Dialogs, d)
	s.dialogs[d.ID] = d
}

func (d *Dialog) keepOptions(array []byte) {
	at := 1
	for {
		end := scan.ValueEnd(array, at)
		if end < 0 {
			return
		}
		if len(d.options) == maxOptions {
			d.many = true
			return
		}
		token := bytes.Clone(bytes.TrimSpace(array[at:end]))
		d.options = append(d.options, token)
		at = end
		for at < len(array) && array[at] != ',' {
			if array[at] == ']' {
				return
			}
			at++
		}
		at++
	}
}

// answered takes a UI response. pi ignores silently what answers nothing.
func (s *Session) answered(r *Record) {
	id := stringOf(r.ID)
	d := s.dialogs[id]
	if d == nil {
		s.find("dialog/wrong-id", r.Entry, "", fmt.Sprintf("the answer names %q, and no dialog has that id: pi ignores it", id))
		return
	}
	d.Answers++
	if d.Answers > 1 {
		s.find("dialog/twice", r.Entry, "", fmt.Sprintf("dialog %s was answered before, by entry %d: pi ignores this one", d.words(), d.Answer.N))
		return
	}
	d.Answer = s.moment(r.Entry, r.Kind)
	if d.Timeout > 0 && r.T >= d.T+d.Timeout {
		s.find("dialog/late", r.Entry, "", fmt.Sprintf("the answer to dialog %s came %s after it was asked, and pi waits %s: pi ignores it",
			d.words(), ago(r.T-d.T), ago(d.Timeout)))
		return
	}
	s.checkAnswer(d, r)
	d.options = nil
}

func (s *Session) checkAnswer(d *Dialog, r *Record) {
	var value []byte
	found, wrong := false, ""
	ms := scan.MembersOf(r.Body)
	for ms.Next() {
		token := r.Body[ms.Start:ms.End]
		for _, name := range []string{"value", "confirmed", "cancelled"} {
			switch {
			case !ms.Is(name):
			case !contains(d.reply, name):
				wrong = fmt.Sprintf("%s, which no %s takes", name, d.Method)
			case name == "value" && (len(token) == 0 || token[0] != '"'):
				wrong = "a value that is no string"
			case name == "confirmed" && string(token) != "true" && string(token) != "false":
				wrong = "a confirmed that is neither true nor false"
			default:
				found = true
				if name == "value" {
					value = token
				}
			}
		}
	}
	switch {
	case wrong != "":
		s.find("dialog/wrong-member", r.Entry, "", fmt.Sprintf("the answer to dialog %s has %s; it takes %s", d.words(), wrong, orList(d.reply)))
	case !found:
		s.find("dialog/wrong-member", r.Entry, "", fmt.Sprintf("the answer to dialog %s has none of %s", d.words(), orList(d.reply)))
	case value != nil && d.Method == "select" && !d.many && !d.offers(value):
		s.find("dialog/not-an-option", r.Entry, "", fmt.Sprintf("the answer to dialog %s is %q, which is not among its %d options", d.words(), stringOf(value), len(d.options)))
	}
}

// offers tells whether a value is among a dialog's options, which may be strings or objects with a value.
func (d *Dialog) offers(value []byte) bool {
	want, _ := scan.Unquote(nil, value)
	for _, option := range d.options {
		if len(option) > 0 && option[0] != '"' {
			return true // not a plain option: pi decides
		}
		if got, _ := scan.Unquote(nil, option); bytes.Equal(got, want) {
			return true
		}
	}
	return len(d.options) == 0
}

func (d *Dialog) words() string { return fmt.Sprintf("%s %q (entry %d)", d.Method, d.Title, d.N) }

func contains(list []string, name string) bool {
	for _, s := range list {
		if s == name {
			return true
		}
	}
	return false
}

func orList(names []string) string {
	out := ""
	for i, n := range names {
		switch {
		case i == 0:
		case i == len(names)-1:
			out += " or "
		default:
			out += ", "
		}
		out += n
	}
	return out
}
