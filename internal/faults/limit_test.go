//go:build linux

package faults

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"pitap/internal/zoo"
)

// Promise: twenty recorders that start in the same instant in one folder make twenty whole captures.
func TestTwentyAtOnce(t *testing.T) {
	t.Parallel()
	const n = 20
	gate := filepath.Join(t.TempDir(), "gate")
	if err := unix.Mkfifo(gate, 0o600); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "captures")
	var rigs []*rig
	for range n {
		g := newRig(t)
		g.dir, g.task.Pace = dir, 20*ms
		g.before = []string{"sh", "-c", `: <"$0"; exec "$@"`, gate} // waits for somebody who writes
		rigs = append(rigs, g.start())
	}
	open, err := os.OpenFile(gate, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close() // for those that come to the gate late
	for _, g := range rigs {
		g.flows(1000)
		g.closeStdin()
		g.wait(3)
		g.ended()
		g.gone()
	}
	files := rigs[0].captures()
	if len(files) != n {
		t.Fatalf("%d captures, want %d", len(files), n)
	}
	of := map[int64]string{}
	for _, file := range files {
		rigs[0].written(file)
		of[agentIn(file)] = file
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: mode %v, %v", file, info.Mode(), err)
		}
	}
	for _, g := range rigs {
		path := of[g.agent.PID.Load()]
		if path == "" {
			t.Fatalf("no capture of process %d", g.agent.PID.Load())
		}
		f := g.read(path)
		f.whole()
		f.exact()
		f.noGap()
	}
}

// limited starts pitap with at most so many open files.
func limited(n int) []string { return []string{"sh", "-c", `ulimit -n $0; exec "$@"`, fmt.Sprint(n)} }

// Promise: twenty open files are enough, also when a child of the agent's makes pitap hand over to a copy of itself; where
// they are not enough for that, pitap stays and finishes what it began.
func TestTwentyFiles(t *testing.T) {
	for _, c := range []struct {
		files int
		child time.Duration
	}{{20, 0}, {20, 500 * ms}, {19, 500 * ms}, {18, 500 * ms}} {
		t.Run(fmt.Sprint(c.files, " files, child ", c.child), func(t *testing.T) {
			t.Parallel()
			g := newRig(t)
			g.before = limited(c.files)
			g.task.Orphan = c.child
			g.start()
			g.flows(20_000)
			f := g.finish(3)
			f.noGap()
			if c.child > 0 && f.notes["handover"] != 1 {
				t.Errorf("capture: %d notes of the hand-over", f.notes["handover"])
			}
			if said := g.words.Said(); c.files == 20 && said != "" || said != "" && !contains(said, "this process stays") {
				t.Errorf("pitap said %q", said)
			}
		})
	}
}

// Promise: with fewer the session runs, recorded or not, or pitap says why it can't: it never hangs and loses nothing.
// The Go runtime itself needs eight.
func TestFewFiles(t *testing.T) {
	t.Parallel()
	for n := 19; n >= 8; n-- {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		argv := append(limited(n), filepath.Join(bin, "pitap"), "record", "--", "sh", "-c", "read x; echo $x; exit 3")
		cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
		cmd.Env = append(os.Environ(), "PITAP_DIR="+t.TempDir())
		var stdout, stderr bytes.Buffer
		cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader([]byte("hello\n")), &stdout, &stderr
		cmd.Run()
		cancel()
		status := cmd.ProcessState.ExitCode()
		t.Logf("%d files: status %d, stdout %q, stderr %.200q", n, status, stdout.String(), stderr.String())
		switch {
		case status == 3 && stdout.String() == "hello\n":
		case status >= 125 && status <= 126 && stdout.Len() == 0 && bytes.HasPrefix(stderr.Bytes(), []byte("pitap: ")):
		default:
			t.Errorf("%d files: status %d, stdout %q, stderr %.500q", n, status, stdout.String(), stderr.String())
		}
	}
}

// Promise: memory is bounded, whatever the client and the disk do.
func TestMemory(t *testing.T) {
	if zoo.Plainly(t) {
		return
	}
	t.Parallel()
	g := newRig(t)
	g.task.Pace = 0
	g.env = []string{"GOMEMLIMIT=32MiB"}
	g.before = inCgroup(t, 160<<20)
	g.start()
	for range times(3, 10) {
		g.flows(4 << 20)
		unix.Kill(int(g.agent.PID.Load()), unix.SIGSTOP)
		g.moment(200 * ms)
		unix.Kill(int(g.agent.PID.Load()), unix.SIGCONT)
	}
	peak := zoo.Peak(g.cmd.Process.Pid)
	t.Logf("pitap took %d MiB", peak>>20)
	if peak > 96<<20 {
		t.Errorf("pitap took %d MiB, more than 96", peak>>20)
	}
	g.finish(3)
}

// inCgroup gives what starts a program in a control group with so much memory, nothing where there is no right to make one.
func inCgroup(t *testing.T, bytes int) []string {
	t.Helper()
	for _, c := range []struct{ root, limit string }{{"/sys/fs/cgroup/memory", "memory.limit_in_bytes"}, {"/sys/fs/cgroup", "memory.max"}} {
		dir, err := os.MkdirTemp(c.root, "pitap-test-")
		if err != nil {
			continue
		}
		t.Cleanup(func() { unix.Rmdir(dir) })
		if err := os.WriteFile(filepath.Join(dir, c.limit), fmt.Append(nil, bytes), 0o600); err == nil {
			return []string{"sh", "-c", `echo $$ >"$0/cgroup.procs"; exec "$@"`, dir}
		}
	}
	t.Log("no control group can be made here: memory is only measured")
	return nil
}
