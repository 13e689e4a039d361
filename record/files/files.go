// Package files keeps the files of a session with its capture: those that the traffic names as the session's own, which
// are the session file, the full output of a shell command, and an exported page.
//
// A [Collector] is shown the records while they are recorded, and reads the files when the agent has gone. It is not safe
// for concurrent use.
package files

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"pitap/record"
	"pitap/record/rpc"
	"pitap/record/scan"
)

const (
	// MaxFile and MaxAll bound what is kept, in bytes: of one file, and of all together.
	MaxFile = 16 << 20
	MaxAll  = 64 << 20

	maxPaths = 1000
	maxPath  = 4096 // bytes of a path
)

// Kept tells whether files of that name are kept and written out again: session files, logs, pages and texts. A capture
// may come from anybody, and a client may be made to name any file; neither keys nor programs are called so.
func Kept(path string) bool {
	return slices.Contains([]string{".jsonl", ".log", ".html", ".htm", ".txt"}, strings.ToLower(filepath.Ext(path)))
}

// names are the members whose value is a path to a file of the session, in whatever object they stand.
var names = []string{"sessionFile", "sessionPath", "parentSession", "fullOutputPath"}

// Collector notes the paths that records name.
type Collector struct {
	paths []string // in the order in which they were named
	known map[string]bool
}

// See looks at an entry of the capture. It keeps nothing of it.
func (c *Collector) See(e *record.Entry) {
	if e.Form != record.Msg || e.Part || e.From == record.Stderr {
		return
	}
	for _, name := range names {
		c.members(e.Body, name)
	}
	if e.From != record.Agent || !bytes.Contains(e.Body[:min(len(e.Body), 512)], []byte(`"export_html"`)) {
		return
	}
	if h := rpc.Look("agent", e.Body); h.Type == "response" && h.Command == "export_html" {
		c.members(e.Body, "path")
	}
}

// members adds the values of all members of a name. In JSON a name in quotes with a colon behind is a member: within a
// string the quotes would be escaped.
func (c *Collector) members(body []byte, name string) {
	key := []byte(`"` + name + `"`)
	for {
		i := bytes.Index(body, key)
		if i < 0 {
			return
		}
		body = body[i+len(key):]
		rest := bytes.TrimLeft(body, " \t\r\n")
		if len(rest) == 0 || rest[0] != ':' {
			continue
		}
		rest = bytes.TrimLeft(rest[1:], " \t\r\n")
		if len(rest) == 0 || rest[0] != '"' {
			continue
		}
		end := scan.ValueEnd(rest[:min(len(rest), 6*maxPath)], 0)
		var path string
		if end < 0 || json.Unmarshal(rest[:end], &path) != nil {
			continue
		}
		c.add(path)
	}
}

func (c *Collector) add(path string) {
	if path == "" || len(path) > maxPath || strings.ContainsRune(path, 0) || c.known[path] || len(c.paths) == maxPaths {
		return
	}
	if c.known == nil {
		c.known = map[string]bool{}
	}
	c.known[path] = true
	c.paths = append(c.paths, path)
}

// Notes reads the files, and gives a note for each to add, in the order in which they were named. dir is the folder from
// which relative paths count. What is not kept is said in the note's Error. A note is valid until add returns.
func (c *Collector) Notes(dir string, add func(*record.Entry)) {
	left := MaxAll
	done := map[string]bool{}
	for _, path := range c.paths {
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		if path = filepath.Clean(path); done[path] {
			continue
		}
		done[path] = true
		n := &record.Note{Kind: "file", Path: path}
		data, err := read(path, left)
		if err != nil {
			n.Error = err.Error()
		} else {
			n.Data = data
			left -= len(data)
		}
		add(&record.Entry{Note: n})
	}
}

// read reads a file of at most left bytes. The file itself must not be a link, and no other thing than a file: a pipe
// might wait for ever.
func read(path string, left int) ([]byte, error) {
	if !Kept(path) {
		return nil, errors.New("not kept: neither .jsonl, .log, .html nor .txt")
	}
	before, err := os.Lstat(path)
	if err != nil {
		return nil, reason(err)
	}
	if !before.Mode().IsRegular() {
		return nil, errors.New("not kept: not a regular file")
	}
	f, err := os.OpenFile(path, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil, reason(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, reason(err)
	}
	if !info.Mode().IsRegular() || !os.SameFile(before, info) {
		return nil, errors.New("not kept: not a regular file")
	}
	if info.Size() > MaxFile {
		return nil, fmt.Errorf("not kept: more than %d MiB", MaxFile>>20)
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	switch {
	case err != nil:
		return nil, reason(err)
	case len(data) > MaxFile:
		return nil, fmt.Errorf("not kept: more than %d MiB", MaxFile>>20)
	case len(data) > left:
		return nil, fmt.Errorf("not kept: more than %d MiB with those before", MaxAll>>20)
	}
	return data, nil
}

// reason is an error without the path, which the note has.
func reason(err error) error {
	if p := new(fs.PathError); errors.As(err, &p) {
		err = p.Err
	}
	return fmt.Errorf("not kept: %w", err)
}
