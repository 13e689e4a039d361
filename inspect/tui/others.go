package tui

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"pitap/inspect"
	"pitap/inspect/text"
	"pitap/record"
)

// How the folder is looked through for other live sessions.
const (
	othersEvery = 2 * time.Second
	maxOthers   = 100 // captures, the newest of the folder
)

// watchOthers looks for live sessions besides the one that is shown, until the user quits: who looks at a dead one has
// perhaps meant another.
func (a *app) watchOthers() {
	dir := a.opt.Dir
	if dir == "" {
		return
	}
	a.workers.Go(func() {
		tick := time.NewTicker(othersEvery)
		defer tick.Stop()
		var told []other
		for {
			if now := liveIn(dir); !slices.Equal(now, told) {
				told = now
				a.post(func() { a.liveOnes = now })
			}
			select {
			case <-a.quit:
				return
			case <-tick.C:
			}
		}
	})
}

// other is a live session.
type other struct{ path, name string }

// liveIn gives the live sessions of a folder, newest first.
func liveIn(dir string) (live []other) {
	found, err := record.List(dir)
	if err != nil {
		return nil
	}
	found = found[:min(len(found), maxOthers)]
	names := inspect.ShortNames(found)
	for i, f := range found {
		c, err := record.Open(f.Path)
		if err != nil {
			continue
		}
		if c.Live() {
			o := other{f.Path, names[i]}
			if h, err := c.Header(); err == nil && h.Label != "" {
				o.name = h.Label
			}
			live = append(live, o)
		}
		c.Close()
	}
	return live
}

// othersWords says that other sessions are live; "" when none is.
func (a *app) othersWords() string {
	here, err := filepath.Abs(a.store.Path)
	if err != nil {
		here = a.store.Path
	}
	n, name := 0, ""
	for _, o := range a.liveOnes {
		if path, err := filepath.Abs(o.path); err == nil && path == here {
			continue
		}
		if n++; n == 1 {
			name = text.Cut(text.VisibleString(o.name), 20)
		}
	}
	switch n {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("1 other is live: %s (c)", name)
	}
	return fmt.Sprintf("%d others are live: %s, … (c)", n, name)
}
