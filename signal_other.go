//go:build !unix

package main

import "os"

func signalNumber(os.Signal) int { return 1 }
