package main

import (
	"errors"
	"fmt"
	"path/filepath"

	"pitap/inspect/text"
	"pitap/record"
)

func runMend(t *tool, args []string) error {
	f := t.flags("mend")
	if done, err := t.parse(f, args); done || err != nil {
		return err
	}
	if f.NArg() != 1 {
		return usageError("mend: name one CAPTURE; it is changed in place")
	}
	path, err := t.find(f.Args())
	if err != nil {
		return err
	}
	boundMemory()
	name := visible(filepath.Base(path))
	m, err := record.Mend(path)
	switch {
	case errors.Is(err, record.ErrWhole):
		return t.whole(path, name)
	case err != nil:
		return err
	}
	dropped := "nothing was dropped"
	if m.Dropped > 0 {
		dropped = fmt.Sprintf("%s bytes at the end that held no whole entry were dropped", text.Count(m.Dropped))
	}
	if m.Entries > 0 {
		dropped += fmt.Sprintf("; no checksum covered the last %s entries before", text.Count(m.Entries))
	}
	if _, err := fmt.Fprintf(t.out(), "%s: mended, %s kept; %s\n", name, text.Size(m.Kept), dropped); err != nil {
		return err
	}
	return t.afterMend(path)
}

// afterMend says what is wrong with a capture still.
func (t *tool) afterMend(path string) error {
	c, err := record.Open(path)
	if err != nil {
		return err
	}
	defer c.Close()
	for c.Next() {
	}
	return t.condition(c)
}

// whole says that a capture needs no mending, or that mending does not help it.
func (t *tool) whole(path, name string) error {
	c, err := record.Open(path)
	if err != nil {
		return err
	}
	defer c.Close()
	for c.Next() {
	}
	if err := c.Err(); err != nil || len(c.Damage()) > 0 {
		if err == nil {
			err = c.Damage()[0]
		}
		return fmt.Errorf("%s: its end is whole, but %w: mend closes what was cut and can't repair what is damaged", path, err)
	}
	_, err = fmt.Fprintf(t.out(), "%s: whole, nothing to mend\n", name)
	return err
}
