package tui

import (
	"context"

	"pitap/inspect/view"
)

// search asks for a text and goes to its next place with every key.
func (a *app) search() {
	from, view0 := a.list.sel, a.pattern
	follow := a.list.follow
	label := func() string {
		if a.regexps {
			return "regexp/"
		}
		return "/"
	}
	a.ask(&prompt{label: label(), kind: "/",
		change: func(s string) {
			if !a.setPattern(s) {
				return
			}
			a.find(from, 1, true)
		},
		toggle: func() string { a.regexps = !a.regexps; return label() },
		help: func() string {
			if len(a.prompt.text) == 0 {
				return "Ctrl-R: regular expressions"
			}
			if a.message != "" {
				return a.message
			}
			return a.matchWords()
		},
		cancel: func() {
			a.endSearch()
			a.pattern, a.list.sel, a.list.follow = view0, from, follow
		},
		done: func(s string) {
			if s == "" {
				a.pattern = nil
				return
			}
			a.leap()
		}})
}

// setPattern makes the pattern of what was typed.
func (a *app) setPattern(s string) bool {
	a.message = ""
	if s == "" {
		a.pattern = nil
		return false
	}
	p, err := view.NewPattern(s, a.regexps)
	if err != nil {
		a.complain(err)
		return false
	}
	a.pattern = p
	return true
}

func (a *app) searchNext(dir int) {
	if a.pattern == nil {
		if list := a.history["/"]; len(list) == 0 || !a.setPattern(list[len(list)-1]) {
			a.say("/ searches")
			return
		}
	}
	if v := a.lines(); v != nil {
		if !v.find(a.pattern, v.cur+dir, dir) {
			a.say("not found: %s", a.pattern.Source)
		}
		return
	}
	if a.focus && a.pane.mode != asRaw {
		a.findInPane(dir)
		return
	}
	a.find(a.list.sel, dir, false)
}

// findInPane goes to the next line of the detail that holds the pattern.
func (a *app) findInPane(dir int) {
	p := &a.pane
	for k := 1; k <= len(p.lines); k++ {
		i := ((p.cur+dir*k)%len(p.lines) + len(p.lines)) % len(p.lines)
		if start, _ := a.pattern.In(p.lines[i].Text()); start >= 0 {
			p.cur = i
			p.clamp(true)
			return
		}
	}
	a.say("not found here: %s", a.pattern.Source)
}

// find searches behind the selected row; with here the row itself counts, too.
func (a *app) find(from int64, dir int, here bool) {
	if v := a.lines(); v != nil {
		v.find(a.pattern, v.cur, dir)
		return
	}
	a.endSearch()
	ctx, cancel := context.WithCancel(context.Background())
	a.searching = cancel
	store, pattern := a.store, a.pattern
	if here {
		from -= int64(dir)
	} else if start, end := store.Group(from); end-start > 1 {
		if from = start; dir > 0 {
			from = end - 1
		}
	}
	if !here {
		a.say("searching %s", pattern.Source)
	}
	a.workers.Go(func() {
		hit := store.Search(ctx, pattern, from, dir)
		a.post(func() {
			if ctx.Err() != nil || store != a.store {
				return
			}
			a.searching = nil
			cancel()
			a.found(hit, pattern)
		})
	})
}

func (a *app) found(hit view.Hit, p *view.Pattern) {
	if hit.Pos < 0 {
		a.say("not found: %s", p.Source)
		return
	}
	a.message = ""
	if hit.Wrap {
		a.say("found beyond the end: the search went round")
	}
	row := a.store.Row(a.list.sel)
	if start, _ := p.In(row.Text); start < 0 || hit.Pos < row.Pos {
		at, ok := a.store.Align(hit.Pos)
		if r := a.store.Row(at); ok && r.Count > 1 {
			if start, _ := p.In(r.Text); start < 0 { // what was found is folded away
				a.store.Reveal(hit.Pos)
			}
		}
	}
	a.land(hit.Pos)
}

func (a *app) endSearch() {
	if a.searching != nil {
		a.searching()
		a.searching = nil
	}
}
