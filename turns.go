package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// maxTurns is how long turns are remembered that were taken last by a process that still runs.
const maxTurns = 24 * time.Hour

// turn is how many turns this process's parent has had before. Each takes a file of its own, so that processes that start
// at once get different ones.
func (t *tool) turn(dir, group string) (int, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return 0, err
	}
	parent := os.Getppid()
	all := filepath.Join(os.TempDir(), "pitap-turns-"+strconv.Itoa(os.Getuid()))
	hash := sha256.Sum256([]byte(abs + "\x00" + group))
	turns := filepath.Join(all, fmt.Sprintf("%d_%s_%s_%x", parent, startOf(parent), pidSpace(), hash[:12]))
	if err := os.MkdirAll(all, 0o700); err != nil {
		return 0, fmt.Errorf("count turns: %w", err)
	}
	// The folder for temporary files is everybody's: what lies there under this name may be a trap.
	if info, err := os.Lstat(all); err != nil || !info.IsDir() || !ownFile(info) {
		return 0, fmt.Errorf("count turns: %s is not a folder of this user's", all)
	}
	switch err := os.Mkdir(turns, 0o700); {
	case err == nil:
		forgetTurns(all, time.Now())
	case !errors.Is(err, fs.ErrExist):
		return 0, fmt.Errorf("count turns: %w", err)
	}
	for n := range 100_000 {
		f, err := os.OpenFile(filepath.Join(turns, strconv.Itoa(n)), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err == nil {
			return n, f.Close()
		}
		if !errors.Is(err, fs.ErrExist) {
			return 0, fmt.Errorf("count turns: %w", err)
		}
	}
	return 0, fmt.Errorf("count turns: too many in %s", turns)
}

// forgetTurns removes what was counted for processes that have ended, or that took no turn for a day.
func forgetTurns(all string, now time.Time) {
	entries, err := os.ReadDir(all)
	if err != nil {
		return
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !e.IsDir() || len(strings.Split(e.Name(), "_")) != 4 {
			continue
		}
		if now.Sub(info.ModTime()) > maxTurns || hasEnded(e.Name()) {
			os.RemoveAll(filepath.Join(all, e.Name()))
		}
	}
}

// hasEnded tells whether the process that turns are counted for has surely ended. Of the processes of another container
// nothing is known.
func hasEnded(name string) bool {
	part := strings.Split(name, "_")
	if len(part) != 4 || part[2] != pidSpace() {
		return false
	}
	pid, err := strconv.Atoi(part[0])
	return err == nil && pid > 0 && (!processRuns(pid) || startOf(pid) != part[1])
}

// startOf tells when a process started, where the system says so: numbers of processes are used again.
func startOf(pid int) string {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return ""
	}
	// The name, in parentheses, may hold anything.
	fields := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	if len(fields) < 20 {
		return ""
	}
	return fields[19]
}

// pidSpace tells in which space numbers of processes count, where the system has several.
func pidSpace() string {
	link, err := os.Readlink("/proc/self/ns/pid") // "pid:[4026531836]"
	if err != nil {
		return ""
	}
	return strings.Trim(strings.TrimPrefix(link, "pid:"), "[]")
}
