//go:build unix

package proxy

import (
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// DefaultPath is searched when PATH is not set.
const DefaultPath = "/bin:/usr/bin"

func inFolder(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name // not joined cleanly: dots behind a link lead elsewhere
}

func extensions(string) []string { return []string{""} }

// check tells whether the file at path can be executed.
func check(path string) (os.FileInfo, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, &fs.PathError{Op: "exec", Path: path, Err: unix.EACCES}
	}
	if err := unix.Access(path, unix.X_OK); err != nil {
		return nil, &fs.PathError{Op: "exec", Path: path, Err: err}
	}
	return info, nil
}
