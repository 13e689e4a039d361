//go:build unix

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestShimWritesThreeFiles(t *testing.T) {
	s := newSandbox(t)
	s.file("real/pi", "#!/usr/bin/env sh\ncat\n")
	s = s.front("real")
	o := s.run("", "pitap", "shim", "../my shim", "--name", "my editor", "--strict", "--dir", "caps", "-o", "x.jsonl")
	if o.status != 0 || o.stderr != "" {
		t.Fatalf("%+v", o)
	}
	for _, said := range []string{
		"PI_ACP_PI_COMMAND='" + s.path("my shim/pi") + "'\n",
		`new RpcClient({ cliPath: "` + s.path("my shim/pi.mjs") + `" })`,
		`(setq pilish-executable '("` + s.path("my shim/pi") + `"))`,
		"PATH='" + s.path("my shim") + "':$PATH\n",
		s.path("real/pi") + "\n",
	} {
		if !strings.Contains(o.stdout, said) {
			t.Errorf("it says %s without %s", o.stdout, said)
		}
	}
	// The link that pitap was started by is kept, not what it leads to.
	if link, err := os.Readlink(s.path("my shim/pi")); link != s.path("bin/pitap") {
		t.Errorf("pi is a link to %s, %v", link, err)
	}
	content, err := os.ReadFile(s.path("my shim/pitap.json"))
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(content, &got); err != nil {
		t.Fatalf("%v: %s", err, content)
	}
	sh := "/usr/bin"
	if _, err := os.Stat("/usr/bin/sh"); err != nil {
		sh = "/bin"
	}
	want := map[string]any{"agent": s.path("real/pi"), "path": sh, "name": "my editor", "strict": true,
		"dir": s.path("work/caps"), "output": s.path("work/x.jsonl")}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("pitap.json holds %v, want %v", got, want)
	}
	for name, mode := range map[string]os.FileMode{"": os.ModeDir | 0o755, "pitap.json": 0o644, "pi.mjs": 0o755} {
		if info, err := os.Stat(s.path("my shim/" + name)); err != nil || info.Mode() != mode {
			t.Errorf("%q has the mode %v, want %v; %v", name, info.Mode(), mode, err)
		}
	}
	if entries, err := os.ReadDir(s.path("my shim")); len(entries) != 3 {
		t.Errorf("the folder holds %v, %v", entries, err)
	}
}

func TestShimIsWrittenAgain(t *testing.T) {
	for name, before := range map[string]func(s *sandbox){
		"its own":               func(s *sandbox) { s.run("", "pitap", "shim", s.path("shim"), "--strict") },
		"a copy of pitap":       func(s *sandbox) { copyPitap(t, s.folder("shim")+"/pi") },
		"pitap that has moved":  func(s *sandbox) { s.folder("shim"); os.Symlink("/nowhere/pitap", s.path("shim/pi")) },
		"settings with a fault": func(s *sandbox) { s.file("shim/pitap.json", "{agent}") },
		"an older script":       func(s *sandbox) { s.file("shim/pi.mjs", "#!/usr/bin/env node\n// pitap shim, older\n") },
	} {
		t.Run(name, func(t *testing.T) {
			s := newSandbox(t)
			s.file("real/pi", fakePi)
			s = s.front("shim", "real")
			before(s)
			if o := s.run("", "pitap", "shim", s.path("shim")); o.status != 0 {
				t.Fatalf("%+v", o)
			}
			if o := s.run(hello, "pi", "--mode", "rpc"); o.stdout != hello || !strings.HasPrefix(o.stderr, s.path("real/pi")) {
				t.Errorf("%+v", o)
			}
			if content, err := os.ReadFile(s.path("shim/pi.mjs")); string(content) != string(piScript) {
				t.Errorf("pi.mjs holds %.80q, %v", content, err)
			}
			if content, err := os.ReadFile(s.path("shim/pitap.json")); strings.Contains(string(content), "strict") {
				t.Errorf("pitap.json holds %s, %v", content, err)
			}
		})
	}
}

// TestShimOverwritesNothingElse has files in the way that pitap has not written.
func TestShimOverwritesNothingElse(t *testing.T) {
	for name, before := range map[string]func(s *sandbox) string{
		"a real pi":         func(s *sandbox) string { return s.file("shim/pi", fakePi) },
		"a link to one":     func(s *sandbox) string { os.Symlink("../real/pi", s.folder("shim")+"/pi"); return s.path("shim/pi") },
		"a link to nothing": func(s *sandbox) string { os.Symlink("/nowhere/pi", s.folder("shim")+"/pi"); return s.path("shim/pi") },
		"a folder":          func(s *sandbox) string { return s.folder("shim/pi") },
		"another script":    func(s *sandbox) string { return s.file("shim/pi.mjs", "import \"./cli.js\";\n") },
		"a folder of settings": func(s *sandbox) string {
			return s.folder("shim/pitap.json")
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSandbox(t)
			s.file("real/pi", fakePi)
			s = s.front("real")
			path := before(s)
			was := describe(t, s.path("shim"))
			o := s.run("", "pitap", "shim", s.path("shim"))
			if o.status != 1 || !strings.Contains(o.stderr, path+" is there already") {
				t.Errorf("%+v", o)
			}
			if is := describe(t, s.path("shim")); is != was {
				t.Errorf("the folder held %s, and now %s", was, is)
			}
		})
	}
}

// describe tells what a folder holds.
func describe(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		content, _ := os.ReadFile(path)
		b.WriteString(path + " " + d.Type().String() + " " + string(content) + "\n")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestShimFails(t *testing.T) {
	s := newSandbox(t)
	s.file("real/pi", fakePi)
	s.linkPitap("other/pi")
	s.file("plain", "")
	s = s.front("other", "real")
	for _, test := range []struct {
		args   string
		status int
		stderr string
	}{
		{"", 2, "name one folder"},
		{"a b", 2, "name one folder"},
		{"--bogus shim", 2, "bogus"},
		{"shim --agent nothing-of-that-name", 1, "nothing-of-that-name: not found in PATH; --agent names another"},
		{"shim --agent ../plain", 1, "../plain: permission denied"},
		{"shim --agent ../other/pi", 1, "../other/pi is pitap itself"},
		{"../plain", 1, "not a directory"},
	} {
		o := s.run("", append([]string{"pitap", "shim"}, strings.Fields(test.args)...)...)
		if o.status != test.status || !strings.Contains(o.stderr, test.stderr) || o.stdout != "" {
			t.Errorf("shim %s: %+v", test.args, o)
		}
	}
	if _, err := os.Stat(s.path("work/shim")); err == nil {
		t.Error("a folder was made all the same")
	}
	if o := s.with("PATH="+s.path("bin")+":"+s.path("other")).run("", s.path("bin/pitap"), "shim", "shim"); o.status != 1 || !strings.Contains(o.stderr, "pi: not found in PATH") {
		t.Errorf("no pi but pitap: %+v", o)
	}
}

func TestShellQuote(t *testing.T) {
	s := newSandbox(t)
	for _, word := range []string{"", "/plain/path", "a b", "it's", "$HOME", "a\nb", "~", "*", "é"} {
		if o := s.run("", "sh", "-c", "printf %s "+shellQuote(word)); o.stdout != word {
			t.Errorf("%q is quoted as %s, which is %q", word, shellQuote(word), o.stdout)
		}
	}
}
