package inspect

import (
	"strings"
	"testing"
)

// results gives what a program makes of a capture, one result a line.
func results(t *testing.T, content []byte, program string, opt ShowOptions) (string, *Query) {
	t.Helper()
	q, err := ParseQuery(program)
	if err != nil {
		t.Fatal(err)
	}
	opt.Form, opt.Query = Results, q
	return show(t, content, opt), q
}

func TestQuery(t *testing.T) {
	content := capture(
		`{"n":1,"t":5,"from":"client","off":0,"flags":["framing/u2028"],"msg":{"type":"a","n":12345678901234567890,"f":1.50,"s":"x\u2028y"}}`,
		`{"n":2,"t":6,"note":"exit","code":0}`,
		`{"n":3,"t":7,"from":"agent","off":9,"text":"{\"type\":\"b\",\"s\":\"\\ud83d\"}"}`,
	)
	tests := []struct {
		program string
		want    string
	}{
		{".type", "\"a\"\n\"b\"\n"},
		{".n", "12345678901234567890\nnull\n"},
		{"[.f]", "[1.50]\n[null]\n"},
		{`select(.type == "a")`, `{"f":1.50,"n":12345678901234567890,"s":"x` + "\u2028" + `y","type":"a"}` + "\n"},
		{"$entry.n, $entry.from", "1\n\"client\"\n3\n\"agent\"\n"},
		{"$entry | keys", `["flags","from","n","off","t"]` + "\n" + `["from","n","off","t"]` + "\n"},
		{"empty", ""},
		{".type, halt, 1", "\"a\"\n"},
		{"env | length", "0\n0\n"},
	}
	for _, test := range tests {
		t.Run(test.program, func(t *testing.T) {
			got, q := results(t, content, test.program, ShowOptions{})
			if got != test.want || q.Errors > 0 || q.Skips() != "" {
				t.Errorf("gives %q, %d errors, %q; want %q", got, q.Errors, q.Skips(), test.want)
			}
		})
	}
}

func TestQueryStrings(t *testing.T) {
	content := capture(`{"from":"client","msg":{"type":"a\nb\u001b"}}`)
	if got, _ := results(t, content, ".type", ShowOptions{Strings: true}); got != "a\nb\x1b\n" {
		t.Errorf("gives %q", got)
	}
	if got, _ := results(t, content, ".type", ShowOptions{Strings: true, Terminal: true}); got != "a␊b␛\n" {
		t.Errorf("gives %q on a terminal", got)
	}
}

// TestQueryLeavesOut sees what a program is not given, and that this is said.
func TestQueryLeavesOut(t *testing.T) {
	deep := strings.Repeat("[", 3000) + strings.Repeat("]", 3000)
	content := capture(
		`{"n":1,"from":"client","text":"not json"}`,
		`{"n":2,"from":"client","text":"`+deep+`"}`,
		`{"n":3,"from":"stderr","text":"words"}`,
		`{"n":4,"from":"client","msg":{"type":"a"}}`,
		part(5, 100, strings.Repeat(" ", 1<<20), ""), part(6, 100+1<<20, "{}", `,"last":true`),
	)
	got, q := results(t, content, ".type?", ShowOptions{})
	if want := "\"a\"\nnull\n"; got != want {
		t.Errorf("gives %q, want %q", got, want)
	}
	if got, want := q.Skips(), "3 records not given to jq: 2 not JSON, 1 nested too deep"; got != want {
		t.Errorf("says %q, want %q", got, want)
	}
}

func TestQueryErrors(t *testing.T) {
	content := capture(`{"n":1,"from":"client","msg":[1]}`, `{"n":2,"from":"client","msg":{"type":"a"}}`)
	got, q := results(t, content, ".type", ShowOptions{})
	if got != "\"a\"\n" || q.Errors != 1 || !strings.HasPrefix(q.First[0].Error(), "entry 1: ") {
		t.Errorf("gives %q, %d errors: %v", got, q.Errors, q.First)
	}
	for _, program := range []string{".[", "nosuch", "$nosuch", "import \"a\" as a; 1"} {
		if _, err := ParseQuery(program); err == nil {
			t.Errorf("ParseQuery(%q) gives no error", program)
		}
	}
}
