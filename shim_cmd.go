package main

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"pitap/proxy"
)

// piScript is the shim for clients that run their agent with node.
//
//go:embed pi.mjs
var piScript []byte

func runShim(t *tool, args []string) error {
	var s shim
	f := t.flags("shim")
	f.StringVar(&s.agent, "agent", "", "path or name of the `PI` to record; else the first pi in PATH")
	f.StringVar(&s.replay, "replay", "", "replay `CAPTURE`, or the captures of a folder, in place of the agent")
	s.recordFlags(f)
	if done, err := t.parse(f, args); done || err != nil {
		return err
	}
	if f.NArg() != 1 {
		return usageError("shim: name one folder for the shim, as in: pitap shim ~/.local/share/pitap")
	}
	dir, err := filepath.Abs(f.Arg(0))
	if err != nil {
		return err
	}
	if err := s.fix(t.getenv("PATH")); err != nil {
		return err
	}
	self, err := t.ownPath()
	if err != nil {
		return err
	}
	if err := writeShim(dir, self, &s); err != nil {
		return err
	}
	t.sayShim(dir, &s)
	return nil
}

// fix makes what the shim says independent of this process's folder and PATH: clients run it anywhere.
func (s *shim) fix(path string) error {
	if s.replay != "" {
		var err error
		if s.replay, err = filepath.Abs(s.replay); err != nil {
			return err
		}
		if _, err := os.Stat(s.replay); err != nil {
			return err
		}
	}
	name := s.agent
	if name == "" {
		name = "pi"
	}
	found, err := findAgent(name, path)
	if err != nil && s.replay != "" && s.agent == "" {
		return nil // no pi is needed
	}
	if err != nil {
		return fmt.Errorf("the agent: %w; --agent names another", err)
	}
	if isPitap(found) {
		return fmt.Errorf("the agent: %s is pitap itself", found)
	}
	if node, err := proxy.Find(interpreter(found), path, nil); err == nil {
		s.path = filepath.Dir(node)
	}
	s.agent = found
	for _, p := range []*string{&s.agent, &s.path, &s.out, &s.dir} {
		if *p == "" {
			continue
		}
		if *p, err = filepath.Abs(*p); err != nil {
			return err
		}
	}
	return nil
}

// ownPath is the path of this program. A link that it was started by is kept: a package manager's links outlive what they
// lead to.
func (t *tool) ownPath() (string, error) {
	if path := startedAs(t.self, t.getenv("PATH")); path != "" {
		if own := sameFile(); own != nil {
			if info, err := os.Stat(path); err == nil && own(info) {
				return filepath.Abs(path)
			}
		}
	}
	return os.Executable()
}

// shimName is the name of the file that stands for pi.
func shimName() string {
	if runtime.GOOS == "windows" {
		return "pi.exe"
	}
	return "pi"
}

// writeShim writes the shim's files. It changes nothing when one of them is there already and was not written by pitap.
func writeShim(dir, self string, s *shim) error {
	pi, script, file := filepath.Join(dir, shimName()), filepath.Join(dir, "pi.mjs"), filepath.Join(dir, shimFile)
	for path, ours := range map[string]func(string) bool{pi: isShim, script: isPitap, file: func(string) bool { return true }} {
		info, err := os.Lstat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return err
		case info.IsDir() || !ours(path):
			return fmt.Errorf("%s is there already, and not of pitap's making; name another folder", path)
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return errors.Join(
		replace(file, func(path string) error { return writeNew(path, s.encode(), 0o644) }),
		replace(script, func(path string) error { return writeNew(path, piScript, 0o755) }),
		replace(pi, func(path string) error { return link(self, path) }),
	)
}

// isShim tells whether a file called pi is a shim: pitap, or a link to one, which may have gone meanwhile.
func isShim(path string) bool {
	if target, err := os.Readlink(path); err == nil {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return base(target) == "pitap"
		}
	}
	return isPitap(path)
}

// replace puts what write writes in the place of a file, at once.
func replace(path string, write func(string) error) error {
	temporary := path + ".new-" + strconv.Itoa(os.Getpid())
	os.Remove(temporary)
	if err := write(temporary); err != nil {
		return err
	}
	if err := os.Rename(temporary, path); err != nil {
		os.Remove(temporary)
		return err
	}
	return nil
}

// link makes a symbolic link; where that is not possible, a copy.
func link(target, path string) error {
	if os.Symlink(target, path) == nil {
		return nil
	}
	in, err := os.Open(target)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// sayShim says what to put where.
func (t *tool) sayShim(dir string, s *shim) {
	pi, script := filepath.Join(dir, shimName()), filepath.Join(dir, "pi.mjs")
	path := shellQuote(dir) + string(os.PathListSeparator) + "$PATH"
	what := "records what its client says to\n" + s.agent
	if s.replay != "" {
		what = "stands for pi, and replays\n" + s.replay
	}
	fmt.Fprintf(t.out(), `%s %s

Put it where your client has pi:
  pi-acp                    PI_ACP_PI_COMMAND=%s
  RpcClient                 new RpcClient({ cliPath: %s })
  Emacs, Pilish             (setq pilish-executable '(%s))
  a setting with a path     %s
  a client that runs pi     PATH=%s

PITAP_OFF=1 turns it off. What it does stands in %s.
`, pi, what, shellQuote(pi), strconv.Quote(script), strconv.Quote(pi), pi, path, filepath.Join(dir, shimFile))
}

// shellQuote writes a word so that a shell reads it as one.
func shellQuote(word string) string {
	plain := func(c rune) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune(`/._-+@%:\`, c)
	}
	if word != "" && strings.IndexFunc(word, func(c rune) bool { return !plain(c) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
