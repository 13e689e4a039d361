//go:build unix

package main

import (
	"os"
	"syscall"
)

func signalNumber(s os.Signal) int { return int(s.(syscall.Signal)) }
