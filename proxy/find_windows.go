package proxy

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// DefaultPath is searched when PATH is not set.
const DefaultPath = ""

func inFolder(dir, name string) string {
	full := filepath.Join(dir, name)
	if !strings.ContainsAny(full, `/\:`) {
		full = `.\` + full
	}
	return full
}

// extensions gives the endings under which Windows looks for a program.
func extensions(name string) []string {
	if filepath.Ext(name) != "" {
		return []string{""}
	}
	exts := os.Getenv("PATHEXT")
	if exts == "" {
		exts = ".com;.exe;.bat;.cmd"
	}
	return strings.Split(strings.ToLower(exts), ";")
}

func check(path string) (os.FileInfo, error) {
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		err = &fs.PathError{Op: "exec", Path: path, Err: fs.ErrPermission}
	}
	return info, err
}
