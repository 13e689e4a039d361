//go:build unix

package record

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Lock marks a capture as live. The lock belongs to the open file, also in a process that inherits it, and ends when
// the last of them closes it. A reader that looks whether the file is locked holds it for a moment: then Lock tries
// again for a tenth of a second.
func Lock(f *os.File) error {
	for deadline := time.Now().Add(100 * time.Millisecond); ; {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil || time.Now().After(deadline) || !(errors.Is(err, unix.EWOULDBLOCK) || errors.Is(err, unix.EINTR)) {
			return err
		}
		time.Sleep(time.Millisecond)
	}
}

// Locked tells whether some recorder holds the lock of the file. known is false where locks do not work.
func Locked(f *os.File) (locked, known bool) {
	err := unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB)
	switch {
	case err == nil:
		unix.Flock(int(f.Fd()), unix.LOCK_UN)
		return false, true
	case errors.Is(err, unix.EWOULDBLOCK):
		return true, true
	}
	return false, false
}
