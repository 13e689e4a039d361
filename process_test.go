//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"pitap/record"
)

// asPitap makes the test binary pitap: it is linked or copied to where a test needs pitap or a shim.
const asPitap = "PITAP_TEST_AS_PITAP"

func init() {
	if os.Getenv(asPitap) == "1" {
		os.Exit(run(os.Args, os.Stdin, os.Stdout, os.Stderr))
	}
}

// sandbox is a place to run pitap and agents in, away from the user's own.
type sandbox struct {
	t   *testing.T
	dir string   // real path
	env []string // of what is run; PATH is bin, /usr/bin and /bin, HOME is home
}

// newSandbox makes a sandbox with pitap in its folder bin.
func newSandbox(t *testing.T) *sandbox {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &sandbox{t: t, dir: dir}
	s.env = []string{asPitap + "=1", "GORACE=atexit_sleep_ms=0", "HOME=" + s.path("home"), "TMPDIR=" + s.folder("tmp"),
		"PATH=" + s.folder("bin") + ":/usr/bin:/bin", "LANG=C.UTF-8"}
	s.folder("home")
	s.linkPitap("bin/pitap")
	return s
}

func (s *sandbox) path(name string) string { return filepath.Join(s.dir, name) }

func (s *sandbox) folder(name string) string {
	s.t.Helper()
	if err := os.MkdirAll(s.path(name), 0o755); err != nil {
		s.t.Fatal(err)
	}
	return s.path(name)
}

// linkPitap puts a link to pitap at a path in the sandbox.
func (s *sandbox) linkPitap(name string) string {
	s.t.Helper()
	self, err := os.Executable()
	if err != nil {
		s.t.Fatal(err)
	}
	s.folder(filepath.Dir(name))
	if err := os.Symlink(self, s.path(name)); err != nil {
		s.t.Fatal(err)
	}
	return s.path(name)
}

// file writes a file, executable when it is a script.
func (s *sandbox) file(name, content string) string {
	s.t.Helper()
	s.folder(filepath.Dir(name))
	mode := os.FileMode(0o644)
	if strings.HasPrefix(content, "#!") {
		mode = 0o755
	}
	if err := os.WriteFile(s.path(name), []byte(content), mode); err != nil {
		s.t.Fatal(err)
	}
	return s.path(name)
}

// fakePi is an agent that says what it is given: its name, id and arguments on stderr, its stdin on stdout.
const fakePi = `#!/bin/sh
echo "$0 runs as $$ with $*, depth $PITAP_DEPTH" >&2
case $1 in
--version) echo 1.2.3; exit 3 ;;
esac
exec cat
`

// with returns the sandbox with variables set in its environment.
func (s *sandbox) with(vars ...string) *sandbox {
	other := *s
	for _, v := range vars {
		name, value, _ := strings.Cut(v, "=")
		other.env = setEnv(other.env, name, value)
	}
	return &other
}

// front returns the sandbox with folders in front of its PATH.
func (s *sandbox) front(folders ...string) *sandbox {
	path := ""
	for _, f := range folders {
		path += s.path(f) + ":"
	}
	for _, v := range s.env {
		if p, ok := strings.CutPrefix(v, "PATH="); ok {
			return s.with("PATH=" + path + p)
		}
	}
	return s.with("PATH=" + path)
}

// outcome is how a command ended.
type outcome struct {
	stdout, stderr string
	status         int // exit code; negative: the signal
	pid            int
}

// command is a command in the sandbox; a name without a slash is looked for in the sandbox's PATH.
func (s *sandbox) command(ctx context.Context, argv ...string) *exec.Cmd {
	s.t.Helper()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	if !strings.Contains(argv[0], "/") {
		cmd = exec.CommandContext(ctx, "/usr/bin/env", append([]string{"--"}, argv...)...)
	}
	cmd.Dir, cmd.Env = s.folder("work"), s.env
	cmd.WaitDelay = time.Second
	return cmd
}

// run runs a command to its end.
func (s *sandbox) run(stdin string, argv ...string) outcome {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 2*time.Minute)
	defer cancel()
	cmd := s.command(ctx, argv...)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &stdout, &stderr
	err := cmd.Run()
	o := outcome{stdout: stdout.String(), stderr: stderr.String()}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		s.t.Fatalf("%q does not end; stdout %q, stderr %q", argv, o.stdout, o.stderr)
	case err != nil && !errors.As(err, &exit):
		s.t.Fatalf("%q: %v", argv, err)
	}
	o.pid = cmd.Process.Pid
	o.status = exitStatus(cmd.ProcessState)
	return o
}

func exitStatus(state *os.ProcessState) int {
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return -int(ws.Signal())
	}
	return state.ExitCode()
}

// defaultDir is where the sandbox's captures go by default.
const defaultDir = "home/.local/state/pitap"

// recorded is a capture that was read.
type recorded struct {
	record.Header
	streams map[record.Stream]string // the exact bytes
	notes   []record.Note
	whole   bool   // it has its end note
	state   string // how it ends otherwise
}

// captures reads all captures in a folder of the sandbox, oldest first.
func (s *sandbox) captures(dir string) []recorded {
	s.t.Helper()
	found, err := record.List(s.path(dir))
	if err != nil {
		s.t.Fatal(err)
	}
	var out []recorded
	for i := len(found) - 1; i >= 0; i-- {
		out = append(out, readRecorded(s.t, found[i].Path))
	}
	return out
}

// capture reads the only capture in a folder of the sandbox.
func (s *sandbox) capture(dir string) recorded {
	s.t.Helper()
	all := s.captures(dir)
	if len(all) != 1 {
		s.t.Fatalf("%d captures in %s, want 1", len(all), dir)
	}
	return all[0]
}

func readRecorded(t *testing.T, path string) recorded {
	t.Helper()
	c, err := record.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	h, err := c.Header()
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	r := recorded{Header: *h, streams: map[record.Stream]string{}}
	var bytesOf [4]bytes.Buffer
	var streams []record.Bytes
	for from := record.Client; from <= record.Stderr; from++ {
		streams = append(streams, record.Bytes{From: from, To: &bytesOf[from]})
	}
	for c.Next() {
		e := c.Entry()
		if e.Note != nil {
			r.notes = append(r.notes, *e.Note)
		}
		for i := range streams {
			if err := streams[i].Entry(e); err != nil {
				t.Fatalf("%s: %v", path, err)
			}
		}
	}
	if err := c.Err(); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	for from := range bytesOf {
		r.streams[record.Stream(from)] = bytesOf[from].String()
	}
	r.whole, r.state = c.Ended(), c.Condition()
	return r
}

// until waits until done says true, for 20 seconds at most.
func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	untilWithin(t, 20*time.Second, what, done)
}

func untilWithin(t *testing.T, limit time.Duration, what string, done func() bool) {
	t.Helper()
	deadline := time.NewTimer(limit)
	defer deadline.Stop()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-deadline.C:
			t.Fatalf("not within %v: %s", limit, what)
		}
	}
}

// gone tells whether a process has ended. Who inherited it may not have taken its exit status yet.
func gone(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return true
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && bytes.Contains(stat, []byte(") Z "))
}
