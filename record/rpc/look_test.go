package rpc

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestLook(t *testing.T) {
	long := strings.Repeat("x", 200)
	cut := strings.Repeat("x", maxName) + "…"
	for _, test := range []struct {
		from, msg string
		want      Head
	}{
		{"client", `{"id":"req-1","type":"prompt","message":"hi"}`, Head{Kind: "prompt", Type: "prompt", ID: []byte(`"req-1"`)}},
		{"client", `{"type":"get_state"}`, Head{Kind: "get_state", Type: "get_state"}},
		{"client", `{"type":"no_such_command","id":7}`, Head{Kind: "no_such_command", Type: "no_such_command", ID: []byte("7")}},
		{"client", `{"type":"extension_ui_response","id":"u","value":"v"}`,
			Head{Kind: "extension_ui_response", Type: "extension_ui_response", ID: []byte(`"u"`)}},
		{"client", ` { "id" : { "a" : [1, 2] } , "type" : "abort" } `, Head{Kind: "abort", Type: "abort", ID: []byte(`{ "a" : [1, 2] }`)}},
		{"client", `{"id":null,"type":"abort"}`, Head{Kind: "abort", Type: "abort", ID: []byte("null")}},
		{"client", `{"\u0069d":"escaped","\u0074ype":"\u0067et_state"}`, Head{Kind: "get_state", Type: "get_state", ID: []byte(`"escaped"`)}},
		{"client", `{"id":"first","id":"second","type":"abort","type":"get_state"}`, Head{Kind: "get_state", Type: "get_state", ID: []byte(`"second"`)}},
		{"client", `{"type":"abort","type":5}`, Head{}},
		{"client", `{"type":"response","command":"x","success":true}`, Head{Kind: "response", Type: "response"}},
		{"client", `{"type":"` + long + `"}`, Head{Kind: cut, Type: cut}},
		{"client", `{"type":""}`, Head{}},
		{"agent", `{"type":"agent_start"}`, Head{Kind: "agent_start", Type: "agent_start"}},
		{"agent", `{"id":"a","type":"response","command":"get_state","success":true,"data":{"type":"x","id":"y"}}`,
			Head{Kind: "response:get_state", Type: "response", Command: "get_state", Success: true, ID: []byte(`"a"`)}},
		{"agent", `{"type":"response","command":"parse","success":false,"error":"e"}`, Head{Kind: "response:parse", Type: "response", Command: "parse"}},
		{"agent", `{"type":"response","command":"hm","success":false}`, Head{Kind: "response:hm", Type: "response", Command: "hm"}},
		{"agent", `{"type":"response","success":false}`, Head{Kind: "response", Type: "response"}},
		{"agent", `{"type":"response","command":5,"success":"true"}`, Head{Kind: "response", Type: "response"}},
		{"agent", string(delta), Head{Kind: "message_update:text_delta", Type: "message_update", Sub: "text_delta"}},
		{"agent", `{"type":"message_update","assistantMessageEvent":{"type":"a","type":"text_end"}}`,
			Head{Kind: "message_update:text_end", Type: "message_update", Sub: "text_end"}},
		{"agent", `{"assistantMessageEvent":{"type":"text_end"},"type":"message_update","assistantMessageEvent":{}}`, Head{Kind: "message_update", Type: "message_update"}},
		{"agent", `{"type":"message_update","assistantMessageEvent":"text_end"}`, Head{Kind: "message_update", Type: "message_update"}},
		{"agent", `{"type":"message_update","assistantMessageEvent":{"type":"brand_new"}}`,
			Head{Kind: "message_update:brand_new", Type: "message_update", Sub: "brand_new"}},
		{"agent", `{"type":"extension_ui_request","id":"u","method":"select","title":"t","options":[]}`,
			Head{Kind: "extension_ui_request:select", Type: "extension_ui_request", Sub: "select", ID: []byte(`"u"`)}},
		{"agent", `{"type":"brand_new_event","x":1}`, Head{Kind: "brand_new_event", Type: "brand_new_event"}},
		{"agent", `[{"type":"agent_start"}]`, Head{}},
		{"agent", `"agent_start"`, Head{}},
		{"agent", ``, Head{}},
		{"agent", "\xff\xfe", Head{}},
		{"agent", `{"type":"agent_start"`, Head{Kind: "agent_start", Type: "agent_start"}},
	} {
		got := Look(test.from, []byte(test.msg))
		if !same(got, test.want) || (got.ID == nil) != (test.want.ID == nil) {
			t.Errorf("%s %.80s\ngot  %+v\nwant %+v", test.from, test.msg, got, test.want)
		}
	}
}

func same(a, b Head) bool {
	return a.Kind == b.Kind && a.Type == b.Type && a.Sub == b.Sub && a.Command == b.Command && a.Success == b.Success &&
		string(a.ID) == string(b.ID)
}

func TestLookDoesNotAllocate(t *testing.T) {
	for name, msg := range benchRecords {
		if n := testing.AllocsPerRun(100, func() { Look("agent", msg) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func FuzzLook(f *testing.F) {
	f.Add(false, delta)
	f.Add(false, benchRecords["response"])
	f.Add(true, []byte(`{"\u0069d":"escaped","\u0074ype":"\u0067et_state","type":"abort"}`))
	f.Add(false, []byte(`{"type":"message_update","assistantMessageEvent":{"type":"x","\u0074ype":"text_end"},"id":[1]}`))
	f.Fuzz(func(t *testing.T, client bool, msg []byte) {
		from := "agent"
		if client {
			from = "client"
		}
		head := Look(from, msg)
		var want map[string]json.RawMessage
		if !utf8.Valid(msg) || json.Unmarshal(msg, &want) != nil || want == nil {
			return // it did not panic
		}
		if string(head.ID) != string(want["id"]) {
			t.Errorf("id %q, want %q", head.ID, want["id"])
		}
		if typ := stringOf(want["type"]); head.Type != typ {
			t.Errorf("type %q, want %q", head.Type, typ)
		}
		if client {
			return
		}
		var command, sub string
		switch head.Type {
		case "response":
			command = stringOf(want["command"])
		case "extension_ui_request":
			sub = stringOf(want["method"])
		case "message_update":
			var update map[string]json.RawMessage
			json.Unmarshal(want["assistantMessageEvent"], &update)
			sub = stringOf(update["type"])
		}
		if head.Command != command || head.Sub != sub {
			t.Errorf("command %q, want %q; sub %q, want %q", head.Command, command, head.Sub, sub)
		}
	})
}

// stringOf is the text of a JSON string as encoding/json reads it, cut as Look cuts it, "" for another value.
func stringOf(raw json.RawMessage) string {
	var text *string
	if json.Unmarshal(raw, &text) != nil || text == nil {
		return ""
	}
	return cutName([]byte(*text))
}
