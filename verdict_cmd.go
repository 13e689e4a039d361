package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"pitap/replay"
)

// runVerdict says how replays went, from their reports, and fails when one did not go as recorded.
func runVerdict(t *tool, args []string) error {
	var unfinished bool
	f := t.flags("verdict")
	f.BoolVar(&unfinished, "allow-unfinished", false, "a client may end a session before its recorded end")
	if done, err := t.parse(f, args); done || err != nil {
		return err
	}
	names := f.Args()
	if len(names) == 0 {
		name := t.getenv("PITAP_REPORT")
		if name == "" {
			return usageError("verdict: name a REPORT or a folder of them, or set PITAP_REPORT")
		}
		names = []string{name}
	}
	files, err := reports(names)
	if err != nil {
		return err
	}
	failed := 0
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		r, err := replay.ParseReport(b)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		text, bad := r.Verdict(unfinished)
		if bad {
			failed++
		}
		fmt.Fprintf(t.out(), "%s: %s", filepath.Base(r.Capture), text)
	}
	switch {
	case len(files) == 0:
		return statusError{statusNo, fmt.Errorf("no reports in %s: no replay was started with PITAP_REPORT", names[0])}
	case failed > 0:
		return statusError{statusNo, fmt.Errorf("%d of %d replays did not go as recorded", failed, len(files))}
	}
	return nil
}

// reports are the report files that are named, those in folders in order of time.
func reports(names []string) ([]string, error) {
	var files []string
	for _, name := range names {
		info, err := os.Stat(name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("no report %s: no replay was started with it as PITAP_REPORT", name)
		}
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			files = append(files, name)
			continue
		}
		found, err := filepath.Glob(filepath.Join(name, "*.json"))
		if err != nil {
			return nil, err
		}
		slices.Sort(found)
		files = append(files, found...)
	}
	return files, nil
}
