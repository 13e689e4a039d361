package inspect

import (
	"bytes"
	"strconv"

	"pitap/inspect/text"
)

// messageUpdate is a message_update.
func messageUpdate(l *line, r *Row, v *Seen) {
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
			l.add(" ", text.After(v.Took))
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
