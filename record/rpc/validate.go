package rpc

import "bytes"

// Validate compares one record with the vocabulary of version v of pi. from is "client", and all else is the agent. It
// returns nil for a record in which nothing is amiss, and at most 32 problems. It keeps no part of msg.
//
// It never complains of members that may be there (unknown ones in data, message, result, args and everything deeper)
// or that may be as they are (what came in between two tested versions, what pi echoes from a client, what comes from
// a session's file). With an unknown version, right is what any version has. Of bytes that are no JSON object (invalid
// UTF-8 in strings aside, for which pi puts U+FFFD) it says that and nothing more.
func Validate(v Version, from string, msg []byte) []Problem {
	c := checker{voc: Load(), v: v}
	c.record(from, msg)
	return c.problems
}

func (c *checker) record(from string, msg []byte) {
	msg = bytes.Trim(msg, " \t\r\n")
	head, end := look(from, msg)
	switch {
	case end != len(msg):
		c.report(Problem{What: NotObject, Expected: Object.String(), Got: shorten(msg)})
	case head.Type == "" && typeOf(member(msg, "type")) != String:
		c.object(untyped, msg)
	case from == "client":
		c.fromClient(head, msg)
	case head.Type == c.voc.Response.Name:
		c.response(head, msg)
	default:
		c.event(head, msg)
	}
}

// untyped is the plan of a record whose type is missing or no string.
var untyped = &plan{fields: []Field{tagField("type")}, open: true}

func (c *checker) fromClient(head Head, msg []byte) {
	if command := c.voc.commands[head.Type]; command != nil {
		c.word(command.plan, "type", msg)
		return
	}
	answer := c.voc.uiResponses[head.Type]
	if answer == nil {
		c.unknown("type", head.Type)
		return
	}
	c.word(answer.plan, "type", msg)
	if !answer.Open {
		c.oneAnswer(answer, msg)
	}
}

// oneAnswer checks that a UI response has one of the members value, confirmed and cancelled.
func (c *checker) oneAnswer(word *Word, msg []byte) {
	answers := 0
	for _, f := range word.Fields[1:] { // behind id
		if value := member(msg, f.Name); value != nil {
			if answers++; answers > 1 {
				c.reportAt(f.Name, Problem{What: Misplaced, Got: shorten(value)})
			}
		}
	}
	if answers == 0 {
		c.report(Problem{What: MissingField, Expected: "value|confirmed|cancelled"})
	}
}

func (c *checker) event(head Head, msg []byte) {
	event := c.voc.events[head.Type]
	if event == nil {
		c.unknown("type", head.Type)
		return
	}
	if event.Name != uiRequest {
		c.word(event.plan, "type", msg)
		return
	}
	if method := c.voc.methods[head.Sub]; method != nil {
		c.word(method.plan, "method", msg)
		return
	}
	c.object(c.voc.anyMethod, msg)
	if typeOf(member(msg, "method")) == String {
		c.unknown("method", head.Sub)
	}
}

// response checks a response. One that failed may name any command: pi repeats what it was sent.
func (c *checker) response(head Head, msg []byte) {
	p := c.voc.Response.plan
	var found values
	c.members(p, msg, &found)
	c.fields(p, &found)
	data, failure := found.of(p, "data"), found.of(p, "error")
	if !head.Success {
		c.absent("data", data)
		if failure == nil && typeOf(found.of(p, "success")) == Bool {
			c.reportAt("error", Problem{What: MissingField, Expected: String.String()})
		}
		c.refused(head, failure)
		return
	}
	c.absent("error", failure)
	command := c.voc.commands[head.Command]
	if command == nil {
		c.reportAt("command", Problem{What: UnknownType, Got: shorten(found.of(p, "command")), Where: Never})
		return
	}
	c.in(command.Span, command.Became, "command", head.Command)
	if c.learn != nil {
		c.learn(command.Span, true, "success true")
	}
	c.data(command, data)
}

func (c *checker) absent(name string, value []byte) {
	if value != nil {
		c.reportAt(name, Problem{What: Misplaced, Got: shorten(value)})
	}
}

// refused learns from an error response that pi does not have a command.
func (c *checker) refused(head Head, failure []byte) {
	command := c.voc.commands[head.Command]
	if c.learn != nil && command != nil && string(text(failure)) == "Unknown command: "+head.Command {
		c.learn(command.Span, false, "success true")
	}
}

// data checks the data of a response; nil when it has none.
func (c *checker) data(command *Command, data []byte) {
	where, needed := Never, false
	var span Span
	for _, f := range command.Data {
		at := f.At(c.v)
		if at < where {
			where, span = at, f.Span
		}
		needed = needed || f.Required && at == Present
	}
	t := typeOf(data)
	switch {
	case data == nil:
		if needed {
			c.reportAt("data", Problem{What: MissingField, Expected: Object.String()})
		}
		if c.learn != nil {
			c.inside("data", command.data, []byte("{}"))
		}
	case where > Maybe:
		c.reportAt("data", Problem{What: UnknownField, Got: shorten(data), Where: where, Span: span})
	case t == Null && command.DataNull:
	case t != Object:
		c.reportAt("data", Problem{What: WrongType, Expected: Object.String(), Got: shorten(data)})
	default:
		c.inside("data", command.data, data)
	}
}
