package rpc

import (
	"slices"
	"strings"
	"testing"
)

// TestSpans holds the vocabulary against facts of pi's changelog.
func TestSpans(t *testing.T) {
	voc := Load()
	for _, test := range []struct {
		name string
		span Span
		at   string
		want Presence
	}{
		{"clear_queue", voc.Command("clear_queue").Span, "0.84.3", Later},
		{"clear_queue", voc.Command("clear_queue").Span, "0.84.4", Present},
		{"branch", voc.Command("branch").Span, "0.42.5", Present},
		{"branch", voc.Command("branch").Span, "0.45.7", Earlier},
		{"fork", voc.Command("fork").Span, "0.42.5", Later},
		{"agent_settled", voc.Event("agent_settled").Span, "0.80.3", Later},
		{"agent_settled", voc.Event("agent_settled").Span, "0.80.6", Present},
		{"agent_settled.aborted", voc.Event("agent_settled").Field("aborted").Span, "1.0.3", Later},
		{"message_update.message", voc.Event("message_update").Field("message").Span, "0.83.0", Present},
		{"message_update.message", voc.Event("message_update").Field("message").Span, "0.84.0", Earlier},
		{"message_update.usage", voc.Event("message_update").Field("usage").Span, "0.84.1", Later},
		{"toolcall_start.id", voc.Update("toolcall_start").Field("id").Span, "0.84.3", Present},
		{"setWidget.widgetPlacement", voc.Method("setWidget").Field("widgetPlacement").Span, "0.45.7", Later},
		{"prompt data", voc.Command("prompt").Data[0].Span, "0.87.1", Later},
		{"system", voc.Message("system").Span, "0.85.1", Later},
		{"hook_ui_request", voc.Event("hook_ui_request").Span, "0.32.3", Present},
		{"hook_ui_request", voc.Event("hook_ui_request").Span, "0.37.2", Earlier},
	} {
		if got := test.span.At(mustVersion(t, test.at)); got != test.want {
			t.Errorf("%s in %s: %v, want %v", test.name, test.at, got, test.want)
		}
	}
	level := voc.Command("set_thinking_level").Field("level")
	if i := slices.IndexFunc(level.Enum, func(v Value) bool { return v.Name == "max" }); level.Enum[i].At(mustVersion(t, "0.74.2")) != Later {
		t.Error("thinking level max is in 0.74.2")
	}
}

func TestCommandsDo(t *testing.T) {
	voc := Load()
	names := func(has func(*Command) bool) string {
		var all []string
		for _, c := range voc.Commands {
			if has(c) {
				all = append(all, c.Name)
			}
		}
		slices.Sort(all)
		return strings.Join(all, " ")
	}
	old, newest := mustVersion(t, "0.67.2"), Newest()
	for _, test := range []struct {
		what string
		has  func(*Command) bool
		want string
	}{
		{"start a run", func(c *Command) bool { return c.StartsRun }, "prompt"},
		{"abort a run", func(c *Command) bool { return c.AbortsRun }, "abort branch clone compact fork new_session switch_session"},
		{"reset the session", func(c *Command) bool { return c.ResetsSession }, "branch clone fork new_session switch_session"},
		{"answer late", func(c *Command) bool { return c.AnswersLate(newest) },
			"abort bash branch clone compact export_html fork new_session prompt switch_session"},
		{"answer late in 0.67.2", func(c *Command) bool { return c.AnswersLate(old) },
			"abort bash branch clone compact export_html fork new_session switch_session"},
		{"cut a run", func(c *Command) bool { return c.CutsRun(newest) }, ""},
		{"cut a run in 0.83.0", func(c *Command) bool { return c.CutsRun(mustVersion(t, "0.83.0")) }, "compact"},
		{"cut a run in 0.67.2", func(c *Command) bool { return c.CutsRun(old) }, "branch clone compact fork new_session switch_session"},
		{"only read", (*Command).ReadOnly, "export_html get_available_models get_available_thinking_levels get_branch_messages " +
			"get_commands get_entries get_fork_messages get_last_assistant_text get_messages get_session_stats get_state get_tree"},
		{"write a file", func(c *Command) bool { return c.WritesFile }, "export_html"},
		{"may answer null", func(c *Command) bool { return c.DataNull }, "cycle_model cycle_thinking_level"},
	} {
		if got := names(test.has); got != test.want {
			t.Errorf("commands that %s:\n%s\nwant\n%s", test.what, got, test.want)
		}
	}
}

func TestBehaves(t *testing.T) {
	voc := Load()
	for _, test := range []struct {
		id, at string
		want   bool
	}{
		{"null-kills", "0.64.0", false},
		{"null-kills", "1.6.0", true},
		{"null-kills", "", true},
		{"unknown-command-without-id", "0.74.2", true},
		{"unknown-command-without-id", "0.79.7", false},
		{"unknown-command-without-id", "", false},
		{"abort-delivers-queue", "0.76.0", false},
		{"abort-delivers-queue", "0.85.1", true},
		{"abort-delivers-queue", "0.86.1", false},
		{"prompts-race", "0.37.2", true},
	} {
		if got := voc.Behaves(test.id, mustVersion(t, test.at)); got != test.want {
			t.Errorf("%s in %q: %v", test.id, test.at, got)
		}
	}
}

// TestVocabularyHolds checks what the rest of the package takes for granted.
func TestVocabularyHolds(t *testing.T) {
	voc := Load()
	if !slices.IsSortedFunc(voc.Tested, Version.Compare) || Newest() != mustVersion(t, "1.6.0") {
		t.Errorf("tested versions: %v", voc.Tested)
	}
	for _, c := range voc.Commands {
		for _, name := range c.Emits {
			if voc.Event(name) == nil {
				t.Errorf("%s emits %s, which is no event", c.Name, name)
			}
		}
		if c.Became != "" && voc.Command(c.Became) == nil {
			t.Errorf("%s became %s, which is no command", c.Name, c.Became)
		}
		if c.ResetsSession && !c.ChangesState {
			t.Errorf("%s resets the session but changes nothing", c.Name)
		}
		checkPlan(t, c.Name, c.plan)
		checkPlan(t, c.Name+" data", c.data.plan)
	}
	for _, e := range voc.Events {
		if e.Became != "" && voc.Event(e.Became) == nil {
			t.Errorf("%s became %s, which is no event", e.Name, e.Became)
		}
		checkPlan(t, e.Name, e.plan)
	}
	for _, m := range voc.Methods {
		checkPlan(t, m.Name, m.plan)
		for _, name := range m.Answer {
			if voc.UIResponse("extension_ui_response").Field(name) == nil {
				t.Errorf("%s is answered by %s, which no UI response has", m.Name, name)
			}
		}
	}
	for _, s := range voc.Shapes {
		for name, p := range s.kinds {
			checkPlan(t, s.Name+" "+name, p)
			if p.fields[0].Name != s.Tag || p.name != name {
				t.Errorf("%s %s begins with %s", s.Name, p.name, p.fields[0].Name)
			}
		}
	}
}

// checkPlan checks that walking along a plan ends: shapes do not lead back to themselves.
func checkPlan(t *testing.T, name string, p *plan) {
	t.Helper()
	level := []*plan{p}
	for depth := 0; len(level) > 0; depth++ {
		if depth > 8 {
			t.Fatalf("%s goes deeper than 8 objects", name)
		}
		var next []*plan
		for _, p := range level {
			if len(p.fields) > maxFields {
				t.Errorf("%s: an object in it has %d fields", name, len(p.fields))
			}
			for _, f := range p.fields {
				if f.Of == nil {
					continue
				}
				next = append(next, f.Of.plan)
				for _, kind := range f.Of.kinds {
					next = append(next, kind)
				}
			}
		}
		slices.SortFunc(next, func(a, b *plan) int { return strings.Compare(a.name, b.name) })
		level = slices.Compact(next)
	}
}
