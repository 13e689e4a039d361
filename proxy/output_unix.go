//go:build unix

package proxy

import "golang.org/x/sys/unix"

// output is where a pump writes. A write never blocks: it returns EAGAIN when nothing can be taken now. The client's
// own descriptors are not made non-blocking for that, as they may be shared with others: pipes and terminals are opened
// once more, sockets are asked call by call.
type output struct {
	fd       int
	original int // the client's descriptor, when fd is a second opening of it
	socket   bool
	terminal bool
	most     int // bytes that a write may take; 0: no limit
	closed   bool
}

// newOutput makes an output of the client's descriptor.
func newOutput(fd int) *output {
	o := &output{fd: fd, original: -1}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return o
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFSOCK:
		o.socket = true
	case unix.S_IFIFO, unix.S_IFCHR:
		o.terminal = st.Mode&unix.S_IFMT == unix.S_IFCHR
		if again, err := reopen(fd); err == nil {
			o.fd, o.original = again, fd
		} else {
			o.most = pipeAtomic
		}
	}
	return o
}

// ownOutput makes an output of a pipe end that belongs to this process alone.
func ownOutput(fd int) *output {
	unix.SetNonblock(fd, true)
	return &output{fd: fd, original: -1}
}

func (o *output) write(b []byte) (int, error) {
	if o.socket {
		return sendNow(o.fd, b)
	}
	if o.most > 0 {
		fds := []unix.PollFd{{Fd: int32(o.fd), Events: unix.POLLOUT}}
		if n, err := unix.Poll(fds, 0); err != nil {
			return 0, err
		} else if n == 0 {
			return 0, unix.EAGAIN
		}
		b = b[:min(len(b), o.most)]
	}
	return unix.Write(o.fd, b)
}

// close closes both descriptors, once.
func (o *output) close() {
	if o.closed {
		return
	}
	o.closed = true
	if o.original >= 0 {
		unix.Close(o.fd)
		closeEnd(o.original)
		return
	}
	closeEnd(o.fd)
}
