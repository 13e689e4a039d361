package main

import (
	"errors"
	"fmt"
	"io"
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
	path, err := t.findLive(f.Args())
	if err != nil {
		return err
	}
	width := 0
	if text.IsTerminal(t.stdout) {
		width = text.TerminalWidth(t.stdout)
	}
	c, s, err := t.sessionAt(path)
	if errors.Is(err, io.ErrUnexpectedEOF) && isLive(path) {
		_, err = fmt.Fprintln(t.out(), text.Wrap("Nothing was said yet: the session is being recorded, and neither the client nor the agent has written a byte.", width))
		return err
	}
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = fmt.Fprintln(t.out(), text.Wrap(visible(s.Why(now(c, s))), width))
	return err
}

// session reads a capture as far as it goes, and says on stderr what is wrong with the file. Of a capture that is not live
// the session has ended.
func (t *tool) session(args []string) (*record.Capture, *session.Session, error) {
	path, err := t.find(args)
	if err != nil {
		return nil, nil, err
	}
	return t.sessionAt(path)
}

// sessionAt is session for the capture at path.
func (t *tool) sessionAt(path string) (*record.Capture, *session.Session, error) {
	c, err := record.Open(path)
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
	s.Damage = damageWords(c.Damage())
	return s, nil
}

// damageWords says where a file is damaged, "" when it is not.
func damageWords(damage []record.Damage) string {
	switch len(damage) {
	case 0:
		return ""
	case 1:
		return damage[0].Where()
	}
	return fmt.Sprintf("in %d places, first %s", len(damage), damage[0].Where())
}

// now is the time on the capture's clock.
func now(c *record.Capture, s *session.Session) int64 {
	h, err := c.Header()
	if err != nil || s.Ended || h.Start.IsZero() {
		return s.T
	}
	return max(s.T, int64(time.Since(h.Start)))
}
