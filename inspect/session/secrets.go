package session

import (
	"bytes"

	"pitap/record"
)

// secretMarks are beginnings of secrets, and how many characters of a key must follow at least.
var secretMarks = []struct {
	mark  string
	name  string
	least int
}{
	{"sk-", "an API key", 24},
	{"Bearer ", "a bearer token", 20},
	{"ghp_", "a GitHub token", 30},
	{"github_pat_", "a GitHub token", 30},
	{"AKIA", "an AWS key id", 16},
	{"AIza", "a Google API key", 30},
	{"xoxb-", "a Slack token", 20},
	{"-----BEGIN ", "a private key", 0},
}

// maxSecrets is how many records are looked at behind the first secret of a kind: then it is known that the capture has
// them.
const maxSecrets = 1000

// secrets looks for keys and tokens. What holds them once more is left out: deltas, which end in a message, and the
// messages of turn_end, agent_end and get_messages, which came before.
func secrets(s *Session, r *Record) {
	switch r.Type {
	case "message_update", "tool_execution_update", "bash_execution_update", "message_start", "turn_end", "agent_end":
		return
	case "response":
		if r.Command == "get_messages" || r.Command == "get_entries" || r.Command == "get_tree" {
			return
		}
	}
	for i := range secretMarks {
		m := &secretMarks[i]
		if s.findings.enough("secret/plain", r.From, m.name, maxSecrets) {
			continue
		}
		at := secretAt(r.Body, m.mark, m.least)
		if at < 0 {
			continue
		}
		off := int64(at)
		if r.Cut {
			off = 0
		}
		s.findings.add("secret/plain", place{r.N, r.From, r.Off + off, off}, m.name, "%s stands in %s (%s...)", m.name, r.kind.name, m.mark)
	}
}

// enough tells whether a finding has a count of n.
func (f *findings) enough(rule string, from record.Stream, key string, n int64) bool {
	have := f.byKey[findingKey{rule, from, key}]
	return have != nil && have.Count >= n
}

// secretAt gives the place of the first secret with that beginning, -1 if there is none.
func secretAt(b []byte, mark string, least int) int {
	for at := 0; ; at += len(mark) {
		i := bytes.Index(b[at:], []byte(mark))
		if i < 0 {
			return -1
		}
		at += i
		if at > 0 && isToken(b[at-1]) {
			continue
		}
		rest := b[at+len(mark):]
		if least == 0 {
			if bytes.Contains(rest[:min(40, len(rest))], []byte("PRIVATE KEY-----")) {
				return at
			}
		} else if isKey(rest, least) {
			return at
		}
	}
}

// isKey tells whether b begins with at least n characters of a key, with digits and letters among them: names of programs
// and styles begin like keys, too.
func isKey(b []byte, n int) bool {
	digits, letters := 0, 0
	for i, c := range b {
		switch {
		case !isToken(c):
			return i >= n && digits > 1 && letters > 1
		case c >= '0' && c <= '9':
			digits++
		case c != '-' && c != '_' && c != '.':
			letters++
		}
		if i == 256 {
			break
		}
	}
	return len(b) >= n && digits > 1 && letters > 1
}

func isToken(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.'
}
