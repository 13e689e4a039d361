package record

import (
	"bytes"
	"errors"
	"sync"

	"pitap/record/scan"
)

// Ahead reads the entries of a capture in goroutines of its own, ahead of who wants them: one decodes frames, one reads
// what they hold. It is for reading all of a capture quickly; it does not follow one that grows. Its memory is bounded by
// a few frames.
//
//	a := c.Ahead()
//	defer a.Close()
//	for a.Next() {
//		e := a.Entry()
//	}
//
// Until Next has returned false, or Close has returned, the capture must not be used otherwise. After that its Err,
// Damage, Ended and Condition tell how it went.
type Ahead struct {
	r    *Reader
	full chan *batch
	free chan *batch
	bufs chan []byte
	stop chan struct{}
	wait sync.WaitGroup
	fill *batch // the reader's

	now  *batch // the consumer's
	i    int    // in now
	done bool
}

// batch is some entries. What they refer to lies in it, in the buffer that the last batch which has entries in it gives
// back, or is theirs alone.
type batch struct {
	entries []Entry
	spans   []scan.Span  // of all entries
	heads   []scan.Spans // of the entries that have any
	units   []int64
	buf     []byte // to be given back behind the batch
}

const (
	batchSize = 1024 // entries
	batches   = 4
	buffers   = 3 // one that is decoded into, one that is read, one that is looked at
)

// Ahead begins to read ahead.
func (c *Capture) Ahead() *Ahead {
	a := &Ahead{r: c.Reader, full: make(chan *batch, batches), free: make(chan *batch, batches), bufs: make(chan []byte, buffers), stop: make(chan struct{})}
	for range batches {
		a.free <- &batch{heads: make([]scan.Spans, 0, batchSize)}
	}
	for range buffers {
		a.bufs <- nil
	}
	a.fill = <-a.free
	a.wait.Go(a.read)
	return a
}

// Next goes to the next entry. It returns false at the end, and after an error.
func (a *Ahead) Next() bool {
	a.i++
	for a.now == nil || a.i >= len(a.now.entries) {
		if a.now != nil {
			a.giveBack(a.now)
			a.now = nil
		}
		if a.done {
			return false
		}
		b, ok := <-a.full
		if !ok {
			a.done = true
			a.wait.Wait()
			return false
		}
		a.now, a.i = b, 0
	}
	return true
}

// Entry returns the entry that Next went to, valid until the next call.
func (a *Ahead) Entry() *Entry { return &a.now.entries[a.i] }

// Unit returns the offset in the file of the frame (or line) that holds the entry.
func (a *Ahead) Unit() int64 { return a.now.units[a.i] }

// Close ends the reading. It may be called early, and more than once.
func (a *Ahead) Close() {
	if !a.done {
		a.done, a.now = true, nil
		close(a.stop)
	}
	a.wait.Wait()
}

func (a *Ahead) giveBack(b *batch) {
	if b.buf != nil {
		select {
		case a.bufs <- b.buf[:0]:
		default:
		}
	}
	*b = batch{entries: b.entries[:0], spans: b.spans[:0], heads: b.heads[:0], units: b.units[:0]}
	a.free <- b // there is room for all
}

// read is the goroutine that reads entries.
func (a *Ahead) read() {
	r := a.r
	defer close(a.full)
	if _, err := r.Header(); err != nil {
		return
	}
	ahead := &aheadContent{inner: r.content, limit: r.limit, bufs: a.bufs, stop: a.stop, out: make(chan chunk)}
	_, ahead.plain = r.content.(*plainContent)
	ahead.last.unit = r.content.unit(0)
	a.wait.Go(ahead.run)
	r.content, r.turn = ahead, a.turn
	defer func() {
		ahead.drain()
		r.content, r.turn = ahead.inner, nil
	}()
	for r.Next() {
		a.fill.add(&r.entry, r.unit)
		if len(a.fill.entries) == batchSize && !a.send() {
			return
		}
	}
	if len(a.fill.entries) > 0 {
		a.send()
	}
}

// send passes the batch on and begins another one; false when nobody wants it.
func (a *Ahead) send() bool {
	b := a.fill
	select {
	case <-a.stop:
		return false
	case a.full <- b:
	}
	select {
	case <-a.stop:
		return false
	case a.fill = <-a.free:
	}
	return true
}

// turn is Reader.turn: the buffer is given back with the batch that holds its last entries. A buffer that has none is
// used on. It returns false for that, and when nobody wants more: then nothing of the batch is looked at any more.
func (a *Ahead) turn() bool {
	r := a.r
	if cap(r.buf) == 0 || r.at == 0 {
		return false
	}
	a.fill.buf = r.buf
	r.buf = append([]byte(nil), r.buf[r.at:]...) // nothing, unless a line goes on in the next frame
	a.send()
	return true
}

// add takes an entry, and what of it the reader will use again.
func (b *batch) add(e *Entry, unit int64) {
	b.entries = append(b.entries, *e)
	b.units = append(b.units, unit)
	n := &b.entries[len(b.entries)-1]
	if e.Form != Msg {
		n.Body = bytes.Clone(e.Body)
	}
	if e.Supersedes != nil {
		n.Supersedes = append([]int64(nil), e.Supersedes...)
	}
	if e.Cuts != nil {
		n.Cuts = append([]Cut(nil), e.Cuts...)
	}
	if e.spans == nil {
		return
	}
	start := len(b.spans)
	b.spans = append(b.spans, e.spans.List...)
	b.heads = append(b.heads, *e.spans) // stays within its capacity: entries point into it
	n.spans = &b.heads[len(b.heads)-1]
	n.spans.List = b.spans[start:len(b.spans):len(b.spans)]
}

// aheadContent is a content that another goroutine reads in advance.
type aheadContent struct {
	inner content
	plain bool // units of inner count bytes
	limit int64
	bufs  chan []byte
	stop  chan struct{}
	out   chan chunk
	last  chunk
	ended bool // run has ended, and inner is the caller's
}

type chunk struct {
	buf  []byte
	err  error
	unit int64
	end  bool // nothing follows
}

// run is the goroutine that decodes.
func (c *aheadContent) run() {
	for {
		var buf []byte
		select {
		case <-c.stop:
			return
		case buf = <-c.bufs:
		}
		buf, err := c.inner.next(buf[:0], c.limit)
		_, damage := err.(Damage)
		p := chunk{buf: buf, err: err, unit: c.inner.unit(0), end: err != nil && !damage && err != errTaken}
		select {
		case <-c.stop:
			return
		case c.out <- p:
		}
		if p.end {
			return
		}
	}
}

// drain waits for run's end.
func (c *aheadContent) drain() {
	for !c.ended {
		select {
		case p := <-c.out:
			c.ended = p.end
		case <-c.stop:
			c.ended = true
		}
	}
}

func (c *aheadContent) next(buf []byte, limit int64) ([]byte, error) {
	if c.ended {
		return c.inner.next(buf, limit)
	}
	select {
	case c.last = <-c.out:
	case <-c.stop:
		c.ended = true
		return buf, errStopped
	}
	p := &c.last
	c.ended = p.end
	if len(buf) == 0 {
		c.recycle(buf)
		return p.buf, p.err
	}
	buf = append(buf, p.buf...)
	c.recycle(p.buf)
	return buf, p.err
}

func (c *aheadContent) recycle(buf []byte) {
	if cap(buf) == 0 {
		return
	}
	select {
	case c.bufs <- buf[:0]:
	default:
	}
}

func (c *aheadContent) unit(before int64) int64 {
	switch {
	case c.ended:
		return c.inner.unit(before)
	case c.plain:
		return c.last.unit - before
	}
	return c.last.unit
}

var errStopped = errors.New("the reading was stopped")

func (c *aheadContent) torn(limit int64) bool { return c.inner.torn(limit) }
func (c *aheadContent) seek(off int64)        { c.inner.seek(off) }
