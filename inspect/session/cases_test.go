package session

import (
	"fmt"
	"strings"
	"testing"

	"pitap/record"
)

// These are conditions that users of pi and of its clients ran into. Each gives just the findings that are stated.

// one returns the finding of a rule, of which there must be one.
func one(t *testing.T, list []record.Finding, rule string) record.Finding {
	t.Helper()
	var found []record.Finding
	for _, f := range list {
		if f.Rule == rule {
			found = append(found, f)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d findings of %s:\n%s", len(found), rule, words(list))
	}
	return found[0]
}

func wantIDs(t *testing.T, list []record.Finding, want string) {
	t.Helper()
	if got := ids(list); got != want {
		t.Errorf("found %s, want %s\n%s", got, want, words(list))
	}
}

func wantWords(t *testing.T, f record.Finding, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(f.Text+" "+f.Hint, part) {
			t.Errorf("%s says %q, and nothing of %q", f.Rule, f.Text, part)
		}
	}
}

func TestCase01UnicodeSeparators(t *testing.T) {
	name := "a\u2028b\u2029c\u0085d"
	s := ended(t, "> {\"id\":\"s\",\"type\":\"set_session_name\",\"name\":\""+name+"\"}\n"+answer("s", "set_session_name")+exits)
	wantIDs(t, s.Findings(), "framing/u2028#1")
	wantWords(t, s.Findings()[0], "Node 24", "splitlines", "byte 45")

	s = ended(t, ready+"< {\"type\":\"session_info_changed\",\"name\":\""+name+"\"}\n"+exits)
	wantIDs(t, s.Findings(), "framing/u2028#3")
	wantWords(t, s.Findings()[0], "Node 24", "splitlines", "byte 40", "U+2029", "U+0085")
	if f := s.Findings()[0]; f.Severity != record.SevHazard {
		t.Errorf("severity %v", f.Severity)
	}
}

func TestCase02JunkOnStdout(t *testing.T) {
	s := ended(t, ready+`<q "\x1b]0;title\a{\"type\":\"agent_settled\",\"aborted\":false}"
<q "plain text"
<q "\xff\xfe\x00"
`+exits)
	list := s.Findings()
	f := one(t, list, "framing/junk-before-record")
	wantWords(t, f, "byte 10")
	if f.At != 10 {
		t.Errorf("the record starts at byte %d of the line, want 10", f.At)
	}
	one(t, list, "framing/invalid-json")
	if len(list) != 3 { // and one for the bytes that are no text
		t.Errorf("found\n%s", words(list))
	}
	// The record behind the junk counts: pi did write it.
	s = ended(t, prompt("p", "hi")+started("p")+runStart+whole(assistant("", "stop"))+turnEnd(assistant("", "stop"))+runEnd()+
		`<q "\x1b]0;title\a{\"type\":\"agent_settled\",\"aborted\":false}"`+"\n"+exits)
	wantIDs(t, s.Findings(), "framing/junk-before-record#9")
	if len(s.Runs) != 1 || s.Runs[0].Settled == nil {
		t.Error("the run has not settled")
	}
}

func TestCase04UnknownCommandWithoutID(t *testing.T) {
	s := ended(t, "pi 0.74.2\n"+ready+command("x", "foobar")+"< {\"type\":\"response\",\"command\":\"foobar\",\"success\":false,\"error\":\"Unknown command: foobar\"}\n"+
		">q \"{oops\"\n< {\"type\":\"response\",\"command\":\"parse\",\"success\":false,\"error\":\"Failed to parse command: x\"}\n"+exits)
	list := s.Findings()
	wantIDs(t, list, "command/unknown#3 pair/id-missing#4 framing/invalid-json#5")
	wantWords(t, one(t, list, "pair/id-missing"), "probably answers foobar (entry 3)", `"x"`)
	c := s.Commands[1]
	if c.Response == nil || c.Response.N != 4 || !c.Guessed {
		t.Errorf("foobar: %+v", c)
	}
	if b := s.Bad[0]; b.N != 5 || b.Response == nil || b.Response.N != 6 {
		t.Errorf("the line that is no JSON: %+v", b)
	}
}

func TestCase09NeverAnswered(t *testing.T) {
	for _, test := range []struct{ name, text, want, words, why, was string }{
		{"a prompt that is swallowed", ready + prompt("p", "hi") + at(20, exits), "wait/response#3", "had no response in 20.0s",
			`the prompt "p" (entry 3) has no response, for 20.0s`, `the prompt "p" (entry 3) had no response, for 20.0s`},
		{"a prompt that is accepted and never begins", ready + prompt("p", "hi") + started("p") + at(20, exits), "wait/run#3", "20.0s",
			`the prompt "p" (entry 3) was accepted, and its run has not begun, for 20.0s`, `the prompt "p" (entry 3) had been accepted, and its run had not begun, for 20.0s`},
		{"a provider that sends nothing", ready + prompt("p", "hi") + started("p") + runStart + whole(user("hi")) + at(20, exits), "wait/run#5", "for 20.0s",
			"the model was asked, and has sent nothing, for 20.0s", "the model had been asked, and had sent nothing, for 20.0s"},
		{"an extension command that never ends", ready + prompt("p", "/never") + at(20, exits), "wait/response#3", "had no response in 20.0s",
			`the extension's command /never has not ended, and the prompt "p" (entry 3) has no response, for 20.0s`, `the extension's command /never had not ended, and the prompt "p" (entry 3) had no response, for 20.0s`},
		{"a dialog", ready + prompt("p", "/ask") + dialog("u", "confirm", confirm) + at(20, exits), "dialog/unanswered#4", "in 20.0s",
			`an extension asks the client something (confirm "Title" (entry 4)) and has no answer, for 20.0s`, `an extension had asked the client something (confirm "Title" (entry 4)) and had no answer, for 20.0s`},
	} {
		s := ended(t, test.text)
		wantIDs(t, s.Findings(), test.want)
		wantWords(t, s.Findings()[0], test.words)
		if why := s.Why(0); !strings.Contains(why, test.was) {
			t.Errorf("%s: why says %q", test.name, why)
		}
		// And live, before anything has ended.
		s, _ = read(t, fixture(t, strings.TrimSuffix(test.text, at(20, exits))))
		if why := s.Why(20_000_000_000); !strings.Contains(strings.ToLower(why), strings.ToLower(strings.TrimSuffix(test.why, "for 20.0s"))) {
			t.Errorf("%s, live: why says %q", test.name, why)
		}
		wantIDs(t, s.Pending(20_000_000_000), test.want)
		// And cut: nobody knows how long it went on.
		s, _ = read(t, fixture(t, strings.TrimSuffix(test.text, at(20, exits))+"20 ! a line\n"))
		s.End(false)
		if why := s.Why(0); !strings.Contains(strings.ToLower(why), strings.ToLower(test.was+" at least")) || !strings.HasSuffix(why, "is a copy of a capture that went on.") {
			t.Errorf("%s, cut: why says %q", test.name, why)
		}
	}
}

func TestCase10Dialogs(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"no answer", prompt("p", "/ask") + dialog("u", "confirm", confirm) + at(5, exits), "dialog/unanswered#2"},
		{"the wrong id", prompt("p", "/ask") + dialog("u", "confirm", confirm) + reply("v", `,"confirmed":true`) + reply("u", `,"confirmed":true`) + disposed("p", "prompt", "handled") + exits, "dialog/wrong-id#3"},
		{"the right id twice", dialog("u", "confirm", confirm) + reply("u", `,"confirmed":true`) + reply("u", `,"confirmed":true`) + exits, "dialog/twice#3"},
		{"confirmed is no bool", dialog("u", "confirm", confirm) + reply("u", `,"confirmed":"yes"`) + exits, "dialog/wrong-member#2"},
		{"no option", dialog("u", "select", options) + reply("u", `,"value":"c"`) + exits, "dialog/not-an-option#2"},
		{"it ended by itself", prompt("p", "/ask") + dialog("u", "confirm", confirm+`,"timeout":100`) + at(1, disposed("p", "prompt", "handled")) + exits, ""},
		{"fire and forget", "< {\"type\":\"extension_ui_request\",\"id\":\"u\",\"method\":\"setTitle\",\"title\":\"x\"}\n" + exits, ""},
	} {
		if got := ids(ended(t, test.text).Findings()); got != test.want {
			t.Errorf("%s: found %s, want %s", test.name, got, test.want)
		}
	}
}

func TestCase16LineEndsBlanksMarks(t *testing.T) {
	parse := "< {\"type\":\"response\",\"command\":\"parse\",\"success\":false,\"error\":\"x\"}\n"
	s := ended(t, `... {"n":1,"t":1,"from":"client","off":0,"eol":"\r\n","msg":{"id":"a","type":"abort"}}
... {"n":2,"t":1,"from":"client","off":27,"eol":"\r\n","text":""}
... {"n":3,"t":1,"from":"client","off":29,"text":""}
... {"n":4,"t":1,"from":"client","off":30,"text":" "}
... {"n":5,"t":1,"from":"client","off":32,"text":"`+"\ufeff"+`{\"id\":\"b\",\"type\":\"abort\"}"}
`+answer("a", "abort")+parse+parse+parse+parse+exits)
	wantIDs(t, s.Findings(), "framing/crlf#1x2 framing/blank-line#2x3 framing/bom#5")
	for _, b := range s.Bad {
		if b.Response == nil {
			t.Errorf("line %d has no parse error", b.N)
		}
	}
	utf16 := func(text string) string {
		var b strings.Builder
		for _, c := range text {
			fmt.Fprintf(&b, `%c\x00`, c)
		}
		return strings.ReplaceAll(b.String(), `"`, `\"`)
	}
	s = ended(t, ready+`>q "\xff\xfe`+utf16(`{"id":"a","type":"abort"}`)+"\"\n"+parse+exits)
	wantIDs(t, s.Findings(), "framing/utf16#3")
	wantWords(t, s.Findings()[0], "UTF-16")
}

func TestCase17InvalidUTF8(t *testing.T) {
	s := ended(t, ready+`<q "\xa6\xa8\xa5\\: PID 1"
>q "{\"id\":\"n\",\"type\":\"set_session_name\",\"name\":\"x\xff\"}"
`+answer("n", "set_session_name")+exits)
	list := s.Findings()
	wantIDs(t, list, "framing/invalid-utf8#3 framing/invalid-utf8#4")
	wantWords(t, list[1], "pi silently takes U+FFFD", "byte 45")
	if c := s.Commands[len(s.Commands)-1]; c.Type != "set_session_name" || c.Response == nil {
		t.Errorf("the command that pi takes all the same: %+v", c)
	}
}

func TestCase18Null(t *testing.T) {
	s := ended(t, ready+"> null\n! TypeError: Cannot read properties of null (reading 'id')\n* \"exit\",\"code\":1\n* \"end\",\"totals\":{\"entries\":5}\n")
	list := s.Findings()
	wantIDs(t, list, "end/killed-by-line#3 end/stderr#4")
	if list[0].Severity != record.SevError {
		t.Errorf("severity %v", list[0].Severity)
	}
	wantWords(t, list[0], "killed the agent", "exited with 1")
	wantWords(t, list[1], "Cannot read properties of null")
	if why := s.Why(0); !strings.Contains(why, "after the line of entry 3, which killed it") || !strings.Contains(why, "Cannot read properties") {
		t.Errorf("why says %q", why)
	}
}

func TestCase24IDs(t *testing.T) {
	s := ended(t, ready+
		"> {\"id\":1,\"type\":\"abort\"}\n> {\"id\":\"1\",\"type\":\"abort\"}\n> {\"id\":null,\"type\":\"abort\"}\n> {\"type\":\"abort\"}\n> {\"type\":\"abort\"}\n> {\"type\":\"abort_bash\"}\n> {\"id\":\"twin\",\"type\":\"abort\"}\n> {\"id\":\"twin\",\"type\":\"abort\"}\n"+
		"< {\"id\":\"1\",\"type\":\"response\",\"command\":\"abort\",\"success\":true}\n< {\"id\":1,\"type\":\"response\",\"command\":\"abort\",\"success\":true}\n"+
		"< {\"type\":\"response\",\"command\":\"abort_bash\",\"success\":true}\n< {\"type\":\"response\",\"command\":\"abort\",\"success\":true}\n< {\"id\":null,\"type\":\"response\",\"command\":\"abort\",\"success\":true}\n"+
		"< {\"type\":\"response\",\"command\":\"abort\",\"success\":true}\n< {\"id\":\"twin\",\"type\":\"response\",\"command\":\"abort\",\"success\":true}\n< {\"id\":\"twin\",\"type\":\"response\",\"command\":\"abort\",\"success\":true}\n"+
		command("1", "abort")+answer("1", "abort")+exits)
	wantIDs(t, s.Findings(), "pair/id-reused#10")
	var pairs []string
	for _, c := range s.Commands {
		guess := ""
		if c.Guessed {
			guess = "?"
		}
		pairs = append(pairs, fmt.Sprintf("%d-%d%s", c.N, c.Response.N, guess))
	}
	if got := strings.Join(pairs, " "); got != "1-2 3-12 4-11 5-15 6-14? 7-16? 8-13? 9-17? 10-18 19-20" {
		t.Errorf("pairs %s", got)
	}
}

func TestCase27Gaps(t *testing.T) {
	for _, test := range []struct{ name, text string }{
		{"the agent's", ready + prompt("p", "hi") + command("g", "get_state") + "* \"gap\",\"from\":\"agent\",\"lost\":{\"agent\":5000}\n" +
			textUpdate("delta", 0, "delta", "x") + toolEnd("c9", "bash") + turnEnd(assistant(says("x"), "stop")) + runEnd() + settled + reply("u", `,"value":"x"`) + at(20, exits)},
		{"the client's", ready + "* \"gap\",\"from\":\"client\",\"lost\":{\"client\":5000}\n" + answer("z", "get_state") + "< {\"type\":\"response\",\"command\":\"bash\",\"success\":false,\"error\":\"x\"}\n" +
			"< {\"type\":\"response\",\"command\":\"parse\",\"success\":false,\"error\":\"x\"}\n< {\"type\":\"bash_execution_update\",\"id\":\"b\",\"delta\":\"x\"}\n" + exits},
		{"both, without streams", ready + command("g", "get_state") + "* \"gap\",\"lost\":{}\n" + answer("z", "abort") + runEnd() + at(20, exits)},
		{"entries that are not there", ready + "... {\"n\":9,\"t\":5,\"from\":\"agent\",\"off\":800,\"msg\":{\"type\":\"turn_start\"}}\n" + answer("z", "abort_bash") + exits},
	} {
		s := ended(t, test.text)
		for _, f := range s.Findings() {
			if f.Severity > record.SevNote && f.Rule != "end/eof" {
				t.Errorf("%s: %s: %s", test.name, f.Rule, f.Text)
			}
		}
	}
	s := ended(t, ready+"* \"gap\",\"from\":\"agent\",\"lost\":{\"agent\":5000}\n"+run("p", "hi", "hello")+textUpdate("delta", 0, "delta", "x")+exits)
	if s.Lost != 5000 {
		t.Errorf("%d bytes lost", s.Lost)
	}
	wantIDs(t, s.Findings(), "order/nesting#15") // behind the next start all is known again
}

func TestCase30NewerPi(t *testing.T) {
	s := ended(t, "pi 9.0.0\n"+ready+"< {\"type\":\"brand_new_event\",\"x\":1}\n< {\"type\":\"brand_new_event\",\"x\":2}\n"+run("p", "hi", "hello")+exits)
	wantIDs(t, s.Findings(), "field/unknown#3x2")
	if f := s.Findings()[0]; f.Severity != record.SevNote || !strings.Contains(f.Text, "brand_new_event") {
		t.Errorf("%+v", f)
	}
	// Sessions of old and new versions are clean.
	for _, text := range []string{run("p", "hi", "hello") + exits, old(run("p", "hi", "hello") + exits)} {
		wantIDs(t, ended(t, text).Findings(), "")
	}
}
