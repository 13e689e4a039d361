package record

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestHeaderRoundTrip(t *testing.T) {
	h := Header{Pitap: 1, Start: sampleStart, Argv: []string{"pi", "--mode", "rpc", "<&>\u2028"}, Cwd: "/home/me/a b", Home: "/home/me",
		Tmp: "/tmp", Host: "host", Boot: "b", PID: 1, Agent: AgentInfo{"/usr/bin/pi", "1.6.0", 2}, Client: ClientInfo{3, "emacs"},
		Label: "größer", Tool: "pitap 0.1.0", OS: "linux/amd64", Cut: "entries 3 to 9"}
	line := h.Encode()
	if strings.Count(string(line), "\n") != 1 || !strings.HasPrefix(string(line), `{"pitap":1,"start":"2026-11-30T14:05:00.123456789Z","argv":["pi","--mode","rpc","<&>`) {
		t.Errorf("header line is %s", line)
	}
	got, err := ParseHeader(line)
	if err != nil {
		t.Fatal(err)
	}
	a, _ := json.Marshal(h)
	b, _ := json.Marshal(got)
	if string(a) != string(b) {
		t.Errorf("header %s, want %s", b, a)
	}
}

func TestHeaderSmallest(t *testing.T) {
	if line := string((&Header{Pitap: 1}).Encode()); line != "{\"pitap\":1}\n" {
		t.Errorf("header line is %q", line)
	}
	h := Header{Pitap: 1, Start: time.Date(20000, 1, 1, 0, 0, 0, 0, time.UTC), PID: 3} // a clock that is very wrong
	if got, err := ParseHeader(h.Encode()); err != nil || got.Pitap != 1 {
		t.Errorf("header %+v, %v", got, err)
	}
}

func TestParseHeaderErrors(t *testing.T) {
	for _, test := range []struct {
		line string
		err  error
		text string
	}{
		{``, ErrNoCapture, "first line is no header"},
		{`{}`, ErrNoCapture, `not a capture: it begins with the text "{}"`},
		{`[1]`, ErrNoCapture, `it begins with the text "[1]"`},
		{strings.Repeat("x", 37) + "äöü", ErrNoCapture, `"` + strings.Repeat("x", 37) + `ä"`},
		{"\x7fELF", ErrNoCapture, "first line is no header"},
		{`{"pitap":null}`, ErrNoCapture, ""},
		{`{"pitap":1.5}`, ErrNoCapture, "names the version"},
		{`{"pitap":"1"}`, ErrNoCapture, "names the version"},
		{`{"pitap":-1}`, ErrNoCapture, "names the version"},
		{`{"pitap":2}`, ErrVersion, "format 2"},
		{`{"pitap":99,"start":[]}`, ErrVersion, "format 99"},
		{`{"pitap":1,"start":"yesterday"}`, ErrNoCapture, "yesterday"},
		{`{"pitap":1,"argv":"pi"}`, ErrNoCapture, "argv"},
		{`{"pitap":1}` + strings.Repeat(" ", maxHeader), ErrNoCapture, "first line has"},
		{`{"pitap":1,"deep":` + strings.Repeat("[", 100_000), ErrNoCapture, ""},
	} {
		_, err := ParseHeader([]byte(test.line))
		if !errors.Is(err, test.err) || !strings.Contains(err.Error(), test.text) {
			t.Errorf("%.40s: error %v, want %v with %q", test.line, err, test.err, test.text)
		}
	}
}

func TestMask(t *testing.T) {
	for _, test := range []struct{ argv, want string }{
		{"pi --mode rpc", "pi --mode rpc"},
		{"pi --api-key sk-1 --model x", "pi --api-key *** --model x"},
		{"pi --api-key=sk-1 --model x", "pi --api-key=*** --model x"},
		{"pi --api-key=sk=1=2", "pi --api-key=***"},
		{"pi --API_KEY sk-1", "pi --API_KEY ***"},
		{"pi -token t1 --client-secret=s --x y", "pi -token *** --client-secret=*** --x y"},
		{"pi --api-key", "pi --api-key"},
		{"pi --api-key --model x", "pi --api-key *** x"},
		{"pi --api-key --secret=x y", "pi --api-key *** y"},
		{"env OPENAI_API_KEY=sk-1 pi --mode rpc", "env OPENAI_API_KEY=*** pi --mode rpc"},
		{"pi --model=gpt key", "pi --model=gpt key"},
		{"/opt/keys/pi --mode rpc", "/opt/keys/pi --mode rpc"},
		{"pi monkey=business?", "pi monkey=***"},
	} {
		if got := Mask(strings.Fields(test.argv)); !slices.Equal(got, strings.Fields(test.want)) {
			t.Errorf("%s: %q, want %s", test.argv, got, test.want)
		}
	}
	prompt := []string{"pi", "what is key=value in a file?"}
	if got := Mask(prompt); !slices.Equal(got, prompt) {
		t.Errorf("a prompt was masked: %q", got)
	}
}

func FuzzHeader(f *testing.F) {
	f.Add([]byte(`{"pitap":1,"start":"2026-11-30T14:05:00Z","argv":["pi"]}`))
	f.Add([]byte(`{"pitap":2}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		h, err := ParseHeader(line)
		if err != nil {
			if !errors.Is(err, ErrNoCapture) && !errors.Is(err, ErrVersion) {
				t.Fatalf("error %v", err)
			}
			return
		}
		again, err := ParseHeader(h.Encode())
		if err != nil || again.Pitap != h.Pitap || !slices.Equal(again.Argv, h.Argv) || again.Cwd != h.Cwd || !again.Start.Equal(h.Start) {
			t.Fatalf("%+v became %+v, %v", h, again, err)
		}
	})
}
