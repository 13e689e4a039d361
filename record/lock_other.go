//go:build !unix

package record

import (
	"errors"
	"os"
)

// Lock marks a capture as live where the system can; here it can't.
func Lock(f *os.File) error { return errors.ErrUnsupported }

// Locked tells whether some recorder holds the lock of the file; here that is not known.
func Locked(f *os.File) (locked, known bool) { return false, false }
