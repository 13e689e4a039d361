package record

import (
	"fmt"
	"io"
	"os"
	"time"
)

// Capture is an open capture file.
type Capture struct {
	*Reader
	Path string
	file *os.File

	spare, last []byte // of Last
	lastUnit    int64  // of the entry that it found
}

// Open opens a capture for reading.
func Open(path string) (*Capture, error) {
	info, err := os.Stat(path) // to open a pipe might wait for its writer
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: not a file: a capture is read from a file, not from a pipe or folder", path)
	}
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return &Capture{Reader: NewReader(f, func() (int64, error) { return fileSize(f) }), Path: path, file: f}, nil
}

func fileSize(f *os.File) (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// Close closes the file.
func (c *Capture) Close() error { return c.file.Close() }

// File is the open file.
func (c *Capture) File() *os.File { return c.file }

// Size returns the size of the file in bytes.
func (c *Capture) Size() int64 {
	size, _ := fileSize(c.file)
	return size
}

// Live tells whether a recorder is still writing the capture.
func (c *Capture) Live() bool {
	locked, known := Locked(c.file)
	if known {
		return locked
	}
	h, err := c.Header()
	return err == nil && !c.Ended() && h.alive()
}

// alive tells whether the process that wrote the header runs, where locks can't tell: same host, same boot, and a
// process of that number.
func (h *Header) alive() bool {
	host, _ := os.Hostname()
	return h.Host == host && h.Boot == BootID() && h.PID > 0 && processExists(h.PID)
}

// BootID identifies this boot of the system, "" where that is not known.
func BootID() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil || len(b) < 36 {
		return ""
	}
	return string(b[:36])
}

// Follow makes Next wait for more entries as long as the capture is live, or until stop is closed. What the recorder
// flushed is seen within a few milliseconds.
func (c *Capture) Follow(stop <-chan struct{}) {
	ended := false
	c.Wait = func() bool {
		if c.Ended() || ended {
			return false
		}
		timer := time.NewTimer(10 * time.Millisecond)
		defer timer.Stop()
		select {
		case <-stop:
			return false
		case <-timer.C:
		}
		ended = !c.Live() // then look once more for what was written before it ended
		return true
	}
}

// Condition says in words how a capture ends: "" when it is whole. To be asked when all entries were read.
func (c *Capture) Condition() string {
	switch {
	case c.Ended(), c.header != nil && c.header.Cut != "" && !c.Torn(): // a fixture needs no end note
		return ""
	case c.Live():
		return "live: still being recorded"
	case c.Torn():
		cond := "cut: it stops where its recorder was stopped; what was written until then is read"
		switch n := c.Unchecked(); {
		case n == 1:
			cond += ", and no checksum covers the last entry"
		case n > 1:
			cond += fmt.Sprintf(", and no checksum covers the last %d entries", n)
		}
		return cond
	}
	return "cut: there is no end note"
}

// Last returns the last entry of a capture without reading all of it. ok is false when there is no entry. The entry is
// valid until the next call of any method. What was found damaged on the way, Damage and Torn tell.
func (c *Capture) Last() (e *Entry, ok bool) {
	size := c.Size()
	if rows, err := ReadIndex(c.file, size); err == nil && len(rows) > 0 {
		r, ok := c.lastEntry(rows[len(rows)-1].Off, size)
		if ok && len(r.damage) == 0 { // the index has told the truth
			c.lastUnit = r.unit
			return &r.entry, true
		}
	}
	starts := frameStarts(c.file, size)
	for i := len(starts) - 1; i >= 0; i-- {
		r, ok := c.lastEntry(starts[i], size)
		c.torn = c.torn || r.torn
		c.damage = append(c.damage, r.damage...)
		if ok {
			c.lastUnit = r.unit
			return &r.entry, true
		}
		size = starts[i]
	}
	return nil, false
}

// frameStarts walks over the frames with content, to the first that is damaged or not whole. There is one at least: it
// may turn out to be none.
func frameStarts(src io.ReaderAt, size int64) []int64 {
	starts := []int64{0}
	for off := int64(0); off < size; {
		s, err := walk(src, off, size)
		if err != nil {
			break
		}
		if !s.skippable && off > 0 {
			starts = append(starts, off)
		}
		if !s.whole {
			break
		}
		off = s.end
	}
	return starts
}

// lastEntry returns a reader that has read the last entry between the offsets from, where a frame begins, and size.
func (c *Capture) lastEntry(from, size int64) (r *Reader, ok bool) {
	start := func() {
		r = NewReader(c.file, func() (int64, error) { return size, nil })
		r.buf, r.header = c.spare[:0], &Header{Pitap: Version}
		if r.limit = size; from > 0 && r.detect() {
			r.seek(from, -1)
		}
	}
	start()
	defer func() { c.spare = r.buf }()
	c.last = c.last[:0]
	for {
		line, ok := r.line()
		if !ok {
			break
		}
		if !blankLine(line) {
			c.last = append(c.last[:0], line...)
		}
	}
	if r.last() || r.dec.parse(c.last, &r.entry) == nil && r.entry.N > 0 {
		return r, true
	}
	// The last line is no entry, or has no number: count.
	again := func() {
		if start(); from == 0 {
			r.header = nil // it is no entry
		}
	}
	n := 0
	for again(); r.Next(); {
		n++
	}
	again()
	for range n {
		ok = r.Next()
	}
	return r, ok
}
