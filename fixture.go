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
	"pitap/replay/cut"
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
		return true, statusError{statusBroken, fmt.Errorf("pi was called as: pi %s; a replay answers --mode rpc, --version and --list-models", strings.Join(args, " "))}
	}
	info, err := os.Stat(f.path)
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && (!missing || f.mode == "replay") {
		return true, t.brokenFixture(f.path, err)
	}
	record := f.mode == "record" || f.mode == "auto" && missing
	if record && aside {
		return false, nil
	}
	if record {
		return true, t.recordFixture(f.path, !missing && info.IsDir(), r)
	}
	rp := replaying{path: f.path, args: args}
	if err := rp.defaults(t.getenv); err != nil {
		t.reportBroken(replaying{path: f.path, report: t.getenv("PITAP_REPORT")}, err, statusUsage)
		return true, err
	}
	if !missing && info.IsDir() {
		if rp.path, err = t.inFolder(f.path, args, aside); err != nil {
			if f.mode == "auto" && errors.Is(err, errNoMore) && !aside {
				return true, t.recordFixture(f.path, true, r)
			}
			return true, t.brokenFixture(f.path, err)
		}
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
func (t *tool) brokenFixture(path string, cause error) error {
	if here, err := os.Getwd(); err == nil && errors.Is(cause, fs.ErrNotExist) && !filepath.IsAbs(path) {
		cause = fmt.Errorf("%w, from the folder %s; give PITAP_FIXTURE a whole path", cause, here)
	}
	t.reportBroken(replaying{path: path, report: t.getenv("PITAP_REPORT")}, cause, statusBroken)
	return statusError{statusBroken, cause}
}

// reportBroken writes the report of a replay that could not begin.
func (t *tool) reportBroken(r replaying, cause error, status int) {
	if report, err := t.reporter(r); err == nil && report != nil {
		report(&replay.Report{Outcome: replay.Broken, Detail: cause.Error(), Code: status})
	}
}

// errNoMore is wrapped by the error for a folder all of whose captures have had their turn.
var errNoMore = errors.New("each has had its turn")

// inFolder chooses a capture of a folder: those recorded with the same arguments, else all, in turn.
func (t *tool) inFolder(dir string, args []string, aside bool) (string, error) {
	all, err := capturesIn(dir)
	if err != nil {
		return "", err
	}
	if len(all) == 0 {
		return "", fmt.Errorf("%s: no captures: %w", dir, errNoMore)
	}
	var fit []string
	for _, path := range all {
		if h, err := headerOf(path); err == nil && len(h.Argv) > 0 && t.sameArgs(h, args) {
			fit = append(fit, path)
		}
	}
	group := strings.Join(args, "\x00")
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
		return "", fmt.Errorf("%s: turn %d of %d captures: %w", dir, n+1, len(fit), errNoMore)
	}
	return fit[n], nil
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
		return replay.SameText(a, b, replay.Folders{Cwd: h.Cwd, Home: h.Home, Tmp: h.Tmp}, live)
	})
}

// recordFixture runs the real pi and makes a fixture of what it says. The whole capture stays where captures are.
func (t *tool) recordFixture(path string, folder bool, r recording) error {
	if err := notItself(r.argv[0]); err != nil {
		return err
	}
	r.out = ""
	r.after = func(capture string) {
		content, err := t.cutFile(capture, cut.Options{})
		if err == nil && folder {
			path, err = nextInFolder(path)
		}
		if err == nil {
			err = os.MkdirAll(filepath.Dir(path), 0o755)
		}
		if err == nil {
			err = writeWhole(path, content, fixtureMode(capture))
		}
		if err != nil {
			t.complain(fmt.Errorf("fixture %s: %w; the session is in %s", path, err, capture))
		}
	}
	return t.record(r)
}

// nextInFolder is the name of the next fixture in a folder: 001.jsonl, 002.jsonl, ...
func nextInFolder(dir string) (string, error) {
	for n := 1; n < 1000; n++ {
		path := filepath.Join(dir, fmt.Sprintf("%03d.jsonl", n))
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s is full", dir)
}
