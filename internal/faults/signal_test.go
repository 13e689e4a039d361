//go:build linux

package faults

import "syscall"

var caught = []syscall.Signal{syscall.SIGHUP, syscall.SIGTERM}
