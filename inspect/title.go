package inspect

import (
	"path/filepath"
	"strings"

	"pitap/record"
)

// Title names a capture in a line: its file, the agent, the client, where and when it began.
func Title(path string, h *record.Header) string {
	parts := []string{filepath.Base(path)}
	if a := AgentName(h); a != "" {
		parts = append(parts, a)
	}
	if h.Client.Name != "" {
		parts = append(parts, "started by "+h.Client.Name)
	}
	if h.Cwd != "" {
		parts = append(parts, "in "+tilde(h.Cwd, h.Home))
	}
	if !h.Start.IsZero() {
		parts = append(parts, h.Start.Local().Format("2006-01-02 15:04:05"))
	}
	if h.Label != "" {
		parts = append(parts, h.Label)
	}
	return strings.Join(parts, " · ")
}

// AgentName is the name of a capture's agent with its version, "pi 1.6.0".
func AgentName(h *record.Header) string {
	name := filepath.Base(h.Agent.Path)
	if h.Agent.Path == "" {
		name = ""
	}
	if len(h.Argv) > 0 {
		name = filepath.Base(h.Argv[0])
	}
	return strings.TrimSpace(name + " " + h.Agent.Version)
}

// tilde writes a folder with ~ for home.
func tilde(dir, home string) string {
	if rest, ok := strings.CutPrefix(dir, home); ok && home != "" && home != "/" && (rest == "" || rest[0] == '/') {
		return "~" + rest
	}
	return dir
}
