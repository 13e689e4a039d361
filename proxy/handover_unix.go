//go:build unix

package proxy

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"pitap/record"
)

// Descriptors of the detached copy. 1 and 2 are the client's stdout and stderr, or the null device where that stream
// has ended.
const (
	handState   = 3
	handCapture = 4
	handStdout  = 5
	handStderr  = 6
)

// handover is what a process tells the copy that goes on for it.
type handover struct {
	State   *record.State
	Sync    bool
	Wall    time.Time // when Elapsed was read
	Elapsed int64     // of the recorder's clock, nanoseconds
	Pumps   [2]handPump
}

type handPump struct {
	Open bool
	Off  int64
	Rest []byte
}

// detach starts a copy of this program, in a session of its own, that delivers what the pumps left and finishes the
// capture.
func (s *session) detach(state *record.State) error {
	h := handover{State: state, Sync: s.cfg.Sync, Wall: time.Now(), Elapsed: s.cfg.now()}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	nullFd := int(null.Fd())
	fds := []int{nullFd, nullFd, nullFd, -1, nullFd, nullFd, nullFd}
	for i, p := range s.outputs {
		if p.ended {
			continue
		}
		h.Pumps[i] = handPump{true, p.off, p.rest}
		fds[1+i], fds[handStdout+i] = p.out.fd, p.in
		if p.out.original >= 0 {
			fds[1+i] = p.out.original
		}
	}
	if state != nil && s.cfg.Capture != nil {
		if f := s.cfg.Capture(); f != nil {
			fds[handCapture] = int(f.Fd())
		}
	}
	memory, err := stateFile(&h)
	if err != nil {
		return err
	}
	defer memory.Close()
	fds[handState] = int(memory.Fd())
	files := make([]uintptr, len(fds))
	for i, fd := range fds {
		files[i] = uintptr(fd)
	}
	// Not under this process's name: the copy is nobody's agent, whatever the file is called. Nobody waits for it, and
	// it is given descriptors, not files, which would take more of them.
	argv := append([]string{"pitap"}, s.cfg.Copy[1:]...)
	if _, err := syscall.ForkExec(s.cfg.Copy[0], argv, &syscall.ProcAttr{Dir: "/", Env: os.Environ(), Files: files, Sys: detachedAttr()}); err != nil {
		return fmt.Errorf("start a copy that delivers the rest: %w", err)
	}
	return nil
}

// stateFile writes the state to a file without a name.
func stateFile(h *handover) (*os.File, error) {
	f, err := memoryFile()
	if err != nil {
		return nil, err
	}
	if err := json.NewEncoder(f).Encode(h); err != nil {
		f.Close()
		return nil, err
	}
	_, err = f.Seek(0, io.SeekStart)
	return f, err
}

// Deliver is the detached copy: it takes what another process's Run handed over, delivers it, and ends the capture.
func Deliver(warn func(error)) error {
	memory := os.NewFile(handState, "state")
	var h handover
	if err := json.NewDecoder(memory).Decode(&h); err != nil {
		return fmt.Errorf("read the state that was handed over: %w", err)
	}
	memory.Close()
	for fd := handCapture; fd <= handStderr; fd++ {
		unix.CloseOnExec(fd)
	}
	cfg := &Config{Stdin: 0, Stdout: 1, Stderr: 2, Warn: warn}
	if h.State != nil {
		base := time.Now()
		elapsed := h.Elapsed + max(0, int64(base.Round(0).Sub(h.Wall)))
		capture := os.NewFile(handCapture, "capture")
		cfg.Recorder = record.NewRecorder(record.Config{
			Open:   func() (record.File, *record.Header, error) { return capture, nil, nil },
			Clock:  func() int64 { return elapsed + int64(time.Since(base)) },
			Wall:   time.Now,
			Warn:   warn,
			Sync:   h.Sync,
			Resume: h.State,
		})
	}
	s := &session{cfg: cfg}
	var err error
	if s.stopR, s.stopW, err = pipe(); err != nil {
		return err
	}
	ends := [2]struct{ in, out int }{{handStdout, cfg.Stdout}, {handStderr, cfg.Stderr}}
	for i, hp := range h.Pumps {
		p := newPump(cfg, record.Agent+record.Stream(i), ends[i].in, newOutput(ends[i].out), s.stopR)
		p.off, p.rest = hp.Off, hp.Rest
		s.outputs[i] = p
		if hp.Open {
			go p.run()
		} else {
			close(p.done)
		}
	}
	for _, p := range s.outputs {
		<-p.done
	}
	if cfg.Recorder != nil {
		return cfg.Recorder.Close()
	}
	return nil
}
