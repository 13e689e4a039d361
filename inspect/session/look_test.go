package session

import (
	"strings"
	"testing"

	"pitap/record"
)

// notRead is a client that takes nothing from half a second on.
const notRead = "1.5 * \"stall\",\"from\":\"agent\",\"since\":500000000,\"bytes\":36864\n"

// What a user reads who asks why: the thing that explains most, with the ids that the client knows its commands by.
func TestWhySays(t *testing.T) {
	streaming := ready + prompt("p", "hi") + started("p") + runStart + whole(user("hi"))
	half := `... {"n":3,"t":5000000,"from":"client","off":26,"part":true,"text":"{\"type\":\"abort\"}\r{\"type\":"}` + "\n"
	lost := ready + prompt("a", "one") + prompt("b", "two") + started("a") + started("b") + runStart + settled + abortedRun
	for _, test := range []struct {
		name, text string
		ended      bool
		want, not  []string
	}{
		{"a client that does not read: of the model nothing is known", streaming + notRead, false,
			[]string{`The client does not read the agent's output`, `the run of the prompt "p" (entry 3) goes on`}, []string{"model"}},
		{"the same at its end", streaming + notRead + at(9, exits), true, []string{`the client did not read the agent's output`}, []string{"model"}},
		{"a model that is silent", streaming, false, []string{"The model was asked, and has sent nothing"}, nil},
		{"an answer to no dialog", ready + prompt("p", "/ask") + dialog("u", "confirm", confirm) + reply("nope", `,"confirmed":true`), false,
			[]string{`has no answer`, `Entry 5 answered the id "nope", which no dialog has. The extension waits`, `/ask has not ended, and the prompt "p" (entry 3) has no response`}, nil},
		{"an answer before the dialog", ready + reply("nope", `,"confirmed":true`) + prompt("p", "/ask") + dialog("u", "confirm", confirm), false, nil, []string{"nope"}},
		{"a command that was refused", ready + command("x", "foobar") + refused("x", "foobar", "Unknown command: foobar"), false,
			[]string{`Nothing is open, but the client's last command, foobar "x" (entry 3), was refused: Unknown command: foobar. The agent waits`, `sent foobar "x" (entry 3, refused: Unknown command: foobar)`}, nil},
		{"the same at the end", ready + command("x", "foobar") + refused("x", "foobar", "Unknown command: foobar") + exits, true,
			[]string{`Nothing was open, but the client's last command, foobar "x" (entry 3), was refused: Unknown command: foobar.`}, nil},
		{"a refused command, and another one", ready + command("x", "foobar") + refused("x", "foobar", "Unknown command: foobar") + command("y", "abort") + answer("y", "abort"), false, []string{"Nothing is open: the agent waits"}, []string{"refused"}},
		{"a line that is no JSON", ready + ">q \"{oops\"\n< {\"type\":\"response\",\"command\":\"parse\",\"success\":false,\"error\":\"Failed to parse command: x\"}\n", false,
			[]string{"the client's last line (entry 3) is no JSON, and the agent could not read it"}, nil},
		{"prompts that were lost", lost, false, []string{`Nothing is open, but the prompt "b" (entry 4) was accepted and never ran: sent before the run of the prompt before had begun`}, nil},
		{"the same at the end", lost + exits, true, []string{`but the prompt "b" (entry 4) had been accepted and never ran`}, nil},
		{"a prompt that has not begun is told once", ready + prompt("p", "hi") + started("p"), false, []string{`The prompt "p" (entry 3) was accepted, and its run has not begun, for `}, []string{"Behind that"}},
		{"CR for LF", ready + half, false, []string{"Half a record has come from the client", "It has a CR at byte 16, which ends no line: the agent waits for an LF"}, nil},
		{"a reader that does not read explains half a record", ready + half + `... {"n":4,"t":1500000000,"note":"stall","from":"client","since":500000000,"bytes":36864}` + "\n", false,
			[]string{"The agent does not read its input"}, []string{"Half a record", "half a record"}},
	} {
		s, _ := read(t, fixture(t, test.text))
		if test.ended {
			s.End(true)
		}
		why := s.Why(10_000_000_000)
		for _, want := range test.want {
			if !strings.Contains(why, want) {
				t.Errorf("%s: why says %q\nwant %q", test.name, why, want)
			}
		}
		for _, not := range test.not {
			if strings.Contains(why, not) {
				t.Errorf("%s: why says %q\nwant nothing of %q", test.name, why, not)
			}
		}
	}
}

// Half a record that has waited for a second is a finding as of now, unless its rest is held up.
func TestHalfPending(t *testing.T) {
	half := ready + `... {"n":3,"t":5000000,"from":"client","off":26,"part":true,"text":"{\"type\":\"abort\"}\r"}` + "\n"
	s, _ := read(t, fixture(t, half))
	wantIDs(t, s.Pending(900_000_000), "")
	list := s.Pending(3_005_000_000)
	wantIDs(t, list, "framing/unterminated#3")
	wantWords(t, list[0], "half a record, 17 bytes, and its line end (LF) has not come in 3.00s", "a CR, as at its byte 16, ends no line")
	if f := list[0]; f.From != record.Client || f.Off != 43 || f.Severity != record.SevHazard {
		t.Errorf("finding %+v", f)
	}
	s, _ = read(t, fixture(t, half+`... {"n":4,"t":1500000000,"note":"stall","from":"client","since":500000000,"bytes":36864}`+"\n"))
	for _, f := range s.Pending(9_000_000_000) {
		if f.Rule == "framing/unterminated" {
			t.Errorf("the agent does not read: %+v", f)
		}
	}
}

// A dialog that something waits for is no mere note, and its finding names who waits.
func TestDialogNamesWhoWaits(t *testing.T) {
	tool := ready + prompt("p", "hi") + started("p") + runStart + whole(user("hi")) +
		"< {\"type\":\"tool_execution_start\",\"toolCallId\":\"c1\",\"toolName\":\"bash\",\"args\":{}}\n"
	for _, test := range []struct{ name, text, rule, words string }{
		{"a prompt", ready + prompt("p", "/ask") + dialog("u", "confirm", confirm), "dialog/unanswered", `in 9.00s: the prompt "p" (entry 3) waits for it`},
		{"a tool", tool + dialog("u", "confirm", confirm), "dialog/unanswered", "the tool bash (entry 9) seems to wait for it"},
		{"a tool beside another one", tool + dialog("u", "confirm", confirm) + "< {\"type\":\"tool_execution_start\",\"toolCallId\":\"c2\",\"toolName\":\"read\",\"args\":{}}\n",
			"dialog/unanswered", "the tool bash (entry 9) seems to wait for it"},
		{"nobody", ready + dialog("u", "confirm", confirm) + at(5, ready2), "dialog/open", "nothing seems to wait for it"},
	} {
		s, _ := read(t, fixture(t, test.text))
		found := false
		for _, f := range s.Pending(9_010_000_000) {
			if f.Rule == test.rule {
				found = true
				if !strings.Contains(f.Text, strings.TrimPrefix(test.words, "in 9.00s: ")) {
					t.Errorf("%s: %s", test.name, f.Text)
				}
			}
		}
		if !found {
			t.Errorf("%s: no %s in %+v", test.name, test.rule, s.Pending(9_010_000_000))
		}
	}
	// Who was only just asked is not accused while the session goes on.
	s, _ := read(t, fixture(t, ready+prompt("p", "/ask")+dialog("u", "confirm", confirm)))
	wantIDs(t, s.Pending(1_000_000_000), "")
}
