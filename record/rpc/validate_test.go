package rpc

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	user      = `{"role":"user","content":[{"type":"text","text":"hi"}],"timestamp":1}`
	usage     = `{"input":1,"output":2,"cacheRead":0,"cacheWrite":0,"totalTokens":3,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}}`
	assistant = `{"role":"assistant","content":[],"api":"a","provider":"p","model":"m","usage":` + usage + `,"stopReason":"stop","timestamp":1}`
)

// The table gives problems as "what path expected got where span became", with "-" for what is empty.
func TestValidate(t *testing.T) {
	for _, test := range []struct {
		name, version, from, msg string
		want                     []string
	}{
		{"no object", "1.6.0", "client", `null`, []string{"not-object - object null present - -"}},
		{"no JSON", "1.6.0", "agent", `{"type":"agent_start"`, []string{`not-object - object {"type":"agent_start" present - -`}},
		{"junk behind", "1.6.0", "agent", `{"type":"agent_start"} x`, []string{`not-object - object {"type":"agent_start"}_x present - -`}},
		{"no type", "1.6.0", "client", `{"id":"x"}`, []string{"missing-field type string - present - -"}},
		{"type of another type", "1.6.0", "client", `{"type":5}`, []string{"wrong-type type string 5 present - -"}},
		{"empty type", "1.6.0", "client", `{"type":""}`, []string{`unknown-type type - "" never - -`}},
		{"empty type of an event", "1.6.0", "agent", `{"type":""}`, []string{`unknown-type type - "" never - -`}},
		{"empty method", "1.6.0", "agent", `{"type":"extension_ui_request","id":"u","method":""}`, []string{`unknown-type method - "" never - -`}},
		{"empty command", "1.6.0", "agent", `{"type":"response","command":"","success":true}`, []string{`unknown-type command - "" never - -`}},
		{"unknown command", "1.6.0", "client", `{"type":"no_such"}`, []string{`unknown-type type - "no_such" never - -`}},
		{"newer command", "0.74.2", "client", `{"type":"clear_queue"}`, []string{`unknown-type type - "clear_queue" later since_0.84.4 -`}},
		{"renamed command", "0.74.2", "client", `{"type":"branch","entryId":"e"}`, []string{`unknown-type type - "branch" earlier until_0.42.5 fork`}},
		{"newer field", "0.74.2", "client", `{"type":"bash","command":"c","excludeFromContext":true}`,
			[]string{"unknown-field excludeFromContext - true later since_0.76.0 -"}},
		{"newer value", "0.74.2", "client", `{"type":"set_thinking_level","level":"max"}`,
			[]string{`unknown-value level off|minimal|low|medium|high|xhigh "max" later since_0.80.6 -`}},
		{"field of no version", "1.6.0", "client", `{"type":"abort","fast":true}`, []string{"unknown-field fast - true never - -"}},
		{"field with a strange name", "1.6.0", "client", `{"type":"abort","":1,"a.b":2,"\u0061\n":3}`, []string{
			`unknown-field [""] - 1 never - -`, `unknown-field ["a.b"] - 2 never - -`, `unknown-field ["a\n"] - 3 never - -`}},
		{"id of any type", "1.6.0", "client", `{"type":"abort","id":{"a":[1]}}`, nil},
		{"missing and wrong", "1.6.0", "client", `{"type":"set_model","provider":7}`, []string{
			"wrong-type provider string 7 present - -", "missing-field modelId string - present - -"}},
		{"value", "1.6.0", "client", `{"type":"prompt","message":"m","streamingBehavior":"queue"}`,
			[]string{`unknown-value streamingBehavior steer|followUp "queue" never - -`}},
		{"image", "1.6.0", "client", `{"type":"prompt","message":"m","images":[{"type":"image","data":"d"}]}`,
			[]string{"missing-field images[0].mimeType string - present - -"}},
		{"last member counts", "1.6.0", "client", `{"type":"steer","message":5,"message":"m"}`, nil},
		{"last type counts", "1.6.0", "client", `{"type":"steer","type":"abort"}`, nil},
		{"escaped names", "1.6.0", "client", `{"t\u0079pe":"st\u0065er","mess\u0061ge":"m"}`, nil},
		{"invalid UTF-8 in a string", "1.6.0", "client", "{\"type\":\"steer\",\"message\":\"\xff\"}", nil},

		{"answer", "1.6.0", "client", `{"type":"extension_ui_response","id":"u","value":"v"}`, nil},
		{"answer to nothing", "1.6.0", "client", `{"type":"extension_ui_response","value":"v"}`, []string{"missing-field id string - present - -"}},
		{"answer without a word", "1.6.0", "client", `{"type":"extension_ui_response","id":"u"}`,
			[]string{"missing-field - value|confirmed|cancelled - present - -"}},
		{"answer with two", "1.6.0", "client", `{"type":"extension_ui_response","id":"u","confirmed":true,"cancelled":true}`,
			[]string{"misplaced cancelled - true present - -"}},
		{"answer of another type", "1.6.0", "client", `{"type":"extension_ui_response","id":"u","confirmed":"yes"}`,
			[]string{`wrong-type confirmed bool "yes" present - -`}},
		{"not cancelled", "1.6.0", "client", `{"type":"extension_ui_response","id":"u","cancelled":false}`,
			[]string{"unknown-value cancelled true false never - -"}},
		{"answer by its old name", "1.6.0", "client", `{"type":"hook_ui_response","id":"u","value":"v"}`,
			[]string{`unknown-type type - "hook_ui_response" earlier until_0.32.3 extension_ui_response`}},

		{"unknown event", "1.6.0", "agent", `{"type":"brand_new_event","x":1}`, []string{`unknown-type type - "brand_new_event" never - -`}},
		{"newer event", "0.74.2", "agent", `{"type":"agent_settled"}`, []string{`unknown-type type - "agent_settled" later since_0.80.4 -`}},
		{"field of a newer version", "0.80.6", "agent", `{"type":"agent_settled","aborted":false}`,
			[]string{"unknown-field aborted - false later since_1.1.0 -"}},
		{"field that came in between", "0.80.6", "agent", `{"type":"agent_settled"}`, nil},
		{"field missing since", "1.6.0", "agent", `{"type":"agent_settled"}`, []string{"missing-field aborted bool - present - -"}},
		{"field that went", "1.6.0", "agent", `{"type":"message_update","usage":` + usage + `,"assistantMessageEvent":{"type":"text_start","contentIndex":0},"message":` + assistant + `}`,
			[]string{`unknown-field message - ` + assistant[:60] + `… earlier until_0.83.0 -`}},
		{"update", "1.6.0", "agent", `{"type":"message_update","usage":` + usage + `,"assistantMessageEvent":{"type":"text_delta","contentIndex":"0","extra":1}}`,
			[]string{`unknown-field assistantMessageEvent.extra - 1 never - -`, `wrong-type assistantMessageEvent.contentIndex number "0" present - -`,
				"missing-field assistantMessageEvent.delta string - present - -"}},
		{"unknown update", "1.6.0", "agent", `{"type":"message_update","usage":` + usage + `,"assistantMessageEvent":{"type":"audio_delta"}}`,
			[]string{`unknown-type assistantMessageEvent.type - "audio_delta" never - -`}},
		{"internal update", "1.6.0", "agent", `{"type":"message_update","usage":` + usage + `,"assistantMessageEvent":{"type":"start"}}`,
			[]string{`misplaced assistantMessageEvent.type - "start" present - -`}},
		{"update without type", "1.6.0", "agent", `{"type":"message_update","usage":` + usage + `,"assistantMessageEvent":{}}`,
			[]string{`missing-field assistantMessageEvent.type string - present - -`}},
		{"type twice", "1.6.0", "agent", `{"type":"message_update","usage":` + usage + `,"assistantMessageEvent":{"type":"text_end","delta":"d","contentIndex":0,"type":"text_delta"}}`, nil},
		{"message", "1.6.0", "agent", `{"type":"message_end","message":` + user + `}`, nil},
		{"message of a newer version", "0.74.2", "agent", `{"type":"message_end","message":{"role":"system","content":"c","timestamp":1}}`,
			[]string{`unknown-type message.role - "system" later since_0.86.0 -`}},
		{"message of the session", "1.6.0", "agent", `{"type":"message_end","message":{"role":"branchSummary","summary":"s","fromId":null,"timestamp":1}}`,
			[]string{`misplaced message.role - "branchSummary" present - -`}},
		{"deep in messages", "1.6.0", "agent", `{"type":"agent_end","willRetry":false,"messages":[` + user + `,{"role":"toolResult","toolCallId":"c","toolName":"t","content":[{"type":"text","text":5},7],"isError":false,"timestamp":1}]}`,
			[]string{"wrong-type messages[1].content[0].text string 5 present - -", "wrong-type messages[1].content[1] object 7 present - -"}},
		{"more in a message", "1.6.0", "agent", `{"type":"message_end","message":{"role":"user","content":"c","timestamp":1,"mine":{}}}`, nil},
		{"newer field in a message", "0.74.2", "agent", `{"type":"message_end","message":{"role":"assistant","durationMs":"1",` + assistant[len(`{"role":"assistant",`):] + `}`, nil},
		{"UI request", "1.6.0", "agent", `{"type":"extension_ui_request","id":"u","method":"confirm","title":"t","message":"m","timeout":200}`, nil},
		{"UI request of another method", "1.6.0", "agent", `{"type":"extension_ui_request","id":"u","method":"select","title":"t","text":"x"}`,
			[]string{`unknown-field text - "x" never - -`, "missing-field options array - present - -"}},
		{"unknown method", "1.6.0", "agent", `{"type":"extension_ui_request","id":"u","method":"dance","tempo":5}`,
			[]string{`unknown-type method - "dance" never - -`}},
		{"no method", "1.6.0", "agent", `{"type":"extension_ui_request","id":"u"}`, []string{"missing-field method string - present - -"}},

		{"response", "1.6.0", "agent", `{"type":"response","command":"abort","success":true}`, nil},
		{"response with data", "1.6.0", "agent", `{"type":"response","command":"abort","success":true,"data":{}}`,
			[]string{"unknown-field data - {} never - -"}},
		{"data of newer versions", "0.74.2", "agent", `{"type":"response","command":"prompt","success":true,"data":{"disposition":"started"}}`,
			[]string{`unknown-field data - {"disposition":"started"} later since_0.99.0 -`}},
		{"data of older versions", "0.74.2", "agent", `{"type":"response","command":"prompt","success":true}`, nil},
		{"response without data", "1.6.0", "agent", `{"type":"response","command":"prompt","success":true}`, []string{"missing-field data object - present - -"}},
		{"wrong data", "1.6.0", "agent", `{"type":"response","command":"fork","success":true,"data":{"cancelled":"no","more":1}}`,
			[]string{`wrong-type data.cancelled bool "no" present - -`}},
		{"data null", "1.6.0", "agent", `{"type":"response","command":"cycle_model","success":true,"data":null}`, nil},
		{"data null where it cannot be", "1.6.0", "agent", `{"type":"response","command":"fork","success":true,"data":null}`,
			[]string{"wrong-type data object null present - -"}},
		{"refused", "1.6.0", "agent", `{"type":"response","command":"hm","success":false,"error":"Unknown command: hm"}`, nil},
		{"refused, what it was sent", "1.6.0", "agent", `{"type":"response","command":7,"success":false,"error":"e"}`, nil},
		{"accepted, but unknown", "1.6.0", "agent", `{"type":"response","command":"hm","success":true}`, []string{`unknown-type command - "hm" never - -`}},
		{"accepted without a command", "1.6.0", "agent", `{"type":"response","success":true}`, []string{`unknown-type command - - never - -`}},
		{"no success", "1.6.0", "agent", `{"type":"response","command":"abort"}`, []string{"missing-field success bool - present - -"}},
		{"success of another type", "1.6.0", "agent", `{"type":"response","command":"abort","success":1}`, []string{"wrong-type success bool 1 present - -"}},
		{"failed without error", "1.6.0", "agent", `{"type":"response","command":"abort","success":false,"data":5}`,
			[]string{"misplaced data - 5 present - -", "missing-field error string - present - -"}},
		{"both", "1.6.0", "agent", `{"type":"response","command":"abort","success":true,"error":"e"}`, []string{`misplaced error - "e" present - -`}},
		{"what a client once set", "1.6.0", "agent", strings.Replace(stateResponse, `"one-at-a-time"`, `5`, 1), nil},
		{"unknown version", "", "agent", `{"type":"auto_compaction_start","reason":"threshold"}`, nil},
		{"newer than all", "9.0.0", "agent", `{"type":"agent_settled","aborted":false}`, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, p := range Validate(mustVersion(t, test.version), test.from, []byte(test.msg)) {
				got = append(got, describe(p))
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("%s\ngot  %s\nwant %s", test.msg, strings.Join(got, "\n     "), strings.Join(test.want, "\n     "))
			}
		})
	}
}

const stateResponse = `{"type":"response","command":"get_state","success":true,"data":{"thinkingLevel":"off","isStreaming":false,"isCompacting":false,` +
	`"steeringMode":"one-at-a-time","followUpMode":"all","sessionId":"s","autoCompactionEnabled":true,"messageCount":0,"pendingMessageCount":0}}`

func describe(p Problem) string {
	words := []string{p.What.String(), p.Path, p.Expected, p.Got, p.Where.String(), p.Span.String(), p.Became}
	for i, word := range words {
		if word == "" {
			words[i] = "-"
		}
		words[i] = strings.ReplaceAll(words[i], " ", "_")
	}
	return strings.Join(words, " ")
}

func TestValidateSaysOnlySoMuch(t *testing.T) {
	msg := `{"type":"queue_update","followUp":[],"steering":[` + strings.Repeat(`5,`, 10000) + `5]}`
	if n := len(Validate(Newest(), "agent", []byte(msg))); n != maxProblems {
		t.Errorf("%d problems", n)
	}
	for _, p := range Validate(Newest(), "client", []byte(`{"type":"abort","`+strings.Repeat("k", 1e5)+`":"`+strings.Repeat("v", 1e5)+`"}`)) {
		if len(p.Path) > 200 || len(p.Got) > 200 {
			t.Errorf("a problem of %d and %d bytes", len(p.Path), len(p.Got))
		}
	}
	deep := `{"type":"message_end","message":` + strings.Repeat(`{"role":"user","content":[`, 1e5) + strings.Repeat(`]}`, 1e5) + `}`
	Validate(Newest(), "agent", []byte(deep)) // must not run out of stack
}

// recorded is an entry of testdata: records of real sessions of pi, texts and lists cut short.
type recorded struct {
	From string
	Msg  json.RawMessage
}

// sessions returns what testdata holds, by version.
func sessions(t testing.TB) map[string][]recorded {
	t.Helper()
	files, _ := filepath.Glob("testdata/*.jsonl")
	all := map[string][]recorded{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		version := strings.TrimSuffix(filepath.Base(file), ".jsonl")
		for line := range bytes.Lines(text) {
			var r recorded
			if err := json.Unmarshal(line, &r); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			all[version] = append(all[version], r)
		}
	}
	if len(all) < 3 {
		t.Fatalf("testdata of %d versions", len(all))
	}
	return all
}

func TestRealSessionsAreRight(t *testing.T) {
	for version, records := range sessions(t) {
		for _, v := range []Version{mustVersion(t, version), {}} {
			for _, r := range records {
				for _, p := range Validate(v, r.From, r.Msg) {
					t.Errorf("pi %s by the rules of %q: %s\n%s", version, v, describe(p), r.Msg)
				}
			}
		}
	}
}

// TestRealSessionsAreKnown holds the names of testdata against the vocabulary: none is new, and what a version has is
// in its session, if the session is one of those that go through everything.
func TestRealSessionsAreKnown(t *testing.T) {
	voc := Load()
	spans := map[string]Span{}
	for _, c := range voc.Commands {
		spans[c.Name], spans[response+":"+c.Name] = c.Span, c.Span
	}
	for _, e := range voc.Events {
		spans[e.Name] = e.Span
	}
	for _, u := range voc.Updates {
		if !u.Internal {
			spans[messageUpdate+":"+u.Name] = u.Span
		}
	}
	for _, m := range voc.Methods {
		spans[uiRequest+":"+m.Name] = m.Span
	}
	for _, u := range voc.UIResponses {
		spans[u.Name] = u.Span
	}
	delete(spans, messageUpdate) // these never come without more to their name
	delete(spans, uiRequest)
	thorough := map[string]bool{"1.6.0": true}
	for version, records := range sessions(t) {
		seen := map[string]bool{}
		for _, r := range records {
			head := Look(r.From, r.Msg)
			seen[head.Kind] = true
			if _, known := spans[head.Kind]; !known && (head.Type != response || head.Success) {
				t.Errorf("pi %s: unknown %s", version, head.Kind)
			}
		}
		for kind, span := range spans {
			if at := span.At(mustVersion(t, version)); thorough[version] && !seen[kind] && at == Present {
				t.Errorf("pi %s: no %s in testdata", version, kind)
			} else if seen[kind] && at > Maybe && !strings.HasPrefix(kind, response) { // which may be a refusal
				t.Errorf("pi %s has %s, which is known as %s", version, kind, span)
			}
		}
	}
}

func FuzzValidate(f *testing.F) {
	for version, records := range sessions(f) {
		for _, r := range records {
			f.Add(version, r.From == "client", []byte(r.Msg))
		}
	}
	f.Fuzz(func(t *testing.T, version string, client bool, msg []byte) {
		v, _ := ParseVersion(version)
		from := "agent"
		if client {
			from = "client"
		}
		problems := Validate(v, from, msg)
		if len(problems) > maxProblems {
			t.Errorf("%d problems", len(problems))
		}
		whole := false
		for _, p := range problems {
			whole = whole || p.What == NotObject
			if p.What == 0 || len(p.Got) > 400 || len(p.Path) > 2000 {
				t.Errorf("problem %+v", p)
			}
		}
		if whole != !isObject(msg) || whole && len(problems) > 1 {
			t.Errorf("%q: %d problems, not-object %v", msg, len(problems), whole)
		}
		var g Guess
		g.See(from, msg)
		if v, low, high, _ := g.Version(); v.Before(low) || !high.IsZero() && high.Before(v) {
			t.Errorf("guessed %v within %v and %v", v, low, high)
		}
	})
}

func isObject(msg []byte) bool {
	var object map[string]json.RawMessage
	return json.Unmarshal(msg, &object) == nil && object != nil
}
