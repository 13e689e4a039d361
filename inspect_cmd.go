package main

import (
	"path/filepath"

	"pitap/inspect/text"
	"pitap/inspect/tui"
	"pitap/record"
)

func runInspect(t *tool, args []string) error {
	f := t.flags("inspect")
	dir := f.String("dir", "", "the folder of captures, for names and for c")
	theme := f.String("theme", "", "colours: dark, light or none")
	follow := f.BoolP("follow", "f", false, "begin at the end, and go on with the next session of the same agent and folder")
	if done, err := t.parse(f, args); done || err != nil {
		return err
	}
	if len(f.Args()) > 1 {
		return usageError("inspect: one CAPTURE, not %d", len(f.Args()))
	}
	if !text.IsTerminal(t.stdout) || !text.IsTerminal(t.stdin) {
		return usageError("inspect: needs a terminal; pitap show and pitap why do without")
	}
	if *theme == "" {
		*theme = t.getenv("PITAP_THEME")
	}
	switch *theme {
	case "", "dark", "light", "none":
	default:
		return usageError("inspect: --theme is %q; it takes dark, light or none", *theme)
	}
	if *theme == "" && t.getenv("NO_COLOR") != "" {
		*theme = "none"
	}
	if *dir == "" {
		*dir, _ = record.DefaultDir(t.getenv)
	}
	name := ""
	if len(f.Args()) == 1 {
		name = f.Args()[0]
	}
	path, err := record.Find(*dir, name)
	if err != nil {
		return err
	}
	if !f.Changed("dir") && filepath.Dir(path) != "" && name != "" {
		*dir = filepath.Dir(path)
	}
	return tui.Run(path, tui.Options{Theme: *theme, Dir: *dir, Follow: *follow})
}
