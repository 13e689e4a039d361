//go:build linux

package faults

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"pitap/internal/pitest"
	"pitap/internal/zoo"
	"pitap/record"
)

// Promise: the same of the real pi: SIGKILL of pitap, at a random moment of its work, leaves no pi, and what the client was
// shown is in the capture.
func TestKillPitapOfPi(t *testing.T) {
	t.Parallel()
	pitest.NewPi(t) // skips where there is none
	for i := range times(1, 5) {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			var late string
			for range 3 { // the machine may be busy, and then the recorder may be late
				if late = killPitapOfPi(t); late == "" || t.Failed() {
					return
				}
				t.Log(late)
			}
			t.Error(late)
		})
	}
}

func killPitapOfPi(t *testing.T) (late string) {
	t.Helper()
	g := newRig(t) // for its seed and folder
	pi := pitest.NewPi(t)
	pi.Env = append(pi.Env, "PITAP_DIR="+g.dir)
	s := pitest.Start(t, pi.Command(g.argvFor(nil)...), pitest.SocketPairs)
	s.Patience = patience
	s.Send(`{"id":"ready","type":"get_state"}`)
	s.Response("ready")
	files := g.captures()
	if len(files) != 1 {
		t.Fatalf("%d captures, want 1", len(files))
	}
	var agent int
	g.until("the capture's header", func() bool {
		agent = int(agentIn(files[0]))
		return agent > 0
	})
	s.Send(`{"id":"p","type":"prompt","message":"burst:20000"}`)
	g.moment(400 * ms)
	shown := s.Out.Bytes()
	<-time.After(behind)
	at := time.Now()
	s.Signal(unix.SIGKILL)
	s.Wait(-int(unix.SIGKILL))
	g.until("pi's end", func() bool { return !zoo.Alive(agent) })
	if lived := time.Since(at); lived > time.Second && !busy() {
		t.Errorf("pi lived for %v", lived)
	}
	got, err := bytesOf(files[0], record.Agent)
	if err != nil {
		t.Fatalf("%s: %v", filepath.Base(files[0]), err)
	}
	all := s.Out.Bytes()
	if n := min(len(got), len(all)); !bytes.Equal(got[:n], all[:n]) {
		t.Error("the capture has other bytes than the client got")
	}
	if len(got) < len(shown) {
		late = fmt.Sprintf("the capture has %d bytes of pi's, and %d were shown 100 ms before", len(got), len(shown))
	}
	return late
}

// agentIn is the process that a capture is about, 0 as long as it does not say.
func agentIn(path string) int64 {
	c, err := record.Open(path)
	if err != nil {
		return 0
	}
	defer c.Close()
	h, err := c.Header()
	if err != nil {
		return 0
	}
	return int64(h.Agent.PID)
}

// bytesOf reads a stream from a capture, which must not be damaged.
func bytesOf(path string, from record.Stream) ([]byte, error) {
	c, err := record.Open(path)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	var b bytes.Buffer
	stream := record.Bytes{From: from, To: &b}
	for c.Next() {
		if err := stream.Entry(c.Entry()); err != nil {
			return nil, err
		}
	}
	if d := c.Damage(); len(d) > 0 {
		return nil, d[0]
	}
	return b.Bytes(), nil
}
