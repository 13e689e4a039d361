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
	name := visible(filepath.Base(path))
	m, err := record.Mend(path)
	switch {
	case errors.Is(err, record.ErrWhole):
		fmt.Fprintf(t.stdout, "%s: whole, nothing to mend\n", name)
		return nil
	case err != nil:
		return err
	}
	dropped := "nothing was dropped"
	if m.Dropped > 0 {
		dropped = fmt.Sprintf("%s bytes at the end that held no whole entry were dropped", text.Count(m.Dropped))
	}
	fmt.Fprintf(t.stdout, "%s: mended, %s kept; %s\n", name, text.Size(m.Kept), dropped)
	return nil
}
