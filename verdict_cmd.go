package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

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
	var all []*replay.Report
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		r, err := replay.ParseReport(b)
		if err != nil {
			return notAReport(file, err)
		}
		all = append(all, r)
		text, bad := r.Verdict(unfinished)
		fmt.Fprintf(t.out(), "%s: %s", filepath.Base(r.Capture), text)
		if bad {
			failed++
			t.whichReplay(r, file)
		}
	}
	t.leftOver(all)
	switch {
	case len(files) == 0:
		return statusError{statusNo, noReports("no reports in " + names[0])}
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
			return nil, noReports("no report " + name)
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

// noReports says what may be the reason that there are none.
func noReports(what string) error {
	return hint(fmt.Errorf("%s: no replay was started with it as PITAP_REPORT", what),
		"is the shim the first pi in PATH, or what your client starts? does your client pass its environment on to it?")
}

// notAReport says what a file is instead.
func notAReport(file string, err error) error {
	if _, headErr := headerOf(file); headErr == nil {
		return fmt.Errorf("%s: this is a capture, not the report of a replay; PITAP_REPORT or --report names where reports are written", file)
	}
	return fmt.Errorf("%s: no report of a replay: %w", file, err)
}

// whichReplay tells which of many replays it was that failed.
func (t *tool) whichReplay(r *replay.Report, file string) {
	fmt.Fprintf(t.out(), "  report: %s", file)
	if !r.Start.IsZero() {
		fmt.Fprintf(t.out(), ", of %s", r.Start.Local().Format("15:04:05.000"))
	}
	if len(r.Args) > 0 {
		fmt.Fprintf(t.out(), ", of pi %s", visible(strings.Join(r.Args, " ")))
	}
	fmt.Fprintln(t.out())
}

// leftOver names the fixtures of folders that were recorded anew but for these.
func (t *tool) leftOver(reports []*replay.Report) {
	recorded := map[string]map[string]bool{}
	for _, r := range reports {
		if r.Outcome != replay.Recorded {
			return
		}
		dir := filepath.Dir(r.Capture)
		if recorded[dir] == nil {
			recorded[dir] = map[string]bool{}
		}
		recorded[dir][r.Capture] = true
	}
	for dir, those := range recorded {
		if !those[filepath.Join(dir, "001.jsonl")] {
			continue // not a folder that sessions were recorded into
		}
		all, _ := capturesIn(dir)
		for _, path := range all {
			if !those[path] {
				fmt.Fprintf(t.out(), "%s: left over from before: it was not recorded this time\n", filepath.Base(path))
			}
		}
	}
}
