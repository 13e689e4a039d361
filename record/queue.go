package record

import (
	"encoding/binary"
	"sync"
	"time"
)

const (
	queueSize  = 16 << 20
	queueSpare = 64 << 10 // kept free for notes, which say what happened
	itemHead   = 16       // kind and stream, length, t
	slowest    = 1 << 20  // bytes a second: on average forwarding is never slowed below
	mostCredit = time.Second
)

type itemKind uint8

const (
	itemSkip  itemKind = iota // the rest of the ring is unused
	itemBytes                 // bytes of a stream
	itemNote                  // members of a note, as JSON
	itemGap                   // lost bytes of each stream, as three numbers
)

// queue is a ring of stamped items between those who forward bytes and the recorder. Putting an item takes one lock
// and one copy. When the ring is full, put waits as long as the bytes would take at the slowest rate, then drops them
// and counts them.
type queue struct {
	clock func() int64

	mu      sync.Mutex
	buf     []byte
	head    int // where the next item goes
	tail    int // the oldest item
	used    int
	idle    int           // the recorder waits for wake, which comes when this much is used; 0: it doesn't wait
	waiting int           // puts that wait for space
	credit  time.Duration // what the bytes so far came sooner than at the slowest rate
	losing  bool          // a gap is open: nothing is taken until the ring is half empty
	lost    [streamCount]loss
	closed  bool // no put any more
	wake    chan struct{}
	space   chan struct{}
}

func newQueue(clock func() int64) *queue {
	return &queue{clock: clock, buf: make([]byte, queueSize), wake: make(chan struct{}, 1), space: make(chan struct{}, 1)}
}

// put stamps and queues the bytes of one read, in pieces of at most 64 KiB.
func (q *queue) put(from Stream, p []byte) (t int64) {
	q.mu.Lock()
	t = q.clock()
	if q.losing && q.used <= len(q.buf)/2 {
		q.endGap(t)
	}
	if !q.losing && !q.fits(len(p), queueSpare) {
		q.wait(len(p))
		t = q.clock() // others may have put meanwhile
	}
	if q.losing || !q.fits(len(p), queueSpare) {
		q.losing = true
		q.lost[from].add(p)
	} else if len(p) > 0 {
		q.credit = min(mostCredit, q.credit+worth(len(p)))
		q.add(itemBytes, from, t, p)
	}
	q.mu.Unlock()
	return t
}

// putNote stamps and queues a note, given as JSON. It never waits.
func (q *queue) putNote(p []byte) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	t := q.clock()
	if !q.fits(len(p), itemHead+int(streamCount)*8) || q.closed {
		return false
	}
	if q.losing && q.used <= len(q.buf)/2 {
		q.endGap(t)
	}
	q.add(itemNote, NoStream, t, p)
	return true
}

func (q *queue) endGap(t int64) {
	var b [int(streamCount) * 8]byte
	for i, l := range q.lost {
		binary.LittleEndian.PutUint64(b[i*8:], l.encode())
	}
	q.add(itemGap, NoStream, t, b[:])
	q.losing, q.lost = false, [streamCount]loss{}
}

// loss is what of a stream was not recorded.
type loss struct {
	bytes int64
	line  bool // the last byte was an LF: what comes next is the beginning of a record
}

func (l *loss) add(p []byte) {
	if n := len(p); n > 0 {
		l.bytes += int64(n)
		l.line = p[n-1] == '\n'
	}
}

// join adds a later loss.
func (l *loss) join(o loss) {
	if o.bytes > 0 {
		l.bytes += o.bytes
		l.line = o.line
	}
}

func (l loss) encode() uint64 {
	v := uint64(l.bytes) << 1
	if l.line {
		v |= 1
	}
	return v
}

// lossOf reads from a gap item what of a stream was lost.
func lossOf(p []byte, s int) loss {
	v := binary.LittleEndian.Uint64(p[s*8:])
	return loss{int64(v >> 1), v&1 != 0}
}

// fits tells whether an item of n bytes can be added so that spare bytes stay free. An item lies in one piece, so the
// rest of the ring may be lost to it.
func (q *queue) fits(n, spare int) bool {
	need := n + itemHead
	if need > len(q.buf)-q.head {
		need += len(q.buf) - q.head
	}
	return q.used+need+spare <= len(q.buf)
}

// worth is how long n bytes take at the slowest rate.
func worth(n int) time.Duration { return time.Duration(n) * time.Second / slowest }

// wait gives the recorder the time that n bytes take at the slowest rate to make room for them, and what bytes before
// them did not need of theirs.
func (q *queue) wait(n int) {
	began := time.Now()
	deadline := time.NewTimer(worth(n) + q.credit)
	defer deadline.Stop()
	defer func() { q.credit = max(0, q.credit-time.Since(began)) }()
	q.waiting++
	defer func() { q.waiting-- }()
	for !q.fits(n, queueSpare) && !q.closed {
		q.mu.Unlock()
		select {
		case <-q.space:
			q.mu.Lock()
		case <-deadline.C:
			q.mu.Lock()
			return
		}
	}
}

func (q *queue) add(kind itemKind, from Stream, t int64, p []byte) {
	if rest := len(q.buf) - q.head; len(p)+itemHead > rest {
		if rest >= itemHead {
			q.putHead(itemSkip, NoStream, rest-itemHead, 0)
		}
		q.used += rest
		q.head = 0
	}
	q.putHead(kind, from, len(p), t)
	copy(q.buf[q.head+itemHead:], p)
	q.head += itemHead + len(p)
	q.used += itemHead + len(p)
	if q.idle > 0 && q.used >= q.idle {
		q.idle = 0
		q.wake <- struct{}{}
	}
}

func (q *queue) putHead(kind itemKind, from Stream, n int, t int64) {
	h := q.buf[q.head:]
	binary.LittleEndian.PutUint64(h, uint64(n)<<16|uint64(from)<<8|uint64(kind))
	binary.LittleEndian.PutUint64(h[8:], uint64(t))
}

// item is one thing in the queue. Its bytes lie in the ring until release.
type item struct {
	kind itemKind
	from Stream
	t    int64
	p    []byte
}

// next returns the oldest item, or ok false when there is none. It must be released before the next call.
func (q *queue) next() (it item, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.used == 0 && q.losing {
		q.endGap(q.clock())
	}
	for q.used > 0 {
		rest := len(q.buf) - q.tail
		if rest >= itemHead {
			h := q.buf[q.tail:]
			v := binary.LittleEndian.Uint64(h)
			it = item{kind: itemKind(v), from: Stream(v >> 8), t: int64(binary.LittleEndian.Uint64(h[8:]))}
			if it.kind != itemSkip {
				it.p = h[itemHead : itemHead+int(v>>16)]
				return it, true
			}
		}
		q.used -= rest
		q.tail = 0
	}
	q.head, q.tail = 0, 0 // a quiet session stays in the first pages
	return item{}, false
}

// release frees the item that next returned.
func (q *queue) release(it item) {
	q.mu.Lock()
	q.tail += itemHead + len(it.p)
	q.used -= itemHead + len(it.p)
	if q.waiting > 0 {
		select {
		case q.space <- struct{}{}:
		default:
		}
	}
	q.mu.Unlock()
}

// sleep waits until there is an item, or the queue is closed: then it returns false.
func (q *queue) sleep() bool {
	q.mu.Lock()
	if q.used > 0 || q.losing || q.closed {
		defer q.mu.Unlock()
		return q.used > 0 || q.losing
	}
	q.idle = 1
	q.mu.Unlock()
	<-q.wake
	return q.sleep()
}

// collect waits until the timer fires, a quarter of the ring is used, or the queue is closed.
func (q *queue) collect(timer <-chan time.Time) {
	q.mu.Lock()
	if q.used >= len(q.buf)/4 || q.closed {
		q.mu.Unlock()
		return
	}
	q.idle = len(q.buf) / 4
	q.mu.Unlock()
	select {
	case <-q.wake:
		return
	case <-timer:
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.idle == 0 { // a wake was sent just now
		<-q.wake
	}
	q.idle = 0
}

// close says that nothing more is put.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	if q.idle > 0 {
		q.idle = 0
		q.wake <- struct{}{}
	}
}
