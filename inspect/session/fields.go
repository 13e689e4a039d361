package session

import (
	"fmt"
	"strings"

	"pitap/record"
	"pitap/record/rpc"
)

// How many records of one kind are compared with the vocabulary. pi writes all of a kind alike; clients are followed for
// longer.
const (
	sampleAgent  = 64
	sampleClient = 20_000
)

// lookFields compares records with the vocabulary.
func lookFields(s *Session, r *Record) {
	if r.Cut || r.Type == "" || !r.JSON {
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
	for _, p := range rpc.Validate(v, r.From.String(), r.Body) {
		if rule, key, text := s.judge(r, p); rule != "" {
			s.find(rule, r.Entry, key, "%s", text)
		}
	}
}

// judge makes a finding of a difference. What pi writes is never wrong: a difference there means that pi is newer than
// the vocabulary, or gives back what a client has sent.
func (s *Session) judge(r *Record, p rpc.Problem) (rule, key, text string) {
	where := clip(r.Kind, 60)
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
	case p.What == rpc.NotObject, p.What == rpc.UnknownType && p.Path == "type": // its response tells
		return "", "", ""
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
	case rpc.UnknownType:
		what = "is a word that the vocabulary does not have"
	case rpc.MissingField:
		what = "is missing"
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
