//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pitap/internal/pitest"
	"pitap/record"
)

// patient has a replay wait for clients that a busy machine makes slow.
const patient = "PITAP_WAIT=60"

// askExtension asks before a tool runs.
const askExtension = `export default function (pi) {
	pi.on("tool_call", async (event, ctx) => {
		if (event.toolName === "bash" && !(await ctx.ui.confirm("Run it?", event.input.command)))
			return { block: true, reason: "no" };
	});
}
`

// rpcSession is a program that has a conversation with a tool call, a dialog and an abort through the official client,
// as often as its argument says, and prints what it saw, which is the same each time.
const rpcSession = `
import { RpcClient } from "@earendil-works/pi-coding-agent";
let first;
for (let i = 0; i < Number(process.argv[2]); i++) {
	const client = new RpcClient({ cliPath: process.env.SHIM, args: JSON.parse(process.env.PI_ARGS) });
	const seen = [];
	client.onEvent((event) => {
		if (event.type === "extension_ui_request" && event.method === "confirm")
			client.process.stdin.write(JSON.stringify({ type: "extension_ui_response", id: event.id, confirmed: true }) + "\n");
		const last = seen[seen.length - 1];
		if (last !== event.type) seen.push(event.type);
	});
	await client.start();
	seen.push((await client.getState()).model.id);
	await client.prompt("tool:bash echo by the tool\nsay:Done with it.");
	await client.waitForIdle(8000);
	seen.push(await client.getLastAssistantText());
	const streams = new Promise((resolve) => client.onEvent((event) => event.type === "message_update" && resolve()));
	await client.prompt("slow:400x20");
	await streams;
	const idle = client.waitForIdle(8000);
	await client.abort();
	await idle;
	seen.push((await client.getState()).isStreaming);
	const process_ = client.process;
	await client.stop();
	seen.push(process_.exitCode ?? "had to be killed");
	const text = JSON.stringify(seen);
	first ??= text;
	if (text !== first) throw new Error("time " + i + ": " + text + ", at first: " + first);
}
console.log(first);
`

// prepare gives the sandbox the extension and the program.
func (s *sandbox) prepare(pi pitest.Pi) *sandbox {
	s.t.Helper()
	s.file("home/.pi/agent/extensions/ask.ts", askExtension)
	s.file("work/session.mjs", rpcSession)
	if err := os.Symlink(filepath.Join(filepath.Dir(pi.Node), ".."), s.path("work/node_modules")); err != nil {
		s.t.Fatal(err)
	}
	args, _ := json.Marshal(pi.Args[2:]) // without --mode rpc, which the client adds
	return s.with("SHIM="+s.path("home/.local/share/pitap/pi.mjs"), "PI_ARGS="+string(args))
}

// node runs a script in the project.
func (s *sandbox) node(pi pitest.Pi, limit time.Duration, args ...string) string {
	s.t.Helper()
	cmd := exec.Command(pi.Node, args...)
	cmd.Dir, cmd.Env = pi.Project, s.env
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	timer := time.AfterFunc(limit, func() { cmd.Process.Kill() })
	defer timer.Stop()
	if err := cmd.Wait(); err != nil {
		s.t.Fatalf("node %q: %v: %s", args, err, errs.String())
	}
	return out.String()
}

// TestReplayToRpcClient records the official client's conversation with the real pi once, and has it again with the
// replay, many times: await prompt(); await waitForIdle() is a race that a real model never wins.
func TestReplayToRpcClient(t *testing.T) {
	s, pi := newClient(t)
	s = s.prepare(pi)
	want := s.node(pi, time.Minute, s.path("work/session.mjs"), "1")
	s.recordedSession()
	found, err := record.List(s.path(defaultDir))
	if err != nil {
		t.Fatal(err)
	}
	for _, what := range []string{"tool_execution_end", "extension_ui_request", "Done with it.", "143"} {
		if !strings.Contains(want, what) {
			t.Errorf("the recorded session has no %s: %s", what, want)
		}
	}
	times := 100
	if testing.Short() {
		times = 10
	}
	s = s.with("PITAP_FIXTURE="+found[0].Path, "PITAP_REPORT="+s.folder("reports"), patient)
	if got := s.node(pi, 5*time.Minute, s.path("work/session.mjs"), fmt.Sprint(times)); got != want {
		t.Errorf("with the replay: %swith pi: %s", got, want)
	}
	v := s.run("", "pitap", "verdict")
	if v.status != 0 || strings.Count(v.stdout, ": ok: complete\n") != times {
		t.Errorf("verdict: %d, %.3000s %s", v.status, v.stdout, v.stderr)
	}
}

// acpSession talks to pi-acp as an editor does, and returns what the editor was told, ids and times aside.
func acpSession(t *testing.T, s *sandbox, pi pitest.Pi) string {
	t.Helper()
	cmd := exec.Command("pi-acp")
	cmd.Path = filepath.Join(filepath.Dir(pi.Node), "pi-acp")
	cmd.Err = nil
	cmd.Dir, cmd.Env = pi.Project, s.with("PI_ACP_PI_COMMAND="+s.path("home/.local/share/pitap/pi")).env
	c := pitest.Start(t, cmd, pitest.Pipes)
	answer := func(id float64) pitest.Record {
		t.Helper()
		return c.ExpectFunc(fmt.Sprintf("the answer to %v", id), func(r pitest.Record) bool { return r.Get("id") == id && r.Get("method") == nil })
	}
	c.Send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}`)
	answer(1)
	c.Send(`{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":` + quoteJSON(pi.Project) + `,"mcpServers":[]}}`)
	session, _ := answer(2).Get("result.sessionId").(string)
	prompt := func(id int, text string) {
		c.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"session/prompt","params":{"sessionId":%s,"prompt":[{"type":"text","text":%s}]}}`, id, quoteJSON(session), quoteJSON(text)))
	}
	prompt(3, "[[tool:bash echo by the tool\nsay:Hello, editor!]]")
	asks := c.ExpectFunc("the dialog", func(r pitest.Record) bool { return r.Get("method") == "session/request_permission" })
	id, _ := json.Marshal(asks.Get("id"))
	c.Send(`{"jsonrpc":"2.0","id":` + string(id) + `,"result":{"outcome":{"outcome":"selected","optionId":"yes"}}}`)
	answer(3)
	prompt(4, "[[slow:400x20]]")
	c.ExpectFunc("the beginning of the second answer", func(r pitest.Record) bool {
		text, _ := r.Get("params.update.content.text").(string)
		return r.Get("params.update.sessionUpdate") == "agent_message_chunk" && strings.Contains(text, "word1")
	})
	c.Send(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":` + quoteJSON(session) + `}}`)
	answer(4)
	told := acpTold(c.Records())
	c.Finish(0)
	return told
}

// acpTold is what pi-acp told its editor, a line for each record; pieces of a text are one. What comes at times of its own
// is left out, and dialogs, which pi-acp passes on at once and other things later, stand at the end.
func acpTold(records []pitest.Record) string {
	var told, asked strings.Builder
	speaks := false
	for _, r := range records {
		kind, _ := r.Get("params.update.sessionUpdate").(string)
		text, _ := r.Get("params.update.content.text").(string)
		if kind == "agent_message_chunk" {
			if !speaks {
				told.WriteString("says ")
			}
			told.WriteString(text)
			speaks = true
			continue
		}
		if speaks {
			told.WriteByte('\n')
			speaks = false
		}
		switch {
		case kind == "tool_call", kind == "tool_call_update":
			fmt.Fprintln(&told, kind, r.Get("params.update.title"), r.Get("params.update.status"))
		case r.Get("method") == "session/request_permission":
			fmt.Fprintln(&asked, "asks", r.Get("params.toolCall.title"))
		case r.Get("result.stopReason") != nil:
			fmt.Fprintln(&told, "stops", r.Get("result.stopReason"))
		}
	}
	return told.String() + asked.String()
}

// TestReplayToPiAcp does the same with pi-acp, which discards stderr and status: the report tells.
func TestReplayToPiAcp(t *testing.T) {
	s, pi := newClient(t)
	s.file("home/.pi/agent/extensions/ask.ts", askExtension)
	want := acpSession(t, s, pi)
	s.recordedSession()
	found, err := record.List(s.path(defaultDir))
	if err != nil {
		t.Fatal(err)
	}
	for _, what := range []string{"tool_call echo by the tool", "asks Run it?", "completed", "says Hello, editor!", "stops end_turn\n", "word1", "stops cancelled\n"} {
		if !strings.Contains(want, what) {
			t.Errorf("the recorded session has no %q: %s", what, want)
		}
	}
	s = s.with("PITAP_FIXTURE="+found[0].Path, "PITAP_REPORT="+s.folder("reports"), patient)
	for range 5 {
		if got := acpSession(t, s, pi); got != want {
			t.Errorf("with the replay: %s\nwith pi: %s", got, want)
		}
	}
	if v := s.run("", "pitap", "verdict"); v.status != 0 {
		t.Errorf("verdict: %s", v.stdout)
	}
}

// TestCutOfTwoRecordings has the same conversation with the real pi twice, in different folders: the fixtures are equal,
// and small.
func TestCutOfTwoRecordings(t *testing.T) {
	var fixtures []string
	for range 2 {
		s, pi := newClient(t)
		cmd := exec.Command(s.path("home/.local/share/pitap/pi"), pi.Args...)
		cmd.Dir, cmd.Env = pi.Project, s.env
		c := pitest.Start(t, cmd, pitest.Pipes)
		c.Send(`{"id":"1","type":"get_state"}`)
		c.ExpectFunc("the state", func(r pitest.Record) bool { return r.Get("id") == "1" })
		c.Send(`{"id":"2","type":"prompt","message":"[[tool:bash echo by the tool\nsay:Hello, world!]]"}`)
		c.ExpectFunc("the end of the run", func(r pitest.Record) bool { return r.Kind() == "agent_settled" })
		c.Send(`{"id":"3","type":"get_messages"}`)
		c.ExpectFunc("the messages", func(r pitest.Record) bool { return r.Get("id") == "3" })
		c.Finish(0)
		s.recordedSession()
		o := s.run("", "pitap", "cut")
		if o.status != 0 {
			t.Fatalf("%+v", o)
		}
		for _, leak := range []string{pi.Home, pi.Project, `"n":`} {
			if strings.Contains(o.stdout, leak) {
				t.Errorf("%s is in the fixture", leak)
			}
		}
		fixtures = append(fixtures, o.stdout)
	}
	a, b := strings.Split(fixtures[0], "\n"), strings.Split(fixtures[1], "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			t.Fatalf("line %d:\n%s\n%s", i+1, a[i], b[i])
		}
	}
	if len(a) != len(b) || len(fixtures[0]) > 20_000 {
		t.Errorf("%d and %d lines, %d bytes", len(a), len(b), len(fixtures[0]))
	}
}
