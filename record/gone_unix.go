//go:build unix

package record

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Gone returns an error that wraps ErrGone when the file was removed.
func Gone(f *os.File) error {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return err
	}
	if st.Nlink == 0 {
		return fmt.Errorf("%s was removed: %w", f.Name(), ErrGone)
	}
	return nil
}
