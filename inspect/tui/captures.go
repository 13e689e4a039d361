package tui

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"pitap/inspect"
	"pitap/inspect/text"
	"pitap/inspect/view"
	"pitap/record"
)

// maxListed is how many captures are looked into for the list.
const maxListed = 500

var errLeft = errors.New("left")

// choose lists the captures of the folder, live ones first.
func (a *app) choose() {
	if a.opt.Dir == "" {
		a.say("no folder of captures is known")
		return
	}
	dir := a.opt.Dir
	a.say("looking for captures")
	a.workers.Go(func() {
		found, err := record.List(dir)
		var all []*inspect.Listed
		if err == nil {
			err = inspect.List(found[:min(len(found), maxListed)], func(l *inspect.Listed) error {
				all = append(all, l)
				select {
				case <-a.quit:
					return errLeft
				default:
					return nil
				}
			})
		}
		a.post(func() { a.chosen(dir, all, len(found), err) })
	})
}

// chosen shows the list of captures.
func (a *app) chosen(dir string, list []*inspect.Listed, found int, err error) {
	a.message = ""
	if err != nil {
		a.complain(err)
		return
	}
	if len(list) == 0 {
		a.say("no captures in %s", dir)
		return
	}
	title := fmt.Sprintf("%s in %s: Enter opens, q closes", text.Plural(found, "capture"), text.VisibleString(dir))
	if found > len(list) {
		title = fmt.Sprintf("the newest %d of %s in %s: Enter opens, q closes", len(list), text.Plural(found, "capture"), text.VisibleString(dir))
	}
	v := &lines{title: title, build: func(v *lines, width int) {
		head, all := view.Captures(list, width, a.store.Path)
		v.heads = head.Text()
		v.set(all)
	}}
	v.enter = func(l view.Line) {
		if err := a.open(l.Path); err != nil {
			a.complain(err)
		}
	}
	v.layout(a.width())
	for i, l := range v.all {
		if len(l.Spans) > 0 && l.Spans[0].Role == view.Warn {
			v.cur = i
		}
	}
	a.overlay = v
}

// followOn turns following on; off when all of it is on already.
func (a *app) followOn() {
	if a.list.follow && (a.hangOn || a.opt.Dir == "") {
		a.list.follow, a.hangOn = false, false
		a.say("follows no more")
		return
	}
	a.list.follow, a.hangOn = true, true
	a.say("follows the end")
	if a.opt.Dir != "" {
		a.say("follows the end, and then the next session of the same agent and folder")
		a.watchNext()
	}
}

const nextEvery = 300 * time.Millisecond

// watchNext waits for the capture to end and for another one of the same agent and folder to begin, and opens that.
func (a *app) watchNext() {
	if a.watching || a.opt.Dir == "" {
		return
	}
	a.watching = true
	store, dir := a.store, a.opt.Dir
	a.workers.Go(func() {
		tick := time.NewTicker(nextEvery)
		defer tick.Stop()
		for {
			select {
			case <-a.quit:
				return
			case <-tick.C:
			}
			st := store.State()
			if !st.Done && !store.Closed() {
				continue
			}
			next := ""
			if st.Done && st.Header != nil {
				next = nextOf(dir, store.Path, st.Header)
			}
			if next != "" || store.Closed() {
				a.post(func() { a.goOn(store, next) })
				return
			}
		}
	})
}

// goOn opens the session that came after one, if that is still wanted.
func (a *app) goOn(from *view.Store, next string) {
	a.watching = false
	if !a.hangOn {
		return
	}
	if next != "" && a.store == from {
		which := a.view
		if err := a.open(next); err != nil {
			a.complain(err)
			return
		}
		a.view, a.list.follow = which, true
		a.say("the next session")
	}
	a.watchNext()
}

// nextOf finds the first capture behind one of the same agent and folder; "" when there is none yet.
func nextOf(dir, path string, h *record.Header) (next string) {
	found, err := record.List(dir)
	if err != nil {
		return ""
	}
	for _, f := range found { // newest first
		if filepath.Base(f.Path) == filepath.Base(path) || f.Time.Before(h.Start.Add(-time.Second)) {
			break
		}
		c, err := record.Open(f.Path)
		if err != nil {
			continue
		}
		o, err := c.Header()
		if err == nil && o.Cwd == h.Cwd && agentOf(o) == agentOf(h) && o.Start.After(h.Start) {
			next = f.Path
		}
		c.Close()
	}
	return next
}

func agentOf(h *record.Header) string {
	if len(h.Argv) > 0 {
		return filepath.Base(h.Argv[0])
	}
	return filepath.Base(h.Agent.Path)
}
