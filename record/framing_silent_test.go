package record

import (
	"slices"
	"strings"
	"testing"
)

// quiet has for each rule of framing what comes near it and is no case of it.
var quiet = map[string]struct{ client, agent string }{
	"crlf":                  {client: `{"type":"prompt","message":"a\r\nb"}` + "\n"},
	"lone-cr":               {client: `{"type":"prompt","message":"a\rb"}` + "\n"},
	"u2028":                 {client: `{"type":"prompt","message":"\u2028"}` + "\n", agent: "{\"a\":\"\u2027\"}\n"},
	"u2029":                 {client: `{"type":"prompt","message":"\u2029"}` + "\n", agent: "{\"a\":\"\u202a\"}\n"},
	"u0085":                 {client: `{"type":"prompt","message":"\u0085"}` + "\n", agent: "{\"a\":\"\u00a0\"}\n"},
	"bom":                   {client: "{\"type\":\"prompt\",\"message\":\"\ufeff\"}\n"},
	"utf16":                 {client: `{"type":"prompt","message":"\u0000"}` + "\n"},
	"blank-line":            {client: ` {"type":"abort"} ` + "\n"},
	"invalid-utf8":          {client: "{\"type\":\"prompt\",\"message\":\"\u00ff\U0010ffff\"}\n"},
	"invalid-json":          {client: `{"type":"abort","a":[1e400,-0,"\ud83d"]}` + "\n"},
	"not-object":            {client: "{}\n"},
	"raw-newline":           {client: `{"type":"prompt","message":"a\nb"}` + "\n"},
	"concatenated":          {client: `{"type":"prompt","message":"}{"}` + "\n"},
	"junk-before-record":    {agent: `{"a":"x{\"type\":\"agent_settled\"}"}` + "\n"},
	"control-character":     {client: `{"type":"prompt","message":"\u007f\u001b"}` + "\n"},
	"nul":                   {client: `{"type":"prompt","message":"\u0000"}` + "\n"},
	"unterminated":          {client: `{"type":"abort"}` + "\n"},
	"oversize":              {agent: `{"a":"` + strings.Repeat("x", 1<<16-9) + "\"}\n"},
	"split-at-separator":    {agent: `{"a":"b\u2028c"}` + "\n" + `{"a":"d"}` + "\n"},
	"replacement-character": {agent: `{"a":"\ufffd"}` + "\n", client: "{\"type\":\"prompt\",\"message\":\"\ufffc\"}\n"},
}

// Every rule says nothing about what only comes near it; what else is found there does not matter.
func TestEveryRuleIsSilent(t *testing.T) {
	for _, rule := range FramingRules {
		test, ok := quiet[strings.TrimPrefix(rule.ID, "framing/")]
		if !ok {
			t.Errorf("nothing that %s could be suspected to find something in, and does not", rule.ID)
			continue
		}
		s := newFramingSession()
		s.write(Client, test.client)
		s.write(Agent, test.agent)
		s.f.Finish()
		if found := s.f.Findings(); slices.ContainsFunc(found, func(f Finding) bool { return f.Rule == rule.ID }) {
			t.Errorf("%s finds something in %q, %q: %+v", rule.ID, test.client, test.agent, found)
		}
	}
}
