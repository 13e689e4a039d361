package filter

import (
	"strings"
	"testing"
)

func yes() bool { return true }

var samples = map[string]*Facts{
	"prompt":   {From: "client", Kind: "prompt", Short: "prompt", ID: "req-1", N: 1, Size: 100, Took: -1, Body: []byte(`{"type":"prompt","message":"Hello World"}`), JSON: true, Unanswered: yes},
	"delta":    {From: "agent", Kind: "message_update:text_delta", Short: "text_delta", N: 20, T: 3e9, Size: 280, Gap: 2e9, Took: -1, Body: []byte(`abc`), JSON: true},
	"response": {From: "agent", Kind: "response:get_state", Short: "response:get_state", ID: "req-2", N: 30, T: 4e9, Size: 70 << 10, Took: 150e6, Flags: []string{"framing/crlf"}, Body: []byte(`x`), Bad: true},
	"exit":     {Note: true, Kind: "exit", Short: "exit", N: 40, Size: -1, Took: -1},
}

func TestMatch(t *testing.T) {
	for _, c := range []struct{ expr, want string }{
		{"", "delta exit prompt response"},
		{"from:agent", "delta response"},
		{"from:note", "exit"},
		{"kind:message_update", "delta"},
		{"kind:text_delta or kind:exit", "delta exit"},
		{"kind:*state", "response"},
		{"id:req-1", "prompt"},
		{"id:req-?", "prompt response"},
		{"size>64k", "response"},
		{"size<=100", "prompt"},
		{"gap>1s", "delta"},
		{"took>=150ms", "response"},
		{"n>20 t<=4s", "exit response"},
		{"flag:", "response"},
		{"flag:crlf", "response"},
		{"flag:bom", ""},
		{"hello", "prompt"},
		{"HELLO", ""},
		{`"hello world"`, "prompt"},
		{`text:hello`, "prompt"},
		{`text~"wor.d"`, "prompt"},
		{"is:open", ""},
		{"is:unanswered", "prompt"},
		{"is:error", "response"},
		{"is:delta", "delta"},
		{"is:command", "prompt"},
		{"is:event", "delta"},
		{"not from:agent", "exit prompt"},
		{"!from:agent", "exit prompt"},
		{"not not from:agent", "delta response"},
		{"from:agent not is:delta", "response"},
		{"from:agent is:delta or from:client", "delta prompt"},
		{"from:agent (is:delta or from:client)", "delta"},
		{"from:agent and is:delta or kind:exit and from:note", "delta exit"},
		{"(from:client)", "prompt"},
		{"not (from:client or from:agent)", "exit"},
	} {
		e, err := Parse(c.expr)
		if err != nil {
			t.Errorf("%q: %v", c.expr, err)
			continue
		}
		var got []string
		for _, name := range []string{"delta", "exit", "prompt", "response"} {
			if e.Match(samples[name]) {
				got = append(got, name)
			}
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%q takes %q, want %q", c.expr, s, c.want)
		}
	}
}

func TestErrors(t *testing.T) {
	for expr, want := range map[string]string{
		"from:both":              "client, agent, stderr or note",
		"is:strange":             "is: takes",
		"size>big":               "64k",
		"gap>soon":               "1s",
		"n>x":                    "number",
		"nonsense:1":             `text:"nonsense"`,
		"(from:agent":            ") is missing",
		"from:agent)":            "without (",
		"()":                     "nothing before )",
		"from:agent or":          "missing at the end",
		"or from:agent":          "between two terms",
		"not":                    "missing at the end",
		`text:"abc`:              `" is missing`,
		`text~"("`:               "missing",
		"kind>3":                 "kind takes :",
		"size~3":                 "size takes >",
		strings.Repeat("(", 900): "more than",
	} {
		if _, err := Parse(expr); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.30q gives the error %v, want one with %q", expr, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{`from:agent (size>64k or not id:"a b") text~"x+"`, "((((", "not not not x", `"\"`, "a and b or c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		e, err := Parse(s)
		if err != nil {
			return
		}
		for _, facts := range samples {
			if again, err := Parse(e.String()); err != nil || again.Match(facts) != e.Match(facts) {
				t.Fatalf("%q is not what it was: %v", s, err)
			}
		}
		// Not turns every expression around.
		if not, err := Parse("not (" + s + "\n)"); err == nil && strings.TrimSpace(s) != "" {
			for name, facts := range samples {
				if not.Match(facts) == e.Match(facts) {
					t.Fatalf("not (%s) says the same of %s", s, name)
				}
			}
		}
	})
}
