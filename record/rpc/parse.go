package rpc

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// vocabularyJSON is written by hand, small, and read once. A span is "-" (all versions), "0.84.4-", "-0.83.0" or
// "0.78.0-0.85.1". A field is a line of words:
//
//	name[?] TYPES[:ITEMS] [=VALUE[@SPAN]|...] [@SPAN] [echo] [history] [; note]
//
// where ? means not required, TYPES is as Types.String writes it, ITEMS is a type or the name of a shape, and =$name
// takes the values from "sets". A command "does" the words of parser.does, emits events before its response, and in the
// spans late and cuts it answers late and cuts a run. A word that is marked internal or stored has no place in what the
// agent writes; one that is marked open has members that are not told.
//
//go:embed vocabulary.json
var vocabularyJSON []byte

// Load returns the vocabulary. The first call parses it, in well under a millisecond; all return the same pointer.
func Load() *Vocabulary { return load() }

var load = sync.OnceValue(func() *Vocabulary { return parse(vocabularyJSON) })

type source struct {
	Tested      string
	Sets        map[string]string
	Commands    []sourceWord
	UIResponses []sourceWord
	Events      []sourceWord
	Response    sourceWord
	Errors      []sourceWord
	Updates     []sourceWord
	Methods     []sourceWord
	Messages    []sourceWord
	Blocks      []sourceWord
	Shapes      []sourceWord
	Behaviours  []sourceWord
}

// sourceWord is any entry of the file.
type sourceWord struct {
	Name, Span, Became, Note string
	Fields                   []string
	Open                     bool

	Does, Emits, Late, Cuts string // of a command
	Data                    []string
	DataOf                  string
	Null                    bool

	RPCOnly, Internal, Stored bool
	Answer                    string // of a method
	ID, What                  string // of a behaviour
}

// parser fills v. The file is part of the program: a mistake in it panics, and the tests parse it.
type parser struct {
	v    *Vocabulary
	sets map[string]string
}

func parse(text []byte) *Vocabulary {
	var src source
	if err := json.Unmarshal(text, &src); err != nil {
		panic(fmt.Sprintf("rpc: vocabulary.json: %v", err))
	}
	p := &parser{v: &Vocabulary{shapes: map[string]*Shape{}}, sets: src.Sets}
	v := p.v
	for _, text := range strings.Fields(src.Tested) {
		v.Tested = append(v.Tested, p.version(text))
	}
	for _, w := range src.Shapes { // first by name only: they refer to each other
		p.addShape(w.Name, "", w.Note)
	}
	p.addShape("message", "role", "")
	p.addShape("block", "type", "")
	p.addShape("update", "type", "")
	for _, w := range src.Shapes {
		s := v.shapes[w.Name]
		s.Fields = p.fields(w.Fields)
		s.plan = &plan{name: w.Name, fields: s.Fields, open: true, byPi: w.Name != "entry"}
	}
	p.insides(&src)
	p.commands(&src)
	p.records(&src)
	for _, w := range src.Behaviours {
		v.Behaviours = append(v.Behaviours, &Behaviour{ID: w.ID, Span: p.span(w.Span), What: w.What})
	}
	v.behaviours = index(v.Behaviours, func(b *Behaviour) string { return b.ID })
	v.heads = makeHeads(v)
	return v
}

func index[T any](all []T, name func(T) string) map[string]T {
	m := make(map[string]T, len(all))
	for _, one := range all {
		if _, twice := m[name(one)]; twice {
			panic("rpc: vocabulary.json: twice: " + name(one))
		}
		m[name(one)] = one
	}
	return m
}

func wordName(w *Word) string { return w.Name }

func (p *parser) addShape(name, tag, note string) {
	s := &Shape{Name: name, Tag: tag, Note: note}
	if tag != "" {
		s.kinds = map[string]*plan{}
		s.plan = &plan{fields: []Field{tagField(tag)}, open: true}
	}
	p.v.Shapes = append(p.v.Shapes, s)
	p.v.shapes[name] = s
}

// insides reads what occurs inside records: messages, content blocks, updates.
func (p *parser) insides(src *source) {
	v := p.v
	role, kind := []Field{tagField("role")}, []Field{tagField("type")}
	for _, w := range src.Messages {
		m := &Message{Word: p.word(w, role), Stored: w.Stored}
		m.Open, m.plan.open, m.plan.misplaced = true, true, w.Stored
		m.plan.byPi = w.Name == "assistant" || w.Name == "system" // extensions write the others
		v.Messages = append(v.Messages, m)
		v.shapes["message"].kinds[w.Name] = m.plan
	}
	for _, w := range src.Blocks {
		b := p.word(w, kind)
		b.Open, b.plan.open = true, true
		v.Blocks = append(v.Blocks, &b)
		v.shapes["block"].kinds[w.Name] = b.plan
	}
	for _, w := range src.Updates {
		u := &Update{Word: p.word(w, kind), Internal: w.Internal}
		u.plan.misplaced, u.plan.byPi = w.Internal, true
		v.Updates = append(v.Updates, u)
		v.shapes["update"].kinds[w.Name] = u.plan
	}
	v.messages = index(v.Messages, func(m *Message) string { return m.Name })
	v.blocks = index(v.Blocks, wordName)
	v.updates = index(v.Updates, func(u *Update) string { return u.Name })
}

func (p *parser) commands(src *source) {
	v := p.v
	common := []Field{tagField("type"), {Name: "id", Types: Any}}
	for _, w := range src.Commands {
		c := &Command{Word: p.word(w, common), Data: p.fields(w.Data), DataNull: w.Null}
		if w.DataOf != "" {
			c.Data = p.shape(w.DataOf).Fields
		}
		c.data = &Shape{plan: &plan{fields: c.Data, open: true, byPi: true}}
		p.does(c, w.Does)
		c.Emits = strings.Fields(w.Emits)
		c.late, c.cuts = p.optionalSpan(w.Late), p.optionalSpan(w.Cuts)
		v.Commands = append(v.Commands, c)
	}
	for _, w := range src.UIResponses {
		r := p.word(w, common[:1])
		v.UIResponses = append(v.UIResponses, &r)
	}
	for _, w := range src.Errors {
		e := p.word(w, nil)
		v.Errors = append(v.Errors, &e)
	}
	v.commands = index(v.Commands, func(c *Command) string { return c.Name })
	v.uiResponses = index(v.UIResponses, wordName)
}

func (p *parser) does(c *Command, words string) {
	flags := map[string]*bool{"changes": &c.ChangesState, "starts": &c.StartsRun, "aborts": &c.AbortsRun,
		"resets": &c.ResetsSession, "calls-model": &c.CallsModel, "writes-file": &c.WritesFile}
	for _, word := range strings.Fields(words) {
		if flags[word] == nil {
			panic("rpc: vocabulary.json: " + c.Name + " does " + word)
		}
		*flags[word] = true
	}
}

// records reads what the agent writes: events, responses, UI requests.
func (p *parser) records(src *source) {
	v := p.v
	kind := []Field{tagField("type")}
	for _, w := range src.Events {
		e := &Event{Word: p.word(w, kind), RPCOnly: w.RPCOnly}
		e.plan.byPi = true
		v.Events = append(v.Events, e)
	}
	v.events = index(v.Events, func(e *Event) string { return e.Name })
	response := p.word(src.Response, kind)
	v.Response = &response
	request := v.events[uiRequest].plan.fields
	v.anyMethod = &plan{fields: request, open: true}
	for _, w := range src.Methods {
		m := &Method{Word: p.word(w, request), Dialog: w.Answer != "", Answer: strings.Fields(w.Answer)}
		v.Methods = append(v.Methods, m)
	}
	v.methods = index(v.Methods, func(m *Method) string { return m.Name })
}

// word reads an entry; common are the fields that all entries of its section have.
func (p *parser) word(w sourceWord, common []Field) Word {
	word := Word{Name: w.Name, Span: p.span(w.Span), Became: w.Became, Fields: p.fields(w.Fields), Open: w.Open, Note: w.Note}
	word.plan = &plan{name: w.Name, span: word.Span, became: w.Became, fields: slices.Concat(common, word.Fields), open: w.Open}
	return word
}

func tagField(name string) Field { return Field{Name: name, Types: String, Required: true} }
