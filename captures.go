package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/spf13/pflag"

	"pitap/inspect/text"
	"pitap/record"
)

// open opens the capture that a command's argument means.
func (t *tool) open(args []string) (*record.Capture, error) {
	path, err := t.find(args)
	if err != nil {
		return nil, err
	}
	boundMemory()
	return record.Open(path)
}

// dirFlag adds the flag --dir.
func (t *tool) dirFlag(f *pflag.FlagSet) {
	f.StringVar(&t.dir, "dir", "", "look for captures in the folder `DIR`")
}

// folder is where captures are looked for: dir, which must be a folder, or the default one, which need not be there yet.
func (t *tool) folder(dir string) (string, error) {
	if dir == "" {
		return record.DefaultDir(t.getenv)
	}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("there is no folder %s", dir)
	case err != nil:
		return "", err
	case !info.IsDir():
		return "", fmt.Errorf("%s is a file; --dir takes the folder that it is in", dir)
	}
	return dir, nil
}

// readMemory is the memory, in bytes, up to which reading a capture may leave garbage behind. Lines of 32 MiB otherwise
// take several times that.
const readMemory = 160 << 20

// boundMemory makes the garbage collector work harder above that, unless the user has said otherwise.
func boundMemory() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(readMemory)
	}
}

// hintError is an error with a word on how to go on.
type hintError struct {
	error
	hint string
}

func (e hintError) Unwrap() error { return e.error }
func (e hintError) Error() string { return e.error.Error() + "\n" + e.hint }

func hint(err error, words string) error { return hintError{err, words} }

// begin reads a capture's header, and says what to do about a file that has none.
func (t *tool) begin(c *record.Capture) (*record.Header, error) {
	h, err := c.Header()
	if err == nil {
		return h, nil
	}
	if errors.Is(err, record.ErrNoCapture) {
		return nil, hint(fmt.Errorf("%s: %w", c.Path, err), "pitap reads what pitap record writes, compressed or not")
	}
	err = fmt.Errorf("%s: %w", c.Path, err)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF) && c.Live():
		err = hint(err, "it is being recorded, and nothing has been written yet; try again, or --follow it with pitap show")
	case errors.Is(err, io.ErrUnexpectedEOF):
		err = hint(err, "its recorder was stopped before it had written anything")
	}
	return nil, err
}

// condition says on stderr what is wrong with a capture that was read to its end: damage, a cut. Only an error of
// reading is returned: the rest was read.
func (t *tool) condition(c *record.Capture) error {
	if err := c.Err(); err != nil {
		return fmt.Errorf("%s: %w", c.Path, err)
	}
	t.damage(c)
	return nil
}

func (t *tool) damage(c *record.Capture) {
	name := filepath.Base(c.Path)
	damage := c.Damage()
	for i, d := range damage {
		if i == maxDamage {
			t.complain(fmt.Errorf("%s: and %d more places", name, len(damage)-i))
			break
		}
		t.complain(fmt.Errorf("%s: damaged %s: %s", name, d.Where(), d.Cause))
	}
	if cond := c.Condition(); cond != "" && (c.Path != t.chosen || !c.Live()) {
		t.complain(fmt.Errorf("%s: %s", name, cond))
	}
}

// maxDamage is how many damaged places are told one by one.
const maxDamage = 10

// visible makes text from a capture safe to print.
func visible(s string) string { return text.VisibleString(s) }
