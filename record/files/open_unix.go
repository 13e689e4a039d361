//go:build unix

package files

import "syscall"

// openFlags keep an open from following a link and from waiting for a pipe's writer.
const openFlags = syscall.O_NOFOLLOW | syscall.O_NONBLOCK
