package main

import (
	"bytes"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

	"pitap/proxy"
)

// findAgent finds an agent's program as execvp does, but passes over pitap, of whatever build and under whatever name: a
// shim must not find itself. A name with a slash is taken as it is.
func findAgent(name, path string) (string, error) {
	own := sameFile()
	var passed []os.FileInfo
	skip := func(info os.FileInfo) bool {
		if own != nil && own(info) {
			return true
		}
		for _, p := range passed {
			if os.SameFile(p, info) {
				return true
			}
		}
		return false
	}
	for {
		found, err := proxy.Find(name, path, skip)
		if err != nil || isPath(name) || !isPitap(found) {
			return found, err
		}
		info, err := os.Stat(found)
		if err != nil || skip(info) { // it changes under our eyes
			return "", &proxy.FindError{Name: found, Status: proxy.StatusNotFound, Err: errors.New("is pitap itself")}
		}
		passed = append(passed, info)
	}
}

// isPath tells whether a command is a path, which is not looked for in PATH.
func isPath(name string) bool {
	return strings.ContainsRune(name, '/') || strings.ContainsRune(name, filepath.Separator)
}

// shimMark stands at the beginning of the scripts that the shim command writes.
const shimMark = "// pitap shim"

// isPitap tells whether a file is a pitap, of any version, or a script of its shim command.
func isPitap(file string) bool {
	if bytes.Contains(head(file, 128), []byte(shimMark)) {
		return true
	}
	if stat, err := os.Stat(file); err != nil || !stat.Mode().IsRegular() { // a pipe would be waited for
		return false
	}
	info, err := buildinfo.ReadFile(file)
	if err != nil {
		return false
	}
	own, ok := debug.ReadBuildInfo()
	return ok && info.Main.Path == own.Main.Path
}

// head reads at most n bytes from the beginning of a file; of what is no file, nothing.
func head(file string, n int64) []byte {
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, n))
	if err != nil {
		return nil
	}
	return b
}

// interpreter is the command that env(1) looks for in PATH when a script is run, "" where it is none.
func interpreter(script string) string {
	line, ok := bytes.CutPrefix(head(script, 256), []byte("#!"))
	if !ok {
		return ""
	}
	line, _, _ = bytes.Cut(line, []byte("\n"))
	fields := strings.Fields(string(line))
	if len(fields) == 0 || filepath.Base(fields[0]) != "env" {
		return ""
	}
	for _, f := range fields[1:] {
		if !strings.HasPrefix(f, "-") && !strings.Contains(f, "=") {
			return f
		}
	}
	return ""
}

const (
	depthVariable = "PITAP_DEPTH"
	// deepest is how many pitaps may stand above one another. An agent may start agents of its own, so more than one is
	// no error; that many are a loop.
	deepest = 8
)

// agentEnv is the agent's environment: this process's own, with the depth counted up. An agent that was started by too
// many pitaps is an error: each of them takes the next for pi.
func (t *tool) agentEnv(agent string) ([]string, error) {
	depth, err := strconv.Atoi(t.getenv(depthVariable))
	if err != nil || depth < 0 {
		depth = 0
	}
	if depth >= deepest {
		return nil, statusError{statusBroken, fmt.Errorf("%d pitaps have started one another, so %s leads back to pitap and not to pi; "+
			"name pi by its path, as in: pitap record -- /path/to/pi, pitap shim DIR --agent /path/to/pi, PITAP_AGENT=/path/to/pi", depth, agent)}
	}
	return setEnv(os.Environ(), depthVariable, strconv.Itoa(depth+1)), nil
}

// setEnv returns env with a variable set.
func setEnv(env []string, name, value string) []string {
	var out []string
	for _, v := range env {
		if n, _, _ := strings.Cut(v, "="); n != name && !(runtime.GOOS == "windows" && strings.EqualFold(n, name)) {
			out = append(out, v)
		}
	}
	return append(out, name+"="+value)
}
