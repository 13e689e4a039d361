package session

import (
	"math/bits"
	"slices"

	"pitap/record"
)

// figures are counted as entries come, so that they are of all, whatever is forgotten.
type figures struct {
	sizes    [3]sizes // by stream, from client on
	commands map[string]*latency
	slowest  []Slow // the slowest first
	tools    map[string]*toolFigures
	usage    Usage
	runs     int
}

// sizes is a histogram of record sizes by powers of two.
type sizes [40]int64

// maxNames bounds the names of commands and of tools that are told apart: each.
const maxNames = 200

// latency collects how long the responses to one command took.
type latency struct {
	Latency
	sample []int64 // of all, or so many that are picked evenly
	seed   uint64
}

// maxSample is how many latencies of a command are kept; percentiles of more are those of a sample.
const maxSample = 8192

// count takes a record.
func (f *figures) count(r *Record) {
	size := r.Size + int64(len(r.EOL))
	v := &r.kind.KindVolume
	v.Records++
	v.Bytes += size
	v.Largest = max(v.Largest, size)
	f.sizes[r.From-record.Client][min(max(bits.Len64(uint64(size))-1, 0), len(sizes{})-1)]++
}

// of returns the figures of a command.
func (f *figures) of(c *Command) *latency {
	name := c.words()
	l := f.commands[name]
	if l == nil {
		if f.commands == nil {
			f.commands = map[string]*latency{}
		}
		if len(f.commands) >= maxNames {
			name = "others"
			if l = f.commands[name]; l != nil {
				return l
			}
		}
		l = &latency{Latency: Latency{Command: name}, seed: 1}
		f.commands[name] = l
	}
	return l
}

func (f *figures) sent(c *Command) { f.of(c).Open++ }

func (f *figures) answered(c *Command) {
	took, _ := c.Latency()
	l := f.of(c)
	l.Open--
	l.Count++
	if !c.Success {
		l.Failed++
	}
	if took >= l.Max {
		l.Max, l.Slowest = took, c.N
	}
	if len(l.sample) < maxSample {
		l.sample = append(l.sample, took)
	} else {
		l.seed = l.seed*6364136223846793005 + 1442695040888963407 // a fixed sequence: the same capture, the same figures
		if i := l.seed >> 11 % uint64(l.Count); i < maxSample {
			l.sample[i] = took
		}
	}
	f.slow(Slow{c.N, l.Command, took})
}

const maxSlowest = 10

func (f *figures) slow(s Slow) {
	if len(f.slowest) == maxSlowest && s.Took <= f.slowest[maxSlowest-1].Took {
		return
	}
	i, _ := slices.BinarySearchFunc(f.slowest, s.Took, func(have Slow, took int64) int {
		if have.Took >= took {
			return -1
		}
		return 1
	})
	f.slowest = slices.Insert(f.slowest, i, s)
	f.slowest = f.slowest[:min(len(f.slowest), maxSlowest)]
}

// toolFigures are those of the tools of one name. Open is the calls that have not ended.
type toolFigures struct{ ToolStats }

func (f *figures) tool(t *Tool) *toolFigures {
	name := clip(t.Name, 60)
	ts := f.tools[name]
	if ts == nil {
		if f.tools == nil {
			f.tools = map[string]*toolFigures{}
		}
		if len(f.tools) >= maxNames {
			name = "others"
		}
		if ts = f.tools[name]; ts == nil {
			ts = &toolFigures{ToolStats{Name: name}}
			f.tools[name] = ts
		}
	}
	return ts
}

func (f *figures) toolStarted(t *Tool) {
	ts := f.tool(t)
	ts.Calls++
	ts.Open++
}

func (f *figures) toolEnded(t *Tool) {
	ts := f.tool(t)
	ts.Open--
	if t.Failed {
		ts.Failed++
	}
	took := t.End.T - t.Start.T
	ts.Took += took
	if took >= ts.Max {
		ts.Max, ts.Slowest = took, t.Start.N
	}
}
