//go:build unix

package main

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"

	"pitap/proxy"
)

// watchProcess tells what happens to this process: signals by name, and that the reader of out has gone. A signal that
// was ignored when the program started stays ignored.
func watchProcess(out *os.File) (signals <-chan string, gone <-chan struct{}, stop func()) {
	caught := make(chan os.Signal, 16)
	for _, s := range []os.Signal{unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGUSR1, unix.SIGUSR2, unix.SIGALRM,
		unix.SIGWINCH, unix.SIGCONT} {
		if !signal.Ignored(s) {
			signal.Notify(caught, s)
		}
	}
	signal.Ignore(unix.SIGPIPE) // a write tells
	names := make(chan string)
	done := make(chan struct{})
	go func() {
		for {
			select {
			case s := <-caught:
				select {
				case names <- unix.SignalName(s.(syscall.Signal)):
				case <-done:
					return
				}
			case <-done:
				return
			}
		}
	}()
	closed := make(chan struct{})
	fd := []unix.PollFd{{Fd: int32(out.Fd())}}
	go func() { // ends with the process
		for {
			n, err := unix.Poll(fd, -1)
			if err != nil && err != unix.EINTR {
				return
			}
			if n > 0 {
				if fd[0].Revents&unix.POLLNVAL == 0 {
					close(closed)
				}
				return
			}
		}
	}()
	return names, closed, func() {
		signal.Stop(caught)
		close(done)
	}
}

// dieBy ends this process by the signal of that name, as the recorded agent ended.
func dieBy(name string) error {
	s := unix.SignalNum(name)
	if s == 0 {
		return statusError{status: statusNo}
	}
	proxy.Die(s)
	return statusError{status: 128 + int(s)}
}

// processRuns tells whether there is a process of that number.
func processRuns(pid int) bool {
	err := unix.Kill(pid, 0)
	return err == nil || err == unix.EPERM
}

// inGroup has a command run in a process group of its own, all of which is killed when its time is over.
func inGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return unix.Kill(-cmd.Process.Pid, unix.SIGKILL) }
}

// kept is the same open file, which stays when the proxy closes the other one.
func kept(f *os.File) *os.File {
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return f
	}
	return os.NewFile(uintptr(fd), f.Name())
}
