//go:build unix

package main

import (
	"os"
	"strings"
	"testing"
)

// Other arguments than the recorded ones are told, and are no failure; what a fixture has replaced is not compared.
func TestVerdictTellsArguments(t *testing.T) {
	s := newSandbox(t)
	s.file("f.jsonl", talkFixture)
	cutTalk := strings.Replace(talkFixture, `"argv":["pi","--mode","rpc"]`, `"argv":["pi","--mode","rpc","--session","00000000-0000-4000-8000-000000000001"]`, 1)
	s.file("cut.jsonl", strings.Replace(cutTalk, `"cwd":"/rec"`, `"cwd":"/rec","cut":"ids replaced"`, 1)+strings.Replace(talkEnd, "%s", `"code":0`, 1))
	s = s.with("PITAP_REPORT=" + s.path("r.json"))
	for _, test := range []struct{ file, args, want string }{
		{"f.jsonl", "--mode rpc --model x", "f.jsonl: ok: complete\n  pi was started as: pi --mode rpc --model x; recorded: pi --mode rpc\n"},
		{"f.jsonl", "--mode rpc", "f.jsonl: ok: complete\n"},
		{"cut.jsonl", "--mode rpc --session 3f0c2a52-9e5e-4c8e-a9c3-0a4d8d0f2b11", "cut.jsonl: ok: complete\n"},
	} {
		s.run(talkIn, append([]string{"pitap", "replay", s.path(test.file)}, strings.Fields(test.args)...)...)
		if v := s.run("", "pitap", "verdict"); v.status != 0 || v.stdout != test.want {
			t.Errorf("%s: %+v", test.args, v)
		}
	}
}

// A report takes no other file's place, and finds its folder or makes it.
func TestReportOverwritesReportsAlone(t *testing.T) {
	s := newSandbox(t)
	fixture := s.file("f.jsonl", talkFixture)
	script := s.file("test.sh", "#!/bin/sh\n")
	for _, file := range []string{fixture, script} {
		before := readFile(t, file)
		o := s.with("PITAP_REPORT="+file).run(talkIn, "pitap", "replay", fixture)
		if o.status != 1 || !strings.Contains(o.stderr, file+" is there, and is not the report of a replay") || readFile(t, file) != before {
			t.Errorf("%s: %+v", file, o)
		}
	}
	empty := s.file("empty.json", "")
	for _, file := range []string{s.path("a/b/c.json"), empty, empty} {
		if o := s.with("PITAP_REPORT="+file).run(talkIn, "pitap", "replay", fixture); o.status != 0 {
			t.Errorf("%s: %+v", file, o)
		}
		if v := s.run("", "pitap", "verdict", file); v.status != 0 || v.stdout != "f.jsonl: ok: complete\n" {
			t.Errorf("%s: %+v", file, v)
		}
	}
}

// Whatever keeps a replay from its beginning is in its report.
func TestReportOfWrongUse(t *testing.T) {
	s := newSandbox(t)
	s.file("f.jsonl", talkFixture)
	s.file("newer.jsonl", strings.Replace(talkFixture, `"pitap":1`, `"pitap":2`, 1))
	s.file("key.jsonl", talkFixture)
	s.file("key.jsonl.match", `{"ignores":["x"]}`)
	s.file("damaged.jsonl", talkFixture+"<<<<<<< HEAD\n"+strings.Replace(talkEnd, "%s", `"code":0`, 1))
	pi := s.linkPitap("shim/pi")
	for _, test := range []struct{ file, env, want string }{
		{"newer.jsonl", "", "newer"},
		{"key.jsonl", "", `unknown field "ignores"`},
		{"damaged.jsonl", "", "line 9 is damaged"},
		{"f.jsonl", "PITAP_MAP=x", `"x"`},
		{"f.jsonl", "PITAP_FAULT=nothing", `no fault "nothing"`},
		{"f.jsonl", "PITAP_WAIT=soon", `PITAP_WAIT: "soon"`},
		{"f.jsonl", "PITAP_FILES=yes", `PITAP_FILES: "yes" is neither 1 nor 0`},
		{"f.jsonl", "PITAP_IGNORE=x[", `path "x["`},
		{"nowhere.jsonl", "", "nowhere.jsonl"},
	} {
		s := s.with("PITAP_REPORT="+s.path("r.json"), test.env, "PITAP_FIXTURE="+s.path(test.file))
		for _, argv := range [][]string{{"pitap", "replay", s.path(test.file), "--mode", "rpc"}, {pi, "--mode", "rpc"}, {pi, "--version"}} {
			if argv[1] == "--version" && test.file != "newer.jsonl" {
				continue
			}
			os.Remove(s.path("r.json"))
			o := s.run(talkIn, argv...)
			v := s.run("", "pitap", "verdict")
			if o.status == 0 || o.stdout != "" || v.status != 1 || !strings.Contains(v.stdout, "FAILED: broken: ") || !strings.Contains(v.stdout, test.want) {
				t.Errorf("%+v %v: %+v, %+v", test, argv, o, v)
			}
		}
	}
	if v := s.run("", "pitap", "verdict", s.path("none")); !strings.Contains(v.stderr, "is the shim the first pi in PATH") {
		t.Errorf("%+v", v)
	}
	if v := s.run("", "pitap", "verdict", s.path("f.jsonl")); v.status != 1 || !strings.Contains(v.stderr, "this is a capture, not the report of a replay") {
		t.Errorf("%+v", v)
	}
}

func TestMapWithComma(t *testing.T) {
	s := newSandbox(t)
	s.file("f.jsonl", talkFixture)
	in := strings.Replace(talkIn, `"hi"`, `"hi, you"`, 1)
	if o := s.with(`PITAP_MAP=x=y,hi=hi\, you`).run(in, "pitap", "replay", s.path("f.jsonl")); o.status != 0 || o.stdout != talkOut() {
		t.Errorf("%+v", o)
	}
}

// Of many replays the verdict says which failed.
func TestVerdictNamesReplay(t *testing.T) {
	s := newSandbox(t)
	s.file("f.jsonl", talkFixture)
	s = s.with("PITAP_REPORT=" + s.path("r.json"))
	s.run("", "pitap", "replay", s.path("f.jsonl"), "--mode", "rpc", "--api-key", "secret")
	v := s.run("", "pitap", "verdict")
	if v.status != 1 || !strings.Contains(v.stdout, "\n  report: "+s.path("r.json")+", of ") || !strings.Contains(v.stdout, "of pi --mode rpc --api-key ") || strings.Contains(v.stdout, "secret") {
		t.Errorf("%+v", v)
	}
}

const anyPi = `#!/bin/sh
while read -r line; do
	case $line in
	*abort*) printf '{"type":"response","command":"abort","success":true,"data":"%s"}\n' "$ANSWER" ;;
	*prompt*) printf '{"type":"response","command":"prompt","success":true}\n{"type":"agent_start"}\n' ;;
	esac
done
`

// Recording leaves reports that a verdict takes, and a folder is recorded anew in the turns in which it is replayed.
func TestRecordsAnew(t *testing.T) {
	s := newSandbox(t)
	s.file("real/pi", anyPi)
	pi := s.linkPitap("shim/pi")
	s = s.front("real").with("PITAP_FIXTURE="+s.path("fix"), "PITAP_REPORT="+s.path("reports"))
	session := `for i in $TURNS; do echo '{"type":"abort"}' | ANSWER=$ROUND$i "$0" --mode rpc; done`
	named := func(mode, round, turns string) outcome {
		os.RemoveAll(s.path("reports"))
		return s.with("PITAP_MODE="+mode, "ROUND="+round, "TURNS="+turns).run("", "sh", "-c", session, pi)
	}
	holds := func(file, answer string) {
		t.Helper()
		if !strings.Contains(readFile(t, s.path("fix/"+file)), `"`+answer+`"`) {
			t.Errorf("%s does not hold %s", file, answer)
		}
	}
	for _, round := range []string{"x", "y"} {
		if o := named("record", round, "1 2 3"); o.status != 0 || o.stderr != "" {
			t.Fatalf("%+v", o)
		}
		if v := s.run("", "pitap", "verdict"); v.status != 0 || strings.Count(v.stdout, ": ok: recorded\n") != 3 || strings.Contains(v.stdout, "left over") {
			t.Errorf("%+v", v)
		}
		holds("001.jsonl", round+"1")
		holds("003.jsonl", round+"3")
	}
	named("record", "z", "1 2")
	if v := s.run("", "pitap", "verdict"); v.status != 0 || !strings.Contains(v.stdout, "003.jsonl: left over") {
		t.Errorf("%+v", v)
	}
	// auto replays what is there, and records the rest.
	if o := named("auto", "w", "1 2 3 4"); !strings.Contains(o.stdout, `"z1"`) || !strings.Contains(o.stdout, `"y3"`) || !strings.Contains(o.stdout, `"w4"`) {
		t.Errorf("%+v", o)
	}
	holds("004.jsonl", "w4")
	if v := s.run("", "pitap", "verdict"); v.status != 0 {
		t.Errorf("%+v", v)
	}
	entries, _ := os.ReadDir(s.path("fix"))
	if len(entries) != 4 {
		t.Errorf("%d files in the folder", len(entries))
	}
}

// A session that was killed in a run does not take a good fixture's place.
func TestFailedRecordingKeepsFixture(t *testing.T) {
	s := newSandbox(t)
	s.file("real/pi", anyPi)
	pi := s.linkPitap("shim/pi")
	fix := s.path("a.jsonl")
	s = s.front("real").with("PITAP_FIXTURE="+fix, "PITAP_REPORT="+s.path("r.json"), "PITAP_MODE=record", "ANSWER=good")
	if o := s.run(`{"type":"abort"}`+"\n", pi, "--mode", "rpc"); o.status != 0 {
		t.Fatalf("%+v", o)
	}
	good := readFile(t, fix)
	o := s.run(`{"type":"prompt","message":"x"}`+"\n", pi, "--mode", "rpc")
	if readFile(t, fix) != good || !strings.Contains(readFile(t, fix+".new"), "prompt") || !strings.Contains(o.stderr, "a run was open when the session ended; the new one is "+fix+".new") {
		t.Errorf("%+v", o)
	}
	if v := s.run("", "pitap", "verdict"); v.status != 1 || !strings.Contains(v.stdout, "a run was open") {
		t.Errorf("%+v", v)
	}
	os.Remove(fix) // the first time there is nothing to keep
	s.run(`{"type":"prompt","message":"x"}`+"\n", pi, "--mode", "rpc")
	if v := s.run("", "pitap", "verdict"); v.status != 0 || !strings.Contains(readFile(t, fix), "prompt") {
		t.Errorf("%+v", v)
	}
}

// A test that does not notice that its client stopped listening is judged by the verdict.
func TestSweepJudgesByVerdict(t *testing.T) {
	s := newSandbox(t)
	s.file("f.jsonl", talkFixture+strings.Replace(talkEnd, "%s", `"code":0`, 1))
	blind := `printf '%s\n' '{"id":"1","type":"prompt","message":"hi"}' '{"id":"2","type":"get_available_models"}' | pi --mode rpc >/dev/null`
	leaves := `case $PITAP_FAULT in crlf) exec </dev/null; pi --mode rpc;; *) ` + blind + `;; esac; exit 0`
	o := s.run("", "pitap", "sweep", "-v", "--only", "crlf,junk", s.path("f.jsonl"), "--", "sh", "-c", leaves)
	if o.status != 1 || !strings.Contains(o.stdout, "by the verdict: readers that keep the CR") || !strings.Contains(o.stdout, "pitap verdict: FAILED: unfinished") || !strings.Contains(o.stderr, "1 of 2 faults") {
		t.Errorf("%+v", o)
	}
	ends := `exec </dev/null; pi --mode rpc; exit 0` // on purpose, as it does so without a fault
	if o := s.run("", "pitap", "sweep", "--only", "junk", s.path("f.jsonl"), "--", "sh", "-c", ends); o.status != 0 || !strings.Contains(o.stdout, "the test alone judges") {
		t.Errorf("%+v", o)
	}
}

// What a test's author may take for something else is said.
func TestReplayTells(t *testing.T) {
	s := newSandbox(t)
	fixture := s.file("f.jsonl", talkFixture+strings.Replace(talkEnd, "%s", `"code":0`, 1))
	s = s.with("PITAP_REPORT=" + s.path("r.json"))
	if o := s.with("PITAP_FILES=1").run(talkIn, "pitap", "replay", fixture); !strings.Contains(o.stderr, "holds no files") {
		t.Errorf("%+v", o)
	}
	if o := s.with("PITAP_IGNORE=mesage").run(talkIn, "pitap", "replay", fixture); o.status != 0 {
		t.Errorf("%+v", o)
	}
	if v := s.run("", "pitap", "verdict"); v.status != 0 || !strings.Contains(v.stdout, "in no recorded record is: mesage") {
		t.Errorf("%+v", v)
	}
	s.run("", "pitap", "replay", fixture)
	if v := s.run("", "pitap", "verdict", "--allow-unfinished"); v.status != 1 || !strings.Contains(v.stdout, "the client sent nothing") {
		t.Errorf("%+v", v)
	}
	wrong := strings.Repeat(`{"type":"prompt","message":"another"}`+"\n", 5)
	s.run(wrong, "pitap", "replay", fixture)
	if v := s.run("", "pitap", "verdict"); strings.Count(v.stdout, "miss: ") != 1 || !strings.Contains(v.stdout, "5 times") {
		t.Errorf("%+v", v)
	}
	o := s.run(strings.Repeat(`{"type":"prompt","message":"hi"}`+"\n", 2), "pitap", "replay", fixture)
	if !strings.Contains(o.stderr, "prompt was recorded once like this, and this is one more") || strings.HasSuffix(o.stderr, "\n\n") {
		t.Errorf("%+v", o)
	}
	s.folder("caps")
	s.file("caps/c.jsonl", talkFixture)
	if o := s.with("PITAP_DIR="+s.path("caps")).run("", "pitap", "cut"); o.status != 0 || !strings.Contains(o.stderr, "cut of "+s.path("caps/c.jsonl")) {
		t.Errorf("%+v", o)
	}
	if o := s.run("", "pitap", "sweep", s.path("caps"), "--", "true"); o.status != 2 || !strings.Contains(o.stderr, "is a folder; name one capture") {
		t.Errorf("%+v", o)
	}
	if o := s.run("", "pitap", "replay", s.file("notes.jsonl", "To do: nothing\n")); !strings.Contains(o.stderr, "not a capture: it begins with the text") {
		t.Errorf("%+v", o)
	}
}
