//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pitap/replay"
)

// sweepClients are clients written right and ones that are not, each with the faults that catch it. The right ones pass
// all that a test can pass: not the end of the agent in the middle.
var sweepClients = []struct{ language, reader, caught, passes string }{
	{"node", "right", "", passable},
	{"node", "readline", "u2028", "split split-char join crlf big"},
	{"node", "chunks", "split-char", "join big"},
	{"node", "reads", "split", "u2028 pause-lf"},
	{"node", "limit", "big", "split u2028 join"},
	{"node", "strict", "junk stray", "split u2028"},
	{"node", "deaf", "stderr", "split u2028"},
	{"go", "right", "", passable},
	{"go", "scanner", "big", "split split-char join pause-lf crlf u2028 junk stray utf8 fast stderr no-term"},
	{"python3", "right", "", passable},
	{"python3", "limit", "big", "split split-char join pause-lf crlf u2028 junk stray utf8 fast stderr no-term"},
}

const passable = "split split-char recorded join pause-lf crlf u2028 big cut junk stray utf8 reorder withhold fast stderr no-term stall"

// TestSweep runs each client once under each fault.
func TestSweep(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	dir, err := filepath.Abs("testdata/sweep")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range sweepClients {
		t.Run(test.language+" "+test.reader, func(t *testing.T) {
			program := installed(t, test.language)
			s := newSandbox(t)
			client := []string{program, filepath.Join(dir, "client.mjs")}
			switch test.language {
			case "go":
				client = []string{s.path("client")}
				build := exec.Command(program, "build", "-o", client[0], filepath.Join(dir, "goclient", "main.go"))
				if out, err := build.CombinedOutput(); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
			case "python3":
				client[1] = filepath.Join(dir, "client.py")
			}
			s = s.with("READER="+test.reader, "PATH="+s.path("bin")+":"+filepath.Dir(program)+":/usr/bin:/bin")
			run := func(caught, passes string) {
				t.Helper()
				only := strings.Join(strings.Fields(caught+" "+passes), ",")
				argv := []string{"pitap", "sweep", "--timeout", "60s", "--only", only, filepath.Join(dir, "session.jsonl"), "--"}
				checkSweep(t, s.run("", append(argv, client...)...), caught, passes)
			}
			if test.caught != "" {
				run(test.caught, "")
			}
			for faults := range slices.Chunk(strings.Fields(test.passes), 6) {
				run("", strings.Join(faults, " "))
			}
		})
	}
}

// checkSweep compares sweep's table with what was expected of a client.
func checkSweep(t *testing.T, o outcome, caught, passes string) {
	t.Helper()
	status := map[string]string{}
	for line := range strings.Lines(o.stdout) {
		if f := strings.Fields(line); len(f) > 1 {
			status[f[0]] = f[1]
		}
	}
	for _, name := range strings.Fields(caught) {
		if status[name] != failed && status[name] != hung {
			t.Errorf("%s is not caught: %s", name, o.stdout)
		}
	}
	for _, name := range strings.Fields(passes) {
		if status[name] != passed {
			t.Errorf("%s is %s: %s%s", name, status[name], o.stdout, o.stderr)
		}
	}
	if (o.status != 0) != (caught != "") {
		t.Errorf("status %d: %s", o.status, o.stderr)
	}
}

// The right clients are tried under every fault there is but the ends of the agent, which they only must survive.
func TestSweepPassable(t *testing.T) {
	for _, k := range replay.Faults() {
		if k.Name != "exit" && k.Name != "kill" && !strings.Contains(" "+passable+" ", " "+k.Name+" ") {
			t.Errorf("no right client is tried under %s", k.Name)
		}
	}
}

// The clients on the page about tests are written right, and they start a shim by its path.
func TestSweepExamples(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	const faults = "split-char join crlf u2028 big junk stray utf8 fast stderr"
	t.Run("python3", func(t *testing.T) {
		python := installed(t, "python3")
		s := newTested(t)
		s.file("work/test_hello.py", testingBlock(t, "python", "unittest"))
		s = s.with("PATH="+s.path("bin")+":"+os.Getenv("PATH"), "HOME="+os.Getenv("HOME"))
		checkSweep(t, s.run("", "pitap", "sweep", "--only", strings.ReplaceAll(faults, " ", ","), "hello.jsonl", "--", python, "test_hello.py"), "", faults)
	})
	t.Run("go", func(t *testing.T) {
		installed(t, "go")
		s := newTested(t)
		s.file("work/hello_test.go", testingBlock(t, "go", "TestHello"))
		s.file("work/go.mod", "module client\n\ngo 1.25\n")
		s = s.with("PATH="+s.path("bin")+":"+os.Getenv("PATH"), "HOME="+os.Getenv("HOME"), "GOFLAGS=-mod=mod", "GOTOOLCHAIN=local")
		if o := s.run("", "go", "test", "-c", "-o", "client.test", "."); o.status != 0 {
			t.Fatalf("%+v", o)
		}
		checkSweep(t, s.run("", "pitap", "sweep", "--only", strings.ReplaceAll(faults, " ", ","), "hello.jsonl", "--", "./client.test"), "", faults)
	})
}
