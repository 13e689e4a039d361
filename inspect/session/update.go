package session

import (
	"bytes"

	"pitap/record/rpc"
	"pitap/record/scan"
)

// update is what a message_update says of its block.
type update struct {
	kind, step string // text, thinking or toolcall; start, delta or end; of other updates the whole name is the kind
	index      int    // contentIndex, -1 when there is none
	text       []byte // token of delta, or of content
}

// updateNames are the heads of the updates that there are.
type updateName struct {
	head rpc.Head
	update
}

var updateNames = func() (names [9]updateName) {
	i := 0
	for _, kind := range []string{"text", "thinking", "toolcall"} {
		for _, step := range []string{"start", "delta", "end"} {
			sub := kind + "_" + step
			names[i] = updateName{rpc.Head{Kind: "message_update:" + sub, Type: "message_update", Sub: sub}, update{kind: kind, step: step}}
			i++
		}
	}
	return names
}()

func updateNamed(name []byte) *updateName {
	switch string(name) {
	case "text_start":
		return &updateNames[0]
	case "text_delta":
		return &updateNames[1]
	case "text_end":
		return &updateNames[2]
	case "thinking_start":
		return &updateNames[3]
	case "thinking_delta":
		return &updateNames[4]
	case "thinking_end":
		return &updateNames[5]
	case "toolcall_start":
		return &updateNames[6]
	case "toolcall_delta":
		return &updateNames[7]
	case "toolcall_end":
		return &updateNames[8]
	}
	return nil
}

// lookUpdate is rpc.LookAt for a message_update as pi writes it, which is the record that comes most often. It returns
// false, and has done nothing, for any other record.
func (r *Record) lookUpdate() bool {
	var event []byte
	types, events := 0, 0
	if r.spans.More {
		return false
	}
	for i := range r.spans.List {
		m := &r.spans.List[i]
		key, value := r.Body[m.Key:m.KeyEnd], r.Body[m.Start:m.End]
		switch {
		case string(key) == "type":
			types++
			if string(value) != `"message_update"` {
				return false
			}
		case string(key) == "assistantMessageEvent":
			events++
			event = value
		case string(key) == "id" || bytes.IndexByte(key, '\\') >= 0:
			return false
		}
	}
	if types != 1 || events != 1 {
		return false
	}
	var u update
	name := u.read(event)
	known := updateNamed(name)
	if known == nil {
		return false
	}
	r.Head, r.update = known.head, u
	r.update.kind, r.update.step = known.kind, known.step
	return true
}

// read takes what the event of a message_update holds, and returns what its type says, which is short; nil otherwise.
func (u *update) read(event []byte) (name []byte) {
	if name = u.quick(event); name != nil {
		return name
	}
	*u = update{index: -1}
	for ms := scan.WalkOver(event); ms.Next(); {
		value := ms.Value
		switch string(ms.Key) {
		case "type":
			name = nil
			if len(value) > 2 && len(value) < 40 && value[0] == '"' {
				name = value[1 : len(value)-1]
			}
		case "contentIndex":
			u.index = int(intOf(value))
		case "delta", "content":
			u.text = value
		}
	}
	return name
}

// quick is read for an event as pi writes those of deltas, nil for any other.
func (u *update) quick(event []byte) (name []byte) {
	const first, second, third = `{"type":"`, `,"contentIndex":`, `,"delta":`
	if len(event) < 40 || string(event[:len(first)]) != first || event[len(event)-1] != '}' {
		return nil
	}
	quote := bytes.IndexByte(event[len(first):min(len(event), 30)], '"') + len(first)
	at := quote + 1
	if quote < len(first) || len(event)-at < len(second) || string(event[at:at+len(second)]) != second {
		return nil
	}
	at += len(second)
	index, digits := 0, 0
	for ; at < len(event) && event[at]-'0' <= 9 && digits < 6; at++ {
		index = index*10 + int(event[at]-'0')
		digits++
	}
	if digits == 0 || len(event)-at < len(third) || string(event[at:at+len(third)]) != third {
		return nil
	}
	at += len(third)
	if scan.Skip(event, at) != len(event)-1 { // other members follow
		return nil
	}
	u.index, u.text = index, event[at:len(event)-1]
	return event[len(first):quote]
}
