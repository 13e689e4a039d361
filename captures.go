package main

import (
	"fmt"
	"path/filepath"

	"pitap/inspect/text"
	"pitap/record"
)

// open opens the capture that a command's argument means.
func (t *tool) open(args []string) (*record.Capture, error) {
	path, err := t.find(args)
	if err != nil {
		return nil, err
	}
	return record.Open(path)
}

func (t *tool) find(args []string) (string, error) {
	if len(args) > 1 {
		return "", usageError("one CAPTURE, not %d", len(args))
	}
	name := ""
	if len(args) == 1 {
		name = args[0]
	}
	dir, err := record.DefaultDir(t.getenv)
	if err != nil && name == "" {
		return "", err
	}
	return record.Find(dir, name)
}

// condition says on stderr what is wrong with a capture that was read to its end: damage, a cut. Only an error of
// reading is returned: the rest was read.
func (t *tool) condition(c *record.Capture) error {
	if err := c.Err(); err != nil {
		return fmt.Errorf("%s: %w", c.Path, err)
	}
	name := filepath.Base(c.Path)
	for _, d := range c.Damage() {
		t.complain(fmt.Errorf("%s: %w", name, d))
	}
	if cond := c.Condition(); cond != "" {
		t.complain(fmt.Errorf("%s: %s", name, cond))
	}
	return nil
}

// visible makes text from a capture safe to print.
func visible(s string) string { return text.VisibleString(s) }
