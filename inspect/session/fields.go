package session

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"pitap/record"
	"pitap/record/rpc"
	"pitap/record/scan"
)

// How many records of one kind are compared with the vocabulary. pi writes all of a kind alike; clients are followed for
// longer.
const (
	sampleAgent  = 64
	sampleClient = 20_000
)

// lookFields compares records with the vocabulary.
func lookFields(s *Session, r *Record) {
	if r.Cut || !r.JSON || r.Type == "" && !isObject(r.Body) {
		return
	}
	limit := sampleAgent
	if r.From == record.Client {
		limit = sampleClient
	}
	if r.kind.sample >= limit {
		return
	}
	r.kind.sample++
	v := s.Version
	if s.VersionFrom != "header" {
		v = rpc.Version{} // a guess is not good enough
	}
	s.repeated(r)
	problems := rpc.Validate(v, r.From.String(), r.Body)
	if r.From == record.Client && slices.ContainsFunc(problems, notThere) {
		return // a command that this version does not have: its response tells, and its members are no matter
	}
	for _, p := range problems {
		if rule, key, text := s.judge(r, p); rule != "" {
			s.find(rule, r.Entry, key, "%s", text)
		}
	}
}

func isObject(b []byte) bool {
	b = bytes.TrimLeft(b, " \t\r\n")
	return len(b) > 0 && b[0] == '{'
}

func notThere(p rpc.Problem) bool { return p.What == rpc.UnknownType && p.Path == "type" }

// repeated finds members that stand twice in a record.
func (s *Session) repeated(r *Record) {
	list := r.spans.List
	for i := range list {
		key := r.Body[list[i].Key:list[i].KeyEnd]
		text, _ := scan.Unescape(nil, key)
		for j := range list[:i] {
			earlier := scan.Member{Key: r.Body[list[j].Key:list[j].KeyEnd]}
			if earlier.Is(string(text)) {
				name := clip(string(text), 60)
				s.find("field/repeated", r.Entry, r.Kind+" "+name, "%s stands twice in %s: pi takes the last one, other readers the first, or refuse the record", name, r.kind.name)
				break
			}
		}
	}
}

// judge makes a finding of a difference. What pi writes is never wrong: a difference there means that pi is newer than
// the vocabulary, or gives back what a client has sent.
func (s *Session) judge(r *Record, p rpc.Problem) (rule, key, text string) {
	where := clip(r.kind.name, 60)
	if p.Path != "" {
		where = fmt.Sprintf("%s of %s", clip(p.Path, 100), where)
	}
	if r.From == record.Agent {
		if r.Type == "response" && p.What == rpc.UnknownType && p.Path == "command" {
			return "", "", "" // the command itself tells
		}
		return s.judgeAgent(p, where)
	}
	key = r.Kind + " " + p.Path + " " + p.What.String()
	span := ""
	if p.Where == rpc.Later || p.Where == rpc.Earlier {
		span = fmt.Sprintf(", which is there %s", p.Span)
		if p.Became != "" {
			span += " and is called " + p.Became + " now"
		}
	}
	switch {
	case p.What == rpc.NotObject:
		return "", "", ""
	case r.Type == "" && p.What == rpc.MissingField:
		return "field/missing", "no type", "the record has no type: pi takes it for a command that it does not know"
	case r.Type == "":
		return "field/type", "no type", fmt.Sprintf("type is %s, and should be string: pi takes the record for a command that it does not know", p.Got)
	case r.Type == "extension_ui_response": // the dialog's own rules say it better
		return "", "", ""
	case p.What == rpc.MissingField:
		return "field/missing", key, fmt.Sprintf("%s is missing: it takes %s", where, p.Expected)
	case p.What == rpc.WrongType:
		return "field/type", key, fmt.Sprintf("%s is %s, and should be %s", where, p.Got, p.Expected)
	case p.What == rpc.UnknownValue && p.Where == rpc.Never:
		return "field/value", key, fmt.Sprintf("%s is %s, and should be %s", where, p.Got, p.Expected)
	case p.What == rpc.UnknownValue:
		return "field/unknown", key, fmt.Sprintf("%s does not have the value %s of %s%s", s.pi(), p.Got, where, span)
	}
	return "field/unknown", key, fmt.Sprintf("%s does not have the member %s%s, and ignores it", s.pi(), where, span)
}

func (s *Session) judgeAgent(p rpc.Problem, where string) (rule, key, text string) {
	what := ""
	switch p.What {
	case rpc.NotObject:
		return "", "", ""
	case rpc.MissingField:
		if s.missing.edited {
			return "", "", "" // a fixture is without what tests do not need
		}
		if p.Path == "type" {
			return "field/unknown", "no type", "the record has no type: pi writes none like that"
		}
		what = "is missing"
	case rpc.UnknownType:
		what = "is a word that the vocabulary does not have"
	case rpc.WrongType:
		what = "is of another type than " + p.Expected
	case rpc.UnknownValue:
		what = "has a value that the vocabulary does not have"
	case rpc.UnknownField:
		what = "is a member that the vocabulary does not have"
	case rpc.Misplaced:
		what = "has no place there"
	}
	if span := p.Span.String(); span != "" && p.Where != rpc.Never {
		what += " for this version (it is there " + span + ")"
	}
	if p.Got != "" {
		what += ": " + p.Got
	}
	return "field/unknown", tail(p.Path) + " " + p.What.String(), fmt.Sprintf("%s %s (%s)", where, what, s.pi())
}

// tail is the end of a path without indexes: the same difference in message_start and in agent_end is one.
func tail(path string) string {
	if i := strings.LastIndexByte(path, '.'); i >= 0 {
		path = path[i+1:]
	}
	name, _, isElement := strings.Cut(path, "[")
	if isElement {
		return name + "[]"
	}
	return name
}
