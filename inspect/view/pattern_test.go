package view

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestPattern holds the quick ways to find against the slow one.
func TestPattern(t *testing.T) {
	lines := []string{`{"type":"prompt","message":"An Übel, ÜBER uns"}`, "ПРИВЕТ, Мир", "straße STRASSE", "Kelvin \u212a and long \u017f", "xxyyzzq", "Error: warning",
		"no digits here", "12345zz", "aa\xff\xfebb", "日本語 Text", "İstanbul ıi", "", "tool_execution_start zzz", "the end"}
	text := strings.Join(lines, "\n") + "\n"
	for _, c := range []struct {
		source string
		regexp bool
	}{
		{"über", false}, {"BER", false}, {"привет", false}, {"мир", false}, {"straße", false}, {"kelvin", false}, {"日本語 text", false}, {"日本", false},
		{"x+y+z+q", true}, {`(error|warning): w`, true}, {`(foo|bar)`, true}, {`\d{5}zz`, true}, {`sta\w+t`, true}, {`[kK]elvin`, true}, {"über", true},
		{`tool.*zzz`, true}, {`(?i)STRASSE`, true}, {`a*b`, true}, {"(abc)?zzq", true}, {"и", false}, {"", false}, {"long s", true}, {"Ü", false}, {"e", false},
	} {
		p, err := NewPattern(c.source, c.regexp)
		if err != nil {
			t.Fatal(err)
		}
		source := c.source
		if !c.regexp {
			source = regexp.QuoteMeta(source)
		}
		if strings.ToLower(source) == source {
			source = "(?i)" + source
		}
		want := -1
		if m := regexp.MustCompile(source).FindStringIndex(text); m != nil {
			want = m[0]
		}
		got, _ := p.next([]byte(text), p.dfa())
		if lineOf(text, got) != lineOf(text, want) {
			t.Errorf("%q (expression %v): found in line %d, want %d", c.source, c.regexp, lineOf(text, got), lineOf(text, want))
		}
		for _, l := range lines {
			m := regexp.MustCompile(source).FindStringIndex(l)
			start, end := p.find([]byte(l))
			if m == nil && start >= 0 || m != nil && (start != m[0] || end != m[1]) {
				t.Errorf("%q in %q: found at %d to %d, want %v", c.source, l, start, end, m)
			}
		}
	}
}

// FuzzPattern holds what the quick ways leave out against what package regexp finds.
func FuzzPattern(f *testing.F) {
	for _, s := range []string{"x+y+z", "(error|warning): z", "größe", `\d{3}|a\b`, "^a$", "[^x]é+", "(?i)kS", `\pL\d`, "a?", "(a|b|)c"} {
		f.Add(s, "xxyyz\nerror: z GRÖSSE größe\n123 abc\na\nké \u212aſ \xff1\n", true)
		f.Add(s, "xxyyz\nerror: z GRÖSSE größe\n123 abc\na\nké \u212aſ \xff1\n", false)
	}
	f.Fuzz(func(t *testing.T, source, text string, isRegexp bool) {
		if len(source) > 200 || len(text) > 2000 {
			return
		}
		p, err := NewPattern(source, isRegexp)
		if err != nil {
			return
		}
		slow := source
		if !isRegexp {
			slow = regexp.QuoteMeta(source)
		}
		if p.fold {
			slow = "(?i)" + slow
		}
		re, err := regexp.Compile(slow)
		if err != nil || !utf8.ValidString(source) {
			return
		}
		d := p.dfa()
		for line := range strings.SplitSeq(text, "\n") {
			b := []byte(line)
			start, _ := p.next(b, d)
			if isRegexp && re.Match(b[headOf(b):]) && len(b) > 0 && start < 0 {
				t.Errorf("%q is not found in %q", source, line)
			}
			if !isRegexp && !strings.ContainsAny(line+source, "\u212a\u017f") && re.Match(b) != (start >= 0) {
				t.Errorf("text %q in %q: found is %v", source, line, start >= 0)
			}
		}
	})
}

func lineOf(text string, at int) int {
	if at < 0 {
		return -1
	}
	return strings.Count(text[:at], "\n")
}

// BenchmarkPattern searches text that does not hold what is looked for, which is the slowest.
func BenchmarkPattern(b *testing.B) {
	var raw []byte
	for i := range 4000 {
		raw = fmt.Appendf(raw, `{"n":%d,"t":%d,"from":"agent","off":%d,"msg":{"type":"message_update","assistantMessageEvent":{"type":"text_delta","contentIndex":0,"delta":"the quick brown fox is in its essence"}}}`+"\n", i, i*1000, i*300)
	}
	for _, c := range []struct {
		name, source string
		regexp       bool
	}{
		{"text", "nosuchword", false}, {"common", "essence tonne", false}, {"beyond-ascii", "größe", false}, {"literal-in-regexp", `tool_\w+zzz`, true},
		{"letters", "x+y+z+q", true}, {"alternatives", "(error|warning): z", true}, {"no-literal", `[aeiou]{6}`, true}, {"anchored", `^\{"zzz`, true},
	} {
		b.Run(c.name, func(b *testing.B) {
			p, err := NewPattern(c.source, c.regexp)
			if err != nil {
				b.Fatal(err)
			}
			d := p.dfa()
			b.SetBytes(int64(len(raw)))
			for b.Loop() {
				if at, _ := p.next(raw, d); at >= 0 {
					b.Fatalf("found at %d", at)
				}
			}
		})
	}
}
