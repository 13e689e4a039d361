//go:build unix

package main

import (
	"errors"
	"os"
	"strconv"
	"syscall"

	"pitap/record"
)

// parentVariable names a descriptor whose other end the process in front of pitap holds, and never writes to: at its end
// that process is gone. The shim's pi.mjs uses it where it can't become pitap, since nothing else tells that it was
// killed: pitap's own streams lead to the client.
const parentVariable = "PITAP_PARENT_FD"

// parent watches the process in front of pitap. Nil when there is none.
type parent struct {
	end  *os.File
	done chan struct{} // closed when watch's goroutine has ended; nil before watch
}

// takeParent takes the descriptor out of the environment, so that nobody else gets it.
func takeParent(getenv func(string) string) *parent {
	fd, err := strconv.Atoi(getenv(parentVariable))
	os.Unsetenv(parentVariable)
	if err != nil || fd <= 2 {
		return nil
	}
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil || st.Mode&syscall.S_IFMT != syscall.S_IFSOCK && st.Mode&syscall.S_IFMT != syscall.S_IFIFO {
		return nil // it came from somewhere else
	}
	syscall.CloseOnExec(fd)
	syscall.SetNonblock(fd, true) // or a read could not be interrupted
	return &parent{end: os.NewFile(uintptr(fd), parentVariable)}
}

// dropParent is takeParent for a process that becomes another one: nobody will watch.
func dropParent() { takeParent(os.Getenv) }

// watch kills the agent when the process in front is gone, as the agent would be if that were pitap itself. close ends
// it. The recorder is told.
func (p *parent) watch(pid int, rec *record.Recorder) {
	if p == nil || pid == 0 {
		return
	}
	agent, err := os.FindProcess(pid) // by a handle where the system has one: pid may belong to another later
	if err != nil {
		return
	}
	p.done = make(chan struct{})
	go p.wait(agent, rec)
}

// wait is the watching goroutine.
func (p *parent) wait(agent *os.Process, rec *record.Recorder) {
	defer close(p.done)
	defer agent.Release()
	var b [64]byte
	for {
		_, err := p.end.Read(b[:])
		switch {
		case err == nil:
			continue
		case errors.Is(err, os.ErrClosed):
			return
		}
		rec.Note(&record.Entry{Note: &record.Note{Kind: "signal", Signal: "SIGKILL", To: "agent", Error: "the process that had started pitap was killed"}})
		agent.Kill()
		return
	}
}

// close ends watch.
func (p *parent) close() {
	if p == nil {
		return
	}
	p.end.Close()
	if p.done != nil {
		<-p.done
	}
}
