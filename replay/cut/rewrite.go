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
	maxString = 400     // bytes of a string that stay whole
	keep      = 200     // bytes of a longer one that stay
	maxSent   = 4 << 20 // bytes of the client's long texts that are remembered
	maxSystem = 60      // bytes of a string in a system message

	standInTime  = "1767225600000" // of timestamps, in milliseconds
	standInISO   = "2026-01-01T00:00:00.000Z"
	standInFile  = "2026-01-01T00-00-00-000Z"
	standInCount = "1"
	standInCost  = "0.01"
)

// rewriter puts stand-ins for what differs between two recordings of the same conversation. The same thing always gets
// the same one.
type rewriter struct {
	pairs []replay.Pair     // folders
	names []name            // of the machine and of its user
	ids   map[string]string // ids that were seen, by what they were
	kinds map[string]int    // how many of a kind
	sent  []string          // long texts of the client, which its agent gives back
	size  int               // of these, in bytes
	stack []frame
	out   []byte
}

// frame is an object or array that is rewritten.
type frame struct {
	object bool
	key    string // of the member at hand
	usage  bool   // figures of use are in it
	call   bool   // it is a tool call of the model
	system bool   // it is a system message, or in one
}

var (
	uuid    = regexp.MustCompile(`[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}`)
	isoTime = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)
	isoFile = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d+Z`)
	port    = regexp.MustCompile(`(127\.0\.0\.1|localhost|\[::1\]):\d{2,5}`)
	month   = `(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)`
	asDate  = regexp.MustCompile(`\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun) ` + month + ` [ \d]\d \d\d:\d\d:\d\d( [AP]M)? [A-Z]{3,5} \d{4}\b`)
	asLs    = regexp.MustCompile(`\b` + month + ` [ \d]\d \d\d:\d\d\b`)
	sqlTime = regexp.MustCompile(`\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?\b`)
	epochMS = regexp.MustCompile(`\b1[6-9]\d{11}\b`)
	short   = regexp.MustCompile(`^[0-9a-f]{8}$`)
	random  = regexp.MustCompile(`^(call|toolu|resp|msg|chatcmpl|fc|rs)[-_][0-9A-Za-z_|-]{4,}$`)
	secret  = regexp.MustCompile(`\b(sk-|gh[opsur]_|github_pat_|xox[abeprs]-|AKIA|AIza|glpat-|hf_|npm_)[0-9A-Za-z_-]{16,}|\bBearer [0-9A-Za-z._~+/=-]{16,}`)
	word    = regexp.MustCompile(`^[0-9A-Za-z_.-]*$`)
	tmpName = regexp.MustCompile(`\b(pi-[a-z]+-)[0-9a-f]{8,}`)
)

// idKeys are members whose short hexadecimal values are ids of entries.
var idKeys = map[string]bool{"id": true, "parentId": true, "entryId": true, "leafId": true, "fromId": true, "firstKeptEntryId": true,
	"targetId": true, "since": true, "toolCallId": true, "parentToolCallId": true, "responseId": true}

// callKeys are members that name a call of a tool, whatever a provider's ids look like.
var callKeys = map[string]bool{"toolCallId": true, "parentToolCallId": true}

// usageKeys are members with figures of use.
var usageKeys = map[string]bool{"usage": true, "cost": true, "tokens": true, "contextUsage": true, "tokensBefore": true, "tokensAfter": true, "estimatedTokensAfter": true}

// name is a word that stands for another.
type name struct {
	in  *regexp.Regexp // where it is a name: what stands before and behind it is its first and last group
	ls  *regexp.Regexp // the same for the owners in the output of ls -l
	was string
	now string
}

// common are names of machines and users that say nothing, and that texts hold for other reasons.
var common = []string{"root", "user", "host", "localhost", "admin", "node", "test", "agent", "model", "runner", "home", "tool", "bash"}

// called notes the name of the machine or of its user.
func (w *rewriter) called(was, now string) {
	if len(was) < 3 || was == now || slices.Contains(common, strings.ToLower(was)) || !word.MatchString(was) {
		return
	}
	q := regexp.QuoteMeta(was)
	w.names = append(w.names, name{
		in:  regexp.MustCompile(`([/\\@])` + q + `\b|\b` + q + `(@|:[~/])`),
		ls:  regexp.MustCompile(`(?m)^([-dlbcps][-rwxsStT]{9}[.+@]? +\d+ +(?:\S+ +)?)` + q + `( )`),
		was: was, now: now})
}

// unnamed puts stand-ins for names where they are names, and no words of a text: behind a slash or an @, before an @ or the
// colon of a prompt, and in the columns of ls -l. A string that is no more than the name may be a word of the protocol: there the
// member's key decides.
func (w *rewriter) unnamed(key, s string) string {
	for _, n := range w.names {
		switch {
		case !strings.Contains(s, n.was):
		case !word.MatchString(s):
			s = n.in.ReplaceAllString(s, "${1}"+n.now+"${2}")
			for range 2 { // owner and group
				s = n.ls.ReplaceAllString(s, "${1}"+n.now+"${2}")
			}
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
			if e := scan.ValueEnd(b, next); e >= 0 {
				if instead := w.whole(top, b[next:e]); instead != "" {
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

// whole is what stands for a whole object or array; "" for none.
func (w *rewriter) whole(top *frame, value []byte) string {
	c := value[0]
	switch {
	case top.system && top.key == "sections" && c == '{':
		return "{}"
	case top.system && strings.HasPrefix(top.key, "tools") && c == '[':
		return "[]"
	case top.key == "usage" && c == '{':
		return string(usage(nil, value))
	}
	return ""
}

// usage appends figures of use with the same members, and values that are the same in all recordings.
func usage(dst, value []byte) []byte {
	dst = append(dst, '{')
	for m := scan.MembersOf(value); m.Next(); {
		if dst[len(dst)-1] != '{' {
			dst = append(dst, ',')
		}
		key, token := string(m.Key), value[m.Start:m.End]
		dst = append(append(append(dst, '"'), m.Key...), '"', ':')
		switch c := token[0]; {
		case key == "cost" && c == '{':
			dst = append(dst, '{')
			for n := scan.MembersOf(token); n.Next(); {
				if dst[len(dst)-1] != '{' {
					dst = append(dst, ',')
				}
				dst = append(append(append(dst, '"'), n.Key...), '"', ':')
				if n.Is("totalFromProvider") {
					dst = append(dst, "false"...)
				} else {
					dst = append(dst, '0')
				}
			}
			dst = append(dst, '}')
		case key == "input" || key == "output":
			dst = append(dst, '1')
		case key == "totalTokens":
			dst = append(dst, '2')
		case c == '-' || c >= '0' && c <= '9':
			dst = append(dst, '0')
		default:
			dst = append(dst, token...)
		}
	}
	return append(dst, '}')
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
		switch {
		case key == "role" && string(token) == `"system"`:
			top.system = true
		case key == "type" && string(token) == `"toolCall"`:
			top.call = true
		}
		w.text(top, token, client)
	case client || c != '-' && (c < '0' || c > '9'):
		w.out = append(w.out, token...)
	case key == "timestamp", epochMS.Match(token) && len(token) == len(standInTime):
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
	key := top.key
	if top.call && key == "id" {
		key = "toolCallId"
	}
	now := w.replaced(key, was, client)
	if client && len(was) > maxString && w.size+len(was) <= maxSent {
		w.sent, w.size = append(w.sent, was), w.size+len(was)
	}
	if !client {
		limit, rest := maxString, keep
		if top.system {
			limit, rest = maxSystem, maxSystem
		}
		if len(now) > limit && !w.echoes(was) {
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

// echoes tells whether a long text is one of the client's, or a part of one: it compares what it gets with what it sent.
func (w *rewriter) echoes(text string) bool {
	return len(text) > maxString && slices.ContainsFunc(w.sent, func(sent string) bool { return strings.Contains(sent, text) })
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
	case callKeys[key] && s != "":
		return w.id(s, "call", "call_%d")
	case key == "responseId" && s != "":
		return w.id(s, "resp", "resp_%d")
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
		s = sqlTime.ReplaceAllString(s, "2026-01-01 00:00:00")
		s = asDate.ReplaceAllString(s, "Thu Jan  1 00:00:00 UTC 2026")
		s = asLs.ReplaceAllString(s, "Jan  1 00:00")
		s = epochMS.ReplaceAllString(s, standInTime)
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
