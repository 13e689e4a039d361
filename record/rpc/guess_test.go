package rpc

import (
	"fmt"
	"strings"
	"testing"
)

func TestGuess(t *testing.T) {
	for _, test := range []struct {
		name         string
		msgs         []string
		v, low, high string
		evidence     string
	}{
		{"nothing", nil, "1.6.0", "", "", ""},
		{"what all versions write", []string{`{"type":"agent_start"}`, `{"type":"turn_start"}`}, "1.6.0", "", "", ""},
		{"a settled run", []string{`{"type":"agent_settled"}`}, "1.0.3", "0.80.4", "1.0.3",
			"agent_settled (since 0.80.4); agent_settled without aborted (since 1.1.0)"},
		{"a new field", []string{`{"type":"agent_settled","aborted":false}`}, "1.6.0", "1.1.0", "",
			"agent_settled with aborted (since 1.1.0)"},
		{"a cumulative update", []string{`{"type":"message_update","assistantMessageEvent":{"type":"text_delta","contentIndex":0,"delta":"d","partial":{}},"message":{}}`},
			"0.83.0", "", "0.83.0", "message_update:text_delta with assistantMessageEvent.partial (until 0.83.0)"},
		{"an update without usage", []string{`{"type":"message_update","assistantMessageEvent":{"type":"text_delta","contentIndex":0,"delta":"d"}}`},
			"0.84.1", "0.84.0", "0.84.1", "message_update:text_delta without assistantMessageEvent.partial (until 0.83.0); message_update:text_delta without usage (since 0.84.2)"},
		{"a response without data", []string{`{"type":"response","command":"prompt","success":true}`}, "0.87.1", "", "0.87.1",
			"response:prompt without data.disposition (since 0.99.0)"},
		{"a command that is not there", []string{`{"type":"response","command":"clear_queue","success":false,"error":"Unknown command: clear_queue"}`},
			"0.84.3", "", "0.84.3", "response:clear_queue without success true (since 0.84.4)"},
		{"a command that is", []string{`{"type":"response","command":"fork","success":true,"data":{"cancelled":true}}`},
			"1.6.0", "0.43.0", "", "response:fork with success true (since 0.43.0)"},
		{"a value", []string{`{"type":"thinking_level_changed","level":"max"}`}, "1.6.0", "0.80.6", "", "thinking_level_changed with level max (since 0.80.6)"},
		{"an old word", []string{`{"type":"auto_compaction_start","reason":"overflow"}`}, "0.63.0", "", "0.63.0", "auto_compaction_start (until 0.63.0)"},
		{"the first of two that contradict", []string{`{"type":"agent_settled","aborted":false}`, `{"type":"auto_compaction_start","reason":"overflow"}`},
			"1.6.0", "1.1.0", "", "agent_settled with aborted (since 1.1.0)"},
		{"what is unknown", []string{`{"type":"brand_new"}`, `{"type":"response","command":"brand_new","success":true}`, `null`, `{`}, "1.6.0", "", "", ""},
		{"half a record", []string{`{"type":"message_update","assistantMessageEvent":{"type":"text_delta"`}, "1.6.0", "", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			var g Guess
			for _, msg := range test.msgs {
				g.See("agent", []byte(msg))
			}
			v, low, high, evidence := g.Version()
			if v.String() != test.v || low.String() != test.low || high.String() != test.high || evidence != test.evidence {
				t.Errorf("got  %q in %q to %q: %s\nwant %q in %q to %q: %s", v, low, high, evidence, test.v, test.low, test.high, test.evidence)
			}
		})
	}
}

func TestGuessIgnoresTheClient(t *testing.T) {
	var g Guess
	g.See("client", []byte(`{"type":"clear_queue"}`))
	if _, low, high, evidence := g.Version(); low != high || evidence != "" {
		t.Errorf("a command set bounds: %s", evidence)
	}
}

func TestGuessKeepsLittle(t *testing.T) {
	var g Guess
	for i := range 10000 {
		g.See("agent", fmt.Appendf(nil, `{"type":"message_update","assistantMessageEvent":{"type":"kind %d"}}`, i))
		g.See("agent", fmt.Appendf(nil, `{"type":"response","command":"command %d","success":true}`, i))
		g.See("agent", fmt.Appendf(nil, `{"type":"type %d"}`, i))
	}
	if len(g.seen) > 0 {
		t.Errorf("keeps %d names that it does not know", len(g.seen))
	}
}

func TestGuessRealSessions(t *testing.T) {
	for version, records := range sessions(t) {
		var g Guess
		for _, r := range records {
			g.See(r.From, r.Msg)
		}
		v, low, high, evidence := g.Version()
		is := mustVersion(t, version)
		if is.Before(low) || !high.IsZero() && high.Before(is) || !strings.Contains(evidence, "since") {
			t.Errorf("pi %s: guessed %v to %v: %s", version, low, high, evidence)
		}
		for _, r := range records {
			if problems := Validate(v, r.From, r.Msg); r.From == "agent" && problems != nil {
				t.Errorf("pi %s, guessed %s: %s\n%s", version, v, describe(problems[0]), r.Msg)
			}
		}
	}
}
