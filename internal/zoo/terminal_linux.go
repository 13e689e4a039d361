package zoo

import (
	"bytes"
	"fmt"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Terminal is a terminal and whoever sits at it. What is shown is read at once and kept.
type Terminal struct {
	Slave *os.File // for the process

	t       testing.TB
	master  *os.File
	done    chan struct{}
	mu      sync.Mutex
	shown   []byte
	from    int // what Expect has passed
	changed chan struct{}
}

// NewTerminal makes a terminal that ends with the test.
func NewTerminal(t testing.TB) *Terminal {
	t.Helper()
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	master := os.NewFile(uintptr(fd), "terminal")
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	var slave *os.File
	if err == nil {
		slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	s := &Terminal{Slave: slave, t: t, master: master, done: make(chan struct{}), changed: make(chan struct{})}
	go s.read()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the terminal shows: %q", s.Shown())
		}
		s.HangUp()
		slave.Close()
	})
	return s
}

func (s *Terminal) read() {
	defer close(s.done)
	buf := make([]byte, 64<<10)
	for {
		n, err := s.master.Read(buf)
		s.mu.Lock()
		s.shown = append(s.shown, buf[:n]...)
		close(s.changed)
		s.changed = make(chan struct{})
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// Type sends keys.
func (s *Terminal) Type(keys string) {
	s.t.Helper()
	if _, err := s.master.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

// Shown is all that the terminal has shown.
func (s *Terminal) Shown() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return bytes.Clone(s.shown)
}

// Expect waits until the terminal shows text, behind what was expected before.
func (s *Terminal) Expect(text string) {
	s.t.Helper()
	timer := time.NewTimer(20 * time.Second)
	defer timer.Stop()
	for {
		s.mu.Lock()
		changed := s.changed
		at := bytes.Index(s.shown[s.from:], []byte(text))
		if at >= 0 {
			s.from += at + len(text)
			s.mu.Unlock()
			return
		}
		s.mu.Unlock()
		select {
		case <-changed:
		case <-timer.C:
			s.t.Fatalf("the terminal does not show %q, but %q", text, s.Shown())
		}
	}
}

// HangUp ends the terminal.
func (s *Terminal) HangUp() {
	s.master.Close()
	<-s.done
}
