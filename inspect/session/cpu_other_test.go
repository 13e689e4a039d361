//go:build !unix

package session

import "time"

var began = time.Now()

// used is the time since the tests began, where that of the processor is not known.
func used() time.Duration { return time.Since(began) }
