package inspect

import (
	"strconv"

	"pitap/inspect/text"
)

// agentRecord says what a response or an event tells.
func agentRecord(l *line, r *Row, v *Seen) Tone {
	switch typ := v.head.Type; typ {
	case "response":
		return response(l, r, v)
	case "message_update":
		messageUpdate(l, r, v)
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
			l.add(", ", text.Plural(n, "tool result"))
		}
		return stopTone(stopped[0])
	case "agent_end":
		m := pick(r.Body, "messages", "willRetry")
		_, n := elements(m[0], 0)
		l.add(text.Plural(n, "message"))
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
		l.add(text.After(v.Took))
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
	switch {
	case v.asked == lostRun:
		l.sep(", ")
		l.add("while a run goes on: a prompt was lost")
		tone = Bad
	case v.Took >= 0:
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
		l.add(" ", text.After(v.Took))
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
