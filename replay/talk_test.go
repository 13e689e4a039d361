package replay

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// fixture makes a capture of lines: "> " is what the client sends, "< " what the agent writes, "! " a line on stderr,
// and anything else a note or entry as it stands.
func fixture(lines ...string) string {
	var b strings.Builder
	b.WriteString(`{"pitap":1,"agent":{"version":"1.6.0"},"cwd":"/rec/project","home":"/rec","tmp":"/rec/tmp"}` + "\n")
	for _, l := range lines {
		from, rest := "", ""
		switch {
		case strings.HasPrefix(l, "> "):
			from, rest = "client", l[2:]
		case strings.HasPrefix(l, "< "):
			from, rest = "agent", l[2:]
		case strings.HasPrefix(l, "! "):
			from, rest = "stderr", fmt.Sprintf("%q", l[2:])
		}
		switch {
		case from == "":
			b.WriteString(l)
		case from == "stderr":
			fmt.Fprintf(&b, `{"from":"stderr","text":%s}`, rest)
		case !strings.HasPrefix(rest, "{"):
			fmt.Fprintf(&b, `{"from":%q,"text":%q}`, from, rest)
		default:
			fmt.Fprintf(&b, `{"from":%q,"msg":%s}`, from, rest)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

const (
	eofNote  = `{"note":"eof","from":"client"}`
	exitNote = `{"note":"exit","from":"agent","code":0}`
)

// talk is a conversation with an agent that replays, in a synctest bubble.
type talk struct {
	t       *testing.T
	agent   *Agent
	in      *io.PipeWriter
	out     *io.PipeReader
	lines   chan string
	stderr  syncBuffer
	signals chan string
	gone    chan struct{}
	report  *Report
	ended   chan struct{}
	turn    chan struct{} // holds something while it is somebody's turn: the reader's, or that of who stops it
	mu      sync.Mutex
	seen    string // the latest report, as JSON
	start   time.Time
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// converse plays a capture in a bubble, where time is not real, to a client.
func converse(t *testing.T, capture string, set func(*Agent), client func(*talk)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s, err := Parse([]byte(capture))
		if err != nil {
			t.Fatal(err)
		}
		inR, inW := io.Pipe()
		outR, outW := io.Pipe()
		c := &talk{t: t, in: inW, out: outR, lines: make(chan string, 10_000), signals: make(chan string, 8), gone: make(chan struct{}),
			ended: make(chan struct{}), turn: make(chan struct{}, 1), start: time.Now()}
		c.agent = &Agent{Script: s, In: inR, Out: outW, Stderr: &c.stderr, Signals: c.signals, Gone: c.gone,
			OnReport: func(r *Report) {
				c.mu.Lock()
				defer c.mu.Unlock()
				c.seen = string(r.Encode())
			}}
		if set != nil {
			set(c.agent)
		}
		go func() {
			defer close(c.ended)
			var err error
			if c.report, err = c.agent.Run(context.Background()); err != nil {
				t.Error(err)
			}
		}()
		go func() {
			defer close(c.lines)
			r := bufio.NewReader(outR)
			for {
				c.turn <- struct{}{}
				l, err := r.ReadString('\n')
				<-c.turn
				if l != "" {
					c.lines <- l
				}
				if err != nil {
					return
				}
			}
		}()
		defer func() {
			inW.Close()
			outR.Close()
			for range c.lines {
			}
			<-c.ended
		}()
		client(c)
	})
}

func (c *talk) send(records ...string) {
	c.t.Helper()
	if _, err := io.WriteString(c.in, strings.Join(records, "\n")+"\n"); err != nil {
		c.t.Fatalf("send: %v; stderr: %s", err, c.stderr.String())
	}
}

// expect wants exactly these records next, within the time that a client waits.
func (c *talk) expect(records ...string) {
	c.t.Helper()
	for _, want := range records {
		if got := c.next(); got != want+"\n" {
			c.t.Fatalf("got  %swant %s\nstderr: %s", got, want, c.stderr.String())
		}
	}
}

func (c *talk) next() string {
	c.t.Helper()
	select {
	case l, ok := <-c.lines:
		if !ok {
			c.t.Fatalf("stdout has ended; stderr: %s", c.stderr.String())
		}
		return l
	case <-time.After(time.Minute):
		c.t.Fatalf("nothing came; stderr: %s", c.stderr.String())
	}
	return ""
}

// silent wants no record for a time.
func (c *talk) silent(d time.Duration) {
	c.t.Helper()
	select {
	case l, ok := <-c.lines:
		c.t.Fatalf("got %q (%v), want nothing", l, ok)
	case <-time.After(d):
	}
}

// end closes stdin and wants how it ends.
func (c *talk) end(want Outcome, code int) *Report {
	c.t.Helper()
	c.in.Close()
	return c.finished(want, code)
}

func (c *talk) finished(want Outcome, code int) *Report {
	c.t.Helper()
	for l := range c.lines {
		c.t.Errorf("came as well: %s", l)
	}
	<-c.ended
	if c.report.Outcome != want || c.report.Code != code {
		c.t.Fatalf("ended %s with %d, want %s with %d: %s", c.report.Outcome, c.report.Code, want, code, c.report)
	}
	return c.report
}

func (c *talk) elapsed() time.Duration { return time.Since(c.start) }

func (c *talk) lastReport() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.seen
}

// stays has an agent get what a client sends that closes stdin when all that was recorded has come, or so many bytes.
func stays(a *Agent, send string, bytes int) {
	r, w := io.Pipe()
	had, report, out := make(chan struct{}), a.OnReport, a.Out
	var once sync.Once
	a.In = r
	a.OnReport = func(rep *Report) {
		if report != nil {
			report(rep)
		}
		if rep.Outcome != Running {
			once.Do(func() { close(had) })
		}
	}
	if bytes > 0 {
		a.Out = writerFunc(func(b []byte) (int, error) {
			if bytes -= len(b); bytes <= 0 {
				once.Do(func() { close(had) })
			}
			return out.Write(b)
		})
	}
	go func() {
		io.WriteString(w, send)
		<-had
		w.Close()
	}()
}
