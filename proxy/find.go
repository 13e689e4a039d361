package proxy

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Statuses of a command that could not be started, as env(1) has them.
const (
	StatusNotExecutable = 126
	StatusNotFound      = 127
)

// FindError says why a program was not found or can't be run.
type FindError struct {
	Name   string
	Status int // StatusNotExecutable or StatusNotFound
	Err    error
}

func (e *FindError) Error() string { return fmt.Sprintf("%s: %v", e.Name, e.Err) }
func (e *FindError) Unwrap() error { return e.Err }

// Find looks for a program as execvp does: a name with a slash is a path; else the folders of path are searched in
// turn, where an empty one and a relative one count from the working folder (see DefaultPath for a PATH that is not set).
// Programs for which skip is true are passed over (a program that stands in for another must not find itself); skip may
// be nil. What is returned is what execvp executes, to the letter: a script sees it.
func Find(name, path string, skip func(os.FileInfo) bool) (string, error) {
	if strings.ContainsRune(name, filepath.Separator) || strings.ContainsRune(name, '/') {
		if _, err := check(name); err != nil {
			return "", findError(name, err)
		}
		return name, nil
	}
	if name == "" {
		return "", findError(name, fs.ErrNotExist)
	}
	denied := error(nil)
	dirs := filepath.SplitList(path)
	if len(dirs) == 0 {
		dirs = []string{""} // so it is: an empty PATH has one empty entry
	}
	for _, dir := range dirs {
		for _, ext := range extensions(name) {
			full := inFolder(dir, name+ext)
			info, err := check(full)
			switch {
			case err == nil && skip != nil && skip(info):
			case err == nil:
				return full, nil
			case errors.Is(err, fs.ErrPermission):
				denied = err
			}
		}
	}
	if denied != nil {
		return "", findError(name, denied)
	}
	return "", &FindError{name, StatusNotFound, errors.New("not found in PATH")}
}

func findError(name string, err error) error {
	status := StatusNotExecutable
	if errors.Is(err, fs.ErrNotExist) {
		status = StatusNotFound
	}
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	return &FindError{name, status, err}
}
