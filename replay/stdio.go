package replay

import (
	"bytes"
	"io"
	"sync"
	"time"
)

// maxLine is the longest record that is taken from a client, in bytes.
const maxLine = 128 << 20

// line is what came from the client: a record without its LF and one CR, or the end of the stream.
type line struct {
	body    []byte
	tooLong bool
	end     bool
}

// readLines is the client's pump: it cuts what comes into lines, until the stream ends or stop is closed.
func readLines(r io.Reader, to chan<- line, stop <-chan struct{}) {
	var pending []byte
	tooLong := false
	send := func(l line) bool {
		select {
		case to <- l:
			return true
		case <-stop:
			return false
		}
	}
	buf := make([]byte, 64<<10)
	for {
		n, err := r.Read(buf)
		for b := buf[:n]; len(b) > 0; {
			i := bytes.IndexByte(b, '\n')
			piece := b
			if i >= 0 {
				piece = b[:i]
			}
			if tooLong = tooLong || len(pending)+len(piece) > maxLine; tooLong {
				pending = nil
			} else {
				pending = append(pending, piece...)
			}
			if i < 0 {
				break
			}
			if !send(line{body: bytes.TrimSuffix(pending, []byte{'\r'}), tooLong: tooLong}) {
				return
			}
			pending, tooLong, b = nil, false, b[i+1:]
		}
		if err != nil {
			if len(pending) > 0 && !send(line{body: bytes.TrimSuffix(pending, []byte{'\r'}), tooLong: tooLong}) {
				return
			}
			send(line{end: true})
			return
		}
	}
}

// writer writes one piece at a time in a goroutine of its own, so that a reader that does not read stops nothing else.
type writer struct {
	to   chan []byte
	done chan error // one for each piece
	busy bool
}

func newWriter(w io.Writer, group *sync.WaitGroup) *writer {
	o := &writer{to: make(chan []byte), done: make(chan error, 1)}
	group.Go(func() {
		for b := range o.to {
			_, err := w.Write(b)
			o.done <- err
		}
	})
	return o
}

func (o *writer) write(b []byte) {
	o.busy = true
	o.to <- b
}

// maxErrors is how much of the agent's stderr waits for its reader; the rest is lost, as nobody reads it.
const maxErrors = 16 << 20

// errorWriter writes to stderr without ever waiting for its reader.
type errorWriter struct {
	mu      sync.Mutex
	queue   []byte
	writing bool
	wake    chan struct{}
	closed  bool
	ended   chan struct{}
}

func newErrorWriter(w io.Writer) *errorWriter {
	o := &errorWriter{wake: make(chan struct{}, 1), ended: make(chan struct{})}
	go o.run(w)
	return o
}

func (o *errorWriter) run(w io.Writer) {
	defer close(o.ended)
	for range o.wake {
		for {
			o.mu.Lock()
			b := o.queue
			o.queue, o.writing = nil, len(b) > 0
			o.mu.Unlock()
			if len(b) == 0 {
				break
			}
			w.Write(b) // stderr whose reader has gone is nobody's concern
			o.mu.Lock()
			o.writing = false
			o.mu.Unlock()
		}
	}
}

func (o *errorWriter) write(b []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed || len(o.queue)+len(b) > maxErrors {
		return
	}
	o.queue = append(o.queue, b...)
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// close ends the goroutine when all is written.
func (o *errorWriter) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.closed {
		o.closed = true
		close(o.wake)
	}
}

// flush waits until all is written after close, but not for ever: then the goroutine stays in a write to stderr.
func (o *errorWriter) flush(limit time.Duration) {
	select {
	case <-o.ended:
	case <-time.After(limit): // nobody reads it
	}
}

// empty tells whether all has been written.
func (o *errorWriter) empty() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.queue) == 0 && !o.writing
}
