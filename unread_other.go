//go:build !linux

package main

import "os"

// unread would tell how many bytes its reader has not taken yet; here that is not known.
func unread(*os.File) func() int { return nil }
