package scan

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

var trafficGlob = flag.String("traffic", "", "files of records for the benchmarks, a glob pattern")

// traffic returns the records to measure with: those of -traffic, else some in the manner of the real ones.
func traffic(b *testing.B) (records [][]byte, size int64) {
	var all []byte
	files, err := filepath.Glob(*trafficGlob)
	if err != nil {
		b.Fatal(err)
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			b.Fatal(err)
		}
		all = append(all, data...)
	}
	if len(files) == 0 {
		delta := `{"type":"message_update","assistantMessageEvent":{"type":"text_delta","contentIndex":0,"delta":"some words "},"message":{"role":"assistant","content":[{"type":"text","text":"some words, “quoted”, \\"escaped\\"\\n"}],"usage":{"input":1200,"output":0,"cost":{"total":0.0012}},"timestamp":1764511500123}}` + "\n"
		result := `{"type":"tool_execution_end","toolCallId":"call_1","result":{"content":[{"type":"text","text":"` + strings.Repeat("a line of the output of some tool\\n", 100) + `"}]},"isError":false}` + "\n"
		all = []byte(strings.Repeat(strings.Repeat(delta, 10)+result, 50))
	}
	for line := range bytes.Lines(all) {
		records = append(records, bytes.TrimSuffix(line, []byte("\n")))
	}
	return records, int64(len(all))
}

func measure(b *testing.B, f func(record []byte) bool) {
	records, size := traffic(b)
	b.SetBytes(size)
	b.ReportAllocs()
	bad := 0
	for b.Loop() {
		bad = 0
		for _, r := range records {
			if !f(r) {
				bad++
			}
		}
	}
	b.ReportMetric(float64(bad), "invalid")
}

func BenchmarkScan(b *testing.B) {
	measure(b, func(r []byte) bool { return Scan(r).Valid })
}

func BenchmarkScannerIn64KiB(b *testing.B) {
	var s Scanner
	measure(b, func(r []byte) bool {
		s.Reset()
		for len(r) > 64<<10 {
			s.Write(r[:64<<10])
			r = r[64<<10:]
		}
		s.Write(r)
		return s.Result().Valid
	})
}

func BenchmarkStandardLibrary(b *testing.B) {
	measure(b, func(r []byte) bool { return json.Valid(r) && utf8.Valid(r) })
}

func BenchmarkMembersOfEntry(b *testing.B) {
	line := []byte(`{"n":12345,"t":123456789012,"from":"agent","off":4096123,"msg":{"type":"agent_settled","aborted":false}}`)
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		ms := MembersOf(line)
		for ms.Next() {
		}
		if ms.ObjectEnd() < 0 {
			b.Fatal("no object")
		}
	}
}

func BenchmarkAppendQuote(b *testing.B) {
	records, size := traffic(b)
	b.SetBytes(size)
	var dst []byte
	for b.Loop() {
		for _, r := range records {
			dst = AppendQuote(dst[:0], r)
		}
	}
}

func BenchmarkUnquote(b *testing.B) {
	records, size := traffic(b)
	b.SetBytes(size)
	var tokens [][]byte
	for _, r := range records {
		tokens = append(tokens, AppendQuote(nil, r))
	}
	var dst []byte
	for b.Loop() {
		for _, token := range tokens {
			dst, _ = Unquote(dst[:0], token)
		}
	}
}

func BenchmarkScanMembers(b *testing.B) {
	var m Spans
	measure(b, func(r []byte) bool { return ScanMembers(r, &m).Valid })
}

func BenchmarkValueEnd(b *testing.B) {
	line := []byte(`{"n":12345,"t":123456789012,"from":"agent"}`)
	b.ReportAllocs()
	for b.Loop() {
		for _, pos := range []int{1, 5, 11, 15, 28, 35} {
			if ValueEnd(line, pos) < 0 {
				b.Fatal("no value")
			}
		}
	}
}
