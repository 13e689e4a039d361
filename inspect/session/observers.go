package session

import (
	"bytes"
	"fmt"

	"pitap/record"
	"pitap/record/rpc"
)

// observers gives the rules that look at every record.
func observers() []observer { return []observer{newFields().look, secrets} }

// maxValidated is how many records of one kind from the agent are compared with the vocabulary: pi writes all of a kind
// alike.
const maxValidated = 64

// fields compares records with the vocabulary.
type fields struct {
	seen map[string]int // records of the agent, by kind
}

func newFields() *fields { return &fields{seen: map[string]int{}} }

func (f *fields) look(s *Session, r *Record) {
	if r.Cut || r.Type == "" {
		return
	}
	if r.From == record.Agent {
		if f.seen[r.Kind] >= maxValidated || len(f.seen) >= maxKinds {
			return
		}
		f.seen[r.Kind]++
	}
	for _, p := range rpc.Validate(s.Version, r.From.String(), r.Body) {
		rule, text := judge(s, r, p)
		if rule != "" {
			s.find(rule, r.Entry, r.Kind+" "+p.Path+" "+p.What.String(), text)
		}
	}
}

// judge makes a finding of a difference. What pi writes is never wrong: a difference there means that pi is newer than
// the vocabulary.
func judge(s *Session, r *Record, p rpc.Problem) (rule, text string) {
	where := r.Kind
	if p.Path != "" {
		where = fmt.Sprintf("%s of %s", p.Path, r.Kind)
	}
	have := ""
	switch p.Where {
	case rpc.Later, rpc.Earlier:
		have = fmt.Sprintf(" (%s; this is pi %s)", p.Span, s.Version)
	default:
		have = fmt.Sprintf(" (pi %s)", s.Version)
	}
	if p.Became != "" {
		have += ", now " + p.Became
	}
	switch {
	case p.What == rpc.NotObject:
		return "", ""
	case r.From == record.Agent:
		return "field/unknown", fmt.Sprintf("%s: %s that the vocabulary does not have%s: %s", where, p.What, have, p.Got)
	case p.What == rpc.UnknownType:
		return "field/unknown", fmt.Sprintf("%s is not known%s", where, have)
	case r.Type == "extension_ui_response":
		return "", "" // the dialog's own rules say it better
	case p.What == rpc.MissingField:
		return "field/missing", fmt.Sprintf("%s is missing: it takes %s", where, p.Expected)
	case p.What == rpc.WrongType:
		return "field/type", fmt.Sprintf("%s is %s, and should be %s", where, p.Got, p.Expected)
	case p.What == rpc.UnknownValue && p.Where == rpc.Never:
		return "field/value", fmt.Sprintf("%s is %s, and should be %s", where, p.Got, p.Expected)
	}
	return "field/unknown", fmt.Sprintf("%s is not known%s: pi ignores it", where, have)
}

// secretMarks are beginnings of secrets and how long what follows must be at least to be one.
var secretMarks = []struct {
	mark string
	name string
	most int
}{
	{"sk-", "an API key", 20},
	{"Bearer ", "a bearer token", 20},
	{"ghp_", "a GitHub token", 30},
	{"github_pat_", "a GitHub token", 30},
	{"AKIA", "an AWS key id", 16},
	{"AIza", "a Google API key", 30},
	{"xoxb-", "a Slack token", 20},
	{"-----BEGIN ", "a private key", 0},
}

// secrets looks for keys and tokens. Deltas are left out: what they hold comes again as a whole.
func secrets(s *Session, r *Record) {
	if r.Type == "message_update" || r.Type == "tool_execution_update" || len(r.Body) > 16<<20 {
		return
	}
	for _, m := range secretMarks {
		rest := r.Body
		for {
			i := bytes.Index(rest, []byte(m.mark))
			if i < 0 {
				break
			}
			before := byte('"')
			if i > 0 {
				before = rest[i-1]
			}
			rest = rest[i+len(m.mark):]
			if isToken(before) || !tokenOf(rest, m.most) || m.most == 0 && !bytes.Contains(rest[:min(40, len(rest))], []byte("PRIVATE KEY")) {
				continue
			}
			e := *r.Entry
			e.Off += int64(len(r.Body) - len(rest) - len(m.mark))
			s.find("secret/plain", &e, m.name, fmt.Sprintf("%s stands in %s (%s...)", m.name, r.Kind, m.mark))
			break
		}
	}
}

// tokenOf tells whether p begins with at least n characters of a key.
func tokenOf(p []byte, n int) bool {
	if len(p) < n {
		return false
	}
	for _, c := range p[:n] {
		if !isToken(c) {
			return false
		}
	}
	return true
}

func isToken(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.'
}
