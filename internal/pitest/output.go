package pitest

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"time"
)

// Output is what an agent writes to its stdout or stderr.
type Output struct {
	c    *Conversation
	name string
	file *os.File

	// Guarded by c.mu.
	bytes     []byte   // only ever appended to, so that older slices of it stay as they are
	records   []Record // the lines in bytes; only of stdout
	lineStart int      // where in bytes the last line, which has no end yet, begins
	scanned   int      // where in bytes the search for its end goes on
	ended     bool
	err       error // why it ended: io.EOF, or os.ErrClosed when we closed it
	stopped   bool  // StopReading was called
	parked    bool  // the reader has stopped
	closed    bool
}

// Bytes is the exact bytes that have come so far. They must not be changed.
func (o *Output) Bytes() []byte {
	o.c.mu.Lock()
	defer o.c.mu.Unlock()
	return slices.Clip(o.bytes)
}

// read is the reader.
func (o *Output) read() {
	buf := make([]byte, 64<<10)
	for o.mayRead() {
		n, err := o.file.Read(buf)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			err = nil // StopReading, or Close
		}
		o.c.update(func() {
			o.add(buf[:n])
			o.ended, o.err = err != nil, err
		})
		if err != nil {
			return
		}
	}
	o.c.update(func() { o.ended, o.err = true, os.ErrClosed })
}

// mayRead waits while reading is stopped; it is false when the output is closed.
func (o *Output) mayRead() bool {
	o.c.mu.Lock()
	defer o.c.mu.Unlock()
	for o.stopped && !o.closed {
		if !o.parked {
			o.parked = true
			o.c.notify()
		}
		changed := o.c.changed
		o.c.mu.Unlock()
		<-changed
		o.c.mu.Lock()
	}
	o.parked = false
	return !o.closed
}

func (o *Output) add(b []byte) {
	o.bytes = append(o.bytes, b...)
	if o != o.c.Out {
		return
	}
	for {
		i := bytes.IndexByte(o.bytes[o.scanned:], '\n')
		if i < 0 {
			o.scanned = len(o.bytes)
			return
		}
		end := o.scanned + i
		o.records = append(o.records, Record(o.bytes[o.lineStart:end:end]))
		o.lineStart, o.scanned = end+1, end+1
	}
}

// StopReading stops reading: after it no byte is taken from the agent until ResumeReading.
func (o *Output) StopReading() {
	o.c.t.Helper()
	o.c.update(func() { o.stopped = true })
	// A read that has been given bytes returns them; one that waits returns at once.
	if err := o.file.SetReadDeadline(time.Now()); err != nil && !errors.Is(err, os.ErrClosed) {
		o.c.t.Skipf("reading cannot be stopped here: %v", err)
	}
	o.c.await("the reader to stop", func() (bool, error) { return o.parked || o.ended, nil })
}

// ResumeReading goes on after StopReading.
func (o *Output) ResumeReading() {
	o.file.SetReadDeadline(time.Time{})
	o.c.update(func() { o.stopped = false })
}

// Close closes the reading end; what has not been read by then is lost, and the agent's next write fails.
func (o *Output) Close() {
	o.c.t.Helper()
	o.close()
	o.c.await("the reader to end", func() (bool, error) { return o.ended, nil })
}

// close does not wait for the reader, which holds the file until it has ended.
func (o *Output) close() {
	o.c.update(func() { o.closed = true })
	o.file.Close() // ends a read that waits
}
