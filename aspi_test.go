//go:build unix

package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pitap/record"
)

const hello = `{"type":"get_state"}` + "\n"

func TestIsRPC(t *testing.T) {
	for args, want := range map[string]bool{
		"":                             false,
		"--mode rpc":                   true,
		"--no-session --mode rpc -c":   true,
		"--mode text":                  false,
		"--mode rpc --mode json":       false,
		"--mode json --mode rpc":       true,
		"--mode rpc --mode nonsense":   true,
		"--mode=rpc":                   false, // pi does not know this form
		"--mode":                       false,
		"--mode -p rpc":                false,
		"-p -- --mode rpc":             false,
		"--mode rpc -- --mode text":    true,
		"--version":                    false,
		"install npm:some-package":     false,
		"-p explain the option --mode": false,
	} {
		if got := isRPC(strings.Fields(args)); got != want {
			t.Errorf("pi %s: %v, want %v", args, got, want)
		}
	}
}

func TestAsPiRecordsTheNextPi(t *testing.T) {
	s := newSandbox(t)
	s.linkPitap("first/pi")
	s.linkPitap("second/pi")
	copyPitap(t, s.folder("third")+"/pi")
	s.file("fourth/pi", string(piScript))
	real := s.file("real/pi", fakePi)
	s = s.front("first", "second", "third", "fourth", "real")
	for _, started := range []string{"pi", s.path("second/pi"), s.path("third/pi")} {
		o := s.with("PITAP_DIR="+s.path("caps")).run(hello, started, "--mode", "rpc", "-c")
		if o.status != 0 || o.stdout != hello || !strings.HasPrefix(o.stderr, real+" runs as ") || !strings.HasSuffix(o.stderr, " with --mode rpc -c, depth 1\n") {
			t.Errorf("%s: %+v", started, o)
		}
		c := s.capture("caps")
		if c.streams[record.Client] != hello || c.streams[record.Agent] != hello || c.streams[record.Stderr] != o.stderr || !c.whole || c.Agent.Path != real {
			t.Errorf("%s: the capture holds %+v", started, c)
		}
		os.RemoveAll(s.path("caps"))
	}
	o := s.run(hello, "pitap", "record", "--", "pi", "--mode", "rpc")
	if c := s.capture(defaultDir); o.status != 0 || c.Agent.Path != real {
		t.Errorf("pitap record -- pi: %+v, recorded %+v", o, c)
	}
}

// copyPitap puts a copy of pitap at a path, which is another file than pitap itself.
func copyPitap(t *testing.T, path string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(self)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestAsPiChoosesTheAgent has a shim with a pitap.json, three agents, and settings of the environment.
func TestAsPiChoosesTheAgent(t *testing.T) {
	for _, test := range []struct {
		name  string
		env   string // a variable; {} is the sandbox
		json  string
		agent string
		caps  string
	}{
		{"nothing is set", "", "", "path/pi", defaultDir},
		{"an empty object", "", `{}`, "path/pi", defaultDir},
		{"named by the file", "", `{"agent": "{}/json/pi", "dir": "{}/jsoncaps"}`, "json/pi", "jsoncaps"},
		{"relative in the file", "", `{"agent": "../json/pi", "dir": "../jsoncaps"}`, "json/pi", "jsoncaps"},
		{"a name in the file", "", `{"agent": "other-pi"}`, "path/other-pi", defaultDir},
		{"the environment's path", "PITAP_AGENT={}/env/pi", `{"agent": "{}/json/pi"}`, "env/pi", defaultDir},
		{"the environment's name", "PITAP_AGENT=other-pi", `{"agent": "{}/json/pi", "dir": "../jsoncaps"}`, "path/other-pi", "jsoncaps"},
		{"the environment's folder", "PITAP_DIR={}/envcaps", `{"dir": "../jsoncaps"}`, "path/pi", "envcaps"},
		{"set to nothing", "PITAP_AGENT=", `{"agent": "../json/pi"}`, "json/pi", defaultDir},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newSandbox(t)
			s.linkPitap("shim/pi")
			for _, agent := range []string{"path/pi", "path/other-pi", "json/pi", "env/pi"} {
				s.file(agent, fakePi)
			}
			if test.json != "" {
				s.file("shim/pitap.json", strings.ReplaceAll(test.json, "{}/", s.dir+"/"))
			}
			os.Symlink("shim/pi", s.path("pi")) // leads to the shim, and to its file
			s = s.front("path").with(strings.ReplaceAll(test.env, "{}", s.dir))
			for _, started := range []string{s.path("shim/pi"), s.path("pi")} {
				o := s.run(hello, started, "--mode", "rpc")
				if o.status != 0 || o.stdout != hello || !strings.HasPrefix(o.stderr, s.path(test.agent)+" runs as ") {
					t.Errorf("%s: %+v", started, o)
				}
				if c := s.capture(test.caps); c.Agent.Path != s.path(test.agent) {
					t.Errorf("%s: recorded %s", started, c.Agent.Path)
				}
				os.RemoveAll(s.path(test.caps))
				o = s.run("", started, "--version")
				if o.status != 3 || o.stdout != "1.2.3\n" || !strings.HasPrefix(o.stderr, s.path(test.agent)+" runs as ") {
					t.Errorf("%s --version: %+v", started, o)
				}
				if all := s.captures(test.caps); len(all) > 0 {
					t.Errorf("%s --version is recorded", started)
				}
			}
		})
	}
}

func TestAsPiHeedsTheFilesFlags(t *testing.T) {
	s := newSandbox(t)
	s.linkPitap("shim/pi")
	s.file("real/pi", fakePi)
	s.file("shim/pitap.json", `{"agent": "../real/pi", "output": "out/session.jsonl.zst", "name": "my editor", "sync": true, "quiet": true}`)
	s.folder("shim/out")
	for range 2 {
		s.run(hello, s.path("shim/pi"), "--mode", "rpc")
	}
	for _, name := range []string{"session.jsonl.zst", "session-2.jsonl.zst"} {
		if c := readRecorded(t, s.path("shim/out/"+name)); c.Label != "my editor" || !c.whole {
			t.Errorf("%s: %+v", name, c)
		}
	}
	s.file("shim/pitap.json", `{"agent": "../real/pi", "dir": "pi/is-no-folder", "strict": true}`)
	if o := s.run(hello, s.path("shim/pi"), "--mode", "rpc"); o.status != 125 || !strings.Contains(o.stderr, "--strict") || o.stdout != "" {
		t.Errorf("strict, and no folder: %+v", o)
	}
	s.file("shim/pitap.json", `{"agent": "../real/pi", "dir": "pi/is-no-folder", "quiet": true}`)
	if o := s.run(hello, s.path("shim/pi"), "--mode", "rpc"); o.status != 0 || strings.Contains(o.stderr, "pitap: ") || o.stdout != hello {
		t.Errorf("quiet, and no folder: %+v", o)
	}
}

// TestAsPiPassesOn shows that what is no conversation runs in the shim's own process.
func TestAsPiPassesOn(t *testing.T) {
	s := newSandbox(t)
	shim := s.linkPitap("shim/pi")
	s.file("real/pi", fakePi)
	s.file("noshebang/pi", "echo a script without a first line: \"$@\"; kill -KILL $$\n")
	os.Chmod(s.path("noshebang/pi"), 0o755)
	s = s.front("real")
	for _, test := range []struct {
		args   string
		env    string
		status int
	}{
		{"--version", "", 3},
		{"-p say something", "", 0},
		{"install npm:some-package", "", 0},
		{"", "", 0},
		{"--mode rpc", "PITAP_OFF=1", 0},
		{"--mode rpc --x", "PITAP_OFF=1", 0},
		{"--version", "PITAP_OFF=1", 3},
	} {
		o := s.with(test.env).run(hello, append([]string{shim}, strings.Fields(test.args)...)...)
		want := fmt.Sprintf("%s runs as %d with %s, depth 1\n", s.path("real/pi"), o.pid, test.args)
		if o.stderr != want || o.status != test.status {
			t.Errorf("pi %s: %+v, want %q on stderr", test.args, o, want)
		}
	}
	if o := s.with("PITAP_OFF=1").run(hello, "pitap", "record", "--", "pi", "--mode", "rpc"); o.stdout != hello || o.status != 0 {
		t.Errorf("pitap record: %+v", o)
	}
	o := s.with("PITAP_AGENT="+s.path("noshebang/pi")).run("", shim, "list", "a b")
	if o.stdout != "a script without a first line: list a b\n" || o.status != -9 {
		t.Errorf("a script without #!: %+v", o)
	}
	if all := s.captures(defaultDir); len(all) > 0 {
		t.Errorf("%d captures", len(all))
	}
}

func TestAsPiFails(t *testing.T) {
	s := newSandbox(t)
	shim := s.linkPitap("shim/pi")
	s.file("real/pi", fakePi)
	s.file("plain/pi", "not executable")
	s.linkPitap("again/pi")
	for _, test := range []struct {
		name   string
		env    string
		json   string
		status int
		stderr string
		both   bool // not only where a conversation would be recorded
	}{
		{"no pi anywhere", "PATH=" + s.path("shim"), "", 127, "pitap: pi: not found in PATH", true},
		{"the agent has gone", "", `{"agent": "/nowhere/pi"}`, 127, "pitap: /nowhere/pi: no such file or directory; run pitap shim again", true},
		{"the agent can't be run", "PITAP_AGENT=" + s.path("plain/pi"), "", 126, "plain/pi: permission denied", true},
		{"the agent is this shim", "PITAP_AGENT=" + shim, "", 125, shim + " is pitap itself", true},
		{"the agent is another shim", "", `{"agent": "../again/pi"}`, 125, s.path("again/pi") + " is pitap itself", true},
		{"broken file", "", "{\n\t\"agent\": \"pi\",\n\tstrict: true\n}\n", 125, "shim/pitap.json: line 3 (byte 19): ", true},
		{"unknown member", "", "{\"agent\": \"pi\",\n \"strickt\": true}", 125, `shim/pitap.json: line 2 (byte 17): there is no member "strickt"`, true},
		{"empty file", "", " ", 125, "shim/pitap.json: line 1 (byte 1): unexpected end", true},
		{"no such fixture", "PITAP_FIXTURE=x.jsonl", "", 125, "x.jsonl: no such file", true},
		{"no such fixture in pitap.json", "", `{"replay": "x.jsonl"}`, 125, "x.jsonl: no such file", true},
		{"unknown mode", "PITAP_MODE=play", `{"replay": "x.jsonl"}`, 125, `PITAP_MODE is "play"; it is replay, record or auto`, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			os.Remove(s.path("shim/pitap.json"))
			if test.json != "" {
				s.file("shim/pitap.json", test.json)
			}
			s := s.front("real").with(test.env)
			for _, args := range [][]string{{"--mode", "rpc"}, {"--version"}} {
				if !test.both && args[0] == "--version" {
					continue
				}
				o := s.run("", append([]string{shim}, args...)...)
				if o.status != test.status || !strings.Contains(o.stderr, test.stderr) || strings.Count(o.stderr, "\n") != 1 {
					t.Errorf("pi %q: %+v, want %q", args, o, test.stderr)
				}
			}
		})
	}
}

// TestLoopsEnd has scripts in pi's place that lead back to pitap, which can't be told from pi.
func TestLoopsEnd(t *testing.T) {
	for name, script := range map[string]string{
		"record": "#!/bin/sh\nexec pitap record -- pi \"$@\"\n",
		"child":  "#!/bin/sh\npitap record -- pi \"$@\"\n",
		"shim":   "#!/bin/sh\nexec SHIM \"$@\"\n",
	} {
		t.Run(name, func(t *testing.T) {
			s := newSandbox(t)
			shim := s.linkPitap("shim/pi")
			s.file("wrapper/pi", strings.ReplaceAll(script, "SHIM", shim))
			s = s.front("wrapper")
			for _, args := range []string{"--mode rpc", "--version"} {
				o := s.run(hello, append([]string{"pi"}, strings.Fields(args)...)...)
				if o.status != 125 || !strings.Contains(o.stderr, "name pi by its path") {
					t.Errorf("pi %s: %+v", args, o)
				}
			}
			if n := len(s.captures(defaultDir)); n > 2*deepest {
				t.Errorf("%d captures were made", n)
			}
		})
	}
}

// TestNestedAgents shows that agents may start agents, each of which is recorded.
func TestNestedAgents(t *testing.T) {
	s := newSandbox(t)
	s.linkPitap("shim/pi")
	s.file("real/pi", "#!/bin/sh\necho \"depth $PITAP_DEPTH\"\n[ $PITAP_DEPTH = 3 ] || pi --mode rpc\n")
	s = s.front("shim", "real")
	o := s.run("", "pi", "--mode", "rpc")
	if o.stdout != "depth 1\ndepth 2\ndepth 3\n" || o.status != 0 {
		t.Errorf("%+v", o)
	}
	if n := len(s.captures(defaultDir)); n != 3 {
		t.Errorf("%d captures", n)
	}
}

// TestAsPiFindsTheInterpreter runs the shim as an editor does that was not started from a shell.
func TestAsPiFindsTheInterpreter(t *testing.T) {
	s := newSandbox(t)
	s.file("tools/some-node", "#!/bin/sh\necho \"some-node with PATH $PATH\"; exec /bin/sh \"$@\"\n")
	s.file("app/pi", "#!/usr/bin/env some-node\necho agent\n")
	if o := s.front("app", "tools").run("", "pitap", "shim", s.path("shim")); o.status != 0 {
		t.Fatalf("pitap shim: %+v", o)
	}
	const poor = "/usr/bin:/bin"
	for path, want := range map[string]string{
		poor:                         poor + ":" + s.path("tools"),
		"":                           "/usr/local/bin:/usr/bin:/bin:" + s.path("tools"),
		s.path("tools") + ":" + poor: s.path("tools") + ":" + poor,
	} {
		for _, args := range [][]string{{"--mode", "rpc"}, {"list"}} {
			o := s.with("PATH="+path).run("", append([]string{filepath.Join(s.path("shim"), "pi")}, args...)...)
			if o.stdout != "some-node with PATH "+want+"\nagent\n" {
				t.Errorf("PATH=%s pi %q: %+v", path, args, o)
			}
		}
	}
}

// TestShimThatIsACopyHandsOver has an agent whose child goes on writing when it has exited, which pitap leaves to a copy of
// itself: that must not take itself for pi.
func TestShimThatIsACopyHandsOver(t *testing.T) {
	s := newSandbox(t)
	shim := s.folder("shim") + "/pi"
	copyPitap(t, shim)
	s.file("real/pi", "#!/bin/sh\necho first\n(while ! [ -e go ]; do sleep 0.02; done; echo second) &\n")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd := s.front("real").command(t.Context(), shim, "--mode", "rpc")
	cmd.Stdout = w
	err = cmd.Run()
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	s.file("work/go", "")
	if err := r.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if out, err := io.ReadAll(r); string(out) != "first\nsecond\n" {
		t.Errorf("it says %q, %v", out, err)
	}
	if c := s.recordedSession(); c.streams[record.Agent] != "first\nsecond\n" {
		t.Errorf("recorded: %q", c.streams[record.Agent])
	}
}
