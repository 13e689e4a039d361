//go:build unix

package proxy

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"pitap/record"
)

// session is one run of an agent.
type session struct {
	cfg     *Config
	signals *signals
	agent   *os.Process
	gone    chan struct{} // closed when the agent has exited
	// The process's ends of the agent's pipes.
	stdin, stdout, stderr int

	stopR, stopW int // closing stopW stops the pumps
	client       *pump
	outputs      [2]*pump // agent, stderr
}

// Run starts the agent, forwards until it has exited, and finishes the recorder. The error is a *FindError, or of the
// system, when the agent could not be started; then nothing was forwarded.
func Run(cfg Config) (Result, error) {
	signal.Notify(make(chan os.Signal, 1), unix.SIGPIPE) // a broken pipe is an error of write, not the end
	s := &session{cfg: &cfg, signals: catch(), gone: make(chan struct{})}
	defer s.signals.stop()
	exited := make(chan Result, 1)
	started := make(chan error, 1)
	go s.live(started, exited)
	if err := <-started; err != nil {
		s.failed(err)
		return Result{}, err
	}
	s.signals.started()
	if err := s.pump(); err != nil {
		s.agent.Kill()
		result := <-exited
		s.failed(err)
		return result, err
	}
	for {
		select {
		case sig := <-s.signals.come:
			s.forward(sig)
		case result := <-exited:
			s.finish(result)
			for _, p := range s.outputs { // also what another process goes on to write to
				p.out.close()
			}
			return result, nil
		}
	}
}

// live is the goroutine that starts the agent and waits for its end. It keeps its thread for that long: the agent is
// killed when the thread that started it ends, so that no agent outlives a proxy that was killed.
func (s *session) live(started chan<- error, exited chan<- Result) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := s.start()
	started <- err
	if err != nil {
		return
	}
	state, err := s.agent.Wait()
	close(s.gone)
	if err != nil {
		exited <- Result{Code: 1}
		return
	}
	ws := state.Sys().(syscall.WaitStatus)
	if ws.Signaled() {
		exited <- Result{Code: -1, Signal: ws.Signal()}
		return
	}
	exited <- Result{Code: ws.ExitStatus()}
}

// start makes the pipes and starts the agent, in a process group of its own.
func (s *session) start() error {
	var child [3]int
	var err error
	fail := func() error {
		for _, fd := range []int{child[0], child[1], child[2], s.stdin, s.stdout, s.stderr} {
			if fd > 2 {
				unix.Close(fd)
			}
		}
		return err
	}
	if child[0], s.stdin, err = pipe(); err != nil {
		return fail()
	}
	if s.stdout, child[1], err = pipe(); err != nil {
		return fail()
	}
	if s.stderr, child[2], err = pipe(); err != nil {
		return fail()
	}
	attr := &syscall.ProcAttr{Dir: s.cfg.Dir, Env: s.cfg.Env, Files: []uintptr{uintptr(child[0]), uintptr(child[1]), uintptr(child[2])}, Sys: agentAttr()}
	if attr.Env == nil {
		attr.Env = syscall.Environ()
	}
	path, argv := s.cfg.Path, s.cfg.Argv
	pid, err := syscall.ForkExec(path, argv, attr)
	if errors.Is(err, syscall.ENOEXEC) { // as execvp does with a script that has no #!
		pid, err = syscall.ForkExec("/bin/sh", append([]string{"/bin/sh", path}, argv[1:]...), attr)
	}
	if err != nil {
		status := StatusNotExecutable
		if errors.Is(err, syscall.ENOENT) {
			status = StatusNotFound
		}
		err = &FindError{path, status, err}
		return fail()
	}
	for _, fd := range child {
		unix.Close(fd)
	}
	s.agent, err = os.FindProcess(pid)
	return err
}

// failed records that the agent could not be started.
func (s *session) failed(err error) {
	if s.cfg.Started != nil {
		s.cfg.Started(0)
	}
	code := 126
	var find *FindError
	if errors.As(err, &find) {
		code = find.Status
	}
	s.cfg.note(record.Agent, record.Note{Kind: "exit", Code: &code, Error: err.Error()})
	for i := range s.outputs {
		s.outputs[i] = &pump{ended: true}
	}
	s.end()
}

// pump starts the three pumps.
func (s *session) pump() error {
	var err error
	if s.stopR, s.stopW, err = pipe(); err != nil {
		return err
	}
	if s.cfg.Started != nil {
		s.cfg.Started(s.agent.Pid)
	}
	s.client = newPump(s.cfg, record.Client, s.cfg.Stdin, ownOutput(s.stdin), s.stopR)
	s.outputs[0] = newPump(s.cfg, record.Agent, s.stdout, newOutput(s.cfg.Stdout), s.stopR)
	s.outputs[1] = newPump(s.cfg, record.Stderr, s.stderr, newOutput(s.cfg.Stderr), s.stopR)
	s.outputs[1].gone = s.gone
	s.client.answers = s.outputs[:]
	go s.client.run()
	go s.outputs[0].run()
	go s.outputs[1].run()
	return nil
}

// finish delivers what the agent has left behind, hands over what can't be delivered now, and ends the capture.
func (s *session) finish(result Result) {
	timer := time.NewTimer(grace)
	defer timer.Stop()
	waited := false
	for _, p := range s.outputs {
		if !waited {
			select {
			case <-p.done:
			case <-timer.C:
				waited = true
			}
		}
	}
	n := record.Note{Kind: "exit"}
	if result.Signal != nil {
		n.Signal = signalName(result.Signal)
	} else {
		n.Code = &result.Code
	}
	s.cfg.note(record.Agent, n)
	unix.Close(s.stopW)
	for _, p := range s.outputs {
		<-p.done
	}
	timer.Reset(grace)
	select {
	case <-s.client.done:
		if left := len(s.client.rest); left > 0 {
			s.cfg.noteAt(record.Client, s.client.off, record.Note{Kind: "undelivered", Bytes: int64(left)})
		}
	case <-timer.C: // somebody else has read what there was, and this read waits for more
	}
	s.end()
}

// end ends the capture. When pumps were stopped before their end, or the capture's file is too slow, it gives all that
// is open to a detached copy of the program.
func (s *session) end() {
	for i, p := range s.outputs {
		if !p.ended && p.out.terminal {
			s.outputs[i] = s.drain(p)
		}
	}
	open := !s.outputs[0].ended || !s.outputs[1].ended
	if open && len(s.cfg.Copy) == 0 {
		s.wait()
		open = false
	}
	state := s.endRecording(open)
	if !open && state == nil {
		return
	}
	err := s.detach(state)
	if err == nil {
		return
	}
	s.cfg.warn(fmt.Errorf("%w; this process stays until all is delivered", err))
	s.goOn(state)
	s.wait()
	if s.cfg.Recorder != nil {
		if _, err := s.cfg.Recorder.Finish(finishingHere); err != nil {
			s.cfg.warn(err)
		}
	}
}

// goOn makes a recorder that goes on where the last one stopped.
func (s *session) goOn(state *record.State) {
	last := s.cfg.Recorder
	s.cfg.Recorder = nil
	if state == nil || s.cfg.Capture == nil {
		return
	}
	capture := s.cfg.Capture()
	if capture == nil {
		return
	}
	s.cfg.Recorder = record.NewRecorder(record.Config{
		Open:   func() (record.File, *record.Header, error) { return capture, nil, nil },
		Clock:  last.Now,
		Wall:   time.Now,
		Warn:   s.cfg.Warn,
		Sync:   s.cfg.Sync,
		Resume: state,
	})
}

// endRecording ends the capture. It returns the state with which a copy goes on if that takes too long, or if there is
// more to come.
func (s *session) endRecording(open bool) *record.State {
	r := s.cfg.Recorder
	if r == nil {
		return nil
	}
	finish, limit := r.Finish, max(finishing, s.cfg.Finishing)
	if len(s.cfg.Copy) == 0 {
		limit = finishingHere
	}
	if open {
		s.cfg.note(record.NoStream, record.Note{Kind: "handover"})
		finish = r.Suspend
	}
	for tries := 1; ; tries++ {
		state, err := finish(limit)
		if state == nil && err != nil && tries < finishingTries {
			continue
		}
		if err != nil {
			s.cfg.warn(err)
		}
		return state
	}
}

// drain delivers what a stopped pump has left and what its agent has written, and gives the pump that goes on. A terminal
// drops what it was not written when the process that owns it ends, so nobody else can do it.
func (s *session) drain(p *pump) *pump {
	stopR, stopW, err := pipe()
	if err != nil {
		return p
	}
	defer unix.Close(stopR)
	defer unix.Close(stopW)
	next := newPump(s.cfg, p.stream, p.in, p.out, stopR)
	next.off = p.off
	if len(p.rest) > 0 && !next.deliver(p.rest) {
		return next
	}
	for {
		fds := []unix.PollFd{{Fd: int32(next.in), Events: unix.POLLIN}}
		if n, err := unix.Poll(fds, 0); err == unix.EINTR {
			continue
		} else if n < 1 || err != nil {
			return next // somebody else holds the other end
		}
		n, ok := next.read()
		if !ok {
			return next
		}
		s.cfg.put(next.stream, next.buf[:n])
		if !next.deliver(next.buf[:n]) {
			return next
		}
	}
}

// wait delivers what is left in this process, however long that takes.
func (s *session) wait() {
	var err error
	if s.stopR, s.stopW, err = pipe(); err != nil {
		s.cfg.warn(err)
		return
	}
	var pumps sync.WaitGroup
	for i, p := range s.outputs {
		if p.ended {
			continue
		}
		next := newPump(s.cfg, p.stream, p.in, p.out, s.stopR)
		next.rest, next.off = p.rest, p.off
		s.outputs[i] = next
		pumps.Go(next.run)
	}
	pumps.Wait()
	unix.Close(s.stopR)
	unix.Close(s.stopW)
}
