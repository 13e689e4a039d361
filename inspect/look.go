package inspect

import (
	"bytes"
	"strings"

	"pitap/record"
	"pitap/record/rpc"
	"pitap/record/scan"
)

// Kinds of rows that are no records of the protocol; notes have their own.
const (
	KindStderr    = "stderr"
	KindBlank     = "blank"      // an empty line, or white space alone
	KindNotJSON   = "not-json"   //
	KindNotObject = "not-object" // JSON, but no object
	KindNoType    = "no-type"    // an object without a type
	KindUnknown   = "unknown"    // of which too little is there to tell what it is
)

// Seen is what a row is.
type Seen struct {
	// Kind is a record's kind as package rpc has it ("response:get_state", "message_update:text_delta"), of a note its
	// kind ("exit"), else one of the constants. Short is the same in fewer letters ("text_delta", "ui:select").
	Kind, Short string
	ID          string       // of the record, or of the tool call that it is about; a string's text, other JSON as it is written
	Took        int64        // nanoseconds since what it answers or ends; -1 when there is no such thing
	Flags       record.Flags // what is remarkable about the record's framing, as far as it alone shows that

	head   rpc.Head
	asked  string // what a UI response answers: "select"; of an agent_settled lostRun
	result scan.Result
}

// Summarizer says what rows are and what they say. It must be given all rows of a capture in order, and remembers
// what waits for an answer.
type Summarizer struct {
	waiting map[string][]waiting
	count   int
	ended   bool // the run that goes on has ended, and not settled
	seen    Seen
	spans   scan.Spans
}

// waiting is something that is not answered, or has not ended.
type waiting struct {
	t    int64
	what string
}

// lostRun is what an agent_settled is about that comes while a run goes on.
const lostRun = "lost"

// maxWaiting bounds what a Summarizer remembers: a client that is never answered fills no memory.
const maxWaiting = 1 << 16

// Look tells what a row is. The result is valid until the next call.
func (s *Summarizer) Look(r *Row) *Seen {
	s.seen = Seen{Took: -1}
	v := &s.seen
	switch {
	case r.Note != nil:
		v.Kind = r.Note.Kind
	case r.From == record.Stderr:
		v.Kind = KindStderr
	default:
		s.record(r, v)
	}
	if v.Short == "" {
		v.Short = v.Kind
	}
	return v
}

func (s *Summarizer) record(r *Row, v *Seen) {
	v.Flags = r.Flags
	var spans *scan.Spans
	if r.entry != nil {
		v.result, spans = r.entry.Scan(&s.spans)
	} else {
		v.result = scan.Scan(r.Body)
	}
	if !r.Parts() {
		v.Flags |= record.FlagsOf(r.Body, r.EOL, v.result)
	}
	if !v.result.JSON {
		cut := r.Parts() && v.result.ErrAt == len(r.Body)
		if !cut {
			v.Kind = KindNotJSON
			if len(bytes.TrimSpace(r.Body)) == 0 {
				v.Kind = KindBlank
			}
			if r.From == record.Client && !r.Open {
				s.push("c:parse", r.T, "")
			}
			return
		}
	}
	if spans != nil {
		v.head = rpc.LookAt(r.From.String(), r.Body, spans)
	} else {
		v.head = rpc.Look(r.From.String(), r.Body)
	}
	v.Kind = v.head.Kind
	switch {
	case v.Kind == "" && r.Parts():
		v.Kind = KindUnknown
	case v.Kind == "" && !startsObject(r.Body):
		v.Kind = KindNotObject
	case v.Kind == "":
		v.Kind = KindNoType
	}
	v.Short = short(&v.head)
	if v.head.ID != nil {
		v.ID = idText(v.head.ID)
	}
	s.pair(r, v)
}

// short gives a kind in fewer letters, "" when there are none to save.
func short(h *rpc.Head) string {
	switch {
	case h.Type == "message_update" && h.Sub != "":
		return h.Sub
	case h.Type == "extension_ui_request" && h.Sub != "":
		return "ui:" + h.Sub
	case h.Type == "extension_ui_response":
		return "ui_response"
	}
	return ""
}

func startsObject(b []byte) bool {
	b = bytes.TrimLeft(b, " \t\r\n")
	return len(b) > 0 && b[0] == '{'
}

// idText writes the token of an id so that different tokens look different: 1 and "1".
func idText(token []byte) string {
	if isString(token) {
		inner := token[1 : len(token)-1]
		if len(inner) > 0 && len(inner) < 200 && plainWord(inner) && !scan.Scan(inner).JSON {
			return string(inner)
		}
	}
	return string(cutRunes(token, 200))
}

// pair finds what a record answers or ends, and remembers what it asks or begins.
func (s *Summarizer) pair(r *Row, v *Seen) {
	h := &v.head
	switch {
	case r.Open || r.Broken:
	case r.From == record.Client && h.Type == "extension_ui_response":
		v.asked = s.pop("u:"+string(h.ID), r.T, v)
	case r.From == record.Client:
		s.push("c:"+h.Type+" "+string(h.ID), r.T, "")
	case h.Type == "response":
		s.pop("c:"+h.Command+" "+string(h.ID), r.T, v)
		if h.Command == "parse" && h.ID == nil {
			s.pop("c:parse", r.T, v)
		}
	case h.Type == "extension_ui_request":
		if m := rpc.Load().Method(h.Sub); m != nil && m.Dialog {
			s.push("u:"+string(h.ID), r.T, h.Sub)
		}
	case strings.HasPrefix(h.Type, "tool_execution_"):
		id := pick(r.Body, "toolCallId")[0]
		v.ID = idText(id)
		if h.Type == "tool_execution_start" {
			s.push("t:"+string(id), r.T, "")
		} else if h.Type == "tool_execution_end" {
			s.pop("t:"+string(id), r.T, v)
		}
	case h.Type == "agent_start":
		if len(s.waiting["run"]) == 0 { // a retry begins the agent again, the run goes on
			s.push("run", r.T, "")
		}
		s.ended = false
	case h.Type == "agent_end":
		s.ended = true
	case h.Type == "agent_settled" && (s.ended || len(s.waiting["run"]) == 0): // else it is that of a prompt that was lost
		s.pop("run", r.T, v)
		s.ended = false
	case h.Type == "agent_settled":
		v.asked = lostRun
	case strings.HasSuffix(h.Type, "compaction_start"):
		s.push("compaction", r.T, "")
	case strings.HasSuffix(h.Type, "compaction_end"):
		s.pop("compaction", r.T, v)
	}
}

func (s *Summarizer) push(key string, t int64, what string) {
	if s.waiting == nil || s.count >= maxWaiting {
		s.waiting, s.count = map[string][]waiting{}, 0
	}
	s.waiting[key] = append(s.waiting[key], waiting{t, what})
	s.count++
}

// pop takes the oldest thing that waits under the key, and sets how long that took.
func (s *Summarizer) pop(key string, t int64, v *Seen) (what string) {
	list := s.waiting[key]
	if len(list) == 0 {
		return ""
	}
	s.count--
	if len(list) == 1 {
		delete(s.waiting, key)
	} else {
		s.waiting[key] = list[1:]
	}
	v.Took = t - list[0].t
	return list[0].what
}
