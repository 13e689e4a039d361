// A client in Go, written right unless READER is scanner: then it reads with bufio.Scanner as it comes, which ends at a
// line over 64 KiB.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

type record struct {
	ID, Type string
	Success  bool
	Data     struct{ Models []struct{ Name string } }
}

// client is a connection to pi.
type client struct {
	pi      *exec.Cmd
	stdin   io.Writer
	records chan record
	seen    []record
}

func start() (*client, error) {
	c := &client{pi: exec.Command("pi", "--mode", "rpc"), records: make(chan record, 1000)}
	stdin, err := c.pi.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := c.pi.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.stdin = stdin
	read := c.lines
	if os.Getenv("READER") == "scanner" {
		read = c.scan
	}
	if err := c.pi.Start(); err != nil {
		return nil, err
	}
	go read(stdout)
	return c, nil
}

func (c *client) lines(from io.Reader) {
	defer close(c.records)
	r := bufio.NewReader(from)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return
		}
		c.take(line)
	}
}

func (c *client) scan(from io.Reader) {
	defer close(c.records)
	s := bufio.NewScanner(from)
	for s.Scan() {
		c.take(s.Bytes())
	}
	if s.Err() != nil {
		fmt.Fprintln(os.Stderr, s.Err())
	}
}

// take passes over what is no record.
func (c *client) take(line []byte) {
	var r record
	if json.Unmarshal(line, &r) == nil {
		c.records <- r
	}
}

// next returns the first record that fits, also of those that came before.
func (c *client) next(patience time.Duration, fits func(record) bool) (record, error) {
	for _, r := range c.seen {
		if fits(r) {
			return r, nil
		}
	}
	over := time.After(patience)
	for {
		select {
		case r, ok := <-c.records:
			if !ok {
				return r, errors.New("pi has gone")
			}
			if c.seen = append(c.seen, r); fits(r) {
				return r, nil
			}
		case <-over:
			return record{}, errors.New("nothing came")
		}
	}
}

func (c *client) ask(id, command string) (record, error) {
	fmt.Fprintf(c.stdin, `{"id":%q,%s}`+"\n", id, command)
	return c.next(3*time.Second, func(r record) bool { return r.Type == "response" && r.ID == id })
}

func (c *client) talk() error {
	const question = `"type":"get_available_models"`
	models, err := c.ask("1", question)
	if err != nil {
		models, err = c.ask("2", question) // once more
	}
	if err != nil {
		return err
	}
	if len(models.Data.Models) != 1 || models.Data.Models[0].Name != "Größe 名前" {
		return fmt.Errorf("wrong: %+v", models)
	}
	answer, err := c.ask("3", `"type":"prompt","message":"hi"`)
	if err != nil || !answer.Success {
		return fmt.Errorf("prompt: %+v, %v", answer, err)
	}
	if _, err = c.next(5*time.Second, func(r record) bool { return r.Type == "agent_settled" }); err != nil {
		return err
	}
	c.pi.Process.Signal(syscall.SIGTERM)
	time.AfterFunc(time.Second, func() { c.pi.Process.Kill() })
	for range c.records {
	}
	c.pi.Wait()
	return nil
}

func main() {
	c, err := start()
	if err == nil {
		err = c.talk()
		c.pi.Process.Kill()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
