package tui

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/gdamore/tcell/v2"

	"pitap/inspect"
	"pitap/inspect/text"
	"pitap/record"
)

// still draws a capture without a loop, so that much can be drawn quickly.
func still(t testing.TB, path string, w, h int) (*app, tcell.SimulationScreen) {
	t.Helper()
	sim := tcell.NewSimulationScreen("UTF-8")
	a, err := newApp(Options{Screen: sim, Theme: "dark"})
	if err != nil {
		t.Fatal(err)
	}
	sim.SetSize(w, h)
	if err := a.open(path); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(patience)
	for !a.store.State().Done {
		select {
		case <-a.wake:
		case <-time.After(10 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			t.Fatal("the capture is not read")
		}
	}
	t.Cleanup(func() { a.store.Close(); a.workers.Wait(); sim.Fini() })
	return a, sim
}

// wantVisible looks at every cell: it must hold what a terminal only shows.
func wantVisible(t testing.TB, a *app, sim tcell.SimulationScreen) {
	t.Helper()
	a.Draw(sim)
	w, h := sim.Size()
	for y := range h {
		for x := range w {
			s, _, width := sim.Get(x, y)
			if len(s) == 1 && width == 1 && s[0] >= ' ' && s[0] <= '~' {
				continue
			}
			if !utf8.ValidString(s) || text.VisibleString(s) != s {
				t.Fatalf("cell %d,%d of view %d holds %q", x, y, a.view, s)
			}
			if x+width > w {
				t.Fatalf("cell %d,%d of view %d: %q is %d wide, beyond the edge", x, y, a.view, s, width)
			}
			if len(s) > 0 && text.Width(s) != width && s != " " {
				t.Fatalf("cell %d,%d: %q takes %d cells and should take %d", x, y, s, width, text.Width(s))
			}
		}
	}
}

// tour looks at a capture in every way.
func tour(t testing.TB, a *app, sim tcell.SimulationScreen) {
	rows := 0
	a.show(viewRecords)
	for at, ok := a.store.First(); ok && rows < 6; rows++ {
		a.list.sel, a.list.follow = at, false
		for range modeNames {
			a.mode(1)
			wantVisible(t, a, sim)
		}
		a.focus = true
		a.where = detailNone
		for range 4 {
			a.pane.fold(true, true)
			a.pane.cur++
			wantVisible(t, a, sim)
		}
		a.focus, a.where = false, detailAuto
		next, more := a.store.Next(at)
		if more && next <= at {
			t.Fatalf("the row behind %d is %d", at, next)
		}
		at, ok = next, more
	}
	for i := range viewNames {
		a.show(i)
		wantVisible(t, a, sim)
		a.foldAll()
		wantVisible(t, a, sim)
		a.end(1)
		wantVisible(t, a, sim)
	}
	a.show(viewRecords)
	a.end(-1)
	for _, source := range []string{".", "\u0301|e|語"} { // matches end within what is one character to a reader
		a.regexps = true
		a.setPattern(source)
		wantVisible(t, a, sim)
		wantColumns(t, a, sim)
	}
	a.pattern, a.regexps = nil, false
	a.mark()
	a.pending('a')
	a.pending = nil
	a.move(1)
	a.diff()
	wantVisible(t, a, sim)
	a.copyKey()
	for _, r := range "ypvn" {
		a.copyKey()
		a.pending(r)
		a.pending = nil
		wantVisible(t, a, sim)
	}
	a.chosen(a.store.Path, []*inspect.Listed{{Path: a.store.Path, Name: a.store.Title(), Folder: a.store.Title(), Label: a.store.Title()}}, 1, nil)
	wantVisible(t, a, sim)
	a.showHelp()
	wantVisible(t, a, sim)
	a.overlay = nil
}

// wantColumns looks whether the arrow of each row of the list stands below the one of the row above.
func wantColumns(t testing.TB, a *app, sim tcell.SimulationScreen) {
	t.Helper()
	at := -1
	list := a.shape.list
	for y := list.h - a.list.height; y < list.h; y++ {
		if n := y - (list.h - a.list.height); n >= len(a.list.drawn) {
			break
		}
		found := -1
		for x := 0; x < list.w && found < 0; x++ {
			if s, _, _ := sim.Get(list.x+x, list.y+y); s != "" && strings.Contains("→←!·×", s) {
				found = x
			}
		}
		if at >= 0 && found != at || found < 0 {
			t.Fatalf("the arrow of line %d is in column %d, above it in %d", y, found, at)
		}
		at = found
	}
}

// nasty is what somebody might send to whoever looks.
var nasty = []string{
	"\x1b]0;title\x07\x1b[2J", "\u202eevil\u2066", "[red::b]tag[-]", "[\"region\"]x[\"\"]", "a\u0301\u0302\u0303\u0304\u0305\u0306\u0307\u0308b",
	"👩‍👩‍👧‍👦🇩🇪👍🏽", "\u200b\u200d\ufeff", "日本語テキスト", "عربي עברית", "\x00\x01\x7f\x9b31m", "\xff\xfe\xf0\x28", "\u2028\u2029\u0085", "\U000e0041\ue000\uffff",
	"❤️1️⃣", "ก็ำ", "각", "\t\v\f", "\u0600123", "👍\u200d", "\ufe0f",
}

// entry appends a record as a recorder would write it.
func entry(dst []byte, n int64, from record.Stream, body []byte) []byte {
	e := &record.Entry{N: n, T: n * 1000, From: from, Form: record.Base64, Body: body, EOL: "\n"}
	if utf8.Valid(body) {
		e.Form = record.Text
		if bytes.HasPrefix(body, []byte("{")) && !bytes.ContainsAny(body, "\r\n") && !bytes.ContainsFunc(body, func(r rune) bool { return r < ' ' }) {
			e.Form = record.Msg
		}
	}
	return record.AppendEntry(dst, e)
}

// hostile makes a capture in which a text stands wherever texts stand.
func hostile(said []byte) []byte {
	quoted := string(bytes.Map(func(r rune) rune {
		if r < ' ' || r == '"' || r == '\\' {
			return -1
		}
		return r
	}, bytes.ToValidUTF8(said, nil)))
	h := record.Header{Pitap: 1, Argv: []string{"pi", quoted}, Cwd: quoted, Label: quoted, Host: quoted}
	h.Client.Name, h.Agent.Path, h.Agent.Version = quoted, quoted, quoted
	b := h.Encode()
	for i, body := range []string{
		string(said), `{"type":"prompt","id":"` + quoted + `","message":"` + quoted + `"}`, `{"type":"` + quoted + `"}`,
		`{"type":"response","command":"prompt","success":false,"error":"` + quoted + `"}`, `{"` + quoted + `":["` + quoted + `",{"x":"` + quoted + `"}]}`,
		`{"type":"agent_start"}`, `{"type":"turn_start"}`, `{"type":"message_start","message":{"role":"` + quoted + `","content":"` + quoted + `"}}`,
		`{"type":"message_update","assistantMessageEvent":{"type":"text_delta","contentIndex":0,"delta":"` + quoted + `"}}`,
		`{"type":"message_update","assistantMessageEvent":{"type":"text_delta","contentIndex":0,"delta":"` + quoted + `"}}`,
		`{"type":"message_end","message":{"role":"assistant","model":"` + quoted + `","content":[{"type":"text","text":"` + quoted + `"}],"errorMessage":"` + quoted + `"}}`,
		`{"type":"tool_execution_start","toolCallId":"` + quoted + `","toolName":"` + quoted + `","args":{"a":"` + quoted + `"}}`,
		`{"type":"extension_ui_request","id":"` + quoted + `","method":"select","title":"` + quoted + `","options":["` + quoted + `"]}`,
	} {
		from := record.Agent
		if i < 2 {
			from = record.Client
		}
		b = entry(b, int64(i+1), from, []byte(body))
	}
	b = entry(b, 20, record.Stderr, said)
	return append(b, `{"n":21,"t":30000,"note":"exit","error":"`+quoted+`","code":3}`+"\n"...)
}

func TestHostile(t *testing.T) {
	for i, s := range nasty {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			testHostile(t, i, s)
		})
	}
}

func testHostile(t *testing.T, i int, s string) {
	for _, size := range sizes {
		path := filepath.Join(t.TempDir(), "h.jsonl")
		if err := os.WriteFile(path, hostile([]byte(s+" "+s)), 0o600); err != nil {
			t.Fatal(err)
		}
		a, sim := still(t, path, size[0], size[1])
		tour(t, a, sim)
		if i == 2 { // tags are text
			a.show(viewProcess)
			a.Draw(sim)
			sim.Show()
			if said := dump(sim); !bytes.Contains([]byte(said), []byte("[red::b]tag[-]")) {
				t.Errorf("the tag is not on the screen:\n%s", said)
			}
		}
	}
}

func FuzzScreen(f *testing.F) {
	for _, s := range nasty {
		f.Add([]byte(s), false)
		f.Add(hostile([]byte(s)), true)
	}
	dir, err := os.MkdirTemp("", "screen")
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { os.RemoveAll(dir) })
	f.Fuzz(func(t *testing.T, b []byte, whole bool) {
		if len(b) > 64<<10 {
			return
		}
		path := filepath.Join(dir, "f.jsonl")
		if !whole {
			b = hostile(b)
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		a, sim := still(t, path, 50, 14)
		tour(t, a, sim)
	})
}
