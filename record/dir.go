package record

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Ext is how the names of captures end; Plain how those of captures that are not compressed do.
const (
	Ext   = ".jsonl.zst"
	Plain = ".jsonl"
)

// stamp is the layout of the time that a capture's name begins with, in UTC.
const stamp = "20060102-150405.000"

// DefaultDir is the folder for captures: $PITAP_DIR, else $XDG_STATE_HOME/pitap, else ~/.local/state/pitap.
func DefaultDir(getenv func(string) string) (string, error) {
	if dir := getenv("PITAP_DIR"); dir != "" {
		return dir, nil
	}
	if dir := getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "pitap"), nil
	}
	if home := getenv("HOME"); home != "" {
		return filepath.Join(home, ".local", "state", "pitap"), nil
	}
	if dir := getenv("LOCALAPPDATA"); dir != "" {
		return filepath.Join(dir, "pitap"), nil
	}
	return "", errors.New("no folder for captures: none of PITAP_DIR, XDG_STATE_HOME and HOME is set")
}

// Create makes a new capture file in dir, which is made if it is missing, named by the start, the agent's name and a
// random part. The file is readable by its owner alone.
func Create(dir string, start time.Time, agent string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	name := start.UTC().Format(stamp) + "-" + safeName(agent)
	for {
		var random [4]byte
		rand.Read(random[:])
		f, err := createExclusive(filepath.Join(dir, name+"-"+hex.EncodeToString(random[:])+Ext))
		if !errors.Is(err, os.ErrExist) {
			return f, err
		}
	}
}

// CreateAt makes a new capture file at path, or at the first of path-2, path-3, ... that is free (the number stands
// before the ending .jsonl.zst, .zst or .jsonl): a client that restarts its agent overwrites nothing.
func CreateAt(path string) (*os.File, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("create %s: it exists and is not a file", path)
	}
	base, ext := path, ""
	for _, e := range []string{Ext, ".zst", Plain} {
		if strings.HasSuffix(path, e) && len(filepath.Base(path)) > len(e) {
			base, ext = strings.TrimSuffix(path, e), e
			break
		}
	}
	for i := 2; ; i++ {
		f, err := createExclusive(path)
		if !errors.Is(err, os.ErrExist) || i > 100_000 {
			return f, err
		}
		path = fmt.Sprintf("%s-%d%s", base, i, ext)
	}
}

func createExclusive(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
}

// safeName makes a part of a file name from anything.
func safeName(s string) string {
	s = filepath.Base(s)
	var b strings.Builder
	for _, c := range s {
		if b.Len() >= 32 {
			break
		}
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '.' && b.Len() > 0:
			b.WriteRune(c)
		default:
			b.WriteByte('_')
		}
	}
	return b.String()
}

// Found is a capture in a folder.
type Found struct {
	Path string
	Time time.Time // when it began, by its name, or was changed last
	Size int64     // of the file in bytes
}

// List gives the captures in a folder, newest first. A folder that does not exist has none.
func List(dir string) ([]Found, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var found []Found
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), Ext) && !strings.HasSuffix(e.Name(), Plain) {
			continue
		}
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		t := info.ModTime()
		if len(e.Name()) > len(stamp) {
			if began, err := time.Parse(stamp, e.Name()[:len(stamp)]); err == nil {
				t = began
			}
		}
		found = append(found, Found{filepath.Join(dir, e.Name()), t, info.Size()})
	}
	slices.SortStableFunc(found, func(a, b Found) int { return b.Time.Compare(a.Time) })
	return found, nil
}

// Find gives the path of the capture that arg means: a path, a name in dir with or without its ending, a part of the name
// of just one capture there, or "" for the newest.
func Find(dir, arg string) (string, error) {
	if arg != "" {
		info, err := os.Stat(arg)
		isPath := strings.ContainsRune(arg, '/') || strings.ContainsRune(arg, filepath.Separator)
		switch {
		case err == nil && (isPath || !info.IsDir()):
			return arg, nil
		case isPath:
			return "", fmt.Errorf("no capture %s: %w", arg, err)
		}
	}
	found, err := List(dir)
	if err != nil {
		return "", err
	}
	if arg == "" {
		if len(found) == 0 {
			return "", fmt.Errorf("no captures in %s", dir)
		}
		return found[0].Path, nil
	}
	var matches []string
	for _, f := range found {
		name := filepath.Base(f.Path)
		if name == arg || name == arg+Ext || name == arg+Plain {
			return f.Path, nil
		}
		if strings.Contains(name, arg) {
			matches = append(matches, f.Path)
		}
	}
	switch len(matches) {
	case 0:
		if info, err := os.Stat(arg); err == nil && info.IsDir() {
			return "", fmt.Errorf("%q is a folder: with --dir %s its newest capture is taken, and pitap ls --dir %s lists them", arg, arg, arg)
		}
		return "", fmt.Errorf("no capture %q, neither as a file nor in %s", arg, dir)
	case 1:
		return matches[0], nil
	}
	var names []string
	for _, m := range matches[:min(3, len(matches))] {
		names = append(names, filepath.Base(m))
	}
	more := ""
	if len(matches) > len(names) {
		more = ", ..."
	}
	return "", fmt.Errorf("%q is part of the names of %d captures: %s%s", arg, len(matches), strings.Join(names, ", "), more)
}
