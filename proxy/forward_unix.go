//go:build unix

package proxy

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"pitap/record"
)

// signals passes signals on to the agent.
type signals struct {
	come     chan os.Signal
	late     []os.Signal // to be caught when the agent has started
	stops    bool        // SIGTSTP stops this process, too
	terminal bool        // this process has a controlling terminal
}

// catch starts to catch the signals that are passed on. One that was ignored when the program started is ignored by the
// agent, too, unless it wants to hear of it (Node.js does): it has to be caught later, since catching ends the ignoring.
func catch() *signals {
	s := &signals{come: make(chan os.Signal, 64), stops: !ignored(unix.SIGTSTP), terminal: hasTerminal()}
	for _, sig := range passed() {
		if ignored(sig) {
			s.late = append(s.late, sig)
		} else {
			signal.Notify(s.come, sig)
		}
	}
	return s
}

// started is called when the agent has been started.
func (s *signals) started() {
	if len(s.late) > 0 {
		signal.Notify(s.come, s.late...)
	}
}

func (s *signals) stop() { signal.Stop(s.come) }

// forward passes a signal on. Those that a terminal sends to a whole group go to the agent's whole group when there is
// a terminal; SIGCONT, too, since it ends what SIGTSTP began.
func (s *session) forward(sig os.Signal) {
	number := sig.(syscall.Signal)
	to := "agent"
	switch number {
	case unix.SIGINT, unix.SIGQUIT, unix.SIGHUP, unix.SIGTSTP, unix.SIGCONT:
		if s.signals.terminal {
			to = "group"
		}
	}
	s.send(number, to)
	s.cfg.note(record.NoStream, record.Note{Kind: "signal", Signal: signalName(number), To: to})
	if number == unix.SIGTSTP && s.signals.stops {
		s.pause()
	}
}

func (s *session) send(sig syscall.Signal, to string) {
	if to == "group" {
		unix.Kill(-s.agent.Pid, sig)
	} else {
		s.agent.Signal(sig)
	}
}

// pause stops this process until it is continued. The system stops no process in a group that nobody could continue;
// the agent's group is another one, so it is continued then.
func (s *session) pause() {
	stopSelf()
	timer := time.NewTimer(notStopped)
	defer timer.Stop()
	for {
		select {
		case sig := <-s.signals.come:
			s.forward(sig)
			if sig == unix.SIGCONT {
				return
			}
		case <-timer.C:
			s.send(unix.SIGCONT, "group")
			return
		}
	}
}

// notStopped is how long SIGCONT may take to be seen after it has continued this process.
const notStopped = 100 * time.Millisecond

// hasTerminal tells whether this process has a controlling terminal.
func hasTerminal() bool {
	fd, err := unix.Open("/dev/tty", unix.O_RDONLY|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	unix.Close(fd)
	return true
}

func signalName(sig os.Signal) string {
	number, ok := sig.(syscall.Signal)
	if !ok {
		return sig.String()
	}
	if name := unix.SignalName(number); name != "" {
		return name
	}
	return realtimeName(number)
}
