package replay

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pitap/record"
	"pitap/record/rpc"
)

// variant is a client that does not quite do what was recorded.
type variant struct {
	name   string
	lines  [][]byte
	live   Folders
	leaves bool // it closes stdin at once, whatever is to come
}

// want is what the replay must make of it.
type want func(t *testing.T, r *Report, out string)

// recording is a recorded session of a client with the real pi.
type recording struct {
	script *Script
	client [][]byte
	agent  string
}

func readRecording(t *testing.T, file string) recording {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Parse(content)
	if err != nil {
		t.Fatal(err)
	}
	rec := recording{script: s}
	var agent strings.Builder
	r := record.NewReader(bytes.NewReader(content), func() (int64, error) { return int64(len(content)), nil })
	for r.Next() {
		switch e := r.Entry(); {
		case e.Note != nil:
		case e.From == record.Client:
			rec.client = append(rec.client, append(bytes.Clone(e.Body), e.EOL...))
		case e.From == record.Agent:
			agent.Write(e.Body)
			agent.WriteString(e.EOL)
		}
	}
	rec.agent = agent.String()
	if last := len(rec.client) - 1; !bytes.HasSuffix(rec.client[last], []byte("\n")) {
		rec.client[last] = append(rec.client[last], '\n')
	}
	return rec
}

// play has a client send lines with a pause before each, then close stdin. Time is not real.
func (rec recording) play(t *testing.T, v variant, pause time.Duration) (rep *Report, out string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		in, send := io.Pipe()
		var got bytes.Buffer
		begin := time.Now()
		done, had := make(chan struct{}), make(chan struct{})
		var once sync.Once
		go func() {
			defer close(done)
			for _, l := range v.lines {
				time.Sleep(pause)
				if _, err := send.Write(l); err != nil {
					return
				}
			}
			time.Sleep(pause)
			if !v.leaves {
				select {
				case <-had:
				case <-time.After(2 * time.Second):
				}
			}
			send.Close()
		}()
		a := Agent{Script: rec.script, In: in, Out: nopCloser{&got}, Live: v.live, OnReport: func(r *Report) {
			if r.Outcome != Running {
				once.Do(func() { close(had) })
			}
		}}
		var err error
		if rep, err = a.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		<-done
		if d := time.Since(begin); d > time.Duration(len(v.lines)+1)*pause+time.Minute {
			t.Errorf("%s takes %v", v.name, d)
		}
		out = got.String()
	})
	return rep, out
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// variants are clients made of the recorded one, each with what must come of it. A client that is not quick asks what the
// script does not wait for any more.
func (rec recording) variants(quick bool) (list []variant, wants []want) {
	add := func(v variant, w want) { list, wants = append(list, v), append(wants, w) }
	fine := func(t *testing.T, r *Report, out string) {
		if r.Failed() {
			t.Errorf("fails: %s", r)
		}
	}
	all := rec.client
	add(variant{name: "as recorded", lines: all}, func(t *testing.T, r *Report, out string) {
		fine(t, r, out)
		if r.Skipped > 0 || len(out) != len(rec.agent) || quick && out != rec.agent {
			t.Errorf("%d bytes, %d recorded; %s", len(out), len(rec.agent), r)
		}
	})
	moved := variant{name: "in another folder", live: Folders{Cwd: "/mnt/work", Home: "/mnt", Tmp: "/var/tmp"}}
	for _, l := range all {
		l = bytes.ReplaceAll(l, []byte("/home/user/project"), []byte("/mnt/work"))
		moved.lines = append(moved.lines, bytes.ReplaceAll(l, []byte("/home/user"), []byte("/mnt")))
	}
	add(moved, fine)
	for i, l := range all {
		head := rpc.Look("client", bytes.TrimRight(l, "\r\n"))
		known := rpc.Load().Command(head.Type)
		less := variant{name: fmt.Sprintf("without record %d", i), lines: slices.Delete(slices.Clone(all), i, i+1)}
		twice := variant{name: fmt.Sprintf("record %d twice", i), lines: slices.Insert(slices.Clone(all), i, l)}
		early := variant{name: fmt.Sprintf("the end before record %d", i), lines: all[:i], leaves: true}
		switch {
		case known == nil: // answers to dialogs, and lines that are no commands
			add(less, func(*testing.T, *Report, string) {})
			add(twice, func(*testing.T, *Report, string) {})
		case known.ReadOnly():
			add(less, fine)
			add(twice, fine)
		default:
			add(less, func(t *testing.T, r *Report, out string) {
				if !r.Failed() || len(r.NeverCame) == 0 || !strings.HasPrefix(strings.Join(r.NeverCame, "\n"), head.Type) && len(r.Misses) == 0 && !slices.ContainsFunc(r.NeverCame, func(s string) bool { return strings.HasPrefix(s, head.Type) }) {
					t.Errorf("never came: %s", r)
				}
			})
			add(twice, func(t *testing.T, r *Report, out string) {
				if len(r.Misses) != 1 && r.Outcome == Complete || len(r.Misses) > 0 && !strings.Contains(r.Misses[0].Why, "this is one more") && !strings.Contains(r.Misses[0].Why, "nearest is line") {
					t.Errorf("no right miss: %s", r)
				}
			})
		}
		add(early, func(t *testing.T, r *Report, out string) {
			if r.Outcome == Complete || r.Code != 0 || len(r.Misses) > 0 {
				// What is left may be questions alone.
				if r.Outcome != Complete || r.Failed() {
					t.Errorf("the early end: %s", r)
				}
			}
			if quick && !strings.HasPrefix(rec.agent, out) && len(r.Reordered)+len(r.Early)+r.Skipped+r.Extra == 0 {
				t.Error("another beginning")
			}
		})
		if i > 0 {
			swapped := variant{name: fmt.Sprintf("records %d and %d the other way round", i-1, i), lines: slices.Clone(all)}
			swapped.lines[i-1], swapped.lines[i] = all[i], all[i-1]
			add(swapped, func(t *testing.T, r *Report, out string) {
				if r.Outcome == GaveUp {
					t.Errorf("gave up: %s", r)
				}
			})
		}
	}
	return list, wants
}

// Clients that do not quite do what was recorded: in another order, once more, once less, elsewhere, or that end early;
// all at once, and with pauses, as who awaits each answer. All of them end, and what is said of them is right.
func TestVariants(t *testing.T) {
	files, err := filepath.Glob("testdata/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatal("no recordings", err)
	}
	for _, file := range files {
		rec := readRecording(t, file)
		for _, pause := range []time.Duration{0, 100 * time.Millisecond, 400 * time.Millisecond} {
			list, wants := rec.variants(pause < pauseTime)
			t.Run(fmt.Sprintf("%s %v apart", filepath.Base(file), pause), func(t *testing.T) {
				for i, v := range list {
					if (testing.Short() || raceEnabled) && i%7 > 0 {
						continue
					}
					r, out := rec.play(t, v, pause)
					before := t.Failed()
					wants[i](t, r, out)
					if !before && t.Failed() {
						t.Fatalf("of the variant: %s", v.name)
					}
				}
			})
		}
	}
}
