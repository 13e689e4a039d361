package inspect

import (
	"strconv"

	"pitap/inspect/text"
	"pitap/record"
)

// Tone says how a summary is meant, for its colour.
type Tone uint8

const (
	Plain Tone = iota
	Good       // something succeeded
	Bad        // something failed or is wrong
	Quiet      // of little interest
)

// each bounds one value among several on a line, in bytes.
const each = 60

// Summary says in one line what matters of a row, about limit bytes of it: any bytes, to be made visible before they
// are printed. v is what Look said of the row.
func (s *Summarizer) Summary(r *Row, v *Seen, limit int) ([]byte, Tone) {
	l := &line{limit: limit}
	tone := Plain
	switch {
	case r.Note != nil:
		tone = note(l, r)
	case r.From == record.Stderr:
		state(l, r)
		l.raw(r.Body)
		if r.Open || r.Broken {
			tone = Bad
		}
	case r.Open || r.Broken:
		state(l, r)
		l.raw(r.Body)
		tone = Bad
	case r.Parts() && r.Size > int64(len(r.Body)): // its members may be anywhere
		state(l, r)
		l.raw(r.Body)
	case v.Kind == KindBlank:
		l.add("an empty line")
		if r.Size > 0 {
			l.add(": ", strconv.Quote(string(cutRunes(r.Body, each))))
		}
		tone = Bad
	case v.Kind == KindNotJSON:
		notJSON(l, r, v)
		tone = Bad
	case v.head.Type == "":
		l.json(r.Body, limit)
		tone = Bad
	case r.From == record.Client:
		clientRecord(l, r, v)
	default:
		tone = agentRecord(l, r, v)
	}
	return l.done(), tone
}

// state says what is missing of a record.
func state(l *line, r *Row) {
	if r.Missing > 0 && r.Parts() {
		l.add(text.Count(r.Missing), " bytes before this were not recorded; ")
	}
	switch {
	case r.Open:
		l.add("half a record, ", text.Count(r.Size), " bytes so far, no line end: ")
	case r.Broken:
		l.add("the beginning of a record, ", text.Count(r.Size), " bytes, the rest was not recorded: ")
	}
}

// notJSON says where JSON ends, and whether a record begins behind that.
func notJSON(l *line, r *Row, v *Seen) {
	state(l, r)
	at := v.result.ErrAt
	if begins := record.BehindJunk(r.Body); begins > 0 {
		l.add("a record from byte ", strconv.Itoa(begins), " on: ")
	} else if at >= len(r.Body) && at > 0 {
		l.add("JSON that ends too early: ")
	} else if at > 0 && v.result.Object {
		l.add("not JSON from byte ", strconv.Itoa(at), " on: ")
	}
	l.raw(r.Body)
}

// clientRecord says what a command or a UI response asks.
func clientRecord(l *line, r *Row, v *Seen) {
	switch v.head.Type {
	case "prompt", "steer", "follow_up":
		m := pick(r.Body, "message", "images")
		l.text(m[0], l.limit)
		images(l, m[1])
		l.members(r.Body, each, "type", "id", "message", "images")
	case "bash":
		m := pick(r.Body, "command")
		l.text(m[0], l.limit)
		l.members(r.Body, each, "type", "id", "command")
	case "extension_ui_response":
		l.members(r.Body, l.limit, "type", "id")
		if v.Took >= 0 {
			l.add(" answers ", v.asked, " ", text.After(v.Took))
		}
	default:
		l.members(r.Body, each, "type", "id")
	}
}

func images(l *line, array []byte) {
	if _, n := elements(array, 0); n > 0 {
		l.add(" +", text.Plural(n, "image"))
	}
}
