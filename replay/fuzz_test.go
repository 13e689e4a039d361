package replay

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"pitap/record/scan"
)

// Whatever the capture and the client are, a replay ends, without a panic.
func FuzzAgent(f *testing.F) {
	f.Add([]byte(session), []byte(hi+"\n"+askState+"\n"))
	f.Add([]byte(settings), []byte(setLevel+"\nnull\n{}\n"))
	f.Add([]byte(fixture(`> null`, `{"from":"agent","part":true,"text":"{\"type\":"}`, `{"from":"agent","part":true,"last":true,"text":"\"response\"}"}`, `{"note":"signal","signal":"SIGTERM"}`)), []byte("null"))
	f.Fuzz(func(t *testing.T, capture, client []byte) {
		s, err := Parse(capture)
		if err != nil {
			return
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		a := &Agent{Script: s, In: bytes.NewReader(client), Out: io.Discard, Speed: MaxSpeed, Wait: 10 * time.Millisecond,
			Live: Folders{"/a", "/b", "/c"}, Ignore: []string{"x[*]"}, Map: []Pair{{"a", "b"}}}
		r, err := a.Run(ctx)
		if err != nil || ctx.Err() != nil {
			t.Fatalf("%v %v", err, r)
		}
		_ = r.String()
		if _, err := ParseReport(r.Encode()); err != nil {
			t.Fatal(err)
		}
	})
}

// An id comes back as JSON that means the same to JavaScript; echoing twice changes nothing.
func FuzzEcho(f *testing.F) {
	for _, s := range []string{`"a"`, `1.50e2`, `{"b":[1,{"1":null}],"b":2}`, `"\ud83d\ude00\u2028"`, `[[],{}]`, `-0`, `1e-7`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, token []byte) {
		r := scan.Scan(token)
		if !r.Valid || r.Depth > 1000 {
			return
		}
		once := echo(nil, token)
		if !json.Valid(once) {
			t.Fatalf("%q becomes %q, which is no JSON", token, once)
		}
		if twice := echo(nil, once); !bytes.Equal(once, twice) {
			t.Fatalf("%q, then %q", once, twice)
		}
		body := []byte(`{"type":"response","id":` + string(once) + `,"x":1}`)
		if got := withID(nil, body, token, false); !strings.Contains(string(got), string(bytes.TrimSpace(token))) {
			t.Fatalf("got %q", got)
		}
		if got := string(withID(nil, body, nil, false)); got != `{"type":"response","x":1}` {
			t.Fatalf("got %q", got)
		}
	})
}

// Payloads do not depend on the order of members or white space.
func FuzzPayload(f *testing.F) {
	f.Add([]byte(`{"a":[1,{"b":"x"}],"id":5}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		r := scan.Scan(body)
		p := payloadOf(body)
		if len(p.leaves) > len(body)+1 {
			t.Fatalf("%d leaves of %d bytes", len(p.leaves), len(body))
		}
		if !r.Valid || !r.Object || r.Depth > maxPayloadDepth-2 {
			return
		}
		var indented bytes.Buffer
		if json.Indent(&indented, body, "", " ") != nil {
			return
		}
		m := matcher{paths: newPaths(Folders{}, Folders{}, nil)}
		if d, n := m.diff(p, payloadOf(indented.Bytes())); n > 0 {
			t.Fatalf("%q differs from itself at %s", body, d)
		}
	})
}
