//go:build unix

package proxy

import (
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"pitap/record"
)

// pump moves the bytes of one stream from in to out. It owns both ends: it closes out at the end of the stream, and in
// when the reader of out is gone. While it waits for bytes it also watches out, so that a closed output reaches the
// other side at once.
type pump struct {
	cfg    *Config
	stream record.Stream
	in     int
	out    *output
	stop   int // becomes readable when the pump is to stop where it is
	// gone, if not nil, is closed when the agent has exited: then out stays open at the end of the stream, for Run to
	// close, since there may be warnings to come.
	gone <-chan struct{}
	// answers are the pumps that carry what the agent says to what this one carries: a client that closes its end of
	// one and then sends something must find the agent's end closed, too.
	answers []*pump

	buf   [chunk]byte
	poll  [3]unix.PollFd
	off   int64  // bytes delivered
	rest  []byte // read and not delivered, when the pump was stopped
	ended bool   // nothing more to do: the stream or its reader has ended
	done  chan struct{}
}

func newPump(cfg *Config, stream record.Stream, in int, out *output, stop int) *pump {
	return &pump{cfg: cfg, stream: stream, in: in, out: out, stop: stop, done: make(chan struct{})}
}

// run is the pump's goroutine.
func (p *pump) run() {
	defer close(p.done)
	if len(p.rest) > 0 { // of a pump that was stopped in another process
		rest := p.rest
		p.rest = nil
		if !p.deliver(rest) {
			return
		}
	}
	for {
		n, ok := p.read()
		if !ok {
			return
		}
		p.cfg.put(p.stream, p.buf[:n])
		if !p.deliver(p.buf[:n]) {
			return
		}
	}
}

// read waits for bytes. It returns false when the pump is over.
func (p *pump) read() (int, bool) {
	for {
		p.poll = [3]unix.PollFd{{Fd: int32(p.in), Events: unix.POLLIN}, {Fd: int32(p.out.fd)}, {Fd: int32(p.stop), Events: unix.POLLIN}}
		if _, err := unix.Poll(p.poll[:], -1); err != nil {
			if err == unix.EINTR || err == unix.EAGAIN {
				continue
			}
			p.end(err)
			return 0, false
		}
		switch {
		case p.poll[2].Revents != 0:
			return 0, false
		case p.poll[1].Revents != 0:
			p.readerGone(0)
			return 0, false
		}
		if p.poll[0].Revents == 0 {
			continue
		}
		n, err := unix.Read(p.in, p.buf[:])
		switch {
		case n > 0:
			p.awaitAnswers()
			return n, true
		case err == unix.EINTR || err == unix.EAGAIN:
			continue
		}
		p.end(err)
		return 0, false
	}
}

// awaitAnswers waits for those of the answers whose reader is gone to close the agent's end. Between read and write is
// the place for it: a descriptor that another thread polls all the time is not closed by closing it.
func (p *pump) awaitAnswers() {
	if len(p.answers) == 0 {
		return
	}
	fds := p.poll[:0]
	for _, a := range p.answers {
		fds = append(fds, unix.PollFd{Fd: a.watched()})
	}
	if n, err := unix.Poll(fds, 0); n < 1 || err != nil {
		return
	}
	for i, a := range p.answers {
		if fds[i].Revents != 0 {
			<-a.done // soon: it sees the same
		}
	}
}

// watched is the descriptor that tells whether the pump's reader is there, or -1 when the pump is over.
func (p *pump) watched() int32 {
	select {
	case <-p.done:
		return -1
	default:
		return int32(p.out.fd)
	}
}

// end is the end of the stream: it reaches the other side and nothing else.
func (p *pump) end(err error) {
	n := record.Note{Kind: "eof"}
	if err != nil && err != unix.EIO { // EIO: a terminal that was hung up
		n.Error = err.Error()
	}
	p.cfg.note(p.stream, n)
	if p.agentGone() {
		p.ended = true
		closeEnd(p.in)
		return
	}
	p.close()
}

// agentGone tells whether the stream has ended because the agent has exited.
func (p *pump) agentGone() bool {
	if p.gone == nil {
		return false
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.gone:
		return true
	case <-timer.C:
		return false
	}
}

func (p *pump) close() {
	p.ended = true
	closeEnd(p.in)
	p.out.close()
}

// readerGone closes the pump's input, since nobody reads its output any more: the writer will be told by EPIPE. What
// lies between is recorded as not delivered.
func (p *pump) readerGone(pending int) {
	for range 16 {
		if p.stream == record.Client { // what the client has not been read of stays unread
			break
		}
		p.poll[0] = unix.PollFd{Fd: int32(p.in), Events: unix.POLLIN}
		if n, err := unix.Poll(p.poll[:1], 0); n < 1 || err != nil || p.poll[0].Revents&unix.POLLIN == 0 {
			break
		}
		n, err := unix.Read(p.in, p.buf[:])
		if n <= 0 || err != nil {
			break
		}
		p.cfg.put(p.stream, p.buf[:n])
		pending += n
	}
	p.cfg.note(p.stream, record.Note{Kind: "closed"})
	if pending > 0 {
		p.cfg.noteAt(p.stream, p.off, record.Note{Kind: "undelivered", Bytes: int64(pending)})
	}
	p.close()
}

// deliver writes all of b, and says when that takes long. It returns false when the pump is over: b's reader is gone,
// or the pump was stopped, and then what is left is in rest.
func (p *pump) deliver(b []byte) bool {
	var s stall
	for len(b) > 0 {
		n, err := p.out.write(b)
		b = b[max(n, 0):]
		p.off += int64(max(n, 0))
		switch {
		case err == nil || err == unix.EINTR:
			continue
		case err != unix.EAGAIN:
			p.readerGone(len(b))
			return false
		}
		if s.began.IsZero() {
			s = stall{began: time.Now(), since: p.cfg.now()}
		}
		if !p.wait(b, &s) {
			return false
		}
	}
	if s.noted {
		p.cfg.note(p.stream, record.Note{Kind: "stall", Since: s.since, For: int64(time.Since(s.began))})
	}
	return true
}

// stall is a time in which an output took nothing.
type stall struct {
	began time.Time
	since int64 // the same, on the recorder's clock
	noted bool
}

// wait waits until out takes bytes again.
func (p *pump) wait(b []byte, s *stall) bool {
	timeout := -1
	if !s.noted {
		timeout = int(max(0, stallAfter-time.Since(s.began)).Milliseconds()) + 1
	}
	p.poll[0] = unix.PollFd{Fd: int32(p.out.fd), Events: unix.POLLOUT}
	p.poll[1] = unix.PollFd{Fd: int32(p.stop), Events: unix.POLLIN}
	n, err := unix.Poll(p.poll[:2], timeout)
	switch {
	case err != nil && err != unix.EINTR && err != unix.EAGAIN:
		p.readerGone(len(b))
		return false
	case n == 0 && !s.noted:
		s.noted = true
		p.cfg.note(p.stream, record.Note{Kind: "stall", Since: s.since, Bytes: int64(len(b))})
	case n > 0 && p.poll[0].Revents&(unix.POLLERR|unix.POLLHUP|unix.POLLNVAL) != 0:
		p.readerGone(len(b))
		return false
	case n > 0 && p.poll[1].Revents != 0 && p.poll[0].Revents == 0:
		p.rest = append([]byte(nil), b...)
		return false
	}
	return true
}

// closeEnd closes a descriptor; those of the process's own standard streams are kept open on the null device, so that no
// other file gets their number.
func closeEnd(fd int) {
	if fd > 2 {
		unix.Close(fd)
		return
	}
	null, err := unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		unix.Close(fd)
		return
	}
	dup2(null, fd)
	unix.Close(null)
}

// CloseInherited closes what the process was given besides its three standard streams. The agent has it, too, and whoever
// passed it waits for the agent alone to close it. All files that this program opens are closed on exec, which tells them
// apart.
func CloseInherited() {
	dir, err := os.Open(descriptors)
	if err != nil {
		return
	}
	names, _ := dir.Readdirnames(-1)
	dir.Close()
	for _, name := range names {
		fd, err := strconv.Atoi(name)
		if err != nil || fd <= 2 {
			continue
		}
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			unix.Close(fd)
		}
	}
}
