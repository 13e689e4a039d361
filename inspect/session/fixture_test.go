package session

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"pitap/record"
)

// A fixture is a capture in plain JSONL, written shorter. Each line is an entry:
//
//	0.5 > {"type":"abort"}     the client's record, at half a second; without a time 1 ms after the one before
//	< {...}  ! text            the agent's, a line on stderr
//	>q "a\xff"                 bytes, as Go writes them in a string
//	* "exit","code":1          a note, the members behind its name note
//	... {"n":7,"part":true}    an entry as it stands in a capture
//	# words                    nothing
//
// The first line may name the version of pi; it is 1.6.0 otherwise, and "-" for unknown.
func fixture(t testing.TB, text string) []byte {
	t.Helper()
	f := fixtureWriter{version: "1.6.0", n: 1}
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		line = strings.TrimSpace(line)
		switch version, is := strings.CutPrefix(line, "pi "); {
		case is && i == 0:
			f.version = version
		case line == "" || line[0] == '#':
		default:
			if err := f.entry(line); err != nil {
				t.Fatalf("fixture: %s: %v", line, err)
			}
		}
	}
	return append(f.header(), f.out.Bytes()...)
}

type fixtureWriter struct {
	version string
	out     bytes.Buffer
	n       int64
	t       float64
	off     map[string]int
}

func (f *fixtureWriter) header() []byte {
	agent := fmt.Sprintf(`,"agent":{"version":%q}`, f.version)
	if f.version == "-" {
		agent = ""
	}
	return fmt.Appendf(nil, "{\"pitap\":1%s}\n", agent)
}

func (f *fixtureWriter) entry(line string) error {
	f.t += 0.001
	first, rest, _ := strings.Cut(line, " ")
	if t, err := strconv.ParseFloat(first, 64); err == nil {
		f.t = t
		first, rest, _ = strings.Cut(rest, " ")
	}
	from := map[byte]string{'>': "client", '<': "agent", '!': "stderr"}[first[0]]
	head := fmt.Sprintf(`{"n":%d,"t":%d`, f.n, int64(f.t*1e9+0.5))
	f.n++
	switch {
	case first == "...":
		fmt.Fprintf(&f.out, "%s\n", rest)
		var e struct{ N int64 }
		if err := json.Unmarshal([]byte(rest), &e); err != nil {
			return err
		}
		if e.N > 0 {
			f.n = e.N + 1
		}
		return nil
	case first == "*":
		fmt.Fprintf(&f.out, "%s,\"note\":%s}\n", head, rest)
		return nil
	case from == "":
		return fmt.Errorf("begins with %q", first)
	}
	body := []byte(rest)
	if strings.HasSuffix(first, "q") {
		text, err := strconv.Unquote(rest)
		if err != nil {
			return err
		}
		body = []byte(text)
	}
	if f.off == nil {
		f.off = map[string]int{}
	}
	head += fmt.Sprintf(`,"from":%q,"off":%d`, from, f.off[from])
	f.off[from] += len(body) + 1
	switch {
	case from != "stderr" && json.Valid(body) && utf8.Valid(body):
		fmt.Fprintf(&f.out, "%s,\"msg\":%s}\n", head, body)
	case utf8.Valid(body):
		fmt.Fprintf(&f.out, "%s,\"text\":%s}\n", head, quoted(body))
	default:
		fmt.Fprintf(&f.out, "%s,\"base64\":%q}\n", head, base64.StdEncoding.EncodeToString(body))
	}
	return nil
}

func quoted(b []byte) []byte {
	text, _ := json.Marshal(string(b))
	return text
}

// memory is a capture in memory.
type memory []byte

func (m memory) ReadAt(p []byte, off int64) (int, error) { return bytes.NewReader(m).ReadAt(p, off) }

// read takes a capture's entries into a session. The session is not ended.
func read(t testing.TB, capture []byte) (*Session, *record.Reader) {
	t.Helper()
	r := record.NewReader(memory(capture), func() (int64, error) { return int64(len(capture)), nil })
	h, err := r.Header()
	if err != nil {
		t.Fatal(err)
	}
	s := New(h)
	for r.Next() {
		s.Add(r.Entry())
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	return s, r
}

// ended is the session of a fixture, up to its end.
func ended(t testing.TB, text string) *Session {
	t.Helper()
	s, r := read(t, fixture(t, text))
	s.End(r.Ended())
	return s
}

// ids writes findings as rule#entry, with xN behind for a count of N.
func ids(list []record.Finding) string {
	var out []string
	for _, f := range list {
		id := fmt.Sprintf("%s#%d", f.Rule, f.N)
		if f.Count > 1 {
			id += fmt.Sprintf("x%d", f.Count)
		}
		out = append(out, id)
	}
	return strings.Join(out, " ")
}

// Pieces of sessions. An id stands for the command, a text for the message.

const (
	runStart = "< {\"type\":\"agent_start\"}\n< {\"type\":\"turn_start\"}\n"
	turn     = "< {\"type\":\"turn_start\"}\n"
	settled  = "< {\"type\":\"agent_settled\",\"aborted\":false}\n"
)

func command(id, typ string) string { return fmt.Sprintf("> {\"id\":%q,\"type\":%q}\n", id, typ) }

func answer(id, typ string) string {
	return fmt.Sprintf("< {\"id\":%q,\"type\":\"response\",\"command\":%q,\"success\":true}\n", id, typ)
}

func prompt(id, message string) string {
	return fmt.Sprintf("> {\"id\":%q,\"type\":\"prompt\",\"message\":%q}\n", id, message)
}

func started(id string) string { return disposed(id, "prompt", "started") }

func disposed(id, typ, disposition string) string {
	return fmt.Sprintf("< {\"id\":%q,\"type\":\"response\",\"command\":%q,\"success\":true,\"data\":{\"disposition\":%q}}\n", id, typ, disposition)
}

func refused(id, typ, words string) string {
	return fmt.Sprintf("< {\"id\":%q,\"type\":\"response\",\"command\":%q,\"success\":false,\"error\":%q}\n", id, typ, words)
}

const usage = `"usage":{"input":100,"output":7,"cacheRead":0,"cacheWrite":0,"totalTokens":107,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0.25}}`

// assistant is an assistant's message, content without its brackets.
func assistant(content, stop string) string {
	return fmt.Sprintf(`{"role":"assistant","content":[%s],"api":"a","provider":"p","model":"m",%s,"stopReason":%q,"timestamp":1}`, content, usage, stop)
}

func says(s string) string { return fmt.Sprintf(`{"type":"text","text":%q}`, s) }

func toolCall(id, name string) string {
	return fmt.Sprintf(`{"type":"toolCall","id":%q,"name":%q,"arguments":{"a":1}}`, id, name)
}

func user(s string) string {
	return fmt.Sprintf(`{"role":"user","content":[%s],"timestamp":1}`, says(s))
}

func result(id, name string) string {
	return fmt.Sprintf(`{"role":"toolResult","toolCallId":%q,"toolName":%q,"content":[],"isError":false,"timestamp":1}`, id, name)
}

func start(message string) string {
	return "< {\"type\":\"message_start\",\"message\":" + message + "}\n"
}
func end(message string) string   { return "< {\"type\":\"message_end\",\"message\":" + message + "}\n" }
func whole(message string) string { return start(message) + end(message) }

func turnEnd(message string, results ...string) string {
	return fmt.Sprintf("< {\"type\":\"turn_end\",\"message\":%s,\"toolResults\":[%s]}\n", message, strings.Join(results, ","))
}

func runEnd(messages ...string) string {
	return fmt.Sprintf("< {\"type\":\"agent_end\",\"messages\":[%s],\"willRetry\":false}\n", strings.Join(messages, ","))
}

func updated(event string) string {
	return "< {\"type\":\"message_update\",\"assistantMessageEvent\":" + event + "," + usage + "}\n"
}

func textUpdate(step string, index int, member, words string) string {
	if member != "" {
		member = fmt.Sprintf(",%q:%q", member, words)
	}
	return updated(fmt.Sprintf(`{"type":"text_%s","contentIndex":%d%s}`, step, index, member))
}

func toolStart(id, name string) string {
	return fmt.Sprintf("< {\"type\":\"tool_execution_start\",\"toolCallId\":%q,\"toolName\":%q,\"args\":{\"a\":1}}\n", id, name)
}

func toolUpdate(id, name string) string {
	return fmt.Sprintf("< {\"type\":\"tool_execution_update\",\"toolCallId\":%q,\"toolName\":%q,\"args\":{\"a\":1},\"partialResult\":{}}\n", id, name)
}

func toolEnd(id, name string) string {
	return fmt.Sprintf("< {\"type\":\"tool_execution_end\",\"toolCallId\":%q,\"toolName\":%q,\"result\":{},\"isError\":false}\n", id, name)
}

// run is a whole run with one turn, from the prompt on.
func run(id, message, words string) string {
	a := assistant(says(words), "stop")
	return prompt(id, message) + started(id) + runStart + whole(user(message)) + whole(a) + turnEnd(a) + runEnd(user(message), a) + settled
}

// toolTurn is a turn in which the tools that are called run.
func toolTurn(tools string, results ...string) string {
	a := assistant(toolCall("c1", "bash"), "toolUse")
	out := turn + whole(a) + tools
	for _, r := range results {
		out += whole(r)
	}
	return out + turnEnd(a, results...)
}

func dialog(id, method, more string) string {
	return fmt.Sprintf("< {\"type\":\"extension_ui_request\",\"id\":%q,\"method\":%q,\"title\":\"Title\"%s}\n", id, method, more)
}

func reply(id, more string) string {
	return fmt.Sprintf("> {\"type\":\"extension_ui_response\",\"id\":%q%s}\n", id, more)
}

// exits is an orderly end.
const exits = "* \"eof\",\"from\":\"client\"\n* \"exit\",\"code\":0\n* \"end\",\"totals\":{\"entries\":0}\n"
