//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pitap/internal/pitest"
)

// testingBlock returns the only block of a language in docs/testing.md that has some words.
func testingBlock(t *testing.T, language, with string) string {
	t.Helper()
	text, err := os.ReadFile("docs/testing.md")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for i, part := range strings.Split(string(text), "\n```") {
		if body, ok := strings.CutPrefix(part, language+"\n"); ok && i%2 == 1 && strings.Contains(body, with) {
			found = append(found, body+"\n")
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d blocks of %s with %q", len(found), language, with)
	}
	return found[0]
}

// newTested makes a sandbox whose folder work is as the page says: the fixture, and a shim.
func newTested(t *testing.T) *sandbox {
	t.Helper()
	s := newSandbox(t)
	b, err := os.ReadFile("docs/hello.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	s.file("work/hello.jsonl", string(b))
	if o := s.run("", "pitap", "shim", "--replay", "hello.jsonl", "shim"); o.status != 0 {
		t.Fatalf("%+v", o)
	}
	return s
}

// passesAndFails runs an example with the fixture, then with one in which pi was told something else.
func passesAndFails(t *testing.T, s *sandbox, argv ...string) {
	t.Helper()
	if o := s.with(patient).run("", argv...); o.status != 0 {
		t.Fatalf("%q: %+v", argv, o)
	}
	b, err := os.ReadFile(s.path("work/hello.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	s.file("work/hello.jsonl", strings.ReplaceAll(string(b), "Say hello", "Say goodbye"))
	if o := s.run("", argv...); o.status == 0 {
		t.Fatalf("%q passes with another fixture: %+v", argv, o)
	}
}

func installed(t *testing.T, names ...string) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skipf("no %s here", names[0])
	return ""
}

func TestTestingPython(t *testing.T) {
	python := installed(t, "python3")
	s := newTested(t)
	s.file("work/test_hello.py", testingBlock(t, "python", "unittest"))
	passesAndFails(t, s.with("PATH="+s.path("bin")+":"+os.Getenv("PATH"), "HOME="+os.Getenv("HOME")), python, "-W", "error", "test_hello.py")
}

func TestTestingGo(t *testing.T) {
	installed(t, "go")
	s := newTested(t)
	s.file("work/hello_test.go", testingBlock(t, "go", "TestHello"))
	s.file("work/go.mod", "module client\n\ngo 1.25\n")
	s = s.with("PATH="+s.path("bin")+":"+os.Getenv("PATH"), "HOME="+os.Getenv("HOME"), "GOFLAGS=-mod=mod", "GOTOOLCHAIN=local")
	passesAndFails(t, s, "go", "test", "-count=1", ".")
}

func TestTestingNode(t *testing.T) {
	pi := pitest.NewPi(t)
	s := newTested(t)
	s.file("work/hello.test.mjs", testingBlock(t, "js", "RpcClient"))
	if err := os.Symlink(filepath.Join(filepath.Dir(pi.Node), ".."), s.path("work/node_modules")); err != nil {
		t.Fatal(err)
	}
	for _, v := range pi.Env { // node reads a large library: twice as fast when it was compiled before
		if strings.HasPrefix(v, "NODE_COMPILE_CACHE=") {
			s = s.with(v)
		}
	}
	passesAndFails(t, s.with("PATH="+s.path("bin")+":"+filepath.Dir(pi.Node)+":/usr/bin:/bin"), pi.Node, "--test", "hello.test.mjs")
}

func TestTestingEmacs(t *testing.T) {
	emacs := installed(t, "emacs")
	s := newTested(t)
	s.file("work/hello-test.el", testingBlock(t, "elisp", "ert-deftest"))
	passesAndFails(t, s, emacs, "--batch", "-l", "hello-test.el", "-f", "ert-run-tests-batch-and-exit")
}

// What the page shows of a verdict is what pitap says.
func TestTestingVerdict(t *testing.T) {
	text, err := os.ReadFile("docs/testing.md")
	if err != nil {
		t.Fatal(err)
	}
	_, shown, _ := strings.Cut(string(text), "another prompt:\n\n    ")
	shown, _, _ = strings.Cut(shown, "\n\n")
	s := newTested(t).with("PITAP_REPORT=r.json", "PITAP_QUIET=1")
	o := s.run("", "sh", "-c", `(echo '{"id":"2","type":"prompt","message":"Say hallo"}'; while ! grep -q "gave up" r.json 2>/dev/null; do sleep 0.1; done) | shim/pi --mode rpc`)
	v := s.run("", "pitap", "verdict", "r.json")
	v.stdout = regexp.MustCompile(`waited [0-9.]+s`).ReplaceAllString(v.stdout, "waited 4s") // or a little more
	v.stdout = regexp.MustCompile(`of [0-9]+:[0-9:.]+`).ReplaceAllString(v.stdout, "of 14:05:00.123")
	if want := strings.ReplaceAll(shown, "\n    ", "\n") + "\n"; v.stdout != want {
		t.Errorf("%+v; got\n%swant\n%s", o, v.stdout, want)
	}
}
