//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"pitap/internal/pitest"
	"pitap/internal/zoo"
)

const ms = time.Millisecond

// long asks for the sizes and times that take minutes.
var long = os.Getenv("PITAP_TEST_LONG") == "1"

// The test binary is also pitap and the agents, when it is started under their names.
var bin string // folder with pitap and zoo

func TestMain(m *testing.M) {
	zoo.Main()
	if filepath.Base(os.Args[0]) == "pitap" || len(os.Args) == 2 && os.Args[1] == "finish" {
		main()
	}
	os.Exit(testMain(m))
}

func testMain(m *testing.M) int {
	for _, name := range []string{"PITAP_DIR", "PITAP_OFF", "PITAP_AGENT"} {
		os.Unsetenv(name)
	}
	var err error
	bin, err = zoo.Setup("pitap")
	defer os.RemoveAll(bin)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// front is what a client starts: the agent alone, or pitap before it.
type front struct {
	t        *testing.T
	recorded bool
	stdio    pitest.Stdio
	dir      string   // of the captures
	flags    []string // of pitap record
	bin      string   // folder with pitap and zoo
}

// both runs a test with the agent alone, which shows that what the test expects is so, and behind pitap.
func both(t *testing.T, test func(t *testing.T, f *front)) {
	each(t, []pitest.Stdio{pitest.Pipes}, test)
}

// bothAll is both on pipes and on socket pairs.
func bothAll(t *testing.T, test func(t *testing.T, f *front)) {
	each(t, []pitest.Stdio{pitest.Pipes, pitest.SocketPairs}, test)
}

func each(t *testing.T, kinds []pitest.Stdio, test func(t *testing.T, f *front)) {
	t.Parallel()
	for _, stdio := range kinds {
		for _, recorded := range []bool{false, true} {
			name := "alone"
			if recorded {
				name = "recorded"
			}
			t.Run(name+" on "+stdio.String(), func(t *testing.T) {
				t.Parallel()
				f := behind(t)
				f.recorded, f.stdio = recorded, stdio
				test(t, f)
			})
		}
	}
}

// behind is pitap, on pipes.
func behind(t *testing.T) *front {
	return &front{t: t, recorded: true, dir: t.TempDir(), bin: bin}
}

// agent is the command line of an agent that does steps.
func (f *front) agent(steps ...string) []string {
	return append([]string{filepath.Join(f.bin, "zoo")}, steps...)
}

// argv is the whole command line for an agent.
func (f *front) argv(agent []string) []string {
	if !f.recorded {
		return agent
	}
	argv := append([]string{filepath.Join(f.bin, "pitap"), "record"}, f.flags...)
	return append(append(argv, "--"), agent...)
}

// command is what the client starts.
func (f *front) command(agent ...string) *exec.Cmd {
	argv := f.argv(agent)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = f.env()
	return cmd
}

func (f *front) env() []string { return append(os.Environ(), "PITAP_DIR="+f.dir) }

// start starts an agent that does steps.
func (f *front) start(steps ...string) *pitest.Conversation {
	f.t.Helper()
	return pitest.Start(f.t, f.command(f.agent(steps...)...), f.stdio)
}

// exec starts any agent.
func (f *front) exec(argv ...string) *pitest.Conversation {
	f.t.Helper()
	return pitest.Start(f.t, f.command(argv...), f.stdio)
}

// process is a process with descriptors of the test's own.
type process struct {
	t    *testing.T
	cmd  *exec.Cmd
	done chan struct{}
}

// launch starts a command, whose files are as the test made them.
func launch(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &process{t, cmd, make(chan struct{})}
	go func() {
		defer close(p.done)
		cmd.Wait()
	}()
	t.Cleanup(func() {
		cmd.Process.Kill()
		<-p.done
	})
	return p
}

// wait waits for the exit: the code, or a signal's number, negative. It fails when that is not as wanted.
func (p *process) wait(want int) {
	p.t.Helper()
	timer := time.NewTimer(20 * time.Second)
	defer timer.Stop()
	select {
	case <-p.done:
	case <-timer.C:
		p.t.Fatal("waiting for the exit: not within 20 s")
	}
	if got := status(p.cmd.ProcessState); got != want {
		p.t.Fatalf("exit status %d, want %d", got, want)
	}
}

func (p *process) signal(sig syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(sig); err != nil {
		p.t.Fatal(err)
	}
}

func status(state *os.ProcessState) int {
	ws := state.Sys().(syscall.WaitStatus)
	if ws.Signaled() {
		return -int(ws.Signal())
	}
	return ws.ExitStatus()
}

// file is a path in a folder of the test.
func (f *front) file(name string) string {
	f.t.Helper()
	return filepath.Join(f.t.TempDir(), name)
}

// same compares bytes, and says where they begin to differ.
func same(t *testing.T, what string, got, want []byte) {
	t.Helper()
	if bytes.Equal(got, want) {
		return
	}
	at := 0
	for at < len(got) && at < len(want) && got[at] == want[at] {
		at++
	}
	t.Errorf("%s: %d bytes, want %d; from byte %d on %.80q, want %.80q", what, len(got), len(want), at, got[at:], want[at:])
}

// eventually waits until something is so.
func eventually(t *testing.T, what string, so func() bool) {
	t.Helper()
	within(t, 20*time.Second, what, so)
}

// within waits until something is so, for a time at most.
func within(t *testing.T, limit time.Duration, what string, so func() bool) {
	t.Helper()
	every := time.NewTicker(2 * time.Millisecond)
	defer every.Stop()
	for deadline := time.Now().Add(limit); ; <-every.C {
		if so() {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("waiting for %s: not within %v", what, limit)
		}
	}
}

// stays fails when something stops being so within a time.
func stays(t *testing.T, limit time.Duration, what string, so func() bool) {
	t.Helper()
	every := time.NewTicker(5 * time.Millisecond)
	defer every.Stop()
	for end := time.Now().Add(limit); time.Now().Before(end); <-every.C {
		if !so() {
			t.Fatalf("no longer %s", what)
		}
	}
}

// settles waits until a number has not changed for a while, and returns it.
func settles(t *testing.T, what string, number func() int64) int64 {
	t.Helper()
	last, since := number(), time.Now()
	eventually(t, what+" to settle", func() bool {
		if now := number(); now != last {
			last, since = now, time.Now()
		}
		return time.Since(since) > 150*time.Millisecond
	})
	return last
}

// size is a file's size, 0 when there is none.
func size(file string) int64 {
	info, err := os.Stat(file)
	if err != nil {
		return 0
	}
	return info.Size()
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// pidIn reads what the step Touch wrote.
func pidIn(t *testing.T, file string) int {
	t.Helper()
	eventually(t, file, func() bool { return exists(file) })
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(string(b))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// touch makes a file that the step Await waits for.
func touch(t *testing.T, file string) {
	t.Helper()
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

func itoa(n int) string { return strconv.Itoa(n) }

func readFile(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func writeFile(t *testing.T, file, content string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
