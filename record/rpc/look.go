package rpc

import (
	"bytes"

	"pitap/record/scan"
)

// Head is what a record is, as far as its outermost members tell.
type Head struct {
	// Kind names what the record is, with what tells records of its type apart: "prompt", "agent_start",
	// "response:get_state", "message_update:text_delta", "extension_ui_request:select". It is "" for an object without
	// a type and for what is no object.
	Kind string

	Type    string // "" when absent or no string
	Sub     string // of message_update the type of assistantMessageEvent, of extension_ui_request the method; or ""
	Command string // of a response; "" when absent or no string
	Success bool   // of a response
	ID      []byte // the token of id as it stands in the record, a part of msg; nil when absent, not when it is null
}

// maxName is the length in bytes at which names that the vocabulary does not have are cut, with "…" behind.
const maxName = 100

const (
	response      = "response"
	messageUpdate = "message_update"
	uiRequest     = "extension_ui_request"
)

// Look tells what a record is. from is "client", and all else is the agent. It goes once over the bytes and does not
// allocate when the vocabulary has all the names. Of members that occur twice it takes the last one, as JavaScript does. Of what is not
// JSON it tells what came before the first error.
func Look(from string, msg []byte) Head {
	head, _ := look(from, msg)
	return head
}

// look is Look, and tells where the record's object ends, -1 when msg does not begin with a whole one.
func look(from string, msg []byte) (head Head, end int) {
	h := &Load().heads
	var typ, command, success, update, method []byte
	members := scan.MembersOf(msg)
	for members.Next() {
		key, value := members.Key, msg[members.Start:members.End]
		if bytes.IndexByte(key, '\\') >= 0 {
			key = []byte(keyText(key))
		}
		switch string(key) {
		case "type":
			typ = value
		case "id":
			head.ID = value
		case "command":
			command = value
		case "success":
			success = value
		case "assistantMessageEvent":
			update = value
		case "method":
			method = value
		}
	}
	head.name(h, from, typ, command, success, update, method)
	return head, members.ObjectEnd()
}

// name fills in what the values of the members say; nil for those that are missing.
func (head *Head) name(h *heads, from string, typ, command, success, update, method []byte) {
	if from == "client" {
		head.Type, head.Kind = h.client.find("", typ)
		return
	}
	head.Type, head.Kind = h.agent.find("", typ)
	switch head.Type {
	case response:
		head.Command, head.Kind = h.responses.find(response, command)
		head.Success = string(success) == "true"
	case messageUpdate:
		head.Sub, head.Kind = h.updates.find(messageUpdate, member(update, "type"))
	case uiRequest:
		head.Sub, head.Kind = h.methods.find(uiRequest, method)
	}
}

// heads holds the texts of Head that the vocabulary has, so that Look need not make them.
type heads struct {
	client, agent, responses, updates, methods names
}

// names gives for a name the texts for Head.Type, Sub or Command, and for Head.Kind.
type names map[string]named

type named struct{ name, kind string }

// find looks up what a string token says. The kind begins with prefix, which stands alone when there is no string.
func (n names) find(prefix string, token []byte) (name, kind string) {
	if typeOf(token) != String {
		return "", prefix
	}
	known, ok := n[string(text(token))]
	if !ok {
		known = named{name: cutName(text(token))}
		known.kind = kindOf(prefix, known.name)
	}
	return known.name, known.kind
}

func (n names) add(prefix, name string) { n[name] = named{name, kindOf(prefix, name)} }

func kindOf(prefix, name string) string {
	if prefix == "" {
		return name
	}
	return prefix + ":" + name
}

func makeHeads(v *Vocabulary) heads {
	h := heads{names{}, names{}, names{}, names{}, names{}}
	for _, c := range v.Commands {
		h.client.add("", c.Name)
		h.responses.add(response, c.Name)
	}
	for _, r := range v.UIResponses {
		h.client.add("", r.Name)
	}
	for _, e := range v.Errors {
		h.responses.add(response, e.Name)
	}
	for _, e := range v.Events {
		h.agent.add("", e.Name)
	}
	h.agent.add("", response)
	for _, u := range v.Updates {
		h.updates.add(messageUpdate, u.Name)
	}
	for _, m := range v.Methods {
		h.methods.add(uiRequest, m.Name)
	}
	return h
}
