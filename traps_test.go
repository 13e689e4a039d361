//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"pitap/record"
)

// loose runs a command with a umask of 0 in the folder work, with captures in dir.
func loose(t *testing.T, work, dir string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.Command("sh", append([]string{"-c", `umask 0; exec "$0" "$@"`, filepath.Join(bin, "pitap")}, args...)...)
	cmd.Dir = work
	cmd.Env = append(os.Environ(), "PITAP_DIR="+dir, "HOME="+work, "TMPDIR="+work)
	cmd.Stdout, cmd.Stderr = &out, &errs
	launch(t, cmd).exit()
	return out.String(), errs.String(), status(cmd.ProcessState)
}

// talker is an agent that says something.
var talker = []string{"--", "sh", "-c", `echo '{"type":"agent_start"}'`}

// others fails when others than its owner can read or write a file.
func others(t *testing.T, path string) {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Error(err)
	} else if info.Mode().Perm()&0o077 != 0 {
		t.Errorf("%s has the mode %v", path, info.Mode())
	}
}

// names lists a folder.
func names(t *testing.T, dir string) (list []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

// TestOthersReadNothing: whatever the umask is, and whoever may write to the folder, what a session said is its user's.
func TestOthersReadNothing(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		make func(t *testing.T, dir string) // the folder for captures
	}{
		{"new folder", func(t *testing.T, dir string) {}},
		{"everybody's folder", func(t *testing.T, dir string) {
			if err := os.Mkdir(dir, 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(dir, 0o777); err != nil {
				t.Fatal(err)
			}
		}},
		{"link to a folder", func(t *testing.T, dir string) {
			if err := os.Symlink(t.TempDir(), dir); err != nil {
				t.Fatal(err)
			}
		}},
		{"another user's folder", func(t *testing.T, dir string) {
			if err := os.Mkdir(dir, 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.Chown(dir, 12345, 12345); err != nil {
				t.Skip(err)
			}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			work := t.TempDir()
			dir := filepath.Join(work, "captures")
			test.make(t, dir)
			for _, args := range [][]string{append([]string{"record"}, talker...), append([]string{"record", "-o", "mine.jsonl.zst"}, talker...)} {
				if _, errs, code := loose(t, work, dir, args...); code != 0 || errs != "" {
					t.Fatalf("%q: status %d, says %q", args, code, errs)
				}
			}
			list := names(t, dir)
			if len(list) != 1 {
				t.Fatalf("the folder has %q", list)
			}
			capture := filepath.Join(dir, list[0])
			others(t, capture)
			others(t, filepath.Join(work, "mine.jsonl.zst"))
			if test.name == "new folder" {
				others(t, dir)
			}
			cut := filepath.Join(work, "cut.jsonl.zst")
			content, err := os.ReadFile(capture)
			if err != nil {
				t.Fatal(err)
			}
			writeFile(t, cut, string(content[:len(content)-200]))
			for _, args := range [][]string{{"mend", cut}, {"cut", "-o", "f.jsonl", capture}, {"cut", "--exact", "-o", "g.jsonl", capture}, {"replay", "--report", "r.json", "--wait", "10ms", capture}} {
				if _, errs, code := loose(t, work, dir, args...); code > 1 {
					t.Errorf("%q: status %d, says %q", args, code, errs)
				}
			}
			for _, name := range []string{"cut.jsonl.zst", "f.jsonl", "g.jsonl"} {
				others(t, filepath.Join(work, name))
			}
		})
	}
}

// TestFixtureKeepsItsMode: a fixture that is written anew is as readable as it was.
func TestFixtureKeepsItsMode(t *testing.T) {
	t.Parallel()
	dir := sample(t)
	path := filepath.Join(dir, "f.jsonl")
	for _, mode := range []os.FileMode{0o600, 0o640, 0o666} {
		writeFile(t, path, "old")
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if _, errs, code := loose(t, dir, dir, "cut", "-o", path, "aaaa0001"); code != 0 {
			t.Fatalf("status %d, says %q", code, errs)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode || info.Size() < 10 {
			t.Errorf("mode %v, %d bytes, was %v; %v", info.Mode(), info.Size(), mode, err)
		}
	}
}

// TestNothingThroughLinks: where others may have laid a link, a pipe or a device in the way, nothing is written through
// it, and nobody waits for it.
func TestNothingThroughLinks(t *testing.T) {
	t.Parallel()
	work := t.TempDir()
	at := func(name string) string { return filepath.Join(work, name) }
	writeFile(t, at("victim"), "precious")
	for link, to := range map[string]string{"l.jsonl.zst": at("victim"), "d.jsonl.zst": at("elsewhere"), "null.jsonl.zst": os.DevNull} {
		if err := os.Symlink(to, at(link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(at("p.jsonl.zst"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(at("f.jsonl.zst"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ name, made, says string }{
		{"l.jsonl.zst", "l-2.jsonl.zst", ""},
		{"d.jsonl.zst", "d-2.jsonl.zst", ""},
		{"null.jsonl.zst", "", "not a file"},
		{"p.jsonl.zst", "", "not a file"},
		{"f.jsonl.zst", "", "not a file"},
		{"../" + filepath.Base(work) + "/up.jsonl.zst", "up.jsonl.zst", ""},
		{"-dash.jsonl.zst", "-dash.jsonl.zst", ""},
		{"a\nb\xff.jsonl.zst", "a\nb\xff.jsonl.zst", ""},
	} {
		stdout, errs, code := loose(t, work, at("captures"), append([]string{"record", "--output=" + test.name}, talker...)...)
		if code != 0 || stdout != "{\"type\":\"agent_start\"}\n" || !strings.Contains(errs, test.says) || (errs == "") != (test.says == "") {
			t.Errorf("%q: status %d, writes %q, says %q", test.name, code, stdout, errs)
		}
		if test.made != "" {
			others(t, at(test.made))
		}
		for _, command := range []string{"show", "mend", "check", "cut", "extract"} { // none waits
			if _, errs, code := loose(t, work, at("captures"), command, "./"+test.name); code > 1 || test.says != "" && code != 1 {
				t.Errorf("%s %q: status %d, says %q", command, test.name, code, errs)
			}
		}
	}
	if exists(at("elsewhere")) || readFile(t, at("victim")) != "precious" {
		t.Error("something was written through a link")
	}
	// A draft's name can be known before.
	draft := at("x.json") + "." + strconv.Itoa(os.Getpid()) + ".tmp"
	if err := os.Symlink(at("victim"), draft); err != nil {
		t.Fatal(err)
	}
	if err := writeWhole(at("x.json"), []byte("report"), 0o644); err != nil {
		t.Error(err)
	}
	if readFile(t, at("victim")) != "precious" || readFile(t, at("x.json")) != "report" || exists(draft) {
		t.Error("a draft was written through a link")
	}
}

// TestNamesOfSessions: labels, agents and arguments of any kind name no file but one in the folder, and no capture is lost
// by them.
func TestNamesOfSessions(t *testing.T) {
	t.Parallel()
	work := t.TempDir()
	dir := filepath.Join(work, "captures")
	label := map[string]string{
		"controls":    "\x1b]0;x\x07\r\n\u009b31m\u202e",
		"slashes":     "../../../etc/cron.d/x",
		"long":        strings.Repeat("long ", 2<<10),
		"not UTF-8":   "\xff\xfe\xc3",
		"a dash":      "-rf",
		"a device":    "NUL.txt",
		"many bytes":  strings.Repeat("\x01", 100_000),
		"\U0001F600/": "\U0001F600",
	}
	agents := []string{"-rf", "a\nb\x1b[2J", "con", "aux.exe", "größer", strings.Repeat("n", 200), "\xff\xfe", "$(touch x)", "..."}
	for name, l := range label {
		if _, errs, code := loose(t, work, dir, append([]string{"record", "--name=" + l}, talker...)...); code != 0 || errs != "" {
			t.Errorf("label of %s: status %d, says %q", name, code, errs)
		}
	}
	for _, name := range agents {
		path := filepath.Join(work, name)
		if err := os.WriteFile(path, []byte("#!/bin/sh\necho '{}'\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		if _, errs, code := loose(t, work, dir, "record", "--", path); code != 0 || errs != "" {
			t.Errorf("agent %q: status %d, says %q", name, code, errs)
		}
	}
	args := append([]string{"record"}, talker...)
	for range 15 {
		args = append(args, strings.Repeat("\x01", 100_000))
	}
	if _, errs, code := loose(t, work, dir, args...); code != 0 || errs != "" {
		t.Errorf("1.5 MB of arguments: status %d, says %q", code, errs)
	}
	list := names(t, dir)
	if len(list) != len(label)+len(agents)+1 {
		t.Errorf("%d captures of %d sessions", len(list), len(label)+len(agents)+1)
	}
	for _, name := range list {
		c, err := record.Open(filepath.Join(dir, name))
		if err != nil {
			t.Error(err)
			continue
		}
		n := 0
		for c.Next() {
			n++
		}
		if c.Err() != nil || n < 4 || c.Condition() != "" || len(c.Damage()) > 0 {
			t.Errorf("%q: %d entries, %v, %q, %v", name, n, c.Err(), c.Condition(), c.Damage())
		}
		c.Close()
		if strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r > '~' || strings.ContainsRune(`/\:*?"<>|$()`, r) }) || len(name) > 100 {
			t.Errorf("a capture is called %q", name)
		}
	}
	if out, errs, code := loose(t, work, dir, "ls"); code != 0 || errs != "" || strings.ContainsAny(out, "\x1b\x07\r\x01") {
		t.Errorf("ls: status %d, says %q", code, errs)
	}
	left := names(t, work)
	if len(left) != len(agents)+1 {
		t.Errorf("the folder has %q", left)
	}
}

// TestPruneRemovesCapturesOnly leaves what only looks like a capture.
func TestPruneRemovesCapturesOnly(t *testing.T) {
	t.Parallel()
	dir := sample(t)
	outside := sample(t)
	at := func(name string) string { return filepath.Join(dir, name) }
	target := filepath.Join(outside, "20260101-000000.000-pi-aaaa0001.jsonl.zst")
	for link, to := range map[string]string{"20250101-000000.000-pi-bbbb0001.jsonl.zst": target, "folder.jsonl.zst": outside, "loop.jsonl": "loop.jsonl"} {
		if err := os.Symlink(to, at(link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(at("20250101-000000.000-pi-bbbb0002.jsonl.zst"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(at("20250101-000000.000-pi-bbbb0003.jsonl.zst"), 0o700); err != nil {
		t.Fatal(err)
	}
	writeFile(t, at("20250101-000000.000-pi-bbbb0003.jsonl.zst/inner.jsonl.zst"), readFile(t, target))
	writeFile(t, at("data.jsonl"), `{"mine":1}`+"\n")
	writeFile(t, at("20250101-000000.000-pi-bbbb0004.jsonl.zst"), "no capture, but called so")
	writeFile(t, at("notes.txt"), "x")
	before := names(t, dir)
	out, errs, code := pitap(t, dir, "prune", "--keep", "0")
	if code != 0 || errs != "" || !strings.Contains(out, "removed 3 of 3 captures") {
		t.Errorf("status %d, writes %q, says %q", code, out, errs)
	}
	want := slices.DeleteFunc(before, func(name string) bool { return strings.HasPrefix(name, "2026") })
	if after := names(t, dir); !slices.Equal(after, want) {
		t.Errorf("left are %q, want %q", after, want)
	}
	if len(names(t, outside)) != 3 || !exists(at("20250101-000000.000-pi-bbbb0003.jsonl.zst/inner.jsonl.zst")) {
		t.Error("something was removed elsewhere")
	}
}

// TestWithSessionTraps: traffic names files that are none of the session's, and what has no end.
func TestWithSessionTraps(t *testing.T) {
	t.Parallel()
	work := t.TempDir()
	at := func(name string) string { return filepath.Join(work, name) }
	writeFile(t, at("secret"), "key")
	if err := os.Symlink(at("secret"), at("link.log")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/zero", at("zero.log")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(at("pipe.log"), 0o600); err != nil {
		t.Fatal(err)
	}
	writeFile(t, at("huge.log"), "")
	if err := os.Truncate(at("huge.log"), 10<<30); err != nil {
		t.Skip(err)
	}
	paths := []string{"/etc/shadow", "../../../../../etc/passwd", "/dev/zero", "/dev/stdin", "/proc/self/environ", at("link.log"), at("zero.log"), at("pipe.log"), at("huge.log"), at("secret"), at("gone.log"), "/"}
	var b strings.Builder
	for _, p := range paths {
		fmt.Fprintf(&b, "{\"type\":\"x\",\"sessionFile\":%q}\n", p)
	}
	writeFile(t, at("traffic"), b.String())
	out, errs, code := loose(t, work, at("captures"), "record", "--with-session", "-o", "c.jsonl.zst", "--", "cat", "traffic")
	if code != 0 || errs != "" || out != b.String() {
		t.Fatalf("status %d, says %q", code, errs)
	}
	c, err := record.Open(at("c.jsonl.zst"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	notes := 0
	for c.Next() {
		if n := c.Entry().Note; n != nil && n.Kind == "file" {
			notes++
			if len(n.Data) > 0 || !strings.Contains(n.Error, "not kept") {
				t.Errorf("%s: %d bytes, %q", n.Path, len(n.Data), n.Error)
			}
		}
	}
	if notes != len(paths) || c.Condition() != "" {
		t.Errorf("%d notes of %d, %s", notes, len(paths), c.Condition())
	}
}

// TestShimTraps: a shim replaces what is pitap's, follows no link, and waits for no pipe.
func TestShimTraps(t *testing.T) {
	t.Parallel()
	work := t.TempDir()
	at := func(name string) string { return filepath.Join(work, name) }
	writeFile(t, at("victim"), "precious")
	if err := os.WriteFile(at("agent"), []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name string
		make func(dir string) error
		code int
	}{
		{"pipe", func(dir string) error { return syscall.Mkfifo(filepath.Join(dir, "pi"), 0o600) }, 1},
		{"pipe.mjs", func(dir string) error { return syscall.Mkfifo(filepath.Join(dir, "pi.mjs"), 0o600) }, 1},
		{"link", func(dir string) error { return os.Symlink(at("victim"), filepath.Join(dir, "pi")) }, 1},
		{"link.json", func(dir string) error { return os.Symlink(at("victim"), filepath.Join(dir, "pitap.json")) }, 0},
		{"folder.json", func(dir string) error { return os.Mkdir(filepath.Join(dir, "pitap.json"), 0o700) }, 1},
	} {
		dir := at(test.name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := test.make(dir); err != nil {
			t.Fatal(err)
		}
		before := names(t, dir)
		if _, errs, code := loose(t, work, at("captures"), "shim", "--agent", at("agent"), dir); code != test.code {
			t.Errorf("%s: status %d, says %q", test.name, code, errs)
		}
		if after := names(t, dir); test.code == 1 && !slices.Equal(after, before) || test.code == 0 && len(after) != 3 {
			t.Errorf("%s: the folder has %q, had %q", test.name, after, before)
		}
	}
	draft := at("x") + ".new-" + strconv.Itoa(os.Getpid())
	if err := os.Symlink(at("victim"), draft); err != nil {
		t.Fatal(err)
	}
	if err := replace(at("x"), func(path string) error { return writeNew(path, []byte("new"), 0o644) }); err != nil || readFile(t, at("x")) != "new" {
		t.Error(err)
	}
	if readFile(t, at("victim")) != "precious" {
		t.Error("something was written through a link")
	}
}

// TestTurnsTrap: somebody has put a link to one of the user's folders where turns are counted.
func TestTurnsTrap(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	s.file("f/001.jsonl", talkFixture)
	s.file("f/002.jsonl", talkFixture)
	s.file("home/1_2_3_4/precious", "x")
	s.folder("tmp")
	old := time.Now().Add(-48 * time.Hour)
	if err := os.Chtimes(s.path("home/1_2_3_4"), old, old); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(s.path("home"), s.path("tmp/pitap-turns-"+strconv.Itoa(os.Getuid()))); err != nil {
		t.Fatal(err)
	}
	pi := s.linkPitap("shim/pi")
	o := s.with("PITAP_FIXTURE="+s.path("f"), "TMPDIR="+s.path("tmp")).run(talkIn, pi, "--mode", "rpc")
	if o.status == 0 || !strings.Contains(o.stderr, "not a folder of this user's") {
		t.Errorf("%+v", o)
	}
	if list := names(t, s.path("home")); len(list) != 1 || !exists(s.path("home/1_2_3_4/precious")) {
		t.Errorf("the folder has %q", list)
	}
}
