package main

import (
	"fmt"
	"time"

	"pitap/inspect/session"
	"pitap/inspect/text"
	"pitap/record"
)

func runWhy(t *tool, args []string) error {
	f := t.flags("why")
	t.dirFlag(f)
	if done, err := t.parse(f, args); done || err != nil {
		return err
	}
	c, s, err := t.session(f.Args())
	if err != nil {
		return err
	}
	defer c.Close()
	width := 0
	if text.IsTerminal(t.stdout) {
		width = text.TerminalWidth(t.stdout)
	}
	_, err = fmt.Fprintln(t.out(), text.Wrap(visible(s.Why(now(c, s))), width))
	return err
}

// session reads a capture as far as it goes, and says on stderr what is wrong with the file. Of a capture that is not live
// the session has ended.
func (t *tool) session(args []string) (*record.Capture, *session.Session, error) {
	c, err := t.open(args)
	if err != nil {
		return nil, nil, err
	}
	s, err := t.read(c)
	if err == nil {
		err = t.condition(c)
	}
	if err != nil {
		c.Close()
		return nil, nil, err
	}
	return c, s, nil
}

// read takes all entries of a capture into a session.
func (t *tool) read(c *record.Capture) (*session.Session, error) {
	h, err := t.begin(c)
	if err != nil {
		return nil, err
	}
	live := c.Live()
	out, err := t.output("never")
	if err != nil {
		return nil, err
	}
	s := session.New(h)
	size := c.Size()
	a := c.Ahead()
	defer a.Close()
	for a.Next() {
		s.Add(a.Entry())
		out.progress.at("read", a.Unit(), size)
	}
	out.progress.clear()
	if err := c.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", c.Path, err)
	}
	if !live || c.Ended() {
		s.End(c.Ended())
	}
	return s, nil
}

// now is the time on the capture's clock.
func now(c *record.Capture, s *session.Session) int64 {
	h, err := c.Header()
	if err != nil || s.Ended || h.Start.IsZero() {
		return s.T
	}
	return max(s.T, int64(time.Since(h.Start)))
}
