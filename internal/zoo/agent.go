//go:build unix

package zoo

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// lifetime is how long an agent lives at most: none outlives a test that failed for long.
const lifetime = time.Minute

// Main does the steps in the program's arguments and does not return, if the program was started under the name zoo.
func Main() {
	if len(os.Args) == 0 || filepath.Base(os.Args[0]) != "zoo" {
		return
	}
	time.AfterFunc(lifetime, func() { os.Exit(98) })
	new(agent).do(os.Args[1:])
	os.Exit(0)
}

// Sum is how Digest names bytes.
func Sum(b []byte) string { return fmt.Sprintf("%d %x", len(b), sha256.Sum256(b)) }

// SignalName is the name that Count gives a signal.
func SignalName(sig syscall.Signal) string {
	if name := unix.SignalName(sig); name != "" {
		return name
	}
	return fmt.Sprint("signal ", int(sig))
}

// agent is what the steps work on.
type agent struct {
	progress *os.File   // its size is written
	written  int64      // by pour
	mu       sync.Mutex // one writer at a time
}

var actions = map[string]func(*agent, string) error{
	"out":      func(a *agent, arg string) error { return a.write(1, unquote(arg)) },
	"err":      func(a *agent, arg string) error { return a.write(2, unquote(arg)) },
	"line":     func(a *agent, arg string) error { _, err := a.line(); return err },
	"lines":    (*agent).lines,
	"echo":     func(a *agent, arg string) error { return a.copy(func(b []byte) error { return a.write(1, b) }) },
	"eof":      func(a *agent, arg string) error { return a.copy(func([]byte) error { return nil }) },
	"digest":   (*agent).digest,
	"take":     (*agent).take,
	"flood":    (*agent).flood,
	"paced":    (*agent).paced,
	"scramble": func(a *agent, arg string) error { n := ints(arg); return a.pour(ScrambledRecords(n[0], n[1])) },
	"noise":    func(a *agent, arg string) error { n := ints(arg); return a.pour(Random(uint64(n[0]), n[1])) },
	"noiseerr": func(a *agent, arg string) error { n := ints(arg); return a.write(2, Random(uint64(n[0]), n[1])) },
	"whole":    (*agent).whole,
	"fill":     (*agent).fill,
	"drip":     (*agent).drip,
	"progress": func(a *agent, arg string) (err error) { a.progress, err = os.Create(arg); return err },
	"close":    func(a *agent, arg string) error { return unix.Close(number(arg)) },
	"nonblock": func(a *agent, arg string) error { return unix.SetNonblock(number(arg), true) },
	"broken":   (*agent).broken,
	"wait":     func(a *agent, arg string) error { pause(arg); return nil },
	"await":    (*agent).await,
	"touch":    (*agent).touch,
	"forever":  func(a *agent, arg string) error { select {} },
	"exit":     func(a *agent, arg string) error { os.Exit(number(arg)); return nil },
	"die":      (*agent).die,
	"ignore":   func(a *agent, arg string) error { signal.Ignore(syscall.Signal(number(arg))); return nil },
	"count":    (*agent).count,
	"log":      (*agent).log,
	"cleanup":  (*agent).cleanUp,
	"child":    (*agent).child,
	"pipe":     pipeSize,
}

func (a *agent) do(steps []string) {
	for _, step := range steps {
		name, arg, _ := strings.Cut(step, ":")
		action := actions[name]
		if action == nil {
			fmt.Fprintf(os.Stderr, "zoo: no step %q\n", step)
			os.Exit(97)
		}
		if err := action(a, arg); err != nil {
			a.write(2, fmt.Appendf(nil, "%s: %v\n", name, err))
		}
	}
}

// write writes all of b; it says what error prevented it.
func (a *agent) write(fd int, b []byte) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	for len(b) > 0 {
		n, err := unix.Write(fd, b)
		switch {
		case err == unix.EINTR || err == unix.EAGAIN:
			unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}, -1)
		case err != nil:
			return fmt.Errorf("%s: %s", [...]string{"stdin", "stdout", "stderr"}[fd], unix.ErrnoName(err.(syscall.Errno)))
		}
		b = b[max(n, 0):]
	}
	return nil
}

// read reads once from stdin; at its end it returns io.EOF.
func (a *agent) read(b []byte) (int, error) {
	for {
		n, err := unix.Read(0, b)
		switch {
		case err == unix.EINTR:
		case err == unix.EAGAIN:
			unix.Poll([]unix.PollFd{{Fd: 0, Events: unix.POLLIN}}, -1)
		case err != nil:
			return 0, fmt.Errorf("stdin: %w", err)
		case n == 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

func (a *agent) line() ([]byte, error) {
	var line []byte
	for b := make([]byte, 1); ; {
		if _, err := a.read(b); err == io.EOF {
			return line, nil
		} else if err != nil {
			return line, err
		}
		line = append(line, b[0])
		if b[0] == '\n' {
			return line, nil
		}
	}
}

func (a *agent) lines(arg string) error {
	for range number(arg) {
		line, err := a.line()
		if err != nil {
			return err
		}
		if err := a.write(1, line); err != nil {
			return err
		}
	}
	return nil
}

func (a *agent) copy(to func([]byte) error) error {
	buf := make([]byte, 64<<10)
	for {
		n, err := a.read(buf)
		if err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if err := to(buf[:n]); err != nil {
			return err
		}
	}
}

func (a *agent) digest(string) error {
	h := sha256.New()
	total := 0
	if err := a.copy(func(b []byte) error { total += len(b); h.Write(b); return nil }); err != nil {
		return err
	}
	return a.write(1, fmt.Appendf(nil, "%d %x\n", total, h.Sum(nil)))
}

func (a *agent) take(arg string) error {
	buf := make([]byte, 64<<10)
	for left := number(arg); left > 0; {
		n, err := a.read(buf[:min(left, len(buf))])
		if err != nil {
			return err
		}
		left -= n
	}
	return nil
}

func (a *agent) flood(arg string) error {
	n := ints(arg)
	per := max(1, (64<<10)/n[1])
	buf := make([]byte, 0, (per+1)*n[1])
	for i := 0; i < n[0]; {
		buf = buf[:0]
		for ; i < n[0] && len(buf) < per*n[1]; i++ {
			buf = appendRecord(buf, i, n[1])
		}
		if err := a.pour(buf); err != nil {
			return err
		}
	}
	return nil
}

func (a *agent) paced(arg string) error {
	every, n, _ := strings.Cut(arg, ",")
	count := ints(n)
	for i := range count[0] {
		if err := a.write(1, appendRecord(nil, i, count[1])); err != nil {
			return err
		}
		pause(every)
	}
	return nil
}

// pour writes b to stdout in pieces of 64 KiB.
func (a *agent) pour(b []byte) error {
	for len(b) > 0 {
		k := min(len(b), 64<<10)
		if err := a.write(1, b[:k]); err != nil {
			return err
		}
		if a.progress != nil {
			a.written += int64(k)
			a.progress.Truncate(a.written)
		}
		b = b[k:]
	}
	return nil
}

func (a *agent) whole(arg string) error {
	n, unit, _ := strings.Cut(arg, ",")
	return a.write(1, append(bytes.Repeat(unquote(unit), number(n)), '\n'))
}

func (a *agent) fill(arg string) error {
	n, unit, _ := strings.Cut(arg, ",")
	return a.write(1, bytes.Repeat(unquote(unit), number(n)))
}

func (a *agent) drip(arg string) error {
	every, text, _ := strings.Cut(arg, ",")
	for _, b := range unquote(text) {
		if err := a.write(1, []byte{b}); err != nil {
			return err
		}
		pause(every)
	}
	return nil
}

func (a *agent) broken(arg string) error {
	fd := number(arg)
	poll := []unix.PollFd{{Fd: int32(fd)}}
	for {
		if n, err := unix.Poll(poll, -1); n > 0 && err == nil {
			return a.write(2, fmt.Appendf(nil, "fd %d broken\n", fd))
		}
	}
}

func (a *agent) await(file string) error {
	for {
		if _, err := os.Stat(file); err == nil {
			return nil
		}
		pause("2ms")
	}
}

func (a *agent) touch(file string) error {
	temp := file + ".new"
	if err := os.WriteFile(temp, []byte(strconv.Itoa(os.Getpid())), 0o600); err != nil {
		return err
	}
	return os.Rename(temp, file)
}

// die lets a shell die: the Go runtime catches most signals.
func (a *agent) die(arg string) error {
	return unix.Exec("/bin/sh", []string{"sh", "-c", "ulimit -c 0; kill -" + arg + " $$; sleep 60"}, os.Environ())
}

func (a *agent) count(arg string) error {
	a.onSignals(arg, func(line []byte) { a.write(1, line) })
	return nil
}

func (a *agent) log(arg string) error {
	file, sigs, _ := strings.Cut(arg, ",")
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	a.onSignals(sigs, func(line []byte) { f.Write(line) })
	return nil
}

// onSignals calls say with a line for each of the signals that comes.
func (a *agent) onSignals(sigs string, say func(line []byte)) {
	c := make(chan os.Signal, 100)
	for _, n := range ints(sigs) {
		signal.Notify(c, syscall.Signal(n))
	}
	go func() {
		counts := map[os.Signal]int{}
		for s := range c {
			counts[s]++
			say(fmt.Appendf(nil, "%s %d\n", SignalName(s.(syscall.Signal)), counts[s]))
		}
	}()
}

func (a *agent) cleanUp(arg string) error {
	args := strings.Split(arg, ",")
	c := make(chan os.Signal, 2)
	signal.Notify(c, syscall.Signal(number(args[0])))
	go func() {
		<-c
		a.write(1, []byte("cleaning up\n"))
		go func() {
			<-c
			os.Exit(99)
		}()
		pause(args[1])
		a.write(1, []byte("clean\n"))
		os.Exit(number(args[2]))
	}()
	return nil
}

func (a *agent) child(arg string) error {
	var steps []string
	if err := json.Unmarshal([]byte(arg), &steps); err != nil {
		return err
	}
	cmd := exec.Command(os.Args[0], steps...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return cmd.Start()
}

func pause(d string) {
	duration, err := time.ParseDuration(d)
	if err != nil {
		panic(err)
	}
	<-time.After(duration)
}

func unquote(s string) []byte {
	text, err := strconv.Unquote(s)
	if err != nil {
		panic(err)
	}
	return []byte(text)
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		panic(err)
	}
	return n
}

func ints(s string) (n []int) {
	for part := range strings.SplitSeq(s, ",") {
		n = append(n, number(part))
	}
	return n
}
