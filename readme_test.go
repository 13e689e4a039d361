//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// readme gives the README's code blocks of a language, such as sh.
func readme(t *testing.T, language string) []string {
	t.Helper()
	content, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	var blocks []string
	for _, m := range regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$").FindAllStringSubmatch(string(content), -1) {
		if m[1] == language {
			blocks = append(blocks, m[2])
		}
	}
	return blocks
}

// readmeBlock gives the only block of a language that contains a text.
func readmeBlock(t *testing.T, language, with string) string {
	t.Helper()
	found := slices.DeleteFunc(readme(t, language), func(b string) bool { return !strings.Contains(b, with) })
	if len(found) != 1 {
		t.Fatalf("the README has %d blocks of %s with %q", len(found), language, with)
	}
	return found[0]
}

// home is where the README has its reader's home folder, where ~ is not understood.
const home = "/home/you"

// TestReadmeCommands runs every block of commands in the README, in order, as its reader would. Stand-ins: pi is cat, but
// for its calls that are no conversation; pi-acp and my-client start pi as real clients do, and say one thing (for the
// real pi-acp see TestPiAcp); go works in this folder, and `go test` lists the packages or names the benchmark, since
// this is a test itself.
func TestReadmeCommands(t *testing.T) {
	s := readmeSandbox(t)
	capture := s.path(defaultDir) + "/*.jsonl.zst"
	expected := []struct {
		first  string // words of the block's first line
		stdin  string
		stdout []string // what it says, among other things
		needs  []string // programs that not everybody has
	}{
		{"go build", "", []string{"$ pitap show", "$ pitap check", "$ pitap verdict"}, nil},
		{"echo", "", []string{`{"type":"get_state"}`, "get_state"}, nil},
		{"go test", "", []string{"pitap/record"}, nil},
		{"go install", "", []string{"pitap " + version}, nil},
		{"pitap record", hello, []string{hello}, nil},
		{"pitap shim", "", []string{s.path("home/.local/share/pitap/pi"), s.path("real/pi")}, nil},
		{"PI_ACP_PI_COMMAND=", "", []string{`{"type":"from pi-acp"}`}, nil},
		{"PATH=", "", []string{`{"type":"from my-client"}`}, nil},
		{"pitap ls", "", []string{"from my-client"}, nil},
		{"pitap cut", "", []string{`{"type":"from my-client"}`, "fixture.jsonl: ok: complete"}, nil},
		{"pitap sweep", "", []string{"no fault", "stall"}, nil},
		{"pitap prune", "", nil, nil},
		{"zstd -dc", "", []string{`{"type":"from my-client"}`}, []string{"zstd", "jq"}},
		{"go test -run", "", []string{"BenchmarkWhole"}, nil},
	}
	blocks := readme(t, "sh")
	for i, block := range blocks {
		if i == len(expected) || !strings.HasPrefix(block, expected[i].first) {
			t.Fatalf("this test does not know the block %q", block)
		}
		t.Run(expected[i].first, func(t *testing.T) {
			for _, program := range expected[i].needs {
				if _, err := exec.LookPath(program); err != nil {
					t.Skip(err)
				}
			}
			o := s.run(expected[i].stdin, "sh", "-euc", block)
			if o.status != 0 || strings.Contains(o.stderr, "pitap: ") {
				t.Errorf("%s: %+v", block, o)
			}
			for _, want := range expected[i].stdout {
				if !strings.Contains(o.stdout, want) {
					t.Errorf("%s does not say %q: %+v", block, want, o)
				}
			}
		})
	}
	if len(blocks) != len(expected) {
		t.Errorf("%d blocks, and %d are expected", len(blocks), len(expected))
	}
	// Each recording left a whole capture: those of cat, of pi and of the two clients.
	found, _ := filepath.Glob(capture)
	if len(found) != 4 {
		t.Errorf("the captures are %q", found)
	}
	for _, path := range found {
		if c := readRecorded(t, path); !c.whole {
			t.Errorf("%s: %s", path, c.state)
		}
	}
}

// readmeSandbox is a sandbox with the stand-ins of TestReadmeCommands. What go installs comes first in its PATH.
func readmeSandbox(t *testing.T) *sandbox {
	t.Helper()
	s := newSandbox(t)
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip(err)
	}
	repository, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	vars := "GOBIN=" + shellQuote(s.folder("installed"))
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, "GO") && name != "GOBIN" || name == "HOME" || name == "PATH" || name == "XDG_CACHE_HOME" {
			vars += " " + shellQuote(v)
		}
	}
	s.file("standins/go", fmt.Sprintf(`#!/bin/sh
case "$*" in
"build -o pitap .") set -- build -o "$PWD/pitap" . ;;
"test ./...") set -- list ./... ;;
"test -run - -bench Whole -benchtime 21x .") cd %[1]s && exec grep -h 'func BenchmarkWhole' *_test.go ;;
"install .") ;;
*) echo "there is no stand-in for go $*" >&2; exit 1 ;;
esac
cd %[1]s && exec env %[2]s %[3]s "$@"
`, shellQuote(repository), vars, shellQuote(goTool)))
	s.file("standins/pi-acp", "#!/bin/sh\necho '{\"type\":\"from pi-acp\"}' | \"$PI_ACP_PI_COMMAND\" --mode rpc --no-themes\n")
	s.file("standins/my-client", "#!/bin/sh\npi --version >/dev/null; echo '{\"type\":\"from my-client\"}' | pi --mode rpc\n")
	s.file("real/pi", "#!/bin/sh\ncase $1 in --version) echo 1.2.3 ;; *) exec cat ;; esac\n")
	return s.front("installed", "standins", "real")
}

// TestReadmeSettings does what editors do with the settings in the README.
func TestReadmeSettings(t *testing.T) {
	s := newSandbox(t)
	s.file("real/pi", fakePi)
	s = s.front("real")
	if o := s.run("", "sh", "-euc", readmeBlock(t, "sh", "pitap shim")); o.status != 0 {
		t.Fatalf("%+v", o)
	}
	var setting map[string]string
	text := strings.ReplaceAll(readmeBlock(t, "json", "ath"), home, s.path("home"))
	if err := json.Unmarshal([]byte(text), &setting); err != nil || len(setting) != 1 {
		t.Fatalf("%s: %v", text, err)
	}
	var commands [][]string
	for _, path := range setting {
		commands = append(commands, []string{path})
	}
	var pilish []string
	for _, word := range regexp.MustCompile(`"[^"]*"`).FindAllString(readmeBlock(t, "elisp", "pilish-executable"), -1) {
		plain, err := strconv.Unquote(word)
		if err != nil {
			t.Fatal(err)
		}
		pilish = append(pilish, plain)
	}
	commands = append(commands, pilish)
	for i, command := range commands {
		o := s.run(hello, append(command, "--mode", "rpc")...)
		if o.status != 0 || o.stdout != hello || !strings.HasPrefix(o.stderr, s.path("real/pi")+" runs as ") {
			t.Errorf("%q: %+v", command, o)
		}
		if n := len(s.captures(defaultDir)); n != i+1 {
			t.Errorf("after %q there are %d captures", command, n)
		}
	}
}

// TestReadmeListsTheCommands compares the README with what pitap help says.
func TestReadmeListsTheCommands(t *testing.T) {
	content, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	var listed, known []string
	for _, m := range regexp.MustCompile("(?m)^\\| `pitap (\\w+)").FindAllStringSubmatch(string(content), -1) {
		listed = append(listed, m[1])
	}
	for _, c := range commands() {
		if c.help != "" {
			known = append(known, c.name)
		}
	}
	known = append(known, "help")
	slices.Sort(listed)
	slices.Sort(known)
	if !slices.Equal(listed, known) {
		t.Errorf("the README lists %q, pitap knows %q", listed, known)
	}
	for _, m := range regexp.MustCompile(`\]\(([^)#:]+)\)`).FindAllStringSubmatch(string(content), -1) {
		if _, err := os.Stat(filepath.FromSlash(m[1])); err != nil {
			t.Errorf("the README links to %s: %v", m[1], err)
		}
	}
}
