//go:build linux

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

	"golang.org/x/sys/unix"

	"pitap/internal/pitest"
	"pitap/internal/zoo"
)

// What the agent is given is what it is given without pitap.
func TestAgentInheritsTheSame(t *testing.T) {
	t.Parallel()
	const look = `tr '\0' '\n' </proc/self/environ | LC_ALL=C sort; pwd; ulimit -a; umask; nice
grep -E '^(Umask|Groups|Sig(Blk|Ign|Pnd)|ShdPnd|Cap|NoNewPrivs|Seccomp|Cpus_allowed|Speculation|THP)' /proc/self/status
cut -d' ' -f6,7 /proc/self/stat; echo "$0" "$@"; ls /proc/$$/fd`
	f := behind(t)
	work := t.TempDir()
	run := func(recorded bool) string {
		f.recorded = recorded
		cmd := f.command("sh", "-c", look, "name", "", "two words", "a\nb", "\xff", "-x", "--", "--help")
		shell := exec.Command("sh", append([]string{"-c", `ulimit -S -n 123; ulimit -c 0; umask 027; trap "" HUP; exec nice -n 3 "$@"`, "sh"}, cmd.Args...)...)
		shell.Dir = work
		shell.Env = append(cmd.Env, "NAME=with = in it", "EMPTY=", "ODD=\xff")
		out, err := shell.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}
	if alone, recorded := run(false), run(true); alone != recorded {
		t.Errorf("alone:\n%s\nrecorded:\n%s", alone, recorded)
	}
}

// Descriptors that the client passes besides the three reach the agent, and pitap holds none of them: the client sees
// their end when the agent closes them.
func TestPassedDescriptors(t *testing.T) {
	both(t, func(t *testing.T, f *front) {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		cmd := f.command("sh", "-c", "echo open; echo hello >&3; read x; exec 3>&-; echo closed; read x; exit 3")
		cmd.ExtraFiles = []*os.File{w}
		s := pitest.Start(t, cmd, f.stdio)
		w.Close()
		s.Expect("")
		b := make([]byte, 10)
		if n, err := r.Read(b); string(b[:n]) != "hello\n" {
			t.Fatalf("descriptor 3 gives %q, %v", b[:n], err)
		}
		s.Send("close it")
		s.Expect("")
		ended := make(chan error, 1)
		go func() {
			_, err := r.Read(b)
			ended <- err
		}()
		eventually(t, "the end of descriptor 3", func() bool { return len(ended) > 0 })
		s.Send("exit")
		s.Wait(3)
	})
}

// Signals that were blocked stay blocked in the agent; not those that the Go runtime takes to be deadly.
func TestBlockedSignals(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("needs python3 to block a signal")
	}
	both(t, func(t *testing.T, f *front) {
		cmd := f.command("grep", "SigBlk", "/proc/self/status")
		block := exec.Command("python3", append([]string{"-c", "import os, signal, sys\n" +
			"signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1, signal.SIGWINCH])\nos.execvp(sys.argv[1], sys.argv[1:])"}, cmd.Args...)...)
		block.Env = cmd.Env
		s := pitest.Start(t, block, f.stdio)
		s.Wait(0)
		s.WaitForEnd()
		want := fmt.Sprintf("SigBlk:\t%016x\n", 1<<(unix.SIGUSR1-1)|1<<(unix.SIGWINCH-1))
		if string(s.Out.Bytes()) != want {
			t.Errorf("%q, want %q", s.Out.Bytes(), want)
		}
	})
}

// ps shows nothing of what may be secret.
func TestArgumentsAreHidden(t *testing.T) {
	t.Parallel()
	f := behind(t)
	f.flags = []string{"--name", "private-label"}
	s := pitest.Start(t, f.command(f.agent(zoo.Out("ready\n"), zoo.EOF(), "exit:0", "secret-token")...), f.stdio)
	s.Expect("")
	line, err := os.ReadFile("/proc/" + strconv.Itoa(s.Pid()) + "/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	name, rest, _ := bytes.Cut(line, []byte{0})
	if filepath.Base(string(name)) != "pitap" || len(bytes.Trim(rest, "\x00")) > 0 {
		t.Errorf("cmdline is %q", line)
	}
	s.Finish(0)
	c := f.captured()
	c.session(s)
	if c.header.Label != "private-label" || c.header.Argv[len(c.header.Argv)-1] != "secret-token" {
		t.Errorf("header: label %q, argv %q: damaged by the hiding", c.header.Label, c.header.Argv)
	}
}

// What an agent does to its descriptors does not touch those of the client, nor does pitap.
func TestClientsDescriptorsStayBlocking(t *testing.T) {
	t.Parallel()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	tty := zoo.NewTerminal(t)
	peer := os.NewFile(uintptr(pair[0]), "peer")
	defer peer.Close()
	f := behind(t)
	cmd := f.command(f.agent(zoo.Nonblock(0), zoo.Nonblock(1), zoo.Nonblock(2), zoo.Out("ready\n"), zoo.Err("words\n"), zoo.Line(), zoo.Die(unix.SIGKILL))...)
	stdin, stdout, stderr := os.NewFile(uintptr(pair[1]), ""), tty.Slave, os.NewFile(uintptr(pipe[1]), "")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, stderr
	blocking := func(when string) {
		for i, fd := range []int{pair[1], int(tty.Slave.Fd()), pipe[1], pipe[0], pair[0]} {
			flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
			if err != nil || flags&unix.O_NONBLOCK != 0 {
				t.Errorf("descriptor %d %s: flags %#x, %v", i, when, flags, err)
			}
		}
	}
	for _, fd := range []int{pair[0], int(tty.Slave.Fd())} {
		unix.SetNonblock(fd, false)
	}
	p := launch(t, cmd)
	tty.Expect("ready\r\n")
	b := make([]byte, 16)
	if n, _ := unix.Read(pipe[0], b); string(b[:n]) != "words\n" {
		t.Errorf("stderr gives %q", b[:n])
	}
	blocking("while the agent runs")
	if _, err := unix.Write(pair[0], []byte("end\n")); err != nil {
		t.Fatal(err)
	}
	p.wait(-int(syscall.SIGKILL))
	blocking("at the end")
	stdin.Close()
	stderr.Close()
	unix.Close(pipe[0])
}
