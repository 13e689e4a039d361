package inspect

import (
	"errors"
	"io"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"time"

	"pitap/record"
)

// Condition is what state a capture file is in.
type Condition string

const (
	CondWhole   Condition = "whole"         // it has its end
	CondFixture Condition = "fixture"       // made by pitap cut for tests: it needs no end
	CondLive    Condition = "live"          // it is being recorded
	CondCut     Condition = "cut"           // the recorder was killed, or the file was cut
	CondEmpty   Condition = "empty"         // not even its header was written
	CondDamaged Condition = "damaged"       // its first frame, with the header, or its last can't be read
	CondNewer   Condition = "newer format"  // written by a newer pitap
	CondAlien   Condition = "not a capture" // another file
	CondFailed  Condition = "unreadable"    // the file can't be read
)

// Listed is what a list says of a capture, as JSON for programs.
type Listed struct {
	Name      string    `json:"name"` // that finds it
	Path      string    `json:"path"`
	Condition Condition `json:"condition"`
	Start     time.Time `json:"start,omitzero"`
	Duration  float64   `json:"duration,omitempty"` // seconds from the start to the last entry
	Client    string    `json:"client,omitempty"`
	Agent     string    `json:"agent,omitempty"`
	Version   string    `json:"version,omitempty"` // of pi
	Argv      []string  `json:"argv,omitempty"`
	Cwd       string    `json:"cwd,omitempty"`
	Label     string    `json:"label,omitempty"`
	Entries   int64     `json:"entries,omitempty"`
	Size      int64     `json:"size"` // of the file in bytes
	// Findings counts the framing rules that flagged a record while it was recorded, by severity; nil when that is not
	// known. What pitap check finds besides is not in it.
	Findings map[string]int   `json:"findings,omitempty"`
	Flagged  map[string]int64 `json:"flagged,omitempty"` // records by rule
	Lost     int64            `json:"lost,omitempty"`    // bytes that could not be recorded
	Error    string           `json:"error,omitempty"`

	Folder string `json:"-"` // Cwd with ~ for home
}

// ours is how record.Create names captures; what identifies one is its last part.
var ours = regexp.MustCompile(`^\d{8}-\d{6}\.\d{3}-.*-([0-9a-f]{8})` + regexp.QuoteMeta(record.Ext) + `$`)

// ShortNames gives for each capture the part of its file's name that finds it among the others.
func ShortNames(found []record.Found) []string {
	names := make([]string, len(found))
	seen := map[string]int{}
	for i, f := range found {
		base := filepath.Base(f.Path)
		names[i] = base
		if m := ours.FindStringSubmatch(base); m != nil {
			names[i] = m[1]
		}
		seen[names[i]]++
	}
	for i, f := range found {
		if seen[names[i]] > 1 {
			names[i] = filepath.Base(f.Path)
		}
	}
	return names
}

// List looks at captures and calls emit for each, in their order, as soon as it is known. The first error of emit ends
// it and is returned.
func List(found []record.Found, emit func(*Listed) error) error {
	names := ShortNames(found)
	workers := min(runtime.GOMAXPROCS(0), 8, max(1, len(found)))
	results := make([]chan *Listed, len(found))
	for i := range results {
		results[i] = make(chan *Listed, 1)
	}
	next := make(chan int, len(found))
	for i := range found {
		next <- i
	}
	close(next)
	var all sync.WaitGroup
	stopped := make(chan struct{})
	for range workers {
		all.Go(func() { listWorker(found, names, next, results, stopped) })
	}
	defer all.Wait()
	defer close(stopped)
	for i := range found {
		if err := emit(<-results[i]); err != nil {
			return err
		}
	}
	return nil
}

func listWorker(found []record.Found, names []string, next <-chan int, results []chan *Listed, stopped <-chan struct{}) {
	g, err := record.NewGlancer()
	if err == nil {
		defer g.Close()
	}
	for i := range next {
		select {
		case <-stopped:
			return
		default:
		}
		l := &Listed{Name: names[i], Path: found[i].Path, Size: found[i].Size, Start: found[i].Time}
		if err != nil {
			l.fail(err)
		} else {
			l.look(g)
		}
		results[i] <- l
	}
}

func (l *Listed) look(g *record.Glancer) {
	v, err := g.Glance(l.Path)
	if err != nil {
		l.fail(err)
		if v != nil && v.Live && l.Condition == CondEmpty {
			l.Condition = CondLive
		}
		return
	}
	h := v.Header
	if !h.Start.IsZero() {
		l.Start = h.Start
	}
	l.Size = v.Size
	l.Client, l.Version, l.Argv, l.Cwd, l.Label = h.Client.Name, h.Agent.Version, h.Argv, h.Cwd, h.Label
	l.Agent = strings.TrimSuffix(AgentName(h), " "+h.Agent.Version)
	l.Folder = tilde(h.Cwd, h.Home)
	switch {
	case v.Ended && h.Cut != "" && !v.Damaged:
		l.Condition = CondFixture
	case v.Ended && !v.Damaged:
		l.Condition = CondWhole
	case v.Live:
		l.Condition = CondLive
	case v.Damaged:
		l.Condition = CondDamaged
	case h.Cut != "" && !v.Torn:
		l.Condition = CondFixture
	default:
		l.Condition = CondCut
	}
	if e := v.Last; e != nil {
		l.Entries, l.Duration = e.N, float64(e.T)/1e9
		if strings.HasSuffix(l.Path, record.Plain) && v.Size <= maxCounted {
			n, torn := count(l.Path)
			if l.Entries = n; torn && l.Condition == CondFixture {
				l.Condition = CondCut
			}
		}
		if e.Note != nil && e.Note.Totals != nil {
			l.totals(e.Note.Totals)
		}
	}
}

// maxCounted is the size of captures that are read to count their entries, in bytes: in fixtures these need no numbers.
const maxCounted = 1 << 20

func count(path string) (n int64, torn bool) {
	c, err := record.Open(path)
	if err != nil {
		return 0, false
	}
	defer c.Close()
	for c.Next() {
		n = c.Entry().N
	}
	return n, c.Torn()
}

func (l *Listed) totals(t *record.Totals) {
	l.Entries, l.Flagged, l.Lost = t.Entries, t.Flagged, t.Lost
	l.Findings = map[string]int{}
	for i := range record.FramingRules {
		if r := &record.FramingRules[i]; t.Flagged[r.ID] > 0 {
			l.Findings[r.Severity.String()]++
		}
	}
}

func (l *Listed) fail(err error) {
	l.Error = err.Error()
	switch {
	case errors.Is(err, record.ErrVersion):
		l.Condition = CondNewer
	case errors.Is(err, record.ErrNoCapture):
		l.Condition = CondAlien
	case errors.Is(err, io.ErrUnexpectedEOF):
		l.Condition = CondEmpty
	default:
		l.Condition = CondFailed
	}
}
