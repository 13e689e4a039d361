package text

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"runtime"
	"strings"
	"testing"
)

func TestPretty(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"object", `{"a":1,"b":[true,null],"c":{}}`, "{\n  \"a\": 1,\n  \"b\": [\n    true,\n    null\n  ],\n  \"c\": {}\n}\n"},
		{"white space", " { \"a\" :\t[ ] , \"b\":{\r\n} }\n", "{\n  \"a\": [],\n  \"b\": {}\n}\n"},
		{"kept as it is", `[1.50e2,12345678901234567890,1e400,-0,"\u202e\ud800\/"]`,
			"[\n  1.50e2,\n  12345678901234567890,\n  1e400,\n  -0,\n  \"\\u202e\\ud800\\/\"\n]\n"},
		{"duplicate keys", `{"b":1,"a":2,"b":3}`, "{\n  \"b\": 1,\n  \"a\": 2,\n  \"b\": 3\n}\n"},
		{"scalars", `"x"`, "\"x\"\n"},
		{"quotes in strings", `["a\"b\\","]"]`, "[\n  \"a\\\"b\\\\\",\n  \"]\"\n]\n"},
		{"hostile strings", "[\"\u202e\x1b[2J\u2028\u009b\xff\"]", "[\n  \"⟨U+202E⟩␛[2J⟨U+2028⟩⟨U+009B⟩⟨ff⟩\"\n]\n"},
		{"mark joins no quote", "{\"\u0301a\":\"\u0301\"}", "{\n  \"⟨U+0301⟩a\": \"⟨U+0301⟩\"\n}\n"},
		{"empty", "", "\n"},
		{"not json", "hello \x1b[31m {\"a\":1}", "hello ␛[31m {\"a\":1}\n"},
		{"not json, white space first", "  at line 3\r", "  at line 3␍\n"},
		{"json, then not", `{"a":1} hello`, "{\n  \"a\": 1\n}\n hello\n"},
		{"not json inside", `{"a":nope,"b":1}`, "{\n  \"a\": nope,\"b\":1}\n"},
		{"not json inside, cjk", `[日本,1]`, "[\n  日本,1]\n"},
		{"bad numbers", `[01]`, "[\n  01]\n"},
		{"ends early", `{"a":[1,"x`, "{\n  \"a\": [\n    1,\n    \"x\n"},
		{"wrong bracket", `[1}`, "[\n  1\n  }\n"},
		{"comma too many", `[1,]`, "[\n  1,\n  ]\n"},
		{"no key", `{1:2}`, "{\n  1:2}\n"},
		{"two values", `1 2`, "1\n 2\n"},
		{"bom", "\ufeff{}", "⟨U+FEFF⟩{}\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := pretty(t, c.in, PrettyOptions{}); got != c.want {
				t.Errorf("%+q:\n%s\nwant\n%s", c.in, got, c.want)
			}
		})
	}
}

func TestPrettyOptions(t *testing.T) {
	in := `{"a":["x",1,true,{"b":[[0]]}]} ?`
	want := "| {\n|     \x1b[34m\"a\"\x1b[39m: [\n|         \x1b[32m\"x\"\x1b[39m,\n|         \x1b[36m1\x1b[39m,\n" +
		"|         \x1b[35mtrue\x1b[39m,\n|         {\n|         \x1b[34m\"b\"\x1b[39m: [\n|         [\n|         \x1b[36m0\x1b[39m\n" +
		"|         ]\n|         ]\n|         }\n|     ]\n| }\n| \x1b[31m ?\x1b[39m\n"
	got := pretty(t, in, PrettyOptions{Palette: Palette{Enabled: true}, Prefix: "| ", Indent: 4, Levels: 2})
	if got != want {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
	if got := pretty(t, "just text", PrettyOptions{Palette: Palette{Enabled: true}}); got != "just text\n" {
		t.Errorf("text was coloured: %q", got)
	}
}

func TestPrettyStopsAtAnError(t *testing.T) {
	boom := errors.New("boom")
	w := &failing{left: 3, err: boom}
	err := Pretty(w, []byte("["+strings.Repeat(`"x",`, 1<<20)), PrettyOptions{})
	if err != boom || w.calls != 4 {
		t.Errorf("error %v after %d writes, want boom after 4", err, w.calls)
	}
}

// failing is a writer that fails after some calls.
type failing struct {
	left, calls int
	err         error
}

func (f *failing) Write(p []byte) (int, error) {
	if f.calls++; f.calls > f.left {
		return 0, f.err
	}
	return len(p), nil
}

// A huge, deep or hostile record is written with little memory.
func TestPrettyHuge(t *testing.T) {
	for _, c := range []struct {
		name, head, unit string
		size             int // of all units together
		tail             string
	}{
		{"string", `{"a":"`, "x", 64 << 20, `"}`},
		{"hostile", `{"a":"`, "\u202e\x1b", 1 << 20, `"}`},
		{"backslashes", `["`, `\\`, 8 << 20, `"]`},
		{"quotes", `["`, `\"`, 8 << 20, `"]`},
		{"white space", `[`, " ", 64 << 20, ""},
		{"number", "", "1", 8 << 20, ""},
		{"text", "?", "a\n", 4 << 20, ""},
		{"members", "[", "1,", 1 << 20, "1]"},
		{"deep", "", `{"a":[`, 6 * 50_000, strings.Repeat("]}", 50_000)},
		{"deeper", "", "[", 1 << 20, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			msg := []byte(c.head + strings.Repeat(c.unit, c.size/len(c.unit)) + c.tail)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if err := Pretty(io.Discard, msg, PrettyOptions{}); err != nil {
				t.Fatal(err)
			}
			runtime.ReadMemStats(&after)
			if got := after.TotalAlloc - before.TotalAlloc; got > 4<<20 {
				t.Errorf("%d bytes of memory for %d", got, len(msg))
			}
		})
	}
}

func TestCompact(t *testing.T) {
	for _, c := range []struct {
		in   string
		max  int
		want string
	}{
		{`{"a":1}`, 100, `{"a":1}`},
		{" { \"a\" : [ 1 , \"x y\" ] }\r\n", 100, `{"a":[1,"x y"]}`},
		{`{"a":1}`, 7, `{"a":1}`},
		{`{"a":1}`, 6, `{"a…`},
		{`{"a":1}`, 3, `…`},
		{`{"a":1}`, 2, ``},
		{`{"a":1}`, 0, ``},
		{`{"a":1}`, -5, ``},
		{`1`, -70, ``},
		{`{"a":1}`, math.MaxInt, `{"a":1}`},
		{``, 10, ``},
		{"{\"a\":\"\u202e\"}", 100, `{"a":"⟨U+202E⟩"}`},
		{"\"日本語\"", 11, "\"日本語\""},
		{"\"日本語\"", 10, "\"日本…"},
		{"\"日本語x\"", 9, "\"日…"},
		{"\"\xff\xff\"", 14, "\"⟨ff⟩…"},
		{"\"\u0301\"", 100, "\"⟨U+0301⟩\""},
		{"hello  world\x1b", 100, "hello  world␛"},
		{`{"a":1}  hello`, 100, `{"a":1}  hello`},
		{`[1, 2, x  y]`, 100, `[1,2, x  y]`},
		{`{"a":"` + strings.Repeat("日", 1000), 20, `{"a":"日日日…`},
		{strings.Repeat(" ", 10_000) + `{"a":1}`, 20, `…`},
	} {
		if got := string(Compact([]byte("> "), []byte(c.in), c.max)); got != "> "+c.want {
			t.Errorf("Compact(%+q, %d) = %+q, want %+q", c.in, c.max, got, "> "+c.want)
		}
	}
}

func pretty(t *testing.T, in string, opt PrettyOptions) string {
	t.Helper()
	var b bytes.Buffer
	if err := Pretty(&b, []byte(in), opt); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

var jsonSeeds = []string{
	`{"a":[1,-2.5e+3,"x\"\\\u0000",true,false,null,{},[]],"a":{"b":{}}}`, `[[[[[`, `{"a":`, `"\`, `"\"`, "[\"\u202e\xff\"]",
	`nullx`, `-`, `1.`, `1e`, `{"a" "b"}`, `[1 2]`, "\u0301", `]`, `{"日本":"👨‍👩‍👧‍👦"}`,
}

func FuzzPretty(f *testing.F) {
	for _, s := range jsonSeeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		out := pretty(t, string(in), PrettyOptions{})
		checkSafe(t, strings.ReplaceAll(out, "\n", ""))
		apart := bytes.ReplaceAll(in, []byte(`"`), []byte("\"\n")) // no mark joins a quote
		if !json.Valid(in) || string(Visible(nil, apart)) != strings.ReplaceAll(string(apart), "\n", "␊") {
			return
		}
		var want, got bytes.Buffer
		if err := json.Compact(&want, in); err != nil {
			t.Skip() // deeper than encoding/json goes
		}
		if err := json.Compact(&got, []byte(out)); err != nil {
			t.Fatalf("%q became\n%s\nwhich is no JSON: %v", in, out, err)
		}
		if c := Compact(nil, in, len(in)); string(c) != want.String() {
			t.Fatalf("compact %q, want %q", c, want.String())
		}
	})
}

func FuzzCompact(f *testing.F) {
	for _, s := range jsonSeeds {
		f.Add([]byte(s), 7)
	}
	f.Fuzz(func(t *testing.T, in []byte, limit int) {
		limit %= 1000
		out := Compact(nil, in, limit)
		checkSafe(t, string(out))
		if len(out) > max(limit, 0) {
			t.Fatalf("%d bytes, limit %d", len(out), limit)
		}
	})
}

func BenchmarkPretty(b *testing.B) {
	msg := []byte(`{"type":"message_update","message":{"role":"assistant","content":[` +
		strings.Repeat(`{"type":"text","text":"some words of a model, and a few more","n":12345,"ok":true},`, 10_000) + `{}]}}`)
	b.SetBytes(int64(len(msg)))
	for b.Loop() {
		if err := Pretty(io.Discard, msg, PrettyOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCompact(b *testing.B) {
	msg := []byte(`{"type":"message_update","message":"` + strings.Repeat("x", 64<<20) + `"}`)
	var dst []byte
	for b.Loop() {
		dst = Compact(dst[:0], msg, 200)
	}
}
