package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"pitap/record"
	"pitap/replay/cut"
)

func runCut(t *tool, args []string) error {
	var opt cut.Options
	var out, entries string
	f := t.flags("cut")
	f.StringVarP(&out, "output", "o", "", "write the fixture to `FILE`; else to stdout")
	f.IntVar(&opt.Run, "run", 0, "keep the run number `N`, from 1")
	f.StringVar(&entries, "entries", "", "keep the entries with the numbers `A:B`")
	f.BoolVar(&opt.Exact, "exact", false, "change nothing in the records")
	if done, err := t.parse(f, args); done || err != nil {
		return err
	}
	switch {
	case opt.Run < 0 || opt.Run == 0 && f.Changed("run"):
		return usageError("cut: --run is %d; runs are counted from 1", opt.Run)
	case opt.Run > 0 && entries != "":
		return usageError("cut: --run and --entries exclude each other")
	}
	if entries != "" {
		a, b, ok := strings.Cut(entries, ":")
		var errA, errB error
		if a != "" {
			opt.First, errA = strconv.ParseInt(a, 10, 64)
		}
		if b != "" {
			opt.Last, errB = strconv.ParseInt(b, 10, 64)
		}
		if !ok || errA != nil || errB != nil || opt.First < 0 || opt.Last < 0 {
			return usageError("cut: --entries is %q; it takes numbers of entries A:B", entries)
		}
	}
	path, err := t.find(f.Args())
	if err != nil {
		return err
	}
	if f.NArg() == 0 { // the newest may be another than the one that is meant
		fmt.Fprintf(t.stderr, "cut of %s\n", visible(path))
	}
	if out == "" || out == "-" {
		w := bufio.NewWriterSize(t.stdout, 64<<10)
		return errors.Join(t.cutFile(w, path, opt), w.Flush())
	}
	return writeWholeFrom(out, fixtureMode(path), func(w io.Writer) error { return t.cutFile(w, path, opt) })
}

// fixtureMode is who may read a fixture: those who may read its capture.
func fixtureMode(capture string) fs.FileMode {
	info, err := os.Stat(capture)
	if err != nil {
		return 0o600
	}
	return info.Mode().Perm()&0o666 | 0o600
}

// cutFile writes the fixture of a capture, and says on stderr what is wrong with that.
func (t *tool) cutFile(w io.Writer, path string, opt cut.Options) error {
	boundMemory()
	var opened []*record.Capture
	defer func() {
		for _, c := range opened {
			c.Close()
		}
	}()
	err := cut.Cut(w, func() (*record.Reader, error) {
		c, err := record.Open(path)
		if err != nil {
			return nil, err
		}
		opened = append(opened, c)
		return c.Reader, nil
	}, opt)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	t.damage(opened[len(opened)-1])
	return nil
}
