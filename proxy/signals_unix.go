//go:build unix && !linux

package proxy

import (
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// passed are the signals that are passed on.
func passed() []syscall.Signal {
	return []syscall.Signal{unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGUSR1, unix.SIGUSR2,
		unix.SIGALRM, unix.SIGWINCH, unix.SIGCONT, unix.SIGABRT, unix.SIGTSTP}
}

// ignored tells whether a signal was ignored when the program started.
func ignored(s syscall.Signal) bool { return signal.Ignored(s) }

func realtimeName(s syscall.Signal) string { return "signal " + strconv.Itoa(int(s)) }

// agentAttr says how the agent is started: in a group of its own. When this process is killed the agent sees the end of
// its input.
func agentAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// stopSelf stops this process; it returns when the process goes on.
func stopSelf() { unix.Kill(unix.Getpid(), unix.SIGSTOP) }

// Die ends this process by a signal, as near to its default action as the Go runtime allows. It returns if the process
// is still alive.
func Die(sig os.Signal) {
	s, ok := sig.(syscall.Signal)
	if !ok {
		return
	}
	unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
	signal.Reset(s)
	unix.Kill(unix.Getpid(), s)
}

// detachedAttr says how the detached copy is started: in a session of its own.
func detachedAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
