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

	"pitap/record"
	"pitap/record/rpc"
)

// demoFixture is a session with the real pi, cut.
//
//go:embed demo.jsonl
var demoFixture []byte

// runDemo plays a built-in session through the recorder to a built-in client, then shows what was recorded.
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
	fixture, capture := filepath.Join(dir, "pi.jsonl"), filepath.Join(dir, "demo.jsonl.zst")
	if err := os.WriteFile(fixture, demoFixture, 0o644); err != nil {
		return err
	}
	fmt.Fprintf(t.out(), "A client talks to pi, with pitap in between: pitap record -o demo.jsonl.zst -- pi --mode rpc\n(pi is played by pitap replay; nothing is installed and nothing goes over the network)\n\n")
	if err := demoSession(fixture, capture); err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	for _, step := range []struct {
		says string
		run  func(*tool, []string) error
	}{{"pitap show", runShow}, {"pitap stats", runStats}, {"pitap check", runCheck}} {
		fmt.Fprintf(t.out(), "\n$ %s demo.jsonl.zst\n", step.says)
		if err := step.run(t, []string{capture}); err != nil {
			var code statusError
			if !errors.As(err, &code) || code.err != nil {
				return err
			}
		}
	}
	fmt.Fprintf(t.out(), "\nLook around in it:\n  pitap inspect %s\nRecord your own client:\n  pitap record -- pi --mode rpc        in the place of pi --mode rpc\n", capture)
	return nil
}

// demoSession runs the recorder, the replay below it, and has the conversation of the fixture with them.
func demoSession(fixture, capture string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self, "record", "-o", capture, "--", self, "replay", "--speed", "max", "--quiet", fixture, "--mode", "rpc")
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
