package tui

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWordsAreWhole reads what the program says at 80 columns: nothing of it may be cut.
func TestWordsAreWhole(t *testing.T) {
	s := start(t, "testdata/tools.jsonl", 80, 24, Options{Theme: "none"})
	for _, c := range []struct {
		keys []string
		want []string
	}{
		{[]string{"w"}, []string{"shown as a fixture\n"}},
		{[]string{"Esc", "f"}, []string{"is:open word; ? explains\n", "filter:\n"}},
		{[]string{"text:is:xyz", "Enter"}, []string{"marked, not \"xyz\"", "filter: is:xyz\n"}},
		{[]string{"Backspace"}, []string{"filter: is:xy\n"}},
		{[]string{"Esc", ":", "text:jq .[", "Enter"}, []string{"\njq: unexpected EOF"}},
		{[]string{":", "text:99999", "Enter"}, []string{"there is no entry 99999; the last is 201"}},
		{[]string{":", "text:0", "Enter"}, []string{"there is no entry 0; the first is 1"}},
		{[]string{"y", "y"}, []string{"sent the record, 590B, to the terminal (OSC 52)", "w writes it to a file"}},
		{[]string{"?"}, []string{"Keys and words"}},
	} {
		s.press(c.keys...)
		s.wantText(c.want...)
	}
}

// TestMatches counts what a search finds, and says as long as it is on that it is.
func TestMatches(t *testing.T) {
	s := start(t, "testdata/tools.jsonl", 80, 24, Options{Theme: "none"})
	s.press("/", "text:enoent")
	s.until("the matches are counted", func() bool { return s.a.matchWords() == "match 1 of 5" })
	s.wantText("/enoent  match 1 of 5\n")
	s.press("Enter")
	s.wantText("/enoent match 1 of 5 ")
	s.press("n")
	s.wantText("/enoent match 2 of 5 ")
	s.press("g")
	s.wantText("/enoent 5 matches ")
	s.press("f", "text:from:client", "Enter")
	s.until("they are counted anew", func() bool { return s.a.matchWords() != "5 matches" && s.a.matches.stop == nil })
	s.wantNoText("5 matches")
	s.press("Esc", "Esc")
	s.wantNoText("/enoent")
}

// TestOverwrite writes to a file that is there already.
func TestOverwrite(t *testing.T) {
	s := start(t, "testdata/tools.jsonl", 80, 24, Options{Theme: "none"})
	home := t.TempDir()
	t.Setenv("HOME", home)
	path := filepath.Join(home, "some.json")
	if err := os.WriteFile(path, []byte(strings.Repeat("what was there ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	ask := func() {
		s.press("w", "b")
		s.loop(func() { s.a.prompt.text = nil; s.a.prompt.at = 0 })
		s.press("text:~/some.json", "Enter")
		s.wantText("~/some.json exists: o overwrites it, e edits the name")
	}
	ask()
	s.press("x")
	if b, _ := os.ReadFile(path); !strings.HasPrefix(string(b), "what was there") {
		t.Errorf("it was overwritten: %.50q", b)
	}
	ask()
	s.press("e")
	s.wantText("write to: ~/some.json\n")
	s.press("Esc")
	ask()
	s.press("o")
	s.wantText("wrote 1 entry to ")
	if b, _ := os.ReadFile(path); !strings.HasPrefix(string(b), `{"id":"req-1"`) || len(b) > 700 {
		t.Errorf("written was %.50q, %d bytes", b, len(b))
	}
	s.press("w", "b")
	s.loop(func() { s.a.prompt.text = nil; s.a.prompt.at = 0 })
	s.press("text:/no/such/folder/x", "Enter")
	s.wantText("no such file or directory", "write to: /no/such/folder/x")
}

// TestTakenOfABlock filters within a block: the row counts what the filter takes.
func TestTakenOfABlock(t *testing.T) {
	s := start(t, "testdata/hang.jsonl", 80, 24, Options{Theme: "none"})
	s.press("g")
	s.wantText("text ×20")
	s.press("f", "text:word7 or word8 or word9", "Enter")
	s.wantText("4 of 33", "×4/20", "the filter takes 4")
}

// TestBeside keeps the time of rows beside the detail at 80 columns.
func TestBeside(t *testing.T) {
	s := start(t, "testdata/tools.jsonl", 80, 24, Options{Theme: "none"})
	s.press("|", "|")
	s.wantText("detail beside", "◆   2 0.989 ← response:prom")
}
