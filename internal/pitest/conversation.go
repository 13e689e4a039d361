package pitest

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Stdio says what an agent's stdin, stdout and stderr are.
type Stdio int

const (
	Pipes       Stdio = iota // as a shell, Python or Go makes them
	SocketPairs              // as Node makes them
)

func (s Stdio) String() string {
	return [...]string{"pipes", "socket pairs"}[s]
}

// Conversation plays the client of one agent process. Its methods fail the test when what they wait for does not come,
// so they are for the test's goroutine. When the test ends, the process is killed if it still runs and all is closed.
//
// Everything that the agent writes is read at once and kept, whether or not a method waits for it.
type Conversation struct {
	Out, Err *Output       // the agent's stdout and stderr
	Patience time.Duration // how long a method waits; 60 s at first: a busy machine starts node and pi in 20

	t     testing.TB
	cmd   *exec.Cmd
	stdin *os.File
	done  sync.WaitGroup  // readers, waiter, senders
	last  <-chan struct{} // closed when all sends so far have ended

	mu      sync.Mutex
	changed chan struct{} // closed and replaced when something below, or in Out and Err, has changed
	sent    []byte
	exited  bool
	status  int
	waitErr error

	expected int  // how many records of Out the methods Expect have passed
	told     bool // a failure's message has said where the conversation stood
}

// Start starts cmd, which must have no Stdin, Stdout and Stderr of its own, with three pipes or socket pairs.
func Start(t testing.TB, cmd *exec.Cmd, stdio Stdio) *Conversation {
	t.Helper()
	c := &Conversation{Patience: 60 * time.Second, t: t, cmd: cmd, changed: make(chan struct{})}
	var ours, theirs [3]*os.File
	closeAll := func(files [3]*os.File) {
		for _, f := range files {
			f.Close() // nil is fine
		}
	}
	for i := range ours {
		var err error
		if ours[i], theirs[i], err = connect(stdio, i == 0); err != nil {
			closeAll(ours)
			closeAll(theirs)
			if errors.Is(err, errors.ErrUnsupported) {
				t.Skipf("no %v here: %v", stdio, err)
			}
			t.Fatal(err)
		}
	}
	// Files are handed over as they are; anything else exec would copy, and Wait would wait for it.
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs[0], theirs[1], theirs[2]
	err := cmd.Start()
	closeAll(theirs)
	if err != nil {
		closeAll(ours)
		t.Fatal(err)
	}
	c.stdin = ours[0]
	c.Out, c.Err = &Output{c: c, name: "stdout", file: ours[1]}, &Output{c: c, name: "stderr", file: ours[2]}
	c.done.Go(c.Out.read)
	c.done.Go(c.Err.read)
	c.done.Go(c.waitForExit)
	t.Cleanup(c.end)
	return c
}

// connect makes one connection to a child; toChild says which way a pipe leads.
func connect(stdio Stdio, toChild bool) (ours, theirs *os.File, err error) {
	if stdio == SocketPairs {
		return socketPair()
	}
	r, w, err := os.Pipe()
	if toChild {
		return w, r, err
	}
	return r, w, err
}

func (c *Conversation) waitForExit() {
	err := c.cmd.Wait()
	c.update(func() {
		c.exited = true
		if ws, ok := c.cmd.ProcessState.Sys().(syscall.WaitStatus); ok {
			c.status = ws.ExitStatus()
			if ws.Signaled() {
				c.status = -int(ws.Signal())
			}
		}
		if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) {
			c.waitErr = err
		}
	})
}

// end is the test's cleanup.
func (c *Conversation) end() {
	if c.t.Failed() && !c.told {
		c.t.Logf("the conversation at the end: %s", c.summary())
	}
	c.stdin.Close()
	c.cmd.Process.Kill() // an error means that it has exited
	c.Out.close()
	c.Err.close()
	c.done.Wait()
}

// update changes what mu guards and wakes everybody who waits for a change.
func (c *Conversation) update(change func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change()
	c.notify()
}

// notify is called with mu held.
func (c *Conversation) notify() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// await waits until done says true; it is called, with mu held, at first and after every change. The test fails when
// that takes longer than Patience, or when done returns an error.
func (c *Conversation) await(what string, done func() (bool, error)) {
	c.t.Helper()
	timer := time.NewTimer(c.Patience)
	defer timer.Stop()
	for {
		c.mu.Lock()
		changed := c.changed // before done, which may let go of mu
		ok, err := done()
		c.mu.Unlock()
		if err != nil {
			c.fatalf("waiting for %s: %v", what, err)
		}
		if ok {
			return
		}
		select {
		case <-changed:
		case <-timer.C:
			c.fatalf("waiting for %s: not within %v", what, c.Patience)
		}
	}
}

func (c *Conversation) fatalf(format string, args ...any) {
	c.t.Helper()
	c.told = true
	c.t.Fatalf("%s: %s", fmt.Sprintf(format, args...), c.summary())
}

// Send sends a record; the LF is added.
func (c *Conversation) Send(record string) {
	c.t.Helper()
	c.SendBytes([]byte(record + "\n"))
}

// SendBytes sends bytes as they are, in one write as far as the kernel takes them. It returns when the kernel has taken
// them all, which waits for the agent when the pipe is full.
func (c *Conversation) SendBytes(b []byte) {
	c.t.Helper()
	s := c.SendInBackground(b)
	c.await(fmt.Sprintf("the agent to take %d bytes", len(b)), func() (bool, error) { return s.ended, s.err })
}

// Sending is a send in the background.
type Sending struct {
	c     *Conversation
	ended bool // guarded by c.mu, as err
	err   error
}

// SendInBackground sends bytes without waiting for the agent to take them; what is sent after them comes after them.
func (c *Conversation) SendInBackground(b []byte) *Sending {
	s, before, done := &Sending{c: c}, c.last, make(chan struct{})
	c.last = done
	c.done.Go(func() {
		defer close(done)
		if before != nil {
			<-before
		}
		n, err := c.stdin.Write(b)
		c.update(func() {
			c.sent = append(c.sent, b[:n]...)
			s.ended, s.err = true, err
		})
	})
	return s
}

// Wait waits until all bytes have been taken, and returns the error that prevented it, if one did: EPIPE, or
// os.ErrClosed after CloseStdin.
func (s *Sending) Wait() error {
	s.c.t.Helper()
	s.c.await("the agent to take what was sent", func() (bool, error) { return s.ended, nil })
	return s.err
}

// In is the exact bytes that the kernel has taken, of the sends that have ended. They must not be changed.
func (c *Conversation) In() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clip(c.sent)
}

// CloseStdin closes the agent's stdin. What is still being sent in the background is cut.
func (c *Conversation) CloseStdin() { c.stdin.Close() }

// CloseStdout closes the reading end of the agent's stdout; Out keeps what has come.
func (c *Conversation) CloseStdout() { c.Out.Close() }

// StopReading stops reading the agent's stdout: see Output.StopReading.
func (c *Conversation) StopReading() {
	c.t.Helper()
	c.Out.StopReading()
}

// ResumeReading goes on reading the agent's stdout.
func (c *Conversation) ResumeReading() { c.Out.ResumeReading() }

// Pid is the agent's process id.
func (c *Conversation) Pid() int { return c.cmd.Process.Pid }

// Signal sends a signal to the agent's process.
func (c *Conversation) Signal(s os.Signal) {
	c.t.Helper()
	if err := c.cmd.Process.Signal(s); err != nil {
		c.fatalf("sending %v: %v", s, err)
	}
}

// Running says whether the agent's process has not exited.
func (c *Conversation) Running() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.exited
}

// Wait waits until the agent's process has exited and returns its status: the exit code, or a signal's number, negative,
// for a death by signal. The test fails when it is none of those wanted, if any are given. Output may still come when
// another process holds the agent's stdout.
func (c *Conversation) Wait(want ...int) int {
	c.t.Helper()
	c.await("the exit", func() (bool, error) { return c.exited, c.waitErr })
	if len(want) > 0 && !slices.Contains(want, c.status) {
		c.fatalf("exit status %d, want %v", c.status, want)
	}
	return c.status
}

// WaitForEnd waits until stdout and stderr have ended, so that Out and Err are complete.
func (c *Conversation) WaitForEnd() {
	c.t.Helper()
	c.await("the end of stdout and stderr", func() (bool, error) { return c.Out.ended && c.Err.ended, nil })
}

// Finish closes the agent's stdin and waits for its exit and the end of its output; see Wait.
func (c *Conversation) Finish(want ...int) int {
	c.t.Helper()
	c.CloseStdin()
	status := c.Wait(want...)
	c.WaitForEnd()
	return status
}

// Expect waits for a record whose kind or type is given. Records that came before it are passed over: only those after
// it can be expected next. Several kinds: any of them.
func (c *Conversation) Expect(kinds ...string) Record {
	c.t.Helper()
	return c.ExpectFunc(strings.Join(kinds, " or "), func(r Record) bool {
		typ, kind := r.names()
		return slices.Contains(kinds, typ) || slices.Contains(kinds, kind)
	})
}

// ExpectFunc is Expect for records that match says true of; what names them in the message of a failure.
func (c *Conversation) ExpectFunc(what string, match func(Record) bool) Record {
	c.t.Helper()
	found, n := c.find(what, c.expected, match)
	c.expected = n + 1
	return found
}

// Response waits for the response to the command with an id (a string), wherever in the conversation it is: responses
// may overtake each other. What Expect waits for next does not change.
func (c *Conversation) Response(id string) Record {
	c.t.Helper()
	found, _ := c.find("the response to "+id, 0, func(r Record) bool { return r.answers(id) })
	return found
}

// find waits for the first record that matches, from the one with index from; it also returns its index.
func (c *Conversation) find(what string, from int, match func(Record) bool) (found Record, n int) {
	c.t.Helper()
	n = from
	c.await(what, func() (bool, error) {
		records, ended := c.Out.records, c.Out.ended
		c.mu.Unlock() // or parsing would hold up the reader
		defer c.mu.Lock()
		for ; n < len(records); n++ {
			if match(records[n]) {
				found = records[n]
				return true, nil
			}
		}
		if ended {
			return false, errors.New("stdout has ended")
		}
		return false, nil
	})
	return found, n
}

// Records is all records that have come so far, and not what comes after the last LF.
func (c *Conversation) Records() []Record {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clip(c.Out.records)
}

// Until waits until done says true of the bytes that have come on stdout and stderr, which it must not change.
func (c *Conversation) Until(what string, done func(out, err []byte) bool) {
	c.t.Helper()
	c.await(what, func() (bool, error) {
		if done(c.Out.bytes, c.Err.bytes) {
			return true, nil
		}
		if c.Out.ended && c.Err.ended {
			return false, errors.New("stdout and stderr have ended")
		}
		return false, nil
	})
}

// summary says where the conversation stands, for the message of a failure.
func (c *Conversation) summary() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var b strings.Builder
	state := "the agent runs"
	if c.exited {
		state = fmt.Sprintf("the agent exited with %d", c.status)
	}
	fmt.Fprintf(&b, "%s; %d bytes sent, %d records received, %d expected", state, len(c.sent), len(c.Out.records), c.expected)
	for _, r := range c.Out.records[max(0, len(c.Out.records)-8):] {
		fmt.Fprintf(&b, "\n\tstdout: %.200q", r)
	}
	if rest := c.Out.bytes[c.Out.lineStart:]; len(rest) > 0 {
		fmt.Fprintf(&b, "\n\tstdout, without LF: %.200q", rest)
	}
	if tail := c.Err.bytes[max(0, len(c.Err.bytes)-2000):]; len(tail) > 0 {
		fmt.Fprintf(&b, "\n\tstderr: %s", strings.ReplaceAll(string(tail), "\n", "\n\t\t"))
	}
	for _, o := range []*Output{c.Out, c.Err} {
		if o.err != nil && o.err != io.EOF {
			fmt.Fprintf(&b, "\n\t%s: %v", o.name, o.err)
		}
	}
	return b.String()
}
