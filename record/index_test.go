package record

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/cespare/xxhash/v2"
)

func TestReadIndex(t *testing.T) {
	s := makeSample(t)
	src, size := bytes.NewReader(s.data), int64(len(s.data))
	rows, err := ReadIndex(src, size)
	if err != nil || len(rows) != len(s.frames) {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	raw := int64(0)
	for i, r := range rows {
		f := s.frames[i]
		if r.Off != f.start || r.Size != f.end-f.start || r.First != f.first || r.Count != f.last-f.first+1 || r.T0 != int64(3*i+1)*1e6 || r.T1 != int64(3*i+3)*1e6 {
			t.Errorf("row %d is %+v, frame is %+v", i, r, f)
		}
		raw += r.Raw
	}
	if raw != int64(len(s.content)) {
		t.Errorf("frames hold %d bytes, the index says %d", len(s.content), raw)
	}
	rebuilt, err := Index(src, size)
	if err != nil || !slices.Equal(rebuilt, rows) {
		t.Errorf("index found by reading\n%+v, want\n%+v; %v", rebuilt, rows, err)
	}
	// The same when other programs have compressed it.
	for _, data := range [][]byte{compressed(s.content), streamed(t, s.content), cutFrames(s.content, 100), compressed(bigContent(scaled(34 << 20)))} {
		rows, err := Index(bytes.NewReader(data), int64(len(data)))
		var total FrameInfo
		for _, r := range rows {
			if r.Off != total.Size || r.Count > 0 && r.First != total.Count+1 {
				t.Fatalf("row %+v after %+v", r, total)
			}
			total.Size += r.Size
			total.Raw += r.Raw
			total.Count += r.Count
		}
		content, _ := plainDecoder.DecodeAll(data, nil)
		if err != nil || total.Size != int64(len(data)) || total.Raw != int64(len(content)) || total.Count != wholeLines(content) {
			t.Errorf("rows of %d bytes are %+v, %v", len(data), total, err)
		}
	}
}

// TestSeek reads from each frame on, and goes back.
func TestSeek(t *testing.T) {
	s := makeSample(t)
	r, _ := readBytes(s.data)
	rows, _ := ReadIndex(bytes.NewReader(s.data), int64(len(s.data)))
	for _, i := range []int{5, 0, 3, 2, 4, 1} {
		r.seek(rows[i].Off, rows[i].First-1)
		n := rows[i].First
		if i == 0 {
			n = 1
			r.line() // the header
		}
		for ; r.Next(); n++ {
			if e := r.Entry(); e.N != n || string(e.Line) != s.lines[n] {
				t.Fatalf("frame %d: entry %d is %s", i, n, e.Line)
			}
		}
		if n != int64(len(s.lines))+1 || len(r.Damage()) > 0 || !r.Ended() {
			t.Errorf("frame %d: stopped before entry %d, damage %v", i, n, r.Damage())
		}
	}
}

// lie makes a capture whose index says something else, with a right checksum.
func (s *sample) lie(change func(rows []FrameInfo) []FrameInfo) []byte {
	rows, err := ReadIndex(bytes.NewReader(s.data), int64(len(s.data)))
	if err != nil {
		panic(err)
	}
	rows = change(rows)
	data := bytes.Clone(s.data[:s.end])
	index := appendIndex(nil, rows)
	return appendSeekTable(append(data, index...), rows, len(index))
}

// TestLyingIndex: entries come from the frames, whatever the index says.
func TestLyingIndex(t *testing.T) {
	s := makeSample(t)
	each := func(change func(i int, r *FrameInfo)) func([]FrameInfo) []FrameInfo {
		return func(rows []FrameInfo) []FrameInfo {
			for i := range rows {
				change(i, &rows[i])
			}
			return rows
		}
	}
	for _, test := range []struct {
		name    string
		data    []byte
		refused bool
	}{
		{"true", s.data, false},
		{"counts of 0", s.lie(each(func(i int, r *FrameInfo) { r.Count, r.First = 0, 0 })), false},
		{"numbers one too high", s.lie(each(func(i int, r *FrameInfo) { r.First++ })), false},
		{"frames begin elsewhere", s.lie(each(func(i int, r *FrameInfo) {
			if i > 0 {
				r.Off += 3
			} else {
				r.Size += 3
			}
			if i == 5 {
				r.Size -= 3
			}
		})), false},
		{"one frame too few", s.lie(func(rows []FrameInfo) []FrameInfo {
			rows[4].Size += rows[5].Size
			return rows[:5]
		}), false},
		{"times", s.lie(each(func(i int, r *FrameInfo) { r.T0, r.T1 = 1<<62, -1<<62 })), false},
		{"sizes of contents", s.lie(each(func(i int, r *FrameInfo) { r.Raw = int64(i) << 29 })), false},
		{"entries of one moved to the next", s.lie(func(rows []FrameInfo) []FrameInfo {
			rows[1].Count += rows[2].Count
			rows[2].Count, rows[2].First = 0, 0
			return rows
		}), false},
		{"many entries", s.lie(each(func(i int, r *FrameInfo) { r.First, r.Count = r.First+int64(i)<<31, 1<<31 })), false},
		{"of another capture", append(bytes.Clone(s.data[:s.end]), otherIndex(t)...), true},
		{"of the same size, of another capture", s.lie(func(rows []FrameInfo) []FrameInfo {
			rows[0].Size, rows[0].Count, rows[0].First = s.end, 7, 100
			return rows[:1]
		}), false},
		{"no frames", s.lie(func(rows []FrameInfo) []FrameInfo { return nil }), true},
		{"holes", s.lie(each(func(i int, r *FrameInfo) { r.Size-- })), true},
		{"negative sizes", s.lie(each(func(i int, r *FrameInfo) { r.Size = -r.Size })), true},
		{"negative numbers", s.lie(each(func(i int, r *FrameInfo) { r.First = -r.First })), true},
		{"great numbers", s.lie(each(func(i int, r *FrameInfo) { r.Count = 1<<63 - 1 })), true},
		{"great offsets", s.lie(each(func(i int, r *FrameInfo) { r.Off += 1 << 40 })), true},
		{"one byte of it changed", flip(s.data, len(s.data)-100), true},
		{"seek table changed", flip(s.data, len(s.data)-50), false},
		{"footer changed", flip(s.data, len(s.data)-1), true},
		{"claims 4 billion frames", footer(s.data, 0xFFFFFFFF, 0), true},
		{"claims 0 frames", footer(s.data, 0, 0), true},
		{"claims checksums", footer(s.data, 7, 0x80), true},
		{"nothing but a footer", footer(s.data, 7, 0)[len(s.data)-9:], true},
		{"nothing but a seek table", s.data[len(s.data)-9-7*8-8:], true},
	} {
		t.Run(test.name, func(t *testing.T) {
			rows, err := ReadIndex(bytes.NewReader(test.data), int64(len(test.data)))
			if (err != nil) != test.refused {
				t.Errorf("%d rows, %v", len(rows), err)
			}
			if len(test.data) < 1000 {
				return
			}
			r, entries := readBytes(test.data)
			if err := s.checkDamaged(r, entries, -1); err != nil {
				t.Error(err)
			}
			path := filepath.Join(t.TempDir(), "c.jsonl.zst")
			if err := os.WriteFile(path, test.data, 0o600); err != nil {
				t.Fatal(err)
			}
			c, err := Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if e, ok := c.Last(); !ok || e.N != int64(len(s.lines)) || string(e.Line) != s.lines[e.N] {
				t.Errorf("last entry is %+v, %v", e, ok)
			}
		})
	}
}

// otherIndex is the index of a capture that has nothing but a header.
func otherIndex(t *testing.T) []byte {
	t.Helper()
	f := &memFile{}
	w, err := NewWriter(f, &Header{Pitap: Version}, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.End(1); err != nil {
		t.Fatal(err)
	}
	s, err := walk(f, 0, int64(len(f.data)))
	if err != nil {
		t.Fatal(err)
	}
	return f.data[s.end:]
}

func flip(data []byte, at int) []byte {
	data = bytes.Clone(data)
	data[at] ^= 0x55
	return data
}

func footer(data []byte, frames uint32, flags byte) []byte {
	data = bytes.Clone(data[:len(data)-9])
	data = binary.LittleEndian.AppendUint32(data, frames)
	data = append(data, flags)
	return binary.LittleEndian.AppendUint32(data, seekMagic)
}

// TestIndexTooLong: memory for an index is bounded by the file, whatever it claims.
func TestIndexTooLong(t *testing.T) {
	body := append([]byte(indexName), make([]byte, rowSize)...)
	body = binary.LittleEndian.AppendUint32(body, uint32(xxhash.Sum64(body)))
	data := binary.LittleEndian.AppendUint32(nil, skippableMagic)
	data = binary.LittleEndian.AppendUint32(data, 0xFFFFFFF0)
	data = append(data, body...)
	data = appendSeekTable(data, nil, 0xFFFFFFF0+8-0x100000000)
	if rows, err := ReadIndex(bytes.NewReader(data), int64(len(data))); err == nil {
		t.Errorf("%d rows", len(rows))
	}
}

// TestSeekTable is what readers of zstd's seekable format see: frames of the sizes that the table names.
func TestSeekTable(t *testing.T) {
	s := makeSample(t)
	data := s.data
	le := binary.LittleEndian
	foot := data[len(data)-9:]
	n := int(le.Uint32(foot))
	if le.Uint32(foot[5:]) != 0x8F92EAB1 || foot[4] != 0 || n != len(s.frames)+1 {
		t.Fatalf("footer % x", foot)
	}
	table := data[len(data)-9-8*n-8:]
	if le.Uint32(table) != 0x184D2A5E || int(le.Uint32(table[4:])) != 8*n+9 {
		t.Fatalf("seek table begins % x", table[:8])
	}
	off, raw := 0, 0
	for i := range n {
		size, content := int(le.Uint32(table[8+8*i:])), int(le.Uint32(table[12+8*i:]))
		got, err := plainDecoder.DecodeAll(data[off:off+size], nil)
		if err != nil || len(got) != content || !bytes.Equal(got, s.content[raw:raw+content]) {
			t.Errorf("frame %d at byte %d holds %d bytes, the table says %d; %v", i, off, len(got), content, err)
		}
		off += size
		raw += content
	}
	if off != len(data)-len(table) || raw != len(s.content) {
		t.Errorf("the table covers %d bytes of %d, with %d of %d", off, len(data)-len(table), raw, len(s.content))
	}
}

func FuzzIndex(f *testing.F) {
	s := makeSample(f)
	f.Add(s.data)
	f.Add(s.data[s.end:])
	f.Add(appendSeekTable(nil, nil, 0))
	f.Add(footer(s.data[s.end:], 0xFFFFFFFF, 0x80))
	f.Fuzz(func(t *testing.T, data []byte) {
		rows, err := ReadIndex(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		off, n := int64(0), int64(0)
		for _, r := range rows {
			if r.Off != off || r.Size <= 0 || r.Count > 0 && (r.First <= n || r.First+r.Count < r.First) {
				t.Fatalf("row %+v behind byte %d, entry %d", r, off, n)
			}
			off += r.Size
			if r.Count > 0 {
				n = r.First + r.Count - 1
			}
		}
		if off > int64(len(data)) {
			t.Fatalf("rows of %d bytes in a file of %d", off, len(data))
		}
	})
}

// FuzzWalk compares the walk over a frame with decoding it.
func FuzzWalk(f *testing.F) {
	f.Add([]byte("\x28\xb5\x2f\xfd\x04\x58\x01\x00\x00\x99\xe9\xd8\x51"))
	f.Add(compressed([]byte("hello")))
	f.Add(runs('x', 300_000))
	f.Add([]byte("\x50\x2a\x4d\x18\x03\x00\x00\x00abc"))
	f.Add(compressed(traffic(5000, 1))[:500])
	f.Fuzz(func(t *testing.T, data []byte) {
		size := int64(len(data))
		last, blocks := int64(0), 0
		s, err := walkFrame(bytes.NewReader(data), 0, size, func(end int64) {
			if end <= last || end > size {
				t.Fatalf("block ends at %d after %d of %d", end, last, size)
			}
			last = end
			blocks++
		})
		if s.end < 0 || s.end > size && !s.skippable || s.whole && s.end > size || s.whole && err != nil {
			t.Fatalf("%+v of %d bytes, %v", s, size, err)
		}
		if at, err := findFrame(bytes.NewReader(data), 0, size); err != nil || at < 0 || at > size {
			t.Fatalf("frame found at %d of %d, %v", at, size, err)
		}
		if !s.whole || s.skippable || s.content > 16<<20 {
			return
		}
		content, err := plainDecoder.DecodeAll(data[:s.end], nil)
		if err == nil && int64(len(content)) > s.content {
			t.Fatalf("content of %d bytes, walked over %d", len(content), s.content)
		}
		if _, err2 := plainDecoder.DecodeAll(data[:s.end-1], nil); err == nil && err2 == nil {
			t.Fatalf("frame of %d bytes is whole without its last", s.end)
		}
	})
}

// FuzzRead reads hostile files, closed and growing: any bytes, any content in frames of n bytes, and a capture of which
// some bytes are others.
func FuzzRead(f *testing.F) {
	s := makeSample(f)
	f.Add(uint8(0), uint16(0), s.data)
	f.Add(uint8(0), uint16(0), s.data[:1500])
	f.Add(uint8(1), uint16(100), s.content)
	f.Add(uint8(1), uint16(0), []byte(`{"pitap":1}`+"\n"+`{"from":"agent","msg":1}`))
	f.Add(uint8(0), uint16(0), append(compressed([]byte(`{"pitap":1}`+"\n")), runs('\n', 200_000)...))
	f.Add(uint8(2), uint16(700), emptyFrame)
	f.Fuzz(func(t *testing.T, how uint8, n uint16, data []byte) {
		switch how % 3 {
		case 1:
			data = cutFrames(data, max(int(n), len(data)/8, 1))
		case 2:
			k := min(len(data), len(s.data)-int(n)%len(s.data))
			data = slices.Replace(bytes.Clone(s.data), int(n)%len(s.data), int(n)%len(s.data)+k, data[:k]...)
		}
		check := func(r *Reader, entries []Entry) {
			n := int64(0)
			for _, e := range entries {
				if e.N <= n || e.From == NoStream && e.Note == nil || e.Note == nil && e.Form == NoForm {
					t.Fatalf("entry %+v after %d", e, n)
				}
				n = e.N
			}
			if r.Next() {
				t.Fatal("an entry after the last")
			}
		}
		r, closed := readBytes(data)
		check(r, closed)
		f, followed := follow(chop(data, max(1, len(data)/7)))
		check(f, followed)
		if len(r.Damage()) == 0 && r.Err() == nil && len(followed) != len(closed) && len(f.Damage()) == 0 {
			t.Fatalf("%d entries, %d when followed", len(closed), len(followed))
		}
		if rows, err := Index(bytes.NewReader(data), int64(len(data))); err == nil {
			for _, row := range rows {
				if row.Off < 0 || row.Size <= 0 || row.Off+row.Size > int64(len(data)) || row.Count < 0 {
					t.Fatalf("row %+v", row)
				}
			}
		}
	})
}
