//go:build linux

package faults

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"pitap/record"
)

// found is what a capture holds of a session.
type found struct {
	t         *testing.T
	g         *rig
	path      string
	has       map[record.Stream][][2]int64 // from, to; sorted, joined
	lost      map[record.Stream]int64      // by gap notes
	notes     map[string]int
	reasons   []string // of gap notes
	signals   []string
	lag       time.Duration // by the last lag note
	exit      *record.Note
	condition string
	damage    []record.Damage
}

func contains(s, part string) bool { return strings.Contains(s, part) }

// read reads a capture and compares it with what was sent: each entry's bytes are right, entries are in order, no time is
// negative, and bytes that no entry holds are those that gap notes count, up to the last that is there.
func (g *rig) read(path string) *found {
	g.t.Helper()
	file, err := record.Open(path)
	if err != nil {
		g.t.Fatal(err)
	}
	defer file.Close()
	f := &found{t: g.t, g: g, path: path, has: map[record.Stream][][2]int64{}, lost: map[record.Stream]int64{}, notes: map[string]int{}}
	sent := map[record.Stream]*prefix{
		record.Client: {s: NewStream(clientSeed(g.seed), mostRecord)},
		record.Agent:  {s: NewStream(agentSeed(g.seed), mostRecord)},
		record.Stderr: {s: NewStream(stderrSeed(g.seed), mostErr)},
	}
	var n, t int64
	for file.Next() {
		e := file.Entry()
		if e.N <= n || e.T < 0 || e.Note == nil && !e.Part && e.T < t {
			g.t.Fatalf("%s: entry %d at %v comes after entry %d at %v", path, e.N, time.Duration(e.T), n, time.Duration(t))
		}
		if n = e.N; e.Note == nil && !e.Part {
			t = e.T
		}
		if e.Note != nil {
			f.note(e.Note)
			continue
		}
		body := append(bytes.Clone(e.Body), e.EOL...)
		end := e.Off + int64(len(body))
		if !bytes.Equal(sent[e.From].part(e.Off, end), body) {
			g.t.Fatalf("%s: entry %d says that byte %d of %v is %.80q", path, e.N, e.Off, e.From, body)
		}
		f.has[e.From] = append(f.has[e.From], [2]int64{e.Off, end})
	}
	if err := file.Err(); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		g.t.Fatalf("%s: %v", path, err)
	}
	f.condition, f.damage = file.Condition(), file.Damage()
	if len(f.damage) > 0 {
		g.t.Fatalf("%s: damage %v", path, f.damage)
	}
	for s, all := range f.has {
		f.has[s] = joined(all)
	}
	return f
}

func (f *found) note(n *record.Note) {
	f.notes[n.Kind]++
	switch n.Kind {
	case "gap":
		f.reasons = append(f.reasons, n.Error)
		for name, lost := range n.Lost {
			if s, ok := record.ParseStream(name); ok {
				f.lost[s] += lost
			}
		}
	case "lag":
		f.lag = time.Duration(n.By)
	case "signal":
		f.signals = append(f.signals, n.Signal)
	case "exit":
		exit := *n
		f.exit = &exit
	}
}

// joined sorts ranges and joins those that touch.
func joined(all [][2]int64) (out [][2]int64) {
	slices.SortFunc(all, func(a, b [2]int64) int { return int(a[0] - b[0]) })
	for _, r := range all {
		if k := len(out) - 1; k >= 0 && r[0] <= out[k][1] {
			out[k][1] = max(out[k][1], r[1])
		} else {
			out = append(out, r)
		}
	}
	return out
}

// end is behind the last byte of a stream that is there.
func (f *found) end(s record.Stream) int64 {
	if all := f.has[s]; len(all) > 0 {
		return all[len(all)-1][1]
	}
	return 0
}

// missing is how many bytes before the last that is there no entry holds.
func (f *found) missing(s record.Stream) int64 {
	of := f.end(s)
	for _, r := range f.has[s] {
		of -= r[1] - r[0]
	}
	return of
}

// whole fails unless the capture is complete and holds every byte that the client was shown and the agent got, but for
// those that gap notes count.
func (f *found) whole() {
	f.t.Helper()
	if f.condition != "" {
		f.t.Errorf("%s: %s; want a whole capture", f.path, f.condition)
	}
	for s, least := range f.g.shown() {
		if got := f.end(s) + f.tail(s); got < least {
			f.t.Errorf("%s: ends at byte %d of %v, and %d were shown", f.path, got, s, least)
		}
		if missing := f.missing(s) + f.tail(s); missing != f.lost[s] {
			f.t.Errorf("%s: of %v %d bytes are missing, and gap notes count %d", f.path, s, missing, f.lost[s])
		}
	}
}

// exact fails when the capture does not account for all bytes that were sent, and no more.
func (f *found) exact() {
	f.t.Helper()
	for s, sent := range f.g.shown() {
		if got := f.end(s) + f.tail(s); got != sent {
			f.t.Errorf("%s: ends at byte %d of %v, and %d were sent", f.path, got, s, sent)
		}
	}
}

// tail is how many bytes of a stream are missing behind the last that is there: a gap to the end.
func (f *found) tail(s record.Stream) int64 { return max(0, f.lost[s]-f.missing(s)) }

// shown is how much of each stream the other side has got.
func (g *rig) shown() map[record.Stream]int64 {
	return map[record.Stream]int64{
		record.Client: g.agent.Read.Load(), record.Agent: g.client.Read.Load(), record.Stderr: g.client.ReadErr.Load(),
	}
}

// noGap fails when the capture has one, unless the machine was too busy for the recorder.
func (f *found) noGap() {
	f.t.Helper()
	for _, why := range f.reasons {
		if why != "the file is too slow" {
			f.t.Errorf("%s: gap: %s", f.path, why)
		}
	}
}
