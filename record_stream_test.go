//go:build unix

package main

import (
	"bytes"
	"syscall"
	"testing"

	"pitap/internal/zoo"
	"pitap/record"
)

func TestBytesInOrderBothWays(t *testing.T) {
	if zoo.Plainly(t) {
		return
	}
	bothAll(t, func(t *testing.T, f *front) {
		s := f.start(zoo.Echo(), zoo.Err("done\n"), zoo.Exit(7))
		sent := zoo.Random(1, 3<<20+1)
		s.SendBytes(sent)
		s.Finish(7)
		same(t, "what came back", s.Out.Bytes(), sent)
		f.captured().session(s)
	})
}

// A part of a record is there before the rest: the agent does not write that before it was asked to.
func TestPartialRecordsAtOnce(t *testing.T) {
	bothAll(t, func(t *testing.T, f *front) {
		s := f.start(zoo.Out(`{"half":`), zoo.Err("half"), zoo.Take(5), zoo.Out("1}\n"), zoo.Err(" a line\n"), zoo.Line())
		s.Until("half a record", func(out, err []byte) bool { return string(out) == `{"half":` && string(err) == "half" })
		s.SendBytes([]byte("{\"a\":")) // the agent takes it before its LF has come
		s.Until("the rest", func(out, err []byte) bool { return bytes.HasSuffix(out, []byte("1}\n")) })
		s.SendBytes([]byte("2}\n"))
		s.Finish(0)
		c := f.captured()
		c.session(s)
		if c != nil && len(c.records(record.Agent)) != 1 {
			t.Errorf("capture: %d records of the agent, want 1", len(c.records(record.Agent)))
		}
	})
}

// The end of the client's input closes the agent's input and nothing else.
func TestHalfClose(t *testing.T) {
	bothAll(t, func(t *testing.T, f *front) {
		s := f.start(zoo.Out("ready\n"), zoo.Digest(), zoo.Err("still here\n"), zoo.Flood(5000, 200), zoo.Exit(3))
		s.Expect("")
		s.SendBytes([]byte("half a line"))
		s.CloseStdin()
		s.Wait(3)
		s.WaitForEnd()
		want := "ready\n" + zoo.Sum([]byte("half a line")) + "\n" + string(zoo.Records(5000, 200))
		same(t, "stdout", s.Out.Bytes(), []byte(want))
		c := f.captured()
		c.session(s)
		if c != nil && c.note(record.Client, "eof") == nil {
			t.Error("capture: no note of the client's end")
		}
	})
}

// The agent closes its input: the client's writes fail, and the rest goes on.
func TestAgentClosesItsStdin(t *testing.T) {
	bothAll(t, func(t *testing.T, f *front) {
		s := f.start(zoo.Line(), zoo.Close(0), zoo.Out("closed\n"), zoo.Await(f.file("never")))
		s.Send("go")
		s.Expect("")
		eventually(t, "a write that fails", func() bool { return s.SendInBackground([]byte("more\n")).Wait() != nil })
		s.Signal(syscall.SIGTERM)
		s.Wait()
		if c := f.captured(); c != nil && c.note(record.Client, "closed") == nil {
			t.Error("capture: no note of the closed stdin")
		}
	})
}

// An agent that never reads, and exits: the client's write fails, what was on the way is told.
func TestAgentNeverReads(t *testing.T) {
	bothAll(t, func(t *testing.T, f *front) {
		goOn := f.file("go")
		s := f.start(zoo.Out("ready\n"), zoo.Await(goOn), zoo.Exit(5))
		s.Expect("")
		sent := zoo.Random(7, 2<<20)
		sending := s.SendInBackground(sent)
		if f.recorded {
			path := f.onlyCapture()
			eventually(t, "a note of the stall", func() bool { return readNow(t, path).note(record.Client, "stall") != nil })
		}
		touch(t, goOn)
		s.Wait(5)
		if err := sending.Wait(); err == nil {
			t.Error("all was written, and nobody read it")
		}
		c := f.captured()
		if c == nil {
			return
		}
		got, undelivered := c.bytes[record.Client], c.note(record.Client, "undelivered")
		if !bytes.HasPrefix(sent, got) || undelivered == nil || undelivered.Note.Bytes == 0 || c.condition != "" {
			t.Errorf("capture: %q, %d bytes of the client, note %+v of what was not delivered", c.condition, len(got), undelivered)
		}
	})
}

// The agent closes its output: the client sees the end at once, and the rest goes on.
func TestAgentClosesItsOutputs(t *testing.T) {
	bothAll(t, func(t *testing.T, f *front) {
		s := f.start(zoo.Out("last\n"), zoo.Close(1), zoo.Line(), zoo.Err("still here\n"), zoo.Close(2), zoo.Line(), zoo.Exit(4))
		end := make(chan struct{})
		go func() { defer close(end); s.WaitForEnd() }()
		s.Send("one")
		s.Until("the words on stderr", func(out, err []byte) bool { return string(err) == "still here\n" })
		<-end
		if !s.Running() {
			t.Error("the agent's exit came before it was asked to")
		}
		s.Send("two")
		s.Wait(4)
		f.captured().session(s)
	})
}

// A client that closes its end is noticed by an agent that only waits, and its next write fails.
func TestClosedStdoutReachesAnIdleAgent(t *testing.T) {
	bothAll(t, func(t *testing.T, f *front) {
		s := f.start(zoo.Out("one\n"), zoo.Broken(1), zoo.Line(), zoo.Out("two\n"), zoo.Exit(5))
		s.Expect("")
		s.CloseStdout()
		s.Until("the agent to notice", func(out, err []byte) bool { return string(err) == "fd 1 broken\n" })
		s.Send("write")
		s.Wait(5)
		s.WaitForEnd()
		if want := "fd 1 broken\nout: stdout: EPIPE\n"; string(s.Err.Bytes()) != want {
			t.Errorf("stderr is %q, want %q", s.Err.Bytes(), want)
		}
		if c := f.captured(); c != nil {
			c.session(s)
			if c.note(record.Agent, "closed") == nil {
				t.Error("capture: no note of the closed stdout")
			}
		}
	})
}

func TestClosedStderrReachesAnIdleAgent(t *testing.T) {
	bothAll(t, func(t *testing.T, f *front) {
		mark := f.file("mark")
		s := f.start(zoo.Err("one\n"), zoo.Broken(2), zoo.Touch(mark), zoo.Echo())
		s.Until("stderr", func(out, err []byte) bool { return len(err) > 0 })
		s.Err.Close()
		eventually(t, "the agent to notice", func() bool { return exists(mark) })
		s.Send("hello")
		s.Finish(0)
		f.captured().session(s)
	})
}

func TestClientClosesStdinAndStdout(t *testing.T) {
	bothAll(t, func(t *testing.T, f *front) {
		s := f.start(zoo.Out("one\n"), zoo.EOF(), zoo.Broken(1), zoo.Err("bye\n"), zoo.Exit(6))
		s.Expect("")
		s.CloseStdin()
		s.CloseStdout()
		s.Wait(6)
		s.WaitForEnd()
		if want := "fd 1 broken\nbye\n"; string(s.Err.Bytes()) != want {
			t.Errorf("stderr is %q, want %q", s.Err.Bytes(), want)
		}
		f.captured().session(s)
	})
}

// An agent that writes into a closed pipe and does not care dies of SIGPIPE.
func TestAgentDiesOfBrokenPipe(t *testing.T) {
	both(t, func(t *testing.T, f *front) {
		s := f.exec("sh", "-c", "echo one; read x; while :; do echo more; done")
		s.Expect("")
		s.CloseStdout()
		s.Send("go")
		s.Wait(-int(syscall.SIGPIPE))
	})
}

// Nobody reads stderr, and the agent doesn't read stdin: stdout goes on.
func TestBlockedStreamsBlockNoOther(t *testing.T) {
	if zoo.Plainly(t) {
		return
	}
	bothAll(t, func(t *testing.T, f *front) {
		s := f.start(zoo.Child(zoo.NoiseErr(5, 1<<20)), zoo.Flood(2000, 1000), zoo.Line(), zoo.Flood(2000, 1000), zoo.Digest())
		s.Err.StopReading()
		sent := append([]byte("go\n"), zoo.Random(3, 1<<20)...)
		sending := s.SendInBackground(sent)
		s.Until("all of stdout", func(out, err []byte) bool { return len(out) == 4_000_000 })
		if err := sending.Wait(); err != nil {
			t.Error(err)
		}
		s.CloseStdin()
		s.Until("the digest", func(out, err []byte) bool { return len(out) > 4_000_000 && out[len(out)-1] == '\n' })
		s.Err.ResumeReading()
		s.Wait(0)
		s.WaitForEnd()
		same(t, "digest", s.Out.Bytes()[4_000_000:], []byte(zoo.Sum(sent[3:])+"\n"))
		same(t, "stderr", s.Err.Bytes(), zoo.Random(5, 1<<20))
		f.captured().session(s)
	})
}

// Back-pressure: an agent can't run ahead of a client that doesn't read, nor the client of an agent.
func TestBackPressure(t *testing.T) {
	if zoo.Plainly(t) {
		return
	}
	const bound = 1 << 20 // pipes and socket buffers on the way, with room
	bothAll(t, func(t *testing.T, f *front) {
		progress := f.file("progress")
		s := f.start(zoo.Progress(progress), zoo.Out("go\n"), zoo.Line(), zoo.Flood(16_000, 1000), zoo.Digest())
		s.Expect("")
		s.StopReading()
		s.Send("now")
		sent := zoo.Random(4, 8<<20)
		sending := s.SendInBackground(sent)
		eventually(t, "the flood to begin", func() bool { return size(progress) > 0 })
		if written := settles(t, "the flood", func() int64 { return size(progress) }); written > bound {
			t.Errorf("the agent wrote %d bytes that nobody reads", written)
		}
		s.ResumeReading()
		s.Until("the flood", func(out, err []byte) bool { return len(out) >= 16_000_000 })
		if err := sending.Wait(); err != nil {
			t.Error(err)
		}
		s.Finish(0)
		want := append(append([]byte("go\n"), zoo.Records(16_000, 1000)...), zoo.Sum(sent)+"\n"...)
		same(t, "stdout", s.Out.Bytes(), want)
		f.captured().session(s)
	})
}
