package text

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// cells lists texts with what is shown for them and how wide that is.
var cells = []struct {
	name, in, want string
	width          int
}{
	{"ascii", "hello, world ~", "hello, world ~", 14},
	{"empty", "", "", 0},
	{"colour escape", "\x1b[31mred\x1b[0m", "␛[31mred␛[0m", 12},
	{"title escape", "\x1b]0;x\a", "␛]0;x␇", 6},
	{"line ends", "a\r\nb\tc\x00", "a␍␊b␉c␀", 7},
	{"delete", "a\x7f", "a␡", 2},
	{"c1 csi", "\u009b31m", "⟨U+009B⟩31m", 11},
	{"next line", "\u0085", "⟨U+0085⟩", 8},
	{"not utf-8", "a\xff\xc3(\xed\xa0\x80", "a⟨ff⟩⟨c3⟩(⟨ed⟩⟨a0⟩⟨80⟩", 22},
	{"cut character", "日\xe6\x97", "日⟨e6⟩⟨97⟩", 10},
	{"overlong", "\xc0\x9b", "⟨c0⟩⟨9b⟩", 8},
	{"bidi override", "a\u202eb\u202c", "a⟨U+202E⟩b⟨U+202C⟩", 18},
	{"bidi isolates", "\u2066\u2069\u200e\u200f\u061c", "⟨U+2066⟩⟨U+2069⟩⟨U+200E⟩⟨U+200F⟩⟨U+061C⟩", 40},
	{"separators", "\u2028\u2029", "⟨U+2028⟩⟨U+2029⟩", 16},
	{"zero width", "a\u200bb\u200cc\u200dd\ufeff", "a⟨U+200B⟩b⟨U+200C⟩c⟨U+200D⟩d⟨U+FEFF⟩", 36},
	{"invisible", "\u00ad\u2060\u2064\u034f\u3164\u115f\u180e", "⟨U+00AD⟩⟨U+2060⟩⟨U+2064⟩⟨U+034F⟩⟨U+3164⟩⟨U+115F⟩⟨U+180E⟩", 56},
	{"tags", "x\U000e0041\U000e007f", "x⟨U+E0041⟩⟨U+E007F⟩", 19},
	{"private, unassigned, none", "\ue0b0\u0378\ufdd0\U0010ffff", "⟨U+E0B0⟩⟨U+0378⟩⟨U+FDD0⟩⟨U+10FFFF⟩", 34},
	{"replacement character", "\ufffd", "\ufffd", 1},
	{"cjk", "日本語 한국어", "日本語 한국어", 13},
	{"fullwidth and halfwidth", "Ａｱ", "Ａｱ", 3},
	{"halfwidth voicing", "ﾊﾟ", "ﾊﾟ", 2},
	{"jamo", "\u1112\u1161\u11ab", "\u1112\u1161\u11ab", 2},
	{"syllable and trailing jamo", "\uac00\u11a8", "\uac00\u11a8", 2},
	{"leading jamo twice", "\u1100\u1100\u1161", "\u1100\u1100\u1161", 4},
	{"stray jamo", "a\u1161\u11a8", "a⟨U+1161⟩⟨U+11A8⟩", 17},
	{"accents", "e\u0301a\u0308\u0323", "e\u0301a\u0308\u0323", 2},
	{"accent on cjk", "か\u3099", "か\u3099", 2},
	{"accent without base", "\u0301a", "⟨U+0301⟩a", 9},
	{"accent on a control", "\n\u0301", "␊⟨U+0301⟩", 9},
	{"thai", "ที่นี่น้ำ", "ที่นี่น้ำ", 4},
	{"devanagari", "\u0915\u093f", "\u0915\u093f", 2},
	{"zalgo", "Z" + strings.Repeat("\u0334", 8), "Z" + strings.Repeat("\u0334", 6) + "⟨U+0334⟩⟨U+0334⟩", 17},
	{"hebrew and arabic", "שלום سلام", "שלום سلام", 9},
	{"emoji", "😀👍", "😀👍", 4},
	{"skin tone", "👍🏽", "👍🏽", 2},
	{"skin tone without emoji", "a🏽", "a⟨U+1F3FD⟩", 10},
	{"two skin tones", "👍🏽🏽", "👍🏽⟨U+1F3FD⟩", 11},
	{"family", "👨‍👩‍👧‍👦!", "👨‍👩‍👧‍👦!", 3},
	{"kiss", "👩🏽\u200d❤\ufe0f\u200d💋\u200d👨🏿", "👩🏽\u200d❤\ufe0f\u200d💋\u200d👨🏿", 2},
	{"joiner at the end", "👨\u200d", "👨⟨U+200D⟩", 10},
	{"joiner to a letter", "👨\u200da", "👨⟨U+200D⟩a", 11},
	{"endless family", strings.Repeat("👩\u200d", 6) + "👩", "👩‍👩‍👩‍👩‍👩⟨U+200D⟩👩‍👩", 12},
	{"heart as emoji and as text", "❤❤\ufe0f⌚\ufe0e", "❤❤\ufe0f⌚\ufe0e", 4},
	{"keycap", "1\ufe0f\u20e3#\u20e3", "1\ufe0f\u20e3#\u20e3", 2},
	{"selectors elsewhere", "a\ufe0f1\ufe0fb\ufe00\U000e0100", "a⟨U+FE0F⟩1⟨U+FE0F⟩b⟨U+FE00⟩⟨U+E0100⟩", 36},
	{"flags", "🇩🇪🇫🇷", "🇩🇪🇫🇷", 4},
	{"half a flag", "🇩🇪🇫", "🇩🇪⟨U+1F1EB⟩", 11},
	{"half a flag and a letter", "🇫x", "⟨U+1F1EB⟩x", 10},
	{"flag with tags", "🏴\U000e0067", "🏴⟨U+E0067⟩", 11},
	{"arabic number sign", "\u0600", "⟨U+0600⟩", 8},
	{"long dashes", "⸺⸻", "⸺⸻", 2},
}

func TestVisibleAndWidth(t *testing.T) {
	for _, c := range cells {
		t.Run(c.name, func(t *testing.T) {
			if got := string(Visible([]byte("x"), []byte(c.in))); got != "x"+c.want {
				t.Errorf("Visible(%+q) = %+q, want %+q", c.in, got, "x"+c.want)
			}
			if got := VisibleString(c.in); got != c.want {
				t.Errorf("VisibleString(%+q) = %+q, want %+q", c.in, got, c.want)
			}
			if got := VisibleString(c.want); got != c.want {
				t.Errorf("visible text %+q became %+q", c.want, got)
			}
			if got := Width(c.in); got != c.width {
				t.Errorf("Width(%+q) = %d, want %d", c.in, got, c.width)
			}
			if got := Width([]byte(c.want)); got != c.width {
				t.Errorf("Width(%+q) = %d, want %d", c.want, got, c.width)
			}
		})
	}
}

// Every character there is (of planes without any, a few): alone, and behind a letter, it is either unchanged or a mark, never lost, never raw when
// it must not be.
func TestEveryRune(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		empty := r >= 0x33480 && r < 0xe0000 || r >= 0xe0200
		if r >= 0xd800 && r < 0xe000 || empty && r%0x400 > 2 && r%0x10000 < 0xfffe {
			continue
		}
		in := string(r) + "a" + string(r) + "b"
		got := VisibleString(in)
		checkSafe(t, got)
		if utf8.RuneCountInString(got) < utf8.RuneCountInString(in) {
			t.Fatalf("%U: %+q became %+q", r, in, got)
		}
		if simple(r) && (!unicode.IsGraphic(r) || unicode.Is(unicode.M, r) || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r)) {
			t.Fatalf("%U is taken for simple", r)
		}
		// U+2E3A and U+2E3B apart, uniseg's width is that of terminals for what can stand alone.
		if w, u := baseWidth(r), uniseg.StringWidth(string(r)); w != u && u != 0 && u < 3 {
			t.Fatalf("%U has width %d, want %d", r, w, u)
		}
	}
}

// The fast look at eight bytes agrees with the slow one, for every byte at every place.
func TestASCIIRun(t *testing.T) {
	for n := range 40 {
		for at := range n {
			for c := range 256 {
				s := []byte(strings.Repeat("~ ", 20))[:n]
				s[at] = byte(c)
				want := n
				if c < 0x20 || c > 0x7e {
					want = at
				}
				if got := asciiRun(s); got != want {
					t.Fatalf("byte %#x at %d of %d: run of %d, want %d", c, at, n, got, want)
				}
			}
		}
	}
}

// checkSafe fails when s could do anything to a terminal.
func checkSafe(t *testing.T, s string) {
	t.Helper()
	if !utf8.ValidString(s) {
		t.Fatalf("not UTF-8: %+q", s)
	}
	for i, r := range s {
		switch {
		case r == 0x200d:
			if i == 0 || !isPictograph(firstRune([]byte(s[i+3:]))) {
				t.Fatalf("lone joiner in %+q", s)
			}
		case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp, unicode.Bidi_Control,
			unicode.Noncharacter_Code_Point, unicode.Other_Default_Ignorable_Code_Point):
			t.Fatalf("%U in %+q", r, s)
		}
	}
}

func FuzzVisible(f *testing.F) {
	for _, c := range cells {
		f.Add([]byte(c.in), 3)
	}
	f.Fuzz(func(t *testing.T, in []byte, split int) {
		got := string(Visible(nil, in))
		checkSafe(t, got)
		if len(got) > 8*len(in) {
			t.Fatalf("%d bytes became %d", len(in), len(got))
		}
		if again := VisibleString(got); again != got {
			t.Fatalf("%+q became %+q", got, again)
		}
		if Width(in) != Width(got) {
			t.Fatalf("width of %+q is %d, but %d once visible", in, Width(in), Width(got))
		}
		var parts []byte // in pieces: the same
		for s := in; len(s) > 0; {
			var n int
			parts, n = appendVisible(parts, s, len(parts)+1+max(split%8, 0))
			s = s[n:]
		}
		if string(parts) != got {
			t.Fatalf("in pieces %+q, at once %+q", parts, got)
		}
	})
}

func BenchmarkVisible(b *testing.B) {
	for name, s := range map[string]string{
		"ascii":   `{"type":"message_update","delta":"some words of a model "}`,
		"german":  "Größe und Maß der Übung über alles, ",
		"cjk":     "日本語の文章はこのように書かれます。",
		"emoji":   "👨‍👩‍👧‍👦👍🏽🇩🇪",
		"hostile": "\x1b[31m\u202e\xff\u0301",
	} {
		in := []byte(strings.Repeat(s, 1<<20/len(s)))
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(in)))
			var dst []byte
			for b.Loop() {
				dst = Visible(dst[:0], in)
			}
		})
	}
}
