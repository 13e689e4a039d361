//go:build linux

package main

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"pitap/internal/zoo"
	"pitap/record"
)

// TestCase22 is about a child of the agent's that holds stdout when the agent has exited, and writes later.
func TestCase22(t *testing.T) {
	for _, stream := range []string{"stdout", "stderr"} {
		t.Run(stream, func(t *testing.T) {
			bothAll(t, func(t *testing.T, f *front) {
				pidFile, first, second := f.file("pid"), f.file("first"), f.file("second")
				write := zoo.Out
				if stream == "stderr" {
					write = zoo.Err
				}
				child := zoo.Child(zoo.Touch(pidFile), zoo.Await(first), write("late\n"), zoo.Await(second), write("later, half a line"))
				s := f.start(child, zoo.Await(pidFile), zoo.Out("one\n"), zoo.Err("two\n"), zoo.Exit(7))
				s.Wait(7) // while the child waits to be told
				pid := pidIn(t, pidFile)
				if !zoo.Alive(pid) {
					t.Fatal("the child did not outlive the agent")
				}
				if f.recorded && !live(t, f.onlyCapture()) {
					t.Error("the capture is not live while the child holds the stream")
				}
				touch(t, first)
				s.Until("the late line", func(out, err []byte) bool {
					all := string(out) + string(err)
					return all == "one\ntwo\nlate\n" || all == "one\nlate\ntwo\n"
				})
				if f.recorded && !live(t, f.onlyCapture()) {
					t.Error("the capture is not live after the late line")
				}
				touch(t, second)
				s.WaitForEnd()
				c := f.captured()
				c.session(s)
				if c != nil && c.note(record.NoStream, "handover") == nil {
					t.Error("capture: no note of the hand-over")
				}
			})
		})
	}
}

// A child of the agent's floods a client that reads slowly, long after the agent's exit.
func TestFloodAfterExit(t *testing.T) {
	if zoo.Plainly(t) {
		return
	}
	both(t, func(t *testing.T, f *front) {
		const n, size = 20_000, 500
		s := f.start(zoo.Child(zoo.Flood(n, size)), zoo.Out("go\n"), zoo.Line(), zoo.Exit(9))
		s.StopReading()
		s.Send("exit")
		s.Wait(9)
		s.ResumeReading()
		s.WaitForEnd()
		out := s.Out.Bytes()
		at := bytes.Index(out, []byte("go\n"))
		if at < 0 {
			t.Fatalf("stdout begins %.80q", out)
		}
		same(t, "stdout without the agent's own line", slices.Delete(slices.Clone(out), at, at+3), zoo.Records(n, size))
		f.captured().session(s)
	})
}

// What is unread at the exit stays readable, however late, and a client that is gone by then is told to the child.
func TestClientLeavesAfterExit(t *testing.T) {
	bothAll(t, func(t *testing.T, f *front) {
		pidFile, mark := f.file("pid"), f.file("mark")
		s := f.start(zoo.Child(zoo.Touch(pidFile), zoo.Broken(1), zoo.Touch(mark)), zoo.Await(pidFile), zoo.Exit(0))
		s.Wait(0)
		if !zoo.Alive(pidIn(t, pidFile)) {
			t.Fatal("the child did not outlive the agent")
		}
		s.CloseStdout()
		eventually(t, "the child to notice", func() bool { return exists(mark) })
		s.WaitForEnd()
		c := f.captured()
		c.session(s)
		if c != nil && c.note(record.Agent, "closed") == nil {
			t.Error("capture: no note of the closed stdout")
		}
	})
}

// The copy that goes on is nobody's job: what kills pitap's group does not reach it.
func TestCopyIsInNoGroup(t *testing.T) {
	t.Parallel()
	f := behind(t)
	pidFile, goOn := f.file("pid"), f.file("go")
	s := f.start(zoo.Child(zoo.Touch(pidFile), zoo.Await(goOn), zoo.Out("late\n")), zoo.Await(pidFile), zoo.Exit(0))
	before := unix.Getpgrp()
	s.Wait(0)
	var holders []int
	eventually(t, "the copy", func() bool {
		holders = slices.DeleteFunc(zoo.Holders(f.onlyCapture()), func(pid int) bool { return pid == unix.Getpid() })
		return len(holders) == 1
	})
	if group := zoo.Group(holders[0]); group == before || group != holders[0] {
		t.Errorf("the copy, process %d, is in group %d; the client is in %d", holders[0], group, before)
	}
	touch(t, goOn)
	s.WaitForEnd()
	eventually(t, "the copy's end", func() bool { return !zoo.Alive(holders[0]) })
	f.captured().session(s)
}

// pitap exits when the agent does, also when the child stays: its own part of the time is small.
func TestExitIsNotDelayed(t *testing.T) {
	if zoo.Plainly(t) {
		return
	}
	t.Parallel()
	best := time.Hour
	for range 5 { // the machine may be busy
		f := behind(t)
		pidFile, goOn := f.file("pid"), f.file("go")
		s := f.start(zoo.Child(zoo.Touch(pidFile), zoo.Await(goOn)), zoo.Await(pidFile), zoo.Out("bye\n"), zoo.Line(), zoo.Exit(3))
		s.Expect("")
		began := time.Now()
		s.Send("exit")
		s.Wait(3)
		best = min(best, time.Since(began))
		touch(t, goOn)
		s.WaitForEnd()
		f.captured().session(s)
	}
	t.Logf("from the word to the exit: %v", best)
	if limit := 300 * time.Millisecond; best > limit {
		t.Errorf("from the word to the exit it took %v, more than %v", best, limit)
	}
}

// Agents that exit again and again at the worst moment: with their last bytes just written, read slowly or not at all.
func TestLastBytesArrive(t *testing.T) {
	both(t, func(t *testing.T, f *front) {
		for i := range 10 {
			g := *f
			g.dir = t.TempDir()
			text := fmt.Sprintf("{\"n\":%d}\nlast words without an end", i)
			s := g.start(zoo.Noise(uint64(i), 30_000), zoo.Out(text), zoo.Err(text), zoo.Exit(i))
			s.Wait(i)
			s.WaitForEnd()
			same(t, "stdout", s.Out.Bytes(), append(zoo.Random(uint64(i), 30_000), text...))
			g.captured().session(s)
		}
	})
}
