package replay

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"pitap/record"
	"pitap/record/files"
)

// WriteFiles writes the files of a session that its capture holds (as record --with-session stores them) to where they
// were, in the folders of here, with the paths in pairs renamed first. Nothing is written outside these folders, no file
// that is there is changed, and only files of the kinds that a session has are written. It returns how many were written
// or were there already, and an error that names each of the others. c is read to its end.
func WriteFiles(c *record.Reader, here Folders, pairs []Pair) (n int, err error) {
	h, err := c.Header()
	if err != nil {
		return 0, err
	}
	there := Folders{h.Cwd, h.Home, h.Tmp}
	var problems []error
	for c.Next() {
		note := c.Entry().Note
		if note == nil || note.Kind != "file" || note.Error != "" {
			continue
		}
		if err := writeFile(note.Path, note.Data, there, here, pairs); err != nil {
			problems = append(problems, fmt.Errorf("file %s: %w", note.Path, err))
			continue
		}
		n++
	}
	return n, errors.Join(append(problems, c.Err())...)
}

// writeFile writes one file.
func writeFile(path string, data []byte, there, here Folders, pairs []Pair) error {
	if strings.ContainsRune(path, 0) || !filepath.IsAbs(path) || hasDots(path) {
		return errors.New("not a whole path")
	}
	if !files.Kept(path) {
		return errors.New("not of a kind that a session has")
	}
	path = filepath.Clean(mapped(path, there, here, pairs))
	folder, name := folderOf(path, here)
	if folder == "" || hasDots(path) || !files.Kept(path) {
		return errors.New("outside the folder of the test, home and the folder for temporary files; --map can lead it there")
	}
	root, err := os.OpenRoot(folder) // what leaves it by links is refused
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return sameContent(root, name, data)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// sameContent tells by an error that what is there is not a file with these bytes.
func sameContent(root *os.Root, name string, data []byte) error {
	other := errors.New("it is there with another content, and stays as it is")
	info, err := root.Lstat(name)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || info.Size() != int64(len(data)) {
		return other
	}
	f, err := root.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	old, err := io.ReadAll(io.LimitReader(f, int64(len(data))+1))
	if err == nil && !bytes.Equal(old, data) {
		err = other
	}
	return err
}

// hasDots tells whether a path goes up somewhere.
func hasDots(path string) bool {
	for part := range strings.FieldsFuncSeq(path, func(r rune) bool { return r == '/' || r == '\\' }) {
		if part == ".." {
			return true
		}
	}
	return false
}

// mapped is a recorded path here: by the first of pairs that it begins with, else by the innermost recorded folder.
func mapped(path string, there, here Folders, pairs []Pair) string {
	for _, p := range pairs {
		if rest, ok := under(path, p.Old); ok {
			return p.New + rest
		}
	}
	longest, found := -1, path
	for _, f := range [][2]string{{there.Cwd, here.Cwd}, {there.Home, here.Home}, {there.Tmp, here.Tmp}} {
		if rest, ok := under(path, f[0]); ok && f[1] != "" && len(f[0]) > longest {
			longest, found = len(f[0]), f[1]+rest
		}
	}
	return found
}

// folderOf is the innermost of the folders that holds a path, and the path in it. A root of the file system is none.
func folderOf(path string, here Folders) (folder, name string) {
	for _, f := range []string{here.Cwd, here.Home, here.Tmp} {
		f = filepath.Clean(f)
		if !filepath.IsAbs(f) || filepath.Dir(f) == f {
			continue
		}
		if rest, ok := under(path, f); ok && rest != "" && len(f) > len(folder) {
			folder, name = f, rest[1:]
		}
	}
	return folder, name
}

// under tells whether a path is a folder or in it, and what follows the folder, with its separator.
func under(path, folder string) (rest string, ok bool) {
	if folder = strings.TrimRight(folder, `/\`); folder == "" {
		return "", false
	}
	rest, ok = strings.CutPrefix(path, folder)
	return rest, ok && (rest == "" || os.IsPathSeparator(rest[0]))
}
