package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"pitap/proxy"
)

// isPi tells whether the program was started under the name pi: then it stands where a client expects pi.
func isPi(self string) bool {
	if runtime.GOOS == "windows" {
		self = strings.ToLower(self)
	}
	return base(self) == "pi"
}

// asPi is what pitap does in pi's place: a conversation is recorded, anything else is passed on. The agent is what
// $PITAP_AGENT names, else pitap.json beside the shim, else the next pi in PATH.
func (t *tool) asPi(args []string) error {
	s, err := t.readShim()
	if err != nil {
		return err
	}
	r := s.recording
	name := s.agent
	switch v := t.getenv("PITAP_AGENT"); {
	case v != "":
		name = v
	case name != "":
		r.hint = "; run pitap shim again to find pi where it is now"
	default:
		name = "pi"
	}
	if t.getenv("PITAP_DIR") != "" {
		r.dir = ""
	}
	r.argv = []string{name}
	for _, a := range args { // copied, since hideArgs overwrites the memory of the arguments
		r.argv = append(r.argv, strings.Clone(a))
	}
	r.morePath = s.path
	f, faked, err := fixtureOf(t.getenv, s)
	switch {
	case t.isOff():
	case err != nil:
		return err
	case faked:
		if done, err := t.asFixture(f, r, args); done || err != nil {
			return err
		}
	}
	if err := notItself(name); err != nil {
		return err
	}
	if t.isOff() || !isRPC(args) {
		return t.passOn(r)
	}
	return t.record(r)
}

// isOff tells whether the user wants no recording at all, whatever is set up.
func (t *tool) isOff() bool { return t.getenv("PITAP_OFF") == "1" }

// notItself refuses a path that leads back to pitap.
func notItself(name string) error {
	if isPath(name) && isPitap(name) {
		return statusError{statusBroken, fmt.Errorf("%s is pitap itself, not pi; name pi in PITAP_AGENT, or run pitap shim again with --agent", name)}
	}
	return nil
}

// isRPC tells whether pi takes its arguments for a call of its RPC mode: the last --mode counts, nothing does after --.
func isRPC(args []string) bool {
	mode := ""
	for i := 0; i < len(args) && args[i] != "--"; i++ {
		if args[i] != "--mode" || i+1 == len(args) || strings.HasPrefix(args[i+1], "-") {
			continue
		}
		i++
		if m := args[i]; m == "text" || m == "json" || m == "rpc" {
			mode = m
		}
	}
	return mode == "rpc"
}

// passOn becomes the agent. It returns only where that fails, or where the system knows no exec.
func (t *tool) passOn(r recording) error {
	path, err := findAgent(r.argv[0], t.getenv("PATH"))
	if err != nil {
		return statusError{findStatus(err), fmt.Errorf("%w%s", err, r.hint)}
	}
	env, err := t.agentEnv(path)
	if err != nil {
		return err
	}
	dropParent()
	return become(path, r.argv, withPath(env, path, t.getenv("PATH"), r.morePath))
}

// withPath adds a folder to the PATH in env, where the script that is to be run would not find its interpreter.
func withPath(env []string, script, path, more string) []string {
	if more == "" {
		return env
	}
	name := interpreter(script)
	if name == "" {
		return env
	}
	if _, err := proxy.Find(name, path, nil); err == nil {
		return env
	}
	if path == "" {
		path = "/usr/local/bin:/usr/bin:/bin" // what a shell takes then
	}
	return setEnv(env, "PATH", path+string(os.PathListSeparator)+more)
}

// readShim reads the pitap.json beside the shim under whose name this process was started. Where there is none, all is
// as it is by default.
func (t *tool) readShim() (shim, error) {
	file := startedAs(t.self, t.getenv("PATH"))
	for range 40 { // links
		if file == "" {
			break
		}
		s, err := readShim(filepath.Join(filepath.Dir(file), shimFile))
		if !errors.Is(err, os.ErrNotExist) {
			if err != nil {
				err = statusError{statusBroken, err}
			}
			return s, err
		}
		link, err := os.Readlink(file)
		if err != nil {
			break
		}
		if !filepath.IsAbs(link) {
			link = filepath.Join(filepath.Dir(file), link)
		}
		file = link
	}
	return shim{}, nil
}

// startedAs is the path of the file that was started under a name: a path, or found in PATH. "" when that can't be told.
func startedAs(self, path string) string {
	own := sameFile()
	if own == nil {
		return ""
	}
	found, err := proxy.Find(self, path, func(info os.FileInfo) bool { return !own(info) })
	if err != nil {
		return ""
	}
	return found
}
