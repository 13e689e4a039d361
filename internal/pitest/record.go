package pitest

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// Record is one line of an agent's output, without its LF; what stands in it is not checked. It must not be changed.
type Record []byte

// Type is the record's member type; "" for a line that is no JSON object or has none.
func (r Record) Type() string {
	typ, _ := r.names()
	return typ
}

// Kind is the record's type and what tells records of the type apart: "response:prompt", "response:prompt failed",
// "message_update:text_delta", "extension_ui_request:select", else the type alone.
func (r Record) Kind() string {
	_, kind := r.names()
	return kind
}

func (r Record) names() (typ, kind string) {
	var m struct {
		Type                  string
		Command               string
		Success               bool
		Method                string
		AssistantMessageEvent struct{ Type string }
	}
	if json.Unmarshal(r, &m) != nil {
		return "", ""
	}
	switch m.Type {
	case "response":
		kind = m.Type + ":" + m.Command
		if !m.Success {
			kind += " failed"
		}
	case "message_update":
		kind = m.Type + ":" + m.AssistantMessageEvent.Type
	case "extension_ui_request":
		kind = m.Type + ":" + m.Method
	default:
		kind = m.Type
	}
	return m.Type, kind
}

// Get is the value at a path of member names and array indexes, as in "data.messages.0.role", as encoding/json decodes
// it into an any: string, float64, bool, []any, map[string]any. It is nil where there is none.
func (r Record) Get(path string) any {
	var at any
	if json.Unmarshal(r, &at) != nil {
		return nil
	}
	for name := range strings.SplitSeq(path, ".") {
		switch v := at.(type) {
		case map[string]any:
			at = v[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(v) {
				return nil
			}
			at = v[i]
		default:
			return nil
		}
	}
	return at
}

// answers says whether the record is the response to the command with an id.
func (r Record) answers(id string) bool {
	if !bytes.Contains(r, []byte("response")) { // spares parsing most of a long conversation
		return false
	}
	var m struct {
		Type string
		ID   any
	}
	return json.Unmarshal(r, &m) == nil && m.Type == "response" && m.ID == id
}
