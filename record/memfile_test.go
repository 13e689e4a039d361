package record

import (
	"errors"
	"io"
	"slices"
	"sync"
)

// memFile is a capture file in memory, with a hook to make it fail.
type memFile struct {
	mu    sync.Mutex
	data  []byte
	syncs int
	// write, if it is set, is asked before each WriteAt: it may block, and returns how many of the bytes are written
	// before err.
	write    func(p []byte, off int64) (n int, err error)
	truncate func(size int64) error
	sync     func() error
}

func (f *memFile) WriteAt(p []byte, off int64) (int, error) {
	n, err := len(p), error(nil)
	f.mu.Lock()
	hook := f.write
	f.mu.Unlock()
	if hook != nil {
		n, err = hook(p, off)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if grow := off + int64(n) - int64(len(f.data)); n > 0 && grow > 0 {
		f.data = append(f.data, make([]byte, grow)...)
	}
	copy(f.data[min(off, int64(len(f.data))):], p[:n])
	return n, err
}

func (f *memFile) Truncate(size int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.truncate != nil {
		if err := f.truncate(size); err != nil {
			return err
		}
	}
	if size > int64(len(f.data)) {
		return errors.New("truncated to more than there is")
	}
	f.data = f.data[:size]
	return nil
}

func (f *memFile) Sync() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.syncs++
	if f.sync != nil {
		return f.sync()
	}
	return nil
}

func (f *memFile) ReadAt(p []byte, off int64) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if off >= int64(len(f.data)) {
		return 0, io.EOF
	}
	n := copy(p, f.data[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *memFile) size() (int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return int64(len(f.data)), nil
}

// Seek tells the size, as a file does.
func (f *memFile) Seek(offset int64, whence int) (int64, error) {
	if offset != 0 || whence != io.SeekEnd {
		return 0, errors.New("seeks to the end alone")
	}
	return f.size()
}

// bytes returns a copy of what is in the file now.
func (f *memFile) bytes() []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.data)
}

func (f *memFile) set(change func(*memFile)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(f)
}
