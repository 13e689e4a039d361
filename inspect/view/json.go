package view

import (
	"bytes"
	"fmt"
	"strings"

	"pitap/inspect/text"
	"pitap/record/scan"
)

const (
	maxChildren = 500 // members of an object or array that are shown before the rest is asked for
	maxNodes    = 20_000
	textLines   = 400 // of a string that is unfolded
)

// Tree is JSON as a tree whose branches fold. Only what is unfolded was looked at.
type Tree struct {
	body  []byte
	nodes []node
	lines []Line
	width int
	more  int64 // bytes of the record that are not in body
}

// node is a value of the tree.
type node struct {
	key        string // with its quotes or brackets; "" at the top
	path       string
	start, end int
	depth      int
	open       bool
	limit      int // children that are shown
	kids       []int
	looked     bool
	total      int // children that there are, as far as looked
}

// NewTree makes a tree of a record; more is how many bytes of it body lacks. ok is false for what is no object or array.
func NewTree(body []byte, more int64) (t *Tree, ok bool) {
	b := bytes.TrimLeft(body, " \t\r\n")
	at := len(body) - len(b)
	if len(b) == 0 || b[0] != '{' && b[0] != '[' {
		return nil, false
	}
	t = &Tree{body: body, more: more}
	t.nodes = []node{{start: at, end: len(body), limit: maxChildren}}
	t.open(0)
	t.unfoldSmall(40)
	return t, true
}

// unfoldSmall opens what is near the top, as long as the tree stays shorter than about so many lines.
func (t *Tree) unfoldSmall(lines int) {
	count := 1 + len(t.nodes[0].kids)
	for todo := []int{0}; len(todo) > 0; {
		n := todo[0]
		todo = todo[1:]
		for _, k := range t.nodes[n].kids {
			if c := &t.nodes[k]; !t.branch(k) || c.end-c.start > 1<<20 || c.end-c.start < 8 {
				continue
			}
			before := len(t.nodes)
			if t.open(k); count+len(t.nodes)-before > lines {
				t.nodes[k].open = false
				continue
			}
			count += len(t.nodes) - before
			todo = append(todo, k)
		}
	}
}

func (t *Tree) branch(n int) bool {
	c := t.nodes[n]
	return c.start < c.end && (t.body[c.start] == '{' || t.body[c.start] == '[')
}

// open unfolds a node.
func (t *Tree) open(n int) {
	t.nodes[n].open = true
	t.lines = nil
	if t.nodes[n].looked || !t.branch(n) || len(t.nodes) > maxNodes {
		return
	}
	t.nodes[n].looked = true
	t.look(n)
}

// look finds a node's children.
func (t *Tree) look(n int) {
	p := t.nodes[n]
	var kids []int
	total := 0
	add := func(key, path string, start, end int) bool {
		if total++; total > p.limit {
			return total < p.limit+1000
		}
		kids = append(kids, len(t.nodes))
		t.nodes = append(t.nodes, node{key: key, path: path, start: start, end: end, depth: p.depth + 1, limit: maxChildren})
		return true
	}
	if t.body[p.start] == '{' {
		value := t.body[p.start:p.end]
		behind := 1
		for m := scan.MembersOf(value); m.Next(); {
			key := str(append(append([]byte{'"'}, m.Key...), '"'), 200)
			if !add(text.VisibleString(key), p.path+pathOf(key), p.start+m.Start, p.start+m.End) {
				break
			}
			behind = m.End
		}
		if key, at := cutMember(value, behind); t.cut(&p) && at >= 0 {
			add(text.VisibleString(key), p.path+pathOf(key), p.start+at, p.end)
		}
	} else {
		for at := p.start + 1; ; {
			for at < p.end && (t.body[at] == ',' || t.body[at] <= ' ') {
				at++
			}
			if at >= p.end || t.body[at] == ']' {
				break
			}
			end := scan.ValueEnd(t.body[:p.end], at)
			if end < 0 && t.cut(&p) {
				end = p.end
			}
			if end < 0 || !add(fmt.Sprint(total), fmt.Sprintf("%s[%d]", p.path, total), at, end) {
				break
			}
			at = end
		}
	}
	t.nodes[n].kids, t.nodes[n].total = kids, total
}

// cut tells whether a node ends where the body does, and the record goes on behind that.
func (t *Tree) cut(c *node) bool { return t.more > 0 && c.end >= len(t.body) }

// cutMember finds the member of an object behind offset at whose value has no end: its key, and where the value begins;
// -1 when there is none.
func cutMember(object []byte, at int) (key string, start int) {
	blank := func() {
		for at < len(object) && (object[at] == ',' || object[at] == ':' || object[at] <= ' ') {
			at++
		}
	}
	blank()
	end := scan.ValueEnd(object, at)
	if end < 0 || object[at] != '"' {
		return "", -1
	}
	key = str(object[at:end], 200)
	at = end
	if blank(); at >= len(object) || object[at] == '}' || scan.ValueEnd(object, at) >= 0 {
		return "", -1
	}
	return key, at
}

// pathOf writes a member's name as jq takes it.
func pathOf(key string) string {
	plain := key != "" && (key[0] < '0' || key[0] > '9')
	for _, c := range key {
		plain = plain && (c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9')
	}
	if plain {
		return "." + key
	}
	return "[" + string(scan.AppendQuote(nil, []byte(key))) + "]"
}

// Turn folds or unfolds the node of a line; of a list with more children than are shown it shows more.
func (t *Tree) Turn(nodeOf int) {
	n := nodeOf - 1
	if n < 0 || n >= len(t.nodes) {
		return
	}
	if t.nodes[n].open {
		t.nodes[n].open = false
		t.lines = nil
		return
	}
	t.open(n)
}

// Set folds or unfolds the node of a line; changed tells whether that was not so already.
func (t *Tree) Set(nodeOf int, open bool) (changed bool) {
	n := nodeOf - 1
	if n < 0 || n >= len(t.nodes) || t.nodes[n].open == open || open && !t.branch(n) && !t.long(n) {
		return false
	}
	if open {
		t.open(n)
	} else {
		t.nodes[n].open = false
		t.lines = nil
	}
	return true
}

// More shows more children of the node of a line.
func (t *Tree) More(nodeOf int) {
	if n := nodeOf - 1; n >= 0 && n < len(t.nodes) && len(t.nodes) < maxNodes {
		t.nodes[n].limit *= 4
		t.look(n)
		t.lines = nil
	}
}

func (t *Tree) long(n int) bool {
	c := t.nodes[n]
	return c.start < c.end && t.body[c.start] == '"' && (c.end-c.start > 40 || bytes.Contains(t.body[c.start:c.end], []byte(`\n`)))
}

// Lines lays the tree out for a width.
func (t *Tree) Lines(width int) []Line {
	if t.lines != nil && t.width == width {
		return t.lines
	}
	t.width, t.lines = width, []Line{}
	for stack := []int{0}; len(stack) > 0; {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if n < 0 {
			p := t.nodes[-n-1]
			l := R(Dim, strings.Repeat("  ", p.depth+1)+fmt.Sprintf("… %d of %d shown; + shows more", len(p.kids), p.total))
			l.Node, l.Depth = -(-n-1)-1, p.depth+1
			t.lines = append(t.lines, l)
			continue
		}
		t.line(n, width)
		c := &t.nodes[n]
		if !c.open {
			continue
		}
		if c.total > len(c.kids) {
			stack = append(stack, -n-1)
		}
		for i := len(c.kids) - 1; i >= 0; i-- {
			stack = append(stack, c.kids[i])
		}
	}
	if t.more > 0 {
		t.lines = append(t.lines, R(Warn, fmt.Sprintf("… and %s more bytes, which the raw view shows", text.Count(t.more))))
	}
	return t.lines
}

func (t *Tree) line(n, width int) {
	c := &t.nodes[n]
	l := Line{Node: n + 1, Depth: c.depth, Path: c.path}
	sign := "  "
	branch := t.branch(n)
	if branch || t.long(n) {
		if sign = "▸ "; c.open {
			sign = "▾ "
		}
	}
	l.add(Dim, strings.Repeat("  ", min(c.depth, 20))+sign)
	if n > 0 {
		l.add(Key, c.key).add(Dim, ": ")
	}
	token := t.body[c.start:c.end]
	room := max(20, width-2*min(c.depth, 20)-len(c.key)-4)
	switch {
	case len(token) == 0:
	case branch && c.open && token[0] == '{':
		l.add(Dim, "{")
		if c.total == 0 {
			l.add(Dim, "}")
		}
	case branch && c.open:
		l.add(Dim, fmt.Sprintf("[%d]", c.total))
	case branch:
		l.add(Dim, string(text.Compact(nil, token, room+8)))
	case token[0] == '"' && !c.open && t.cut(c):
		l.add(String, string(text.Compact(nil, token[:min(len(token), 2*room)], 2*room+8))).add(Warn, text.Ellipsis)
	case token[0] == '"' && c.open:
		l.add(Dim, fmt.Sprintf("string, %s", text.Size(int64(len(token)-2))))
		if t.cut(c) {
			l.add(Warn, " of it, and more, which the raw view shows")
		}
	case token[0] == '"':
		l.add(String, string(text.Compact(nil, token, 2*room+8)))
	case token[0] == 't' || token[0] == 'f' || token[0] == 'n':
		l.add(Word, text.Cut(token, 20))
	default:
		l.add(Number, text.Cut(token, room))
	}
	t.lines = append(t.lines, l)
	if c.open && !branch && len(token) > 0 && token[0] == '"' {
		t.lines = append(t.lines, t.stringLines(c, width)...)
	}
}

// maxString is how much of a string is laid out, in bytes.
const maxString = 256 << 10

// stringLines lays out the text of a string.
func (t *Tree) stringLines(c *node, width int) (lines []Line) {
	said := str(t.body[c.start:c.end], maxString)
	indent := strings.Repeat("  ", min(c.depth, 20)) + "  │ "
	for raw := range strings.Lines(said) {
		raw = strings.TrimSuffix(raw, "\n")
		if raw == "" {
			lines = append(lines, R(Dim, indent))
		}
		for _, l := range wrapped(String, "", raw, width-len([]rune(indent))) {
			lines = append(lines, Line{Spans: append([]Span{{indent, Dim}}, l.Spans...)})
		}
		if len(lines) > textLines {
			lines = append(lines, R(Dim, indent+"… and more; y v copies the value, w b writes the record"))
			break
		}
	}
	for i := range lines {
		lines[i].Depth, lines[i].Path = c.depth+1, c.path
	}
	return lines
}

// Value gives the bytes of the node of a line, as they stand in the record.
func (t *Tree) Value(nodeOf int) []byte {
	if n := nodeOf - 1; n >= 0 && n < len(t.nodes) {
		return t.body[t.nodes[n].start:t.nodes[n].end]
	}
	return nil
}
