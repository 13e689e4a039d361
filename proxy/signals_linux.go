package proxy

import (
	"os"
	"runtime"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Real-time signals that programs may use. The first can't be caught: the Go runtime leaves it to C libraries.
const (
	firstRealtime = 34
	lastRealtime  = 64
)

// passed are the signals that are passed on. TTIN and TTOU keep their default, which stops the process: caught, they
// would come again at each read.
func passed() []syscall.Signal {
	signals := []syscall.Signal{unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGUSR1, unix.SIGUSR2, unix.SIGALRM,
		unix.SIGWINCH, unix.SIGCONT, unix.SIGABRT, unix.SIGTSTP}
	for n := firstRealtime + 1; n <= lastRealtime; n++ {
		signals = append(signals, syscall.Signal(n))
	}
	return signals
}

// ignored tells whether a signal was ignored when the program started. That can be seen of those that the Go runtime
// does not catch from the start.
func ignored(s syscall.Signal) bool {
	var now sigaction
	_, _, e := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(s), 0, uintptr(unsafe.Pointer(&now)), 8, 0, 0)
	return e == 0 && now.handler == sigIgn
}

const sigIgn = 1 // SIG_IGN

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
	runtime.LockOSThread() // its mask is changed
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
