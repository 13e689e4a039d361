package text

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

func TestCutAndPad(t *testing.T) {
	for _, c := range []struct {
		in          string
		cells       int
		want        string
		left, right string // PadLeft, Pad
	}{
		{"hello", 5, "hello", "hello", "hello"},
		{"hello", 4, "hel…", "hel…", "hel…"},
		{"hello", 1, "…", "…", "…"},
		{"hello", 0, "", "", ""},
		{"hello", -1, "", "", ""},
		{"hi", 4, "hi", "  hi", "hi  "},
		{"", 2, "", "  ", "  "},
		{"日本語", 6, "日本語", "日本語", "日本語"},
		{"日本語", 5, "日本…", "日本…", "日本…"},
		{"日本語", 4, "日…", " 日…", "日… "},
		{"日本語", 1, "…", "…", "…"},
		{"a👨‍👩‍👧‍👦b", 4, "a👨‍👩‍👧‍👦b", "a👨‍👩‍👧‍👦b", "a👨‍👩‍👧‍👦b"},
		{"a👨‍👩‍👧‍👦b", 3, "a…", " a…", "a… "},
		{"🇩🇪🇫🇷", 3, "🇩🇪…", "🇩🇪…", "🇩🇪…"},
		{"ne\u0301e\u0301n", 3, "ne\u0301…", "ne\u0301…", "ne\u0301…"},
		{"ab\u202ecd", 10, "ab…", "       ab…", "ab…       "}, // the mark would fit, an ellipsis behind it not
		{"ab\u202ecd", 7, "ab…", "    ab…", "ab…    "},
		{"\x1b[2J", 3, "␛[…", "␛[…", "␛[…"},
		{"\xff\xff", 8, "⟨ff⟩⟨ff⟩", "⟨ff⟩⟨ff⟩", "⟨ff⟩⟨ff⟩"},
		{"\xff\xff", 7, "⟨ff⟩…", "  ⟨ff⟩…", "⟨ff⟩…  "},
	} {
		if got := Cut(c.in, c.cells); got != c.want {
			t.Errorf("Cut(%+q, %d) = %+q, want %+q", c.in, c.cells, got, c.want)
		}
		if got := Cut([]byte(c.in), c.cells); got != c.want {
			t.Errorf("Cut of bytes (%+q, %d) = %+q, want %+q", c.in, c.cells, got, c.want)
		}
		if got := PadLeft(c.in, c.cells); got != c.left {
			t.Errorf("PadLeft(%+q, %d) = %+q, want %+q", c.in, c.cells, got, c.left)
		}
		if got := Pad(c.in, c.cells); got != c.right {
			t.Errorf("Pad(%+q, %d) = %+q, want %+q", c.in, c.cells, got, c.right)
		}
	}
}

// Cut of a huge text takes no longer than that of a small one, whatever the text is made of.
func TestCutReadsLittle(t *testing.T) {
	for _, s := range []string{"a", "日", "\u0301", "\u200d", "👩\u200d", "\xff", "\x00", "🇩", "e\u0301", "\u1100", " "} {
		huge := strings.Repeat(s, 16<<20/len(s))
		for range 2_000 { // reading it all each time would take minutes
			Cut(huge, 80)
		}
		if got, want := Cut(huge, 80), Cut(huge[:len(s)*2000], 80); got != want {
			t.Errorf("many %+q: %+q, of a part of them %+q", s, got, want)
		}
	}
}

// Clusters are those of annex 29 wherever the text is well formed.
func TestNeverSplitsACluster(t *testing.T) {
	for _, c := range cells {
		if c.in != c.want || c.name == "leading jamo twice" {
			continue
		}
		whole := map[string]bool{}
		g := uniseg.NewGraphemes(c.in)
		for g.Next() {
			_, to := g.Positions()
			whole[c.in[:to]] = true
		}
		for n := 2; n < c.width; n++ {
			got := strings.TrimSuffix(Cut(c.in, n), Ellipsis)
			if got != "" && !whole[got] {
				t.Errorf("Cut(%+q, %d) splits a cluster: %+q", c.in, n, got)
			}
		}
	}
}

func FuzzCut(f *testing.F) {
	for _, c := range cells {
		f.Add([]byte(c.in), 5)
	}
	f.Fuzz(func(t *testing.T, in []byte, n int) {
		n = n % 300
		got := Cut(in, n)
		checkSafe(t, got)
		if w := Width(got); w > max(n, 0) {
			t.Fatalf("Cut(%+q, %d) is %d wide: %+q", in, n, w, got)
		}
		full := string(Visible(nil, in))
		if Width(full) <= n && got != full {
			t.Fatalf("Cut(%+q, %d) = %+q, but all of it fits", in, n, got)
		}
		if n > 0 && got != full && (!strings.HasSuffix(got, Ellipsis) || !strings.HasPrefix(full, strings.TrimSuffix(got, Ellipsis))) {
			t.Fatalf("Cut(%+q, %d) = %+q", in, n, got)
		}
		if p := Pad(in, n); Width(p) != max(n, 0) || !utf8.ValidString(p) {
			t.Fatalf("Pad(%+q, %d) = %+q", in, n, p)
		}
	})
}

func BenchmarkCut(b *testing.B) {
	huge := []byte(strings.Repeat(`{"type":"message_update"}`, 64<<20/25))
	for b.Loop() {
		Cut(huge, 80)
	}
}

func BenchmarkWidthCJK(b *testing.B) {
	s := strings.Repeat("日本語の文章はこのように書かれます。", 1000)
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		Width(s)
	}
}
