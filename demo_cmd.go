package main

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"pitap/inspect"
	"pitap/record"
	"pitap/record/rpc"
)

// demoFixture is a session with the real pi, cut.
//
//go:embed demo.jsonl
var demoFixture []byte

// runDemo plays a built-in session through the recorder to a built-in client, then shows what was recorded, and what else can be done
// with it.
func runDemo(t *tool, args []string) error {
	f := t.flags("demo")
	if done, err := t.parse(f, args); done || err != nil {
		return err
	}
	if f.NArg() > 0 {
		return usageError("demo takes no arguments")
	}
	dir, err := os.MkdirTemp("", "pitap-demo-")
	if err != nil {
		return err
	}
	fixture, capture, report := filepath.Join(dir, "pi.jsonl"), filepath.Join(dir, "demo.jsonl.zst"), filepath.Join(dir, "report.json")
	if err := os.WriteFile(fixture, demoFixture, 0o644); err != nil {
		return err
	}
	fmt.Fprint(t.out(), demoHead)
	if err := demoSession(fixture, capture, report); err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	for _, step := range []struct {
		says string
		run  func(*tool) error
	}{
		{"What was said:\n\n$ pitap show", func(t *tool) error { return t.demoShow(capture) }},
		{"What is wrong with it:\n\n$ pitap check", func(t *tool) error { return runCheck(t, []string{capture}) }},
		{"How it ended:\n\n$ pitap why", func(t *tool) error { return runWhy(t, []string{capture}) }},
		{"Whether the client sent what was recorded (pi was played by pitap replay):\n\n$ pitap verdict", func(t *tool) error { return runVerdict(t, []string{report}) }},
	} {
		fmt.Fprintf(t.out(), "\n%s\n", step.says)
		if err := step.run(t); err != nil {
			var code statusError
			if !errors.As(err, &code) || code.err != nil {
				return err
			}
		}
	}
	_, err = fmt.Fprintf(t.out(), demoTail, shellQuote(t.self), shellQuote(capture))
	return err
}

const (
	demoHead = `A client has a conversation with pi, and pitap stands in between:

    client  <-->  pitap record -- pi --mode rpc

(Both are built in: nothing is installed, nothing goes over the network.)
`
	demoTail = `
Go on:

    %[1]s inspect %[2]s
        the same on a screen of its own; ? tells the keys
    %[1]s record -- pi --mode rpc
        in the place where your client runs pi --mode rpc; then pitap ls
    %[1]s help
        all commands
`
	demoWidth = 80 // where the output is no terminal
)

// demoShow writes a line for each entry, none of which is longer than the terminal is wide.
func (t *tool) demoShow(capture string) error {
	out, err := t.output("auto")
	if err != nil {
		return err
	}
	c, err := record.Open(capture)
	if err != nil {
		return err
	}
	defer c.Close()
	width := out.width
	if width == 0 {
		width = demoWidth
	}
	out.terminal = false // no title
	return t.show(c, out, inspect.ShowOptions{Terminal: true, Width: width, Palette: out.palette}, false)
}

// demoSession runs the recorder, the replay below it, and has the conversation of the fixture with them.
func demoSession(fixture, capture, report string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self, "record", "-o", capture, "--", self, "replay", "--report", report, "--quiet", fixture, "--mode", "rpc")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		return err
	}
	timer := time.AfterFunc(20*time.Second, func() { cmd.Process.Kill() })
	defer timer.Stop()
	talk := demoClient(stdin, stdout)
	stdin.Close()
	io.Copy(io.Discard, stdout)
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("%w: %s", err, errs.Bytes())
	}
	return talk
}

// demoClient sends what the fixture's client sent, each record when the one before it was answered and its run is over.
func demoClient(to io.Writer, from io.Reader) error {
	r := record.NewReader(bytes.NewReader(demoFixture), func() (int64, error) { return int64(len(demoFixture)), nil })
	answers := bufio.NewReader(from)
	for r.Next() {
		e := r.Entry()
		if e.From != record.Client || e.Note != nil {
			continue
		}
		if _, err := to.Write(append(bytes.Clone(e.Body), '\n')); err != nil {
			return err
		}
		want := "response"
		if rpc.Look("client", e.Body).Type == "prompt" {
			want = "agent_settled"
		}
		for {
			line, err := answers.ReadBytes('\n')
			if err != nil {
				return fmt.Errorf("the agent ended before %s: %w", want, err)
			}
			var rec struct{ Type string }
			if json.Unmarshal(line, &rec) == nil && rec.Type == want {
				break
			}
		}
	}
	return r.Err()
}
