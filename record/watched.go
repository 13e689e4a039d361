package record

import (
	"errors"
	"io"
	"sync/atomic"
)

// calls counts the calls of a file, each when it begins and when it ends: it is odd during one. One number that stays and
// is odd means a file that hangs; the recorder's goroutine alone counts.
type calls struct{ atomic.Int64 }

// during runs f, a call of the file.
func (c *calls) during(f func()) {
	c.Add(1)
	f()
	c.Add(1)
}

// watched is a file whose calls are counted. What the file below can't do, it says with errors.ErrUnsupported.
type watched struct {
	File
	calls *calls
}

func (w watched) WriteAt(p []byte, off int64) (n int, err error) {
	w.calls.during(func() { n, err = w.File.WriteAt(p, off) })
	return n, err
}

func (w watched) Truncate(size int64) (err error) {
	w.calls.during(func() { err = w.File.Truncate(size) })
	return err
}

func (w watched) Sync() (err error) {
	w.calls.during(func() { err = w.File.Sync() })
	return err
}

func (w watched) Seek(offset int64, whence int) (at int64, err error) {
	f, ok := w.File.(io.Seeker)
	if !ok {
		return 0, errors.ErrUnsupported
	}
	w.calls.during(func() { at, err = f.Seek(offset, whence) })
	return at, err
}

func (w watched) ReadAt(p []byte, off int64) (n int, err error) {
	f, ok := w.File.(io.ReaderAt)
	if !ok {
		return 0, errors.ErrUnsupported
	}
	w.calls.during(func() { n, err = f.ReadAt(p, off) })
	return n, err
}
