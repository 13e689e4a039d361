package tui

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"pitap/inspect/text"
)

// copyKey copies something to the terminal's clipboard.
func (a *app) copyKey() {
	a.say("copy what? y record, p path, v value, n number")
	a.pending = func(r rune) {
		row := a.store.Row(a.list.sel)
		a.load()
		l := a.pane.line(a.pane.cur)
		var b []byte
		what := ""
		switch r {
		case 'y', 'r':
			what = "the record"
			if b = a.pane.d.Body; a.pane.d.Block {
				b, what = a.pane.d.Joined, "the text"
			}
			if e := a.pane.d.Entry; e != nil && e.Note != nil {
				b, what = e.Line, "the note"
			}
		case 'p':
			if what = "the path"; a.focus && l.Path != "" {
				b = []byte(l.Path)
			} else {
				b, what = []byte(a.store.Path), "the capture's path"
			}
		case 'v':
			what = "the value"
			if a.focus && a.pane.mode == asTree && a.pane.d.Tree != nil && l.Node > 0 {
				b = a.pane.d.Tree.Value(l.Node)
			} else if a.focus && l.Value != "" {
				b = []byte(l.Value)
			} else {
				b = []byte(row.Text)
			}
		case 'n':
			b, what = []byte(fmt.Sprint(row.N)), "the number"
		default:
			return
		}
		const most = 256 << 10
		if len(b) > most {
			a.say("%s has %s, too much to copy through a terminal; w writes it to a file", what, text.Size(int64(len(b))))
			return
		}
		a.screen.SetClipboard(b)
		a.say("sent %s, %s, to the terminal (OSC 52); where it is not in the clipboard, w writes it to a file", what, text.Size(int64(len(b))))
	}
}

// write asks for a file and writes the row, or all rows that pass the filter.
func (a *app) write() {
	a.say("write what? r the row, b the row's bytes, a all that is shown, x all that is shown as a fixture")
	a.pending = func(r rune) {
		if !strings.ContainsRune("rbax", r) {
			return
		}
		name := map[rune]string{'r': "record", 'b': "record", 'a': "entries", 'x': "fixture"}[r]
		row := a.store.Row(a.list.sel)
		if r == 'r' || r == 'b' {
			name = fmt.Sprintf("entry-%d", row.N)
		}
		end := map[rune]string{'b': ".json"}[r]
		if end == "" {
			end = ".jsonl"
		}
		a.askWhere(name+end, r)
	}
}

// askWhere asks for the name of the file to write to.
func (a *app) askWhere(name string, what rune) {
	a.ask(&prompt{label: "write to: ", kind: "write", text: []rune(name), done: func(path string) {
		if path != "" {
			a.writeTo(path, what, os.O_EXCL)
		}
	}})
}

// home puts the home folder in the place of a ~ at the beginning, as shells do.
func home(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		if dir, err := os.UserHomeDir(); err == nil {
			return filepath.Join(dir, rest)
		}
	}
	return path
}

// writeTo writes to a file; how is os.O_EXCL, or os.O_TRUNC to replace what there is.
func (a *app) writeTo(name string, what rune, how int) {
	path := home(name)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|how, 0o600)
	if info, bad := os.Stat(path); errors.Is(err, fs.ErrExist) && bad == nil && info.Mode().IsRegular() {
		a.say("%s exists: o overwrites it, e edits the name, any other key leaves it", name)
		a.pending = func(r rune) {
			switch r {
			case 'o':
				a.writeTo(name, what, os.O_TRUNC)
			case 'e':
				a.askWhere(name, what)
			}
		}
		return
	}
	if err != nil {
		a.askWhere(name, what)
		failed := err.Error()
		a.prompt.help = func() string { return failed }
		return
	}
	if what == 'b' {
		a.load()
		for off := int64(0); off < a.pane.d.Size && err == nil; {
			b := a.pane.d.Bytes(off, 1<<20)
			if len(b) == 0 {
				break
			}
			off += int64(len(b))
			_, err = f.Write(b)
		}
		a.written(path, 1, err, f.Close())
		return
	}
	pos := int64(-1)
	if what == 'r' {
		pos = a.list.sel
	}
	store := a.store
	a.say("writing %s", path)
	a.workers.Go(func() {
		n, err := store.Export(f, pos, what == 'x')
		closed := f.Close()
		a.post(func() { a.written(path, n, err, closed) })
	})
}

func (a *app) written(path string, n int64, err, closed error) {
	if err == nil {
		err = closed
	}
	if err != nil {
		a.complain(err)
		return
	}
	a.say("wrote %s to %s", entries(n), path)
}

func entries(n int64) string {
	if n == 1 {
		return "1 entry"
	}
	return text.Count(n) + " entries"
}
