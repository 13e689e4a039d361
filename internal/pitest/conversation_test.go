//go:build unix

package pitest

import (
	"bytes"
	"fmt"
	"io"
	"math/rand"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The test binary itself is the agents that conversations are tested with.
func TestMain(m *testing.M) {
	agent := agents[os.Getenv("PITEST_AGENT")]
	if agent == nil {
		os.Exit(m.Run())
	}
	os.Exit(agent())
}

func agentCommand(name string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "PITEST_AGENT="+name, quickExit)
	return cmd
}

var agents = map[string]func() int{
	"echo": func() int {
		io.Copy(os.Stdout, os.Stdin)
		return 7
	},
	"flags": func() int { // O_NONBLOCK, and whether it is a socket
		for fd := range 3 {
			var st syscall.Stat_t
			syscall.Fstat(fd, &st)
			flags, _, _ := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), syscall.F_GETFL, 0)
			fmt.Printf("%v %v\n", flags&syscall.O_NONBLOCK != 0, st.Mode&syscall.S_IFMT == syscall.S_IFSOCK)
		}
		return 0
	},
	"flood": func() int { // fills stdout, says so on stderr, fills it again
		for {
			syscall.SetNonblock(1, true)
			total := 0
			for {
				n, err := syscall.Write(1, bytes.Repeat([]byte("0123456789abcdef"), 256))
				if err == syscall.EAGAIN {
					break
				}
				if err != nil {
					return 3
				}
				total += n
			}
			fmt.Fprintf(os.Stderr, "%d\n", total)
			if n, _ := os.Stdin.Read(make([]byte, 1)); n == 0 {
				return 0
			}
		}
	},
	"script": func() int { // two overtaking responses, junk, half a line
		io.WriteString(os.Stdout, `{"type":"agent_start"}`+"\n"+`{"id":"b","type":"response","command":"b","success":true}`+"\r\n"+
			"junk\n\n"+`{"id":"a","type":"response","command":"a","success":false,"error":"no"}`+"\n"+`{"type":"agent_settled"}`+"\n"+`{"half`)
		io.WriteString(os.Stderr, "something went wrong\n")
		io.Copy(io.Discard, os.Stdin)
		return 0
	},
	"deaf": func() int { // never reads
		<-time.After(time.Hour)
		return 0
	},
}

func TestConversationKeepsEveryByte(t *testing.T) {
	bothKinds(t, func(t *testing.T, stdio Stdio) {
		c := Start(t, agentCommand("echo"), stdio)
		all := make([]byte, 3<<20)
		random := rand.New(rand.NewSource(1))
		random.Read(all)
		for rest := all; len(rest) > 0; {
			n := min(len(rest), 1+random.Intn(400_000))
			c.SendInBackground(rest[:n])
			rest = rest[n:]
		}
		c.Until("an echo", func(out, _ []byte) bool { return len(out) == len(all) })
		c.Finish(7)
		if !bytes.Equal(c.In(), all) || !bytes.Equal(c.Out.Bytes(), all) {
			t.Errorf("sent %d bytes, In has %d, Out %d", len(all), len(c.In()), len(c.Out.Bytes()))
		}
		var lines []byte
		for _, r := range c.Records() {
			lines = append(append(lines, r...), '\n')
		}
		if end := bytes.LastIndexByte(all, '\n') + 1; !bytes.Equal(lines, all[:end]) {
			t.Error("the records are not the lines that were sent")
		}
	})
}

func TestAgentGetsWhatOtherClientsGive(t *testing.T) {
	bothKinds(t, func(t *testing.T, stdio Stdio) {
		c := Start(t, agentCommand("flags"), stdio)
		c.Finish(0)
		want := strings.Repeat(fmt.Sprintf("false %v\n", stdio == SocketPairs), 3)
		if got := string(c.Out.Bytes()); got != want {
			t.Errorf("non-blocking, socket:\n%swant\n%s", got, want)
		}
	})
}

func TestExpect(t *testing.T) {
	c := Start(t, agentCommand("script"), Pipes)
	c.Expect("agent_start")
	if r := c.Response("a"); r.Kind() != "response:a failed" || r.Get("error") != "no" {
		t.Errorf("the response to a is %s", r)
	}
	if r := c.Response("b"); r.Kind() != "response:b" || !bytes.HasSuffix(r, []byte("}\r")) {
		t.Errorf("the response to b is %q", r)
	}
	if r := c.Expect("response"); r.Get("id") != "b" {
		t.Errorf("the first response is %s", r)
	}
	c.Expect("agent_settled", "agent_end")
	c.Until("half a record", func(out, _ []byte) bool { return bytes.HasSuffix(out, []byte(`{"half`)) })
	c.Finish(0)
	if n := len(c.Records()); n != 6 {
		t.Errorf("%d records, want 6", n)
	}
}

func TestRecordGet(t *testing.T) {
	r := Record(`{"a":{"b":[1,{"c":null,"d":"x"}]},"e":true}`)
	for path, want := range map[string]any{
		"a.b.0": 1.0, "a.b.1.d": "x", "e": true, "a.b.1.c": nil, "a.b.2": nil, "a.b.-1": nil, "a.b.x": nil, "f": nil, "e.f": nil, "": nil,
	} {
		if got := r.Get(path); got != want {
			t.Errorf("%s is %v, want %v", path, got, want)
		}
	}
}

// What a test waits for in vain fails it, in time, and the message says what there was instead.
func TestConversationFails(t *testing.T) {
	impatient := func(t testing.TB, agent string) *Conversation {
		c := Start(t, agentCommand(agent), Pipes)
		c.Until("the start", func(out, err []byte) bool { return agent == "deaf" || len(out) > 0 && len(err) > 0 })
		c.Patience = 50 * time.Millisecond
		return c
	}
	for _, test := range []struct {
		name string
		test func(t testing.TB)
		want []string
	}{
		{"no such record", func(t testing.TB) { impatient(t, "script").Expect("agent_end") },
			[]string{"waiting for agent_end", "50ms", "agent_settled", `{\"half`, "something went wrong"}},
		{"passed over", func(t testing.TB) {
			c := impatient(t, "script")
			c.Expect("agent_settled")
			c.Expect("agent_start")
		}, []string{"waiting for agent_start"}},
		{"no response", func(t testing.TB) { impatient(t, "script").Response("c") }, []string{"the response to c"}},
		{"ended", func(t testing.TB) {
			c := Start(t, agentCommand("echo"), Pipes)
			c.CloseStdin()
			c.Expect("agent_start")
		}, []string{"stdout has ended"}},
		{"another status", func(t testing.TB) { Start(t, agentCommand("echo"), Pipes).Finish(0, 1) }, []string{"status 7, want [0 1]"}},
		{"no exit", func(t testing.TB) { impatient(t, "deaf").Wait() }, []string{"the exit", "the agent runs"}},
		{"no end", func(t testing.TB) { impatient(t, "deaf").WaitForEnd() }, []string{"the end of stdout"}},
		{"nobody reads", func(t testing.TB) { impatient(t, "deaf").SendBytes(make([]byte, 1<<20)) }, []string{"to take 1048576 bytes"}},
		{"not there", func(t testing.TB) { Start(t, exec.Command("/nonexistent/agent"), Pipes) }, []string{"/nonexistent/agent"}},
		{"a failure of another kind", func(t testing.TB) {
			impatient(t, "script")
			t.Fatal("something else")
		}, []string{"something else", "at the end", "agent_settled"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			fake := run(t, test.test)
			if !fake.Failed() {
				t.Error("the test did not fail")
			}
			for _, want := range test.want {
				if !strings.Contains(fake.said(), want) {
					t.Errorf("the message has no %q: %s", want, fake.said())
				}
			}
		})
	}
}

func TestStopReadingHoldsTheAgent(t *testing.T) {
	bothKinds(t, func(t *testing.T, stdio Stdio) {
		c := Start(t, agentCommand("flood"), stdio)
		c.StopReading()
		for round := range 5 {
			var before, written int
			c.Until("a full pipe", func(out, err []byte) bool {
				before = len(out)
				lines := strings.Fields(string(err))
				written = 0
				for _, line := range lines {
					var n int
					fmt.Sscan(line, &n)
					written += n
				}
				return len(lines) == round+1
			})
			if before >= written {
				t.Fatalf("%d bytes were written and %d read", written, before)
			}
			c.ResumeReading()
			c.Until("the rest", func(out, _ []byte) bool { return len(out) == written })
			c.StopReading()
			c.SendBytes([]byte("x"))
		}
		c.CloseStdin()
		c.ResumeReading()
		c.Wait(0)
		c.WaitForEnd()
		if out := c.Out.Bytes(); !bytes.Equal(out, bytes.Repeat([]byte("0123456789abcdef"), len(out)/16)) {
			t.Error("bytes were lost or came twice")
		}
	})
}

func TestCloseStdout(t *testing.T) {
	bothKinds(t, func(t *testing.T, stdio Stdio) {
		for _, stopped := range []bool{false, true} {
			c := Start(t, agentCommand("flood"), stdio)
			c.Until("a full pipe", func(_, err []byte) bool { return len(err) > 0 })
			if stopped {
				c.StopReading()
			}
			c.CloseStdout()
			c.SendBytes([]byte("x"))
			c.Wait(3, -int(syscall.SIGPIPE))
		}
	})
}

func TestSignal(t *testing.T) {
	c := Start(t, agentCommand("deaf"), Pipes)
	c.SendBytes([]byte("x")) // the other bytes may come too late
	sending := c.SendInBackground(make([]byte, 1<<20))
	if !c.Running() {
		t.Error("it does not run")
	}
	c.Signal(syscall.SIGKILL)
	c.Wait(-int(syscall.SIGKILL))
	if err := sending.Wait(); err == nil || c.Running() {
		t.Errorf("a dead agent takes everything: %v", err)
	}
	if n := len(c.In()); n == 0 || n > 1<<20 {
		t.Errorf("In has %d bytes", n)
	}
}

// The exit is seen while another process still holds stdout and stderr, and that one does not hold up the test's end.
func TestGrandchildHoldsOutput(t *testing.T) {
	var c *Conversation
	fake := run(t, func(t testing.TB) {
		c = Start(t, exec.Command("sh", "-c", "exec 3<&0; (read line; echo late; cat) <&3 & exit 5"), Pipes)
		c.Wait(5)
		c.mu.Lock()
		ended := c.Out.ended
		c.mu.Unlock()
		if ended {
			t.Fatal("stdout has ended")
		}
		c.Send("")
		c.Until("late output", func(out, _ []byte) bool { return string(out) == "late\n" })
	})
	if fake.Failed() {
		t.Error(fake.said())
	}
}
