package proxy

import (
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Real-time signals that programs may use; those below are taken by C libraries and by Go.
const (
	firstRealtime = 34
	lastRealtime  = 64
)

// catch starts to catch the signals that are passed on. One that was ignored when the program started stays ignored,
// here and in the agent. TTIN and TTOU keep their default, which stops the process: caught, they would come again at
// each read.
func catch() chan os.Signal {
	c := make(chan os.Signal, 64)
	signals := []os.Signal{unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGUSR1, unix.SIGUSR2, unix.SIGALRM,
		unix.SIGWINCH, unix.SIGCONT, unix.SIGABRT, unix.SIGTSTP}
	for n := firstRealtime; n <= lastRealtime; n++ {
		signals = append(signals, syscall.Signal(n))
	}
	for _, s := range signals {
		if !signal.Ignored(s) {
			signal.Notify(c, s)
		}
	}
	return c
}

func realtimeName(s syscall.Signal) string {
	if s >= firstRealtime && s <= lastRealtime {
		return "SIGRTMIN+" + strconv.Itoa(int(s)-firstRealtime)
	}
	return "signal " + strconv.Itoa(int(s))
}

// agentAttr says how the agent is started: in a group of its own, and killed when this process is killed.
func agentAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// sigaction is the kernel's struct sigaction on the platforms that Go supports, but for mips.
type sigaction struct {
	handler, flags, restorer uintptr
	mask                     uint64
}

// setAction sets what the kernel does at a signal, past the Go runtime, and returns what it did before.
func setAction(s syscall.Signal, a sigaction) (old sigaction, err error) {
	_, _, e := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(s), uintptr(unsafe.Pointer(&a)), uintptr(unsafe.Pointer(&old)), 8, 0, 0)
	if e != 0 {
		return old, e
	}
	return old, nil
}

// stopSelf stops this process as SIGTSTP does by default; it returns when the process goes on.
func stopSelf() {
	old, err := setAction(unix.SIGTSTP, sigaction{})
	if err != nil {
		unix.Kill(unix.Getpid(), unix.SIGSTOP)
		return
	}
	unix.Tgkill(unix.Getpid(), unix.Gettid(), unix.SIGTSTP)
	setAction(unix.SIGTSTP, old)
}

// Die ends this process by a signal's default action, without a core file or a word from the Go runtime: the parent sees
// that the agent died of it. It returns if the process is still alive, as the first process of a container is.
func Die(sig os.Signal) {
	s, ok := sig.(syscall.Signal)
	if !ok {
		return
	}
	unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
	unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
	if s != unix.SIGKILL && s != unix.SIGSTOP {
		if _, err := setAction(s, sigaction{}); err != nil {
			return
		}
	}
	var none unix.Sigset_t
	unix.PthreadSigmask(unix.SIG_SETMASK, &none, nil)
	unix.Kill(unix.Getpid(), s)
	unix.Tgkill(unix.Getpid(), unix.Gettid(), s)
}

// detachedAttr says how the detached copy is started: in a session of its own.
func detachedAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
