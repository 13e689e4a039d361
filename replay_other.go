//go:build !unix

package main

import (
	"os"
	"os/exec"
	"os/signal"
)

// watchProcess tells what happens to this process: an interrupt. That the reader of out has gone is seen at a write.
func watchProcess(*os.File) (signals <-chan string, gone <-chan struct{}, stop func()) {
	caught, names, done := make(chan os.Signal, 16), make(chan string), make(chan struct{})
	signal.Notify(caught, os.Interrupt)
	go func() {
		for {
			select {
			case <-caught:
				select {
				case names <- "SIGINT":
				case <-done:
					return
				}
			case <-done:
				return
			}
		}
	}()
	return names, nil, func() {
		signal.Stop(caught)
		close(done)
	}
}

// dieBy ends as near to a signal as the system knows.
func dieBy(string) error { return statusError{status: statusNo} }

// inGroup has a command killed when its time is over; what it started may stay.
func inGroup(*exec.Cmd) {}

// processRuns tells whether there is a process of that number.
func processRuns(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	p.Release()
	return true
}

// kept is the same open file.
func kept(f *os.File) *os.File { return f }
