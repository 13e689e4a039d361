//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// Turns of processes that have ended are forgotten, those of others are not.
func TestForgetTurns(t *testing.T) {
	dir := t.TempDir()
	now := time.Now()
	self, start := os.Getpid(), startOf(os.Getpid())
	gone := launch(t, exec.Command("true"))
	gone.wait(0)
	old := map[string]bool{fmt.Sprintf("%d_%s_%s_old", self, start, pidSpace()): true}
	names := map[string]bool{ // kept
		fmt.Sprintf("%d_%s_%s_aa", self, start, pidSpace()):         true,
		fmt.Sprintf("%d__%s_bb", gone.cmd.Process.Pid, pidSpace()):  false,
		fmt.Sprintf("%d__%s_cc", gone.cmd.Process.Pid, "elsewhere"): true,
		"unknown": true,
	}
	if start != "" {
		names[fmt.Sprintf("%d_%s1_%s_dd", self, start, pidSpace())] = false // another process had the number
	}
	for name := range old {
		names[name] = false
	}
	old["old"], names["old"] = true, true // nothing of ours is called so
	for name := range names {
		path := filepath.Join(dir, name)
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(path, "0"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if old[name] {
			if err := os.Chtimes(path, now, now.Add(-25*time.Hour)); err != nil {
				t.Fatal(err)
			}
		}
	}
	forgetTurns(dir, now)
	var got, want []string
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		got = append(got, e.Name())
	}
	for name, kept := range names {
		if kept {
			want = append(want, name)
		}
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("left are %q, want %q", got, want)
	}
}
