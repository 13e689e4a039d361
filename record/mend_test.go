package record

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestMendEveryPrefix(t *testing.T) {
	t.Parallel()
	s := makeSample(t)
	path := filepath.Join(t.TempDir(), "c.jsonl.zst")
	_, noZstd := exec.LookPath("zstd")
	step := 7
	if racing {
		step = 28
	}
	for n := range len(s.data) {
		if n%step > 0 && !(s.border(n) && (!racing || n%3 == 0)) {
			continue
		}
		if err := os.WriteFile(path, s.data[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		_, before := readBytes(s.data[:n])
		content := s.contentOf(t, int64(n))
		m, err := Mend(path)
		data, rerr := os.ReadFile(path)
		if rerr != nil {
			t.Fatal(rerr)
		}
		if wholeLines(content) < 0 {
			if err == nil || !bytes.Equal(data, s.data[:n]) {
				t.Fatalf("first %d bytes, without a header: error %v, file changed: %v", n, err, !bytes.Equal(data, s.data[:n]))
			}
			continue
		}
		if err != nil {
			t.Fatalf("first %d bytes: %v", n, err)
		}
		if err := checkMended(s, data, before); err != nil {
			t.Fatalf("first %d of %d bytes, mended %+v: %v", n, len(s.data), m, err)
		}
		if m.Kept+m.Dropped != int64(n) || m.Kept < 0 || m.Dropped < 0 {
			t.Fatalf("first %d bytes: %+v", n, m)
		}
		if _, err := Mend(path); err == nil || !strings.Contains(err.Error(), "capture is whole") {
			t.Fatalf("first %d bytes, mended twice: %v", n, err)
		}
		if n%(4*step) == 0 && noZstd == nil {
			if out, err := exec.Command("zstd", "-dc", path).Output(); err != nil || wholeLines(out) != int64(len(before)) {
				t.Fatalf("first %d bytes, mended: zstd -dc gives %d entries of %d, %v", n, wholeLines(out), len(before), err)
			}
		}
	}
}

// border tells whether a block or frame ends near the byte.
func (s *sample) border(at int) bool {
	for _, f := range s.frames {
		for _, end := range append(f.blocks, f.start, f.end) {
			if end-5 <= int64(at) && int64(at) <= end+5 {
				return true
			}
		}
	}
	return false
}

// checkMended says what is wrong with a mended capture that had these entries before.
func checkMended(s *sample, data []byte, before []Entry) error {
	r, entries := readBytes(data)
	if r.Err() != nil || len(r.Damage()) > 0 || r.Torn() {
		return fmt.Errorf("err %v, damage %v, torn %v", r.Err(), r.Damage(), r.Torn())
	}
	if r.Ended() != (len(entries) == len(s.lines)) {
		return fmt.Errorf("ended is %v", r.Ended())
	}
	// A last line without LF is a whole entry for a reader, but not kept.
	if len(entries) != len(before) && len(entries) != len(before)-1 {
		return fmt.Errorf("%d entries, were %d", len(entries), len(before))
	}
	for i, e := range entries {
		if string(e.Line) != s.lines[int64(i+1)] {
			return fmt.Errorf("entry %d is %s", i+1, e.Line)
		}
	}
	size := int64(len(data))
	rows, err := ReadIndex(bytes.NewReader(data), size)
	if err != nil {
		return err
	}
	var count, raw int64
	for _, r := range rows {
		count += r.Count
		raw += r.Raw
	}
	content, err := plainDecoder.DecodeAll(data, nil)
	if err != nil || raw != int64(len(content)) || count != int64(len(entries)) {
		return fmt.Errorf("content of %d bytes, index says %d and %d entries, %v", len(content), raw, count, err)
	}
	return nil
}

// TestMendLongEntry: the last flush has many blocks, and none that is there ends with a line.
func TestMendLongEntry(t *testing.T) {
	f := &memFile{}
	w, err := NewWriter(f, &Header{Pitap: Version}, false)
	if err != nil {
		t.Fatal(err)
	}
	w.Add(&Entry{From: Agent, Form: Msg, Body: []byte(`{}`), EOL: "\n"})
	w.Flush()
	w.Add(&Entry{From: Agent, Form: Msg, Body: []byte(`{"a":1}`), EOL: "\n"})
	w.Add(&Entry{From: Agent, Form: Msg, Body: fmt.Appendf(nil, `"%x"`, traffic(2<<20, 5)), EOL: "\n"})
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	for _, cut := range []int{1, 10, len(f.data) / 2, len(f.data) - 200} {
		path := filepath.Join(t.TempDir(), "c.jsonl.zst")
		if err := os.WriteFile(path, f.data[:len(f.data)-cut], 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := Mend(path)
		if err != nil || m.Entries < 1 || m.Entries > 3 || m.Entries == 3 && cut > 3 {
			t.Fatalf("without the last %d bytes: %+v, %v", cut, m, err)
		}
		data, _ := os.ReadFile(path)
		r, entries := readBytes(data)
		if r.Err() != nil || len(r.Damage()) > 0 || int64(len(entries)) != m.Entries {
			t.Errorf("without the last %d bytes: %d entries of %d, %v, %v", cut, len(entries), m.Entries, r.Err(), r.Damage())
		}
		if _, err := plainDecoder.DecodeAll(data, nil); err != nil {
			t.Error(err)
		}
	}
}

func TestMendLeavesAlone(t *testing.T) {
	s := makeSample(t)
	damaged := flip(s.data[:s.end-30], int(s.frames[2].start)+20)
	for _, test := range []struct {
		name string
		data []byte
		live bool
		err  string
	}{
		{"whole", s.data, false, "capture is whole"},
		{"live", s.data[:s.end-40], true, "it is live"},
		{"damaged", damaged, false, fmt.Sprintf("byte %d: the frame is damaged", s.frames[2].start)},
		{"frame overwritten", append(bytes.Clone(s.data[:s.frames[1].end]), "garbage"...), false, fmt.Sprintf("byte %d", s.frames[1].end)},
		{"plain", s.content, false, "not compressed"},
		{"no capture", []byte("hello\n"), false, "not a capture"},
		{"empty", nil, false, "empty file"},
		{"no header", s.data[:3], false, "stops before the header"},
		{"newer", compressed([]byte(`{"pitap":2}` + "\n")), false, "newer"},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "c.jsonl.zst")
			if err := os.WriteFile(path, test.data, 0o600); err != nil {
				t.Fatal(err)
			}
			if test.live {
				f, err := os.OpenFile(path, os.O_RDWR, 0)
				if err != nil {
					t.Fatal(err)
				}
				defer f.Close()
				if err := Lock(f); err != nil {
					t.Skip(err)
				}
			}
			m, err := Mend(path)
			if err == nil || !strings.Contains(err.Error(), test.err) || !strings.Contains(err.Error(), path) {
				t.Errorf("%+v, error %v, want %q", m, err, test.err)
			}
			if data, _ := os.ReadFile(path); !bytes.Equal(data, test.data) {
				t.Error("the file was changed")
			}
		})
	}
	if _, err := Mend(filepath.Join(t.TempDir(), "none")); !os.IsNotExist(err) && !strings.Contains(fmt.Sprint(err), "no such file") {
		t.Errorf("a file that is not there: %v", err)
	}
}

// TestMendForeign adds an index to what another program has compressed.
func TestMendForeign(t *testing.T) {
	s := makeSample(t)
	for _, data := range [][]byte{compressed(s.content), cutFrames(s.content, 1000), s.data[:s.end]} {
		path := filepath.Join(t.TempDir(), "c.jsonl.zst")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if m, err := Mend(path); err != nil || m.Dropped != 0 || m.Kept != int64(len(data)) {
			t.Fatalf("%+v, %v", m, err)
		}
		mended, _ := os.ReadFile(path)
		_, before := readBytes(data)
		if err := checkMended(s, mended, before); err != nil {
			t.Error(err)
		}
	}
}
