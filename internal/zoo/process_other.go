//go:build unix && !linux

package zoo

import "golang.org/x/sys/unix"

// Alive tells whether there is a process.
func Alive(pid int) bool { return unix.Kill(pid, 0) == nil }
