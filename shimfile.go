package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// shimFile is the name of the file beside a shim that says what the shim does. It is needed because an editor that was
// not started from a shell passes no environment on.
const shimFile = "pitap.json"

// shim is what such a file says.
type shim struct {
	agent  string // path, or name to look for in PATH; "": pi
	path   string // folder of the agent's interpreter, for where PATH does not lead to it
	replay string // capture, or folder of captures, to replay in the agent's place; "": none
	recording
}

// member is one member of the file.
type member struct {
	name  string
	value any  // *string or *bool
	file  bool // a path; a relative one counts from the file's folder
}

// members are all that the file may hold, in the order in which they are written.
func (s *shim) members() []member {
	return []member{
		{"agent", &s.agent, isPath(s.agent)},
		{"path", &s.path, true},
		{"replay", &s.replay, true},
		{"output", &s.out, true},
		{"dir", &s.dir, true},
		{"name", &s.label, false},
		{"strict", &s.strict, false},
		{"sync", &s.sync, false},
		{"quiet", &s.quiet, false},
		{"withSession", &s.files, false},
	}
}

// encode gives the file's content. What is not set is left out.
func (s *shim) encode() []byte {
	b := []byte("{")
	for _, m := range s.members() {
		var value bytes.Buffer
		e := json.NewEncoder(&value)
		e.SetEscapeHTML(false)
		switch v := m.value.(type) {
		case *string:
			if *v == "" {
				continue
			}
			e.Encode(*v)
		case *bool:
			if !*v {
				continue
			}
			e.Encode(*v)
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, "\n\t%q: %s", m.name, bytes.TrimSpace(value.Bytes()))
	}
	return append(b, "\n}\n"...)
}

// maxShimFile bounds the file, in bytes.
const maxShimFile = 1 << 20

// readShim reads a pitap.json. Where there is no such file the error wraps os.ErrNotExist; an error of its content names
// line and byte.
func readShim(file string) (shim, error) {
	info, err := os.Stat(file)
	if err != nil {
		return shim{}, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxShimFile {
		return shim{}, fmt.Errorf("%s: not a file of less than 1 MiB", file)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return shim{}, err
	}
	s, err := parseShim(content)
	if err != nil {
		return shim{}, fmt.Errorf("%s: %w; correct it, or run pitap shim %s again", file, err, filepath.Dir(file))
	}
	dir := filepath.Dir(file)
	for _, m := range s.members() {
		if v, ok := m.value.(*string); ok && m.file && *v != "" && !filepath.IsAbs(*v) {
			*v = filepath.Join(dir, *v)
		}
	}
	return s, nil
}

// parseShim reads the file's content.
func parseShim(content []byte) (shim, error) {
	var s shim
	text := bytes.TrimPrefix(content, []byte("\xef\xbb\xbf"))
	at, err := s.decode(text)
	if err == nil {
		return s, nil
	}
	line := 1 + bytes.Count(text[:at], []byte("\n"))
	return shim{}, fmt.Errorf("line %d (byte %d): %w", line, at+len(content)-len(text), err)
}

// decode sets the members that text holds. An error comes with its offset in text.
func (s *shim) decode(text []byte) (at int, err error) {
	var all json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		if syntax := new(json.SyntaxError); errors.As(err, &syntax) {
			at = int(syntax.Offset)
			if at > 0 && at <= len(text) && !strings.HasPrefix(err.Error(), "unexpected end") {
				at-- // Offset counts the byte that is wrong
			}
		}
		return min(at, len(text)), err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	here := func() int { // where the next name or value begins
		at := int(d.InputOffset())
		return len(text) - len(bytes.TrimLeft(text[at:], " \t\r\n,:"))
	}
	at = here()
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return at, errors.New("it holds no object {...}")
	}
	for d.More() {
		at := here()
		key, err := d.Token()
		if err != nil {
			return at, err
		}
		target := s.target(key.(string))
		if target == nil {
			return at, fmt.Errorf("there is no member %q; there are agent, path, replay, output, dir, name, strict, sync, quiet, withSession", key)
		}
		at = here()
		if err := d.Decode(target); err != nil {
			if typ := new(json.UnmarshalTypeError); errors.As(err, &typ) {
				err = fmt.Errorf("%s takes %s, not %s", key, kindOf(target), typ.Value)
			}
			return at, err
		}
	}
	return 0, nil
}

func (s *shim) target(name string) any {
	for _, m := range s.members() {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

func kindOf(target any) string {
	if _, ok := target.(*bool); ok {
		return "true or false"
	}
	return "a string"
}
