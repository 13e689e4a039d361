// Package tui is the screen of pitap inspect. It shows what package view makes of a capture, and alone knows tview and
// tcell.
//
// One goroutine, tview's loop, draws and handles keys and owns the app. Others hand it functions through post; the
// refresher passes them on, at most every 50 ms, and alone ends the loop. Nothing from a capture reaches a cell but
// through painter, which makes everything visible text first.
package tui

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"pitap/inspect/text"
	"pitap/inspect/view"
)

// Options say how the screen is.
type Options struct {
	Screen tcell.Screen // nil: the terminal
	Theme  string       // one of Themes; "" is dark, or none with NoColor
	Dir    string       // the folder of captures that are offered and followed; "" is none
	Follow bool         // begin at the end, and go on with the next session of the same agent and folder
}

// The views, in the order of their keys.
const (
	viewRecords = iota
	viewRuns
	viewTimeline
	viewFindings
	viewFigures
	viewProcess
	viewCount
)

var viewNames = [viewCount]string{"Records", "Runs", "Timeline", "Findings", "Figures", "Process"}

// How the detail stands beside the list.
const (
	detailAuto = iota // below, or beside on wide screens; nowhere on small ones
	detailBelow
	detailBeside
	detailNone
)

const (
	minRefresh = 50 * time.Millisecond
	countUp    = 200 * time.Millisecond // how often ages are drawn anew
)

// app is the state of the screen; tview's loop owns it.
type app struct {
	*tview.Box
	tv     *tview.Application
	opt    Options
	theme  theme
	store  *view.Store
	screen tcell.Screen
	canvas canvas

	view    int
	list    records
	pane    pane
	focus   bool // the detail has the keys
	where   int  // of the detail
	keys    map[string]func(*app)
	share   int // percent of the space that the detail has
	chart   chart
	views   [viewCount]lines
	overlay *lines // help, the captures, a difference; nil without one

	prompt      *prompt
	history     map[string][]string
	message     string
	messageRole view.Role
	cursorX     int
	cursorY     int

	pattern    *view.Pattern
	searching  func() // ends the search; nil without one
	filterText string
	filter     *view.Filter
	expr       string // of the filter
	program    string // of :jq
	regexps    bool   // searches are for regular expressions
	lastMarks  []rune // in the order in which they were made
	marks      map[rune]int64
	jumps      []int64
	pending    func(r rune) // takes the next key: marks
	watching   bool
	hangOn     bool // go on with the next session when this one has ended
	shape      shape
	keysSeen   atomic.Int64  // that were handled
	every      time.Duration // the least time from one drawing to the next

	mu      sync.Mutex
	todo    []func()
	wake    chan struct{}
	quit    chan struct{}
	workers sync.WaitGroup
	live    atomic.Bool // something on the screen counts up
}

// shape is where the parts of the screen were drawn last, for the mouse.
type shape struct {
	tabs   [viewCount][2]int
	body   painter
	list   painter
	detail painter
}

// Run shows the capture at path until the user has enough.
func Run(path string, opt Options) error {
	a, err := newApp(opt)
	if err != nil {
		return err
	}
	if err := a.open(path); err != nil {
		return err
	}
	return a.run()
}

func newApp(opt Options) (*app, error) {
	a := &app{Box: tview.NewBox(), opt: opt, history: map[string][]string{}, marks: map[rune]int64{}, share: 45, keys: bindings(), every: minRefresh,
		wake: make(chan struct{}, 1), quit: make(chan struct{}), cursorX: -1, hangOn: opt.Follow}
	screen := opt.Screen
	if screen == nil {
		var err error
		if screen, err = tcell.NewScreen(); err != nil {
			return nil, fmt.Errorf("no terminal to draw on: %w", err)
		}
	}
	if name := opt.Theme; name != "" && !slices.Contains(Themes, name) {
		return nil, fmt.Errorf("no theme %q; there are dark, light and none", name)
	}
	a.tv = tview.NewApplication().SetScreen(calm{screen}).EnableMouse(true) // which initializes the screen
	if opt.Theme == "" && screen.Colors() < 8 {
		opt.Theme = "none"
	}
	a.theme, a.screen = newTheme(opt.Theme, screen.Colors()), screen
	return a, nil
}

// open shows another capture.
func (a *app) open(path string) error {
	store, err := view.Open(path, a.kick)
	if err != nil {
		if a.store == nil {
			a.screen.Fini()
		}
		return err
	}
	if old := a.store; old != nil {
		a.endSearch()
		a.workers.Go(func() { old.Close() })
	}
	a.store = store
	live := store.State().Live
	a.list = records{follow: live || a.opt.Follow && a.hangOn}
	a.pane = pane{mode: a.pane.mode}
	a.views, a.chart, a.overlay, a.focus = [viewCount]lines{}, chart{}, nil, false
	a.marks, a.jumps = map[rune]int64{}, nil
	if a.filter != nil {
		store.SetFilter(a.filter, 0)
	}
	return nil
}

// run draws until the user quits.
func (a *app) run() error {
	a.tv.SetRoot(a, true)
	a.tv.SetInputCapture(func(ev *tcell.EventKey) *tcell.EventKey {
		a.key(ev)
		return nil
	})
	if a.hangOn {
		a.watchNext()
	}
	var refresher sync.WaitGroup
	refresher.Go(a.refresher)
	err := a.tv.Run()
	refresher.Wait()
	a.endSearch()
	a.store.Close()
	a.workers.Wait()
	return err
}

// kick makes the refresher draw soon.
func (a *app) kick() {
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

// post hands a function to the loop.
func (a *app) post(f func()) {
	a.mu.Lock()
	a.todo = append(a.todo, f)
	a.mu.Unlock()
	a.kick()
}

// refresher draws what has changed, and ends the loop.
func (a *app) refresher() {
	tick := time.NewTicker(countUp)
	defer tick.Stop()
	last := time.Now().Add(-minRefresh)
	for {
		select {
		case <-a.quit:
			a.tv.Stop()
			return
		case <-a.wake:
		case <-tick.C:
			if !a.counts() {
				continue
			}
		}
		if wait := a.every - time.Since(last); wait > 0 {
			timer := time.NewTimer(wait)
			select {
			case <-timer.C:
			case <-a.quit:
				timer.Stop()
				a.tv.Stop()
				return
			}
		}
		last = time.Now()
		done := make(chan struct{})
		go func() { // QueueUpdateDraw hangs when the loop has come to its end
			a.tv.QueueUpdateDraw(a.work)
			close(done)
		}()
		select {
		case <-done:
		case <-a.quit:
			a.tv.Stop()
			return
		}
	}
}

// counts tells whether something on the screen counts up.
func (a *app) counts() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.todo != nil || a.live.Load()
}

// work runs in the loop.
func (a *app) work() {
	a.mu.Lock()
	todo := a.todo
	a.todo = nil
	a.mu.Unlock()
	for _, f := range todo {
		f()
	}
}

// leave ends the program.
func (a *app) leave() {
	select {
	case <-a.quit:
	default:
		close(a.quit)
	}
}

// say shows a message until the next key.
func (a *app) say(format string, args ...any) {
	a.message, a.messageRole = text.VisibleString(fmt.Sprintf(format, args...)), view.Strong
}

// complain shows what went wrong.
func (a *app) complain(err error) {
	if err == nil {
		return
	}
	a.say("%v", err)
	a.messageRole = view.Bad
}

// Draw draws the whole screen.
func (a *app) Draw(screen tcell.Screen) {
	w, h := screen.Size()
	a.canvas.begin(w, h, a.theme.base) // the parts are drawn on an empty one
	defer a.canvas.show(screen)
	p := painter{&a.canvas, &a.theme, 0, 0, w, h}
	a.cursor(-1, -1)
	a.live.Store(a.store.State().Live || a.hangOn)
	if w < 4 || h < 3 {
		return
	}
	a.drawTabs(p.part(0, 0, w, 1))
	bottom := 2
	if h < 6 {
		bottom = 1
	} else if why, _ := a.store.Bottom(w); h >= 10 && text.Width(why) > w {
		bottom = 3
	}
	a.drawBottom(p.part(0, h-bottom, w, bottom))
	body := p.part(0, 1, w, h-1-bottom)
	if a.prompt != nil || a.message != "" {
		a.drawPrompt(body)
		body.h--
	}
	a.shape.body = body
	a.drawBody(body)
	if a.cursorX >= 0 {
		screen.ShowCursor(a.cursorX, a.cursorY)
	} else {
		screen.HideCursor()
	}
}

func (a *app) drawTabs(p painter) {
	p.fill(0, a.theme.bar)
	st := a.store.State()
	state := " live "
	switch {
	case st.Err != nil:
		state = " " + st.Trouble + " "
	case !st.Done && !st.Live:
		state = " reading "
	case st.Damage > 0:
		state = " damaged "
	case st.Done && st.Condition != "":
		state = " cut "
	case st.Done:
		state = " whole "
	}
	x := 0
	for i, name := range viewNames {
		label := fmt.Sprintf(" %d %s ", i+1, name)
		if p.w < 66 {
			label = fmt.Sprintf(" %d%s", i+1, name[:min(len(name), max(2, (p.w-len(state))/viewCount-3))])
		}
		style := a.theme.bar
		if i == a.view {
			style = a.theme.tab
		}
		from := x
		x = p.print(x, 0, p.w-x, label, style)
		a.shape.tabs[i] = [2]int{from, x}
	}
	right := state
	if room := p.w - x - len(state) - 4; room > 12 {
		title := a.store.Title()
		p.right(x+1, 0, room, text.Cut(title, room), a.theme.style(view.Dim, a.theme.bar))
	}
	role := view.Good
	switch strings.TrimSpace(state) {
	case "live":
		role = view.Warn
	case "whole", "reading":
	default:
		role = view.Bad
	}
	p.right(0, 0, p.w, right, a.theme.style(role, a.theme.bar))
}

// drawBottom draws the sentence of pitap why, over two lines where there is room, and what crossed last.
func (a *app) drawBottom(p painter) {
	why, last := a.store.Bottom(p.w)
	for y := range p.h {
		p.fill(y, a.theme.bar)
	}
	strong := a.theme.style(view.Strong, a.theme.bar)
	rows := max(1, p.h-1)
	for y, l := range sentences(why, p.w, rows) {
		p.print(0, y, p.w, l, strong)
	}
	if p.h > 1 {
		p.line(0, p.h-1, last, a.theme.bar, nil)
		if p.w > 100 {
			p.right(0, p.h-1, p.w-1, " ? help", a.theme.style(view.Dim, a.theme.bar))
		}
	}
}

// sentences lays out a text in so many lines. What does not fit ends behind a sentence, when not much room is lost by
// that, and an ellipsis tells that there is more.
func sentences(s string, width, rows int) []string {
	lay := func(s string) []string {
		return strings.Split(strings.TrimRight(text.Wrap(s, width), "\n"), "\n")
	}
	fits := func(l []string) bool { return len(l) <= rows && text.Width(l[0]) <= width }
	all := lay(s)
	if fits(all) {
		return all
	}
	for cut := s; ; {
		i := strings.LastIndex(cut, ". ")
		if i < 0 {
			break
		}
		cut = cut[:i]
		if l := lay(cut + ". " + text.Ellipsis); fits(l) {
			if len(l) == rows && text.Width(l[rows-1]) > width/2 {
				return l
			}
			break
		}
	}
	if len(all) > rows {
		all[rows-1] = strings.Join(all[rows-1:], " ")
	}
	return all[:min(rows, len(all))]
}

func (a *app) drawBody(p painter) {
	if a.overlay != nil {
		a.drawLines(p, a.overlay)
		return
	}
	switch a.view {
	case viewRecords:
		a.drawSplit(p)
	case viewTimeline:
		a.drawTimeline(p)
	default:
		a.drawLines(p, a.refresh(a.view, p.w))
	}
}

// drawSplit draws list and detail.
func (a *app) drawSplit(p painter) {
	where := a.where
	if where == detailAuto {
		switch {
		case p.w >= 200 || p.w >= 120 && p.h < 26:
			where = detailBeside
		case p.h >= 14:
			where = detailBelow
		default:
			where = detailNone
		}
	}
	a.shape.detail = painter{}
	if _, ok := a.store.First(); !ok {
		where = detailNone
		a.focus = false
	}
	if where == detailNone || p.h < 8 && where == detailBelow {
		if a.focus {
			a.list.fix(a.store, max(1, a.list.height))
			a.shape.list, a.shape.detail = painter{}, p
			a.drawDetail(p, true)
			return
		}
		a.shape.list = p
		a.drawRecords(p, true)
		return
	}
	if where == detailBeside {
		w := p.w * (100 - a.share) / 100
		a.shape.list, a.shape.detail = p.part(0, 0, w, p.h), p.part(w+1, 0, p.w-w-1, p.h)
		for y := range p.h {
			p.print(w, y, 1, "│", a.theme.style(view.Dim, a.theme.base))
		}
	} else {
		h := max(4, p.h*(100-a.share)/100)
		a.shape.list, a.shape.detail = p.part(0, 0, p.w, h), p.part(0, h, p.w, p.h-h)
	}
	a.drawRecords(a.shape.list, !a.focus)
	a.drawDetail(a.shape.detail, a.focus)
}

// markNames gives the names of the marks in their order.
func (a *app) markNames() (names []rune) {
	for r := range a.marks {
		names = append(names, r)
	}
	slices.Sort(names)
	return names
}
