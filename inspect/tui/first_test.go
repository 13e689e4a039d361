package tui

import (
	"strings"
	"testing"

	"github.com/gdamore/tcell/v2"
)

// TestFirstScreen reads the first screen as somebody would who has a problem: which session it is, what is wrong with it
// and where, what crossed last, and how to get help.
func TestFirstScreen(t *testing.T) {
	s := start(t, "testdata/dialogs.jsonl", 80, 24, Options{Theme: "none"})
	s.wantText("4 Findings 1!2?", "dialogs whole", "pi 1.6.0 · started by node", "? help\n",
		"→ prompt #164 42.0ms before the end\n", "the first error, dialog/wrong-id, is at entry 33; g goes to the beginning")
	s.wantRow(33)
	for _, l := range strings.Split(s.text(), "\n") {
		if strings.Contains(l, "33 1.46") && !strings.HasPrefix(l, " ! 33") || strings.Contains(l, "34 1.46") && !strings.HasPrefix(l, "   34") {
			t.Errorf("the row is %q", l)
		}
	}
	s.press("g")
	s.wantRow(1)
	s.wantNoText("the first error")

	s = start(t, "testdata/hang.jsonl", 80, 24, Options{Theme: "none"})
	s.wantRow(9)
	s.wantText("what was open at the end began at entry 9", "hang cut", "464ms at least.")
	s.wantNoText("Findings ?")

	s = start(t, "testdata/tools.jsonl", 80, 24, Options{Theme: "none"}) // nothing is wrong: it begins at the beginning
	s.wantRow(1)
	s = start(t, "testdata/dialogs.jsonl", 40, 10, Options{Theme: "none"})
	s.wantText("4Fi1!", "→ prompt 42.0ms │ ← agent_se… 35.0ms")
}

// TestKeysFirst moves before the capture is read: nothing takes the selection away then.
func TestKeysFirst(t *testing.T) {
	a, _ := still(t, "testdata/dialogs.jsonl", 80, 24)
	a.list.sel, a.untouched = 0, true
	a.key(tcell.NewEventKey(tcell.KeyRune, 'j', tcell.ModNone))
	at := a.list.sel
	a.Draw(a.screen)
	if a.list.sel != at {
		t.Errorf("the selection jumps from %d to %d", at, a.list.sel)
	}
}
