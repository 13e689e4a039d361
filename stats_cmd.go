package main

import (
	"encoding/json"
)

func runStats(t *tool, args []string) error {
	f := t.flags("stats")
	asJSON := f.Bool("json", false, "write one JSON object; times in nanoseconds")
	t.dirFlag(f)
	color := colorFlag(f)
	if done, err := t.parse(f, args); done || err != nil {
		return err
	}
	c, s, err := t.session(f.Args())
	if err != nil {
		return err
	}
	defer c.Close()
	out, err := t.output(*color)
	if err != nil {
		return err
	}
	if *asJSON {
		e := json.NewEncoder(out)
		e.SetIndent("", "  ")
		err = e.Encode(s.Stats(now(c, s)))
	} else {
		err = s.Stats(now(c, s)).WriteText(out, out.palette, out.width)
	}
	if err != nil {
		return err
	}
	return out.Flush()
}
