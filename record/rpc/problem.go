package rpc

import (
	"strconv"
	"strings"

	"pitap/record/scan"
)

// What is the kind of a Problem.
type What uint8

const (
	NotObject    What = iota + 1 // the record is no JSON object
	UnknownType                  // Path is the member that says what the object is, and the version has no such thing
	MissingField                 // a member that objects of this kind have; in a UI response, one of several
	WrongType                    // a member of another JSON type
	UnknownValue                 // a member whose values are limited holds another one
	UnknownField                 // a member that the version does not have
	Misplaced                    // something known where it never occurs
)

var whatNames = [...]string{"", "not-object", "unknown-type", "missing-field", "wrong-type", "unknown-value",
	"unknown-field", "misplaced"}

// String returns a name such as "missing-field".
func (w What) String() string { return whatNames[int(w)%len(whatNames)] }

// Problem is one difference between a record and the vocabulary of a version. How bad that is, it does not say.
type Problem struct {
	What     What
	Path     string // of the member: "message.content[2].type"; "" is the record itself
	Expected string // the types or values that are right, joined by "|"; "" when there is nothing to say
	Got      string // the bytes found there, hostile ones too, cut after 60 with "…" behind; "" for MissingField

	// Where tells of something unknown whether other versions have it: Later or Earlier, and Span says which, or Never.
	// Of all else it is Present.
	Where  Presence
	Span   Span
	Became string // the name of what has taken its place
}

const maxProblems = 32

// report reports a problem of the object or element at hand.
func (c *checker) report(p Problem) {
	if len(c.problems) < maxProblems {
		p.Path = string(c.appendPath(nil))
		c.problems = append(c.problems, p)
	}
}

// reportAt reports a problem of a member of the object at hand.
func (c *checker) reportAt(name string, p Problem) {
	if len(c.problems) < maxProblems {
		p.Path = string(appendName(c.appendPath(nil), name))
		c.problems = append(c.problems, p)
	}
}

func (c *checker) appendPath(path []byte) []byte {
	for _, s := range c.path {
		if s.name != "" {
			path = appendName(path, s.name)
		} else {
			path = append(strconv.AppendInt(append(path, '['), int64(s.index), 10), ']')
		}
	}
	return path
}

// appendName appends .name, or ["name"] when name is not made of letters, digits and _ alone.
func appendName(path []byte, name string) []byte {
	odd := func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}
	if name == "" || strings.ContainsFunc(name, odd) {
		return append(scan.AppendQuote(append(path, '['), []byte(name)), ']')
	}
	if len(path) > 0 {
		path = append(path, '.')
	}
	return append(path, name...)
}

// Expected returns the values that the field may hold in version v, or the types when it may hold any, joined by "|".
func (f *Field) Expected(v Version) string {
	if f.Enum == nil {
		return f.Types.String()
	}
	var names []string
	for _, value := range f.Enum {
		if value.At(v) <= Maybe {
			names = append(names, value.Name)
		}
	}
	return strings.Join(names, "|")
}

func (f *Field) value(name []byte) *Value {
	for i := range f.Enum {
		if f.Enum[i].Name == string(name) {
			return &f.Enum[i]
		}
	}
	return nil
}
