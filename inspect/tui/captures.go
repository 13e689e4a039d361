package tui

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"pitap/inspect/text"
	"pitap/inspect/view"
	"pitap/record"
)

// maxListed is how many captures are looked into for the list.
const maxListed = 500

// choose lists the captures of the folder, live ones first.
func (a *app) choose() {
	if a.opt.Dir == "" {
		a.say("no folder of captures is known")
		return
	}
	dir, width, current := a.opt.Dir, a.width(), a.store.Path
	a.say("looking for captures")
	a.workers.Go(func() {
		found, err := record.List(dir)
		var all []view.Line
		if err == nil {
			all = captureLines(found[:min(len(found), maxListed)], width, current)
		}
		a.post(func() {
			if err != nil {
				a.complain(err)
				return
			}
			a.message = ""
			if len(all) == 0 {
				a.say("no captures in %s", dir)
				return
			}
			a.overlay = &lines{title: fmt.Sprintf("%s in %s: Enter opens, q closes", plural(len(found), "capture"), dir)}
			a.overlay.enter = func(l view.Line) {
				if err := a.open(l.Path); err != nil {
					a.complain(err)
				}
			}
			a.overlay.set(all)
		})
	})
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func captureLines(found []record.Found, width int, current string) (all []view.Line) {
	type row struct {
		live bool
		line view.Line
	}
	var rows []row
	for _, f := range found {
		l, live := captureLine(f, width)
		if same, err := filepath.Abs(current); err == nil && same == f.Path || f.Path == current {
			l.Spans = append([]view.Span{{Text: "◆ ", Role: view.Warn}}, l.Spans...)
		} else {
			l.Spans = append([]view.Span{{Text: "  "}}, l.Spans...)
		}
		rows = append(rows, row{live, l})
	}
	slices.SortStableFunc(rows, func(x, y row) int { return b2i(y.live) - b2i(x.live) })
	for _, r := range rows {
		all = append(all, r.line)
	}
	return all
}

// captureLine says what a capture is.
func captureLine(f record.Found, width int) (l view.Line, live bool) {
	l.Path = f.Path
	add := func(role view.Role, s string) { l.Spans = append(l.Spans, view.Span{Text: s, Role: role}) }
	c, err := record.Open(f.Path)
	if err != nil {
		add(view.Bad, text.VisibleString(err.Error()))
		return l, false
	}
	defer c.Close()
	live = c.Live()
	state, role := "", view.Dim
	if live {
		state, role = "live", view.Warn
	}
	add(role, text.Pad(state, 5))
	add(view.Plain, f.Time.Local().Format("01-02 15:04:05  "))
	add(view.Dim, text.PadLeft(text.Size(f.Size), 6)+"  ")
	h, err := c.Header()
	if err != nil {
		add(view.Bad, text.VisibleString(filepath.Base(f.Path)+": "+err.Error()))
		return l, live
	}
	name := filepath.Base(h.Agent.Path)
	if len(h.Argv) > 0 {
		name = filepath.Base(h.Argv[0])
	}
	add(view.Client, text.Pad(name+" "+h.Agent.Version, 14)+" ")
	if width > 80 {
		add(view.Dim, text.Pad(h.Client.Name, 12)+" ")
	}
	add(view.Plain, text.VisibleString(h.Cwd))
	if h.Label != "" {
		add(view.Strong, "  "+text.VisibleString(h.Label))
	}
	if width > 120 {
		add(view.Dim, "  "+filepath.Base(f.Path))
	}
	return l, live
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
