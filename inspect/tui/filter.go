package tui

import (
	"fmt"
	"strconv"
	"strings"

	"pitap/inspect"
	"pitap/inspect/filter"
	"pitap/inspect/view"
)

// setFilter puts a filter in force: an expression, a jq program, or both.
func (a *app) setFilter(expr, program string) error {
	f := &view.Filter{Program: program, Marked: map[int64]bool{}}
	var err error
	if strings.TrimSpace(expr) != "" {
		if f.Expr, err = filter.Parse(expr); err != nil {
			return err
		}
	}
	if program != "" {
		if _, err := inspect.ParseQuery(program); err != nil {
			return fmt.Errorf("jq: %w", err)
		}
	}
	for _, n := range a.marks {
		f.Marked[n] = true
	}
	a.program, a.filterText = program, strings.TrimSpace(expr)
	if a.program == "" && a.pane.mode == asQuery {
		a.pane.mode = asTree
	}
	a.pane.lines = nil
	if program != "" {
		a.filterText = strings.TrimSpace(a.filterText + "  jq " + program)
	}
	a.expr = expr
	if f.Expr == nil && program == "" {
		f = nil
	}
	a.filter = f
	a.store.SetFilter(f, a.list.sel)
	return nil
}

func (a *app) refilter() { a.setFilter(a.expr, a.program) }

func (a *app) askFilter() { a.askFilterWith(a.expr, "") }

// askFilterWith asks for a filter, with what was typed before and what is wrong with it.
func (a *app) askFilterWith(typed, said string) {
	a.ask(&prompt{label: "filter: ", kind: "filter", text: []rune(typed),
		change: func(s string) {
			said = ""
			if _, err := filter.Parse(s); err != nil {
				said = err.Error()
			}
		},
		help: func() string {
			if said == "" && len(a.prompt.text) == 0 {
				return "from:agent kind:prompt id:req-1 size>64k gap>1s is:open word; ? explains"
			}
			return said
		},
		done: func(s string) {
			if err := a.setFilter(s, a.program); err != nil { // it stays, to be mended
				a.askFilterWith(s, err.Error())
			}
		}})
}

// goToNumber shows the entry with a number that was typed, or says that there is none.
func (a *app) goToNumber(n int64) {
	first, last := a.store.Row(0).N, a.store.Row(max(0, a.store.State().Entries-1)).N
	a.goTo(n)
	switch {
	case n < first:
		a.say("there is no entry %d; the first is %d", n, first)
	case n > last:
		a.say("there is no entry %d; the last is %d", n, last)
	}
}

// command takes :N, :TIME, :jq EXPR and :q.
func (a *app) command() {
	a.ask(&prompt{label: ":", kind: ":", done: func(s string) {
		s = strings.TrimSpace(s)
		if program, ok := strings.CutPrefix(s, "jq"); ok && (program == "" || program[0] == ' ') {
			a.complain(a.setFilter(a.expr, strings.TrimSpace(program)))
			return
		}
		switch s {
		case "":
			return
		case "q", "quit":
			a.leave()
			return
		}
		if n, err := strconv.ParseInt(strings.TrimPrefix(s, "#"), 10, 64); err == nil {
			a.goToNumber(n)
			return
		}
		if place, err := inspect.ParsePlace(s); err == nil {
			a.leap()
			a.land(a.store.At(place.T))
			return
		}
		a.say(":%s? It takes an entry's number, a time such as 1.5s, jq EXPR, or q", s)
	}})
}
