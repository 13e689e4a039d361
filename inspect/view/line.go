package view

import (
	"strings"

	"github.com/rivo/uniseg"

	"pitap/inspect"
	"pitap/inspect/text"
)

// Role is what a piece of text is, for its colour.
type Role uint8

const (
	Plain  Role = iota
	Dim         // of little interest
	Strong      // a head
	Good
	Bad
	Warn
	Client // from or of the client
	Agent
	Stderr
	Note
	Key // of JSON
	String
	Number
	Word   // true, false, null
	Symbol // stands for a byte that can't be shown
	Mark   // what was searched for
)

// Span is a piece of text in one role.
type Span struct {
	Text string
	Role Role
}

// Line is one line of a view.
type Line struct {
	Spans []Span
	N     int64 // number of the entry that it is about; 0: none
	Depth int   // of a tree; what is deeper below it folds away with it
	Path  string
	Value string // what the line stands for, to be copied
	Head  bool   // begins a part of the view
	Node  int    // of a tree: the node's index, from 1
}

// L makes a line of plain text.
func L(s string) Line { return Line{Spans: []Span{{s, Plain}}} }

// R makes a line of text in one role.
func R(role Role, s string) Line { return Line{Spans: []Span{{s, role}}} }

// head makes the line that begins a part of a view.
func head(s string) Line { return Line{Spans: []Span{{s, Strong}}, Head: true} }

// add appends text to a line.
func (l *Line) add(role Role, s string) *Line {
	l.Spans = append(l.Spans, Span{s, role})
	return l
}

// Text is the line without its roles.
func (l Line) Text() string {
	var b strings.Builder
	for _, s := range l.Spans {
		b.WriteString(s.Text)
	}
	return b.String()
}

// tone is the role of a summary.
func tone(t inspect.Tone) Role {
	switch t {
	case inspect.Good:
		return Good
	case inspect.Bad:
		return Bad
	case inspect.Quiet:
		return Dim
	}
	return Plain
}

// ToneRole is the role of a summary.
func ToneRole(t inspect.Tone) Role { return tone(t) }

// sgr are the codes of text.Palette.
var sgr = map[string]Role{"1": Strong, "2": Dim, "31": Bad, "32": Good, "33": Warn, "34": Key, "35": Note, "36": Client, "7": Mark}

// coloured makes lines of what was written with a text.Palette.
func coloured(s string) (lines []Line) {
	for raw := range strings.Lines(s) {
		raw = strings.TrimRight(raw, "\n")
		var l Line
		role := Plain
		for {
			i := strings.Index(raw, "\x1b[")
			if i < 0 {
				break
			}
			end := strings.IndexByte(raw[i:], 'm')
			if end < 0 {
				break
			}
			if i > 0 {
				l.add(role, text.VisibleString(raw[:i]))
			}
			role = sgr[raw[i+2:i+end]]
			raw = raw[i+end+1:]
		}
		if raw != "" {
			l.add(role, text.VisibleString(raw))
		}
		lines = append(lines, l)
	}
	return lines
}

// wrapped makes lines of at most width cells of a paragraph.
func wrapped(role Role, indent, s string, width int) (lines []Line) {
	s = text.VisibleString(s)
	width = max(10, width-len(indent))
	for l := range strings.Lines(text.Wrap(s, width)) {
		for _, part := range chopped(strings.TrimRight(l, "\n"), width) {
			lines = append(lines, R(role, indent+part))
		}
	}
	return lines
}

// chopped cuts a visible text, which may be a word longer than a line, into pieces of at most width cells.
func chopped(s string, width int) (parts []string) {
	if text.Width(s) <= width {
		return []string{s}
	}
	at, cells, state := 0, 0, -1
	for rest, i := s, 0; rest != ""; {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		w := text.Width(cluster)
		if cells+w > width && i > at {
			parts = append(parts, s[at:i])
			at, cells = i, 0
		}
		cells += w
		i += len(cluster)
	}
	return append(parts, s[at:])
}
