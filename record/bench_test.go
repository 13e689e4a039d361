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
