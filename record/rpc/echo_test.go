package rpc

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"
	"time"

	"pitap/record/scan"
)

func TestAppendEcho(t *testing.T) {
	tests := []struct{ token, want string }{
		{`"req-1"`, `"req-1"`},
		{`""`, `""`},
		{`null`, `null`}, {`true`, `true`}, {`false`, `false`},
		{`0`, `0`}, {`-0`, `0`}, {`-0.0e5`, `0`}, {`7`, `7`}, {`1.50e2`, `150`}, {`150`, `150`},
		{`12345678901234567890`, `12345678901234567000`},
		{`9007199254740993`, `9007199254740992`},
		{`1e400`, `null`}, {`-1e400`, `null`}, {`1e-400`, `0`},
		{`1e21`, `1e+21`}, {`1E20`, `100000000000000000000`}, {`1e-6`, `0.000001`}, {`1e-7`, `1e-7`}, {`123e-20`, `1.23e-18`},
		{`5e-324`, `5e-324`}, {`0.1`, `0.1`}, {`1.7976931348623157e308`, `1.7976931348623157e+308`},
		{`"\u0061\/\u00e9"`, `"a/é"`},
		{`"\ud83d\ude00"`, `"😀"`}, {`"\ud83d"`, `"\ud83d"`}, {`"\uDE00\uD83D"`, `"\ude00\ud83d"`}, {`"\ud83d\\"`, `"\ud83d\\"`},
		{`"\u0000\u001f\b\f\n\r\t\u007f"`, `"\u0000\u001f\b\f\n\r\t` + "\x7f" + `"`},
		{`"` + "\u2028\u2029" + `"`, `"` + "\u2028\u2029" + `"`},
		{"\"a\xffb\"", "\"a\ufffdb\""},
		{"\"\xe2\x80x\xf0\x9f\x98\xed\xa0\x80\"", "\"\ufffdx\ufffd\ufffd\ufffd\ufffd\""},
		{"\"\xc3\"", "\"\ufffd\""},
		{` [ 1 , 2.0 , [ ] , { } ] `, `[1,2,[],{}]`},
		{`{"a":[1,2]}`, `{"a":[1,2]}`},
		{`{"b":1,"2":2,"a":3,"1":4,"01":5,"-1":6,"4294967294":7,"4294967295":8}`, `{"1":4,"2":2,"4294967294":7,"b":1,"a":3,"01":5,"-1":6,"4294967295":8}`},
		{`{"a":1,"b":2,"\u0061":3}`, `{"a":3,"b":2}`},
		{`{"x":{"2":0,"1":[{"b":0,"a":1,"b":2}]},"x":{"2":0,"1":[{"b":0,"a":1,"b":2}]}}`, `{"x":{"1":[{"b":2,"a":1}],"2":0}}`},
	}
	for _, test := range tests {
		got, ok := AppendEcho([]byte("<"), []byte(test.token))
		if !ok || string(got) != "<"+test.want {
			t.Errorf("%s\n got %s, %v\nwant <%s", test.token, got, ok, test.want)
		}
		again, ok := AppendEcho(nil, []byte(test.want))
		if !ok || string(again) != test.want {
			t.Errorf("once more: %s becomes %s, %v", test.want, again, ok)
		}
	}
}

// What no bound lets through says so, and soon.
func TestAppendEchoHostile(t *testing.T) {
	disorder := strings.Repeat(`{"1":0,"0":`, 4000) + "0" + strings.Repeat("}", 4000)
	for name, token := range map[string]string{
		"deep":     strings.Repeat("[", 5_000_000) + strings.Repeat("]", 5_000_000),
		"disorder": disorder,
		"open":     `{"a":[`,
		"closed":   `]`,
		"crossed":  `[}`,
		"torn":     `"abc`,
		"comma":    `,`,
		"empty":    ``,
	} {
		start := time.Now()
		if _, ok := AppendEcho(nil, []byte(token)); ok {
			t.Errorf("%s: ok", name)
		}
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("%s took %v", name, took)
		}
	}
	start := time.Now()
	long := `{` + strings.Repeat(`"k":0,`, 200_000) + `"0":1}`
	if got, ok := AppendEcho(nil, []byte(long)); !ok || string(got) != `{"0":1,"k":0}` {
		t.Errorf("many keys: %.40s %v", got, ok)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("many keys took %v", took)
	}
}

func FuzzAppendEcho(f *testing.F) {
	for _, s := range []string{`{"b":1,"2":2,"b":[1e3,"\ud83d"]}`, `-1.5e-7`, `"\u00e9"`, "\"\xe2\x80\"", `[[],{"":{}}]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, token []byte) {
		token = bytes.Trim(token, " \t\r\n")
		if len(token) == 0 || scan.ValueEnd(token, 0) != len(token) {
			return
		}
		out, ok := AppendEcho(nil, token)
		if !ok {
			t.Skip()
		}
		if !scan.Scan(out).Valid {
			t.Fatalf("%q becomes %q", token, out)
		}
		if again, ok := AppendEcho(nil, out); !ok || !bytes.Equal(again, out) {
			t.Fatalf("%q becomes %q, and that %q", token, out, again)
		}
	})
}

// Where Node is there, it has the last word.
func TestAppendEchoAsNode(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no node here")
	}
	tokens := []string{`1e21`, `123456789012345678901234567890`, `1.0000000000000001`, `4.35`, `1e-6`, `1e-7`, `0.000001234`, `-5e-324`, `2.5e-1`,
		`{"b":1,"2":2,"a":3,"1":4,"b":5}`, `"\ud83d\ude00\ud83d\u2028\u0007"`, "\"\xe2\x80x\xf0\x9f\x98\xed\xa0\x80\xff\"", `{"__proto__":1,"4294967295":1,"4294967294":2}`}
	script := `const lines=require('fs').readFileSync(0,'utf8').split('\n');for(const l of lines)if(l)console.log(JSON.stringify(JSON.parse(l)))`
	cmd := exec.Command(node, "-e", script)
	cmd.Stdin = strings.NewReader(strings.Join(tokens, "\n"))
	out, err := cmd.Output()
	if err != nil {
		t.Skip(err)
	}
	for i, want := range strings.Split(strings.TrimSuffix(string(out), "\n"), "\n") {
		if got, ok := AppendEcho(nil, []byte(tokens[i])); !ok || string(got) != want {
			t.Errorf("%s\n got %s, %v\nwant %s", tokens[i], got, ok, want)
		}
	}
}
