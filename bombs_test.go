//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cespare/xxhash/v2"

	"pitap/inspect/view"
)

// bombMemory is what a command may take at most, in MiB, whatever a capture holds or claims to hold: several lines of
// 32 MiB, the longest that are read, and what the garbage collector has not taken away yet, which is more on a machine
// that is busy (240 MiB in quiet, 283 in the worst case seen).
const (
	bombMemory   = 384
	replayMemory = 640 // a session is replayed from memory, up to 512 MiB
)

// zframe makes a zstd frame of blocks that are written out or one byte again and again.
type zframe struct {
	b    []byte
	last int // where the header of the last block is
}

const zblock = 128 << 10

func newFrame(header ...byte) *zframe {
	if len(header) == 0 {
		header = []byte{0x00, 0x58} // no checksum, a window of 2 MiB
	}
	return &zframe{b: append([]byte{0x28, 0xb5, 0x2f, 0xfd}, header...)}
}

func (f *zframe) block(kind, size int, content ...byte) *zframe {
	f.last = len(f.b)
	v := size<<3 | kind<<1
	f.b = append(append(f.b, byte(v), byte(v>>8), byte(v>>16)), content...)
	return f
}

func (f *zframe) raw(s string) *zframe { return f.block(0, len(s), []byte(s)...) }

func (f *zframe) run(c byte, n int64) *zframe {
	for ; n > 0; n -= zblock {
		f.block(1, int(min(n, zblock)), c)
	}
	return f
}

func (f *zframe) end() []byte {
	f.b[f.last] |= 1
	return f.b
}

// skippable is a frame to skip that claims a size.
func skippable(size uint32, content ...byte) []byte {
	return append(binary.LittleEndian.AppendUint32([]byte{0x50, 0x2a, 0x4d, 0x18}, size), content...)
}

// claimed is an index with a right checksum, and its seek table.
func claimed(frames []byte, rows ...[7]int64) []byte {
	body := []byte("pitapidx")
	for _, r := range rows {
		for _, v := range r {
			body = binary.LittleEndian.AppendUint64(body, uint64(v))
		}
	}
	body = binary.LittleEndian.AppendUint32(body, uint32(xxhash.Sum64(body)))
	out := append(bytes.Clone(frames), skippable(uint32(len(body)), body...)...)
	table := binary.LittleEndian.AppendUint32(nil, 0)
	table = binary.LittleEndian.AppendUint32(table, 0)
	table = binary.LittleEndian.AppendUint32(table, uint32(len(body)+8))
	table = binary.LittleEndian.AppendUint32(table, 0)
	table = binary.LittleEndian.AppendUint32(table, 2)
	table = append(table, 0, 0xb1, 0xea, 0x92, 0x8f)
	table = append([]byte{0x5e, 0x2a, 0x4d, 0x18, byte(len(table)), 0, 0, 0}, table...)
	return append(out, table...)
}

// bombs are files of less than some MiB that are far larger inside, or say so.
func bombs() map[string][]byte {
	size := int64(128 << 20)
	if long {
		size = 2 << 30
	}
	head := newFrame().raw(`{"pitap":1,"agent":{"version":"1.6.0"}}` + "\n").end()
	one := newFrame().raw(`{"n":1,"t":1,"from":"client","off":0,"msg":{"id":"1","type":"get_state"}}` + "\n").end()
	lines := func(format string) []byte {
		var out []byte
		for i := range size >> 20 {
			if i%8 == 0 {
				f := newFrame()
				for k := range int64(8) {
					before, after, _ := strings.Cut(fmt.Sprintf(format, i+k+1, i+k+1, (i+k)<<20), "@")
					f.raw(before).run('x', 1<<20).raw(after + "\n")
				}
				out = append(out, f.end()...)
			}
		}
		return out
	}
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	zeros := newFrame().run(0, 32<<20).end()
	whole := join(head, one)
	return map[string][]byte{
		"zeros":            join(head, one, newFrame().run(0, size).end()),
		"line feeds":       join(head, one, newFrame().run('\n', size).end()),
		"frames of zeros":  join(head, one, bytes.Repeat(zeros, int(size>>25))),
		"long text":        join(head, one, newFrame().raw(`{"n":2,"t":2,"from":"agent","off":0,"text":"`).run('x', size).raw(`"}`+"\n").end()),
		"long brackets":    join(head, one, newFrame().raw(`{"n":2,"t":2,"from":"agent","off":0,"msg":`).run('[', size).raw("}\n").end()),
		"line of 30 MiB":   join(head, newFrame().raw(`{"n":1,"t":2,"from":"agent","off":0,"msg":{"a":"`).run('x', 30<<20).raw(`"}}`+"\n").end(), newFrame().raw(`{"n":2,"t":2,"from":"agent","off":0,"msg":{"a":`).run('[', 30<<20).raw("}}\n").end()),
		"long header":      newFrame().raw(`{"pitap":1,"label":"`).run('x', size).raw(`"}` + "\n").end(),
		"texts":            join(head, lines(`{"n":%d,"t":%d,"from":"stderr","off":%d,"text":"@"}`)),
		"events":           join(head, lines(`{"n":%d,"t":%d,"from":"agent","off":%d,"msg":{"type":"message_update","x":"@"}}`)),
		"deltas":           join(head, lines(`{"n":%d,"t":%d,"from":"agent","off":%d,"msg":{"type":"message_update","assistantMessageEvent":{"type":"text_delta","contentIndex":0,"delta":"@"}}}`)),
		"commands":         join(head, lines(`{"n":%d,"t":%d,"from":"client","off":%d,"msg":{"type":"prompt","message":"@"}}`)),
		"ids":              join(head, lines(`{"n":%d,"t":%d,"from":"client","off":%d,"msg":{"type":"get_state","id":"@"}}`)),
		"parts":            join(head, lines(`{"n":%d,"t":%d,"from":"agent","off":%d,"part":true,"text":"@"}`)),
		"parts of client":  join(head, lines(`{"n":%d,"t":%d,"from":"client","off":%d,"part":true,"text":"@"}`)),
		"files":            join(head, lines(`{"n":%d,"t":%d,"note":"file","path":"/%d","error":"@"}`)),
		"notes":            join(head, lines(`{"n":%d,"t":%d,"off":%d,"note":"@"}`)),
		"window of 2 GiB":  join(head, one, newFrame(0x00, 0xa8).run('x', 1<<20).end()),
		"claims an EiB":    join(head, one, newFrame(0xc0, 0x58, 0, 0, 0, 0, 0, 0, 0, 0x10).raw("x\n").end()),
		"claims to skip":   join(head, one, skippable(0xFFFFFFFF, 'x')),
		"skips":            join(head, one, bytes.Repeat(skippable(0), 100_000), one),
		"empty frames":     join(head, one, bytes.Repeat(newFrame().raw("").end(), 100_000)),
		"index of zeros":   join(whole, newFrame().run(0, size).end(), claimed(nil)),
		"index of entries": claimed(whole, [7]int64{0, int64(len(whole)), 1 << 31, 1, 1 << 31, 0, 1}),
		"index of times":   claimed(whole, [7]int64{0, int64(len(whole)), 1 << 62, 1, 1 << 60, -1 << 62, 1 << 62}),
		"seek table":       append(bytes.Clone(whole), 0xFF, 0xFF, 0xFF, 0xFF, 0, 0xb1, 0xea, 0x92, 0x8f),
	}
}

// TestBombsAreBounded reads files that expand to GiBs, by every command that reads captures. None takes much memory, and
// each ends.
func TestBombsAreBounded(t *testing.T) {
	work := t.TempDir()
	program := filepath.Join(work, "pitap")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil { // the tests' own takes more under the race detector
		t.Fatalf("go build: %v\n%s", err, out)
	}
	all := bombs()
	for i, name := range slices.Sorted(maps.Keys(all)) {
		t.Run(name, func(t *testing.T) {
			for k, args := range bombCommands {
				if !long && k%len(bombCommands) != i%len(bombCommands) { // one for each
					continue
				}
				bombCommand(t, program, all[name], args)
			}
			if long || i%8 == 0 {
				bombStore(t, all[name])
			}
		})
	}
}

// bombCommands are the commands that read captures; FILE and DIR are where the bomb is.
var bombCommands = []string{"ls --dir DIR", "show FILE", "show --json FILE", "show --pretty FILE", "show --runs FILE", "show --grep y$ FILE", "show --jq . FILE", "check FILE",
	"stats FILE", "why FILE", "extract FILE", "cut FILE", "cut --exact FILE", "replay --wait 10ms --speed max FILE", "mend FILE", "prune --dir DIR --keep 1"}

func bombCommand(t *testing.T, program string, data []byte, command string) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "bomb.jsonl.zst")
	if err := os.WriteFile(path, data, 0o600); err != nil { // anew: mend changes it
		t.Fatal(err)
	}
	peak, took, code := measure(t, dir, program, strings.Fields(strings.NewReplacer("FILE", path, "DIR", dir).Replace(command))...)
	limit := bombMemory
	if strings.HasPrefix(command, "replay") {
		limit = replayMemory
	}
	if peak > limit || code != 0 && code != 1 {
		t.Errorf("%d bytes: %s takes %d MiB and %v, status %d", len(data), command, peak, took, code)
	}
	t.Logf("%d bytes: %s takes %d MiB and %v", len(data), command, peak, took.Round(time.Millisecond))
}

// bombStore opens a bomb as the inspector does, and reads it to its end, in this process.
func bombStore(t *testing.T, data []byte) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "bomb.jsonl.zst")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	before, peak := m.HeapAlloc, uint64(0)
	s, err := view.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	every := time.NewTicker(2 * time.Millisecond)
	defer every.Stop()
	deadline := time.Now().Add(5 * time.Minute)
	for n := 0; !s.State().Done; n++ {
		if n%50 == 0 { // as the screen does
			if row, ok := s.First(); ok {
				s.Row(row)
			}
			if row, ok := s.Last(); ok {
				s.Row(row)
			}
		}
		runtime.ReadMemStats(&m)
		peak = max(peak, m.HeapAlloc-min(before, m.HeapAlloc))
		if time.Now().After(deadline) {
			t.Fatalf("%d bytes: the inspector does not come to the end within 5 minutes", len(data))
		}
		<-every.C
	}
	if peak>>20 > bombMemory {
		t.Errorf("%d bytes: the inspector takes %d MiB", len(data), peak>>20)
	}
	t.Logf("%d bytes: the inspector takes %d MiB", len(data), peak>>20)
}

// measure runs a command and returns the most memory that it had, in MiB.
func measure(t *testing.T, work, program string, args ...string) (peak int, took time.Duration, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env = work, append(os.Environ(), "PITAP_DIR="+work, "HOME="+work)
	began := time.Now()
	p := launch(t, cmd)
	every := time.NewTicker(2 * time.Millisecond)
	defer every.Stop()
	for {
		b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
		if _, rest, ok := strings.Cut(string(b), "VmHWM:"); ok {
			kib := 0
			fmt.Sscan(rest, &kib)
			peak = max(peak, kib>>10)
		}
		select {
		case <-p.done:
			return peak, time.Since(began), status(cmd.ProcessState)
		case <-every.C:
		}
	}
}
