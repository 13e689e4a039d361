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

	"pitap/record"
)

// BenchmarkWhole measures what pitap costs between a client and an agent, against what else could stand there, all in
// one run, one after the other in each round, so that a noisy machine is as noisy for all. It logs a table of medians,
// and reports those that are promised:
//
//	p50-x, p99-x      round trip through pitap, as a multiple of that through `cat | agent | cat`
//	drain-x           rate of a flood through pitap, as a multiple of that through `tee` into `zstd -3`
//	size-x            of the flood's capture, as a multiple of `zstd -dc CAPTURE | zstd -3`
//	start-ms          what pitap adds to the run of a command that does nothing
//
// The traffic is made up, nearly all of it small deltas; $PITAP_BENCH_FILE names a file of real records to use instead,
// such as `pitap extract --from agent` gives. Run it as
//
//	go test -run - -bench Whole -benchtime 21x .
func BenchmarkWhole(b *testing.B) {
	if _, err := exec.LookPath("zstd"); err != nil {
		b.Skip("no zstd to compare with")
	}
	w := newWhole(b)
	w.warm()
	f := figures{}
	for b.Loop() {
		f.trips("direct", w.roundTrips(w.load, "echo"))
		f.trips("cat | agent | cat", w.roundTrips("sh", "-c", "cat | "+w.load+" echo | cat"))
		f.trips("pitap record", w.roundTrips(w.pitap, "record", "--", w.load, "echo"))
		flood := []string{w.load, "flood", strconv.FormatInt(w.flood, 10), w.file}
		f.drained("direct", w.drain(flood...))
		f.drained("tee into zstd -3", w.drain("sh", "-c", fmt.Sprintf("%s | (mkfifo %s; zstd -3 -q -f -o %s < %[2]s & tee %[2]s; wait; rm %[2]s)", strings.Join(flood, " "), filepath.Join(w.dir, "fifo"), filepath.Join(w.dir, "tee.zst"))))
		f.drained("pitap record", w.drain(append([]string{w.pitap, "record", "-o", w.capture, "--"}, flood...)...))
		f.add("size-x", w.size())
		f.add("start-ms", (w.once(w.pitap, "record", "--", "true")-w.once("true")).Seconds()*1e3)
	}
	f.report(b)
}

// figures are what each round gave, by the program in between and what was measured.
type figures map[string][]float64

func (f figures) add(name string, v float64) { f[name] = append(f[name], v) }

func (f figures) trips(program string, t trips) {
	f.add(program+" p50", t.at(.5)/1e3)
	f.add(program+" p99", t.at(.99)/1e3)
	f.add(program+" p99.9", t.at(.999)/1e3)
}

func (f figures) drained(program string, d drained) {
	f.add(program+" MB/s", d.rate/1e6)
	f.add(program+" CPU", d.cpu)
	f.add(program+" MiB", d.memory/(1<<20))
}

func (f figures) median(name string) float64 {
	all := slices.Sorted(slices.Values(f[name]))
	if len(all) == 0 {
		return 0
	}
	return all[len(all)/2]
}

func (f figures) report(b *testing.B) {
	table := fmt.Sprintf("medians of %d\n%-18s %8s %8s %8s %8s %11s %6s\n", b.N, "", "p50 µs", "p99 µs", "p99.9 µs", "MB/s", "CPU s a GB", "MiB")
	for _, program := range []string{"direct", "cat | agent | cat", "tee into zstd -3", "pitap record"} {
		table += fmt.Sprintf("%-18s", program)
		for _, column := range []struct {
			name   string
			format string
			width  int
		}{{"p50", "%.1f", 8}, {"p99", "%.1f", 8}, {"p99.9", "%.1f", 8}, {"MB/s", "%.0f", 8}, {"CPU", "%.2f", 11}, {"MiB", "%.0f", 6}} {
			cell := "-"
			if v := f.median(program + " " + column.name); v > 0 {
				cell = fmt.Sprintf(column.format, v)
			}
			table += fmt.Sprintf(" %*s", column.width, cell)
		}
		table += "\n"
	}
	b.Log(table)
	ratio := func(what, program string) float64 {
		return f.median("pitap record "+what) / f.median(program+" "+what)
	}
	b.ReportMetric(ratio("p50", "cat | agent | cat"), "p50-x")
	b.ReportMetric(ratio("p99", "cat | agent | cat"), "p99-x")
	b.ReportMetric(ratio("MB/s", "tee into zstd -3"), "drain-x")
	b.ReportMetric(f.median("size-x"), "size-x")
	b.ReportMetric(f.median("start-ms"), "start-ms")
	b.ReportMetric(0, "ns/op")
}

// whole is what the benchmark runs.
type whole struct {
	b                      *testing.B
	dir, pitap, load, file string
	capture                string // of the flood
	flood                  int64  // bytes
}

func newWhole(b *testing.B) *whole {
	w := &whole{b: b, dir: b.TempDir(), flood: 256 << 20}
	w.pitap, w.load = filepath.Join(w.dir, "pitap"), filepath.Join(w.dir, "load")
	w.capture = filepath.Join(w.dir, "flood.jsonl.zst")
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
	cpu    float64 // seconds of processor time for 1e9 bytes, of all processes but the client
	memory float64 // bytes, of the program that was started
}

// drain measures how fast a flood comes through.
func (w *whole) drain(command ...string) drained {
	os.Remove(w.capture)
	cmd := exec.Command(command[0], command[1:]...)
	out, err := cmd.StdoutPipe()
	before := childrenCPU()
	began := time.Now()
	if err != nil || cmd.Start() != nil {
		w.b.Fatal("start", command)
	}
	n, err := io.CopyBuffer(io.Discard, struct{ io.Reader }{out}, make([]byte, 64<<10))
	took := time.Since(began)
	if err2 := cmd.Wait(); err != nil || err2 != nil || n < w.flood {
		w.b.Fatalf("%v: %d bytes, %v, %v", command, n, err, err2)
	}
	d := drained{rate: float64(n) / took.Seconds(), cpu: (childrenCPU() - before).Seconds() / float64(n) * 1e9}
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok && command[0] == w.pitap {
		d.memory = float64(usage.Maxrss) * 1024
	}
	return d
}

// childrenCPU is the processor time of all processes that this one, and they, have waited for.
func childrenCPU() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// size compares the capture of the flood, which must hold all of it, with what zstd -3 makes of its content.
func (w *whole) size() float64 {
	if c := readSize(w.b, w.capture); c < w.flood {
		w.b.Fatalf("the capture holds %d bytes of %d", c, w.flood)
	}
	out, err := exec.Command("sh", "-c", "zstd -dcq "+w.capture+" | zstd -3 -q | wc -c").Output()
	size, err2 := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
	info, err3 := os.Stat(w.capture)
	if err != nil || err2 != nil || err3 != nil {
		w.b.Fatal(err, err2, err3)
	}
	return float64(info.Size()) / size
}

// readSize is how many bytes of the agent a capture holds; it fails when some were lost.
func readSize(b *testing.B, path string) int64 {
	c, err := record.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	var n int64
	for c.Next() {
		e := c.Entry()
		if e.From == record.Agent {
			n += int64(len(e.Body) + len(e.EOL))
		}
		if e.Note != nil && e.Note.Kind == "gap" {
			b.Fatalf("%s: a gap: %v", path, e.Note.Lost)
		}
	}
	if c.Err() != nil || c.Condition() != "" {
		b.Fatal(path, c.Err(), c.Condition())
	}
	return n
}

// warm lets the processors and the disk wake up.
func (w *whole) warm() {
	w.roundTrips(w.load, "echo")
	w.drain(w.load, "flood", strconv.FormatInt(w.flood, 10), w.file)
}

// once measures a whole run.
func (w *whole) once(command ...string) time.Duration {
	began := time.Now()
	if err := exec.Command(command[0], command[1:]...).Run(); err != nil {
		w.b.Fatalf("%v: %v", command, err)
	}
	return time.Since(began)
}
