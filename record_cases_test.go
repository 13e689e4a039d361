//go:build linux

package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"golang.org/x/sys/unix"

	"pitap/internal/zoo"
	"pitap/record"
)

// The tests named TestCase are about conditions that people ran into, boiled down to inputs.

// wireCase is bytes that go one way, and what the capture makes of them.
type wireCase struct {
	name  string
	bytes string
	forms []record.Form // of the records
}

// oneWay sends the bytes each way, in one write, and compares what arrives and what is recorded.
func oneWay(t *testing.T, cases []wireCase) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			both(t, func(t *testing.T, f *front) {
				s := f.start(zoo.Out(c.bytes), zoo.Digest(), zoo.Exit(3))
				s.SendBytes([]byte(c.bytes))
				s.Finish(3)
				same(t, "what the agent sends", s.Out.Bytes(), []byte(c.bytes+zoo.Sum([]byte(c.bytes))+"\n"))
				got := f.captured()
				got.session(s)
				if got == nil {
					return
				}
				for _, from := range []record.Stream{record.Client, record.Agent} {
					var forms []record.Form
					for _, e := range got.records(from) {
						forms = append(forms, e.Form)
					}
					want := c.forms
					if from == record.Agent { // then the digest, behind what may be half a line
						want = slices.Clone(want)
						if !strings.HasSuffix(c.bytes, "\n") {
							want = want[:len(want)-1]
						}
						want = append(want, record.Text)
						if len(forms) == len(want) && len(want) > 0 {
							forms[len(forms)-1] = record.Text
						}
					}
					if !slices.Equal(forms, want) {
						t.Errorf("capture: records of %v as %v, want %v", from, forms, want)
					}
				}
			})
		})
	}
}

// Separators that some readers take for line ends: three bytes that stay, one record.
func TestCase01(t *testing.T) {
	oneWay(t, []wireCase{
		{"separators", `{"id":"s","type":"set_session_name","name":"a` + "\u2028b\u2029c\u0085d" + `"}` + "\n", []record.Form{record.Msg}},
		{"lone CR", "{\"a\":1}\r{\"b\":2}\n", []record.Form{record.Text}},
	})
}

// Junk on stdout: every byte, nothing repaired.
func TestCase02(t *testing.T) {
	oneWay(t, []wireCase{{"junk", "\x1b]0;title\x07{\"type\":\"agent_settled\",\"aborted\":false}\nplain text\n\xff\xfe\x00\n",
		[]record.Form{record.Text, record.Text, record.Base64}}})
}

// Line ends, blank lines, byte order marks, UTF-16.
func TestCase16(t *testing.T) {
	var wide bytes.Buffer
	for _, u := range utf16.Encode([]rune("\ufeff" + `{"id":"a","type":"abort"}` + "\n")) {
		wide.Write([]byte{byte(u), byte(u >> 8)})
	}
	oneWay(t, []wireCase{
		{"lines", "{\"id\":\"a\",\"type\":\"abort\"}\r\n\r\n\n    \n\xef\xbb\xbf{\"id\":\"b\",\"type\":\"abort\"}\n",
			[]record.Form{record.Msg, record.Text, record.Text, record.Text, record.Text}},
		{"UTF-16", wide.String(), []record.Form{record.Base64, record.Text}},
	})
}

// Bytes that are not UTF-8.
func TestCase17(t *testing.T) {
	oneWay(t, []wireCase{
		{"words", "\xa6\xa8\xa5\\: PID 1\n{}\n", []record.Form{record.Base64, record.Msg}},
		{"in a string", "{\"type\":\"set_session_name\",\"name\":\"x\xff\"}\n{}\n", []record.Form{record.Base64, record.Msg}},
	})
}

// A reader that is slow, then stops: back-pressure, no loss, and the capture does not wait.
func TestCase05(t *testing.T) {
	if zoo.Plainly(t) {
		return
	}
	both(t, func(t *testing.T, f *front) {
		n, size := 2_000, 10_000 // 20 MB
		if long {
			n = 5_000
		}
		s := f.start(zoo.Out("go\n"), zoo.Line(), zoo.Flood(n, size), zoo.EOF(), zoo.Exit(3))
		s.Expect("")
		s.Send("flood")
		for range 5 { // the client reads what there is, then pauses: some KiB a second
			s.StopReading()
			pauseOf(t, 100*ms)
			s.ResumeReading()
			have := len(s.Out.Bytes())
			s.Until("some more", func(out, err []byte) bool { return len(out) > have })
		}
		s.StopReading()
		if f.recorded {
			path := f.onlyCapture()
			eventually(t, "a note of the stall", func() bool { return readNow(t, path).note(record.Agent, "stall") != nil })
			c, have := readNow(t, path), s.Out.Bytes()
			if got := c.bytes[record.Agent]; len(got) < len(have) || !bytes.HasPrefix(got, have) {
				t.Errorf("the capture has %d bytes of the agent, the stalled client %d", len(got), len(have))
			}
			bounded(t, f, zoo.Peak(s.Pid()), 96)
		}
		pauseOf(t, 700*ms)
		s.ResumeReading()
		s.Finish(3)
		same(t, "stdout", s.Out.Bytes(), append([]byte("go\n"), zoo.Records(n, size)...))
		c := f.captured()
		c.session(s)
		if c == nil {
			return
		}
		longest := time.Duration(0)
		for _, e := range c.entries {
			if e.Note != nil && e.Note.Kind == "stall" && e.From == record.Agent {
				longest = max(longest, time.Duration(e.Note.For))
			}
		}
		if longest < 700*ms {
			t.Errorf("capture: the longest stall took %v, and the client stopped for 700 ms", longest)
		}
	})
}

// A stalled reader, the end of input, signals: each does what it does without pitap.
func TestCase06(t *testing.T) {
	bothAll(t, func(t *testing.T, f *front) {
		log := f.file("log")
		s := f.start(zoo.Log(log, unix.SIGTERM), zoo.Out("ready\n"), zoo.Line(), zoo.Flood(2000, 1000), zoo.EOF(), zoo.Await(log+".end"), zoo.Exit(143))
		s.Expect("")
		s.StopReading()
		s.SendBytes(append([]byte("go\n"), bytes.Repeat([]byte("{\"type\":\"get_state\"}\n"), 2000)...))
		s.CloseStdin()
		s.Signal(unix.SIGTERM)
		eventually(t, "the first signal", func() bool { return readFile(t, log) == "SIGTERM 1\n" })
		stays(t, 200*ms, "running while nobody reads", s.Running)
		s.Signal(unix.SIGTERM)
		eventually(t, "the second signal", func() bool { return readFile(t, log) == "SIGTERM 1\nSIGTERM 2\n" })
		s.ResumeReading()
		s.Until("the flood", func(out, err []byte) bool { return len(out) == 2_000_006 })
		touch(t, log+".end")
		s.Wait(143)
		s.WaitForEnd()
		f.captured().session(s)
	})
}

// The client closes stdout after one record, and later sends a command.
func TestCase07(t *testing.T) {
	bothAll(t, func(t *testing.T, f *front) {
		s := f.start(zoo.Out("{\"n\":1}\n"), zoo.Line(), zoo.Out("{\"n\":2}\n"), zoo.Out("{\"n\":3}\n"), zoo.Exit(1))
		s.Expect("")
		s.CloseStdout()
		s.Send(`{"type":"get_state"}`)
		s.Wait(1)
		s.WaitForEnd()
		same(t, "stderr", s.Err.Bytes(), []byte("out: stdout: EPIPE\nout: stdout: EPIPE\n"))
		f.captured().session(s)
	})
}

// 200,000 bytes on stderr that nobody reads, then a record: an agent that waits for stderr blocks.
func TestCase12(t *testing.T) {
	both(t, func(t *testing.T, f *front) {
		s := f.start(zoo.NoiseErr(1, 200_000), zoo.Out("{}\n"), zoo.EOF(), zoo.Exit(3))
		s.Err.StopReading()
		if f.recorded {
			path := f.onlyCapture()
			eventually(t, "a note of the stall", func() bool { return readNow(t, path).note(record.Stderr, "stall") != nil })
		}
		stays(t, 200*ms, "without the record", func() bool { return len(s.Out.Bytes()) == 0 })
		s.Err.ResumeReading()
		s.Expect("")
		s.Finish(3)
		f.captured().session(s)
	})
}

// Characters that are cut by a read.
func TestCase14(t *testing.T) {
	bothAll(t, func(t *testing.T, f *front) {
		small := `{"text":"漢字 😀 é"}` + "\n"
		large := `{"text":"` + strings.Repeat("漢字かな", 25_000) + `"}` + "\n" // 300 KB
		s := f.start(zoo.Drip(ms, small), zoo.Whole("漢字かな", 25_000), zoo.Digest(), zoo.Exit(3))
		s.SendBytes([]byte(large))
		s.Finish(3)
		same(t, "stdout", s.Out.Bytes(), []byte(small+strings.Repeat("漢字かな", 25_000)+"\n"+zoo.Sum([]byte(large))+"\n"))
		c := f.captured()
		c.session(s)
		if c == nil {
			return
		}
		if e := c.records(record.Agent)[0]; e.Form != record.Msg || string(e.Body)+"\n" != small {
			t.Errorf("capture: first record %v %q with %d cuts", e.Form, e.Body, len(e.Cuts))
		}
	})
}

// Records in pieces, many in one write, one and a half.
func TestCase15(t *testing.T) {
	bothAll(t, func(t *testing.T, f *front) {
		many := string(zoo.Records(500, 40))
		s := f.start(zoo.Out(`{"a":`), zoo.Line(), zoo.Out(`[1,`), zoo.Line(), zoo.Out("2]}\n"), zoo.Out(many), zoo.Out("{\"b\":1}\n{\"c\""), zoo.Line(), zoo.Out(":2}\n"), zoo.Digest(), zoo.Exit(3))
		for _, part := range []string{`{"a":`, `{"a":[1,`} {
			s.Until("the part "+part, func(out, err []byte) bool { return string(out) == part })
			s.Send("go on")
		}
		s.Until("a record and a half", func(out, err []byte) bool { return bytes.HasSuffix(out, []byte(`{"c"`)) })
		s.Send("go on")
		s.SendBytes([]byte(many + `{"half":`))
		s.SendBytes([]byte("1}\n"))
		s.Finish(3)
		c := f.captured()
		c.session(s)
		if c != nil && len(c.records(record.Agent)[0].Cuts) != 2 {
			t.Errorf("capture: cuts of the first record: %v, want 2", c.records(record.Agent)[0].Cuts)
		}
		if c != nil && (len(c.records(record.Agent)) != 504 || len(c.records(record.Client)) != 504) {
			t.Errorf("capture: %d records of the agent, %d of the client; want 504 each", len(c.records(record.Agent)), len(c.records(record.Client)))
		}
	})
}

// Both pipes are full: a large command in one write, while the agent writes much before it reads.
func TestCase23(t *testing.T) {
	if zoo.Plainly(t) {
		return
	}
	bothAll(t, func(t *testing.T, f *front) {
		s := f.start(zoo.Flood(8000, 1000), zoo.Digest(), zoo.Exit(3))
		command := []byte(fmt.Sprintf(`{"type":"prompt","message":"%s"}`+"\n", strings.Repeat("x", 8<<20)))
		s.SendBytes(command)
		s.Finish(3)
		same(t, "stdout", s.Out.Bytes(), append(zoo.Records(8000, 1000), zoo.Sum(command)+"\n"...))
		f.captured().session(s)
	})
}

// TestCase25 kills pitap: what had been forwarded 100 ms before is in the capture.
func TestCase25(t *testing.T) {
	t.Run("kill", func(t *testing.T) {
		t.Parallel()
		var missing []string
		for range 3 { // the machine may be busy, and then the recorder may be late
			f := behind(t)
			s := f.start(zoo.Paced(ms, 2000, 40), zoo.EOF())
			s.Until("record 100", func(out, err []byte) bool { return len(out) >= 100*40 })
			agent := readAgent(t, f)
			early := s.Out.Bytes()
			pauseOf(t, 100*ms)
			s.Signal(unix.SIGKILL)
			s.Wait(-int(unix.SIGKILL))
			within(t, time.Second, "the agent's end", func() bool { return !zoo.Alive(agent) })
			s.WaitForEnd()
			c := f.captured()
			got := c.bytes[record.Agent]
			if c.condition == "" || len(c.damage) > 0 {
				t.Errorf("the capture of a killed pitap: %q, damage %v", c.condition, c.damage)
			}
			if !bytes.HasPrefix(append(bytes.Clone(s.Out.Bytes()), got[min(len(got), len(s.Out.Bytes())):]...), got) {
				t.Error("the capture has other bytes than the client")
			}
			if len(got) >= len(early) {
				return
			}
			missing = append(missing, fmt.Sprintf("%d of %d bytes", len(early)-len(got), len(early)))
		}
		t.Errorf("each time the capture lacked what the client had 100 ms before: %q", missing)
	})
	t.Run("nothing said", func(t *testing.T) {
		both(t, func(t *testing.T, f *front) {
			s := f.exec("true")
			s.Wait(0)
			s.WaitForEnd()
			f.captured().session(s)
		})
	})
}

// readAgent is the agent's process id, as the capture's header has it.
func readAgent(t *testing.T, f *front) (pid int) {
	t.Helper()
	path := f.onlyCapture()
	eventually(t, "the capture's header", func() bool {
		pid = readNow(t, path).header.Agent.PID
		return pid != 0
	})
	return pid
}

// pauseOf is time that a client lets pass.
func pauseOf(t *testing.T, d time.Duration) {
	t.Helper()
	stays(t, d, "", func() bool { return true })
}

// A client that is killed leaves nobody: the agent sees the end of its input.
func TestClientIsKilled(t *testing.T) {
	both(t, func(t *testing.T, f *front) {
		done := f.file("done")
		s := f.start(zoo.Out("ready\n"), zoo.EOF(), zoo.Broken(1), zoo.Broken(2), zoo.Touch(done), zoo.Exit(0))
		s.Expect("")
		s.CloseStdin()
		s.CloseStdout()
		s.Err.Close()
		s.Wait(0)
		if !exists(done) {
			t.Error("the agent did not come to its end")
		}
		if c := f.captured(); c != nil && c.condition != "" { // what the agent said last was not delivered to anybody
			t.Errorf("capture: %q", c.condition)
		}
	})
}
