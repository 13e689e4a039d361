package record

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// traffic makes about size bytes of records as agents write them: mostly small deltas, now and then a message with the
// output of a tool.
func traffic(size int, seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	words := strings.Fields("the file record a stream of bytes is read and written by one goroutine alone which owns it for as long as func return err nil if for range buf len error capture agent client \\n\\t \\\" über → 字 0x1f 4096 main.go")
	text := func(n int) string {
		var b strings.Builder
		for b.Len() < n {
			if b.Len() > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(words[r.IntN(len(words))])
		}
		return b.String()
	}
	out := make([]byte, 0, size+1<<16)
	for i := 0; len(out) < size; i++ {
		switch {
		case i%400 == 399:
			out = fmt.Appendf(out, `{"type":"message_end","message":{"role":"toolResult","toolCallId":"call_%x","toolName":"bash","content":[{"type":"text","text":"%s"}],"isError":false,"timestamp":%d}}`+"\n", r.Uint64(), text(500+r.IntN(20000)), 1790000000000+i)
		case i%50 == 49:
			out = fmt.Appendf(out, `{"type":"tool_execution_start","toolCallId":"call_%x","toolName":"bash","args":{"command":"%s"}}`+"\n", r.Uint64(), text(40))
		default:
			out = fmt.Appendf(out, `{"type":"message_update","usage":{"input":%d,"output":%d,"cacheRead":0,"cacheWrite":0,"totalTokens":0,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},"assistantMessageEvent":{"type":"text_delta","contentIndex":0,"delta":"%s"}}`+"\n", i, i*3, text(4+r.IntN(30)))
		}
	}
	return out
}

// writeTraffic records traffic in pieces as pipes give them, 50 µs apart.
func writeTraffic(w *Writer, data []byte) error {
	s := NewSplitter(Agent, w.Add)
	for t := int64(0); len(data) > 0; t += 50_000 {
		p := data[:min(len(data), 1<<12)]
		s.Write(t, p)
		data = data[len(p):]
		if t%100_000_000 == 0 {
			s.Flush()
			if err := w.Flush(); err != nil {
				return err
			}
		}
	}
	return w.End(1)
}

func BenchmarkWrite(b *testing.B) {
	data := traffic(32<<20, 1)
	perCPU(b, int64(len(data)), func() {
		f := &memFile{data: make([]byte, 0, 8<<20)}
		w, err := NewWriter(f, &Header{Pitap: Version}, false)
		if err == nil {
			err = writeTraffic(w, data)
		}
		if err != nil {
			b.Fatal(err)
		}
	})
}

func trafficFile(b *testing.B, size int) string {
	path := filepath.Join(b.TempDir(), "capture.jsonl.zst")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	w, err := NewWriter(f, &Header{Pitap: Version}, false)
	if err == nil {
		err = writeTraffic(w, traffic(size, 1))
	}
	if err != nil {
		b.Fatal(err)
	}
	return path
}

func BenchmarkRead(b *testing.B) {
	const size = 64 << 20
	path := trafficFile(b, size)
	perCPU(b, size, func() {
		c, err := Open(path)
		if err != nil {
			b.Fatal(err)
		}
		var total int64
		for c.Next() {
			e := c.Entry()
			total += int64(len(e.Body) + len(e.EOL))
		}
		if c.Err() != nil || total < size || !c.Ended() {
			b.Fatal(c.Err(), total)
		}
		c.Close()
	})
}

// BenchmarkLast finds the last entry of a capture, as a list of captures does: with an index, and of one that was cut.
func BenchmarkLast(b *testing.B) {
	path := trafficFile(b, 256<<20)
	data, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	cut := filepath.Join(b.TempDir(), "cut.jsonl.zst")
	if err := os.WriteFile(cut, data[:len(data)*9/10], 0o600); err != nil {
		b.Fatal(err)
	}
	for _, test := range []struct{ name, path string }{{"index", path}, {"cut", cut}} {
		b.Run(test.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c, err := Open(test.path)
				if err != nil {
					b.Fatal(err)
				}
				if e, ok := c.Last(); !ok || e.N == 0 {
					b.Fatal("no last entry")
				}
				c.Close()
			}
		})
	}
}

// sparse is a file of nothing with an index at its end.
type sparse struct {
	end  int64
	tail []byte
}

func (s *sparse) ReadAt(p []byte, off int64) (int, error) {
	if off < s.end {
		return 0, os.ErrInvalid
	}
	return copy(p, s.tail[off-s.end:]), nil
}

// BenchmarkReadIndex reads the index of a capture of 20 GiB of traffic.
func BenchmarkReadIndex(b *testing.B) {
	var rows []FrameInfo
	off := int64(0)
	for i := range int64(10_000) {
		rows = append(rows, FrameInfo{Off: off, Size: 100_000, Raw: frameSize, First: i*7000 + 1, Count: 7000, T0: i, T1: i + 1})
		off += 100_000
	}
	index := appendIndex(nil, rows)
	s := &sparse{off, appendSeekTable(index, rows, len(index))}
	b.ReportAllocs()
	for b.Loop() {
		got, err := ReadIndex(s, s.end+int64(len(s.tail)))
		if err != nil || len(got) != len(rows) {
			b.Fatal(len(got), err)
		}
	}
}

// BenchmarkFollow reads a capture that grows by a flush of 64 KiB of traffic at a time.
func BenchmarkFollow(b *testing.B) {
	data := traffic(8<<20, 1)
	whole := &memFile{}
	w, err := NewWriter(whole, &Header{Pitap: Version}, false)
	if err != nil {
		b.Fatal(err)
	}
	var ends []int
	s := NewSplitter(Agent, w.Add)
	for p := data; len(p) > 0; p = p[min(len(p), 64<<10):] {
		s.Write(1, p[:min(len(p), 64<<10)])
		s.Flush()
		if err := w.Flush(); err != nil {
			b.Fatal(err)
		}
		ends = append(ends, len(whole.data))
	}
	perCPU(b, int64(len(data)), func() {
		f := &memFile{}
		left := ends
		r := NewReader(f, f.size)
		r.Wait = func() bool {
			if len(left) == 0 {
				return false
			}
			f.data = whole.data[:left[0]]
			left = left[1:]
			return true
		}
		for r.Next() {
		}
		if r.Err() != nil || len(r.Damage()) > 0 {
			b.Fatal(r.Err(), r.Damage())
		}
	})
}
