package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"pitap/record"
	"pitap/replay"
)

// reporter gives what writes the report: to a file, or to one of its own in a folder. nil when nobody wants one.
func (t *tool) reporter(r replaying) (func(*replay.Report), error) {
	own, err := t.reportTo(r, r.report)
	if err != nil {
		return nil, err
	}
	swept, err := t.reportTo(r, t.getenv(sweepVariable))
	if err != nil || swept == nil || t.getenv(sweepVariable) == r.report {
		return own, err
	}
	return func(rep *replay.Report) {
		swept(rep)
		if own != nil {
			own(rep)
		}
	}, nil
}

// reportTo is a reporter to one place; nil when there is none.
func (t *tool) reportTo(r replaying, file string) (func(*replay.Report), error) {
	if file == "" {
		return nil, nil
	}
	start := time.Now().UTC()
	dir := filepath.Dir(file)
	if namesFolder(file) {
		dir = file
		name := fmt.Sprintf("replay-%s-%d.json", start.Format("20060102-150405.000000"), os.Getpid())
		file = filepath.Join(file, name)
	} else if !mayOverwrite(file) {
		return nil, fmt.Errorf("the report: %s is there, and is not the report of a replay; PITAP_REPORT and --report name a file that each replay overwrites", file)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("the report: %w", err)
	}
	abs, err := filepath.Abs(r.path)
	if err != nil || r.path == "" {
		abs = r.path
	}
	warned := false
	return func(rep *replay.Report) {
		rep.Capture, rep.Start, rep.Args, rep.OtherArgs = abs, start, record.Mask(r.args), r.otherArgs
		if err := writeWhole(file, rep.Encode(), 0o644); err != nil && !warned {
			warned = true
			t.complain(fmt.Errorf("the report: %w", err))
		}
	}, nil
}

// maxReport is how long a file may be that a report replaces, in bytes.
const maxReport = 16 << 20

// mayOverwrite tells whether a report may take a file's place: that of an older report, or of nothing.
func mayOverwrite(file string) bool {
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return true // a write tells what is wrong
	}
	if info.Size() > maxReport {
		return false
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return false
	}
	_, err = replay.ParseReport(b)
	return err == nil
}

// namesFolder tells whether reports go into a folder of that name, each into a file of its own: one that is there, or one
// that is to be made, which has no name of a file (of one that ends in .json, say).
func namesFolder(name string) bool {
	if info, err := os.Stat(name); err == nil {
		return info.IsDir()
	}
	return os.IsPathSeparator(name[len(name)-1]) || filepath.Ext(name) == ""
}

// reportBroken writes the report of a replay that could not begin: clients swallow what stderr says.
func (t *tool) reportBroken(r replaying, cause error, status int) {
	if report, err := t.reporter(r); err == nil && report != nil {
		report(&replay.Report{Outcome: replay.Broken, Detail: cause.Error(), Code: status})
	}
}

// otherArgs says how the agent's arguments differ from the recorded ones; "" when they don't, or when a fixture does not
// tell.
func (t *tool) otherArgs(h *record.Header, args []string) string {
	if len(h.Argv) == 0 || len(args) == 0 || t.sameArgs(h, args) {
		return ""
	}
	return fmt.Sprintf("pi was started as: pi %s; recorded: %s", strings.Join(record.Mask(args), " "), strings.Join(h.Argv, " "))
}
