package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cespare/xxhash/v2"

	"pitap/record/scan"
)

func captureOf(data []byte) *Capture {
	return &Capture{Reader: NewReader(bytes.NewReader(data), func() (int64, error) { return int64(len(data)), nil })}
}

// described writes an entry out, as far as a reader sees it.
func described(e *Entry, unit int64) string {
	var m scan.Spans
	res, spans := e.Scan(&m)
	id, text := e.Alike()
	note := ""
	if e.Note != nil {
		b, _ := json.Marshal(e.Note)
		note = string(b)
	}
	return fmt.Sprintf("%d %d %v %d %d %s %q %v %v %v %v %v %s %s %d | %+v %v %v | %v %s", e.N, e.T, e.From, e.Off, e.Form, brief(e.Body), e.EOL, e.Part, e.Last, e.Supersedes, e.Cuts, e.Flags, note, brief(e.Line), unit,
		res, spans.List, spans.More, id > 0, brief(text))
}

// brief is bytes in quotes, of many a checksum.
func brief(b []byte) string {
	if len(b) > 1000 {
		return fmt.Sprintf("%d bytes with the sum %x", len(b), xxhash.Sum64(b))
	}
	return strconv.Quote(string(b))
}

// checkAhead compares reading ahead with reading.
func checkAhead(data []byte) error {
	var want []string
	plain := captureOf(data)
	for plain.Next() {
		want = append(want, described(plain.Entry(), plain.Unit()))
	}
	c := captureOf(data)
	a := c.Ahead()
	defer a.Close()
	n := 0
	for a.Next() {
		if got := described(a.Entry(), a.Unit()); n >= len(want) || got != want[n] {
			return fmt.Errorf("entry %d of %d: %s", n, len(want), got)
		}
		n++
	}
	switch {
	case n != len(want):
		return fmt.Errorf("%d entries, want %d", n, len(want))
	case fmt.Sprint(c.Err()) != fmt.Sprint(plain.Err()):
		return fmt.Errorf("error %v, want %v", c.Err(), plain.Err())
	case !reflect.DeepEqual(c.Damage(), plain.Damage()):
		return fmt.Errorf("damage %v, want %v", c.Damage(), plain.Damage())
	case c.Ended() != plain.Ended() || c.Torn() != plain.Torn():
		return fmt.Errorf("ended %v, torn %v", c.Ended(), c.Torn())
	}
	return nil
}

func TestAhead(t *testing.T) {
	t.Parallel()
	s := makeSample(t)
	step := 11
	if racing {
		step = 31
	}
	for n := 0; n <= len(s.data); n += step {
		if err := checkAhead(s.data[:n]); err != nil {
			t.Fatalf("first %d bytes: %v", n, err)
		}
	}
	for n := 0; n <= len(s.content); n += 2*step + 1 {
		if err := checkAhead(s.content[:n]); err != nil {
			t.Fatalf("first %d bytes, not compressed: %v", n, err)
		}
	}
	for at := 0; at < len(s.data); at += step {
		data := bytes.Clone(s.data)
		data[at] ^= 0x55
		if err := checkAhead(data); err != nil {
			t.Fatalf("byte %d is another: %v", at, err)
		}
	}
}

// Captures of more than a batch and a frame, whose lines other programs may have cut anywhere.
func TestAheadLong(t *testing.T) {
	t.Parallel()
	content := bigContent(6 << 20)
	var small bytes.Buffer
	small.WriteString("{\"pitap\":1}\n")
	for i := range 5000 {
		fmt.Fprintf(&small, "{\"n\":%d,\"from\":\"agent\",\"text\":\"x\"}\n", i+1)
	}
	long := "{\"pitap\":1}\n{\"from\":\"agent\",\"msg\":{\"a\":\"" + strings.Repeat("y", 9<<20) + "\"}}\n{\"from\":\"agent\",\"msg\":{}}\n"
	for name, data := range map[string][]byte{
		"plain":               content,
		"one frame":           cutFrames(content, len(content)),
		"many frames":         cutFrames(content, 100_000),
		"small entries":       small.Bytes(),
		"small, one frame":    cutFrames(small.Bytes(), small.Len()),
		"a long line":         []byte(long),
		"a long line, frames": cutFrames([]byte(long), 1_000_000),
	} {
		if err := checkAhead(data); err != nil {
			t.Errorf("%s: %.300v", name, err)
		}
	}
}

// Who stops early leaves nothing behind.
func TestAheadClose(t *testing.T) {
	data := cutFrames(bigContent(6<<20), 300_000)
	before := runtime.NumGoroutine()
	for _, n := range []int{0, 1, 2, 1500} {
		a := captureOf(data).Ahead()
		for range n {
			if !a.Next() {
				t.Fatal("no entry")
			}
		}
		a.Close()
		a.Close()
		if a.Next() {
			t.Error("an entry after Close")
		}
	}
	deadline := time.Now().Add(5 * time.Second)
	for runtime.NumGoroutine() > before && time.Now().Before(deadline) {
		runtime.Gosched()
	}
	if n := runtime.NumGoroutine(); n > before {
		t.Errorf("%d goroutines, %d before", n, before)
	}
}

// Records that are like one before them are judged as if they were not.
func TestAlike(t *testing.T) {
	texts := []string{"", "x", "some words", `\"quoted\"`, `\\`, `\u00e9`, "é漢😀", `\ud83d`, "\u2028", "\x7f", `a"b`, `\`, "\xff", "\r", strings.Repeat("long ", 3000), `","delta":"`}
	heads := []string{`{"type":"message_update","assistantMessageEvent":{"type":"text_delta","contentIndex":0,"delta":"`, `{"delta":"`, `{"a":[{"delta":"`}
	tails := []string{`"},"usage":{"input":0}}`, `"}`, `"}],"z":1}`}
	rng := rand.New(rand.NewPCG(1, 2))
	var alike scan.Alike
	recognized := 0
	for range 20_000 {
		i := rng.IntN(len(heads))
		if rng.IntN(4) > 0 {
			i = 0
		}
		b := []byte(heads[i] + texts[rng.IntN(len(texts))] + tails[i])
		if rng.IntN(50) == 0 {
			b[rng.IntN(len(b))] ^= 1
		}
		var got, want scan.Spans
		m := members{spans: &got, alike: &alike}
		r := m.scan(b)
		w := scan.ScanMembers(b, &want)
		if r != w || fmt.Sprint(got.List) != fmt.Sprint(want.List) || got.More != want.More {
			t.Fatalf("%.200q\n got %+v %v\nwant %+v %v", b, r, got, w, want)
		}
		if m.same.id > 0 {
			recognized++
			e := Entry{Body: b, same: m.same}
			if _, text := e.Alike(); !bytes.Contains(b, append([]byte(`"delta":"`), text...)) {
				t.Fatalf("%.200q: text %q", b, text)
			}
		}
	}
	if recognized < 1000 {
		t.Errorf("%d records were recognized", recognized)
	}
}

// The usual form of an entry is read as any other.
func TestQuick(t *testing.T) {
	for _, line := range []string{
		`{"n":1,"t":2,"from":"agent","off":3,"msg":{}}`, `{"n":1,"t":2,"from":"client","off":0,"msg":{"a":1}}`,
		`{"n":01,"t":2,"from":"agent","off":3,"msg":{}}`, `{"n":-1,"t":2,"from":"agent","off":3,"msg":{}}`, `{"n":1.0,"t":2,"from":"agent","off":3,"msg":{}}`,
		`{"n":1,"t":2,"from":"stderr","off":3,"msg":{}}`, `{"n":1,"t":2,"from":"agents","off":3,"msg":{}}`, `{"n":1,"t":2,"from":"agent","off":3,"msg":{}} `,
		`{"n":1,"t":2,"from":"agent","off":3,"msg":{},"text":"x"}`, `{"n":1,"t":2,"from":"agent","off":3,"msg":{`, `{"n":1,"t":2,"from":"agent","off":3,"msg":{}`,
		`{"n":1,"t":2,"from":"agent","off":3`, `{"n":1,"t":2,"from":"a`, `{"n":1,"t":2,"from":"agent","off":99999999999999999999,"msg":{}}`, `{"n":1,"t":2,"from":"agent","off":3,"msg":}`,
	} {
		var quick, slow decoder
		var a, b Entry
		errA := quick.parse([]byte(line), &a)
		errB := slow.parse([]byte(" "+line), &b) // the blank keeps it from being quick
		if (errA == nil) != (errB == nil) {
			t.Errorf("%s: %v, %v", line, errA, errB)
			continue
		}
		b.Line = a.Line
		if errA == nil && described(&a, 0) != described(&b, 0) {
			t.Errorf("%s\n %s\n %s", line, described(&a, 0), described(&b, 0))
		}
	}
}
