package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// unread gives what tells how many bytes in a pipe or socket its reader has not taken yet; nil where that can't be told.
func unread(out *os.File) func() int {
	fd := int(out.Fd())
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil {
		return nil
	}
	request := uint(unix.TIOCINQ) // FIONREAD by another name
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFIFO:
	case unix.S_IFSOCK:
		request = unix.TIOCOUTQ
	default:
		return nil
	}
	return func() int {
		n, err := unix.IoctlGetInt(fd, request)
		if err != nil {
			return 0
		}
		return n
	}
}
