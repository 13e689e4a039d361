package proxy

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
)

// AgentVersion tells the version of the pi that the command runs, from the nearest package.json at or above its script
// whose name ends in /pi-coding-agent; "" when it is not pi. For `node SCRIPT` the script counts. pi is not started.
func AgentVersion(path string, argv []string) string {
	script := path
	base := strings.TrimSuffix(filepath.Base(path), ".exe")
	if base == "node" || base == "bun" || base == "deno" || base == "tsx" {
		script = ""
		for _, arg := range argv[min(1, len(argv)):] {
			if !strings.HasPrefix(arg, "-") {
				script = arg
				break
			}
		}
	}
	if script == "" {
		return ""
	}
	real, err := filepath.EvalSymlinks(script)
	if err != nil {
		return ""
	}
	real, err = filepath.Abs(real)
	if err != nil {
		return ""
	}
	for dir := filepath.Dir(real); ; dir = filepath.Dir(dir) {
		if v, ok := packageVersion(filepath.Join(dir, "package.json")); ok {
			return v
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

func packageVersion(file string) (version string, isPi bool) {
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 1<<20 {
		return "", false
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return "", false
	}
	var p struct{ Name, Version string }
	if json.Unmarshal(b, &p) != nil || !strings.HasSuffix(p.Name, "/pi-coding-agent") {
		return "", false
	}
	return p.Version, true
}
