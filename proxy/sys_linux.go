package proxy

import (
	"os"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// pipeAtomic is how much a pipe that polls writable takes without blocking.
const pipeAtomic = 4096

// reopen opens what fd is open on a second time, non-blocking.
func reopen(fd int) (int, error) {
	return unix.Open("/proc/self/fd/"+strconv.Itoa(fd), unix.O_WRONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
}

// sendNow writes to a socket without blocking and without SIGPIPE.
func sendNow(fd int, b []byte) (int, error) {
	n, _, e := unix.Syscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)),
		unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, 0, 0)
	if e != 0 {
		return 0, e
	}
	return int(n), nil
}

// descriptors is a folder that lists the process's open descriptors.
const descriptors = "/proc/self/fd"

func dup2(from, to int) error { return unix.Dup3(from, to, 0) }

func pipe() (r, w int, err error) {
	var p [2]int
	if err := unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
		return -1, -1, os.NewSyscallError("pipe", err)
	}
	return p[0], p[1], nil
}

// memoryFile makes a file without a name.
func memoryFile() (*os.File, error) {
	fd, err := unix.MemfdCreate("pitap", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	return os.NewFile(uintptr(fd), "state"), nil
}
