//go:build unix

package proxy_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"pitap/internal/zoo"
	"pitap/proxy"
	"pitap/record"
)

var bin string // folder with the agents

// The test binary is also the agents and the detached copy.
func TestMain(m *testing.M) {
	zoo.Main()
	if len(os.Args) == 2 && os.Args[1] == "deliver" {
		if err := proxy.Deliver(func(err error) { fmt.Fprintln(os.Stderr, err) }); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(testMain(m))
}

func testMain(m *testing.M) int {
	var err error
	bin, err = zoo.Setup()
	defer os.RemoveAll(bin)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// session is a Run in this process, with the test as the client.
type session struct {
	t      *testing.T
	cfg    proxy.Config
	path   string   // of the capture
	file   *os.File // the same
	stdin  *os.File
	outs   [2]*os.File
	done   chan struct{}
	result proxy.Result
	err    error

	mu       sync.Mutex
	warnings []error
	got      [2][]byte // stdout, stderr
	readers  sync.WaitGroup
}

// newSession makes a session whose agent does steps; wrap may put something before the capture's file.
func newSession(t *testing.T, wrap func(record.File) record.File, steps ...string) *session {
	t.Helper()
	s := &session{t: t, path: filepath.Join(t.TempDir(), "x.jsonl.zst"), done: make(chan struct{})}
	var err error
	if s.file, err = os.OpenFile(s.path, os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := record.Lock(s.file); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s.cfg = proxy.Config{Path: filepath.Join(bin, "zoo"), Argv: append([]string{filepath.Join(bin, "zoo")}, steps...), Warn: s.warn,
		Copy: []string{self, "deliver"}, Capture: func() *os.File { return s.file }}
	start := time.Now()
	s.cfg.Recorder = record.NewRecorder(record.Config{
		Open:  func() (record.File, *record.Header, error) { return wrap(s.file), &record.Header{Pitap: 1}, nil },
		Clock: func() int64 { return int64(time.Since(start)) },
		Wall:  time.Now,
		Warn:  s.warn,
	})
	return s
}

// warn collects warnings; what is said at the end once more, it leaves out.
func (s *session) warn(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.warnings); n == 0 || s.warnings[n-1].Error() != err.Error() {
		s.warnings = append(s.warnings, err)
	}
}

// warned gives the warnings so far.
func (s *session) warned() []error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]error{}, s.warnings...)
}

// start runs the session; what the agent writes is collected.
func (s *session) start() {
	s.t.Helper()
	var fds [3][2]int
	for i := range fds {
		if err := unix.Pipe(fds[i][:]); err != nil {
			s.t.Fatal(err)
		}
		unix.CloseOnExec(fds[i][0])
		unix.CloseOnExec(fds[i][1])
	}
	s.stdin = os.NewFile(uintptr(fds[0][1]), "stdin")
	s.cfg.Stdin, s.cfg.Stdout, s.cfg.Stderr = fds[0][0], fds[1][1], fds[2][1]
	for i := range s.outs {
		s.outs[i] = os.NewFile(uintptr(fds[1+i][0]), "output")
		s.readers.Go(func() { s.read(i) })
	}
	go func() {
		defer close(s.done)
		s.result, s.err = proxy.Run(s.cfg)
	}()
	s.t.Cleanup(func() {
		s.stdin.Close()
		s.wait(30 * time.Second)
		s.readers.Wait()
		s.outs[0].Close()
		s.outs[1].Close()
	})
}

func (s *session) read(i int) {
	buf := make([]byte, 64<<10)
	for {
		n, err := s.outs[i].Read(buf)
		s.mu.Lock()
		s.got[i] = append(s.got[i], buf[:n]...)
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// bytes gives what has come on stdout (0) or stderr (1).
func (s *session) bytes(i int) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.got[i]
}

// until waits until so many bytes have come on stdout.
func (s *session) until(n int) {
	s.t.Helper()
	every := time.NewTicker(2 * time.Millisecond)
	defer every.Stop()
	for deadline := time.Now().Add(60 * time.Second); len(s.bytes(0)) < n; <-every.C {
		if time.Now().After(deadline) {
			s.t.Fatalf("only %d bytes came, not %d", len(s.bytes(0)), n)
		}
	}
}

// wait waits until Run has returned.
func (s *session) wait(limit time.Duration) {
	s.t.Helper()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-s.done:
	case <-timer.C:
		s.t.Fatalf("Run has not returned within %v", limit)
	}
}

// send writes to the agent.
func (s *session) send(text string) {
	s.t.Helper()
	if _, err := s.stdin.WriteString(text); err != nil {
		s.t.Fatal(err)
	}
}

// capture is what a capture holds.
type capture struct {
	bytes     map[record.Stream]int64 // recorded
	lost      map[string]int64        // in gaps
	notes     map[string]int
	condition string
	damage    []record.Damage
}

// capture waits, after Run, until nobody writes the capture any more, and reads it.
func (s *session) capture() capture {
	s.t.Helper()
	s.file.Close() // what is left holds the lock
	every := time.NewTicker(10 * time.Millisecond)
	defer every.Stop()
	for deadline := time.Now().Add(60 * time.Second); s.live(); <-every.C {
		if time.Now().After(deadline) {
			s.t.Fatal("the capture has no end")
		}
	}
	return s.readCapture()
}

func (s *session) live() bool {
	file, err := record.Open(s.path)
	if err != nil {
		s.t.Fatal(err)
	}
	defer file.Close()
	return file.Live()
}

func (s *session) readCapture() capture {
	s.t.Helper()
	file, err := record.Open(s.path)
	if err != nil {
		s.t.Fatal(err)
	}
	defer file.Close()
	c := capture{bytes: map[record.Stream]int64{}, lost: map[string]int64{}, notes: map[string]int{}}
	streams := map[record.Stream]*record.Bytes{}
	for _, from := range []record.Stream{record.Client, record.Agent, record.Stderr} {
		streams[from] = &record.Bytes{From: from, To: counter{c.bytes, from}}
	}
	for file.Next() {
		e := file.Entry()
		if e.Note != nil {
			c.notes[e.Note.Kind]++
			if e.Note.Kind == "gap" {
				for from, n := range e.Note.Lost {
					c.lost[from] += n
				}
			}
		} else if err := streams[e.From].Entry(e); err != nil {
			s.t.Fatal(err)
		}
	}
	if err := file.Err(); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		s.t.Fatal(err)
	}
	c.condition, c.damage = file.Condition(), file.Damage()
	return c
}

type counter struct {
	counts map[record.Stream]int64
	from   record.Stream
}

func (c counter) Write(p []byte) (int, error) {
	c.counts[c.from] += int64(len(p))
	return len(p), nil
}

func touch(file string) error { return os.WriteFile(file, nil, 0o600) }
