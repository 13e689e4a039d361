package rpc

import (
	"bytes"

	"pitap/record/scan"
)

// plan is what an object is checked against: the fields of a word and those that go without saying.
type plan struct {
	name      string
	span      Span
	became    string
	fields    []Field // at most maxFields
	open      bool    // members that are not in fields are normal
	misplaced bool    // the object has no place in a record
	byPi      bool    // pi itself fills it in, no extension: what it has and lacks tells pi's version
}

const maxFields = 24

// index returns the place of the member in p.fields, or -1. It looks first at the place hint: members mostly come in
// the order of the fields.
func (p *plan) index(m *scan.Member, hint int) int {
	if hint < len(p.fields) && string(m.Key) == p.fields[hint].Name {
		return hint
	}
	escaped := bytes.IndexByte(m.Key, '\\') >= 0
	for i := range p.fields {
		if name := p.fields[i].Name; string(m.Key) == name || escaped && m.Is(name) {
			return i
		}
	}
	return -1
}

// checker walks over a record along the vocabulary's shapes. Their depth is fixed, whatever the record holds: its
// methods call each other, but never for input that is deeper than the vocabulary.
type checker struct {
	voc      *Vocabulary
	v        Version
	problems []Problem
	path     []step // to the object at hand

	learn func(s Span, has bool, name string) // nil, or is told what tells pi's version: see Guess
}

// step is a member by its name, or an element by its index.
type step struct {
	name  string
	index int // when name is ""
}

// word checks an object whose member tag says that it is the word that p describes.
func (c *checker) word(p *plan, tag string, obj []byte) {
	c.known(p, tag)
	c.object(p, obj)
}

// known reports a word that has no place in the record or is not in the version.
func (c *checker) known(p *plan, tag string) {
	c.in(p.span, p.became, tag, p.name)
	if p.misplaced {
		c.reportAt(tag, Problem{What: Misplaced, Got: quote(p.name)})
	}
	if c.learn != nil && p.byPi {
		c.learn(p.span, true, "")
	}
}

// in reports a word that the version does not have.
func (c *checker) in(s Span, became, tag, name string) {
	if where := s.At(c.v); where > Maybe {
		c.reportAt(tag, Problem{What: UnknownType, Got: quote(name), Where: where, Span: s, Became: became})
	}
}

// unknown reports a word that the vocabulary does not have.
func (c *checker) unknown(tag, name string) {
	c.reportAt(tag, Problem{What: UnknownType, Got: quote(name), Where: Never})
}

// values are the members of an object by their place in plan.fields, nil those that are absent.
type values [maxFields][]byte

func (v *values) of(p *plan, name string) []byte {
	for i := range p.fields {
		if p.fields[i].Name == name {
			return v[i]
		}
	}
	return nil
}

// object checks the members of obj.
func (c *checker) object(p *plan, obj []byte) {
	var found values
	c.members(p, obj, &found)
	c.fields(p, &found)
}

// members finds the members that p has, and reports others unless p is open. Of members that occur twice, the last one
// counts.
func (c *checker) members(p *plan, obj []byte, found *values) {
	i := -1
	for members := scan.MembersOf(obj); members.Next(); {
		value := obj[members.Start:members.End]
		if i = p.index(&members.Member, i+1); i >= 0 {
			found[i] = value
		} else if !p.open {
			c.reportAt(keyText(members.Key), Problem{What: UnknownField, Got: shorten(value), Where: Never})
		}
	}
}

func (c *checker) fields(p *plan, found *values) {
	for i := range p.fields {
		c.field(p, &p.fields[i], found[i])
	}
}

// field checks a member; value is nil when it is absent.
func (c *checker) field(p *plan, f *Field, value []byte) {
	where := f.At(c.v)
	if c.learn != nil && p.byPi && (value != nil || f.Required && !f.Echo) {
		c.learn(f.Span, value != nil, f.Name)
	}
	if value == nil {
		if f.Required && !f.Echo && where == Present {
			c.reportAt(f.Name, Problem{What: MissingField, Expected: f.Expected(c.v)})
		}
		return
	}
	if where > Maybe {
		if !p.open {
			c.reportAt(f.Name, Problem{What: UnknownField, Got: shorten(value), Where: where, Span: f.Span})
		}
		return
	}
	if f.Echo {
		return
	}
	t := typeOf(value)
	switch {
	case t&f.Types == 0:
		c.reportAt(f.Name, Problem{What: WrongType, Expected: f.Expected(c.v), Got: shorten(value)})
	case f.Enum != nil:
		c.enum(p, f, value)
	case f.History:
	case t == Object && f.Of != nil:
		c.inside(f.Name, f.Of, value)
	case t == Array && f.Items != 0:
		c.items(f, value)
	}
}

func (c *checker) enum(p *plan, f *Field, token []byte) {
	problem := Problem{What: UnknownValue, Expected: f.Expected(c.v), Where: Never}
	if value := f.value(text(token)); value != nil {
		if c.learn != nil && p.byPi {
			c.learn(value.Span, true, f.Name+" "+value.Name)
		}
		if problem.Where = value.At(c.v); problem.Where <= Maybe {
			return
		}
		problem.Span = value.Span
	}
	problem.Got = shorten(token)
	c.reportAt(f.Name, problem)
}

// items checks the elements of an array.
func (c *checker) items(f *Field, array []byte) {
	c.path = append(c.path, step{name: f.Name}, step{})
	for i, at := 0, 1; len(c.problems) < maxProblems; i++ {
		start, end := nextElement(array, at)
		if end < 0 {
			break
		}
		c.path[len(c.path)-1].index = i
		item := array[start:end]
		if typeOf(item)&f.Items == 0 {
			c.report(Problem{What: WrongType, Expected: f.Items.String(), Got: shorten(item)})
		} else if f.Of != nil {
			c.shape(f.Of, item)
		}
		at = end
	}
	c.path = c.path[:len(c.path)-2]
}

func (c *checker) inside(name string, shape *Shape, obj []byte) {
	c.path = append(c.path, step{name: name})
	c.shape(shape, obj)
	c.path = c.path[:len(c.path)-1]
}

// shape checks an object; that of a shape with a tag by what its tag says.
func (c *checker) shape(shape *Shape, obj []byte) {
	if shape.Tag == "" {
		c.object(shape.plan, obj)
		return
	}
	if c.tagFirst(shape, obj) {
		return
	}
	tag := member(obj, shape.Tag)
	if typeOf(tag) != String {
		c.field(shape.plan, &shape.plan.fields[0], tag)
	} else if p := shape.kinds[string(text(tag))]; p != nil {
		c.word(p, shape.Tag, obj)
	} else {
		c.unknown(shape.Tag, keyText(tag[1:len(tag)-1]))
	}
}

// tagFirst checks an object of a shape with a tag whose tag stands first, as pi writes it, and not again later. It saves
// going over the object just to find the tag. It returns false when it has done nothing.
func (c *checker) tagFirst(shape *Shape, obj []byte) bool {
	members := scan.MembersOf(obj)
	if !members.Next() || !members.Is(shape.Tag) {
		return false
	}
	p := shape.kinds[string(text(obj[members.Start:members.End]))]
	if p == nil {
		return false
	}
	var found values
	before := len(c.problems)
	c.members(p, obj, &found)
	if string(text(found[0])) != p.name { // found[0] is the tag
		c.problems = c.problems[:before]
		return false
	}
	c.known(p, shape.Tag)
	c.fields(p, &found)
	return true
}
