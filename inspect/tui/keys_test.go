package tui

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pitap/inspect/view"
)

// row is the number of the selected entry.
func (s *screen) row() (n int64) {
	s.t.Helper()
	s.loop(func() {
		s.a.Draw(s.sim)
		n = s.a.store.Row(s.a.list.sel).N
	})
	return n
}

func (s *screen) wantRow(n int64) {
	s.t.Helper()
	if got := s.row(); got != n {
		s.t.Errorf("entry %d is selected, want %d; the screen:\n%s", got, n, s.text())
	}
}

func (s *screen) wantText(words ...string) {
	s.t.Helper()
	said := s.text()
	for _, w := range words {
		if !strings.Contains(said, w) {
			s.t.Errorf("%q is not on the screen:\n%s", w, said)
		}
	}
}

func (s *screen) wantNoText(word string) {
	s.t.Helper()
	if said := s.text(); strings.Contains(said, word) {
		s.t.Errorf("%q is on the screen:\n%s", word, said)
	}
}

func tools(t *testing.T) *screen {
	return start(t, "testdata/tools.jsonl", 120, 40, Options{Theme: "dark", Dir: "testdata"})
}

func TestMoving(t *testing.T) {
	s := tools(t)
	for _, c := range []struct {
		keys string
		want int64
	}{
		{"j", 2}, {"Down", 3}, {"k", 2}, {"Up", 1}, {"k", 1}, {"G", 201}, {"j", 201}, {"g", 1}, {"End", 201}, {"Home", 1},
		{": text:12 Enter", 12}, {"j", 18}, {"k", 12}, {": text:14 Enter", 12}, {"z j", 13}, {"z", 12}, {": text:1.5s Enter", 22},
		{": text:100000 Enter", 201}, {": text:#20 Enter", 20}, {"g", 1},
		{"p", 2}, {"p", 1}, {"Ctrl-O", 2}, {"Ctrl-O", 1},
		{"m a j j m b ' a", 1}, {"' b", 3}, {"' '", 1},
		{": text:21 Enter p", 27}, {"p", 21},
		{"Ctrl-D Ctrl-U", 21}, {"g PgDn PgUp", 1}, {"Space Ctrl-B", 1},
	} {
		s.press(strings.Fields(c.keys)...)
		if got := s.row(); got != c.want {
			t.Errorf("%s: entry %d is selected, want %d", c.keys, got, c.want)
		}
	}
}

func TestFolding(t *testing.T) {
	s := tools(t)
	s.wantText("toolcall ×6")
	s.press("Z")
	s.wantNoText("×6")
	s.wantText("toolcall_start")
	s.press("Z")
	s.wantText("toolcall ×6")
	s.press("g", "z")
	s.wantText("nothing folds here")
}

func TestSearch(t *testing.T) {
	s := tools(t)
	s.press("/", "text:ENOENT")
	s.wantRow(67)
	s.press("Esc")
	s.wantRow(1)
	s.press("/", "text:enoent", "Enter")
	s.wantRow(67)
	s.press("n")
	s.wantRow(73)
	s.press("N")
	s.wantRow(67)
	s.press("N") // round the beginning
	s.wantText("went round")
	s.press("/", "text:no such thing anywhere", "Enter")
	s.wantText("not found")
	s.press("Esc", "g", "/", "Ctrl-R", "text:step [3-4]")
	s.wantText("regexp/step [3-4]")
	s.press("Enter")
	s.wantText("step 3")
	if got := s.row(); got != 22 && got != 24 && got != 25 {
		t.Errorf("the expression is found in entry %d", got)
	}
	s.press("/", "text:(", "Enter")
	s.wantText("missing closing")
}

func TestFilter(t *testing.T) {
	s := tools(t)
	s.press("f", "text:from:client", "Enter")
	s.wantText("2 of 201", "prompt", "closed the agent's stdin")
	s.wantNoText("agent_start ")
	s.press("Esc")
	s.wantText("agent_start")
	s.press("f", "text:kind:tool_execution_end size>100", "Enter")
	s.wantRow(27)
	s.press("j")
	s.wantRow(41)
	s.press("f")
	for range len("kind:tool_execution_end size>100") {
		s.press("Backspace")
	}
	s.press("text:nonsense:x", "Enter")
	s.wantText(`no term "nonsense"`)
	s.press(":", "text:jq .toolName == \"edit\"", "Enter")
	s.wantText("1 of 201", "Successfully replaced") // the filter still holds
}

func TestDetail(t *testing.T) {
	s := tools(t)
	s.wantText("▾ {")
	s.press("Tab")
	s.wantText(`"type": "prompt",`)
	s.press("Tab")
	s.wantText("7b 22 69 64")
	s.press("Tab")
	s.wantText("partner   entry 2, the response, after 984ms")
	s.press("Backtab", "Backtab", "Backtab")
	s.press("Enter", "j", "j", "j", "l")
	s.wantText("│ tool:read notes.txt ++ tool:read missing.txt")
	s.press("h")
	s.wantNoText("│ tool:read notes.txt")
	s.press("q") // out of the detail
	s.press("|", "|", "|")
	s.wantNoText(" tree ")
	s.press("|")
	s.press("j", "y", "y")
	s.loop(func() {
		if got := string(s.sim.GetClipboardData()); !strings.HasPrefix(got, `{"id":"req-1","type":"response"`) {
			t.Errorf("copied %q", got)
		}
	})
	s.press("Enter", "j", "j", "y", "v")
	s.loop(func() {
		if got := string(s.sim.GetClipboardData()); got != `"response"` {
			t.Errorf("copied the value %q", got)
		}
	})
	s.press("y", "p")
	s.loop(func() {
		if got := string(s.sim.GetClipboardData()); got != `.type` {
			t.Errorf("copied the path %q", got)
		}
	})
}

func TestJumps(t *testing.T) {
	s := start(t, "testdata/hang.jsonl", 80, 24, Options{Theme: "light"})
	s.press("o")
	if n := s.row(); n == 1 {
		t.Errorf("o stays at entry %d", n)
	}
	s.press("G", "O")
	if n := s.row(); n == 33 {
		t.Errorf("O stays at entry %d", n)
	}
	d := start(t, "testdata/dialogs.jsonl", 80, 24, Options{Theme: "light"})
	d.press("]")
	first := d.row()
	d.press("]")
	second := d.row()
	d.press("[")
	if first == 1 || second <= first || d.row() != first {
		t.Errorf("findings: %d, %d, back to %d", first, second, d.row())
	}
	d.press("4", "j", "j", "Enter")
	if n := d.row(); n == first || d.a.view != viewRecords {
		t.Errorf("Enter on a finding goes to entry %d of view %d", n, d.a.view)
	}
}

func TestWrite(t *testing.T) {
	s := tools(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "some.jsonl")
	s.press("f", "text:kind:response", "Enter", "w", "x")
	s.loop(func() { s.a.prompt.text = nil; s.a.prompt.at = 0 })
	s.press("text:"+path, "Enter")
	s.until("it is written", func() bool { return strings.HasPrefix(s.a.message, "wrote") })
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	if len(lines) != 2 || !strings.HasPrefix(lines[1], `{"from":"agent","off":0,"msg":{"id":"req-1"`) {
		t.Errorf("written was\n%s", b)
	}
	again, err := view.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
}

func TestChoose(t *testing.T) {
	s := tools(t)
	s.press("c")
	s.until("the list is there", func() bool { return s.a.overlay != nil })
	s.wantText("3 captures in testdata", "tools.jsonl", "hang.jsonl     cut", "~/project")
	s.press("G", "Enter")
	s.until("another capture is read", func() bool { return s.a.store.State().Done })
	s.loop(func() {
		if s.a.overlay != nil {
			t.Error("the list stays")
		}
	})
}

func TestMouse(t *testing.T) {
	s := tools(t)
	s.text()
	click := func(x, y int) {
		s.loop(func() { s.a.click(x, y, false) })
	}
	click(20, 5)
	s.wantRow(4)
	click(13, 0)
	s.wantText("run 1")
	click(2, 0)
	s.loop(func() { s.a.wheel(20, 5, 3) })
	s.text()
	s.loop(func() { s.a.wheel(20, 5, -3) })
	click(20, 25)
	s.loop(func() {
		if !s.a.focus {
			t.Error("a click on the detail does not give it the keys")
		}
	})
}

// TestEveryKey presses every key of the table in every view: none may hang or break the screen.
func TestEveryKey(t *testing.T) {
	s := start(t, "testdata/hang.jsonl", 60, 14, Options{Theme: "dark"})
	for view := range viewNames {
		for _, part := range keyTable() {
			for _, k := range part.keys {
				for _, name := range strings.Fields(k.keys) {
					if name == "q" || name == "Ctrl-C" || name == "c" {
						continue
					}
					s.press(string(rune('1'+view)), name)
					if name == "?" {
						s.wantText("Keys and words")
					}
					s.press("Esc", "Esc")
				}
			}
		}
	}
	s.press("Esc", "Esc", "1", "g")
	s.wantRow(1)
}

// TestKeyTable holds the table against the help and itself.
func TestKeyTable(t *testing.T) {
	seen := map[string]bool{}
	for _, part := range keyTable() {
		for _, k := range part.keys {
			if k.help == "" || k.run == nil {
				t.Errorf("%s has no help or does nothing", k.keys)
			}
			for _, name := range strings.Fields(k.keys) {
				if seen[name] {
					t.Errorf("%s is there twice", name)
				}
				seen[name] = true
			}
		}
	}
}

func TestQuit(t *testing.T) {
	for _, keys := range [][]string{{"q"}, {"Ctrl-C"}, {":", "q", "Enter"}} {
		s := start(t, "testdata/hang.jsonl", 80, 24, Options{})
		for _, k := range keys {
			if code, ok := keyCodes[k]; ok {
				s.sim.InjectKey(code, 0, 0)
			} else {
				s.sim.InjectKey(256, []rune(k)[0], 0)
			}
		}
		if err := <-s.end; err != nil {
			t.Error(err)
		}
		s.end <- nil
	}
}

func TestSentences(t *testing.T) {
	for _, c := range []struct {
		s    string
		rows int
		want string
	}{
		{"It waits. For what?", 2, "It waits. For what?"},
		{"It waits for an answer. Behind that, nothing at all is open.", 2, "It waits for an|answer. Behind that, nothing at all is open."},
		{"It waits for an answer that never comes. It does.", 2, "It waits for an|answer that never comes. It does."},
		{"Not too short. It waits for an answer.", 1, "Not too short. …"},
		{"a-word-that-is-longer-than-the-line", 2, "a-word-that-is-longer-than-the-line"},
		{"", 1, ""},
	} {
		if got := strings.Join(sentences(c.s, 20, c.rows), "|"); got != c.want {
			t.Errorf("%q in %d lines is %q, want %q", c.s, c.rows, got, c.want)
		}
	}
}

func TestHelp(t *testing.T) {
	s := tools(t)
	s.press("?")
	s.wantText("Keys and words", "records, a row each")
	s.press("G")
	s.wantText("a part of the capture that can't be read")
	s.press("?")
	s.wantNoText("Keys and words")
	s.press("?", "q")
	s.wantNoText("Keys and words")
	s.wantRow(1)
}

// TestNoCapture opens what is no capture: what it is stands on the screen, and keys do no harm.
func TestNoCapture(t *testing.T) {
	whole, err := os.ReadFile("testdata/tools.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, content, word, said string }{
		{"empty", "", " empty", "The file is empty"},
		{"text", "hello\n", " no capture", "This file is not a capture"},
		{"newer", `{"pitap":99}` + "\n", " newer", "A newer pitap wrote this"},
		{"head", string(whole[:20]), " cut", "stops within the header"},
		{"torn", string(whole[:5000]), " cut", "The recording was cut"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), c.name+".jsonl")
			if err := os.WriteFile(path, []byte(c.content), 0o600); err != nil {
				t.Fatal(err)
			}
			s := start(t, path, 100, 24, Options{Theme: "dark"})
			s.wantText(c.word+"\n", c.said)
			s.press("j", "G", "Enter", "Tab", "p", "o", "]", "z", "d", "y", "y", "Esc", "2", "3", "+", "4", "5", "6")
			s.wantText(c.said, "state")
		})
	}
}
