package pitest

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func bothKinds(t *testing.T, test func(t *testing.T, stdio Stdio)) {
	for _, stdio := range []Stdio{Pipes, SocketPairs} {
		t.Run(stdio.String(), func(t *testing.T) { test(t, stdio) })
	}
}

func TestPiAnswersAPrompt(t *testing.T) {
	bothKinds(t, func(t *testing.T, stdio Stdio) {
		pi := NewPi(t)
		c := Start(t, pi.Command(), stdio)
		c.Send(`{"id":"p","type":"prompt","message":"think:A greeting is due. ++ delta:4 ++ say:Hello, world!"}`)
		c.Response("p")
		c.Expect("message_update:thinking_delta")
		c.Expect("agent_settled")
		c.Send(`{"id":"t","type":"get_last_assistant_text"}`)
		if got := c.Response("t").Get("data.text"); got != "Hello, world!" {
			t.Errorf("the last text is %q", got)
		}
		c.Finish(0)
		if len(c.Err.Bytes()) > 0 {
			t.Errorf("stderr: %s", c.Err.Bytes())
		}
	})
}

// client is a real pi and a test that talks to it.
type client struct {
	*Conversation
	pi Pi
}

func startPi(t *testing.T) client {
	t.Helper()
	pi := NewPi(t)
	return client{Start(t, pi.Command(), Pipes), pi}
}

func (c client) prompt(script string) {
	c.t.Helper()
	c.Send(`{"type":"prompt","message":` + quoteText(script) + `}`)
	c.Expect("response:prompt")
}

func (c client) lastText() string {
	c.t.Helper()
	c.Send(`{"type":"get_last_assistant_text"}`)
	text, _ := c.Expect("response:get_last_assistant_text").Get("data.text").(string)
	return text
}

// The tests named TestModel... show that the fake model can do to the real pi whatever other tests ask of it.

func TestModelCallsTools(t *testing.T) {
	c := startPi(t)
	c.prompt("tool:bash echo one; echo two\ntool:write notes.txt some text ++ tool:read {\"path\":\"missing.txt\"}\nusage:7/9 ++ say:All done.")
	c.ExpectFunc("the end of bash", func(r Record) bool {
		return r.Type() == "tool_execution_end" && r.Get("result.content.0.text") == "one\ntwo\n"
	})
	c.ExpectFunc("a failed read", func(r Record) bool {
		return r.Type() == "tool_execution_end" && r.Get("toolName") == "read" && r.Get("isError") == true
	})
	end := c.ExpectFunc("the last turn", func(r Record) bool {
		return r.Type() == "turn_end" && r.Get("message.content.0.text") == "All done."
	})
	if in, out := end.Get("message.usage.input"), end.Get("message.usage.output"); in != 7.0 || out != 9.0 {
		t.Errorf("usage %v and %v, want 7 and 9", in, out)
	}
	c.Expect("agent_settled")
	c.Finish(0)
	if content, err := os.ReadFile(filepath.Join(c.pi.Project, "notes.txt")); string(content) != "some text" {
		t.Errorf("notes.txt holds %q, %v", content, err)
	}
}

func TestModelSaysWhatIsHardToPrint(t *testing.T) {
	c := startPi(t)
	c.prompt("nasty:")
	c.Expect("agent_settled")
	c.Send(`{"type":"get_last_assistant_text"}`)
	if r := c.Expect("response:get_last_assistant_text"); !bytes.Contains(r, []byte(NastyJSON())) {
		t.Errorf("it came as %s, want in it %s", r, NastyJSON())
	}
	c.Finish(0)
}

func TestModelFails(t *testing.T) {
	c := startPi(t)
	c.prompt("err:529x2 ++ say:At last.")
	c.Expect("auto_retry_start")
	c.Expect("auto_retry_start")
	c.Expect("agent_settled")
	if got := c.lastText(); got != "At last." {
		t.Errorf("after two failures it says %q", got)
	}
	c.prompt("say:Before it all ++ cut:")
	c.Expect("message_update:text_delta")
	c.Expect("auto_retry_start")
	c.Send(`{"type":"abort"}`)
	c.Expect("agent_settled")
	c.Finish(0)
}

func TestModelWaits(t *testing.T) {
	c := startPi(t)
	for _, script := range []string{"say:then nothing ++ stall:", "slow:400x20ms", "say:first ++ wait:never ++ say:second"} {
		c.prompt(script)
		c.Expect("message_update:text_delta")
		c.Send(`{"type":"abort"}`)
		if settled := c.Expect("agent_settled"); settled.Get("aborted") != true {
			t.Errorf("%s: settled as %s", script, settled)
		}
	}
	c.prompt("say:first ++ wait:go ++ say:, second")
	c.Expect("message_update:text_delta")
	c.pi.Model.Release("go")
	c.Expect("agent_settled")
	if got := c.lastText(); got != "first, second" {
		t.Errorf("after the wait it has said %q", got)
	}
	c.Finish(0)
}

func TestModelSaysMuch(t *testing.T) {
	c := startPi(t)
	c.prompt("burst:3000 ++ long:300KB")
	c.Expect("agent_settled")
	updates := 0
	for _, r := range c.Records() {
		if r.Kind() == "message_update:text_delta" {
			updates++
		}
	}
	if updates != 3000+5 {
		t.Errorf("it came in %d updates", updates)
	}
	// pi cuts white space at the ends of what it returns.
	if got := c.lastText(); len(got) != 4*3000+300_000 || !strings.HasPrefix(got, "abcdabcd") {
		t.Errorf("a text of %d bytes", len(got))
	}
	c.Finish(0)
}

func TestModelFindsAScriptInATemplate(t *testing.T) {
	c := startPi(t)
	for _, test := range []struct{ prompt, want string }{
		{"Who are you?", "You said: Who are you?"},
		{"/greet Ada", "Hello, Ada!"},
		{"Say nothing, [[say:or this]].", "or this"},
	} {
		c.prompt(test.prompt)
		c.Expect("agent_settled")
		if got := c.lastText(); got != test.want {
			t.Errorf("%s is answered with %q, want %q", test.prompt, got, test.want)
		}
	}
	c.Finish(0)
}

func TestPiIsOnItsOwn(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "secret")
	t.Setenv("HTTPS_PROXY", "http://192.0.2.1")
	pi := NewPi(t)
	for _, v := range pi.Command().Env {
		if strings.Contains(v, "secret") || strings.Contains(v, "192.0.2.1") {
			t.Errorf("pi is given %s", v)
		}
	}
	for _, path := range []string{pi.Path, pi.Node, pi.ACP, pi.Home, pi.Project} {
		if !filepath.IsAbs(path) {
			t.Errorf("%s is not absolute", path)
		}
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
	c := Start(t, pi.Command("env", "--", "IN_FRONT=1"), Pipes)
	c.Send(`{"id":"s","type":"get_state"}`)
	if model := c.Response("s").Get("data.model.provider"); model != "fake" {
		t.Errorf("pi's model is from %v", model)
	}
	c.Send(`{"id":"b","type":"bash","command":"pwd; echo $HOME $IN_FRONT $PI_CODING_AGENT_DIR"}`)
	if got, want := c.Response("b").Get("data.output"), pi.Project+"\n"+pi.Home+" 1\n"; got != want {
		t.Errorf("pi's shell says %q, want %q", got, want)
	}
	c.Finish(0)
	if !strings.HasPrefix(pi.Version, "1.") {
		t.Errorf("pi's version is %q", pi.Version)
	}
}

func TestWithoutPi(t *testing.T) {
	empty := t.TempDir()
	for _, test := range []struct {
		name, dir, cache, required string
		failed, skipped            bool
	}{
		{"nothing installed", "", empty, "", false, true},
		{"required", "", empty, "1", true, false},
		{"named, but not there", empty, empty, "", true, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv("PITAP_TEST_PI", test.dir)
			t.Setenv("XDG_CACHE_HOME", test.cache)
			t.Setenv("HOME", test.cache)
			t.Setenv("PITAP_TEST_PI_REQUIRED", test.required)
			fake := run(t, func(t testing.TB) { NewPi(t) })
			if fake.Failed() != test.failed || fake.Skipped() != test.skipped {
				t.Errorf("failed %v, skipped %v", fake.Failed(), fake.Skipped())
			}
			if !strings.Contains(fake.said(), ".ci/pi.sh") {
				t.Errorf("it says only %q", fake.said())
			}
		})
	}
}
