package cut

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"pitap/record/scan"
	"pitap/replay"
)

const (
	maxString = 400 // bytes of a string that stay whole
	keep      = 200 // bytes of a longer one that stay
	maxSystem = 60  // bytes of a string in a system message

	standInTime  = "1767225600000" // of timestamps, in milliseconds
	standInISO   = "2026-01-01T00:00:00.000Z"
	standInFile  = "2026-01-01T00-00-00-000Z"
	standInCount = "1"
	standInUsage = `{"input":1,"output":1,"cacheRead":0,"cacheWrite":0,"totalTokens":2,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}}`
	standInCost  = "0.01"
)

// rewriter puts stand-ins for what differs between two recordings of the same conversation. The same thing always gets
// the same one.
type rewriter struct {
	pairs []replay.Pair     // folders
	names []name            // of the machine and of its user
	ids   map[string]string // ids that were seen, by what they were
	kinds map[string]int    // how many of a kind
	stack []frame
	out   []byte
}

// frame is an object or array that is rewritten.
type frame struct {
	object bool
	key    string // of the member at hand
	usage  bool   // figures of use are in it
	system bool   // it is a system message, or in one
}

var (
	uuid    = regexp.MustCompile(`[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}`)
	isoTime = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)
	isoFile = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d+Z`)
	port    = regexp.MustCompile(`(127\.0\.0\.1|localhost|\[::1\]):\d{2,5}`)
	short   = regexp.MustCompile(`^[0-9a-f]{8}$`)
	random  = regexp.MustCompile(`^(call|toolu|resp|msg|chatcmpl|fc|rs)[-_][0-9A-Za-z_|-]{4,}$`)
	secret  = regexp.MustCompile(`\b(sk-|gh[opsur]_|github_pat_|xox[abeprs]-|AKIA|AIza|glpat-|hf_|npm_)[0-9A-Za-z_-]{16,}|\bBearer [0-9A-Za-z._~+/=-]{16,}`)
	word    = regexp.MustCompile(`^[0-9A-Za-z_.-]*$`)
	tmpName = regexp.MustCompile(`\b(pi-[a-z]+-)[0-9a-f]{8,}`)
)

// idKeys are members whose short hexadecimal values are ids of entries.
var idKeys = map[string]bool{"id": true, "parentId": true, "entryId": true, "leafId": true, "fromId": true, "firstKeptEntryId": true,
	"targetId": true, "since": true, "toolCallId": true, "parentToolCallId": true, "responseId": true}

// usageKeys are members with figures of use.
var usageKeys = map[string]bool{"usage": true, "cost": true, "tokens": true, "contextUsage": true, "tokensBefore": true, "tokensAfter": true, "estimatedTokensAfter": true}

// name is a word that stands for another.
type name struct {
	word *regexp.Regexp
	was  string
	now  string
}

// common are names of machines and users that say nothing, and that texts hold for other reasons.
var common = []string{"root", "user", "host", "localhost", "admin", "node", "test", "agent", "model", "runner", "home", "tool", "bash"}

// called notes the name of the machine or of its user.
func (w *rewriter) called(was, now string) {
	if len(was) < 3 || was == now || slices.Contains(common, strings.ToLower(was)) || !word.MatchString(was) {
		return
	}
	w.names = append(w.names, name{regexp.MustCompile(`\b` + regexp.QuoteMeta(was) + `\b`), was, now})
}

// unnamed puts stand-ins for names. A string that is no more than the name may be a word of the protocol: there the
// member's key decides.
func (w *rewriter) unnamed(key, s string) string {
	for _, n := range w.names {
		switch {
		case !strings.Contains(s, n.was):
		case !word.MatchString(s):
			s = n.word.ReplaceAllLiteralString(s, n.now)
		case s == n.was && (strings.Contains(strings.ToLower(key), "host") || strings.Contains(strings.ToLower(key), "user")):
			s = n.now
		}
	}
	return s
}

// line rewrites what the agent writes that is no record: on stderr, and between records. What is not UTF-8 stays.
func (w *rewriter) line(body []byte) []byte {
	if !utf8.Valid(body) {
		return body
	}
	now := w.replaced("", string(body), false)
	if len(now) > maxString {
		now = shorten(now, keep)
	}
	return []byte(now)
}

// record rewrites a record. What a client sends keeps all its words, or it would not match any more: there only ids and
// texts that the agent has named before are replaced.
func (w *rewriter) record(body []byte, client bool) []byte {
	r := scan.Scan(body)
	switch {
	case r.Valid && r.Object:
	case client:
		return body
	default:
		return w.line(body)
	}
	if !client {
		body = withoutUsage(body)
	}
	w.out, w.stack = w.out[:0], append(w.stack[:0], frame{})
	for at := 0; at < len(body); {
		at = w.token(body, at, client)
	}
	return bytes.Clone(w.out)
}

// withoutUsage leaves the figures of use out of a message_update: older versions of pi have none there, and half of a
// fixture would consist of them.
func withoutUsage(body []byte) []byte {
	update, start, end := false, -1, -1
	for m := scan.MembersOf(body); m.Next(); {
		switch {
		case m.Is("type"):
			update = string(body[m.Start:m.End]) == `"message_update"`
		case m.Is("usage"):
			start, end = cap(body)-cap(m.Key)-1, m.End
		}
	}
	if !update || start < 0 || end >= len(body) || body[end] != ',' {
		return body
	}
	return slices.Concat(body[:start], body[end+1:])
}

// token rewrites the token at b[at] and returns where the next one begins.
func (w *rewriter) token(b []byte, at int, client bool) int {
	top := &w.stack[len(w.stack)-1]
	switch c := b[at]; c {
	case '{', '[':
		w.stack = append(w.stack, frame{object: c == '{', usage: top.usage || usageKeys[top.key], system: top.system})
		w.out = append(w.out, c)
		return at + 1
	case '}', ']':
		w.stack = w.stack[:len(w.stack)-1]
		w.stack[len(w.stack)-1].key = ""
		w.out = append(w.out, c)
		return at + 1
	case ',', ':', ' ', '\t':
		w.out = append(w.out, c)
		return at + 1
	}
	end := scan.ValueEnd(b, at)
	if end < 0 {
		w.out = append(w.out, b[at:]...)
		return len(b)
	}
	token := b[at:end]
	if top.object && top.key == "" && token[0] == '"' {
		key, _ := scan.Unquote(nil, token)
		top.key = string(key)
		w.out = append(w.out, token...)
		if next := afterColon(b, end); next >= 0 && !client {
			if instead := w.whole(top, b[next]); instead != "" {
				if e := scan.ValueEnd(b, next); e >= 0 {
					w.out = append(append(w.out, ':'), instead...)
					top.key = ""
					return e
				}
			}
		}
		return end
	}
	w.value(top, token, client)
	if top.object {
		top.key = ""
	}
	return end
}

// whole is what stands for a whole object or array that begins with c; "" for none.
func (w *rewriter) whole(top *frame, c byte) string {
	switch {
	case top.system && top.key == "sections" && c == '{':
		return "{}"
	case top.system && strings.HasPrefix(top.key, "tools") && c == '[':
		return "[]"
	case top.key == "usage" && c == '{':
		return standInUsage
	}
	return ""
}

func afterColon(b []byte, at int) int {
	for at < len(b) && (b[at] == ' ' || b[at] == ':') {
		at++
	}
	if at >= len(b) {
		return -1
	}
	return at
}

// value writes a scalar, or what stands for it.
func (w *rewriter) value(top *frame, token []byte, client bool) {
	key := top.key
	switch c := token[0]; {
	case c == '"':
		if key == "role" && string(token) == `"system"` {
			top.system = true
		}
		w.text(top, token, client)
	case client || c != '-' && (c < '0' || c > '9'):
		w.out = append(w.out, token...)
	case key == "timestamp":
		w.out = append(w.out, standInTime...)
	case key == "durationMs" || key == "wall_time_seconds":
		w.out = append(w.out, '1')
	case (top.usage || usageKeys[key]) && string(token) != "0":
		if bytes.ContainsAny(token, ".e") {
			w.out = append(w.out, standInCost...)
		} else {
			w.out = append(w.out, standInCount...)
		}
	default:
		w.out = append(w.out, token...)
	}
}

// text writes a string.
func (w *rewriter) text(top *frame, token []byte, client bool) {
	raw, lossy := scan.Unquote(nil, token)
	if lossy { // a lone surrogate: there is no text to work on
		w.out = append(w.out, token...)
		return
	}
	was := string(raw)
	now := w.replaced(top.key, was, client)
	if !client {
		limit, rest := maxString, keep
		if top.system {
			limit, rest = maxSystem, maxSystem
		}
		if len(now) > limit {
			now = shorten(now, rest)
		}
	}
	if now == was {
		w.out = append(w.out, token...)
		return
	}
	w.out = quoted(w.out, now)
}

// quoted writes a string as pi does: U+2028 and the like stay raw, since readers that break on them must break in the
// replay too. s is UTF-8.
func quoted(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c >= 0x20:
			dst = append(dst, c)
		default:
			if j := strings.IndexByte("\b\f\n\r\t", c); j >= 0 {
				dst = append(dst, '\\', "bfnrt"[j])
			} else {
				dst = fmt.Appendf(dst, `\u%04x`, c)
			}
		}
	}
	return append(dst, '"')
}

func shorten(s string, n int) string {
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// replaced puts stand-ins for all in a string that differs from recording to recording.
func (w *rewriter) replaced(key, s string, client bool) string {
	if known, ok := w.ids[s]; ok {
		return known
	}
	switch {
	case client && key != "id":
	case idKeys[key] && short.MatchString(s):
		return w.id(s, "entry", "%08x")
	case random.MatchString(s):
		kind, _, _ := strings.Cut(strings.ReplaceAll(s, "-", "_"), "_")
		return w.id(s, kind, kind+"_%d")
	}
	s = uuid.ReplaceAllStringFunc(s, func(id string) string {
		if known, ok := w.ids[id]; ok || client && key != "id" {
			if ok {
				return known
			}
			return id
		}
		return w.id(id, "uuid", "00000000-0000-4000-8000-%012d")
	})
	if !client {
		s = secret.ReplaceAllString(s, "SECRET") // those that are known by their looks
		s = isoTime.ReplaceAllString(s, standInISO)
		s = port.ReplaceAllString(s, "${1}:10000")
		s = tmpName.ReplaceAllString(s, "${1}0000000000000000")
	}
	s = isoFile.ReplaceAllString(s, standInFile)
	s = replay.Rewrite(s, w.pairs)
	if !client {
		s = w.unnamed(key, s)
	}
	return s
}

func (w *rewriter) id(was, kind, format string) string {
	w.kinds[kind]++
	now := fmt.Sprintf(format, w.kinds[kind])
	w.ids[was] = now
	return now
}

// deltaOf finds the delta of a record that carries a piece of a stream: what stream, and where the token is.
func deltaOf(body []byte) (stream string, start, end int) {
	typ, id, call := "", "", ""
	start = -1
	for m := scan.MembersOf(body); m.Next(); {
		value := body[m.Start:m.End]
		switch {
		case m.Is("type"):
			typ = string(value)
		case m.Is("id"):
			id = string(value)
		case m.Is("toolCallId"):
			call = string(value)
		case m.Is("delta"):
			start, end = m.Start, m.End
		case m.Is("assistantMessageEvent"):
			kind, index := "", ""
			for e := scan.MembersOf(value); e.Next(); {
				inner := value[e.Start:e.End]
				switch {
				case e.Is("type"):
					kind = string(inner)
				case e.Is("contentIndex"):
					index = string(inner)
				case e.Is("delta"):
					start, end = m.Start+e.Start, m.Start+e.End
				}
			}
			id = kind + index
		}
	}
	switch typ {
	case `"message_update"`, `"bash_execution_update"`:
		if start >= 0 && body[start] == '"' {
			return typ + id, start, end
		}
	case `"tool_execution_update"`: // each holds all so far
		return typ + call, -1, -1
	}
	return "", -1, -1
}

// quotedPath is how pi writes a folder into the name of another.
func quotedPath(path string) string {
	return "-" + strings.NewReplacer("/", "-", `\`, "-", ":", "-").Replace(path) + "--"
}
