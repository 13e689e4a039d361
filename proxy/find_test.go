//go:build unix

package proxy_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"pitap/proxy"
)

func TestFind(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"a/tool": 0o755, "b/tool": 0o755, "b/plain": 0o644, "c/plain": 0o644} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	a, b, c := filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "c")
	first, err := os.Stat(a + "/tool")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, path string
		skip       bool // the first tool
		want       string
		status     int
	}{
		{"tool", a + ":" + b, false, a + "/tool", 0},
		{"tool", a + ":" + b, true, b + "/tool", 0},
		{"tool", a, true, "", proxy.StatusNotFound},
		{a + "/tool", b, true, a + "/tool", 0}, // a path is meant as it is
		{"plain", b + ":" + c, false, "", proxy.StatusNotExecutable},
		{"nothing", a + ":" + b, false, "", proxy.StatusNotFound},
		{"tool\x00", a, false, "", proxy.StatusNotFound},
		{"", a, false, "", proxy.StatusNotFound},
		{"tool", "", false, "", proxy.StatusNotFound},
		{"../a/tool", b, false, "", proxy.StatusNotFound},
		{a + "/tool/more", "", false, "", proxy.StatusNotExecutable},
	} {
		var skip func(os.FileInfo) bool
		if test.skip {
			skip = func(info os.FileInfo) bool { return os.SameFile(info, first) }
		}
		got, err := proxy.Find(test.name, test.path, skip)
		status := 0
		var find *proxy.FindError
		if errors.As(err, &find) {
			status = find.Status
			if find.Name != test.name {
				t.Errorf("Find(%q, %q): the error names %q", test.name, test.path, find.Name)
			}
		}
		if got != test.want || status != test.status {
			t.Errorf("Find(%q, %q) = %q, %v; want %q, status %d", test.name, test.path, got, err, test.want, test.status)
		}
	}
}

func TestAgentVersion(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, content string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const pkg = "lib/node_modules/@earendil-works/pi-coding-agent/"
	write(pkg+"package.json", `{"name":"@earendil-works/pi-coding-agent","version":"1.6.0","type":"module"}`)
	write(pkg+"dist/package.json", `{"type":"module"}`) // nearer, and not the one
	cli := write(pkg+"dist/cli.js", "#!/usr/bin/env node\n")
	write("other/package.json", `{"name":"other","version":"9.9.9"}`)
	other := write("other/cli.js", "")
	write("odd/package.json", `{"name":["@x/pi-coding-agent"]`)
	odd := write("odd/cli.js", "")
	link := filepath.Join(dir, "pi")
	if err := os.Symlink(cli, link); err != nil {
		t.Fatal(err)
	}
	loop := filepath.Join(dir, "loop")
	if err := os.Symlink(loop, loop); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path string
		argv []string
		want string
	}{
		{cli, []string{"pi", "--mode", "rpc"}, "1.6.0"},
		{link, []string{"pi"}, "1.6.0"},
		{"/usr/bin/node", []string{"node", link, "--mode", "rpc"}, "1.6.0"},
		{"/usr/bin/node", []string{"node", "--inspect", cli}, "1.6.0"},
		{"/usr/bin/node", []string{"node"}, ""},
		{"/usr/bin/node", nil, ""},
		{"/usr/bin/node", []string{"node", "--version"}, ""},
		{other, []string{"x"}, ""},
		{odd, []string{"x"}, ""},
		{loop, []string{"x"}, ""},
		{"/no/such/file", []string{"x"}, ""},
		{"", nil, ""},
	} {
		if got := proxy.AgentVersion(c.path, c.argv); got != c.want {
			t.Errorf("AgentVersion(%q, %q) = %q, want %q", c.path, c.argv, got, c.want)
		}
	}
}
