//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pitap/internal/pitest"
	"pitap/internal/zoo"
	"pitap/record"
)

// warnings checks that stderr holds n lines of pitap's, each with one of the texts, in order, and nothing else.
func warnings(t *testing.T, stderr []byte, texts ...string) {
	t.Helper()
	lines := strings.SplitAfter(strings.TrimSuffix(string(stderr), "\n"), "\n")
	if len(stderr) == 0 {
		lines = nil
	}
	if len(lines) != len(texts) {
		t.Errorf("stderr is %q, want %d lines", stderr, len(texts))
		return
	}
	for i, text := range texts {
		if !strings.HasPrefix(lines[i], "pitap: ") || !strings.Contains(lines[i], text) {
			t.Errorf("line %d of stderr is %q, want a warning with %q", i+1, lines[i], text)
		}
	}
}

// A capture that can't be created: one line on stderr, and the session goes on; not with --strict.
func TestNoFolderForTheCapture(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	touch(t, file)
	for _, flags := range [][]string{{"--dir", filepath.Join(file, "captures")}, {"-o", filepath.Join(file, "x.jsonl.zst")}, {"-o", "/dev/null"}} {
		f := behind(t)
		f.flags = flags
		s := f.start(zoo.Echo(), zoo.Exit(3))
		s.Send("hello")
		s.Expect("")
		s.Finish(3)
		same(t, "stdout", s.Out.Bytes(), s.In())
		warnings(t, s.Err.Bytes(), "the session goes on without being recorded")

		mark := filepath.Join(t.TempDir(), "mark")
		f.flags = append([]string{"--strict"}, flags...)
		s = f.start(zoo.Touch(mark), zoo.Echo())
		s.Finish(125)
		if exists(mark) {
			t.Errorf("%q: the agent was started, against --strict", f.flags)
		}
		warnings(t, s.Err.Bytes(), "--strict")

		f.flags = append([]string{"--quiet"}, flags...)
		s = f.start(zoo.Echo(), zoo.Exit(3))
		s.Finish(3)
		warnings(t, s.Err.Bytes())
	}
}

// No folder is named anywhere.
func TestNoHome(t *testing.T) {
	t.Parallel()
	f := behind(t)
	cmd := f.command("sh", "-c", "echo hello; exit 4")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "GORACE=atexit_sleep_ms=0"}
	s := pitest.Start(t, cmd, f.stdio)
	s.Finish(4)
	same(t, "stdout", s.Out.Bytes(), []byte("hello\n"))
	warnings(t, s.Err.Bytes(), "the session goes on without being recorded")
}

// The file may not grow any more: what came until then is recorded.
func TestFileTooLarge(t *testing.T) {
	t.Parallel()
	f := behind(t)
	cmd := f.command(f.agent(zoo.Out("first\n"), zoo.Line(), zoo.Noise(1, 200_000), zoo.Digest(), zoo.Exit(5))...)
	shell := exec.Command("sh", append([]string{"-c", `ulimit -f 64; exec "$@"`, "sh"}, cmd.Args...)...) // 32 or 64 KiB
	shell.Env = cmd.Env
	s := pitest.Start(t, shell, f.stdio)
	s.Expect("")
	path := f.onlyCapture()
	eventually(t, "the first line in the capture", func() bool { return len(readNow(t, path).bytes[record.Agent]) > 0 })
	s.Send("go")
	s.Until("the noise", func(out, err []byte) bool { return len(out) == 200_006 })
	s.Finish(5)
	want := append([]byte("first\n"), zoo.Random(1, 200_000)...)
	same(t, "stdout", s.Out.Bytes(), append(want, zoo.Sum(nil)+"\n"...))
	first, _, _ := bytes.Cut(s.Err.Bytes(), []byte("\n")) // at the end the words about the gap may find room
	warnings(t, first, "file too large; the session goes on without being recorded")
	c := readCapture(t, path)
	if len(c.damage) > 0 || !bytes.HasPrefix(c.bytes[record.Agent], []byte("first\n")) {
		t.Errorf("capture: damage %v, %.80q of the agent", c.damage, c.bytes[record.Agent])
	}
	if got := int64(len(c.bytes[record.Agent])) + lostOf(c, record.Agent); c.condition == "" && got != int64(len(s.Out.Bytes())) {
		t.Errorf("capture: called complete, with %d bytes of the agent, %d of them lost; %d came", got, lostOf(c, record.Agent), len(s.Out.Bytes()))
	}
}

// Nobody reads stderr, which is full: a warning doesn't wait.
func TestWarningDoesNotBlock(t *testing.T) {
	t.Parallel()
	f := behind(t)
	s := f.start(zoo.Err(strings.Repeat("x", 100_000)), zoo.Out("{}\n"), zoo.Lines(100_000), zoo.Exit(2))
	s.Err.StopReading()
	s.Expect("")
	old := f.onlyCapture()
	eventually(t, "the first line in the capture", func() bool { return len(readNow(t, old).bytes[record.Agent]) > 0 })
	if err := os.Remove(old); err != nil {
		t.Fatal(err)
	}
	for i := 0; ; i++ {
		if files, _ := filepath.Glob(filepath.Join(f.dir, "*")); len(files) > 0 {
			break // the new capture
		}
		s.Send(fmt.Sprintf(`{"n":%d}`, i))
		s.ExpectFunc("the echo", func(r pitest.Record) bool { return r.Get("n") == float64(i) })
	}
	s.Err.ResumeReading()
	s.Finish(2)
	if c := f.captured(); c.condition != "" || c.notes("gap") != 1 {
		t.Errorf("capture: %q, %d gaps", c.condition, c.notes("gap"))
	}
	if n := bytes.Count(s.Err.Bytes(), []byte("x")); n != 100_000 {
		t.Errorf("%d bytes of the agent's on stderr, want 100000", n)
	}
}
