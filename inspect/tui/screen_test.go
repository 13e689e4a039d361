package tui

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"
)

var update = flag.Bool("update", false, "write the golden screens anew")

func TestMain(m *testing.M) {
	time.Local = time.UTC
	flag.Parse()
	os.Exit(m.Run())
}

const patience = 60 * time.Second

// screen is an inspector on a simulated terminal.
type screen struct {
	t   *testing.T
	a   *app
	sim tcell.SimulationScreen
	end chan error
}

// start shows a capture and waits until it is read, if it is not live.
func start(t *testing.T, path string, w, h int, opt Options) *screen {
	t.Helper()
	sim := tcell.NewSimulationScreen("UTF-8")
	opt.Screen = sim
	a, err := newApp(opt)
	if err != nil {
		t.Fatal(err)
	}
	a.every = time.Millisecond
	sim.SetSize(w, h)
	if err := a.open(path); err != nil {
		t.Fatal(err)
	}
	s := &screen{t: t, a: a, sim: sim, end: make(chan error, 1)}
	go func() { s.end <- a.run() }()
	t.Cleanup(s.quit)
	s.until("the capture is read", func() bool { st := a.store.State(); return st.Done || st.Live })
	return s
}

func (s *screen) quit() {
	s.a.leave()
	select {
	case err := <-s.end:
		if err != nil {
			s.t.Error(err)
		}
	case <-time.After(patience):
		s.t.Fatal("the inspector does not end")
	}
}

// loop runs f in the loop and waits for it.
func (s *screen) loop(f func()) {
	s.t.Helper()
	done := make(chan struct{})
	s.a.post(func() { f(); close(done) })
	select {
	case <-done:
	case <-time.After(patience):
		s.t.Fatal("the loop hangs")
	}
}

// soon waits for a condition that may be asked anywhere.
func (s *screen) soon(what string, f func() bool) {
	s.t.Helper()
	tick := time.NewTicker(200 * time.Microsecond)
	defer tick.Stop()
	late := time.After(patience)
	for !f() {
		select {
		case <-tick.C:
		case <-late:
			s.t.Fatalf("waited in vain until %s", what)
		}
	}
}

// until waits for a condition, asked in the loop.
func (s *screen) until(what string, f func() bool) {
	s.t.Helper()
	deadline := time.Now().Add(patience)
	for {
		ok := false
		s.loop(func() { ok = f() })
		if ok {
			return
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("waited in vain until %s; the screen:\n%s", what, s.text())
		}
	}
}

var keyCodes = map[string]tcell.Key{"Enter": tcell.KeyEnter, "Esc": tcell.KeyEscape, "Tab": tcell.KeyTab, "Backtab": tcell.KeyBacktab,
	"Up": tcell.KeyUp, "Down": tcell.KeyDown, "Left": tcell.KeyLeft, "Right": tcell.KeyRight, "Home": tcell.KeyHome, "End": tcell.KeyEnd,
	"PgUp": tcell.KeyPgUp, "PgDn": tcell.KeyPgDn, "Backspace": tcell.KeyBackspace2, "Ctrl-C": tcell.KeyCtrlC, "Ctrl-R": tcell.KeyCtrlR,
	"Ctrl-D": tcell.KeyCtrlD, "Ctrl-U": tcell.KeyCtrlU, "Ctrl-F": tcell.KeyCtrlF, "Ctrl-B": tcell.KeyCtrlB, "Ctrl-O": tcell.KeyCtrlO, "Ctrl-L": tcell.KeyCtrlL}

// press sends keys through the event queue, one after the other, and waits for what they begin. A key is a name, or a
// character; "text:..." types.
func (s *screen) press(keys ...string) {
	s.t.Helper()
	for _, k := range keys {
		if typed, ok := strings.CutPrefix(k, "text:"); ok {
			for _, c := range strings.Split(typed, "") {
				s.inject(c)
				s.settle()
			}
			continue
		}
		s.inject(k)
	}
	s.settle()
}

// settle waits until a search or a filter has come to its end.
func (s *screen) settle() {
	s.t.Helper()
	s.until("the work of the keys is done", func() bool { return s.a.searching == nil && s.settled() })
}

// inject sends keys, each when the one before it was handled.
func (s *screen) inject(keys ...string) {
	s.t.Helper()
	for _, k := range keys {
		before := s.a.keysSeen.Load()
		if code, ok := keyCodes[k]; ok {
			s.sim.InjectKey(code, 0, tcell.ModNone)
		} else if k == "Space" {
			s.sim.InjectKey(tcell.KeyRune, ' ', tcell.ModNone)
		} else {
			s.sim.InjectKey(tcell.KeyRune, []rune(k)[0], tcell.ModNone)
		}
		s.soon("key "+k+" was handled", func() bool { return s.a.keysSeen.Load() > before })
	}
}

func (s *screen) settled() bool {
	looked, _, all := s.a.store.Progress()
	return s.a.filter == nil || looked == all
}

// text is what is on the screen.
func (s *screen) text() string {
	s.t.Helper()
	var out string
	s.loop(func() {
		s.a.Draw(s.sim)
		s.sim.Show()
		out = dump(s.sim)
	})
	return out
}

func dump(sim tcell.SimulationScreen) string {
	cells, w, h := sim.GetContents()
	var b strings.Builder
	for y := range h {
		var l strings.Builder
		for x := 0; x < w; x++ {
			c := cells[y*w+x]
			r := c.Runes
			if len(r) == 0 {
				r = []rune{' '}
			}
			l.WriteString(string(r))
			if _, _, width := sim.Get(x, y); width > 1 {
				x += width - 1
			}
		}
		b.WriteString(strings.TrimRight(l.String(), " "))
		b.WriteByte('\n')
	}
	return b.String()
}

// golden compares the screen with what it was.
func (s *screen) golden(name string) {
	s.t.Helper()
	got := s.text()
	path := filepath.Join("testdata", "screens", name+".txt")
	if *update {
		os.MkdirAll(filepath.Dir(path), 0o755)
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			s.t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		s.t.Fatal(err)
	}
	if got != string(want) {
		s.t.Errorf("%s is not as it was (-update accepts it)\n--- got\n%s--- want\n%s", path, got, want)
	}
}

var sizes = [][2]int{{80, 24}, {120, 40}, {40, 10}}

// TestViews draws every view of real sessions at three sizes.
func TestViews(t *testing.T) {
	for _, name := range []string{"tools", "dialogs", "hang"} {
		for _, size := range sizes {
			t.Run(fmt.Sprintf("%s-%dx%d", name, size[0], size[1]), func(t *testing.T) {
				s := start(t, filepath.Join("testdata", name+".jsonl"), size[0], size[1], Options{Theme: "none"})
				for i, view := range viewNames {
					s.press(fmt.Sprint(i + 1))
					s.golden(fmt.Sprintf("%s-%s-%dx%d", name, strings.ToLower(view), size[0], size[1]))
				}
			})
		}
	}
}

// TestParts draws what keys bring to the front.
func TestParts(t *testing.T) {
	for _, c := range []struct {
		name, capture string
		keys          []string
	}{
		{"help", "tools", []string{"?"}},
		{"runs-talk", "tools", []string{"2", "j", "j", "j", "z"}},
		{"timeline-zoom", "tools", []string{"3", "G", "k", "k", "k", "+", "+"}},
		{"unfolded", "tools", []string{":", "text:12", "Enter", "z"}},
		{"filter", "tools", []string{"f", "text:from:agent is:error", "Enter"}},
		{"search", "tools", []string{"/", "text:enoent", "Enter"}},
		{"meta", "dialogs", []string{":", "text:2", "Enter", "Tab", "Tab", "Tab"}},
		{"raw", "tools", []string{"Tab", "Tab"}},
		{"pretty", "tools", []string{"Tab", "Enter"}},
		{"block", "tools", []string{":", "text:12", "Enter"}},
		{"jq", "tools", []string{":", "text:jq .type == \"response\"", "Enter"}},
		{"diff", "tools", []string{"m", "a", "]", "j", "m", "b", "d"}},
	} {
		for _, size := range sizes {
			t.Run(fmt.Sprintf("%s-%dx%d", c.name, size[0], size[1]), func(t *testing.T) {
				s := start(t, filepath.Join("testdata", c.capture+".jsonl"), size[0], size[1], Options{Theme: "none"})
				s.press(c.keys...)
				s.golden(fmt.Sprintf("part-%s-%dx%d", c.name, size[0], size[1]))
			})
		}
	}
}

// counted counts the cells that the terminal is sent.
type counted struct {
	tcell.SimulationScreen
	puts int
}

func (c *counted) Put(x, y int, s string, st tcell.Style) (string, int) {
	if there, as, _ := c.Get(x, y); there != s || as != st {
		c.puts++
	}
	return c.SimulationScreen.Put(x, y, s, st)
}

// TestCalm draws the same again: nothing may be sent to the terminal, or it flickers.
func TestCalm(t *testing.T) {
	a, sim := still(t, "testdata/tools.jsonl", 80, 24)
	c := &counted{SimulationScreen: sim}
	a.Draw(c)
	if c.puts < 500 {
		t.Errorf("%d cells of an empty screen were drawn", c.puts)
	}
	c.puts = 0
	a.Draw(c)
	if c.puts != 0 {
		t.Errorf("%d cells were drawn, and nothing has changed", c.puts)
	}
	a.move(1)
	a.Draw(c)
	if c.puts == 0 || c.puts > 80*24/2 {
		t.Errorf("%d cells were drawn after one step", c.puts)
	}
	sim.SetSize(60, 20)
	sim.SetSize(80, 24)
	a.Draw(c)
	sim.Show()
	if said := dump(sim); !strings.Contains(said, "1 Records") || strings.Count(said, "\n") != 24 {
		t.Errorf("after the size has changed:\n%s", said)
	}
}
