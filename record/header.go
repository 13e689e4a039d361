package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Version is the version of the capture format that this package writes, and the newest that it reads.
const Version = 1

// Header is the first line of a capture.
type Header struct {
	Pitap  int        `json:"pitap"`           // version of the format
	Start  time.Time  `json:"start,omitzero"`  // wall time; every t counts from here
	Argv   []string   `json:"argv,omitempty"`  // the agent's, as it was asked for, secrets masked
	Cwd    string     `json:"cwd,omitempty"`   // where the session ran
	Home   string     `json:"home,omitempty"`  // the user's home folder
	Tmp    string     `json:"tmp,omitempty"`   // the folder for temporary files
	Host   string     `json:"host,omitempty"`  // host name
	Boot   string     `json:"boot,omitempty"`  // identifies the boot, so that pids can be believed
	PID    int        `json:"pid,omitempty"`   // of the recorder
	Agent  AgentInfo  `json:"agent,omitzero"`  // the program that was started
	Client ClientInfo `json:"client,omitzero"` // the program that started the recorder
	Label  string     `json:"label,omitempty"` // what the user called the session
	Tool   string     `json:"tool,omitempty"`  // what wrote the capture
	OS     string     `json:"os,omitempty"`    // "linux/amd64"
	Cut    string     `json:"cut,omitempty"`   // fixtures: what was left out
}

// AgentInfo identifies the agent.
type AgentInfo struct {
	Path    string `json:"path,omitempty"`
	Version string `json:"version,omitempty"` // of pi, from its package.json
	PID     int    `json:"pid,omitempty"`
}

// ClientInfo identifies the client.
type ClientInfo struct {
	PID  int    `json:"pid,omitempty"`
	Name string `json:"name,omitempty"`
}

// ErrVersion is wrapped by the error for a capture of a newer format.
var ErrVersion = errors.New("newer capture format")

// ErrNoCapture is wrapped by the error for a file that does not begin with a header, and begins its text: "not a
// capture: " and why.
var ErrNoCapture = errors.New("not a capture")

// maxHeader bounds a header line, in bytes.
const maxHeader = 1 << 20

// Encode returns the header as a line with its LF. Where that would be longer than readers take, which a command line may
// be, arguments are cut.
func (h *Header) Encode() []byte {
	b := h.encode()
	if len(b) <= maxHeader {
		return b
	}
	short := *h
	short.Argv = nil
	for _, arg := range h.Argv[:min(len(h.Argv), 100)] {
		short.Argv = append(short.Argv, clip(arg, 1000))
	}
	for _, s := range []*string{&short.Cwd, &short.Home, &short.Tmp, &short.Host, &short.Agent.Path, &short.Agent.Version, &short.Client.Name, &short.Label, &short.Cut} {
		*s = clip(*s, 4096)
	}
	return short.encode()
}

// clip cuts a text after n bytes, between characters.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

func (h *Header) encode() []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(h); err != nil { // only strings, numbers and a time: a year past 9999 at worst
		return fmt.Appendf(nil, "{\"pitap\":%d}\n", h.Pitap)
	}
	return b.Bytes()
}

// bom is the byte order mark that some editors put before a text.
const bom = "\xEF\xBB\xBF"

// ParseHeader reads a header line, with or without LF. Errors wrap ErrNoCapture or ErrVersion.
func ParseHeader(line []byte) (*Header, error) {
	if len(line) > maxHeader {
		return nil, fmt.Errorf("%w: its first line has %d bytes", ErrNoCapture, len(line))
	}
	line = bytes.TrimPrefix(line, []byte(bom))
	var h struct {
		Pitap json.RawMessage `json:"pitap"`
	}
	if err := json.Unmarshal(line, &h); err != nil || h.Pitap == nil {
		if err := onlyText(line); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%w: its first line is no header {\"pitap\":%d,...}", ErrNoCapture, Version)
	}
	var version int
	if err := json.Unmarshal(h.Pitap, &version); err != nil || version < 1 {
		return nil, fmt.Errorf("%w: its header names the version %.20q", ErrNoCapture, h.Pitap)
	}
	if version > Version {
		return nil, fmt.Errorf("%w: the capture has format %d, this pitap reads up to %d; a newer pitap reads it", ErrVersion, version, Version)
	}
	full := new(Header)
	if err := json.Unmarshal(line, full); err != nil {
		return nil, fmt.Errorf("%w: its header: %w", ErrNoCapture, err)
	}
	return full, nil
}

// onlyText is the error for a file that begins with a line of text and no header; nil where b begins with no text.
func onlyText(b []byte) error {
	const most = 40
	cut := len(b) > most
	line, _, _ := bytes.Cut(b[:min(len(b), most)], []byte{'\n'})
	for range utf8.UTFMax - 1 { // of the last character all bytes may not be there
		if c, size := utf8.DecodeLastRune(line); c == utf8.RuneError && size == 1 && cut {
			line = line[:len(line)-1]
		}
	}
	if len(line) == 0 || bytes.ContainsFunc(line, func(c rune) bool { return unicode.IsControl(c) && c != '\t' && c != '\r' || c == utf8.RuneError }) {
		return nil
	}
	return fmt.Errorf("%w: it begins with the text %q", ErrNoCapture, line)
}

// Mask replaces secrets in an argument list: the values of flags and of variables (NAME=VALUE, as for env) whose names
// hold key, token or secret.
func Mask(argv []string) []string {
	out := make([]string, len(argv))
	masked := false // by the argument before
	for i, arg := range argv {
		name, _, joined := strings.Cut(arg, "=")
		switch {
		case masked:
			out[i], masked = "***", false
		case !secret(name):
			out[i] = arg
		case joined:
			out[i] = name + "=***"
		default:
			out[i], masked = arg, strings.HasPrefix(arg, "-")
		}
	}
	return out
}

// secret tells whether a name is that of a flag or variable whose value nobody should see.
func secret(name string) bool {
	for _, c := range name {
		if c != '-' && c != '_' && c != '.' && !(c >= '0' && c <= '9') && !(c|0x20 >= 'a' && c|0x20 <= 'z') {
			return false
		}
	}
	name = strings.ToLower(name)
	return strings.Contains(name, "key") || strings.Contains(name, "token") || strings.Contains(name, "secret")
}
