package record

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func mode(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

func TestDefaultDir(t *testing.T) {
	for _, test := range []struct {
		env  map[string]string
		want string
	}{
		{map[string]string{"PITAP_DIR": "/p", "XDG_STATE_HOME": "/x", "HOME": "/h"}, "/p"},
		{map[string]string{"PITAP_DIR": "here"}, "here"},
		{map[string]string{"XDG_STATE_HOME": "/x", "HOME": "/h"}, "/x/pitap"},
		{map[string]string{"XDG_STATE_HOME": "relative", "HOME": "/h"}, "/h/.local/state/pitap"},
		{map[string]string{"HOME": "/h"}, "/h/.local/state/pitap"},
		{map[string]string{"LOCALAPPDATA": "/l"}, "/l/pitap"},
		{nil, ""},
	} {
		got, err := DefaultDir(func(name string) string { return test.env[name] })
		if filepath.ToSlash(got) != test.want || (err != nil) != (test.want == "") {
			t.Errorf("%v: %q, %v", test.env, got, err)
		}
	}
}

func TestCreate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state", "pitap")
	start := time.Date(2026, 11, 30, 15, 5, 0, 123456789, time.FixedZone("", 3600))
	for _, test := range []struct{ agent, want string }{
		{"pi", "pi"},
		{"/usr/bin/pi", "pi"},
		{"", "_"},
		{"..", "_."},
		{".", "_"},
		{"/", "_"},
		{"../../../etc/passwd", "passwd"},
		{".hidden", "_hidden"},
		{"a b\nc\x00\x1b[2J", "a_b_c___2J"},
		{"größer", "gr__er"},
		{"-o", "_o"},
		{"con:aux|*?", "con_aux___"},
		{strings.Repeat("x", 300), strings.Repeat("x", 32)},
	} {
		f, err := Create(dir, start, test.agent)
		if err != nil {
			t.Errorf("%q: %v", test.agent, err)
			continue
		}
		f.Close()
		if !regexp.MustCompile(`^20261130-140500\.123-` + regexp.QuoteMeta(test.want) + `-[0-9a-f]{8}\.jsonl\.zst$`).MatchString(filepath.Base(f.Name())) {
			t.Errorf("%q: file %s", test.agent, filepath.Base(f.Name()))
		}
		if filepath.Dir(f.Name()) != dir {
			t.Errorf("%q: file %s is not in %s", test.agent, f.Name(), dir)
		}
		if runtime.GOOS != "windows" && mode(t, f.Name()) != 0o600 {
			t.Errorf("mode %v", mode(t, f.Name()))
		}
	}
	if runtime.GOOS != "windows" && (mode(t, dir) != 0o700 || mode(t, filepath.Dir(dir)) != 0o700) {
		t.Errorf("folders have modes %v and %v", mode(t, filepath.Dir(dir)), mode(t, dir))
	}
}

// TestCreateAtOnce starts 20 recorders at the same moment: each has a file of its own.
func TestCreateAtOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	for _, test := range []struct {
		name   string
		create func() (*os.File, error)
	}{
		{"in a folder", func() (*os.File, error) { return Create(dir, sampleStart, "pi") }},
		{"at a path", func() (*os.File, error) { return CreateAt(filepath.Join(dir, "x.jsonl.zst")) }},
	} {
		const n = 20
		var wait sync.WaitGroup
		names := make([]string, n)
		start := make(chan struct{})
		for i := range n {
			wait.Go(func() {
				<-start
				f, err := test.create()
				if err == nil {
					err = Lock(f)
					defer f.Close()
				}
				if err != nil && !errors.Is(err, errors.ErrUnsupported) {
					t.Errorf("%s: %v", test.name, err)
					return
				}
				names[i] = f.Name()
			})
		}
		close(start)
		wait.Wait()
		slices.Sort(names)
		if len(slices.Compact(names)) != n {
			t.Errorf("%s: %d files for %d recorders", test.name, len(slices.Compact(names)), n)
		}
	}
	if found, err := List(dir); err != nil || len(found) != 40 {
		t.Errorf("%d files, %v", len(found), err)
	}
}

func TestCreateAt(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, test := range []struct {
		name string
		want []string
	}{
		{"x.jsonl.zst", []string{"x.jsonl.zst", "x-2.jsonl.zst", "x-3.jsonl.zst"}},
		{"x.zst", []string{"x.zst", "x-2.zst"}},
		{"x.jsonl", []string{"x.jsonl", "x-2.jsonl"}},
		{"x", []string{"x", "x-2"}},
		{"x.tar.gz", []string{"x.tar.gz", "x.tar.gz-2"}},
		{".zst", []string{".zst", ".zst-2"}},
		{"a\nb", []string{"a\nb", "a\nb-2"}},
		{"-o", []string{"-o", "-o-2"}},
	} {
		for _, want := range test.want {
			f, err := CreateAt(at(test.name))
			if err != nil {
				t.Errorf("%q: %v", test.name, err)
				continue
			}
			f.Close()
			if f.Name() != at(want) {
				t.Errorf("%q: %q, want %q", test.name, f.Name(), want)
			}
			if runtime.GOOS != "windows" && mode(t, f.Name()) != 0o600 {
				t.Errorf("%q has mode %v", want, mode(t, f.Name()))
			}
		}
	}
	if err := os.Mkdir(at("folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{at("folder"), at("none/x"), os.DevNull, at(strings.Repeat("long", 100)), ""} {
		if f, err := CreateAt(path); err == nil {
			f.Close()
			t.Errorf("%q was created as %s", path, f.Name())
		}
	}
}

// TestCreateNotThroughLinks: nothing is written through a link that lies where the file is to be.
func TestCreateNotThroughLinks(t *testing.T) {
	dir := t.TempDir()
	victim, link, dangling := filepath.Join(dir, "victim"), filepath.Join(dir, "c.jsonl.zst"), filepath.Join(dir, "d.jsonl.zst")
	if err := os.WriteFile(victim, []byte("precious"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(victim, link); err != nil {
		t.Skip(err)
	}
	if err := os.Symlink(filepath.Join(dir, "elsewhere"), dangling); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{link: "c-2.jsonl.zst", dangling: "d-2.jsonl.zst"} {
		f, err := CreateAt(path)
		if err != nil {
			t.Fatal(err)
		}
		f.WriteString("capture")
		f.Close()
		if filepath.Base(f.Name()) != want {
			t.Errorf("%s became %s", path, f.Name())
		}
	}
	if data, _ := os.ReadFile(victim); string(data) != "precious" {
		t.Errorf("the victim is now %q", data)
	}
	if _, err := os.Stat(filepath.Join(dir, "elsewhere")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file was made through a link: %v", err)
	}
	if found, err := List(dir); err != nil || len(found) != 2 {
		t.Errorf("links are listed: %v, %v", found, err)
	}
}

func TestReadOnlyFolder(t *testing.T) {
	if runtime.GOOS == "windows" || os.Getuid() == 0 {
		t.Skip("for root every folder can be written")
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(dir, sampleStart, "pi"); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("create: %v", err)
	}
	if _, err := Create(filepath.Join(dir, "a", "b"), sampleStart, "pi"); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("create below: %v", err)
	}
}

func TestFolderThatIsAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(file, sampleStart, "pi"); err == nil {
		t.Error("created in a file")
	}
	if _, err := List(file); err == nil {
		t.Error("listed a file")
	}
}

func TestListAndFind(t *testing.T) {
	dir := t.TempDir()
	old := time.Now().Add(-48 * time.Hour)
	for _, name := range []string{"20261130-140500.123-pi-00000001.jsonl.zst", "20261130-140500.124-pi-00000002.jsonl.zst", "20271130-140500.000-node-00000003.jsonl.zst",
		"mine.jsonl", "mine-2.jsonl", "x.zst", "notes.txt", "20261130-999999.123-pi-0000000x.jsonl.zst"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "folder.jsonl"), 0o700); err != nil {
		t.Fatal(err)
	}
	found, err := List(dir)
	var names []string
	for _, f := range found {
		names = append(names, filepath.Base(f.Path))
		if f.Size != int64(len(filepath.Base(f.Path))) {
			t.Errorf("%+v", f)
		}
	}
	if err != nil || len(names) != 6 || names[0] != "20271130-140500.000-node-00000003.jsonl.zst" {
		t.Errorf("%q, %v", names, err)
	}
	if a, b := slices.Index(names, "20261130-140500.124-pi-00000002.jsonl.zst"), slices.Index(names, "20261130-140500.123-pi-00000001.jsonl.zst"); a > b {
		t.Errorf("not newest first: %q", names)
	}
	if found, err := List(filepath.Join(dir, "none")); found != nil || err != nil {
		t.Errorf("a folder that is not there: %v, %v", found, err)
	}

	t.Chdir(dir)
	if err := os.Mkdir("pi", 0o700); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ arg, want, err string }{
		{"", "20271130-140500.000-node-00000003.jsonl.zst", ""},
		{"00000002", "20261130-140500.124-pi-00000002.jsonl.zst", ""},
		{"node", "20271130-140500.000-node-00000003.jsonl.zst", ""},
		{"mine", "mine.jsonl", ""},
		{"mine-2", "mine-2.jsonl", ""},
		{"min", "", `"min" is part of the names of 2 captures: mine`},
		{"pi", "", `"pi" is part of the names of 3 captures`}, // not the folder of that name
		{"2026", "", "3 captures"},
		{"zzz", "", `no capture "zzz", neither as a file nor in`},
		{"./zzz", "", "no capture ./zzz: "},
		{"../" + filepath.Base(dir) + "/mine.jsonl", "../" + filepath.Base(dir) + "/mine.jsonl", ""},
		{"notes.txt", "notes.txt", ""},
		{"\x1b[2J", "", `no capture "\x1b[2J"`},
	} {
		got, err := Find(dir, test.arg)
		if test.err != "" {
			if err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("%q: %q, %v, want %q", test.arg, got, err, test.err)
			}
			continue
		}
		if err != nil || got != test.want && got != filepath.Join(dir, test.want) {
			t.Errorf("%q: %q, %v, want %q", test.arg, got, err, test.want)
		}
	}
	if _, err := Find(filepath.Join(dir, "none"), ""); err == nil || !strings.Contains(err.Error(), "no captures in") {
		t.Errorf("newest of none: %v", err)
	}
}

func TestOpenWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{dir, os.DevNull, filepath.Join(dir, "none")} {
		if c, err := Open(path); err == nil {
			c.Close()
			t.Errorf("%s was opened", path)
		}
	}
}

func FuzzSafeName(f *testing.F) {
	f.Add("../../x")
	f.Add("\x00/\\:")
	f.Fuzz(func(t *testing.T, name string) {
		got := safeName(name)
		if got == "" || len(got) > 32 || strings.ContainsAny(got, "/\\:\x00\n") || got[0] == '.' || got[0] == '-' || !filepath.IsLocal(got) {
			t.Fatalf("%q became %q", name, got)
		}
	})
}
