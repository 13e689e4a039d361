//go:build unix

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// BenchmarkWhole measures what pitap costs between a client and an agent, against what else could stand there, all in
// one run, one after the other in each round, so that a noisy machine is as noisy for all. It reports medians:
//
//	p50-x, p99-x      round trip through pitap, as a multiple of that through `cat | agent | cat`
//	drain-x           rate of a flood through pitap, as a multiple of that through `tee` into `zstd -3`
//	start-ms          what pitap adds to the run of a command that does nothing
//	flood-MiB         its memory at most in the flood
//
// The traffic is made up; $PITAP_BENCH_FILE names a file of real records to use instead. Run it as
//
//	go test -run - -bench Whole -benchtime 15x .
func BenchmarkWhole(b *testing.B) {
	if _, err := exec.LookPath("zstd"); err != nil {
		b.Skip("no zstd to compare with")
	}
	w := newWhole(b)
	figures := map[string][]float64{}
	for b.Loop() {
		cat := w.roundTrips("sh", "-c", "cat | "+w.load+" echo | cat")
		pitap := w.roundTrips(w.pitap, "record", "--", w.load, "echo")
		tee := w.drain("sh", "-c", fmt.Sprintf("%s flood %d %s | (mkfifo %s; zstd -3 -q -f -o %s < %[4]s & tee %[4]s; wait; rm %[4]s)", w.load, w.flood, w.file, filepath.Join(w.dir, "fifo"), filepath.Join(w.dir, "tee.zst")))
		rec := w.drain(w.pitap, "record", "--", w.load, "flood", strconv.FormatInt(w.flood, 10), w.file)
		direct := w.once("true")
		behind := w.once(w.pitap, "record", "--", "true")
		for name, v := range map[string]float64{
			"p50-x":     pitap.at(.5) / cat.at(.5),
			"p99-x":     pitap.at(.99) / cat.at(.99),
			"p50-µs":    pitap.at(.5) / 1e3,
			"drain-x":   rec.rate / tee.rate,
			"drain-MB":  rec.rate / 1e6,
			"flood-MiB": rec.memory / (1 << 20),
			"start-ms":  (behind - direct).Seconds() * 1e3,
		} {
			figures[name] = append(figures[name], v)
		}
	}
	for name, all := range figures {
		slices.Sort(all)
		b.ReportMetric(all[len(all)/2], name)
	}
	b.ReportMetric(0, "ns/op")
}

// whole is what the benchmark runs.
type whole struct {
	b                      *testing.B
	dir, pitap, load, file string
	flood                  int64 // bytes
}

func newWhole(b *testing.B) *whole {
	w := &whole{b: b, dir: b.TempDir(), flood: 256 << 20}
	w.pitap, w.load = filepath.Join(w.dir, "pitap"), filepath.Join(w.dir, "load")
	for name, pkg := range map[string]string{w.pitap: ".", w.load: "./internal/load"} {
		if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", name, pkg).CombinedOutput(); err != nil {
			b.Fatalf("go build %s: %v\n%s", pkg, err, out)
		}
	}
	b.Setenv("PITAP_DIR", filepath.Join(w.dir, "captures"))
	if w.file = os.Getenv("PITAP_BENCH_FILE"); w.file == "" {
		w.file = filepath.Join(w.dir, "traffic.jsonl")
		if err := os.WriteFile(w.file, madeUp(), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	return w
}

// madeUp is traffic like that of pi: mostly small deltas, sometimes a whole message.
func madeUp() []byte {
	var b bytes.Buffer
	words := strings.Fields("the file is read once and each of its lines becomes a record which holds what was said `os.Open` \\n 世界 —")
	text := strings.Builder{}
	for i := 0; b.Len() < 8<<20; i++ {
		word := words[i*7919%len(words)]
		text.WriteString(word + " ")
		fmt.Fprintf(&b, `{"type":"message_update","usage":{"input":%d,"output":%d,"cacheRead":0,"cacheWrite":0},"assistantMessageEvent":{"type":"text_delta","contentIndex":0,"delta":"%s "}}`+"\n", 1000+i%7, i, word)
		if i%500 == 499 {
			fmt.Fprintf(&b, `{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"%s"}],"stopReason":"stop","timestamp":%d}}`+"\n", text.String(), 1700000000000+i)
			text.Reset()
		}
	}
	return b.Bytes()
}

type trips []time.Duration

func (t trips) at(q float64) float64 { return float64(t[int(q*float64(len(t)-1))]) }

// roundTrips measures 5,000 commands and their answers, one at a time.
func (w *whole) roundTrips(command ...string) trips {
	cmd := exec.Command(command[0], command[1:]...)
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err1 != nil || err2 != nil || cmd.Start() != nil {
		w.b.Fatal("start", command)
	}
	lines := bufio.NewReaderSize(out, 64<<10)
	var took trips
	for i := range 5200 {
		began := time.Now()
		fmt.Fprintf(in, `{"id":"req-%d","type":"get_state"}`+"\n", i)
		if _, err := lines.ReadSlice('\n'); err != nil {
			w.b.Fatalf("%v: answer %d: %v", command, i, err)
		}
		if i >= 200 {
			took = append(took, time.Since(began))
		}
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		w.b.Fatalf("%v: %v", command, err)
	}
	slices.Sort(took)
	return took
}

type drained struct {
	rate   float64 // bytes a second
	memory float64 // bytes, of the largest process
}

// drain measures how fast a flood comes through.
func (w *whole) drain(command ...string) drained {
	cmd := exec.Command(command[0], command[1:]...)
	out, err := cmd.StdoutPipe()
	began := time.Now()
	if err != nil || cmd.Start() != nil {
		w.b.Fatal("start", command)
	}
	n, err := io.CopyBuffer(io.Discard, struct{ io.Reader }{out}, make([]byte, 64<<10))
	took := time.Since(began)
	if err2 := cmd.Wait(); err != nil || err2 != nil || n < w.flood {
		w.b.Fatalf("%v: %d bytes, %v, %v", command, n, err, err2)
	}
	d := drained{rate: float64(n) / took.Seconds()}
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		d.memory = float64(usage.Maxrss) * 1024
	}
	return d
}

// once measures a whole run.
func (w *whole) once(command ...string) time.Duration {
	began := time.Now()
	if err := exec.Command(command[0], command[1:]...).Run(); err != nil {
		w.b.Fatalf("%v: %v", command, err)
	}
	return time.Since(began)
}
