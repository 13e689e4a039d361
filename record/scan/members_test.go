package scan

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestMembers(t *testing.T) {
	tests := []struct {
		name, text string
		want       string // key=value after each other
		end        int
	}{
		{"entry", `{"n":12,"t":5,"from":"agent","off":4096,"msg":{"a":[1,"}"]}}`,
			`n=12 t=5 from="agent" off=4096 msg={"a":[1,"}"]}`, 60},
		{"blank", " { \"a\" : 1 , \"b\"\t:\r\"x\" } \n", `a=1 b="x"`, 24},
		{"empty", `{}`, ``, 2},
		{"more behind it", `{"a":1}{"b":2}`, `a=1`, 7},
		{"all kinds", `{"a":-0.5e1,"b":true,"c":null,"d":[],"e":{},"f":"\"","g":"漢","h":0}`,
			`a=-0.5e1 b=true c=null d=[] e={} f="\"" g="漢" h=0`, 69},
		{"duplicates", `{"a":1,"a":2}`, `a=1 a=2`, 13},
		{"written keys", `{"\u0061":1,"":2,"é":3,"a\"":4}`, `\u0061=1 =2 é=3 a\"=4`, 32},
		{"torn", `{"a":1,"b":{"c"`, `a=1`, -1},
		{"torn behind a number", `{"a":1,"b":12`, `a=1 b=12`, -1},
		{"trailing comma", `{"a":1,}`, `a=1`, -1},
		{"leading comma", `{,"a":1}`, ``, -1},
		{"no comma", `{"a":1 "b":2}`, `a=1`, -1},
		{"no colon", `{"a" 1}`, ``, -1},
		{"no value", `{"a":}`, ``, -1},
		{"wrong value", `{"a":01}`, `a=0`, -1},
		{"wrong bracket", `{"a":1]`, `a=1`, -1},
		{"array", `["a"]`, ``, -1},
		{"nothing", ``, ``, -1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b := []byte(test.text)
			var got []string
			ms := MembersOf(b)
			for ms.Next() {
				got = append(got, fmt.Sprintf("%s=%s", ms.Key, b[ms.Start:ms.End]))
				if want := Scan(b[ms.Start:ms.End]); ms.Result != want {
					t.Errorf("%s: verdict %+v, want %+v", ms.Key, ms.Result, want)
				}
			}
			if got := strings.Join(got, " "); got != test.want || ms.ObjectEnd() != test.end {
				t.Errorf("%s\n got %s, end %d\nwant %s, end %d", b, got, ms.ObjectEnd(), test.want, test.end)
			}
			if ms.Next() {
				t.Error("Next after the last member")
			}
		})
	}
}

func TestMemberIs(t *testing.T) {
	for _, test := range []struct {
		key, name string
		want      bool
	}{
		{`type`, "type", true},
		{`type`, "typ", false},
		{`typ`, "type", false},
		{`\u0074ype`, "type", true},
		{`t\u0079pe`, "type", true},
		{`t\u0079pes`, "type", false},
		{`a\/b`, "a/b", true},
		{`a\\b`, `a\\b`, true}, // as it is written, too: no name of ours holds a backslash
		{``, "", true},
		{strings.Repeat("a", 100) + `\n`, strings.Repeat("a", 100) + "\n", true},
	} {
		m := Member{Key: []byte(test.key)}
		if got := m.Is(test.name); got != test.want {
			t.Errorf("%q is %q: %v", test.key, test.name, got)
		}
	}
}

func TestMembersDoNotAllocate(t *testing.T) {
	b := []byte(`{"n":12,"t":5,"from":"agent","\u006fff":4096,"msg":{"type":"x","y":[1,2,{}]}}`)
	if n := testing.AllocsPerRun(10, func() {
		ms := MembersOf(b)
		for ms.Next() {
			ms.Is("off")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzMembers(f *testing.F) {
	for _, text := range append(jsonYes, jsonNo...) {
		f.Add([]byte(text))
	}
	f.Add([]byte(`{"n":12,"t":5,"from":"agent","msg":{"a":["}"]}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		type pair struct{ key, value string }
		var got []pair
		ms := MembersOf(b)
		for ms.Next() {
			key, _ := Unescape(nil, ms.Key)
			got = append(got, pair{string(key), string(b[ms.Start:ms.End])})
		}
		// An object is valid when it is JSON up to its end and blank behind.
		r := Scan(b)
		end := ms.ObjectEnd()
		if whole := end >= 0 && skipBlank(b, end) == len(b); whole != (r.JSON && r.Object) {
			t.Fatalf("%q: end %d, but the verdict is %+v", b, end, r)
		}
		if end < 0 || !r.Valid || r.Depth >= 10000 {
			return
		}
		dec := json.NewDecoder(strings.NewReader(string(b)))
		dec.Token()
		for _, p := range got {
			key, err := dec.Token()
			if err != nil || key != json.Token(p.key) {
				t.Fatalf("%q: key %q, want %v (%v)", b, p.key, key, err)
			}
			var value json.RawMessage
			if err := dec.Decode(&value); err != nil || string(value) != p.value {
				t.Fatalf("%q: value %q, want %q (%v)", b, p.value, value, err)
			}
		}
		if dec.More() {
			t.Fatalf("%q: only %d members", b, len(got))
		}
	})
}
