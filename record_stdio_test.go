//go:build linux

package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"pitap/internal/pitest"
	"pitap/internal/zoo"
)

func TestFilesAsStdio(t *testing.T) {
	both(t, func(t *testing.T, f *front) {
		work := t.TempDir()
		input := zoo.Random(1, 300_001)
		if err := os.WriteFile(filepath.Join(work, "in"), input, 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := f.command(f.agent(zoo.Err("words\n"), zoo.Echo(), zoo.Out("end\n"), zoo.Exit(3))...)
		// opened by a shell, one of them for appending
		shell := exec.Command("sh", append([]string{"-c", `echo before >err; "$@" <in >out 2>>err`, "sh"}, cmd.Args...)...)
		shell.Dir, shell.Env = work, cmd.Env
		launch(t, shell).wait(3)
		want := append(bytes.Clone(input), "end\n"...)
		same(t, "stdout", []byte(readFile(t, filepath.Join(work, "out"))), want)
		same(t, "stderr", []byte(readFile(t, filepath.Join(work, "err"))), []byte("before\nwords\n"))
		f.captured().whole(input, want, []byte("words\n"))
	})
}

// Streams that are closed when the agent starts, or lead nowhere.
func TestNoStdio(t *testing.T) {
	for _, redirect := range []string{"<&- >&- 2>&-", "<&-", ">&-", "2>&-", "<&- >&-", "</dev/null >/dev/null 2>/dev/null"} {
		t.Run(redirect, func(t *testing.T) {
			both(t, func(t *testing.T, f *front) {
				mark := f.file("mark")
				cmd := f.command(f.agent(zoo.Out("{}\n"), zoo.Err("words\n"), zoo.EOF(), zoo.Touch(mark), zoo.Exit(3))...)
				shell := exec.Command("sh", append([]string{"-c", `exec "$@" ` + redirect, "sh"}, cmd.Args...)...)
				shell.Env = cmd.Env
				launch(t, shell).wait(3)
				if !exists(mark) {
					t.Error("the agent did not come to its end")
				}
				f.captured().whole(nil, []byte("{}\n"), []byte("words\n"))
			})
		})
	}
}

// One pipe for stdout and stderr.
func TestStderrToStdout(t *testing.T) {
	both(t, func(t *testing.T, f *front) {
		cmd := f.command(f.agent(zoo.Out("one\n"), zoo.Line(), zoo.Err("two\n"), zoo.Line(), zoo.Out("three\n"), zoo.Exit(3))...)
		shell := exec.Command("sh", append([]string{"-c", `exec "$@" 2>&1`, "sh"}, cmd.Args...)...)
		shell.Env = cmd.Env
		s := pitest.Start(t, shell, f.stdio)
		s.Expect("")
		s.Send("a")
		s.Expect("")
		s.Send("b")
		s.Wait(3)
		s.WaitForEnd()
		same(t, "both", s.Out.Bytes(), []byte("one\ntwo\nthree\n"))
		f.captured().whole([]byte("a\nb\n"), []byte("one\nthree\n"), []byte("two\n"))
	})
}

// One socket for all three, as a network server passes it.
func TestOneSocket(t *testing.T) {
	both(t, func(t *testing.T, f *front) {
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		unix.SetNonblock(pair[0], true)
		ours, theirs := os.NewFile(uintptr(pair[0]), "socket"), os.NewFile(uintptr(pair[1]), "socket")
		defer ours.Close()
		cmd := f.command(f.agent(zoo.Echo(), zoo.Out("end\n"), zoo.Exit(3))...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs, theirs, theirs
		p := launch(t, cmd)
		theirs.Close()
		sent := zoo.Random(2, 100_000)
		go func() {
			ours.Write(sent)
			unix.Shutdown(pair[0], unix.SHUT_WR)
		}()
		got, err := io.ReadAll(ours)
		if err != nil && !errors.Is(err, syscall.ECONNRESET) {
			t.Error(err)
		}
		want := append(bytes.Clone(sent), "end\n"...)
		same(t, "what came back", got, want)
		p.wait(3)
		f.captured().whole(sent, want, nil)
	})
}

// A client of another user: its pipes can't be opened a second time.
func TestPipesOfAnotherUser(t *testing.T) {
	if unix.Geteuid() != 0 {
		t.Skip("only root can be another user")
	}
	t.Parallel()
	f := behind(t)
	self, err := filepath.EvalSymlinks(filepath.Join(f.bin, "pitap"))
	if err != nil {
		t.Fatal(err)
	}
	// The test binary lies in a folder that only root can enter.
	content, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	work := t.TempDir()
	for _, dir := range []string{filepath.Dir(work), work, f.dir} { // the first is the test's own
		if err := os.Chmod(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	program(t, filepath.Join(work, "pitap"), string(content), 0o755)
	if err := os.Link(filepath.Join(work, "pitap"), filepath.Join(work, "zoo")); err != nil {
		t.Fatal(err)
	}
	f.bin = work
	cmd := f.command(f.agent(zoo.Echo(), zoo.Flood(1000, 1000), zoo.Err("words\n"), zoo.Broken(1), zoo.Exit(3))...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	s := pitest.Start(t, cmd, f.stdio)
	sent := zoo.Random(3, 300_000)
	s.SendBytes(sent)
	s.CloseStdin()
	s.Until("all", func(out, err []byte) bool { return len(out) == 1_300_000 && len(err) > 0 })
	s.CloseStdout()
	s.Wait(3)
	same(t, "stdout", s.Out.Bytes(), append(sent, zoo.Records(1000, 1000)...))
	f.captured().session(s)
}

// A named pipe, which has no reader for a while.
func TestNamedPipe(t *testing.T) {
	both(t, func(t *testing.T, f *front) {
		fifo := filepath.Join(t.TempDir(), "fifo")
		if err := unix.Mkfifo(fifo, 0o600); err != nil {
			t.Fatal(err)
		}
		both, err := os.OpenFile(fifo, os.O_RDWR, 0) // reader and writer
		if err != nil {
			t.Fatal(err)
		}
		cmd := f.command(f.agent(zoo.Out("one\n"), zoo.Broken(1), zoo.Exit(3))...)
		cmd.Stdout, err = os.OpenFile(fifo, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		p := launch(t, cmd)
		b := make([]byte, 10)
		if n, err := both.Read(b); string(b[:n]) != "one\n" {
			t.Errorf("%q, %v", b[:n], err)
		}
		cmd.Stdout.(*os.File).Close()
		both.Close()
		p.wait(3)
	})
}
