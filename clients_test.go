//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"pitap/internal/pitest"
	"pitap/record"
)

// newClient makes a sandbox in which clients of the real pi run, with a shim made as the README says.
func newClient(t *testing.T) (*sandbox, pitest.Pi) {
	t.Helper()
	pi := pitest.NewPi(t)
	s := newSandbox(t)
	s.env = append(pi.Env, asPitap+"=1", "PI_OFFLINE=1")
	s = s.front("bin")
	os.Remove(s.path("home"))
	if err := os.Symlink(pi.Home, s.path("home")); err != nil {
		t.Fatal(err)
	}
	if o := s.run("", "sh", "-euc", readmeBlock(t, "sh", "pitap shim")); o.status != 0 {
		t.Fatalf("pitap shim: %+v", o)
	}
	return s, pi
}

// recordedSession waits for the only capture and its end, and says how the conversation ended.
func (s *sandbox) recordedSession() recorded {
	s.t.Helper()
	var c recorded
	until(s.t, "a whole capture", func() bool {
		found, err := record.List(s.path(defaultDir))
		if err != nil {
			s.t.Fatal(err)
		}
		if len(found) != 1 {
			return false
		}
		c = readRecorded(s.t, found[0].Path)
		return c.whole
	})
	return c
}

func (r recorded) exit() string {
	for _, n := range r.notes {
		if n.Kind == "exit" && n.Code != nil {
			return fmt.Sprint(*n.Code)
		} else if n.Kind == "exit" {
			return n.Signal
		}
	}
	return "none"
}

// wantRecords checks that a stream of the capture has records of these kinds, in this order.
func (r recorded) wantRecords(t *testing.T, from record.Stream, kinds ...string) {
	t.Helper()
	rest := kinds
	for line := range strings.Lines(r.streams[from]) {
		if len(rest) > 0 && pitest.Record(line).Kind() == rest[0] {
			rest = rest[1:]
		}
	}
	if len(rest) > 0 {
		t.Errorf("from %v there is no %s, after %q: %.2000s", from, rest[0], kinds[:len(kinds)-len(rest)], r.streams[from])
	}
}

// TestPiAcp runs pi-acp as the README says, and talks to it as an editor does.
func TestPiAcp(t *testing.T) {
	s, pi := newClient(t)
	cmd := exec.Command("sh", "-euc", readmeBlock(t, "sh", "PI_ACP_PI_COMMAND"))
	cmd.Dir, cmd.Env = pi.Project, s.env
	c := pitest.Start(t, cmd, pitest.Pipes)
	answer := func(id float64) pitest.Record {
		t.Helper()
		return c.ExpectFunc(fmt.Sprintf("the answer to %v", id), func(r pitest.Record) bool { return r.Get("id") == id && r.Get("method") == nil })
	}
	c.Send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}`)
	answer(1)
	c.Send(`{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":` + quoteJSON(pi.Project) + `,"mcpServers":[]}}`)
	session, ok := answer(2).Get("result.sessionId").(string)
	if !ok {
		t.Fatalf("no session: %s", answer(2))
	}
	c.Send(`{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":` + quoteJSON(session) +
		`,"prompt":[{"type":"text","text":"[[tool:bash echo by the tool\nsay:Hello, editor!]]"}]}}`)
	if reason := answer(3).Get("result.stopReason"); reason != "end_turn" {
		t.Errorf("the prompt's turn ended with %v", reason)
	}
	var said strings.Builder
	for _, r := range c.Records() {
		if r.Get("params.update.sessionUpdate") == "agent_message_chunk" {
			text, _ := r.Get("params.update.content.text").(string)
			said.WriteString(text)
		}
	}
	if !strings.Contains(said.String(), "Hello, editor!") {
		t.Errorf("the editor was told %q", said.String())
	}
	c.Finish(0)
	r := s.recordedSession()
	r.wantRecords(t, record.Client, "get_state", "prompt")
	r.wantRecords(t, record.Agent, "response:get_state", "agent_start", "tool_execution_end", "message_update:text_delta", "agent_settled")
	// pi-acp closes pi's stdin and sends SIGTERM at once; pi heeds what it sees first.
	if exit := r.exit(); exit != "143" && exit != "0" || r.Agent.Version != pi.Version || r.Agent.Path != pi.Path {
		t.Errorf("the capture has pi %s, %s, which ended with %s", r.Agent.Version, r.Agent.Path, r.exit())
	}
}

func quoteJSON(text string) string {
	b, _ := json.Marshal(text)
	return string(b)
}

// rpcClient is a program with the official client, which the README's lines make. It does what it is told in lines on
// stdin, each of which it evaluates, and answers each with a line of JSON: what it evaluates to, or {"error":...}.
const rpcClient = `
import { createInterface } from "node:readline";
await client.start();
const events = [];
client.onEvent((event) => events.push(event.type));
const AsyncFunction = (async () => {}).constructor;
for await (const line of createInterface({ input: process.stdin })) {
	let answer;
	try {
		answer = await new AsyncFunction("client", "events", line)(client, events);
	} catch (error) {
		answer = { error: error.message };
	}
	process.stdout.write(JSON.stringify(answer ?? null) + "\n");
}
`

// startRPCClient starts that program. With spawn, the shim's script runs in a Node that can't become another program.
func startRPCClient(t *testing.T, s *sandbox, pi pitest.Pi, spawn bool) func(line string) pitest.Record {
	t.Helper()
	program := strings.ReplaceAll(readmeBlock(t, "js", "RpcClient"), home, s.path("home"))
	if spawn {
		shim := s.path("home/.local/share/pitap/pi.mjs")
		s.file("work/no-execve.mjs", "delete process.execve;\nawait import("+quoteJSON(shim)+");\n")
		program = strings.ReplaceAll(program, shim, s.path("work/no-execve.mjs"))
	}
	s.file("work/client.mjs", program+rpcClient)
	if err := os.Symlink(filepath.Join(filepath.Dir(pi.Node), ".."), s.path("work/node_modules")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(pi.Node, s.path("work/client.mjs"))
	cmd.Dir, cmd.Env = pi.Project, s.env
	c := pitest.Start(t, cmd, pitest.Pipes)
	said := 0
	t.Cleanup(func() {
		if !t.Failed() {
			c.Finish(0)
		}
	})
	return func(line string) pitest.Record {
		t.Helper()
		c.Send(line)
		c.ExpectFunc("the answer to "+line, func(pitest.Record) bool { return true })
		said++
		return c.Records()[said-1]
	}
}

// converse has the client hold a conversation.
func converse(t *testing.T, do func(string) pitest.Record) {
	t.Helper()
	if got := do(`return (await client.getState()).model.id`); string(got) != `"thinker"` {
		t.Errorf("the model is %s", got)
	}
	do(`await client.promptAndWait("say:Hello, program!")`)
	if got := do(`return await client.getLastAssistantText()`); string(got) != `"Hello, program!"` {
		t.Errorf("pi said %s", got)
	}
	if got := string(do(`return events`)); !strings.Contains(got, `"agent_settled"`) {
		t.Errorf("the events are %s", got)
	}
}

func wantConversation(t *testing.T, r recorded) {
	t.Helper()
	r.wantRecords(t, record.Client, "get_state", "prompt", "get_last_assistant_text")
	r.wantRecords(t, record.Agent, "response:get_state", "response:prompt", "agent_settled", "response:get_last_assistant_text")
	if r.streams[record.Stderr] != "" {
		t.Errorf("stderr: %s", r.streams[record.Stderr])
	}
}

func bothScripts(t *testing.T, test func(t *testing.T, spawn bool)) {
	t.Run("execve", func(t *testing.T) { test(t, false) })
	t.Run("spawn", func(t *testing.T) { test(t, true) })
}

// TestRpcClient has the official client talk to pi through the shim, and stop it.
func TestRpcClient(t *testing.T) {
	bothScripts(t, func(t *testing.T, spawn bool) {
		s, pi := newClient(t)
		do := startRPCClient(t, s, pi, spawn)
		converse(t, do)
		// stop sends SIGKILL after a second; the exit code tells that it was not needed.
		got := do(`const p = client.process; const begin = performance.now(); await client.stop(); ` +
			`return { code: p.exitCode, signal: p.signalCode, quick: performance.now() - begin < 1000, stderr: client.getStderr() }`)
		if string(got) != `{"code":143,"signal":null,"quick":true,"stderr":""}` {
			t.Errorf("stopped: %s", got)
		}
		r := s.recordedSession()
		wantConversation(t, r)
		if r.exit() != "143" || r.Agent.Version != pi.Version {
			t.Errorf("the capture has pi %s, which ended with %s", r.Agent.Version, r.exit())
		}
	})
}

// TestRpcClientKills has the official client kill what it started, as it does when stopping takes too long.
func TestRpcClientKills(t *testing.T) {
	bothScripts(t, func(t *testing.T, spawn bool) {
		s, pi := newClient(t)
		do := startRPCClient(t, s, pi, spawn)
		converse(t, do)
		agent := int(do(`return { pid: Number((await client.bash("echo $PPID")).output) }`).Get("pid").(float64))
		if gone(agent) {
			t.Fatalf("%d is not pi's process", agent)
		}
		// Of what was said in the last 100 ms before pitap is killed, nothing is promised.
		until(t, "what was said, in the capture", func() bool {
			all := s.captures(defaultDir)
			return len(all) == 1 && strings.Contains(all[0].streams[record.Agent], "Hello, program!") &&
				strings.Contains(all[0].streams[record.Agent], `"command":"bash"`)
		})
		do(`client.process.kill("SIGKILL")`)
		untilWithin(t, time.Second, "pi's end", func() bool { return gone(agent) })
		if !spawn { // pitap itself was killed: the capture has no end, but all that was said
			var r recorded
			until(t, "pitap's end", func() bool {
				r = s.capture(defaultDir)
				return !strings.HasPrefix(r.state, "live")
			})
			if r.whole || !strings.HasPrefix(r.state, "cut") {
				t.Errorf("it ends %q", r.state)
			}
			wantConversation(t, r)
			return
		}
		r := s.recordedSession()
		wantConversation(t, r)
		if r.exit() != "SIGKILL" {
			t.Errorf("the capture has the exit %s", r.exit())
		}
	})
}

// TestScriptPassesOn runs the shim's script, in both ways, with an agent that shows what it gets, and how it ends.
func TestScriptPassesOn(t *testing.T) {
	bothScripts(t, func(t *testing.T, spawn bool) {
		s, pi := newClient(t)
		script := s.path("home/.local/share/pitap/pi.mjs")
		if spawn {
			script = s.file("no-execve.mjs", "delete process.execve;\nawait import("+quoteJSON(script)+");\n")
		}
		agent := s.file("agent", "#!"+pi.Node+`
for (const name of ["TERM", "INT", "HUP", "USR2"]) process.on("SIG" + name, () => console.log("got " + name));
console.log("started: " + process.argv.slice(2).join(" "));
require("readline").createInterface({ input: process.stdin }).on("line", eval);
`)
		s = s.with("PITAP_AGENT=" + agent)
		start := func() *pitest.Conversation {
			t.Helper()
			cmd := exec.Command(pi.Node, script, "--mode", "rpc", "a b", "")
			cmd.Dir, cmd.Env = pi.Project, s.env
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			c := pitest.Start(t, cmd, pitest.SocketPairs)
			c.ExpectFunc("its start", func(r pitest.Record) bool { return string(r) == "started: --mode rpc a b " })
			return c
		}
		for command, status := range map[string]int{"process.exit(0)": 0, "process.exit(7)": 7,
			"process.kill(process.pid, 'SIGSEGV')": -11, "process.kill(process.pid, 'SIGKILL')": -9, "process.kill(process.pid, 'SIGABRT')": -6} {
			c := start()
			c.Send(command)
			c.Wait(status)
		}
		c := start()
		signals := map[string]syscall.Signal{"TERM": syscall.SIGTERM, "INT": syscall.SIGINT, "HUP": syscall.SIGHUP, "USR2": syscall.SIGUSR2}
		want := 0
		for name, signal := range signals {
			for range 5 { // one that came twice may look like one
				for _, pid := range []int{c.Pid(), -c.Pid()} { // to the process, to its group
					syscall.Kill(pid, signal)
					want++
					c.ExpectFunc("got "+name, func(r pitest.Record) bool { return string(r) == "got "+name })
				}
			}
		}
		c.Finish(0)
		if got := strings.Count(string(c.Out.Bytes()), "got "); got != want {
			t.Errorf("%d signals were sent, and %d came: %s", want, got, c.Out.Bytes())
		}
	})
}
