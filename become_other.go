//go:build !unix

package main

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"

	"pitap/proxy"
)

// become runs a program in this process's place: there is no exec here, so its end is waited for.
func become(path string, argv, env []string) error {
	signal.Notify(make(chan os.Signal, 1), os.Interrupt) // the program shares the console and gets it, too
	cmd := exec.Command(path)
	cmd.Args, cmd.Env = argv, env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &exit):
		return statusError{status: exit.ExitCode()}
	}
	return statusError{proxy.StatusNotExecutable, &proxy.FindError{Name: path, Status: proxy.StatusNotExecutable, Err: err}}
}
