// Package filter is the language in which the inspector is told which entries to show:
//
//	from:agent kind:message_update size>64k
//	(id:req-1 or id:req-2) not is:delta
//	text~"rate ?limit" gap>1s
//
// An expression is made of terms, and, or, not and parentheses; terms that stand beside each other must all hold, and
// bind closer than or. [Help] explains the terms. Parse compiles an expression, Match applies it to the facts about one
// entry; an Expr may be used by several goroutines. Neither recurses, whatever the input.
package filter

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"pitap/inspect"
)

// Help explains the language, a line each.
const Help = `from:client            records of client, agent or stderr; from:note for notes
kind:message_update    kinds that begin so, or match it if it has * or ?
id:req-1               records with this id, or about this tool call; may have * and ?
size>64k               longer than 64 KiB; also <, >=, <=, =, and k, m, g
gap>1s                 more than a second after the entry before
took>100ms             responses and ends that took longer
n>100  t<2.5s          entries by number and by time since the start
flag:  flag:crlf       records whose framing is remarkable; with that flag
text:word  "two words" records that hold the text, in whatever case; a word alone does it, too
text~"rate ?limit"     records that match the regular expression
is:open                entries that began something that is open, or was at the end
is:unanswered          commands and dialogs without answer
is:error               failed responses and tools, errors, bad exits
is:finding             entries that a rule found something about
is:delta is:command is:response is:event is:ui is:note is:json is:marked
not  and  or  ( )      terms beside each other must all hold`

// Facts are what a filter asks of an entry. The functions are called when they are needed, and may be nil.
type Facts struct {
	From        string // "client", "agent", "stderr", "" for notes about no stream
	Note        bool
	Kind, Short string
	ID          string
	N, T        int64 // number; nanoseconds since the start
	Size        int64 // bytes; -1 for notes
	Gap, Took   int64 // nanoseconds; Took is -1 without such a thing
	Flags       []string
	Body        []byte // what text is looked for in
	JSON        bool   // the record is JSON
	Bad         bool   // it says that something failed

	Open, Unanswered, Finding, Marked func() bool
}

// Expr is a compiled expression.
type Expr struct {
	source string
	code   []step // in postfix order
	live   bool
}

// step is a term, or an operator on the results before it.
type step struct {
	op   byte // 't' term, '&', '|', '!'
	test func(f *Facts) bool
}

const (
	maxSteps = 500
	maxLen   = 10_000
)

// String is the expression as it was written.
func (e *Expr) String() string { return e.source }

// Changes tells whether what the expression says of an entry can change after the entry was written.
func (e *Expr) Changes() bool { return e.live }

// Match tells whether the expression holds for an entry.
func (e *Expr) Match(f *Facts) bool {
	var stack [maxSteps]bool
	n := 0
	for i := range e.code {
		switch s := &e.code[i]; s.op {
		case 't':
			stack[n] = s.test(f)
			n++
		case '!':
			stack[n-1] = !stack[n-1]
		case '&':
			n--
			stack[n-1] = stack[n-1] && stack[n]
		case '|':
			n--
			stack[n-1] = stack[n-1] || stack[n]
		}
	}
	return n == 0 || stack[0]
}

// Parse compiles an expression. Errors say what was expected, in words for the one who typed it. An empty expression
// holds for all entries.
func Parse(source string) (*Expr, error) {
	if len(source) > maxLen {
		return nil, fmt.Errorf("longer than %d bytes", maxLen)
	}
	p := &parser{expr: &Expr{source: source}, rest: source}
	if err := p.run(); err != nil {
		return nil, err
	}
	return p.expr, nil
}

// parser turns words into postfix order with a stack of operators.
type parser struct {
	expr *Expr
	rest string
	ops  []byte // '(', '&', '|', '!'
	term bool   // the word before was a term or a closing parenthesis
}

func (p *parser) run() error {
	for {
		p.rest = strings.TrimLeft(p.rest, " \t\n")
		if p.rest == "" {
			break
		}
		if err := p.word(); err != nil {
			return err
		}
		if len(p.expr.code)+len(p.ops) >= maxSteps {
			return fmt.Errorf("more than %d terms", maxSteps)
		}
	}
	if !p.term && (len(p.ops) > 0 || len(p.expr.code) > 0) {
		return errors.New("something is missing at the end")
	}
	for len(p.ops) > 0 {
		if p.ops[len(p.ops)-1] == '(' {
			return errors.New("a ) is missing")
		}
		p.pop()
	}
	return nil
}

func (p *parser) pop() {
	p.expr.code = append(p.expr.code, step{op: p.ops[len(p.ops)-1]})
	p.ops = p.ops[:len(p.ops)-1]
}

var rank = map[byte]int{'|': 1, '&': 2, '!': 3}

// operator puts an operator behind those that bind as close.
func (p *parser) operator(op byte) {
	for len(p.ops) > 0 && rank[p.ops[len(p.ops)-1]] >= rank[op] && op != '!' {
		p.pop()
	}
	p.ops = append(p.ops, op)
}

// begin joins a term to the one before it.
func (p *parser) begin() {
	if p.term {
		p.operator('&')
	}
	p.term = false
}

func (p *parser) word() error {
	switch p.rest[0] {
	case '(':
		p.begin()
		p.ops = append(p.ops, '(')
		p.rest = p.rest[1:]
		return nil
	case ')':
		return p.close()
	case '!':
		p.begin()
		p.operator('!')
		p.rest = p.rest[1:]
		return nil
	}
	name, op, value, quoted, err := p.read()
	if err != nil {
		return err
	}
	if op == "" && !quoted {
		switch word := strings.ToLower(name); {
		case word == "and" || word == "&&" || word == "or" || word == "||":
			if !p.term {
				return fmt.Errorf("%s stands between two terms", name)
			}
			p.operator(map[byte]byte{'a': '&', '&': '&', 'o': '|', '|': '|'}[word[0]])
			p.term = false
			return nil
		case word == "not":
			p.begin()
			p.operator('!')
			return nil
		}
	}
	test, err := p.compile(name, op, value, quoted)
	if err != nil {
		return err
	}
	p.begin()
	p.expr.code = append(p.expr.code, step{'t', test})
	p.term = true
	return nil
}

func (p *parser) close() error {
	if !p.term {
		return errors.New("nothing before )")
	}
	p.rest = p.rest[1:]
	for len(p.ops) > 0 {
		if p.ops[len(p.ops)-1] == '(' {
			p.ops = p.ops[:len(p.ops)-1]
			return nil
		}
		p.pop()
	}
	return errors.New("a ) without (")
}

// read takes the next word apart: a name, an operator and a value, or a word alone.
func (p *parser) read() (name, op, value string, quoted bool, err error) {
	if p.rest[0] == '"' {
		value, err = p.quoted()
		return value, "", "", true, err
	}
	i := 0
	for i < len(p.rest) && (p.rest[i] >= 'a' && p.rest[i] <= 'z' || p.rest[i] >= 'A' && p.rest[i] <= 'Z') {
		i++
	}
	for _, o := range []string{">=", "<=", ":", "~", ">", "<", "="} {
		if i > 0 && strings.HasPrefix(p.rest[i:], o) {
			name, op = p.rest[:i], o
			p.rest = p.rest[i+len(o):]
			if strings.HasPrefix(p.rest, `"`) {
				value, err = p.quoted()
				return name, op, value, true, err
			}
			return name, op, p.bare(), false, nil
		}
	}
	return p.bare(), "", "", false, nil
}

// bare takes a word up to white space or a parenthesis.
func (p *parser) bare() string {
	i := strings.IndexAny(p.rest, " \t\n()")
	if i < 0 {
		i = len(p.rest)
	}
	word := p.rest[:i]
	p.rest = p.rest[i:]
	return word
}

// quoted takes a text in quotes; \" and \\ stand for themselves, other backslashes stay.
func (p *parser) quoted() (string, error) {
	var b strings.Builder
	for i := 1; i < len(p.rest); i++ {
		switch c := p.rest[i]; {
		case c == '"':
			p.rest = p.rest[i+1:]
			return b.String(), nil
		case c == '\\' && i+1 < len(p.rest) && (p.rest[i+1] == '"' || p.rest[i+1] == '\\'):
			if p.rest[i+1] == '\\' {
				b.WriteByte('\\')
			}
			i++
			b.WriteByte(p.rest[i])
		default:
			b.WriteByte(c)
		}
	}
	return "", errors.New(`a " is missing at the end`)
}

// compile makes a test of a term.
func (p *parser) compile(name, op, value string, quoted bool) (func(*Facts) bool, error) {
	if op == "" {
		return contains(name), nil
	}
	lower := strings.ToLower(name)
	switch lower {
	case "size", "gap", "took", "n", "t":
		return number(lower, op, value)
	case "text":
		if op == "~" {
			re, err := regexp.Compile("(?i)" + value)
			if err != nil {
				return nil, fmt.Errorf("text~: %v", err)
			}
			return func(f *Facts) bool { return re.Match(f.Body) }, nil
		}
	}
	if op != ":" && op != "=" {
		return nil, fmt.Errorf("%s takes :, not %s", name, op)
	}
	switch lower {
	case "text":
		return contains(value), nil
	case "from":
		switch value {
		case "client", "agent", "stderr":
			return func(f *Facts) bool { return f.From == value }, nil
		case inspect.FromNote:
			return func(f *Facts) bool { return f.Note }, nil
		}
		return nil, fmt.Errorf("from: takes client, agent, stderr or note, not %q", value)
	case "kind":
		pattern := inspect.NewPattern(value)
		return func(f *Facts) bool { return pattern.Begins(f.Kind) || pattern.Begins(f.Short) }, nil
	case "id":
		pattern := inspect.NewPattern(value)
		return func(f *Facts) bool { return f.ID != "" && pattern.Match(f.ID) }, nil
	case "flag":
		return func(f *Facts) bool {
			for _, name := range f.Flags {
				if strings.HasPrefix(name, value) || strings.HasPrefix(strings.TrimPrefix(name, "framing/"), value) {
					return true
				}
			}
			return false
		}, nil
	case "is":
		return p.is(value)
	}
	return nil, fmt.Errorf("no term %q; text:%q looks for text", name, name)
}

func (p *parser) is(value string) (func(*Facts) bool, error) {
	ask := func(get func(f *Facts) func() bool) (func(*Facts) bool, error) {
		p.expr.live = true
		return func(f *Facts) bool { g := get(f); return g != nil && g() }, nil
	}
	switch value {
	case "open":
		return ask(func(f *Facts) func() bool { return f.Open })
	case "unanswered":
		return ask(func(f *Facts) func() bool { return f.Unanswered })
	case "finding":
		return ask(func(f *Facts) func() bool { return f.Finding })
	case "marked":
		return ask(func(f *Facts) func() bool { return f.Marked })
	case "error":
		return func(f *Facts) bool { return f.Bad }, nil
	case "note":
		return func(f *Facts) bool { return f.Note }, nil
	case "json":
		return func(f *Facts) bool { return f.JSON }, nil
	case "delta":
		return func(f *Facts) bool {
			return strings.HasPrefix(f.Kind, "message_update") || strings.HasSuffix(f.Kind, "execution_update")
		}, nil
	case "command":
		return func(f *Facts) bool { return f.From == "client" && !f.Note && f.Kind != "extension_ui_response" }, nil
	case "response":
		return func(f *Facts) bool { return strings.HasPrefix(f.Kind, "response") }, nil
	case "ui":
		return func(f *Facts) bool { return strings.HasPrefix(f.Kind, "extension_ui_") }, nil
	case "event":
		return func(f *Facts) bool { return f.From == "agent" && !f.Note && !strings.HasPrefix(f.Kind, "response") }, nil
	}
	return nil, fmt.Errorf("is: takes open, unanswered, error, finding, delta, command, response, event, ui, note, json or marked, not %q", value)
}

// contains looks for text, in whatever case when it has no capital letters.
func contains(text string) func(*Facts) bool {
	if text == "" {
		return func(*Facts) bool { return true }
	}
	if strings.ToLower(text) == text && strings.ToUpper(text) != text {
		re := regexp.MustCompile("(?i)" + regexp.QuoteMeta(text))
		return func(f *Facts) bool { return re.Match(f.Body) }
	}
	want := []byte(text)
	return func(f *Facts) bool { return bytes.Contains(f.Body, want) }
}

// number compares one of an entry's figures.
func number(name, op, value string) (func(*Facts) bool, error) {
	var want int64
	var err error
	switch name {
	case "size":
		want, err = parseSize(value)
	case "n":
		want, err = strconv.ParseInt(strings.TrimPrefix(value, "#"), 10, 64)
		if err != nil {
			err = fmt.Errorf("n takes an entry's number, not %q", value)
		}
	default:
		want, err = parseTime(name, value)
	}
	if err != nil {
		return nil, err
	}
	get := map[string]func(f *Facts) int64{
		"size": func(f *Facts) int64 { return f.Size },
		"gap":  func(f *Facts) int64 { return f.Gap },
		"took": func(f *Facts) int64 { return f.Took },
		"n":    func(f *Facts) int64 { return f.N },
		"t":    func(f *Facts) int64 { return f.T },
	}[name]
	has := func(v int64) bool { return v >= 0 || name != "size" && name != "took" }
	switch op {
	case ">":
		return func(f *Facts) bool { v := get(f); return has(v) && v > want }, nil
	case ">=":
		return func(f *Facts) bool { v := get(f); return has(v) && v >= want }, nil
	case "<":
		return func(f *Facts) bool { v := get(f); return has(v) && v < want }, nil
	case "<=":
		return func(f *Facts) bool { v := get(f); return has(v) && v <= want }, nil
	case "=", ":":
		return func(f *Facts) bool { v := get(f); return has(v) && v == want }, nil
	}
	return nil, fmt.Errorf("%s takes >, >=, <, <= or =, not %s", name, op)
}

func parseSize(value string) (int64, error) {
	s := strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(value), "b"), "i")
	factor := int64(1)
	for i, unit := range []string{"k", "m", "g"} {
		if rest, ok := strings.CutSuffix(s, unit); ok {
			s, factor = rest, 1<<(10*(i+1))
			break
		}
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f < 0 || f > 1e12 {
		return 0, fmt.Errorf("size takes bytes such as 500, 64k or 1.5m, not %q", value)
	}
	return int64(f * float64(factor)), nil
}

func parseTime(name, value string) (int64, error) {
	if d, err := time.ParseDuration(value); err == nil {
		return int64(d), nil
	}
	if f, err := strconv.ParseFloat(value, 64); err == nil && f >= 0 && f < 1e9 {
		return int64(f * 1e9), nil
	}
	return 0, fmt.Errorf("%s takes a time such as 1s, 250ms or 2m, not %q", name, value)
}
