package view

import (
	"bytes"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Pattern is what is searched for. It may be used by several goroutines.
type Pattern struct {
	Source string
	Regexp bool
	text   []byte // lower case when fold
	fold   bool   // in whatever case
	rare   int    // index in text of its rarest byte
	runes  []rune // of a text that folds and is not ASCII
	pivot  int    // index of the rune that is looked for
	forms  []need // the forms of that rune
	re     *regexp.Regexp
	prog   *syntax.Prog // of re
	needs  []need       // what every match of re holds, the rarest first
	bound  bool         // re asks where the text begins or ends
}

// need is texts of which one must be there.
type need []*Pattern

// NewPattern makes a pattern of a text, or of a regular expression. Without capital letters it is found in any case.
func NewPattern(source string, isRegexp bool) (*Pattern, error) {
	p := &Pattern{Source: source, Regexp: isRegexp, fold: strings.ToLower(source) == source}
	if !isRegexp {
		p.literal(source)
		return p, nil
	}
	if p.fold {
		source = "(?i)" + source
	}
	re, err := regexp.Compile(source)
	if err != nil {
		return nil, fmt.Errorf("%s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	p.re = re
	parsed, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		return nil, err
	}
	parsed = parsed.Simplify()
	if p.prog, err = syntax.Compile(parsed); err != nil {
		return nil, err
	}
	p.bound = bound(parsed)
	p.needs = needsOf(parsed)
	slices.SortStableFunc(p.needs, func(a, b need) int { return b.worth() - a.worth() })
	p.needs = p.needs[:min(len(p.needs), 4)]
	return p, nil
}

// literal makes p a pattern of a text.
func (p *Pattern) literal(s string) {
	p.text = []byte(s)
	p.rare = rarest(p.text)
	if !p.fold || strings.ToUpper(s) == s || !utf8.ValidString(s) {
		return
	}
	for i, r := range []rune(s) {
		if p.runes = append(p.runes, r); r >= utf8.RuneSelf && p.runes[p.pivot] < utf8.RuneSelf {
			p.pivot = i
		}
	}
	if p.runes[p.pivot] < utf8.RuneSelf { // ASCII: letters of both cases are one byte
		p.runes = nil
		return
	}
	r := p.runes[p.pivot]
	p.runes = slices.Clone(p.runes)
	one := need{}
	for f := r; ; {
		b := []byte(string(f))
		one = append(one, &Pattern{text: b, rare: len(b) - 1})
		if f = unicode.SimpleFold(f); f == r {
			break
		}
	}
	p.forms = []need{one}
}

// find gives the place of the first match in b, -1 without one.
func (p *Pattern) find(b []byte) (start, end int) {
	switch {
	case p.re != nil:
		if m := p.re.FindIndex(b); m != nil {
			return m[0], m[1]
		}
		return -1, -1
	case len(p.text) == 0:
		return 0, 0
	case p.runes != nil:
		return p.findRunes(b)
	case !p.fold:
		start = bytes.Index(b, p.text)
	default:
		start = p.findFold(b)
	}
	if start < 0 {
		return -1, -1
	}
	return start, start + len(p.text)
}

// next is find in the lines of a frame, which may give a line in which the entry has no match: an expression that asks
// where the text begins or ends means the record, and not the line that holds it. Expressions are run over one line at
// a time, and only over those that hold what every match does. d is the pattern's, and the caller's alone.
func (p *Pattern) next(b []byte, d *dfa) (start, end int) {
	if p.re == nil {
		return p.find(b)
	}
	seek := newSeeker(b, p.needs)
	for at := 0; at < len(b); {
		i := 0
		if len(p.needs) > 0 {
			i = seek.from(at)
		} else if i = d.find(b[at:]); i >= 0 {
			i += at
		}
		if i < 0 {
			break
		}
		from, to := lineAround(b, at, i)
		from += headOf(b[from:to])
		line := b[from:to]
		if seek.all(line) && (len(p.needs) == 0 || d.find(line) >= 0) {
			if p.bound {
				return from, to
			}
			if m := p.re.FindIndex(line); m != nil {
				return from + m[0], from + m[1]
			}
		}
		at = to + 1
	}
	return -1, -1
}

// headOf is the number of bytes of an entry's line before its record, as far as they are as a recorder writes them.
func headOf(line []byte) int {
	if !bytes.HasPrefix(line, []byte(`{"n":`)) {
		return 0
	}
	return max(0, bytes.Index(line[:min(len(line), 200)], []byte(`,"msg":`)))
}

// dfa makes what next needs; nil for a text.
func (p *Pattern) dfa() *dfa {
	if p.prog == nil {
		return nil
	}
	return newDFA(p.prog)
}

// seeker finds where one of the texts of the first need stands, without looking at the same bytes again.
type seeker struct {
	b     []byte
	needs []need
	next  []int // of each text of the first need, the next place; len(b) without one
}

func newSeeker(b []byte, needs []need) *seeker {
	s := &seeker{b: b, needs: needs}
	if len(needs) > 0 {
		s.next = make([]int, len(needs[0]))
		for i := range s.next {
			s.next[i] = -1
		}
	}
	return s
}

// from gives the first place at or behind at; -1 when there is none.
func (s *seeker) from(at int) int {
	best := len(s.b)
	for i, p := range s.needs[0] {
		if s.next[i] < at {
			if k, _ := p.find(s.b[at:]); k >= 0 {
				s.next[i] = at + k
			} else {
				s.next[i] = len(s.b)
			}
		}
		best = min(best, s.next[i])
	}
	if best == len(s.b) {
		return -1
	}
	return best
}

// all tells whether a line has what is needed besides.
func (s *seeker) all(line []byte) bool {
	for i := 1; i < len(s.needs); i++ {
		if !slices.ContainsFunc(s.needs[i], func(p *Pattern) bool { k, _ := p.find(line); return k >= 0 }) {
			return false
		}
	}
	return true
}

// worth is how much a need narrows a search.
func (n need) worth() int {
	least := 1 << 20
	for _, p := range n {
		w := 64 * len(p.text)
		if i := strings.IndexByte(common, p.text[p.rare]); i >= 0 {
			w += i
		} else {
			w += len(common)
		}
		least = min(least, w)
	}
	return least - len(n)
}

const maxAlternatives = 12

// needsOf gives what every match of an expression holds.
func needsOf(re *syntax.Regexp) (list []need) {
	switch re.Op {
	case syntax.OpLiteral:
		// k and s fold to letters beyond ASCII, and those beyond ASCII to others of another length.
		for _, part := range strings.FieldsFunc(strings.ToLower(string(re.Rune)), func(r rune) bool {
			return r >= utf8.RuneSelf || r == 'k' || r == 's' || r == '\n'
		}) {
			p := &Pattern{text: []byte(part), fold: true}
			p.rare = rarest(p.text)
			list = append(list, need{p})
		}
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			list = append(list, needsOf(sub)...)
		}
	case syntax.OpCapture, syntax.OpPlus:
		return needsOf(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return needsOf(re.Sub[0])
		}
	case syntax.OpAlternate:
		var any need
		for _, sub := range re.Sub {
			needs := needsOf(sub)
			if len(needs) == 0 || len(any) > maxAlternatives {
				return nil
			}
			any = append(any, slices.MaxFunc(needs, func(a, b need) int { return a.worth() - b.worth() })...)
		}
		return []need{any}
	}
	return list
}

// bound tells whether an expression asks where the text begins or ends.
func bound(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return true
	}
	return slices.ContainsFunc(re.Sub, bound)
}

// findFold finds the text in whatever case: the places of its rarest letter are found fast, and looked at.
func (p *Pattern) findFold(b []byte) int {
	n := len(p.text)
	low, up := p.text[p.rare], p.text[p.rare]
	if low >= 'a' && low <= 'z' {
		up = low - 'a' + 'A'
	}
	next := [2]int{-1, -1}
	seek := func(k int, c byte, from int) {
		if from > len(b) {
			next[k] = len(b)
		} else if i := bytes.IndexByte(b[from:], c); i < 0 {
			next[k] = len(b)
		} else {
			next[k] = from + i
		}
	}
	seek(0, low, p.rare)
	next[1] = len(b)
	if up != low {
		seek(1, up, p.rare)
	}
	for {
		at := min(next[0], next[1])
		if start := at - p.rare; start+n <= len(b) && at < len(b) {
			if sameFold(b[start:start+n], p.text) {
				return start
			}
		} else {
			return -1
		}
		if next[0] == at {
			seek(0, low, at+1)
		} else {
			seek(1, up, at+1)
		}
	}
}

// findRunes finds a text beyond ASCII in whatever case: one of its runes is looked for in all its forms.
func (p *Pattern) findRunes(b []byte) (start, end int) {
	seek := newSeeker(b, p.forms)
	for at := 0; at < len(b); {
		i := seek.from(at)
		if i < 0 {
			break
		}
		start, end = i, i
		same := true
		for k := p.pivot - 1; k >= 0 && same; k-- {
			r, size := utf8.DecodeLastRune(b[:start])
			start -= size
			same = size > 0 && sameRune(r, p.runes[k])
		}
		for k := p.pivot; k < len(p.runes) && same; k++ {
			r, size := utf8.DecodeRune(b[end:])
			end += size
			same = size > 0 && sameRune(r, p.runes[k])
		}
		if same {
			return start, end
		}
		at = i + 1
	}
	return -1, -1
}

// sameRune compares runes in whatever case.
func sameRune(a, b rune) bool {
	if a == b {
		return true
	}
	for f := unicode.SimpleFold(b); f != b; f = unicode.SimpleFold(f) {
		if f == a {
			return true
		}
	}
	return false
}

// sameFold compares b with a text in lower case.
func sameFold(b, text []byte) bool {
	for i, c := range b {
		if lowTable[c] != text[i] {
			return false
		}
	}
	return true
}

// common are the bytes of JSON from the commonest on; what is not among them is rare.
const common = "e\"t,:aionsrldhcupmgyf_b0k1v23w54{}6789 xj"

// rarest gives the index of the text's rarest byte.
func rarest(text []byte) (at int) {
	best := -1
	for i, c := range text {
		rank := strings.IndexByte(common, c)
		if rank < 0 {
			rank = len(common)
		}
		if rank > best {
			best, at = rank, i
		}
	}
	return at
}

// In tells whether a visible text holds the pattern, and where.
func (p *Pattern) In(s string) (start, end int) {
	if p == nil || p.Source == "" {
		return -1, -1
	}
	return p.find([]byte(s))
}

var lowTable = func() (t [256]byte) {
	for i := range t {
		t[i] = byte(i)
		if i >= 'A' && i <= 'Z' {
			t[i] += 'a' - 'A'
		}
	}
	return t
}()
