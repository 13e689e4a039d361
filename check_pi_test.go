//go:build unix

package main

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"pitap/internal/pitest"
)

// piSession is a client of the real pi behind pitap.
type piSession struct {
	*pitest.Conversation
	f *front
	n int
}

func startPi(t *testing.T) *piSession {
	t.Helper()
	pi := pitest.NewPi(t)
	f := behind(t)
	cmd := pi.Command(filepath.Join(f.bin, "pitap"), "record", "--")
	cmd.Env = append(cmd.Env, "PITAP_DIR="+f.dir)
	return &piSession{Conversation: pitest.Start(t, cmd, pitest.SocketPairs), f: f}
}

// ask sends a command and waits for its response. members begin with a comma.
func (s *piSession) ask(typ, members string) {
	s.n++
	id := fmt.Sprintf("c%d", s.n)
	s.Send(fmt.Sprintf(`{"id":%q,"type":%q%s}`, id, typ, members))
	s.ExpectFunc("the response to "+typ, func(r pitest.Record) bool { return r.Type() == "response" && r.Get("id") == id })
}

// prompt sends a prompt and waits for the end of its run.
func (s *piSession) prompt(script string) {
	s.ask("prompt", fmt.Sprintf(`,"message":%q`, script))
	s.wait("agent_settled")
}

func (s *piSession) wait(kind string) {
	s.ExpectFunc(kind, func(r pitest.Record) bool { return r.Kind() == kind || r.Type() == kind })
}

// found gives the rules of what check finds in the session's capture, framing aside: the model writes what it likes.
func (s *piSession) found(t *testing.T) string {
	t.Helper()
	path := s.f.onlyCapture()
	eventually(t, "the capture to end", func() bool { return !live(t, path) })
	out, _, _ := pitap(t, s.f.dir, "check")
	var rules []string
	for _, m := range regexp.MustCompile(`(?m)^  (?:error|hazard|note) +(\S+)`).FindAllStringSubmatch(out, -1) {
		if !strings.HasPrefix(m[1], "framing/") && m[1] != "pair/early" {
			rules = append(rules, m[1])
		}
	}
	return strings.Join(rules, " ")
}

// A session in which nothing is wrong, of all that pi does.
func TestCheckRealSession(t *testing.T) {
	t.Parallel()
	s := startPi(t)
	s.ask("get_state", "")
	s.ask("get_commands", "")
	s.prompt("think:Greet. ++ delta:4 ++ say:Hello 😀\u2028漢字")
	s.prompt("/greet Ada")
	s.prompt("tool:bash echo one ++ tool:bash echo two; exit 3 ++ tool:read missing.txt ++ tool:nothing {}\ntool:bash seq 1 5000\nnasty:")
	s.ask("prompt", `,"message":"slow:20x30"`)
	s.wait("message_update:text_delta")
	s.ask("steer", `,"message":"say:steered"`)
	s.ask("follow_up", `,"message":"say:followed up"`)
	s.ask("prompt", `,"message":"say:queued","streamingBehavior":"followUp"`)
	s.wait("agent_settled")
	s.ask("prompt", `,"message":"tool:bash echo begun; sleep 20\nsay:no"`)
	s.wait("tool_execution_update")
	s.ask("abort", "")
	s.prompt("err:529x1 ++ say:again")
	s.prompt("say:half ++ cut:")
	s.prompt("err:400x1")
	s.ask("bash", `,"command":"echo from the client; seq 1 3000"`)
	s.Send(`{"type":"bash","command":"echo without id"}`)
	s.wait("response:bash")
	s.prompt("long:8KB")
	s.prompt("long:8KB")
	s.ask("compact", "")
	s.prompt("overflow:1 ++ say:after the overflow")
	s.ask("set_model", `,"provider":"fake","modelId":"plain"`)
	s.ask("cycle_thinking_level", "")
	s.ask("set_session_name", `,"name":"a name ✓"`)
	s.ask("new_session", "")
	s.prompt("say:another one")
	s.ask("get_messages", "")
	s.ask("get_session_stats", "")
	s.CloseStdin()
	s.Wait(0)
	if found := s.found(t); found != "" {
		t.Errorf("found %s", found)
	}
}

// What a client does wrong is found, and nothing else.
func TestCheckRealFaults(t *testing.T) {
	t.Parallel()
	s := startPi(t)
	s.ask("get_state", "")
	s.Send(`{"id":"u","type":"no_such_command"}`)
	s.wait("response:no_such_command failed")
	s.Send(`{"id":12345678901234567890,"type":"get_state"}`)
	s.wait("response:get_state")
	s.ask("set_steering_mode", `,"mode":5`)
	s.Send(`{"type":"extension_ui_response","id":"nobody","value":"x"}`)
	s.Send(`{"id":"p1","type":"prompt","message":"slow:10x30"}` + "\n" + `{"id":"p2","type":"prompt","message":"say:lost"}`)
	s.wait("agent_end")
	s.wait("agent_settled")
	s.ask("prompt", `,"message":"slow:400x20"`)
	s.wait("message_update:text_delta")
	s.ask("prompt", `,"message":"say:refused"`)
	s.CloseStdin()
	s.Wait(0)
	if found := s.found(t); found != "command/unknown dialog/wrong-id run/prompt-lost pair/id-changed field/type run/prompt-while-busy end/eof" &&
		found != "command/unknown dialog/wrong-id pair/id-changed field/type run/prompt-while-busy end/eof" { // the race was not lost
		t.Errorf("found %s", found)
	}
}

// How a real session ends is found as it was, once, and nothing else.
func TestCheckRealEnds(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		end  func(s *piSession)
		want string
	}{
		{"at the end of a run", func(s *piSession) {
			s.wait("agent_settled")
			s.CloseStdin()
			s.Wait(0)
		}, ""},
		{"input closed while the model streams", func(s *piSession) {
			s.CloseStdin()
			s.Wait(0)
		}, "end/eof"},
		{"SIGTERM while the model streams", func(s *piSession) {
			s.Signal(syscall.SIGTERM)
			s.Wait(143)
		}, "end/killed"},
		{"SIGHUP when nothing is under way", func(s *piSession) {
			s.wait("agent_settled")
			s.Signal(syscall.SIGHUP)
			s.Wait(129)
		}, ""},
		{"a line that kills", func(s *piSession) {
			s.wait("agent_settled")
			s.Send("null")
			s.Wait(1)
		}, "end/killed-by-line end/stderr"},
		{"output closed while the model streams", func(s *piSession) {
			s.CloseStdout()
			s.Wait(1)
		}, "end/reader-gone end/stderr"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := startPi(t)
			s.ask("prompt", `,"message":"slow:60x20"`)
			s.wait("message_update:text_delta")
			test.end(s)
			if found := s.found(t); found != test.want {
				t.Errorf("found %q, want %q", found, test.want)
			}
		})
	}
}

// A reader that stands still is found while it does, and when it went on.
func TestCheckRealStall(t *testing.T) {
	t.Parallel()
	s := startPi(t)
	s.ask("get_state", "")
	s.StopReading()
	s.Send(`{"id":"p","type":"prompt","message":"usage:1000/1000 ++ long:3MB"}`)
	eventually(t, "the stall to be found", func() bool {
		out, _, _ := pitap(t, s.f.dir, "check", "--rule", "flow/stall")
		return strings.Count(out, " flow/stall ") == 1 && strings.Contains(out, "and still does not")
	})
	s.ResumeReading()
	s.wait("agent_settled")
	s.CloseStdin()
	s.Wait(0)
	if found := s.found(t); found != "flow/stall" {
		t.Errorf("found %q", found)
	}
}
