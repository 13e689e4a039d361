//go:build unix

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

// labelled records a session of cat with a label.
func labelled(t *testing.T, dir, label string) {
	t.Helper()
	cmd := exec.Command(filepath.Join(bin, "pitap"), "record", "--name", label, "--dir", dir, "--", "cat")
	cmd.Stdin = strings.NewReader("{\"type\":\"abort\"}\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// Every command finds a capture by its label or a part of that; of a part that several have it takes none.
func TestFindByLabel(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, label := range []string{"alpha-one", "alpha-two", "beta", "beta"} {
		labelled(t, dir, label)
	}
	for _, command := range []string{"show", "check", "why", "stats", "extract"} {
		for _, test := range []struct {
			name   string
			code   int
			stderr string
		}{
			{"alpha-one", 0, ""},
			{"pha-t", 0, ""},
			{"beta", 0, "2 captures have the label beta: the newest of them, "},
			{"alpha", 1, `"alpha" is part of the labels of 2 captures: `},
			{"gamma", 1, `no capture "gamma"`},
			{"cat", 1, `"cat" is part of the names of 4 captures`},
			{"", 2, "an empty CAPTURE names none"},
		} {
			args := []string{command, test.name}
			if command == "check" {
				args = append(args, "--fail-on", "never")
			}
			_, stderr, code := pitap(t, dir, args...)
			if code != test.code || !strings.Contains(stderr, test.stderr) {
				t.Errorf("%q: status %d, want %d; says %q, want %q", args, code, test.code, stderr, test.stderr)
			}
		}
	}
}

// A file of no bytes is not what anybody means by the newest capture.
func TestNewestThatCanBeRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	labelled(t, dir, "readable")
	writeFile(t, filepath.Join(dir, "29990101-000000.000-cat-aaaa0001.jsonl.zst"), "")
	for _, command := range []string{"show", "check", "why", "stats", "extract"} {
		_, stderr, code := pitap(t, dir, command)
		if code != 0 && command != "check" || !strings.Contains(stderr, "aaaa0001 can't be read: the next older one is taken") {
			t.Errorf("%s: status %d, says %q", command, code, stderr)
		}
	}
}

// Who asks why without naming a session means the one that is going on, not a short one that came after it.
func TestWhyPrefersLive(t *testing.T) {
	t.Parallel()
	f := behind(t)
	_, stderr, code := pitap(t, f.dir, "why")
	if code != 1 || !strings.Contains(stderr, "no captures in") {
		t.Errorf("status %d, %s", code, stderr)
	}
	s := f.exec("cat")
	live := filepath.Base(f.onlyCapture())
	labelled(t, f.dir, "later")
	out, stderr, code := pitap(t, f.dir, "why") // nothing has been written of it
	if code != 0 || !strings.Contains(out, "Nothing was said yet") || !strings.Contains(stderr, live+" (live)") {
		t.Errorf("status %d, says %q and %q", code, out, stderr)
	}
	s.Send(`{"id":"g","type":"get_state"}`)
	w := &wedge{s, f}
	w.why(t, "live", `^The command get_state "g" \(entry 1\) has no response`)
	s.CloseStdin()
	s.Wait(0)
	eventually(t, "the capture to end", func() bool {
		_, stderr, _ := pitap(t, f.dir, "why")
		return strings.Contains(stderr, "-cat-") && strings.Contains(stderr, "(newest)") && !strings.Contains(stderr, live)
	})
}

// What is no capture is told in words of what it is, and a kind that is not there is not met with silence.
func TestWordsForWhatIsNotThere(t *testing.T) {
	t.Parallel()
	dir := sample(t)
	text, binary := filepath.Join(t.TempDir(), "notes.txt"), filepath.Join(t.TempDir(), "x.bin")
	writeFile(t, text, "hello there\nand more\n")
	writeFile(t, binary, "\x7fELF\x00\x01\x02\x03\n")
	for _, test := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"why", text}, 1, `not a capture: it begins with the text "hello there"`},
		{[]string{"check", text}, 1, `not a capture: it begins with the text "hello there"`},
		{[]string{"show", binary}, 1, "not a capture: byte 0: not a zstd frame"},
		{[]string{"show", "--kind", "nosuchkind"}, 0, "no entry is as asked for\n  pitap stats lists the kinds"},
		{[]string{"mend", dir}, 1, "is a folder\n  pitap ls --dir "},
	} {
		if _, stderr, code := pitap(t, dir, test.args...); code != test.code || !strings.Contains(stderr, test.want) {
			t.Errorf("%q: status %d, says %q, want %q", test.args, code, stderr, test.want)
		}
	}
}
