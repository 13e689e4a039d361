//go:build unix && !linux

package proxy

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// pipeAtomic is how much a pipe that polls writable takes without blocking.
const pipeAtomic = 512

// reopen opens what fd is open on a second time; here that is not possible: /dev/fd shares the open file.
func reopen(int) (int, error) { return -1, unix.ENOTSUP }

// sendNow writes to a socket without blocking.
func sendNow(fd int, b []byte) (int, error) {
	return unix.SendmsgN(fd, b, nil, nil, unix.MSG_DONTWAIT)
}

// descriptors is a folder that lists the process's open descriptors.
const descriptors = "/dev/fd"

func dup2(from, to int) error { return unix.Dup2(from, to) }

func pipe() (r, w int, err error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	var p [2]int
	if err := unix.Pipe(p[:]); err != nil {
		return -1, -1, err
	}
	unix.CloseOnExec(p[0])
	unix.CloseOnExec(p[1])
	return p[0], p[1], nil
}

// memoryFile makes a file without a name.
func memoryFile() (*os.File, error) {
	f, err := os.CreateTemp("", "pitap-")
	if err != nil {
		return nil, err
	}
	os.Remove(f.Name())
	return f, nil
}
