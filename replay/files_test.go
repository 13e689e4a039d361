//go:build unix

package replay

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pitap/record"
)

// A capture may come from anybody: its files go nowhere but into the folders of the session.
func TestWriteFiles(t *testing.T) {
	top := t.TempDir()
	here := Folders{top + "/cwd", top + "/home", top + "/tmp"}
	for _, dir := range []string{here.Cwd, here.Home, here.Tmp, top + "/outside"} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{here.Cwd + "/out": top + "/outside", here.Cwd + "/l.log": top + "/outside/x.log", here.Home + "/up": ".."} {
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
	}
	for name, content := range map[string]string{"/cwd/same.log": "data", "/cwd/other.log": "mine"} {
		if err := os.WriteFile(top+name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	pairs := []Pair{{"/rec/away", here.Tmp + "/mapped"}, {"/rec/far", top + "/outside"}}
	for _, test := range []struct{ path, want, err string }{
		{"/rec/cwd/a.jsonl", "/cwd/a.jsonl", ""},
		{"/rec/cwd/x/y/b.html", "/cwd/x/y/b.html", ""},
		{"/rec/home/.pi/agent/sessions/c.jsonl", "/home/.pi/agent/sessions/c.jsonl", ""},
		{"/rec/tmp/pi-bash-1.log", "/tmp/pi-bash-1.log", ""},
		{"/rec/away/d.log", "/tmp/mapped/d.log", ""},
		{here.Tmp + "/e.log", "/tmp/e.log", ""}, // recorded here
		{"/rec/cwd/same.log", "/cwd/same.log", ""},
		{"/rec/cwd/other.log", "", "another content"},
		{"/rec/cwdx/a.log", "", "outside"},
		{"/rec/far/a.log", "", "outside"},
		{"/etc/pi.log", "", "outside"},
		{"/rec/cwd", "", "kind"},
		{"/rec/cwd/../../outside/a.log", "", "not a whole path"},
		{"relative.log", "", "not a whole path"},
		{"/rec/home/.ssh/authorized_keys", "", "kind"},
		{"/rec/home/.bashrc", "", "kind"},
		{"/rec/home/x.jsonl/.profile", "", "kind"},
		{"/rec/cwd/a\x00.log", "", "not a whole path"},
		{"/rec/cwd/out/a.log", "", "escapes"},
		{"/rec/cwd/l.log", "", "another content"},
		{"/rec/home/up/outside/a.log", "", "escapes"},
	} {
		var b bytes.Buffer
		b.WriteString(`{"pitap":1,"cwd":"/rec/cwd","home":"/rec/home","tmp":"/rec/tmp"}` + "\n")
		b.Write(record.AppendEntry(nil, &record.Entry{N: 1, Note: &record.Note{Kind: "file", Path: test.path, Data: []byte("data")}}))
		b.Write(record.AppendEntry(nil, &record.Entry{N: 2, Note: &record.Note{Kind: "file", Path: "/rec/cwd/none.log", Error: "not kept: too big"}}))
		r := record.NewReader(bytes.NewReader(b.Bytes()), func() (int64, error) { return int64(b.Len()), nil })
		n, err := WriteFiles(r, here, pairs)
		if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) || (n == 1) != (err == nil) {
			t.Errorf("%q: %d, %v, want %q", test.path, n, err, test.err)
		}
		if test.want != "" {
			if got, err := os.ReadFile(top + test.want); string(got) != "data" {
				t.Errorf("%q: %q, %v", test.path, got, err)
			}
			if info, err := os.Stat(top + test.want); err == nil && info.Mode().Perm() != 0o600 && !strings.Contains(test.want, "same") {
				t.Errorf("%q: %v", test.path, info.Mode())
			}
		}
	}
	if left, _ := os.ReadDir(top + "/outside"); len(left) > 0 {
		t.Errorf("outside is %v", left)
	}
	if b, _ := os.ReadFile(here.Cwd + "/other.log"); string(b) != "mine" {
		t.Errorf("overwritten: %q", b)
	}
	// A root of the file system is no folder to write to.
	if folder, _ := folderOf("/etc/x.log", Folders{Cwd: "/", Home: "/", Tmp: ""}); folder != "" {
		t.Error(folder)
	}
}

func FuzzWriteFile(f *testing.F) {
	f.Add("/rec/cwd/a.log")
	f.Add("/rec/cwd/../a.log")
	f.Add("/rec//cwd/./x/\xff.log")
	top := f.TempDir()
	here := Folders{Cwd: top + "/w", Home: top + "/w/home"}
	for _, dir := range []string{here.Cwd, here.Home} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			f.Fatal(err)
		}
	}
	f.Fuzz(func(t *testing.T, path string) {
		writeFile(path, []byte("x"), Folders{Cwd: "/rec/cwd", Home: "/rec"}, here, []Pair{{"/m", top}})
		all, err := filepath.Glob(top + "/*")
		if err != nil || fmt.Sprint(all) != fmt.Sprint([]string{top + "/w"}) {
			t.Fatalf("%q leads to %q", path, all)
		}
	})
}
