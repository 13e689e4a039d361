// Package pitest lets tests talk to a real pi, offline: it finds an installed pi, gives it a home whose only model is a
// scripted fake (Model), and plays the client of any agent process (Conversation). It is for tests alone.
package pitest

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// Pi is an installed pi with a fresh home and project, ready to be started. Paths are absolute.
type Pi struct {
	Path    string   // pi's own command: a symbolic link to a script that env(1) runs with Node
	Node    string   // the Node that runs it
	ACP     string   // the command of pi-acp, a client of pi
	Version string   // pi's version, from its package.json
	Home    string   // $HOME; below it, .pi/agent holds pi's configuration
	Project string   // the folder to start pi in; empty
	Env     []string // the whole environment: no keys, nothing of the caller's but how to find programs
	Args    []string // pi's arguments; the test may add to them
	Model   *Model   // what answers prompts
}

// NewPi finds the installed pi and makes a home and a project folder for it, which are removed when the test ends. Where
// pi is not installed the test is skipped, or fails when $PITAP_TEST_PI_REQUIRED is 1.
//
// Pi is looked for in the folder that $PITAP_TEST_PI names, else where .ci/pi.sh puts it by default.
func NewPi(t testing.TB) Pi {
	t.Helper()
	bin, err := findPi()
	if err != nil {
		if os.Getenv("PITAP_TEST_PI_REQUIRED") == "1" || os.Getenv("PITAP_TEST_PI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	p := Pi{
		Path:    filepath.Join(bin, "pi"),
		Node:    filepath.Join(bin, "node"),
		ACP:     filepath.Join(bin, "pi-acp"),
		Version: piVersion(t, bin),
		Args:    []string{"--mode", "rpc", "--offline", "--no-session", "--model", "fake/thinker"},
		Model:   NewModel(t),
	}
	// pi reports its working directory with symbolic links resolved.
	work, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p.Home, p.Project = filepath.Join(work, "home"), filepath.Join(work, "project")
	temp := filepath.Join(work, "tmp")
	for _, dir := range []string{p.Project, temp} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := writeHome(p.Home, p.Model.URL()); err != nil {
		t.Fatal(err)
	}
	p.Env = environment(bin, p.Home, temp)
	return p
}

// Command is pi in its project folder and environment, ready to be started. The arguments in front, if any, come before
// pi's path and arguments: a program that stands between the test and pi, and its own arguments.
func (p Pi) Command(front ...string) *exec.Cmd {
	argv := append(append([]string{}, front...), p.Path)
	argv = append(argv, p.Args...)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = p.Project
	cmd.Env = append([]string{}, p.Env...)
	return cmd
}

//go:embed versions
var versions string

// defaultDir is where .ci/pi.sh installs pi when it is not told where; the two must agree.
func defaultDir() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	version := map[string]string{}
	for line := range strings.Lines(versions) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok {
			version[name] = value
		}
	}
	name := fmt.Sprintf("pi-%s-node-%s-acp-%s", version["pi"], version["node"], version["pi_acp"])
	return filepath.Join(cache, "pitap-test", name), nil
}

// findPi returns the folder with the commands node and pi in it.
func findPi() (string, error) {
	const how = "run .ci/pi.sh (needs npm), or set PITAP_TEST_PI to a folder with node_modules/.bin/pi"
	if runtime.GOOS == "windows" {
		return "", fmt.Errorf("pi's commands are shell scripts on Windows: not supported by these tests")
	}
	dir, source := os.Getenv("PITAP_TEST_PI"), "PITAP_TEST_PI"
	if dir == "" {
		var err error
		if dir, err = defaultDir(); err != nil {
			return "", fmt.Errorf("no cache folder: %w: %s", err, how)
		}
		source = "the default folder"
	}
	bin, err := filepath.Abs(filepath.Join(dir, "node_modules", ".bin"))
	if err != nil {
		return "", err
	}
	for _, name := range []string{"node", "pi"} {
		if _, err := exec.LookPath(filepath.Join(bin, name)); err != nil {
			return "", fmt.Errorf("no pi in %s: %w: %s", source, err, how)
		}
	}
	return bin, nil
}

func piVersion(t testing.TB, bin string) string {
	t.Helper()
	file := filepath.Join(bin, "..", "@earendil-works", "pi-coding-agent", "package.json")
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var p struct{ Version string }
	if err := json.Unmarshal(content, &p); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return p.Version
}

// quickExit makes a Go program that was built with -race, as a test binary that runs itself, exit at once and not a second
// later.
const quickExit = "GORACE=atexit_sleep_ms=0"

// environment is made from nothing, so that no key, proxy or setting of whoever runs the test gets in.
func environment(bin, home, temp string) []string {
	env := []string{
		"PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH"),
		"HOME=" + home,
		"TMPDIR=" + temp,
		"LANG=C.UTF-8",
		"PI_TELEMETRY=0",
		quickExit,
	}
	// Node keeps what it compiled there: pi starts in half the time. Many processes may share it.
	if cache, err := os.UserCacheDir(); err == nil {
		env = append(env, "NODE_COMPILE_CACHE="+filepath.Join(cache, "pitap-test", "node"))
	}
	// Where a program under test that was built with -cover writes.
	if dir := os.Getenv("GOCOVERDIR"); dir != "" {
		env = append(env, "GOCOVERDIR="+dir)
	}
	return env
}

// writeHome writes pi's configuration below home: one provider, "fake", whose models are served at url; short pauses; a
// prompt template and a skill, so that pi has commands to list.
func writeHome(home, url string) error {
	type object = map[string]any
	files := map[string]any{
		"models.json": object{"providers": object{"fake": object{
			"baseUrl": url,
			"api":     "openai-completions",
			"apiKey":  "none-needed",
			"compat":  object{"supportsReasoningEffort": true},
			"models": []object{
				{
					"id": "thinker", "reasoning": true, "input": []string{"text", "image"},
					"contextWindow": 200_000, "maxTokens": 16_384, "thinkingLevelMap": object{"xhigh": "xhigh"},
				},
				{
					"id": "plain", "name": "Plain model", "contextWindow": 200_000, "maxTokens": 16_384,
					"cost": object{"input": 3, "output": 15, "cacheRead": 0, "cacheWrite": 0},
				},
				{"id": "small", "name": "Small context", "contextWindow": 20_000, "maxTokens": 1_000},
			},
		}}},
		"settings.json": object{
			"defaultProvider":        "fake",
			"defaultModel":           "thinker",
			"retry":                  object{"baseDelayMs": 100},
			"compaction":             object{"reserveTokens": 4_000, "keepRecentTokens": 500},
			"cacheWarming":           "off",
			"enableInstallTelemetry": false,
		},
		"prompts/greet.md":         "---\ndescription: Greets somebody\n---\nsay:Hello, $1!",
		"skills/counting/SKILL.md": "---\nname: counting\ndescription: How to count.\n---\nCount slowly.\n",
	}
	for name, content := range files {
		text, ok := content.(string)
		if !ok {
			encoded, err := json.MarshalIndent(content, "", "\t")
			if err != nil {
				return err
			}
			text = string(encoded)
		}
		file := filepath.Join(home, ".pi", "agent", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}
