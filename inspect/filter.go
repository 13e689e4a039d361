package inspect

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Filter says which rows are asked for: those that everything in it agrees with. The zero value takes all.
type Filter struct {
	From    []string  // client, agent, stderr, note; a note is taken with the stream that it is about, too
	Kinds   []Pattern // of which one fits
	IDs     []Pattern
	Grep    *regexp.Regexp // must match the record's bytes
	Since   *Place         // the first moment or entry
	Until   *Place         // the last one
	Flagged bool           // only records whose framing was remarkable
}

// FromNote is the name in Filter.From that takes all notes.
const FromNote = "note"

// Pattern is a text in which * stands for anything and ? for one character.
type Pattern struct {
	exact string
	re    *regexp.Regexp
}

// NewPattern reads a pattern.
func NewPattern(s string) Pattern {
	if !strings.ContainsAny(s, "*?") {
		return Pattern{exact: s}
	}
	var b strings.Builder
	b.WriteString(`(?s)\A`)
	for _, r := range s {
		switch r {
		case '*':
			b.WriteString(`.*`)
		case '?':
			b.WriteByte('.')
		default:
			b.WriteString(regexp.QuoteMeta(string(r)))
		}
	}
	return Pattern{re: regexp.MustCompile(b.String() + `\z`)}
}

// MatchRule tells whether the pattern fits a rule's id, or one of the parts before and behind its slash.
func (p Pattern) MatchRule(id string) bool {
	group, name, _ := strings.Cut(id, "/")
	return p.match(id) || p.match(group) || p.match(name)
}

func (p Pattern) match(s string) bool {
	if p.re != nil {
		return p.re.MatchString(s)
	}
	return s == p.exact
}

// begins is match, but a pattern without * and ? need only be the beginning.
func (p Pattern) begins(s string) bool {
	return p.match(s) || p.re == nil && strings.HasPrefix(s, p.exact)
}

// Place is a moment of a session or an entry of its capture.
type Place struct {
	N int64 // number of the entry; 0: T counts
	T int64 // nanoseconds since the start
}

// ParsePlace reads "1.5s", "2m", "12.345" (seconds), "1:02:03.4" and "#120".
func ParsePlace(s string) (Place, error) {
	if number, ok := strings.CutPrefix(s, "#"); ok {
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil || n < 1 {
			return Place{}, fmt.Errorf("%q is no entry's number; #120 would be", s)
		}
		return Place{N: n}, nil
	}
	if d, err := time.ParseDuration(s); err == nil && d >= 0 {
		return Place{T: int64(d)}, nil
	}
	var total float64
	fields := strings.Split(s, ":")
	for i, field := range fields {
		v, err := strconv.ParseFloat(field, 64)
		if err != nil || len(fields) > 3 || !(v >= 0 && v <= 1e9) || (i > 0 && v >= 60) {
			return Place{}, fmt.Errorf("%q is no moment: it takes times from the start such as 1.5s, 2m or 1:02:03, and entries such as #120", s)
		}
		total = total*60 + v
	}
	return Place{T: int64(total*1e9 + 0.5)}, nil
}

// match tells whether a row is asked for, but for Grep.
func (f *Filter) match(r *Row, v *Seen) bool {
	switch {
	case len(f.From) > 0 && !slices.Contains(f.From, r.From.String()) && (r.Note == nil || !slices.Contains(f.From, FromNote)):
		return false
	case len(f.Kinds) > 0 && !slices.ContainsFunc(f.Kinds, func(p Pattern) bool { return p.begins(v.Kind) || p.begins(v.Short) }):
		return false
	case len(f.IDs) > 0 && (v.ID == "" || !slices.ContainsFunc(f.IDs, func(p Pattern) bool { return p.match(v.ID) })):
		return false
	case f.Flagged && v.Flags == 0:
		return false
	case f.Since != nil && !f.Since.reached(r.N, r.T):
		return false
	case f.Until != nil && f.Until.passed(r.N, r.T):
		return false
	}
	return true
}

func (p *Place) reached(n, t int64) bool {
	if p.N > 0 {
		return n >= p.N
	}
	return t >= p.T
}

func (p *Place) passed(n, t int64) bool {
	if p.N > 0 {
		return n > p.N
	}
	return t > p.T
}

// grepOverlap is how far a match may reach from one part of a record into the next, in bytes.
const grepOverlap = 64 << 10

// grepper looks for a match in a record that comes in parts.
type grepper struct {
	tail  []byte
	found bool
}

func (g *grepper) part(re *regexp.Regexp, p []byte) {
	if g.found {
		return
	}
	g.tail = append(g.tail, p...)
	g.found = re.Match(g.tail)
	if n := len(g.tail) - grepOverlap; n > 0 {
		g.tail = append(g.tail[:0], g.tail[n:]...)
	}
}

func (g *grepper) reset() { g.tail, g.found = g.tail[:0], false }
