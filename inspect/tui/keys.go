package tui

import (
	"strings"

	"github.com/gdamore/tcell/v2"
)

// key is a row of the key table, from which keys are handled and the help is made.
type key struct {
	keys string // names, separated by blanks
	help string
	run  func(a *app)
}

// part of the table with a head.
type keyPart struct {
	head string
	keys []key
}

func keyTable() []keyPart {
	return []keyPart{
		{"Views", []key{
			{"1", "records, a row each", func(a *app) { a.show(viewRecords) }},
			{"2", "runs, turns, messages and tools, and what was said", func(a *app) { a.show(viewRuns) }},
			{"3", "timeline: lanes against time", func(a *app) { a.show(viewTimeline) }},
			{"4", "findings: what is wrong", func(a *app) { a.show(viewFindings) }},
			{"5", "figures: rates, latencies, tokens, sizes", func(a *app) { a.show(viewFigures) }},
			{"6", "process: command, stderr, signals, exit, what is open", func(a *app) { a.show(viewProcess) }},
			{"?", "this help", (*app).showHelp},
			{"c", "choose another capture, live ones first", (*app).choose},
			{"q", "close what is in front; quit", (*app).back},
			{"Esc", "leave the detail, take away search and filter", (*app).escape},
			{"Ctrl-C", "quit", (*app).leave},
			{"Ctrl-L", "draw all anew", func(a *app) { a.screen.Sync() }},
		}},
		{"Moving", []key{
			{"j Down", "one down", func(a *app) { a.move(1) }},
			{"k Up", "one up", func(a *app) { a.move(-1) }},
			{"Ctrl-D", "half a screen down", func(a *app) { a.move(max(1, a.pageSize()/2)) }},
			{"Ctrl-U", "half a screen up", func(a *app) { a.move(-max(1, a.pageSize()/2)) }},
			{"PgDn Ctrl-F Space", "a screen down", func(a *app) { a.move(a.pageSize()) }},
			{"PgUp Ctrl-B", "a screen up", func(a *app) { a.move(-a.pageSize()) }},
			{"g Home", "to the beginning", func(a *app) { a.end(-1) }},
			{"G End", "to the end", func(a *app) { a.end(1) }},
			{"h Left", "fold a branch, go to what holds it; in the timeline to the left", func(a *app) { a.side(-1) }},
			{"l Right", "unfold; in the timeline to the right", func(a *app) { a.side(1) }},
			{"Enter", "look into the row; elsewhere go to the entry", (*app).enter},
			{"]", "next finding", func(a *app) { a.finding(1) }},
			{"[", "previous finding", func(a *app) { a.finding(-1) }},
			{"o", "next thing that is open, or was at the end", func(a *app) { a.openThing(1) }},
			{"O", "previous open thing", func(a *app) { a.openThing(-1) }},
			{"p", "partner: a command's response, a tool's end, and back", (*app).partner},
			{"m", "mark the row with the letter that follows", (*app).mark},
			{"'", "go to the mark of the letter that follows; '' goes back", (*app).toMark},
			{"Ctrl-O", "back to where the last jump began", (*app).jumpBack},
			{"F", "follow: stay at the end, go on with the next session of the same agent and folder", (*app).followOn},
		}},
		{"Looking", []key{
			{"Tab", "the next way to look at the row: tree, pretty, raw, meta", func(a *app) { a.mode(1) }},
			{"Backtab", "the one before", func(a *app) { a.mode(-1) }},
			{"|", "detail below, beside, away, or where there is room", (*app).turnDetail},
			{"+ =", "more room for the detail; in the timeline closer; in the tree more of a list", func(a *app) { a.grow(1) }},
			{"-", "less room; in the timeline farther", func(a *app) { a.grow(-1) }},
			{"0", "timeline: all of it", func(a *app) { a.chart.t0, a.chart.t1 = 0, 0 }},
			{"<", "timeline: earlier", func(a *app) { a.pan(-0.5) }},
			{">", "timeline: later", func(a *app) { a.pan(0.5) }},
			{"z", "unfold a block of deltas, or fold it; elsewhere a branch, or what was said", (*app).fold},
			{"Z", "all of them", (*app).foldAll},
			{"d", "difference between the last two marks, or the last mark and the row", (*app).diff},
		}},
		{"Finding", []key{
			{"/", "search text; Ctrl-R in it turns to regular expressions", (*app).search},
			{"n", "next match", func(a *app) { a.searchNext(1) }},
			{"N", "previous match", func(a *app) { a.searchNext(-1) }},
			{"f", "filter: see below", (*app).askFilter},
			{":", ":N goes to entry N, :1.5s to a time, :jq EXPR filters by a jq program, :q quits", (*app).command},
			{"y", "copy: y or r the record, p the path, v the value, n the number", (*app).copyKey},
			{"w", "write the row, or all that is shown, to a file", (*app).write},
		}},
	}
}

// keyName is the name of a key as the table has it.
func keyName(ev *tcell.EventKey) string {
	switch ev.Key() {
	case tcell.KeyRune:
		if ev.Modifiers()&tcell.ModAlt != 0 {
			return "Alt-" + string(ev.Rune())
		}
		if ev.Rune() == ' ' {
			return "Space"
		}
		return string(ev.Rune())
	case tcell.KeyEnter:
		return "Enter"
	case tcell.KeyEscape:
		return "Esc"
	case tcell.KeyTab:
		return "Tab"
	case tcell.KeyBacktab:
		return "Backtab"
	case tcell.KeyUp:
		return "Up"
	case tcell.KeyDown:
		return "Down"
	case tcell.KeyLeft:
		return "Left"
	case tcell.KeyRight:
		return "Right"
	case tcell.KeyHome:
		return "Home"
	case tcell.KeyEnd:
		return "End"
	case tcell.KeyPgUp:
		return "PgUp"
	case tcell.KeyPgDn:
		return "PgDn"
	case tcell.KeyBackspace, tcell.KeyBackspace2:
		return "Backspace"
	}
	if k := ev.Key(); k >= tcell.KeyCtrlA && k <= tcell.KeyCtrlZ {
		return "Ctrl-" + string(rune('A'+k-tcell.KeyCtrlA))
	}
	return ""
}

// bindings gives the keys of the table by name.
func bindings() map[string]func(*app) {
	m := map[string]func(*app){}
	for _, part := range keyTable() {
		for _, k := range part.keys {
			for _, name := range strings.Fields(k.keys) {
				m[name] = k.run
			}
		}
	}
	return m
}

// key handles a key.
func (a *app) key(ev *tcell.EventKey) {
	defer a.keysSeen.Add(1)
	a.untouched = false
	if a.prompt != nil {
		a.promptKey(ev)
		return
	}
	if take := a.pending; take != nil {
		a.pending = nil
		a.message = ""
		if ev.Key() == tcell.KeyRune {
			take(ev.Rune())
		}
		return
	}
	a.message = ""
	if run := a.keys[keyName(ev)]; run != nil {
		run(a)
	}
}

func (a *app) width() int {
	w, _ := a.screen.Size()
	return w
}
