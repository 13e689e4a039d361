//go:build unix

package main

import (
	"errors"
	"syscall"

	"pitap/proxy"
)

// become replaces this process by a program, as execvp does; it returns only when that fails.
func become(path string, argv, env []string) error {
	err := syscall.Exec(path, argv, env)
	if errors.Is(err, syscall.ENOEXEC) { // a script without #!
		err = syscall.Exec("/bin/sh", append([]string{"sh", path}, argv[1:]...), env)
	}
	status := proxy.StatusNotExecutable
	if errors.Is(err, syscall.ENOENT) {
		status = proxy.StatusNotFound
	}
	return statusError{status, &proxy.FindError{Name: path, Status: status, Err: err}}
}
