package faults

import (
	"os"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Ledger is what a peer tells of itself. It lies in a file that is mapped into memory, so it is there, up to the last
// byte that was counted, when the peer has been killed.
type Ledger struct {
	PID       atomic.Int64
	Written   atomic.Int64 // bytes of the peer's stream that the kernel has taken, at least
	Read      atomic.Int64 // bytes that came and were right
	ReadErr   atomic.Int64 // bytes on stderr that were right; of clients
	WroteErr  atomic.Int64 // bytes of the stream on stderr that the kernel has taken, at least; of agents
	Ended     atomic.Int64 // 1: what came has ended
	EndedErr  atomic.Int64 // 1: stderr, too
	Broken    atomic.Int64 // the error of a write, as a number
	BrokenErr atomic.Int64 // the same of stderr
	Child     atomic.Int64 // process id of what a client has started
	Status    atomic.Int64 // of its exit, and a million
	Signals   [65]atomic.Int64
	marked    atomic.Int64
	marks     [4096]mark
	failed    atomic.Int64 // length of failure
	failure   [4096]byte
}

// mark says how much had come at a time.
type mark struct{ at, read atomic.Int64 }

// NewLedger makes a file for a ledger.
func NewLedger(file string) (*Ledger, error) {
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size := int(unsafe.Sizeof(Ledger{}))
	if err := f.Truncate(int64(size)); err != nil {
		return nil, err
	}
	mem, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	return (*Ledger)(unsafe.Pointer(unsafe.SliceData(mem))), nil // mapped as long as the process lives
}

// Now is a clock that all processes share, in nanoseconds.
func Now() int64 {
	var ts unix.Timespec
	unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts)
	return ts.Nano()
}

// came counts bytes that have come.
func (l *Ledger) came(n int) {
	read := l.Read.Add(int64(n))
	now := Now()
	i := l.marked.Load()
	if i > 0 && now-l.marks[(i-1)%int64(len(l.marks))].at.Load() < int64(time.Millisecond)/2 {
		return // what is so near counts at the next
	}
	m := &l.marks[i%int64(len(l.marks))]
	m.at.Store(now)
	m.read.Store(read)
	l.marked.Add(1)
}

// ReadBy tells how much had come at a time.
func (l *Ledger) ReadBy(at int64) (read int64) {
	for i := max(0, l.marked.Load()-int64(len(l.marks))); i < l.marked.Load(); i++ {
		if m := &l.marks[i%int64(len(l.marks))]; m.at.Load() <= at {
			read = max(read, m.read.Load())
		}
	}
	return read
}

// Since tells when more than so many bytes had come, ok false when that is not known.
func (l *Ledger) Since(read int64) (at int64, ok bool) {
	for i := max(0, l.marked.Load()-int64(len(l.marks))); i < l.marked.Load(); i++ {
		if m := &l.marks[i%int64(len(l.marks))]; m.read.Load() > read {
			return m.at.Load(), true
		}
	}
	return 0, false
}

// fail says what is wrong, once.
func (l *Ledger) fail(text string) {
	if l.failed.Load() == 0 {
		l.failed.Store(int64(copy(l.failure[:], text)))
	}
}

// Failure is what the peer has found wrong, "" if nothing.
func (l *Ledger) Failure() string { return string(l.failure[:l.failed.Load()]) }
