package main

import (
	"encoding/json"

	"pitap/inspect"
	"pitap/inspect/text"
	"pitap/record"
)

func runLs(t *tool, args []string) error {
	f := t.flags("ls")
	dir := f.String("dir", "", "list the captures in the folder `DIR`")
	asJSON := f.Bool("json", false, "write an object for each capture, one a line")
	color := colorFlag(f)
	if done, err := t.parse(f, args); done || err != nil {
		return err
	}
	if f.NArg() > 0 {
		return usageError("ls: it lists a folder: pitap ls --dir %s", f.Arg(0))
	}
	out, err := t.output(*color)
	if err != nil {
		return err
	}
	found, err := t.list(*dir)
	if err != nil {
		return err
	}
	if *asJSON {
		err = listJSON(found, out)
	} else {
		err = listTable(found, out)
	}
	if err != nil {
		return err
	}
	return out.Flush()
}

// list gives the captures of a folder, of the default one for "". That there are none yet is said, and no error.
func (t *tool) list(dir string) ([]record.Found, error) {
	dir, err := t.folder(dir)
	if err != nil {
		return nil, err
	}
	found, err := record.List(dir)
	if err == nil && len(found) == 0 {
		t.complain(noCaptures(dir))
	}
	return found, err
}

func listJSON(found []record.Found, out *output) error {
	return inspect.List(found, func(l *inspect.Listed) error {
		b, err := json.Marshal(l)
		if err != nil {
			return err
		}
		if out.terminal {
			b = text.Visible(nil, b)
		}
		_, err = out.Write(append(b, '\n'))
		return err
	})
}

func listTable(found []record.Found, out *output) error {
	if len(found) == 0 {
		return nil
	}
	list := make([]*inspect.Listed, 0, len(found))
	err := inspect.List(found, func(l *inspect.Listed) error {
		list = append(list, l)
		out.progress.at("looked at captures", int64(len(list)), int64(len(found)))
		return nil
	})
	if err != nil {
		return err
	}
	return inspect.ListTable(list, out.width, true, out.palette).Flush(out)
}
