package main

import (
	"fmt"
	"path/filepath"
	"time"

	"pitap/inspect"
	"pitap/inspect/text"
	"pitap/record"
)

func runPrune(t *tool, args []string) error {
	f := t.flags("prune")
	age := f.String("older-than", "", "remove captures that began more than `AGE` ago: 30d, 2w, 12h")
	keep := f.Int("keep", 0, "never remove the newest `N`; alone: remove all the others")
	size := f.String("max-size", "", "remove the oldest until the rest takes at most `SIZE`: 2G, 500M")
	dry := f.Bool("dry-run", false, "only say what would be removed")
	dir := f.String("dir", "", "of the folder `DIR`")
	if done, err := t.parse(f, args); done || err != nil {
		return err
	}
	policy := inspect.Policy{Keep: *keep, KeepSet: f.Changed("keep")}
	var err error
	switch {
	case f.NArg() > 0:
		return usageError("prune: it takes a folder: pitap prune --dir %s", f.Arg(0))
	case !policy.KeepSet && *age == "" && *size == "":
		return usageError("prune: say what is old: --older-than 30d, --keep 100 or --max-size 2G; with --dry-run nothing is removed")
	case *keep < 0:
		return usageError("prune: --keep is %d; it takes 0 or more", *keep)
	}
	if *age != "" {
		if policy.OlderThan, err = inspect.ParseAge(*age); err != nil {
			return usageError("prune: --older-than: %v", err)
		}
	}
	if *size != "" {
		if policy.MaxSize, err = inspect.ParseSize(*size); err != nil {
			return usageError("prune: --max-size: %v", err)
		}
	}
	return t.prune(*dir, policy, *dry)
}

func (t *tool) prune(dir string, policy inspect.Policy, dry bool) error {
	out, err := t.output("never")
	if err != nil {
		return err
	}
	if dir, err = t.folder(dir); err != nil {
		return err
	}
	found, err := record.List(dir)
	if err != nil {
		return err
	}
	now := time.Now()
	captures := inspect.Prunable(found)
	removed, freed, failed := 0, int64(0), false
	for _, l := range policy.Choose(captures, now) {
		if !dry {
			if err := inspect.Remove(l, now); err != nil {
				t.complain(err)
				failed = true
				continue
			}
		}
		removed++
		freed += l.Size
		fmt.Fprintf(out, "%s  %s  %s\n", visible(filepath.Base(l.Path)), text.PadLeft(text.Size(l.Size), 5), text.Ago(now.Sub(l.Start)))
	}
	word := "removed"
	if dry {
		word = "would remove"
	}
	fmt.Fprintf(out, "%s %d of %d captures, %s\n", word, removed, len(captures), text.Size(freed))
	if err := out.Flush(); err != nil {
		return err
	}
	if failed {
		return statusError{status: statusNo}
	}
	return nil
}
