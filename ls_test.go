//go:build unix

package main

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pitap/inspect"
	"pitap/inspect/text"
)

// The columns that tell one capture from another stay on a narrow terminal, and no line is wider than it.
func TestListFits(t *testing.T) {
	l := &inspect.Listed{Name: "4f02609e", Condition: inspect.CondCut, Start: time.Now(), Duration: 5, Client: "node", Agent: "pi", Version: "1.6.0",
		Entries: 10_021, Size: 64 << 10, Findings: map[string]int{"hazard": 2}, Flagged: map[string]int64{"framing/u2028": 3, "framing/oversize": 1}, Folder: "~/src/a/long/way/down/to/the/project"}
	for _, test := range []struct {
		width int
		want  string
	}{
		{50, "name state start agent"},
		{80, "name state start agent entries size framing"},
		{100, "name state start duration agent entries size framing folder"},
		{140, "name state start duration agent client entries size framing folder"},
		{0, "name state start duration agent client entries size framing label folder"},
	} {
		columns := lsColumns(test.width > 0 && test.width < 120)
		row := make([]text.Cell, len(columns))
		for i, c := range columns {
			row[i] = c.cell(l, text.Palette{})
		}
		shown, room := fitting(columns, [][]text.Cell{row}, test.width)
		var titles []string
		width := -2
		for _, i := range shown {
			titles = append(titles, columns[i].Title)
			width += 2 + max(len(columns[i].Title), text.Width(row[i].Text))
		}
		if slices.Contains(titles, "folder") {
			width += room - text.Width(l.Folder)
		}
		if got := strings.Join(titles, " "); got != test.want || test.width > 0 && width > test.width {
			t.Errorf("of %d cells: %s, %d wide, want %s", test.width, got, width, test.want)
		}
	}
	for _, test := range []struct{ cut, want string }{{lastCells("~/a/project", 11), "~/a/project"}, {lastCells("~/a/project", 8), "…project"}, {lastCells("項目", 3), "…目"}} {
		if test.cut != test.want {
			t.Errorf("cut to %q, want %q", test.cut, test.want)
		}
	}
}

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
