package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"pitap/record"
	"pitap/replay"
)

// fixture is what stands in pi's place in a test: $PITAP_FIXTURE, or a shim made with --replay.
type fixture struct {
	path string // of a capture, or of a folder of them
	mode string // replay, record, auto
}

// fixtureOf tells whether there is one.
func fixtureOf(getenv func(string) string, s shim) (f fixture, ok bool, err error) {
	f = fixture{s.replay, "replay"}
	if path := getenv("PITAP_FIXTURE"); path != "" {
		f.path = path
	}
	if f.path == "" {
		return f, false, nil
	}
	if mode := getenv("PITAP_MODE"); mode != "" {
		f.mode = mode
	}
	if f.mode != "replay" && f.mode != "record" && f.mode != "auto" {
		return f, true, statusError{statusBroken, fmt.Errorf("PITAP_MODE is %q; it is replay, record or auto", f.mode)}
	}
	return f, true, nil
}

// asFixture is what pitap does in pi's place when it is a test's fake. With done false the real pi is to be called.
func (t *tool) asFixture(f fixture, r recording, args []string) (done bool, err error) {
	aside := isAside(args)
	if !aside && !isRPC(args) {
		if f.mode != "replay" {
			return false, nil
		}
		return true, t.brokenFixture(replaying{path: f.path, args: args}, fmt.Errorf("pi was called as: pi %s; a replay answers --mode rpc, --version and --list-models", strings.Join(args, " ")))
	}
	rp := replaying{path: f.path, args: args}
	info, err := os.Stat(f.path)
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && (!missing || f.mode == "replay") {
		return true, t.brokenFixture(rp, err)
	}
	folder := missing && namesFolder(f.path) || !missing && info.IsDir()
	switch {
	case f.mode == "record" && aside:
		return false, nil
	case f.mode == "record" && folder:
		return true, t.recordInFolder(f.path, r, args)
	case f.mode == "auto" && folder:
		path, new, err := t.autoInFolder(f.path, args, aside)
		if err != nil {
			return true, t.brokenFixture(rp, err)
		}
		if new && aside {
			return false, nil
		}
		if new {
			return true, t.recordNew(f.path, r, args)
		}
		rp.path = path
	case f.mode == "record" || missing:
		if aside {
			return false, nil
		}
		return true, t.recordFixture(f.path, "", r)
	case folder:
		if rp.path, err = t.inFolder(f.path, args, aside); err != nil {
			return true, t.brokenFixture(rp, err)
		}
	}
	if err := rp.defaults(t.getenv); err != nil {
		t.reportBroken(rp, err, statusUsage)
		return true, err
	}
	return true, t.replay(rp)
}

// isAside tells whether a call of pi is one that a replay answers and that is no conversation.
func isAside(args []string) bool {
	if i := slices.Index(args, "--"); i >= 0 {
		args = args[:i]
	}
	return slices.ContainsFunc(args, func(a string) bool { return a == "--version" || a == "-v" || a == "--list-models" })
}

// brokenFixture leaves a report where a replay could not even begin: clients swallow what stderr says.
func (t *tool) brokenFixture(r replaying, cause error) error {
	if here, err := os.Getwd(); err == nil && errors.Is(cause, fs.ErrNotExist) && !filepath.IsAbs(r.path) {
		cause = fmt.Errorf("%w, from the folder %s; give PITAP_FIXTURE a whole path", cause, here)
	}
	r.report = t.getenv("PITAP_REPORT")
	t.reportBroken(r, cause, statusBroken)
	return statusError{statusBroken, cause}
}

// inFolder chooses a capture of a folder: those recorded with the same arguments, else all, in turn.
func (t *tool) inFolder(dir string, args []string, aside bool) (string, error) {
	all, err := capturesIn(dir)
	if err != nil {
		return "", err
	}
	if len(all) == 0 {
		return "", fmt.Errorf("%s: there are no captures in it", dir)
	}
	fit, group := t.fitting(all, args), strings.Join(args, "\x00")
	if len(fit) == 0 {
		fit, group = all, ""
	}
	if aside || len(fit) == 1 {
		return fit[0], nil
	}
	n, err := t.turn(dir, group)
	if err != nil {
		return "", err
	}
	if n >= len(fit) {
		return "", fmt.Errorf("%s: turn %d of %d captures: each has had its turn", dir, n+1, len(fit))
	}
	return fit[n], nil
}

// fitting are the captures that were recorded with the same arguments.
func (t *tool) fitting(captures, args []string) (fit []string) {
	for _, path := range captures {
		if h, err := headerOf(path); err == nil && len(h.Argv) > 0 && t.sameArgs(h, args) {
			fit = append(fit, path)
		}
	}
	return fit
}

// capturesIn are the captures in a folder, by name.
func capturesIn(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, e := range entries { // sorted
		if name := e.Name(); strings.HasSuffix(name, ".jsonl") || strings.HasSuffix(name, ".jsonl.zst") {
			paths = append(paths, filepath.Join(dir, name))
		}
	}
	return paths, nil
}

func headerOf(path string) (*record.Header, error) {
	c, err := record.Open(path)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return c.Header()
}

// sameArgs tells whether a capture's agent was started with the arguments, folders aside.
func (t *tool) sameArgs(h *record.Header, args []string) bool {
	recorded := h.Argv[1:]
	if i := slices.Index(recorded, "--mode"); i > 0 && base(h.Argv[0]) == "node" {
		recorded = recorded[i:]
	}
	live := replay.Folders{Home: t.getenv("HOME"), Tmp: os.TempDir()}
	live.Cwd, _ = os.Getwd()
	return slices.EqualFunc(recorded, record.Mask(args), func(a, b string) bool {
		return h.Cut != "" && standsIn(a, b) || replay.SameText(a, b, replay.Folders{Cwd: h.Cwd, Home: h.Home, Tmp: h.Tmp}, live)
	})
}

// standsIn tells whether an argument in a fixture stands for what is never the same: an id, or the path of a folder.
func standsIn(recorded, live string) bool {
	return strings.Contains(recorded, "00000000-0000-4000-8000-") || strings.HasSuffix(recorded, "…") ||
		filepath.IsAbs(live) && (strings.HasPrefix(recorded, "/home/user") || strings.HasPrefix(recorded, "/tmp/"))
}
