package rpc

import (
	"slices"
	"strings"
)

func (p *parser) fields(lines []string) []Field {
	fields := make([]Field, len(lines))
	for i, line := range lines {
		fields[i] = p.field(line)
	}
	return fields
}

// field reads one line as vocabularyJSON describes it.
func (p *parser) field(line string) Field {
	var f Field
	spec, note, _ := strings.Cut(line, "; ")
	f.Note = note
	name, rest, _ := strings.Cut(spec, " ")
	name, optional := strings.CutSuffix(name, "?")
	f.Name, f.Required = name, !optional
	types, rest, _ := strings.Cut(rest, " ")
	types, items, _ := strings.Cut(types, ":")
	f.Types = p.types(types)
	if items != "" {
		if f.Items = typeNamed(items); f.Items == 0 {
			f.Of = p.shape(items)
			f.Items = Object
		}
	}
	for rest != "" {
		var word string
		word, rest, _ = strings.Cut(rest, " ")
		switch {
		case word[0] == '=':
			f.Enum = p.values(word[1:])
		case word[0] == '@':
			f.Span = p.span(word[1:])
		case word == "echo":
			f.Echo = true
		case word == "history":
			f.History = true
		default:
			panic("rpc: vocabulary.json: " + line)
		}
	}
	return f
}

func (p *parser) values(text string) []Value {
	if text[0] == '$' {
		text = p.sets[text[1:]]
	}
	var values []Value
	for word := range strings.SplitSeq(text, "|") {
		name, span, _ := strings.Cut(word, "@")
		values = append(values, Value{Name: name, Span: p.span(span)})
	}
	return values
}

func (p *parser) types(text string) (t Types) {
	if text == "any" {
		return Any
	}
	for word := range strings.SplitSeq(text, "|") {
		one := typeNamed(word)
		if one == 0 {
			panic("rpc: vocabulary.json: no type " + text)
		}
		t |= one
	}
	return t
}

func typeNamed(name string) Types {
	if i := slices.Index(typeNames[:], name); i >= 0 {
		return 1 << i
	}
	return 0
}

func (p *parser) shape(name string) *Shape {
	s := p.v.shapes[name]
	if s == nil {
		panic("rpc: vocabulary.json: no shape " + name)
	}
	return s
}

func (p *parser) version(text string) Version {
	v, ok := ParseVersion(text)
	if !ok {
		panic("rpc: vocabulary.json: no version " + text)
	}
	return v
}

func (p *parser) optionalSpan(text string) *Span {
	if text == "" {
		return nil
	}
	s := p.span(text)
	return &s
}

// span reads "", "-", "A-", "-B" or "A-B". A first version that was tested may only be the first that was tried: then
// the newest tested one without it is kept too. A first version that was not tested comes from pi's changelog and is
// exact.
func (p *parser) span(text string) (s Span) {
	since, until, _ := strings.Cut(text, "-")
	if since != "" {
		s.Since = p.version(since)
		if i, tested := slices.BinarySearchFunc(p.v.Tested, s.Since, Version.Compare); tested && i > 0 {
			s.lacksBefore = p.v.Tested[i-1]
		}
	}
	if until != "" {
		s.Until = p.version(until)
		i, tested := slices.BinarySearchFunc(p.v.Tested, s.Until, Version.Compare)
		if tested {
			i++
		}
		s.lacksAfter = p.v.Tested[i]
	}
	return s
}
