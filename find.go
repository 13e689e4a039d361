package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"pitap/inspect"
	"pitap/record"
)

// find gives the path of the capture that a command's argument means: a path, a name or label in the folder, or a part of
// either that no other has. Without one it is the newest that can be read.
func (t *tool) find(args []string) (string, error) { return t.resolve(args, false) }

// findLive is find, and without an argument the newest that is being recorded, if there is one; which it is, is said.
func (t *tool) findLive(args []string) (string, error) { return t.resolve(args, true) }

func (t *tool) resolve(args []string, live bool) (string, error) {
	if len(args) > 1 {
		return "", usageError("one CAPTURE, not %d", len(args))
	}
	if len(args) == 0 {
		dir, err := t.folder(t.dir)
		if err != nil {
			return "", err
		}
		return t.newest(dir, live)
	}
	name := args[0]
	switch name {
	case "":
		return "", usageError("an empty CAPTURE names none (a variable that is not set?); without any it is the newest")
	case "-":
		return "", usageError("a capture is read from a file, not from standard input")
	}
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		err := fmt.Errorf("%s is a folder", name)
		if t.flagSet.Lookup("dir") == nil {
			return "", hint(err, fmt.Sprintf("pitap ls --dir %s lists the captures in it", name))
		}
		return "", hint(err, fmt.Sprintf("--dir %s takes the newest capture in it, or the one that is named besides", name))
	}
	dir, err := t.folder(t.dir)
	if err != nil && t.dir != "" {
		return "", err
	}
	path, err := record.Find(dir, name)
	if err == nil || strings.ContainsRune(name, filepath.Separator) {
		return path, t.named(err)
	}
	if path, labelled := t.labelled(dir, name); path != "" || labelled != nil {
		return path, labelled
	}
	return "", t.named(err)
}

// named adds to an error how captures are named.
func (t *tool) named(err error) error {
	if err == nil {
		return nil
	}
	ls := "pitap ls"
	if t.dir != "" {
		ls += " --dir " + t.dir
	}
	return hint(err, ls+" lists the captures; a CAPTURE is a path, or a part of a name or label that no other has")
}

// newest finds the newest capture that can be read, with live the newest that is being recorded if there is one.
func (t *tool) newest(dir string, live bool) (string, error) {
	found, err := record.List(dir)
	if err != nil {
		return "", err
	}
	if len(found) == 0 {
		return "", noCaptures(dir)
	}
	names := inspect.ShortNames(found)
	var running []int // those first of which something has been written
	begun := 0
	for i := range found {
		switch {
		case !live || !isLive(found[i].Path):
		case found[i].Size > 0:
			running = slices.Insert(running, begun, i)
			begun++
		default:
			running = append(running, i)
		}
	}
	if len(running) > 0 {
		t.chose(found, names, running[0], running[1:], "live")
		t.chosen = found[running[0]].Path
		return found[running[0]].Path, nil
	}
	g, err := record.NewGlancer()
	if err != nil {
		return "", err
	}
	defer g.Close()
	var skipped []string
	for i := range found {
		v, err := g.Glance(found[i].Path)
		if err != nil && (v == nil || !v.Live) {
			if skipped = append(skipped, names[i]); i < len(found)-1 {
				continue
			}
			return found[0].Path, nil // none can be read: the newest says why
		}
		if len(skipped) > 0 {
			t.complain(fmt.Errorf("%s can't be read: the next older one is taken", listed(skipped)))
		}
		if live {
			t.chose(found, names, i, nil, "newest")
		}
		return found[i].Path, nil
	}
	return "", noCaptures(dir)
}

// chose says which capture was taken where none was named, and which others are live.
func (t *tool) chose(found []record.Found, names []string, chosen int, others []int, why string) {
	words := fmt.Sprintf("%s (%s)", filepath.Base(found[chosen].Path), why)
	if len(others) > 0 {
		var live []string
		for _, i := range others {
			live = append(live, names[i])
		}
		verb := "others are live"
		if len(others) == 1 {
			verb = "other is live"
		}
		words += fmt.Sprintf("; %d %s: %s", len(others), verb, listed(live))
	}
	t.complain(errors.New(words))
}

// listed writes the first few of names.
func listed(names []string) string {
	if len(names) > 3 {
		return strings.Join(names[:3], ", ") + ", ..."
	}
	return strings.Join(names, ", ")
}

func isLive(path string) bool {
	c, err := record.Open(path)
	if err != nil {
		return false
	}
	defer c.Close()
	return c.Live()
}

// labelled finds the newest capture with the label that record --name gave, or the one whose label has this part; "" when
// there is none.
func (t *tool) labelled(dir, label string) (string, error) {
	found, err := record.List(dir)
	if err != nil {
		return "", nil
	}
	g, err := record.NewGlancer()
	if err != nil {
		return "", err
	}
	defer g.Close()
	names := inspect.ShortNames(found)
	var whole, part []int
	var words []string
	ofNames := false // it is a part of names: then no part of labels is meant
	for i := range found {
		ofNames = ofNames || strings.Contains(filepath.Base(found[i].Path), label)
		v, err := g.Glance(found[i].Path)
		switch {
		case err != nil:
		case v.Header.Label == label:
			whole = append(whole, i)
		case strings.Contains(v.Header.Label, label):
			part = append(part, i)
			words = append(words, fmt.Sprintf("%s (%s)", names[i], v.Header.Label))
		}
	}
	switch {
	case len(whole) > 0:
		if len(whole) > 1 {
			t.complain(fmt.Errorf("%d captures have the label %s: the newest of them, %s, is taken", len(whole), label, names[whole[0]]))
		}
		return found[whole[0]].Path, nil
	case ofNames:
	case len(part) == 1:
		return found[part[0]].Path, nil
	case len(part) > 1:
		return "", t.named(fmt.Errorf("%q is part of the labels of %d captures: %s", label, len(part), listed(words)))
	}
	return "", nil
}

// noCaptures says that there are none, and how to get one.
func noCaptures(dir string) error {
	return hint(fmt.Errorf("no captures in %s yet", dir), "record one: start your client with \"pitap record -- pi --mode rpc\" in the place of \"pi --mode rpc\"")
}
