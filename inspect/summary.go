package inspect

import (
	"bytes"
	"strconv"
	"strings"

	"pitap/inspect/text"
	"pitap/record"
)

// Tone says how a summary is meant, for its colour.
type Tone uint8

const (
	Plain Tone = iota
	Good       // something succeeded
	Bad        // something failed or is wrong
	Quiet      // of little interest
)

// each bounds one value among several on a line, in bytes.
const each = 60

// Summary says in one line what matters of a row, about limit bytes of it: any bytes, to be made visible before they
// are printed. v is what Look said of the row.
func (s *Summarizer) Summary(r *Row, v *Seen, limit int) ([]byte, Tone) {
	l := &line{limit: limit}
	tone := Plain
	switch {
	case r.Note != nil:
		tone = note(l, r)
	case r.From == record.Stderr:
		state(l, r)
		l.raw(r.Body)
		if r.Open || r.Broken {
			tone = Bad
		}
	case r.Open || r.Broken:
		state(l, r)
		l.raw(r.Body)
		tone = Bad
	case v.Kind == KindBlank:
		l.add("an empty line")
		if r.Size > 0 {
			l.add(": ", strconv.Quote(string(cutRunes(r.Body, each))))
		}
		tone = Bad
	case v.Kind == KindNotJSON:
		notJSON(l, r, v)
		tone = Bad
	case v.head.Type == "":
		l.json(r.Body, limit)
		tone = Bad
	case r.From == record.Client:
		clientRecord(l, r, v)
	default:
		tone = agentRecord(l, r, v)
	}
	return l.done(), tone
}

// state says what is missing of a record.
func state(l *line, r *Row) {
	if r.Missing > 0 {
		l.add(text.Count(r.Missing), " bytes before this were not recorded; ")
	}
	switch {
	case r.Open:
		l.add("half a record, ", text.Count(r.Size), " bytes so far, no line end: ")
	case r.Broken:
		l.add("the beginning of a record, ", text.Count(r.Size), " bytes, the rest was not recorded: ")
	}
}

// notJSON says where JSON ends, and whether a record begins behind that.
func notJSON(l *line, r *Row, v *Seen) {
	state(l, r)
	at := v.result.ErrAt
	switch {
	case at >= len(r.Body) && at > 0:
		l.add("JSON that ends too early: ")
	case at > 0 && v.result.Object:
		l.add("not JSON from byte ", strconv.Itoa(at), " on: ")
	}
	l.raw(r.Body)
}

// clientRecord says what a command or a UI response asks.
func clientRecord(l *line, r *Row, v *Seen) {
	switch v.head.Type {
	case "prompt", "steer", "follow_up":
		m := pick(r.Body, "message", "images")
		l.text(m[0], l.limit)
		images(l, m[1])
		l.members(r.Body, each, "type", "id", "message", "images")
	case "bash":
		m := pick(r.Body, "command")
		l.text(m[0], l.limit)
		l.members(r.Body, each, "type", "id", "command")
	case "extension_ui_response":
		l.members(r.Body, l.limit, "type", "id")
		if v.Took >= 0 {
			l.add(" answers ", v.asked, " after ", text.Duration(v.Took))
		}
	default:
		l.members(r.Body, each, "type", "id")
	}
}

func images(l *line, array []byte) {
	if _, n := elements(array, 0); n > 0 {
		l.add(" +", plural(n, "image"))
	}
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// agentRecord says what a response or an event tells.
func agentRecord(l *line, r *Row, v *Seen) Tone {
	switch typ := v.head.Type; typ {
	case "response":
		return response(l, r, v)
	case "message_update":
		update(l, r, v)
		return Plain
	case "message_start", "message_end":
		return message(l, pick(r.Body, "message")[0], typ == "message_start")
	case "tool_execution_start", "tool_execution_update", "tool_execution_end":
		return tool(l, r, v)
	case "extension_ui_request":
		request(l, r, v)
		return Plain
	case "turn_end":
		m := pick(r.Body, "message", "toolResults")
		stopped := pick(m[0], "stopReason", "errorMessage")
		l.text(stopped[0], each)
		if _, n := elements(m[1], 0); n > 0 {
			l.add(", ", plural(n, "tool result"))
		}
		return stopTone(stopped[0])
	case "agent_end":
		m := pick(r.Body, "messages", "willRetry")
		_, n := elements(m[0], 0)
		l.add(plural(n, "message"))
		if string(m[1]) == "true" {
			l.add(", will retry")
		}
		return Plain
	case "agent_settled":
		return settled(l, r, v)
	case "queue_update":
		queue(l, r)
		return Plain
	case "bash_execution_update":
		l.text(pick(r.Body, "delta")[0], l.limit)
		return Plain
	}
	return event(l, r, v)
}

// event is any other event: its members, and how long it took to come.
func event(l *line, r *Row, v *Seen) Tone {
	tone := Plain
	m := pick(r.Body, "errorMessage", "finalError", "error", "aborted")
	if m[0] != nil || m[1] != nil || m[2] != nil {
		tone = Bad
	}
	if v.Took >= 0 {
		l.add("after ", text.Duration(v.Took))
	}
	l.members(r.Body, each, "type", "id")
	return tone
}

// settled is the end of a run.
func settled(l *line, r *Row, v *Seen) Tone {
	tone := Plain
	if string(pick(r.Body, "aborted")[0]) == "true" {
		l.add("aborted")
		tone = Bad
	}
	if v.Took >= 0 {
		l.sep(", ")
		l.add("the run took ", text.Duration(v.Took))
	}
	return tone
}

func response(l *line, r *Row, v *Seen) Tone {
	m := pick(r.Body, "success", "data", "error")
	tone := Good
	switch {
	case string(m[0]) == "true":
		l.add("ok")
	case string(m[0]) == "false":
		tone = Bad
		l.add("failed")
	default:
		tone = Bad
		l.add("success=")
		l.value(m[0], each)
	}
	if v.Took >= 0 {
		l.add(" after ", text.Duration(v.Took))
	}
	if m[2] != nil {
		l.add(": ")
		l.text(m[2], l.limit)
	}
	if len(m[1]) > 0 {
		inner := &line{limit: l.room()}
		data(inner, v.head.Command, m[1])
		if len(inner.b) > 0 {
			l.add(": ")
			l.raw(inner.done())
		}
	}
	return tone
}

// data is what a response gives.
func data(l *line, command string, token []byte) {
	if token[0] != '{' {
		l.value(token, each)
		return
	}
	if command == "bash" {
		m := pick(token, "exitCode", "output")
		l.add("exit ")
		l.value(m[0], each)
	}
	l.members(token, each)
}

// update is a message_update.
func update(l *line, r *Row, v *Seen) {
	m := pick(pick(r.Body, "assistantMessageEvent")[0], "delta", "content", "toolCall", "toolName", "id", "contentIndex")
	switch {
	case m[0] != nil:
		l.text(m[0], l.limit)
	case m[1] != nil:
		l.text(m[1], l.limit)
	case m[2] != nil:
		call(l, m[2])
	case m[3] != nil:
		l.text(m[3], each)
		l.add(" ")
		l.text(m[4], each)
	default:
		l.add("block ")
		l.value(m[5], each)
	}
}

// call is a toolCall block.
func call(l *line, block []byte) {
	m := pick(block, "name", "arguments", "argumentsError")
	l.text(m[0], each)
	l.add(" ")
	l.json(m[1], l.limit)
	if m[2] != nil {
		l.add(" ")
		l.text(m[2], l.limit)
	}
}

func tool(l *line, r *Row, v *Seen) Tone {
	m := pick(r.Body, "toolName", "args", "partialResult", "result", "isError", "durationMs")
	l.text(m[0], each)
	tone := Plain
	switch {
	case m[3] != nil:
		tone = Good
		word := " ok"
		if string(m[4]) == "true" {
			tone, word = Bad, " failed"
		}
		l.add(word)
		if v.Took >= 0 {
			l.add(" after ", text.Duration(v.Took))
		}
		l.add(": ")
		l.text(firstText(pick(m[3], "content")[0]), l.limit)
	case m[2] != nil:
		l.add(": ")
		l.tail(firstText(pick(m[2], "content")[0]), each)
	default:
		l.add(" ")
		l.json(m[1], l.limit)
	}
	return tone
}

// firstText is the token of the first text in a message's content, which is a string or an array of blocks.
func firstText(content []byte) []byte {
	if isString(content) {
		return content
	}
	blocks, _ := elements(content, 8)
	for _, b := range blocks {
		if m := pick(b, "text"); m[0] != nil {
			return m[0]
		}
	}
	return nil
}

// message says who says what, and how an answer ended.
func message(l *line, msg []byte, start bool) Tone {
	m := pick(msg, "role", "content", "stopReason", "usage", "errorMessage", "model", "sections", "toolName")
	role := string(bytes.Trim(m[0], `"`))
	l.text(m[0], each)
	tone := Plain
	switch role {
	case "assistant":
		if start && string(m[1]) == "[]" {
			l.add(" by ")
			l.text(m[5], each)
			return Plain
		}
		l.add(" ")
		l.text(m[2], each)
		u := pick(m[3], "input", "output")
		if u[0] != nil {
			l.add(", ", string(cutRunes(u[0], 20)), " in ", string(cutRunes(u[1], 20)), " out")
		}
		tone = stopTone(m[2])
	case "system":
		l.add(", ", text.Size(int64(len(msg))), " of prompt")
		return Quiet
	case "toolResult":
		l.add(" of ")
		l.text(m[7], each)
		if string(pick(msg, "isError")[0]) == "true" {
			l.add(", failed")
			tone = Bad
		}
	}
	if m[4] != nil {
		l.add(", ")
		l.text(m[4], l.limit)
	}
	l.add(": ")
	blocks(l, m[1])
	return tone
}

func stopTone(reason []byte) Tone {
	switch string(reason) {
	case `"error"`, `"aborted"`, `"length"`:
		return Bad
	}
	return Plain
}

// blocks says what a message holds: texts as they are, thoughts and tool calls by name.
func blocks(l *line, content []byte) {
	if isString(content) {
		l.text(content, l.limit)
		return
	}
	some, n := elements(content, 16)
	for i, b := range some {
		if i > 0 {
			l.add(" + ")
		}
		m := pick(b, "type", "text", "thinking", "mimeType")
		switch string(m[0]) {
		case `"text"`:
			l.text(m[1], l.limit)
		case `"thinking"`:
			l.add("(thinking: ")
			l.text(m[2], each)
			l.add(")")
		case `"toolCall"`:
			l.add("call of ")
			call(l, b)
		case `"image"`:
			l.add("(image ")
			l.text(m[3], each)
			l.add(")")
		default:
			l.value(b, each)
		}
	}
	if n > len(some) {
		l.add(" + ", strconv.Itoa(n-len(some)), " more")
	}
	if n == 0 && len(content) > 0 && content[0] == '[' {
		l.add("nothing")
	}
}

// request is a UI request.
func request(l *line, r *Row, v *Seen) {
	m := pick(r.Body, "title", "options")
	if m[0] != nil {
		l.add(`"`)
		l.text(m[0], l.limit)
		l.add(`"`)
	}
	options, _ := elements(m[1], 50)
	for i, o := range options {
		if i == 0 {
			l.sep(" ")
		} else {
			l.add(" | ")
		}
		l.text(o, each)
	}
	l.members(r.Body, each, "type", "id", "method", "title", "options")
}

func queue(l *line, r *Row) {
	m := pick(r.Body, "steering", "followUp")
	for i, name := range []string{"steering", "follow-up"} {
		some, n := elements(m[i], 3)
		if n == 0 {
			continue
		}
		l.sep("; ")
		l.add(name, " ", strconv.Itoa(n), ": ")
		for j, s := range some {
			if j > 0 {
				l.add(" | ")
			}
			l.text(s, each)
		}
	}
	if len(l.b) == 0 {
		l.add("empty")
	}
}

// note says what a note tells.
func note(l *line, r *Row) Tone {
	n := r.Note
	switch n.Kind {
	case "eof":
		l.add(ended[r.From&3])
		if n.Error != "" {
			l.add(": ", n.Error)
		}
	case "closed":
		l.add(closed[r.From&3])
	case "signal":
		to := "the agent"
		if n.To == "group" {
			to = "the agent's process group"
		}
		l.add(n.Signal, " to ", to)
	case "stall":
		return stall(l, r)
	case "gap":
		l.add("not recorded: ")
		for i, s := range []record.Stream{record.Client, record.Agent, record.Stderr} {
			if lost := n.Lost[s.String()]; lost > 0 {
				if i > 0 && !strings.HasSuffix(string(l.b), ": ") {
					l.add(", ")
				}
				l.add(text.Count(lost), " bytes of ", s.String())
			}
		}
		if n.Error != "" {
			l.add(": ", n.Error)
		}
		return Bad
	case "lag":
		l.add("the capture was ", text.Duration(n.By), " behind the session")
	case "clock":
		sign := "+"
		if n.By < 0 {
			sign = ""
		}
		l.add("the wall clock was moved by ", sign, text.Duration(n.By), " to ", n.Wall.Format("2006-01-02 15:04:05 MST"))
	case "undelivered":
		l.add(text.Count(n.Bytes), " bytes never reached ", reader[r.From&3], ", from byte ", strconv.FormatInt(r.Off, 10), " of the stream on")
		return Bad
	case "exit":
		return exit(l, n)
	case "handover":
		l.add("the agent is gone; a copy of pitap delivers what is left of its output")
	case "file":
		l.add(n.Path, ", ", text.Size(int64(len(n.Data))))
	case "end":
		end(l, n.Totals)
	default:
		var rest []byte
		rest = append(rest, r.Line...)
		l.members(rest, each, "n", "t", "note")
	}
	return Quiet
}

var (
	ended  = [4]string{"end of stream", "the client closed the agent's stdin", "the agent closed its stdout", "the agent closed its stderr"}
	closed = [4]string{"stream closed", "the agent no longer reads its stdin", "the client no longer reads the agent's stdout", "nobody reads the agent's stderr any more"}
	reader = [4]string{"their reader", "the agent", "the client", "the reader of stderr"}
)

func stall(l *line, r *Row) Tone {
	n := r.Note
	if n.For > 0 {
		l.add(reader[r.From&3], " reads again, after ", text.Duration(n.For))
		return Quiet
	}
	l.add(reader[r.From&3], " does not read: ", text.Count(n.Bytes), " bytes wait since ", text.Since(n.Since))
	return Bad
}

func exit(l *line, n *record.Note) Tone {
	switch {
	case n.Error != "":
		l.add("the agent could not be started: ", n.Error)
	case n.Signal != "":
		l.add("the agent was killed by ", n.Signal)
	case n.Code == nil:
		l.add("the agent exited")
	case *n.Code == 0:
		l.add("the agent exited with 0")
		return Good
	default:
		l.add("the agent exited with ", strconv.Itoa(*n.Code))
	}
	return Bad
}

func end(l *line, t *record.Totals) {
	if t == nil {
		l.add("end of the capture")
		return
	}
	l.add("end of the capture: ", text.Count(t.Entries), " entries")
	for _, s := range []record.Stream{record.Client, record.Agent, record.Stderr} {
		if v := t.Streams[s.String()]; v.Records > 0 {
			l.add(", ", s.String(), " ", text.Count(v.Records), " records ", text.Size(v.Bytes))
		}
	}
	if t.Lost > 0 {
		l.add(", ", text.Count(t.Lost), " bytes lost")
	}
}
