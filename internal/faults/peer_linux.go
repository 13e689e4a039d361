package faults

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	mostRecord = 70_000 // of the two streams between client and agent
	mostErr    = 2000   // of that on stderr: whole records in each write
)

// seeds of the three streams of a session.
func clientSeed(seed uint64) uint64 { return seed * 4 }
func agentSeed(seed uint64) uint64  { return seed*4 + 1 }
func stderrSeed(seed uint64) uint64 { return seed*4 + 2 }

// Task is what a peer that is a process of its own is to do.
type Task struct {
	Ledger string
	Seed   uint64
	Pace   time.Duration // mean pause between bursts of records
	Argv   []string      // of a client: what it starts. Without it the peer is an agent.

	// Of an agent:
	Status    int           // its exit status when its input has ended
	ExitAfter time.Duration // it exits, whatever it does, with Status
	Limit     int64         // bytes of its stream, after which it sends no more
	Catch     []int         // signals that are counted
	Default   []int         // signals that do what they do by default, also where the Go runtime would catch them
	Orphan    time.Duration // a child that lives so long holds its stdout, and writes "late\n" there at its end
}

// lifetime is how long a peer lives at most.
const lifetime = 3 * time.Minute

// Main is a peer, and does not return, if the program was started under the name peer.
func Main() {
	if len(os.Args) != 2 || filepath.Base(os.Args[0]) != "peer" {
		return
	}
	time.AfterFunc(lifetime, func() { os.Exit(98) })
	var task Task
	if err := json.Unmarshal([]byte(os.Args[1]), &task); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(97)
	}
	l, err := NewLedger(task.Ledger)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(97)
	}
	if task.Argv != nil {
		os.Exit(task.client(l))
	}
	os.Exit(task.agent(l))
}

// peer sends one stream and checks another.
type peer struct {
	*Ledger
	stop atomic.Bool // no more is sent
	r    *rand.Rand
	pace time.Duration
}

func newPeer(l *Ledger, seed uint64, pace time.Duration) *peer {
	return &peer{Ledger: l, r: rand.New(rand.NewPCG(seed, 5)), pace: pace}
}

// send sends a stream to out until it is stopped or nobody reads it, in bursts.
func (p *peer) send(s *Stream, out io.Writer, limit int64, written, broken *atomic.Int64) {
	for sent := int64(0); !p.stop.Load() && (limit == 0 || sent < limit); {
		for range 1 + p.r.IntN(20) {
			n, err := out.Write(s.Next())
			written.Add(int64(n))
			sent += int64(n)
			if err != nil {
				var number syscall.Errno
				errors.As(err, &number)
				broken.Store(max(1, int64(number)))
				return
			}
		}
		if p.pace > 0 {
			<-time.After(time.Duration(p.r.Int64N(2 * int64(p.pace))))
		}
	}
}

// receive checks what comes, to its end.
func (p *peer) receive(c *check, in io.Reader, what string, count func(n int), ended *atomic.Int64) {
	buf := make([]byte, 64<<10)
	for {
		n, err := in.Read(buf)
		if wrong := c.write(buf[:n]); wrong != nil {
			p.fail(fmt.Sprintf("%s: %v", what, wrong))
			return
		}
		if n > 0 {
			count(n)
		}
		if err != nil {
			ended.Store(1)
			return
		}
	}
}

// words drops what pitap says on stderr, and gives the rest to in.
type words struct {
	in   io.Reader
	said []byte // by pitap
	mu   sync.Mutex
	open bool // the line that comes is pitap's
	last bool // the line before was
	mid  bool // in a line of the agent's
}

func (w *words) Read(p []byte) (int, error) {
	n, err := w.in.Read(p)
	w.mu.Lock()
	defer w.mu.Unlock()
	rest := p[:0]
	for b := p[:n]; len(b) > 0; {
		if !w.open {
			// Lines of pitap's begin with its name, and go on with two blanks.
			if at := bytes.Index(b, []byte("pitap: ")); at == 0 || w.last && !w.mid && b[0] == ' ' {
				w.open = true
			} else {
				end := len(b)
				if at > 0 {
					end = at
				}
				w.last, w.mid = false, b[end-1] != '\n'
				rest = append(rest, b[:end]...)
				b = b[end:]
				continue
			}
		}
		end := bytes.IndexByte(b, '\n') + 1
		if w.open = end == 0; w.open {
			end = len(b)
		}
		w.said = append(w.said, b[:end]...)
		w.last, w.mid = true, false
		b = b[end:]
	}
	return len(rest), err
}

// Said is what pitap has said so far.
func (w *words) Said() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return string(w.said)
}

// agent is the agent's life; it returns its exit status.
func (t *Task) agent(l *Ledger) int {
	p := newPeer(l, agentSeed(t.Seed), t.Pace)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
	unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
	come := make(chan os.Signal, 1000)
	for _, n := range t.Catch {
		signal.Notify(come, syscall.Signal(n))
	}
	for _, n := range t.Default {
		signal.Reset(syscall.Signal(n))
		byDefault(syscall.Signal(n))
	}
	go func() {
		for s := range come {
			l.Signals[s.(syscall.Signal)].Add(1)
		}
	}()
	if t.ExitAfter > 0 {
		time.AfterFunc(t.ExitAfter, func() { os.Exit(t.Status) })
	}
	if t.Orphan > 0 {
		child := exec.Command("sleep", fmt.Sprint(t.Orphan.Seconds()))
		child.Stdout = os.Stdout
		child.Start()
	}
	l.PID.Store(int64(os.Getpid()))
	var all sync.WaitGroup
	all.Go(func() { p.send(NewStream(agentSeed(t.Seed), mostRecord), os.Stdout, t.Limit, &l.Written, &l.Broken) })
	errs := newPeer(l, stderrSeed(t.Seed), max(20*t.Pace, 10*time.Millisecond))
	all.Go(func() {
		errs.send(NewStream(stderrSeed(t.Seed), mostErr), os.Stderr, t.Limit/100, &l.WroteErr, &l.BrokenErr)
	})
	p.receive(&check{s: NewStream(clientSeed(t.Seed), mostRecord)}, os.Stdin, "the agent's stdin", l.came, &l.Ended)
	if l.Failure() != "" {
		return 96
	}
	p.stop.Store(true)
	errs.stop.Store(true)
	all.Wait()
	return t.Status
}

// byDefault sets a signal's action to the default, past the Go runtime.
func byDefault(sig syscall.Signal) {
	var none [4]uint64 // struct sigaction: SIG_DFL, no flags
	unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(sig), uintptr(unsafe.Pointer(&none)), 0, 8, 0, 0)
}

// client is the life of a client that is a process of its own.
func (t *Task) client(l *Ledger) int {
	cmd := exec.Command(t.Argv[0], t.Argv[1:]...)
	cmd.ExtraFiles = []*os.File{os.NewFile(3, "life")}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		l.fail(err.Error())
		return 97
	}
	stdout, _ := cmd.StdoutPipe()
	stderr, _ := cmd.StderrPipe()
	if err := cmd.Start(); err != nil {
		l.fail(err.Error())
		return 97
	}
	l.Child.Store(int64(cmd.Process.Pid))
	l.PID.Store(int64(os.Getpid()))
	p := newPeer(l, clientSeed(t.Seed), t.Pace)
	var all sync.WaitGroup
	all.Go(func() {
		p.send(NewStream(clientSeed(t.Seed), mostRecord), stdin, t.Limit, &l.Written, &l.Broken)
		stdin.Close()
	})
	all.Go(func() { p.receiveAgent(t.Seed, stdout) })
	all.Go(func() { p.receiveErr(t.Seed, &words{in: stderr}) })
	all.Wait()
	cmd.Wait()
	ws := cmd.ProcessState.Sys().(syscall.WaitStatus)
	l.Status.Store(1_000_000 + int64(statusOf(ws)))
	if l.Failure() != "" {
		return 96
	}
	return 0
}

func (p *peer) receiveAgent(seed uint64, in io.Reader) {
	p.receive(&check{s: NewStream(agentSeed(seed), mostRecord)}, in, "the client's end of stdout", p.came, &p.Ended)
}

func (p *peer) receiveErr(seed uint64, in io.Reader) {
	p.receive(&check{s: NewStream(stderrSeed(seed), mostErr)}, in, "the client's end of stderr", func(n int) { p.ReadErr.Add(int64(n)) }, &p.EndedErr)
}

// statusOf is the exit code, or a signal's number, negative.
func statusOf(ws syscall.WaitStatus) int {
	if ws.Signaled() {
		return -int(ws.Signal())
	}
	return ws.ExitStatus()
}
