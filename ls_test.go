package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A record with several separators is one finding, for the list too; and what pitap cut has made is neither cut nor damaged.
func TestListAgreesWithCheck(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	whole := filepath.Join(dir, "20260101-000000.000-cat-aaaa0001.jsonl.zst")
	cmd := exec.Command(filepath.Join(bin, "pitap"), "record", "-o", whole, "--", "cat")
	cmd.Stdin = strings.NewReader("{\"type\":\"prompt\",\"message\":\"a\u2028b\u2029c\u0085d\"}\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if out, _, _ := pitap(t, dir, "ls", "--json"); !strings.Contains(out, `"findings":{"hazard":1}`) || !strings.Contains(out, `"flagged":{"framing/u2028":2}`) {
		t.Errorf("ls --json: %s", out)
	}
	if out, _, _ := pitap(t, dir, "check", "--rule", "framing/u*"); strings.Count(out, "framing/u2028") != 2 || strings.Contains(out, "framing/u2029") || strings.Contains(out, "framing/u0085") {
		t.Errorf("check: %s", out) // one for each direction
	}
	if _, stderr, code := pitap(t, dir, "cut", whole, "-o", filepath.Join(dir, "fixture.jsonl")); code != 0 {
		t.Fatal(stderr)
	}
	if out, _, _ := pitap(t, dir, "ls", "--json"); !strings.Contains(out, `"name":"fixture.jsonl"`) || !strings.Contains(out, `"condition":"fixture"`) {
		t.Errorf("ls --json: %s", out)
	}
	if out, stderr, _ := pitap(t, dir, "check", "fixture"); strings.Contains(out+stderr, "cut") {
		t.Errorf("check: %s%s", out, stderr)
	}
}

// Captures of another folder are found with --dir, and what is no folder is told in words.
func TestFolderOfCaptures(t *testing.T) {
	t.Parallel()
	dir, other := sample(t), t.TempDir()
	for _, args := range [][]string{{"show"}, {"check"}, {"why"}, {"stats"}, {"extract"}, {"show", "--runs"}} {
		if _, stderr, code := pitap(t, other, append(args, "--dir", dir)...); code > 1 || strings.Contains(stderr, "no captures") {
			t.Errorf("%q: status %d, %s", args, code, stderr)
		}
		if _, stderr, code := pitap(t, other, append(args, "--dir", filepath.Join(other, "nothing"))...); code != 1 || !strings.Contains(stderr, "there is no folder ") {
			t.Errorf("%q: status %d, %s", args, code, stderr)
		}
		if _, stderr, code := pitap(t, other, append(args, dir)...); code != 1 || !strings.Contains(stderr, " is a folder\n  --dir ") {
			t.Errorf("%q: status %d, %s", args, code, stderr)
		}
	}
	for _, args := range [][]string{{"ls"}, {"prune", "--keep", "1"}} {
		if _, stderr, code := pitap(t, other, append(args, "--dir", filepath.Join(other, "nothing"))...); code != 1 || !strings.Contains(stderr, "there is no folder ") {
			t.Errorf("%q: status %d, %s", args, code, stderr)
		}
	}
}
