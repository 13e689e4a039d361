package main

import (
	"path/filepath"

	"pitap/inspect/text"
	"pitap/inspect/tui"
	"pitap/record"
)

func runInspect(t *tool, args []string) error {
	f := t.flags("inspect")
	f.StringVar(&t.dir, "dir", "", "the folder of captures, for names and for c")
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
	path, err := t.findLive(f.Args())
	if err != nil {
		return err
	}
	dir := t.dir
	if dir == "" && f.NArg() > 0 {
		dir = filepath.Dir(path)
	} else if dir == "" {
		dir, _ = record.DefaultDir(t.getenv)
	}
	return tui.Run(path, tui.Options{Theme: *theme, Dir: dir, Follow: *follow})
}
