package scan

import (
	"fmt"
	"strings"
	"testing"
)

// Members are seen in passing as a walk over them sees them.
func TestScanMembers(t *testing.T) {
	many := "{"
	for i := range 30 {
		many += fmt.Sprintf(`"k%d":%d,`, i, i)
	}
	many += `"k3":"last"}`
	var m Spans
	for _, text := range []string{`{}`, `{"a":1}`, ` { "a" : [ 1 , {"a":2} ] , "b" : "x\"y" , "a" : null } `, `[{"a":1}]`, `"a"`, ``, `{"a":{"b":{"c":1}},"d":-1.5e3}`,
		`{"a":1,"b":tru}`, `{"a"`, `{"\u0061":1,"é":2,"":3}`, `{"a":[[]],"b":{}}`, many, `{"a":1}{"b":2}`} {
		b := []byte(text)
		r := ScanMembers(b, &m)
		if r != Scan(b) {
			t.Errorf("%s: %+v, want %+v", text, r, Scan(b))
		}
		var got, want []string
		for _, s := range m.List {
			got = append(got, fmt.Sprintf("%s=%s", b[s.Key:s.KeyEnd], b[s.Start:s.End]))
		}
		for ms := MembersOf(b); ms.Next(); {
			want = append(want, fmt.Sprintf("%s=%s", ms.Key, b[ms.Start:ms.End]))
		}
		if r.Valid && (strings.Join(got, " ") != strings.Join(want[:min(len(want), maxSpans)], " ") || m.More != (len(want) > maxSpans)) {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
		for _, name := range []string{"a", "b", "k3", "k29", "é", "", "z"} {
			var last string
			for ms := MembersOf(b); ms.Next(); {
				if ms.Is(name) {
					last = string(b[ms.Start:ms.End])
				}
			}
			if v := m.Find(b, name); r.Valid && string(v) != last {
				t.Errorf("%s: %s is %q, want %q", text, name, v, last)
			}
		}
	}
}

// Of a record that comes in pieces, too.
func FuzzSpansInPieces(f *testing.F) {
	f.Add([]byte(`{"a":[1,{"b":2}],"c\u0061":"x","d":-1.5e3,"a":null}`), uint8(3))
	f.Fuzz(func(t *testing.T, b []byte, size uint8) {
		var whole, pieces Spans
		r := ScanMembers(b, &whole)
		s := NewScanner(&pieces)
		for at := 0; at < len(b); at += int(size) + 1 {
			s.Write(b[at:min(len(b), at+int(size)+1)])
		}
		if got := s.Result(); got != r {
			t.Fatalf("%+v, want %+v", got, r)
		}
		if r.JSON && (fmt.Sprint(whole.List) != fmt.Sprint(pieces.List) || whole.More != pieces.More) {
			t.Fatalf("%v, want %v", pieces, whole)
		}
	})
}
