package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"pitap/replay"
	"pitap/replay/cut"
)

// recordFixture runs the real pi and makes a fixture of what it says. The whole capture stays where captures are. mark is a
// file that is to go when the fixture is there; "" for none.
func (t *tool) recordFixture(path, mark string, r recording) error {
	rp := replaying{path: path, args: r.argv[1:], report: t.getenv("PITAP_REPORT")}
	if err := notItself(r.argv[0]); err != nil {
		t.reportBroken(rp, err, statusOf(err))
		return err
	}
	report, err := t.reporter(rp)
	if err != nil {
		t.complain(err)
	}
	if report == nil {
		report = func(*replay.Report) {}
	}
	report(&replay.Report{Outcome: replay.Running, Detail: "the session is being recorded, or its recorder was killed"}) // in the place of an old one
	made := false
	t.stderr = kept(t.stderr) // the session closes its own
	r.out = ""
	r.after = func(capture string) {
		made = true
		rep := &replay.Report{Outcome: replay.Recorded}
		if err := t.makeFixture(path, capture); err != nil {
			err = fmt.Errorf("fixture %s: %w; the session is in %s", path, err, capture)
			t.complain(err)
			rep.Outcome, rep.Detail, rep.Code = replay.Broken, err.Error(), statusNo
		}
		report(rep)
		if mark != "" {
			os.Remove(mark)
		}
	}
	err = t.record(r)
	if !made {
		if mark != "" {
			os.Remove(mark)
		}
		cause := err
		if cause == nil || cause.Error() == "" {
			cause = errors.New("nothing was recorded")
		}
		report(&replay.Report{Outcome: replay.Broken, Detail: cause.Error(), Code: statusOf(err)})
	}
	return err
}

// makeFixture cuts a capture. A fixture of a session that was ended in the middle does not take the place of a good one:
// the test that was recorded has failed.
func (t *tool) makeFixture(path, capture string) error {
	var b bytes.Buffer
	if err := t.cutFile(&b, capture, cut.Options{}); err != nil {
		return err
	}
	content := b.Bytes()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	open := ""
	if s, err := replay.Parse(content); err == nil {
		open = s.Open()
	}
	if open != "" {
		if old, err := replay.Open(path); err == nil {
			whole := old.Open() == ""
			old.Close()
			if whole {
				beside := path + ".new"
				if err := writeWhole(beside, content, fixtureMode(capture)); err != nil {
					return err
				}
				return fmt.Errorf("it is kept as it was, since %s was open when the session ended; the new one is %s", open, beside)
			}
		}
	}
	return writeWhole(path, content, fixtureMode(capture))
}

// recordInFolder records the fixture of a folder whose turn it is: as a replay counts, by arguments and by parent process.
func (t *tool) recordInFolder(dir string, r recording, args []string) error {
	path, new, err := t.turnIn(dir, "record\x00", args)
	if err != nil {
		return t.brokenFixture(replaying{path: dir, args: args}, err)
	}
	if new {
		return t.recordNew(dir, r, args)
	}
	return t.recordFixture(path, "", r)
}

// autoInFolder finds the fixture of a folder whose turn it is. new tells that there is none.
func (t *tool) autoInFolder(dir string, args []string, aside bool) (path string, new bool, err error) {
	if !aside {
		return t.turnIn(dir, "", args)
	}
	all, err := capturesIn(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", false, err
	}
	if len(all) == 0 {
		return "", true, nil
	}
	return all[0], false, nil
}

// turnIn takes a turn: that of a fixture that was recorded with the same arguments, or of one that is to be made.
func (t *tool) turnIn(dir, group string, args []string) (path string, new bool, err error) {
	n, err := t.turn(dir, group+strings.Join(args, "\x00"))
	if err != nil {
		return "", false, err
	}
	all, err := capturesIn(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", false, err
	}
	if fit := t.fitting(all, args); n < len(fit) {
		return fit[n], false, nil
	}
	return "", true, nil
}

// recordNew records another fixture into a folder: 001.jsonl, 002.jsonl, ... in the order in which sessions begin.
func (t *tool) recordNew(dir string, r recording, args []string) error {
	path, mark, err := nextInFolder(dir)
	if err != nil {
		return t.brokenFixture(replaying{path: dir, args: args}, err)
	}
	return t.recordFixture(path, mark, r)
}

// nextInFolder is the name of the next fixture in a folder, and a file that holds it until the fixture is there.
func nextInFolder(dir string) (path, mark string, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", "", err
	}
	for n := 1; n < 1000; n++ {
		path := filepath.Join(dir, fmt.Sprintf("%03d.jsonl", n))
		mark := filepath.Join(dir, fmt.Sprintf(".%03d.recording", n))
		if b, err := os.ReadFile(mark); err == nil {
			if pid, err := strconv.Atoi(string(b)); err == nil && !processRuns(pid) {
				os.Remove(mark) // its recorder was killed
			}
		}
		if writeNew(mark, []byte(strconv.Itoa(os.Getpid())), 0o600) != nil {
			continue
		}
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			return path, mark, nil
		}
		os.Remove(mark)
	}
	return "", "", fmt.Errorf("%s is full, or can't be written", dir)
}
