//go:build linux

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"pitap/internal/zoo"
	"pitap/record"
)

// A day's work of a busy client: pitap takes no more memory at its end than at its beginning, holds no more descriptors
// and threads, records all of it, and tells what it was.
func TestEndurance(t *testing.T) {
	if zoo.Plainly(t) {
		return
	}
	commands := 4_000
	if long {
		commands = 200_000
	}
	load := filepath.Join(t.TempDir(), "load")
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", load, "./internal/load").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	run := aRun(t, 84)
	file := filepath.Join(t.TempDir(), "run.jsonl")
	if err := os.WriteFile(file, run, 0o600); err != nil {
		t.Fatal(err)
	}
	records := bytes.Count(run, []byte("\n"))
	f := behind(t)
	cmd := f.command(load, "runs", file)
	cmd.Stderr = os.Stderr
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	p := launch(t, cmd)
	lines := bufio.NewReaderSize(out, 1<<20)
	var day samples
	total := int64(0)
	for i := range commands {
		id := strconv.Itoa(i)
		fmt.Fprintf(in, `{"id":"%s","type":"prompt","message":"go"}`+"\n", id)
		for r := range records {
			line, err := lines.ReadSlice('\n')
			if err != nil || r == 0 && !bytes.Contains(line, []byte(`"id":"`+id+`"`)) {
				t.Fatalf("run %d, record %d: %.100q, %v", i, r, line, err)
			}
			total += int64(len(line))
		}
		if i%(commands/100) == commands/100-1 {
			day.take(t, cmd.Process.Pid)
		}
	}
	in.Close()
	p.wait(0)
	fifth := len(day.memory) / 5
	t.Logf("%d commands, %d records of the agent, %d MB; memory %d MiB after a fifth, grew by %.2f MiB since, at most %d MiB; %d descriptors, %d threads",
		commands, commands*records, total/1e6, day.memory[fifth]>>20, day.growth()/(1<<20), slices.Max(day.memory)>>20, slices.Max(day.files), slices.Max(day.threads))
	if day.growth() > 16<<20 { // less than a MiB for each hour of a day
		t.Errorf("memory grew: %d", day.memory)
	}
	tenth, all := day.cpu[len(day.cpu)/10-1], day.cpu[len(day.cpu)-1]
	t.Logf("processor time: %v for a tenth of it, %v for all", tenth, all)
	if long && all > 13*tenth {
		t.Errorf("ten times the traffic took %v, a tenth of it %v", all, tenth)
	}
	if slices.Max(day.files) != day.files[fifth] || slices.Max(day.threads) > day.threads[fifth]+1 {
		t.Errorf("descriptors %d, threads %d", day.files, day.threads)
	}

	path := f.onlyCapture()
	pitap := func(args ...string) []byte {
		cmd := exec.Command(filepath.Join(bin, "pitap"), args...)
		cmd.Env = f.env()
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("pitap %s: %v\n%.500s", args, err, out)
		}
		if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
			t.Logf("pitap %s took %v of processor time and %d MiB", args[0], cmd.ProcessState.UserTime(), usage.Maxrss>>10)
		}
		return out
	}
	pitap("check", path)
	var stats struct {
		Entries int `json:"entries"`
	}
	if out := pitap("stats", "--json", path); json.Unmarshal(out, &stats) != nil || stats.Entries < commands*(records+1) {
		t.Errorf("%d entries, want %d and some more: %.500s", stats.Entries, commands*(records+1), out)
	}
	complete(t, path, total)
}

// complete checks that a capture holds so many bytes of the agent, without a gap, and an end.
func complete(t *testing.T, path string, size int64) {
	t.Helper()
	c, err := record.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var got counter
	agent := record.Bytes{From: record.Agent, To: &got}
	var n int64
	for c.Next() {
		e := c.Entry()
		if n++; e.N != n {
			t.Fatalf("entry %d is in the place of %d", e.N, n)
		}
		if err := agent.Entry(e); err != nil {
			t.Fatal(err)
		}
	}
	if c.Err() != nil || c.Condition() != "" || agent.Lost > 0 || int64(got) != size {
		t.Errorf("%d entries: %v, condition %q, %d bytes of the agent and %d lost, of %d", n, c.Err(), c.Condition(), got, agent.Lost, size)
	}
}

type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// samples are what a process has held, at equal steps of its work.
type samples struct {
	memory, files, threads []int
	cpu                    []time.Duration
}

func (s *samples) take(t *testing.T, pid int) {
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		t.Fatal(err)
	}
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		t.Fatal(err)
	}
	s.memory, s.cpu = append(s.memory, zoo.Resident(pid)), append(s.cpu, zoo.CPU(pid))
	s.files, s.threads = append(s.files, len(files)), append(s.threads, len(threads))
}

// growth is how much more memory is held at the end than after the first fifth, in bytes, along a straight line.
func (s *samples) growth() float64 {
	y := s.memory[len(s.memory)/5:]
	var sx, sy, sxx, sxy float64
	for i, v := range y {
		x := float64(i)
		sx, sy, sxx, sxy = sx+x, sy+float64(v), sxx+x*x, sxy+x*float64(v)
	}
	n := float64(len(y))
	return (n*sxy - sx*sy) / (n*sxx - sx*sx) * n
}

// aRun is what the agent of docs/hello.jsonl answers to a prompt, its text in so many deltas, with @ID for the id.
func aRun(t *testing.T, deltas int) []byte {
	t.Helper()
	fixture, err := os.ReadFile("docs/hello.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("word ", deltas)
	var run []byte
	for line := range strings.Lines(string(fixture)) {
		var e struct {
			From string
			Msg  json.RawMessage
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		msg := strings.ReplaceAll(string(e.Msg), "Hello, world!", text)
		switch {
		case e.From != "agent" || run == nil && !strings.Contains(msg, `"command":"prompt"`):
		case strings.Contains(msg, `"command":"prompt"`):
			run = append(run, strings.Replace(msg, "req-3", "@ID", 1)+"\n"...)
		case strings.Contains(msg, `"text_delta"`):
			one := strings.Replace(msg, text, "word ", 1) + "\n"
			run = append(run, strings.Repeat(one, deltas)...)
		default:
			run = append(append(run, msg...), '\n')
		}
		if strings.Contains(msg, `"agent_settled"`) {
			return run
		}
	}
	t.Fatal("no agent_settled in the fixture")
	return nil
}
