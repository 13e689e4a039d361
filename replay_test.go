//go:build unix

package main

import (
	"os"
	"strings"
	"testing"
)

// talkFixture has no run, so that all of it is answered to a client that sends everything at once and closes stdin.
const talkFixture = `{"pitap":1,"argv":["pi","--mode","rpc"],"cwd":"/rec","agent":{"version":"1.6.0"}}
{"from":"client","msg":{"id":"1","type":"prompt","message":"hi"}}
{"from":"agent","msg":{"id":"1","type":"response","command":"prompt","success":true}}
{"from":"agent","msg":{"type":"turn_start"}}
{"from":"stderr","text":"a warning"}
{"from":"agent","msg":{"type":"turn_end"}}
{"from":"client","msg":{"id":"2","type":"get_available_models"}}
{"from":"agent","msg":{"id":"2","type":"response","command":"get_available_models","success":true,"data":{"models":[{"id":"m1","provider":"p","contextWindow":200000,"maxTokens":16384,"reasoning":true,"input":["text","image"]}]}}}
`

const talkEnd = `{"note":"eof","from":"client"}
{"note":"exit","from":"agent",%s}
`

const talkIn = `{"id":"1","type":"prompt","message":"hi"}` + "\n" + `{"id":"2","type":"get_available_models"}` + "\n"

// talkOut is what the agent writes in the fixture.
func talkOut() string {
	var out strings.Builder
	for line := range strings.Lines(talkFixture) {
		if rest, ok := strings.CutPrefix(line, `{"from":"agent","msg":`); ok {
			out.WriteString(strings.TrimSuffix(rest, "}\n") + "\n")
		}
	}
	return out.String()
}

func TestReplayStatus(t *testing.T) {
	s := newSandbox(t)
	for _, test := range []struct {
		end    string
		status int
	}{{`"code":0`, 0}, {`"code":7`, 7}, {`"code":143`, 143}, {`"signal":"SIGINT"`, -2}, {`"signal":"SIGKILL"`, -9}, {`"signal":"SIGSEGV"`, -11}} {
		s.file("f.jsonl", talkFixture+strings.Replace(talkEnd, "%s", test.end, 1))
		o := s.with("PITAP_REPORT="+s.path("r.json")).run(talkIn, "pitap", "replay", s.path("f.jsonl"), "--mode", "rpc")
		if o.stdout != talkOut() || o.stderr != "a warning\n" || o.status != test.status {
			t.Errorf("%s: %+v", test.end, o)
		}
		if v := s.run("", "pitap", "verdict", s.path("r.json")); v.status != 0 || v.stdout != "f.jsonl: ok: complete\n" {
			t.Errorf("verdict: %+v", v)
		}
	}
}

// A miss that the client swallows still fails its test through the verdict.
func TestVerdict(t *testing.T) {
	s := newSandbox(t)
	s.file("f.jsonl", talkFixture)
	s.folder("reports")
	s = s.with("PITAP_REPORT=" + s.path("reports"))
	if v := s.run("", "pitap", "verdict"); v.status != 1 || !strings.Contains(v.stderr, "no reports") {
		t.Errorf("without reports: %+v", v)
	}
	if o := s.run(talkIn, "pitap", "replay", s.path("f.jsonl")); o.status != 0 {
		t.Errorf("%+v", o)
	}
	o := s.run(`{"id":"1","type":"prompt","message":"hello"}`+"\n", "pitap", "replay", s.path("f.jsonl"))
	if o.status != 1 || !strings.Contains(o.stdout, `"success":false`) {
		t.Errorf("%+v", o)
	}
	v := s.run("", "pitap", "verdict")
	for _, want := range []string{"f.jsonl: ok: complete\n", "FAILED: unfinished", `differs at message: recorded "hi", got "hello"`} {
		if !strings.Contains(v.stdout, want) {
			t.Errorf("verdict: %+v, want %q in it", v, want)
		}
	}
	if v.status != 1 || !strings.Contains(v.stderr, "1 of 2 replays") {
		t.Errorf("verdict: %+v", v)
	}
}

func TestReplayUsage(t *testing.T) {
	s := newSandbox(t)
	s.file("f.jsonl", talkFixture)
	for _, test := range []struct {
		args   string
		env    string
		status int
		stderr string
	}{
		{"", "", 2, "name a CAPTURE"},
		{"--speed quick f.jsonl", "", 2, `--speed is "quick"`},
		{"--match well f.jsonl", "", 2, `--match is "well"`},
		{"--map x f.jsonl", "", 2, `--map is "x"`},
		{"--wait -3 f.jsonl", "", 2, "not negative"},
		{"--wait soon f.jsonl", "", 2, `"soon" is no time`},
		{"f.jsonl", "PITAP_WAIT=soon", 2, `PITAP_WAIT: "soon" is no time`},
		{"nowhere.jsonl", "", 1, "nowhere.jsonl"},
		{"empty.jsonl", "", 1, "empty.jsonl"},
	} {
		s.file("empty.jsonl", "")
		o := s.with(test.env).run("", append([]string{"pitap", "replay"}, strings.Fields(strings.ReplaceAll(test.args, "f.jsonl", s.path("f.jsonl")))...)...)
		if o.status != test.status || !strings.Contains(o.stderr, test.stderr) {
			t.Errorf("%q: %+v, want %d, %q", test.args, o, test.status, test.stderr)
		}
	}
}

// A file beside the fixture says how to compare.
func TestReplayMatchFile(t *testing.T) {
	s := newSandbox(t)
	s.file("f.jsonl", talkFixture)
	s.file("f.jsonl.match", `{"map":{"hi":"hello"}}`)
	if o := s.run(strings.Replace(talkIn, "hi", "hello", 1), "pitap", "replay", s.path("f.jsonl")); o.status != 0 || o.stdout != talkOut() {
		t.Errorf("%+v", o)
	}
}

func TestFixtureAsPi(t *testing.T) {
	s := newSandbox(t)
	s.file("f.jsonl", talkFixture)
	pi := s.linkPitap("shim/pi")
	s = s.with("PITAP_FIXTURE=" + s.path("f.jsonl"))
	if o := s.run(talkIn, pi, "--mode", "rpc", "--model", "x", "--no-session", "--whatever"); o.stdout != talkOut() || o.status != 0 {
		t.Errorf("%+v", o)
	}
	if o := s.run("", pi, "--version"); o.stdout != "1.6.0\n" || o.status != 0 {
		t.Errorf("%+v", o)
	}
	want := "provider  model  context  max-out  thinking  images\np         m1     200K     16.4K    yes       yes\n"
	if o := s.run("", pi, "--list-models"); o.stdout != want || o.status != 0 {
		t.Errorf("%+v, want %q", o, want)
	}
	if o := s.run("", pi, "-p", "hi"); o.status != 125 || !strings.Contains(o.stderr, "pi was called as: pi -p hi") {
		t.Errorf("%+v", o)
	}
}

// The captures of a folder have their turns, counted for each parent process; asking for the version uses none up.
func TestFixtureFolder(t *testing.T) {
	s := newSandbox(t)
	for _, name := range []string{"1", "2", "3"} {
		s.file("f/"+name+".jsonl", strings.ReplaceAll(talkFixture, `"message":"hi"`, `"message":"`+name+`"`))
	}
	s.file("f/named.jsonl", strings.NewReplacer(`"message":"hi"`, `"message":"named"`, `["pi","--mode","rpc"]`, `["pi","--mode","rpc","--name","/rec/x"]`).Replace(talkFixture))
	pi := s.linkPitap("shim/pi")
	s = s.with("PITAP_FIXTURE="+s.path("f"), "PITAP_REPORT="+s.folder("reports"))
	script := `for i in 1 2 3 4; do "$0" --version >/dev/null; printf '{"type":"prompt","message":"'$i'"}\n' | "$0" --mode rpc | head -n1; done
		for i in 1 2; do printf '{"type":"prompt","message":"named"}\n' | "$0" --mode rpc --name "$PWD/x" | head -n1; done`
	s.folder("rec")
	if o := s.run(`{"type":"prompt","message":"1"}`+"\n", "pitap", "replay", s.path("f"), "--mode", "rpc"); !strings.Contains(o.stdout, `"success":true`) {
		t.Errorf("%+v", o)
	}
	os.RemoveAll(s.path("reports"))
	s.folder("reports")
	for range 2 { // another parent counts from the beginning
		o := s.run("", "sh", "-c", script, pi)
		if n := strings.Count(o.stdout, `"success":true`); n != 5 || !strings.Contains(o.stderr, "turn 4 of 3 captures") {
			t.Errorf("%+v", o)
		}
	}
	if v := s.run("", "pitap", "verdict"); v.status != 1 || !strings.Contains(v.stdout, "FAILED: broken") {
		t.Errorf("%+v", v)
	}
}

func TestShimReplays(t *testing.T) {
	s := newSandbox(t)
	s.file("f.jsonl", talkFixture)
	o := s.run("", "pitap", "shim", "--replay", s.path("f.jsonl"), s.path("shim"))
	if o.status != 0 || !strings.Contains(o.stdout, "stands for pi, and replays\n"+s.path("f.jsonl")) {
		t.Fatalf("%+v", o)
	}
	if o := s.run(talkIn, s.path("shim/pi"), "--mode", "rpc"); o.stdout != talkOut() {
		t.Errorf("%+v", o)
	}
	os.Remove(s.path("f.jsonl"))
	if o := s.run("", "pitap", "shim", "--replay", s.path("f.jsonl"), s.path("other")); o.status != 1 {
		t.Errorf("%+v", o)
	}
}

// A suite's fixtures are recorded anew by running it with the real pi; auto records only what is missing.
func TestFixtureRecords(t *testing.T) {
	s := newSandbox(t)
	s.file("real/pi", "#!/bin/sh\nwhile read -r line; do printf '{\"type\":\"response\",\"command\":\"abort\",\"success\":true,\"data\":\"'$ANSWER'\"}\\n'; done\nexit 3\n")
	pi := s.linkPitap("shim/pi")
	fix := s.path("fix/a.jsonl")
	s = s.front("real").with("PITAP_FIXTURE="+fix, "PITAP_REPORT="+s.folder("reports"))
	for _, test := range []struct {
		mode, answer string
		status       int
		want         string
	}{
		{"replay", "", 125, ""}, {"auto", "one", 3, "one"}, {"auto", "two", 3, "one"}, {"replay", "two", 3, "one"}, {"record", "two", 3, "two"}, {"replay", "", 3, "two"},
	} {
		o := s.with("PITAP_MODE="+test.mode, "ANSWER="+test.answer).run(`{"type":"abort"}`+"\n", pi, "--mode", "rpc")
		if o.status != test.status || test.want != "" && !strings.Contains(o.stdout, `"`+test.want+`"`) {
			t.Errorf("%+v: %+v", test, o)
		}
	}
	s = s.with("PITAP_FIXTURE=" + s.folder("many"))
	for _, answer := range []string{"x", "y"} {
		s.with("PITAP_MODE=record", "ANSWER="+answer).run(`{"type":"abort"}`+"\n", pi, "--mode", "rpc")
	}
	o := s.run("", "sh", "-c", `for i in 1 2; do echo '{"type":"abort"}' | "$0" --mode rpc; done`, pi)
	if !strings.Contains(o.stdout, `"x"`) || !strings.Contains(o.stdout, `"y"`) {
		t.Errorf("%+v", o)
	}
}

// The demo needs nothing: a session is replayed, recorded, shown and checked. It fits a terminal, and what it says to
// type next can be typed.
func TestDemo(t *testing.T) {
	s := newSandbox(t)
	s = s.with("PATH=" + s.path("bin"))
	pitap := s.path("bin/pitap")
	o := s.run("", pitap, "demo")
	for _, want := range []string{"$ pitap show", "$ pitap check", "$ pitap why", "$ pitap verdict", "→ prompt", "agent_settled",
		"hazard framing/u2028", "Nothing was open.", ": ok: complete", pitap + " inspect "} {
		if !strings.Contains(o.stdout, want) {
			t.Errorf("no %q in %s", want, o.stdout)
		}
	}
	if o.status != 0 || o.stderr != "" || strings.Count(o.stdout, "\n") > 66 {
		t.Errorf("status %d, stderr %s, %d lines", o.status, o.stderr, strings.Count(o.stdout, "\n"))
	}
	_, shown, _ := strings.Cut(o.stdout, "$ pitap show\n")
	shown, _, _ = strings.Cut(shown, "\n\n")
	for line := range strings.Lines(shown) {
		if n := len([]rune(strings.TrimRight(line, "\n"))); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	_, path, _ := strings.Cut(o.stdout, pitap+" inspect ")
	path, _, _ = strings.Cut(path, "\n")
	if v := s.run("", pitap, "show", path); v.status != 0 || !strings.Contains(v.stdout, "agent_settled") {
		t.Errorf("%+v", v)
	}
}

// A report's name without an ending is a folder, whether it is there or not, and each replay has a file of its own in it.
func TestReportFolder(t *testing.T) {
	s := newSandbox(t)
	s.file("f.jsonl", talkFixture)
	for _, name := range []string{"a", "b/", "c/d/", "e/f"} {
		for range 3 {
			if o := s.with("PITAP_REPORT="+s.path(name)).run(talkIn, "pitap", "replay", s.path("f.jsonl")); o.status != 0 || o.stderr != "a warning\n" {
				t.Fatalf("%s: %+v", name, o)
			}
		}
		if v := s.run("", "pitap", "verdict", s.path(name)); v.status != 0 || strings.Count(v.stdout, ": ok: complete\n") != 3 {
			t.Errorf("%s: %+v", name, v)
		}
	}
	if v := s.run("", "pitap", "verdict", s.path("nowhere")); v.status != 1 || !strings.Contains(v.stderr, "no replay was started") {
		t.Errorf("%+v", v)
	}
}

func TestVerdictAllowsUnfinished(t *testing.T) {
	s := newSandbox(t)
	s.file("f.jsonl", talkFixture+strings.Replace(talkEnd, "%s", `"code":0`, 1))
	s = s.with("PITAP_REPORT=" + s.path("r.json"))
	_, question, _ := strings.Cut(talkIn, "\n")
	o := s.run(question, "pitap", "replay", s.path("f.jsonl"))
	if v := s.run("", "pitap", "verdict"); v.status != 1 || !strings.Contains(v.stdout, "FAILED: unfinished") || strings.Contains(v.stdout+o.stderr, "entry 0") {
		t.Errorf("%+v %+v", v, o)
	}
	if v := s.run("", "pitap", "verdict", "--allow-unfinished"); v.status != 0 || strings.Contains(v.stdout, "FAILED") || !strings.Contains(v.stdout, "f.jsonl: ok, as it may be unfinished") {
		t.Errorf("%+v", v)
	}
	s.run(`{"type":"prompt","message":"another"}`+"\n", "pitap", "replay", s.path("f.jsonl"))
	if v := s.run("", "pitap", "verdict", "--allow-unfinished"); v.status != 1 || !strings.Contains(v.stdout, "FAILED") {
		t.Errorf("a miss is allowed: %+v", v)
	}
}

func TestReplayFlagsBehindTheCapture(t *testing.T) {
	s := newSandbox(t)
	s.file("f.jsonl", talkFixture)
	for _, test := range []struct{ before, after, want string }{
		{"", "--mode rpc --report x.json", "--report stands behind CAPTURE"},
		{"", "--mode rpc --speed=max", "--speed stands behind CAPTURE"},
		{"--quiet", "--report x.json", ""},
		{"", "--mode rpc --no-session -- --report", ""},
	} {
		argv := append(append([]string{"pitap", "replay"}, strings.Fields(test.before)...), s.path("f.jsonl"))
		o := s.run(talkIn, append(argv, strings.Fields(test.after)...)...)
		if o.stdout != talkOut() || o.status != 0 || !strings.Contains(o.stderr, test.want) || test.want == "" && strings.Contains(o.stderr, "CAPTURE") {
			t.Errorf("%+v: %+v", test, o)
		}
	}
}

// A replay that can't even begin leaves a report: a client may swallow what it says.
func TestReportOfABrokenReplay(t *testing.T) {
	s := newSandbox(t)
	s.file("f.jsonl", talkFixture)
	s.file("junk.jsonl", "no capture\n")
	pi := s.linkPitap("shim/pi")
	for i, env := range []string{"PITAP_FIXTURE=junk.jsonl", "PITAP_FIXTURE=nowhere.jsonl", "PITAP_FAULT=nothing", "PITAP_WAIT=soon", "PITAP_MAP=x"} {
		report := s.path(strings.Repeat("r", i+1))
		o := s.with("PITAP_FIXTURE="+s.path("f.jsonl"), "PITAP_REPORT="+report, strings.Replace(env, "FIXTURE=", "FIXTURE="+s.path("")+"/", 1)).run(talkIn, pi, "--mode", "rpc")
		if v := s.run("", "pitap", "verdict", report); o.status == 0 || v.status != 1 || !strings.Contains(v.stdout, "FAILED: broken: ") || strings.Contains(v.stdout, "entry 0") {
			t.Errorf("%s: %+v, %+v", env, o, v)
		}
	}
}
