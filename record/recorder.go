package record

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"
)

const (
	// flushDelay is how long entries are collected before they are flushed to the file; with the time that this takes
	// they are there within 100 ms.
	flushDelay = 40 * time.Millisecond
	lagLimit   = 100 * time.Millisecond // a file that is further behind says so in a note
	retryDelay = 500 * time.Millisecond // after an error of the file
	maxHeld    = 1000                   // notes that are kept until the file works again
	longest    = 3 * time.Second        // a recorder may take to an end, where no call of its file lasts
)

// Config says how a Recorder works.
type Config struct {
	// Open gives the file and its header; it is called on the recorder's goroutine, so it may take its time.
	Open func() (File, *Header, error)
	// Gone tells whether the file is no longer where it was, so that a new one should be opened; may be nil.
	Gone func() error
	// Clock gives the nanoseconds since the header's start, and Wall the wall time.
	Clock func() int64
	Wall  func() time.Time
	// Warn is told, once for each cause, what went wrong with the recording. It must not block.
	Warn func(error)
	// Sync makes each flush wait for the disk.
	Sync bool
	// Watch is shown each entry of the streams as it is added to the capture, on the recorder's goroutine; it must keep
	// nothing of it. May be nil.
	Watch func(e *Entry)
	// Last adds notes when all that was put has been recorded, also where another Recorder goes on; it is called once, on
	// the recorder's goroutine, unless the file fails. May be nil.
	Last func(add func(*Entry))
	// Resume, if it is not nil, goes on with the capture of another Recorder.
	Resume *State
}

// Recorder takes bytes and notes from any goroutine, and alone writes them to a capture. Its methods never fail, and
// never wait longer than the file's slowness makes necessary to lose nothing (see Put).
type Recorder struct {
	cfg   Config
	queue *queue
	done  chan struct{}

	// Of the recorder's goroutine:
	w         *Writer
	splitters [streamCount]*Splitter
	broken    bool // the recorder has panicked: nothing is recorded any more
	failing   error
	dropped   [streamCount]loss // while failing
	held      []Entry           // notes that are not in the file yet
	retry     time.Time
	lag       int64 // the greatest in the present stretch of lag, nanoseconds
	clockSkew time.Duration
	start     time.Time // wall time that belongs to t = 0

	suspend atomic.Bool // end by handing over
	calls   calls       // of the file
	state   *State      // for another recorder
	err     error       // the last error of the file that was not mended
}

// NewRecorder starts a recorder. Close or Suspend ends it.
func NewRecorder(cfg Config) *Recorder {
	r := &Recorder{cfg: cfg, queue: newQueue(cfg.Clock), done: make(chan struct{})}
	r.start = cfg.Wall().Add(-time.Duration(cfg.Clock()))
	for s := Client; s < streamCount; s++ {
		r.splitters[s] = NewSplitter(s, r.add)
	}
	go r.run()
	return r
}

// Put stamps the bytes of one read and queues them; then they may be forwarded. While the file is too slow it waits as
// long as the bytes take at 1 MiB/s; what finds no room then is not recorded, and counted in a gap note.
func (r *Recorder) Put(from Stream, p []byte) { r.queue.put(from, p) }

// Note queues a note; its N and T are set here.
func (r *Recorder) Note(e *Entry) { r.queue.putNote(noteBytes(e)) }

// Now is the time on the recorder's clock, in nanoseconds since the start.
func (r *Recorder) Now() int64 { return r.cfg.Clock() }

// Close records what is queued, writes the end of the capture, and returns the last error of the file. Nothing may be
// put meanwhile.
func (r *Recorder) Close() error {
	r.queue.close()
	<-r.done
	return r.err
}

// Finish is Close within about the given time. If that is too short it returns the state with which another recorder
// goes on, in another process; nil when the capture ended, or when the file hangs and nothing can be done: one call of
// it lasts longer than the given time. A recorder that is slow for another reason, on a busy machine, is waited for.
func (r *Recorder) Finish(limit time.Duration) (*State, error) {
	r.queue.close()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	last := int64(-1)
	for began := time.Now(); ; timer.Reset(limit) {
		select {
		case <-r.done:
			return r.state, r.err
		case <-timer.C:
		}
		r.suspend.Store(true)
		call := r.calls.Load()
		switch {
		case call%2 == 1 && call == last:
			return nil, errors.New("the capture's file hangs: its end is not recorded")
		case time.Since(began) > longest:
			return nil, fmt.Errorf("the recorder came to no end within %v: the capture's end is not recorded", longest)
		}
		last = call
	}
}

// Suspend ends the recorder without ending the capture; as Finish, but at once.
func (r *Recorder) Suspend(limit time.Duration) (*State, error) {
	r.suspend.Store(true)
	return r.Finish(limit)
}

// run is the recorder's goroutine.
func (r *Recorder) run() {
	defer close(r.done)
	for !r.guard(r.session) {
	}
}

// guard runs f; after a panic it says so, and nothing more is recorded, but the queue is still emptied.
func (r *Recorder) guard(f func()) (finished bool) {
	defer func() {
		if p := recover(); p != nil {
			r.broken = true
			r.warn(fmt.Errorf("recorder broke, going on without recording: %v\n%s", p, debug.Stack()))
		}
	}()
	f()
	return true
}

func (r *Recorder) warn(err error) {
	r.err = err
	if r.cfg.Warn != nil {
		r.cfg.Warn(err)
	}
}

func (r *Recorder) session() {
	if r.w == nil && !r.broken {
		r.open()
		for _, it := range r.cfg.Resume.items() {
			r.take(it)
		}
	}
	timer := time.NewTimer(flushDelay)
	defer timer.Stop()
	for r.queue.sleep() {
		timer.Reset(flushDelay)
		r.queue.collect(timer.C)
		if r.failing != nil && !r.broken {
			r.recover() // first, so that what is queued is not lost, too
		}
		r.drain()
		r.flush()
		if r.suspend.Load() {
			break
		}
	}
	r.finish()
}

// drain empties the queue, or works on it until a flush is due.
func (r *Recorder) drain() {
	until := time.Now().Add(flushDelay)
	for first := true; ; first = false {
		it, ok := r.queue.next()
		if !ok {
			return
		}
		if first {
			r.noteLag(it.t)
		}
		r.take(it)
		r.queue.release(it)
		if r.suspend.Load() || time.Now().After(until) {
			return
		}
	}
}

func (r *Recorder) take(it item) {
	switch {
	case r.broken:
	case r.failing != nil:
		r.drop(it)
	case it.kind == itemBytes:
		r.splitters[it.from].Write(it.t, it.p)
	case it.kind == itemNote:
		r.takeNote(it)
	case it.kind == itemGap:
		var lost [streamCount]loss
		for i := range lost {
			lost[i] = lossOf(it.p, i)
		}
		r.gap(it.t, lost, "the file is too slow")
	}
}

// drop counts what cannot be recorded while the file fails.
func (r *Recorder) drop(it item) {
	switch it.kind {
	case itemBytes:
		r.dropped[it.from].add(it.p)
	case itemGap:
		for i := range r.dropped {
			r.dropped[i].join(lossOf(it.p, i))
		}
	case itemNote:
		var e Entry
		if parseNote(it.p, &e) == nil {
			e.T = it.t
			r.hold(e)
		}
	}
}

// hold keeps a note until it is in the file.
func (r *Recorder) hold(e Entry) {
	if len(r.held) < maxHeld {
		r.held = append(r.held, e)
	}
}

func (r *Recorder) add(e *Entry) int64 {
	n := r.w.Add(e)
	if r.cfg.Watch != nil {
		r.cfg.Watch(e)
	}
	return n
}

// takeNote records a note that stands in the queue as JSON.
func (r *Recorder) takeNote(it item) {
	var e Entry
	if err := parseNote(it.p, &e); err != nil {
		r.warn(err)
		return
	}
	e.T = it.t
	if e.Note.Kind == "eof" && e.From != NoStream {
		r.splitters[e.From].End(it.t)
	}
	r.hold(e)
	r.w.Add(&e)
}

// gap writes a gap note: lost is what was written and is not in the file, and what never reached the splitters, which
// skipped counts. The note comes first: readers take it for the reason why numbers of entries are missing.
func (r *Recorder) gap(t int64, skipped [streamCount]loss, why string) (total int64) {
	n := &Note{Kind: "gap", Error: why, Lost: map[string]int64{}}
	for s := Client; s < streamCount; s++ {
		if lost := r.splitters[s].next() - r.w.Pos(s) + skipped[s].bytes; lost > 0 {
			n.Lost[s.String()] = lost
			total += lost
		}
	}
	r.w.Add(&Entry{T: t, Note: n})
	for s := Client; s < streamCount; s++ {
		r.w.Lose(s, r.splitters[s].next())
		r.splitters[s].Gap(skipped[s].bytes, skipped[s].line)
		r.w.Lose(s, r.splitters[s].next())
	}
	return total
}

// flush brings everything to the file, or tries to get a failing file to work again.
func (r *Recorder) flush() {
	switch {
	case r.broken:
		return
	case r.failing != nil:
		r.recover()
		return
	}
	r.checkClock()
	for s := Client; s < streamCount; s++ {
		r.splitters[s].Flush()
	}
	err := r.w.Flush()
	if err == nil && r.cfg.Gone != nil {
		r.calls.during(func() { err = r.cfg.Gone() })
	}
	if err != nil {
		r.fail(err)
		return
	}
	r.held = r.held[:0]
}

func (r *Recorder) fail(err error) {
	r.failing = err
	r.retry = time.Now().Add(retryDelay)
	r.warn(fmt.Errorf("%w; the session goes on without being recorded", err))
}

// ErrGone is wrapped by what Config.Gone returns when the file must be opened anew.
var ErrGone = errors.New("capture is gone")

func (r *Recorder) recover() {
	if time.Now().Before(r.retry) {
		return
	}
	r.retry = time.Now().Add(retryDelay)
	if err := r.repair(); err != nil {
		return
	}
	for s := Client; s < streamCount; s++ {
		r.splitters[s].rewind(r.w.Pos(s))
	}
	lost := r.gap(r.cfg.Clock(), r.dropped, r.failing.Error())
	r.dropped = [streamCount]loss{}
	for i := range r.held {
		r.w.Add(&r.held[i])
	}
	if err := r.w.Flush(); err != nil {
		r.failing, r.err = err, err
		return
	}
	r.held = r.held[:0]
	r.failing = nil
	r.warn(fmt.Errorf("recording again; %d bytes were not recorded", lost))
	r.err = nil
}

// repair gets the writer to work again, or makes a new one.
func (r *Recorder) repair() error {
	if r.w != nil && !errors.Is(r.failing, ErrGone) {
		return r.w.Repair()
	}
	w, err := r.reopen()
	if err != nil {
		return err
	}
	if r.w != nil {
		w.n = r.w.n
	}
	r.w = w
	return nil
}

// open begins the capture; without a file everything is counted as lost until one can be opened.
func (r *Recorder) open() {
	var err error
	if r.cfg.Resume != nil {
		err = r.resume(r.cfg.Resume)
	} else {
		r.w, err = r.reopen()
	}
	if err != nil {
		r.fail(err)
	}
}

func (r *Recorder) reopen() (*Writer, error) {
	f, h, err := r.openFile()
	if err != nil {
		return nil, err
	}
	return NewWriter(f, h, r.cfg.Sync)
}

// openFile is Config.Open, of a file that is watched.
func (r *Recorder) openFile() (f File, h *Header, err error) {
	r.calls.during(func() { f, h, err = r.cfg.Open() })
	return watched{f, &r.calls}, h, err
}

func (r *Recorder) noteLag(oldest int64) {
	behind := r.cfg.Clock() - oldest
	if r.failing != nil || r.broken || behind < int64(lagLimit) {
		r.lag = 0
		return
	}
	if behind > 2*r.lag {
		r.lag = behind
		r.w.Add(&Entry{T: r.cfg.Clock(), Note: &Note{Kind: "lag", By: behind}})
	}
}

// checkClock notes when the wall clock has moved against the monotonic one.
func (r *Recorder) checkClock() {
	t, wall := r.cfg.Clock(), r.cfg.Wall()
	skew := wall.Round(0).Sub(r.start.Round(0).Add(time.Duration(t)))
	if moved := skew - r.clockSkew; moved > time.Second || moved < -time.Second {
		r.clockSkew = skew
		r.w.Add(&Entry{T: t, Note: &Note{Kind: "clock", By: int64(moved), Wall: wall.UTC().Round(0)}})
	}
}

func (r *Recorder) finish() {
	if r.broken {
		return
	}
	if r.failing != nil {
		r.retry = time.Time{}
		r.recover()
	}
	if r.cfg.Last != nil && r.failing == nil {
		r.last()
	}
	if r.suspend.Load() {
		r.state = r.save()
		return
	}
	if r.failing != nil {
		return
	}
	err := r.end()
	if errors.Is(err, errShort) { // since the last flush
		r.fail(err)
		r.retry = time.Time{}
		if r.recover(); r.failing != nil {
			return
		}
		err = r.end()
	}
	if err != nil {
		r.warn(err)
	}
}

func (r *Recorder) end() error {
	t := r.cfg.Clock()
	for s := Client; s < streamCount; s++ {
		r.splitters[s].End(t)
	}
	return r.w.End(t)
}

// last records what is still queued, and then what Config.Last adds.
func (r *Recorder) last() {
	for it, ok := r.queue.next(); ok; it, ok = r.queue.next() {
		r.take(it)
		r.queue.release(it)
	}
	r.cfg.Last(func(e *Entry) {
		e.T = r.cfg.Clock()
		r.w.Add(e)
	})
}
