//go:build unix

package pitest

import (
	"os"
	"syscall"
)

// socketPair returns two connected stream sockets, ours for this process and theirs for a child. They are as Node makes
// them for the children it spawns: ours does not block, theirs does.
func socketPair() (ours, theirs *os.File, err error) {
	syscall.ForkLock.RLock() // no child may be forked before the descriptors are marked
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(fds[0])
		syscall.CloseOnExec(fds[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	if err := syscall.SetNonblock(fds[0], true); err != nil {
		syscall.Close(fds[0])
		syscall.Close(fds[1])
		return nil, nil, os.NewSyscallError("fcntl", err)
	}
	return os.NewFile(uintptr(fds[0]), "|0"), os.NewFile(uintptr(fds[1]), "|1"), nil
}
