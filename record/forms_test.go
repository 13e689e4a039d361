package record

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
)

// cutFrames compresses content in frames of n bytes, which cut lines.
func cutFrames(content []byte, n int) (data []byte) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		panic(err)
	}
	defer enc.Close()
	for len(content) > 0 {
		k := min(n, len(content))
		data = enc.EncodeAll(content[:k], data)
		content = content[k:]
	}
	return data
}

// bigContent is a capture's content of some size, with records that compress about as real ones do.
func bigContent(size int) []byte {
	var b bytes.Buffer
	h := Header{Pitap: Version, Start: sampleStart}
	b.Write(h.Encode())
	n := int64(0)
	s := NewSplitter(Agent, func(e *Entry) int64 {
		n++
		e.N = n
		b.Write(AppendEntry(b.AvailableBuffer(), e))
		return n
	})
	s.Write(1, traffic(size, 3))
	b.Write(AppendEntry(nil, &Entry{N: n + 1, T: 2, Note: &Note{Kind: "end", Totals: &Totals{Entries: n + 1}}}))
	return b.Bytes()
}

// TestForeign reads captures that other programs have compressed.
func TestForeign(t *testing.T) {
	s := makeSample(t)
	big := bigContent(scaled(6 << 20))
	huge := bigContent(scaled(34 << 20)) // more than is checked before it is given
	for _, test := range []struct {
		name          string
		data, content []byte
	}{
		{"plain", s.content, s.content},
		{"one frame", compressed(s.content), s.content},
		{"one frame without checksum", compressed(s.content, zstd.WithEncoderCRC(false)), s.content},
		{"one frame of unknown size", streamed(t, s.content), s.content},
		{"frames of 1 byte", cutFrames(s.content, 1), s.content},
		{"frames of 100 bytes", cutFrames(s.content, 100), s.content},
		{"frames of 512 KiB", cutFrames(big, 512<<10), big},
		{"one frame with a window of 32 MiB", streamed(t, big, zstd.WithWindowSize(32<<20)), big},
		{"one long frame", compressed(huge), huge},
		{"one long frame of unknown size", streamed(t, huge), huge},
	} {
		t.Run(test.name, func(t *testing.T) {
			check := func(r *Reader) {
				t.Helper()
				want := bytes.SplitAfter(test.content, []byte{'\n'})[1:]
				n := 0
				for ; r.Next(); n++ {
					if e := r.Entry(); e.N != int64(n+1) || !bytes.Equal(e.Line, bytes.TrimSuffix(want[n], []byte{'\n'})) {
						t.Fatalf("entry %d is %.200s, want %.200s", e.N, e.Line, want[n])
					}
				}
				if r.Err() != nil || len(r.Damage()) > 0 || !r.Ended() || r.Torn() || n != len(want)-1 {
					t.Fatalf("%d of %d entries, err %v, damage %v, ended %v, torn %v", n, len(want)-1, r.Err(), r.Damage(), r.Ended(), r.Torn())
				}
			}
			check(NewReader(bytes.NewReader(test.data), func() (int64, error) { return int64(len(test.data)), nil }))
			f := &memFile{}
			pieces := chop(test.data, max(1, len(test.data)/20))
			follower := NewReader(f, f.size)
			follower.Wait = func() bool {
				if len(pieces) == 0 {
					return false
				}
				f.data = append(f.data, pieces[0]...)
				pieces = pieces[1:]
				return true
			}
			check(follower)
			// A prefix: nothing that is not there, and no claim to be whole.
			half := test.data[:len(test.data)/2]
			r := NewReader(bytes.NewReader(half), func() (int64, error) { return int64(len(half)), nil })
			n := 0
			for r.Next() {
				n++
			}
			if len(r.Damage()) > 0 || r.Ended() || r.Err() != nil && !errors.Is(r.Err(), os.ErrNotExist) && n > 0 {
				t.Errorf("half of it: %d entries, err %v, damage %v, ended %v", n, r.Err(), r.Damage(), r.Ended())
			}
			if n == 0 && len(test.data) > 10_000 {
				t.Errorf("half of it: no entries")
			}
		})
	}
}

// TestZstdProgram reads what the zstd program makes of a capture.
func TestZstdProgram(t *testing.T) {
	if _, err := exec.LookPath("zstd"); err != nil {
		t.Skip("zstd is not installed")
	}
	content := bigContent(1 << 20)
	plain := filepath.Join(t.TempDir(), "c.jsonl")
	if err := os.WriteFile(plain, content, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, flags := range []string{"-1", "-3", "-9 --no-check", "-19", "-3 --long=25", "-3 --adapt -T2", "-3 -B100000"} {
		t.Run(flags, func(t *testing.T) {
			data, err := exec.Command("zstd", append(strings.Fields(flags), "-qc", plain)...).Output()
			if err != nil {
				t.Fatal(err)
			}
			r, entries := readBytes(data)
			if r.Err() != nil || len(r.Damage()) > 0 || !r.Ended() || int64(len(entries)) != wholeLines(content) {
				t.Fatalf("%d entries, err %v, damage %v", len(entries), r.Err(), r.Damage())
			}
		})
	}
	t.Run("ours", func(t *testing.T) {
		s := makeSample(t)
		path := filepath.Join(t.TempDir(), "c.jsonl.zst")
		if err := os.WriteFile(path, s.data, 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command("zstd", "-dc", path).Output()
		if err != nil || !bytes.Equal(out, s.content) {
			t.Fatalf("zstd -dc gives %d bytes, want %d; %v", len(out), len(s.content), err)
		}
	})
}

func TestPlain(t *testing.T) {
	const head = `{"pitap":1}` + "\n"
	for _, test := range []struct {
		name   string
		text   string
		want   []string // number, stream, offset, body and line end of each entry
		damage []string
		err    error
		ended  bool
	}{
		{name: "nothing but a header", text: head},
		{name: "a header without LF", text: `{"pitap":1}`},
		{name: "without n, t and off", text: head + `{"from":"client","msg":{"a":1}}` + "\n" + `{"from":"agent","msg":{"b":2}}` + "\n" + `{"from":"client","msg":{"c":3}}` + "\n" + `{"note":"end"}` + "\n",
			want: []string{`1 client 0 {"a":1} "\n"`, `2 agent 0 {"b":2} "\n"`, `3 client 8 {"c":3} "\n"`, `4  0  ""`}, ended: true},
		{name: "CRLF", text: "{\"pitap\":1}\r\n{\"n\":1,\"from\":\"agent\",\"msg\":{}}\r\n{\"n\":2,\"from\":\"agent\",\"text\":\"x\",\"eol\":\"\\r\\n\"}\r\n", want: []string{`1 agent 0 {} "\n"`, `2 agent 3 x "\r\n"`}},
		{name: "last LF missing", text: head + `{"n":1,"from":"agent","msg":{}}`, want: []string{`1 agent 0 {} "\n"`}},
		{name: "last line cut", text: head + `{"n":1,"from":"agent","msg":{}}` + "\n" + `{"n":2,"from":"age`, want: []string{`1 agent 0 {} "\n"`}},
		{name: "byte order mark", text: bom + head + `{"n":1,"from":"agent","msg":{}}`, want: []string{`1 agent 0 {} "\n"`}},
		{name: "blank lines", text: head + "\n \t\r\n" + `{"n":1,"from":"agent","msg":{}}` + "\n\n", want: []string{`1 agent 0 {} "\n"`}},
		{name: "white space", text: head + ` { "n" : 1 , "from" : "agent" , "msg" : {"a": 1} } ` + "\n" + `{"msg": 5 , "from": "client"}`, want: []string{`1 agent 0 {"a": 1} "\n"`, `2 client 0 5 "\n"`}},
		{name: "members that are not known", text: `{"pitap":1,"mood":{"a":[1]}}` + "\n" + `{"n":1,"x":[{"msg":1}],"from":"agent","y":"\n","msg":{},"z":null}`, want: []string{`1 agent 0 {} "\n"`}},
		{name: "notes that are not known", text: head + `{"n":1,"t":5,"note":"eclipse","from":"moon","off":7,"how":{"dark":true}}` + "\n", want: []string{`1  7  ""`}},
		{name: "names of members with escapes are others", text: head + `{"\u006e":5,"n":1,"from":"agent","msg":{}}`, want: []string{`1 agent 0 {} "\n"`}},
		{name: "an entry after the end", text: head + `{"n":1,"note":"end"}` + "\n" + `{"n":2,"from":"agent","msg":{}}`, want: []string{`1  0  ""`, `2 agent 0 {} "\n"`}},
		{name: "a number is missing", text: head + `{"n":1,"from":"agent","msg":{}}` + "\n" + `{"n":4,"from":"agent","msg":{}}`, want: []string{`1 agent 0 {} "\n"`, `4 agent 3 {} "\n"`}, damage: []string{"byte 44: entries 2 to 3 are missing"}},
		{name: "a gap", text: head + `{"n":4,"note":"gap","lost":{"agent":5}}` + "\n" + `{"n":5,"from":"agent","off":5,"msg":{}}`, want: []string{`4  0  ""`, `5 agent 5 {} "\n"`}},
		{name: "not an entry", text: head + `{"n":1,"from":"agent"` + "\n" + "rubbish\n" + `{"n":2,"from":"agent","msg":{}}`, want: []string{`2 agent 0 {} "\n"`}, damage: []string{"byte 12: line after entry 0: no comma at byte 21", "byte 34: line after entry 0: no JSON object at byte 0", "byte 42: entries 1 to 1 are missing"}},
		{name: "msg that is not UTF-8", text: head + `{"n":1,"from":"agent","msg":"` + "\xff" + `"}`, damage: nil},
		{name: "header is missing", text: `{"n":3,"from":"agent","msg":{}}` + "\n", want: []string{`3 agent 0 {} "\n"`}, damage: []string{"byte 0: the header is missing", "byte 0: entries 1 to 2 are missing"}},
		{name: "records, not entries", text: `{"type":"agent_start"}` + "\n" + `{"type":"agent_end"}` + "\n", err: ErrNoCapture},
		{name: "one record, no LF", text: `{"type":"agent_start"}`, err: ErrNoCapture},
		{name: "no capture", text: "hello\nworld\n", err: ErrNoCapture},
		{name: "binary", text: "\x7fELF\x00\x01\x02\x03\n", err: ErrNoCapture},
		{name: "gzip", text: "\x1f\x8b\x08\x00\x00\x00\n", err: ErrNoCapture},
		{name: "newer", text: `{"pitap":2,"start":true}` + "\n" + `{"n":1,"from":"agent","msg":{}}` + "\n", err: ErrVersion},
		{name: "no version", text: `{"pitap":"one"}` + "\n", err: ErrNoCapture},
		{name: "version 0", text: `{"pitap":0}` + "\n", err: ErrNoCapture},
	} {
		check := func(t *testing.T, r *Reader, entries []Entry) {
			var got []string
			for _, e := range entries {
				got = append(got, fmt.Sprintf("%d %s %d %s %q", e.N, e.From, e.Off, e.Body, e.EOL))
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("entries %q, want %q", got, test.want)
			}
			var damage []string
			for _, d := range r.Damage() {
				damage = append(damage, d.Error())
			}
			if !slices.Equal(damage, test.damage) && test.err == nil {
				t.Errorf("damage %q, want %q", damage, test.damage)
			}
			if r.Ended() != test.ended {
				t.Errorf("ended is %v", r.Ended())
			}
			if (r.Err() != nil) != (test.err != nil) || !errors.Is(r.Err(), test.err) {
				t.Errorf("error %v, want %v", r.Err(), test.err)
			}
		}
		t.Run(test.name, func(t *testing.T) {
			r, entries := readBytes([]byte(test.text))
			check(t, r, entries)
		})
		t.Run(test.name+", followed", func(t *testing.T) {
			r, entries := follow(chop([]byte(test.text), 1))
			check(t, r, entries)
		})
		t.Run(test.name+", compressed", func(t *testing.T) {
			if len(test.damage) > 0 || test.err != nil {
				t.Skip("places differ")
			}
			r, entries := readBytes(compressed([]byte(test.text)))
			check(t, r, entries)
		})
	}
}

func TestNewerVersionSaysWhatToDo(t *testing.T) {
	_, err := ParseHeader([]byte(`{"pitap":3}`))
	if err == nil || !strings.Contains(err.Error(), "format 3, this pitap reads up to 1; a newer pitap") {
		t.Errorf("error %v", err)
	}
}

// TestLongLines reads lines of 24 MiB, which others may write, and passes over longer ones.
func TestLongLines(t *testing.T) {
	t.Parallel()
	line := func(n, size int) []byte {
		return fmt.Appendf(nil, `{"n":%d,"from":"agent","off":0,"msg":"%s"}`+"\n", n, strings.Repeat("x", size))
	}
	content := []byte(`{"pitap":1}` + "\n")
	content = append(content, line(1, 24<<20)...)
	content = append(content, line(2, 33<<20)...)
	content = append(content, line(3, 5)...)
	for _, test := range []struct {
		name string
		data []byte
	}{
		{"plain", content},
		{"compressed", compressed(content)},
		{"cut", cutFrames(content, 1<<20)},
	} {
		t.Run(test.name, func(t *testing.T) {
			r, entries := readBytes(test.data)
			if len(entries) != 2 || len(entries[0].Body) != 24<<20+2 || entries[1].N != 3 {
				t.Errorf("%d entries", len(entries))
			}
			if d := r.Damage(); r.Err() != nil || len(d) != 2 || !strings.Contains(d[0].Cause, "a line of more than 33554432 bytes after entry 1") || !strings.Contains(d[1].Cause, "entries 2 to 2 are missing") {
				t.Errorf("err %v, damage %v", r.Err(), d)
			}
		})
	}
}

func TestHugeWindow(t *testing.T) {
	s := makeSample(t)
	f := func(i int) []byte { return s.data[s.frames[i].start:s.frames[i].end] }
	huge := streamed(t, bigContent(1<<20), zstd.WithWindowSize(64<<20))
	r, entries := readBytes(bytes.Join([][]byte{f(0), huge, f(1)}, nil))
	if want := s.frames[1].last; r.Err() != nil || int64(len(entries)) != want {
		t.Errorf("%d entries, want %d; %v", len(entries), want, r.Err())
	}
	if d := r.Damage(); len(d) != 1 || d[0].Off != s.frames[0].end || !strings.Contains(d[0].Cause, "window of 67108864 bytes") || !strings.Contains(d[0].Cause, "compress it again") {
		t.Errorf("damage %v", d)
	}
}

// TestBombs reads small files that expand, or claim to expand, to GiBs.
func TestBombs(t *testing.T) {
	size := scaled(512 << 20)
	head := compressed([]byte(`{"pitap":1}` + "\n"))
	last := compressed([]byte("\n" + `{"from":"agent","msg":{}}` + "\n"))
	claim := bytes.Clone(compressed([]byte(`{"n":1,"from":"agent","msg":{}}` + "\n")))
	claim = append([]byte{0x28, 0xb5, 0x2f, 0xfd, 0xc4, 0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00}, claim[6:]...)
	row := `{"n":1,"note":"gap","lost":{` + strings.TrimSuffix(strings.Repeat(`"agent":1,`, scaled(3<<20)), ",") + "}}\n"
	for _, test := range []struct {
		name   string
		data   []byte
		damage bool
	}{
		{"zeros", runs(0, size), true},
		{"line feeds", runs('\n', size), false},
		{"brackets in lines", bytes.Repeat(append(compressed([]byte(`{"n":1,"from":"agent","msg":`)), runs('[', scaled(30<<20))...), scaled(20)), true},
		{"empty frames", bytes.Repeat(emptyFrame, 1<<20/len(emptyFrame)), false},
		{"frame that claims a TiB", claim, true},
		{"one line of lists", streamed(t, []byte(`{"from":"agent","supersedes":[`+strings.Repeat("1,", scaled(15<<20))+"1],"+`"msg":{}}`+"\n")), false},
		{"one line of cuts", streamed(t, []byte(`{"from":"agent","cuts":[`+strings.Repeat("[1,1],", scaled(5<<20))+"[1,1]],"+`"msg":{}}`+"\n")), false},
		{"one line of flags", streamed(t, []byte(`{"from":"agent","flags":[`+strings.Repeat(`"",`, scaled(10<<20))+`""],"msg":{}}`+"\n")), false},
		{"one line of msg", streamed(t, []byte(`{"from":"agent"`+strings.Repeat(`,"msg":1`, scaled(3<<20))+"}\n")), false},
		{"one note of figures", streamed(t, []byte(row)), true},
		{"lines that are no entries", streamed(t, bytes.Repeat([]byte("x\n"), scaled(2<<20))), true},
	} {
		t.Run(test.name, func(t *testing.T) {
			data := bytes.Join([][]byte{head, test.data, last}, nil)
			var peak uint64
			r := NewReader(bytes.NewReader(data), func() (int64, error) { return int64(len(data)), nil })
			stop := watchMemory(&peak)
			n := 0
			for r.Next() {
				n++
			}
			stop()
			if r.Err() != nil || n == 0 || len(r.Damage()) > 0 != test.damage {
				t.Errorf("%d entries, err %v, damage %.300v", n, r.Err(), r.Damage())
			}
			t.Logf("%d bytes take %d MiB", len(data), peak>>20)
			if peak > 128<<20 {
				t.Errorf("it took %d MiB", peak>>20)
			}
		})
	}
}

// runs makes a frame whose content is one byte again and again.
func runs(c byte, size int) []byte {
	frame := []byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58} // no checksum, window of 2 MiB
	for ; size > 0; size -= maxBlock {
		k := min(size, maxBlock)
		v := uint32(k)<<3 | 1<<1
		if k == size {
			v |= 1
		}
		frame = append(frame, byte(v), byte(v>>8), byte(v>>16), c)
	}
	return frame
}

// watchMemory keeps the most memory that is in use, over what is now, until stop is called.
func watchMemory(peak *uint64) (stop func()) {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	before := m.HeapAlloc
	percent := debug.SetGCPercent(10)
	done, quit := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		for {
			runtime.ReadMemStats(&m)
			if m.HeapAlloc > before {
				*peak = max(*peak, m.HeapAlloc-before)
			}
			select {
			case <-quit:
				return
			case <-tick.C:
			}
		}
	}()
	return func() {
		close(quit)
		<-done
		debug.SetGCPercent(percent)
	}
}
