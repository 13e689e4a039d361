package replay

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"pitap/record/scan"
)

// payload is what a client's record asks for, without its id and type: the scalars in it by their paths. Two records
// that JavaScript would take for the same have equal payloads. A line that is no JSON object has itself as its payload.
type payload struct {
	leaves []leaf // sorted by path
	hash   uint64
}

// leaf is a value that holds no others, by its path from the record: `images[0].data`.
type leaf struct {
	path   string
	text   string // of a string what it says, of others a token
	string bool
}

const maxPayloadDepth = 64 // values nested deeper are compared as they are written

var seed = maphash.MakeSeed()

// payloadOf takes a record apart.
func payloadOf(body []byte) payload {
	r := scan.Scan(body)
	var p payload
	if !r.JSON || !r.Object {
		p.leaves = []leaf{{text: string(body)}}
	} else {
		w := walker{b: body}
		w.walk()
		p.leaves = w.leaves
	}
	slices.SortStableFunc(p.leaves, func(a, b leaf) int { return strings.Compare(a.path, b.path) })
	last := 0
	for i := range p.leaves { // of keys that occur twice the last one counts
		if i > 0 && p.leaves[i].path != p.leaves[i-1].path {
			last++
		}
		p.leaves[last] = p.leaves[i]
	}
	p.leaves = p.leaves[:min(len(p.leaves), last+1)]
	var h maphash.Hash
	h.SetSeed(seed)
	for _, l := range p.leaves {
		h.WriteString(l.path)
		h.WriteByte(0)
		h.WriteString(l.text)
		h.WriteByte(0)
	}
	p.hash = h.Sum64()
	return p
}

// walker goes over the values of an object without recursion.
type walker struct {
	b      []byte
	leaves []leaf
	path   []byte
	stack  []level
}

// level is an object or array that is gone through.
type level struct {
	object bool
	index  int // of the next element
	path   int // length of the path to it
}

func (w *walker) walk() {
	at := w.blank(0) + 1
	w.stack = []level{{object: true}}
	for len(w.stack) > 0 && at < len(w.b) {
		at = w.blank(at)
		if at >= len(w.b) {
			return
		}
		top := &w.stack[len(w.stack)-1]
		w.path = w.path[:top.path]
		switch w.b[at] {
		case '}', ']':
			if top.index == 0 && len(w.stack) > 1 {
				w.add(leaf{text: map[bool]string{true: "{}", false: "[]"}[top.object]})
			}
			w.stack = w.stack[:len(w.stack)-1]
			at++
			continue
		case ',':
			at++
			continue
		}
		if top.object {
			end := scan.ValueEnd(w.b, at)
			if end < 0 {
				return
			}
			key, _ := scan.Unquote(nil, w.b[at:end])
			if len(w.path) > 0 {
				w.path = append(w.path, '.')
			}
			w.path = append(w.path, key...)
			at = w.blank(w.blank(end) + 1)
		} else {
			w.path = append(strconv.AppendInt(append(w.path, '['), int64(top.index), 10), ']')
		}
		top.index++
		if at = w.value(at); at < 0 {
			return
		}
	}
}

// value takes the value at b[at] or goes into it.
func (w *walker) value(at int) int {
	if at >= len(w.b) {
		return -1
	}
	if len(w.stack) == 1 && (string(w.path) == "id" || string(w.path) == "type") {
		return scan.ValueEnd(w.b, at)
	}
	c := w.b[at]
	if (c == '{' || c == '[') && len(w.stack) < maxPayloadDepth {
		w.stack = append(w.stack, level{object: c == '{', path: len(w.path)})
		return at + 1
	}
	end := scan.ValueEnd(w.b, at)
	if end < 0 {
		return end
	}
	token := w.b[at:end]
	switch {
	case c == '"':
		text, _ := scan.Unquote(nil, token)
		w.add(leaf{text: string(text), string: true})
	case c == '-' || c >= '0' && c <= '9':
		w.add(leaf{text: string(echo(nil, token))})
	default:
		w.add(leaf{text: string(token)})
	}
	return end
}

func (w *walker) add(l leaf) {
	l.path = string(w.path)
	w.leaves = append(w.leaves, l)
}

func (w *walker) blank(at int) int {
	for at < len(w.b) && bytes.IndexByte([]byte(" \t\r\n"), w.b[at]) >= 0 {
		at++
	}
	return at
}

// pattern is a path to ignore: `images[*].data` or `images.*.data`. It covers all below it.
type pattern []string

// pathForm is the form of a path: members behind dots, places in brackets.
var pathForm = regexp.MustCompile(`^[^.\[\]]+(\.[^.\[\]]+|\[[^.\[\]]+\])*$`)

func parsePattern(text string) (pattern, error) {
	if !pathForm.MatchString(text) {
		return nil, fmt.Errorf("path %q is none such as images[*].data or options.0", text)
	}
	p := split(text)
	if len(p) == 0 {
		return nil, fmt.Errorf("path %q names nothing", text)
	}
	return p, nil
}

func split(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' })
}

func (p pattern) covers(path string) bool {
	parts := split(path)
	if len(parts) < len(p) {
		return false
	}
	for i, want := range p {
		if want != "*" && want != parts[i] {
			return false
		}
	}
	return true
}

// Difference is where two records are not the same.
type Difference struct {
	Path     string `json:"path"`               // in the record; "" for a line that is no object
	Recorded string `json:"recorded,omitempty"` // the value as it was recorded, shortened; "" when absent
	Got      string `json:"got,omitempty"`      // the value that came
}

func (d Difference) String() string {
	path := d.Path
	if path == "" {
		path = "the line"
	}
	return fmt.Sprintf("%s: recorded %s, got %s", path, orAbsent(d.Recorded), orAbsent(d.Got))
}

func orAbsent(s string) string {
	if s == "" {
		return "nothing"
	}
	return s
}

// matcher compares what was recorded with what comes.
type matcher struct {
	paths  *paths
	ignore []pattern
}

func (m *matcher) ignores(path string) bool {
	return slices.ContainsFunc(m.ignore, func(p pattern) bool { return p.covers(path) })
}

// equal tells whether two payloads are the same but for folders and what is ignored.
func (m *matcher) equal(recorded, live payload) bool {
	if recorded.hash == live.hash && same(recorded, live) {
		return true
	}
	_, count := m.diff(recorded, live)
	return count == 0
}

// diff compares a recorded payload with one that came. It returns the first difference and how many there are.
func (m *matcher) diff(recorded, live payload) (first Difference, count int) {
	a, b := recorded.leaves, live.leaves
	note := func(path string, rec, got *leaf) {
		if m.ignores(path) {
			return
		}
		if count++; count == 1 {
			first = Difference{Path: path}
			first.Recorded, first.Got = around(rec, got)
		}
	}
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].path < b[0].path:
			note(a[0].path, &a[0], nil)
			a = a[1:]
		case len(a) == 0 || b[0].path < a[0].path:
			note(b[0].path, nil, &b[0])
			b = b[1:]
		default:
			same := a[0].text == b[0].text && a[0].string == b[0].string
			if !same && a[0].string && b[0].string {
				same = m.paths.equal(a[0].text, b[0].text)
			}
			if !same {
				note(a[0].path, &a[0], &b[0])
			}
			a, b = a[1:], b[1:]
		}
	}
	return first, count
}

// around shows two values, each from a little before where they part.
func around(a, b *leaf) (string, string) {
	at := 0
	if a != nil && b != nil {
		for at < len(a.text) && at < len(b.text) && a.text[at] == b.text[at] {
			at++
		}
	}
	return a.show(at), b.show(at)
}

func (l *leaf) show(at int) string {
	if l == nil {
		return ""
	}
	text, more := l.text, ""
	if at > 40 && len(text) > 100 {
		text, more = strings.ToValidUTF8(text[min(at, len(text))-30:], ""), "…"
	}
	if len(text) > 100 {
		text = strings.ToValidUTF8(text[:100], "") + "…"
	}
	text = more + text
	if l.string {
		return string(scan.AppendQuote(nil, []byte(text)))
	}
	return text
}

// sends tells whether a record of the client has something that a path covers.
func (s *Script) sends(p pattern) bool {
	for _, c := range s.commands {
		if slices.ContainsFunc(c.load.leaves, func(l leaf) bool { return p.covers(l.path) }) {
			return true
		}
	}
	return false
}
