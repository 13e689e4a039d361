package scan

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func FuzzSkip(f *testing.F) {
	for _, s := range []string{`{"a":[1,{"b\"]":2}],"c\\":"x\\\"y","d":-1.5e3, "a" : null , "\u0065":true}`, `[1, "a]" ,{},[[]],-0.5]`, `"a\\"`, ` [ ] `, `12`, `{"a"`, `{"a":}`, `[,]`, `{"a":1 2}`, "\"\\"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 1000 {
			return
		}
		// Whatever the bytes, it comes to an end and stays within them.
		for i := 0; i <= len(b); i++ {
			if end := Skip(b, i); end < i || end > len(b) {
				t.Fatalf("%q at %d: %d", b, i, end)
			}
		}
		n := 0
		for w := WalkOver(b); w.Next(); n++ {
			if n > len(b) {
				t.Fatalf("%q: no end", b)
			}
		}
		start := skipBlank(b, 0)
		if start == len(b) || !Scan(b).JSON {
			return
		}
		b = b[start:]
		if end := Skip(b, 0); end != ValueEnd(b, 0) {
			t.Fatalf("%q: %d, want %d", b, end, ValueEnd(b, 0))
		}
		var got []string
		for w := WalkOver(b); w.Next(); {
			got = append(got, fmt.Sprintf("%s=%s", w.Key, w.Value))
		}
		if want := walked(b); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%q: %q, want %q", b, got, want)
		}
	})
}

// walked gives what a walk should find, the slow way.
func walked(b []byte) (found []string) {
	for ms := MembersOf(b); ms.Next(); {
		found = append(found, fmt.Sprintf("%s=%s", ms.Key, b[ms.Start:ms.End]))
	}
	for at := 1; b[0] == '['; {
		for blank[b[at]] || b[at] == ',' {
			at++
		}
		if b[at] == ']' {
			break
		}
		end := ValueEnd(b, at)
		found = append(found, fmt.Sprintf("=%s", b[at:end]))
		at = end
	}
	return found
}

// Many backslashes and quotes take no longer than their number.
func TestSkipLong(t *testing.T) {
	for _, text := range []string{`"` + strings.Repeat(`\"`, 2_000_000) + `"`, `"` + strings.Repeat(`\\`, 2_000_000) + `"`, `["` + strings.Repeat(`\\\"`, 1_000_000) + `"]`, strings.Repeat(`[`, 2_000_000) + strings.Repeat(`]`, 2_000_000)} {
		start := time.Now()
		if end := Skip([]byte(text), 0); end != len(text) {
			t.Errorf("%.20s: %d, want %d", text, end, len(text))
		}
		if took := time.Since(start); took > 3*time.Second {
			t.Errorf("%.20s took %v", text, took)
		}
	}
}
