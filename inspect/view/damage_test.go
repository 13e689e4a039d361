package view

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"pitap/record"
)

// framed writes a capture of frames with so many entries each; 0 is one with nothing but the header.
func framed(t *testing.T, counts ...int) (path string, rows []record.FrameInfo) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "c.jsonl.zst")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w, err := record.NewWriter(f, &record.Header{Pitap: 1, Start: time.Unix(1e9, 0)}, false)
	if err != nil {
		t.Fatal(err)
	}
	off := int64(0)
	for i, n := range counts {
		for k := range n {
			body := fmt.Appendf(nil, `{"type":"frame","n":%d,"k":%d}`, i, k)
			w.Add(&record.Entry{T: off, From: record.Client, Off: off, Form: record.Msg, Body: body, EOL: "\n"})
			off += int64(len(body)) + 1
		}
		if err := w.CloseFrame(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.End(off); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if rows, err = record.ReadIndex(bytes.NewReader(data), int64(len(data))); err != nil || len(rows) < len(counts) {
		t.Fatalf("%d frames, %v", len(rows), err)
	}
	return path, rows
}

// shown opens a capture, goes through it while it is read, and gives the numbers of the rows that it has then.
func shown(t *testing.T, path string) (numbers []int64, lost int) {
	t.Helper()
	s, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.Fold()
	deadline := time.Now().Add(30 * time.Second)
	for done := false; !done; {
		done = s.State().Done
		numbers, lost = nil, 0
		for at, ok := s.First(); ok && len(numbers) < 1000; at, ok = s.Next(at) {
			if r := s.Row(at); r.Kind == "damage" {
				lost++
			} else {
				numbers = append(numbers, r.N)
			}
		}
		if time.Now().After(deadline) {
			t.Fatal("the capture is not read to its end")
		}
	}
	return numbers, lost
}

// upTo is whether numbers are from 1 to n.
func upTo(numbers []int64, n int) bool {
	for i, k := range numbers {
		if k != int64(i+1) {
			return false
		}
	}
	return len(numbers) == n
}

// TestHeaderInAFrameOfItsOwn: with and without an index.
func TestHeaderInAFrameOfItsOwn(t *testing.T) {
	path, rows := framed(t, 0, 5, 5, 5, 5, 5, 5)
	if numbers, lost := shown(t, path); !upTo(numbers, 31) || lost > 0 {
		t.Errorf("rows %v, %d lost", numbers, lost)
	}
	last := rows[len(rows)-1]
	if err := os.Truncate(path, last.Off+last.Size); err != nil {
		t.Fatal(err)
	}
	if numbers, lost := shown(t, path); !upTo(numbers, 31) || lost > 0 {
		t.Errorf("without an index: rows %v, %d lost", numbers, lost)
	}
}

// TestFramesInAnotherOrder: the index says what is not so, and entries that stand behind later ones are left out.
func TestFramesInAnotherOrder(t *testing.T) {
	path, rows := framed(t, 5, 5, 5, 5)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	frame := func(i int) []byte { return data[rows[i].Off : rows[i].Off+rows[i].Size] }
	tail := data[rows[len(rows)-1].Off:]
	for name, changed := range map[string][]byte{
		"swapped": bytes.Join([][]byte{frame(0), frame(2), frame(1), frame(3), tail}, nil),
		"twice":   bytes.Join([][]byte{frame(0), frame(1), frame(1), frame(3), tail}, nil),
		"removed": bytes.Join([][]byte{frame(0), frame(1), frame(3), tail}, nil),
	} {
		if err := os.WriteFile(path, changed, 0o600); err != nil {
			t.Fatal(err)
		}
		numbers, _ := shown(t, path)
		for i, n := range numbers {
			if i > 0 && n <= numbers[i-1] || n > 21 {
				t.Errorf("%s: rows %v", name, numbers)
				break
			}
		}
		if len(numbers) < 16 {
			t.Errorf("%s: rows %v", name, numbers)
		}
	}
}
