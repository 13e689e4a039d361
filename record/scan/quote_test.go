package scan

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestUnquote(t *testing.T) {
	for _, test := range []struct {
		token, want string
		lossy       bool
	}{
		{`""`, "", false},
		{`"abc"`, "abc", false},
		{`"\"\\\/\b\f\n\r\t"`, "\"\\/\b\f\n\r\t", false},
		{`"\u00e9\u6F22\u0000"`, "é漢\x00", false},
		{`"\ud83d\ude00x"`, "😀x", false},
		{`"\ud83dx"`, "\ufffdx", true},
		{`"\ude00\ud83d"`, "\ufffd\ufffd", true},
		{`"\ud83d\ud83d\ude00"`, "\ufffd😀", true},
		{`"\ud83d\n"`, "\ufffd\n", true},
		{`"\ud83d\u00e9"`, "\ufffdé", true},
		{`"\ufffd"`, "\ufffd", false},
		{"\"a\xff\xfeb\\n\"", "a\ufffd\ufffdb\n", true},
		{"\"漢\"", "漢", false},
		// No JSON strings.
		{`abc`, "abc", true},
		{`"abc`, `"abc`, true},
		{`"`, `"`, true},
		{``, ``, true},
		{`"a\x41"`, `a\x41`, true},
		{`"a\u12"`, `a\u12`, true},
		{`"a\"`, `a\`, true},
	} {
		got, lossy := Unquote([]byte("before "), []byte(test.token))
		if string(got) != "before "+test.want || lossy != test.lossy {
			t.Errorf("Unquote(%q) = %q, %v; want %q, %v", test.token, got, lossy, test.want, test.lossy)
		}
	}
}

func TestAppendQuote(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"", `""`},
		{"plain text, long enough for words", `"plain text, long enough for words"`},
		{"\"\\/", `"\"\\/"`},
		{"\b\f\n\r\t\v\x00\x1f", `"\b\f\n\r\t\u000b\u0000\u001f"`},
		{"\x7f\u0080\u0085\u009f\u00a0", `"\u007f\u0080\u0085\u009f` + "\u00a0" + `"`},
		{"\u2027\u2028\u2029\u202a", `"` + "\u2027" + `\u2028\u2029` + "\u202a" + `"`},
		{"<é漢😀>&\ufeff\ufffd", `"<é漢😀>&` + "\ufeff\ufffd" + `"`},
		{"x\xff\xe2\x80", `"x\ufffd\ufffd\ufffd"`},
		{"\x1b]0;title\x07", `"\u001b]0;title\u0007"`},
	} {
		if got := string(AppendQuote([]byte("before "), []byte(test.text))); got != "before "+test.want {
			t.Errorf("AppendQuote(%q) = %s, want %s", test.text, got, test.want)
		}
	}
}

func FuzzQuote(f *testing.F) {
	f.Add([]byte("abc\"\\\x00\u2028é漢😀\u0085"))
	f.Add([]byte(strings.Repeat("漢字é", 9)))
	f.Add([]byte("\xff\xe2\x80"))
	f.Fuzz(func(t *testing.T, text []byte) {
		token := AppendQuote(nil, text)
		r := Scan(token)
		if !r.Valid || r.Marks&^(Replacement|Escaped) != 0 || r.Kind != KindString {
			t.Fatalf("%q is quoted as %s: %+v", text, token, r)
		}
		got, lossy := Unquote(nil, token)
		want := string([]rune(string(text)))
		if utf8.Valid(text) {
			want = string(text)
		}
		if string(got) != want || lossy {
			t.Fatalf("%q is quoted as %s, which is %q, lossy %v", text, token, got, lossy)
		}
		var std string
		if err := json.Unmarshal(token, &std); err != nil || std != want {
			t.Fatalf("%q is quoted as %s, which encoding/json reads as %q (%v)", text, token, std, err)
		}
	})
}

func FuzzUnquote(f *testing.F) {
	f.Add([]byte(`"\ud83d\ude00\ud83d\n"`))
	f.Add([]byte("\"a\xff\\"))
	f.Fuzz(func(t *testing.T, token []byte) {
		got, lossy := Unquote(nil, token)
		if !utf8.Valid(got) {
			t.Fatalf("%q becomes %q", token, got)
		}
		r := Scan(token)
		if r.JSON && r.Kind == KindString && token[0] == '"' && token[len(token)-1] == '"' {
			var want string
			if err := json.Unmarshal(token, &want); err != nil || string(got) != want {
				t.Fatalf("%q becomes %q, encoding/json says %q (%v)", token, got, want, err)
			}
			if lossy && !strings.Contains(want, "\ufffd") {
				t.Fatalf("%q becomes %q, which is said to lack something", token, got)
			}
		}
	})
}
