package view

import (
	"fmt"
	"strings"

	"pitap/inspect/session"
	"pitap/inspect/text"
	"pitap/record"
	"pitap/record/rpc"
	"pitap/record/scan"
)

// Talk lays out what was said in the message, or what the tool was given and gave, that begins with entry n, as a reader
// would want it. It is empty for other entries.
func (s *Store) Talk(n int64, width int) (lines []Line) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sess == nil {
		return nil
	}
	for _, r := range s.sess.Runs {
		for _, t := range r.Turns {
			for _, m := range t.Messages {
				if m.Start.N == n {
					return s.messageLines(m, width)
				}
			}
		}
	}
	for _, t := range s.sess.Tools {
		if t.Start.N == n {
			return s.toolLines(t, width)
		}
	}
	return nil
}

const indent = "      "

// messageLines lays out a message: of one that goes on what has come so far.
func (s *Store) messageLines(m *session.Message, width int) (lines []Line) {
	if m.End == nil {
		return append(s.saidSoFar(s.pos(m.Start.N)+1, width), R(Warn, indent+"…"))
	}
	e, err := s.entry(s.pos(m.End.N))
	if err != nil {
		return nil
	}
	body := member(e.Body, "message")
	content := member(body, "content")
	if len(content) > 0 && content[0] == '"' {
		lines = s.said(Plain, str(content, 256<<10), width)
	}
	for _, b := range elements(content, 200) {
		switch string(member(b, "type")) {
		case `"text"`:
			lines = append(lines, s.said(Plain, str(member(b, "text"), 256<<10), width)...)
		case `"thinking"`:
			lines = append(lines, s.said(Dim, "thinking: "+str(member(b, "thinking"), 64<<10), width)...)
		case `"toolCall"`:
			args := string(text.Compact(nil, member(b, "arguments"), 4<<10))
			lines = append(lines, s.said(Key, "calls "+str(member(b, "name"), 100)+" "+args, width)...)
		default:
			lines = append(lines, s.said(Dim, string(text.Compact(nil, b, 200)), width)...)
		}
	}
	if msg := member(body, "errorMessage"); msg != nil {
		lines = append(lines, s.said(Bad, str(msg, 4<<10), width)...)
	}
	return lines
}

// saidSoFar lays out what the deltas from a position on have brought.
func (s *Store) saidSoFar(pos int64, width int) (lines []Line) {
	var said []byte
	kind, room := "", 256<<10
	flush := func() {
		switch {
		case len(said) == 0:
		case kind == "thinking":
			lines = append(lines, s.said(Dim, "thinking: "+string(said), width)...)
		case kind == "toolcall":
			lines = append(lines, s.said(Key, "calls a tool "+string(said), width)...)
		default:
			lines = append(lines, s.said(Plain, string(said), width)...)
		}
		said = said[:0]
	}
	for end := min(s.count, pos+20_000); pos < end && room > 0; pos++ {
		e, err := s.entry(pos)
		if err != nil || e.From != record.Agent || e.Form != record.Msg {
			continue
		}
		h := rpc.Look("agent", e.Body)
		if h.Type != "message_update" {
			continue
		}
		if k, step, _ := cutLast(h.Sub); k != kind || step == "start" {
			flush()
			kind = k
		}
		before := len(said)
		said = appendDelta(said, e.Body)
		room -= len(said) - before
	}
	flush()
	return lines
}

func (s *Store) toolLines(t *session.Tool, width int) (lines []Line) {
	if e, err := s.entry(s.pos(t.Start.N)); err == nil {
		if args := member(e.Body, "args"); args != nil {
			lines = append(lines, s.said(Key, string(text.Compact(nil, args, 4<<10)), width)...)
		}
	}
	if t.End == nil {
		return append(lines, R(Warn, indent+"…"))
	}
	e, err := s.entry(s.pos(t.End.N))
	if err != nil {
		return lines
	}
	role := Plain
	if t.Failed {
		role = Bad
	}
	for _, b := range elements(member(member(e.Body, "result"), "content"), 50) {
		if said := member(b, "text"); said != nil {
			lines = append(lines, s.said(role, str(said, 64<<10), width)...)
		} else {
			lines = append(lines, s.said(Dim, string(text.Compact(nil, b, 200)), width)...)
		}
	}
	return lines
}

// said lays out a text; of a long one the beginning.
func (s *Store) said(role Role, said string, width int) (lines []Line) {
	for raw := range strings.Lines(said) {
		raw = strings.TrimRight(raw, "\r\n")
		if raw == "" {
			lines = append(lines, Line{})
			continue
		}
		lines = append(lines, wrapped(role, indent, raw, width)...)
		if len(lines) > 300 {
			return append(lines, R(Dim, indent+fmt.Sprintf("… %s in all", text.Size(int64(len(said))))))
		}
	}
	return lines
}

// elements gives the elements of an array, at most max.
func elements(array []byte, max int) (list [][]byte) {
	if len(array) == 0 || array[0] != '[' {
		return nil
	}
	for at := 1; len(list) < max; {
		for at < len(array) && (array[at] == ',' || array[at] <= ' ') {
			at++
		}
		end := scan.ValueEnd(array, at)
		if end < 0 {
			break
		}
		list = append(list, array[at:end])
		at = end
	}
	return list
}
