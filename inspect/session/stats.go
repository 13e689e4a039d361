package session

import (
	"cmp"
	"math"
	"slices"

	"pitap/record"
)

// Stats are the figures of a session. Times are nanoseconds.
type Stats struct {
	Duration int64        `json:"duration_ns"` // up to now when it is live
	Live     bool         `json:"live"`        // it goes on
	Entries  int64        `json:"entries"`
	Lost     int64        `json:"lost_bytes,omitempty"`
	Version  string       `json:"version"`
	From     string       `json:"version_from"` // "header", "guess", or "newest": nothing tells, and it is assumed
	Kinds    []KindVolume `json:"kinds"`        // most bytes first
	Commands []Latency    `json:"commands"`     // by name
	Slowest  []Slow       `json:"slowest"`
	RunCount int          `json:"run_count"`
	Runs     []RunStats   `json:"runs"`  // of very many the latest
	Tools    []ToolStats  `json:"tools"` // most time first
	Stalls   []StallStats `json:"stalls"`
	Usage    UsageStats   `json:"usage"`
	// Sizes counts records by size: element i those of at least 2^i and less than 2^(i+1) bytes.
	Sizes map[string][]int64 `json:"sizes"`
}

// Latency is how long the responses to one command took. With very many of them the percentiles are those of a sample.
type Latency struct {
	Command string `json:"command"`
	Count   int    `json:"answered"`
	Open    int    `json:"open"` // without response
	Failed  int    `json:"failed"`
	P50     int64  `json:"p50_ns"`
	P90     int64  `json:"p90_ns"`
	P99     int64  `json:"p99_ns"`
	Max     int64  `json:"max_ns"`
	Slowest int64  `json:"slowest"` // number of the entry of the slowest one
}

// Slow is one of the slowest commands.
type Slow struct {
	N       int64  `json:"n"`
	Command string `json:"command"`
	Took    int64  `json:"took_ns"`
}

// RunStats are the figures of one run.
type RunStats struct {
	N          int64      `json:"n"`
	Start      int64      `json:"start_ns"`
	Took       int64      `json:"took_ns"` // 0 when it did not settle
	Turns      int        `json:"turns"`
	Tools      int        `json:"tools"`
	Retries    int        `json:"retries"`
	FirstDelta int64      `json:"first_delta_ns"` // from the prompt; 0 when there was none
	Rate       float64    `json:"tokens_per_s"`   // of the longest answer
	Usage      UsageStats `json:"usage"`
	Aborted    bool       `json:"aborted,omitempty"`
	Broken     string     `json:"broken,omitempty"`
}

// ToolStats are the figures of one tool.
type ToolStats struct {
	Name    string `json:"name"`
	Calls   int    `json:"calls"`
	Failed  int    `json:"failed"`
	Open    int    `json:"open"`
	Took    int64  `json:"took_ns"`
	Max     int64  `json:"max_ns"`
	Slowest int64  `json:"slowest"` // number of the entry of the slowest call
}

// StallStats is one stall.
type StallStats struct {
	Stream string `json:"stream"`
	Since  int64  `json:"since_ns"`
	Took   int64  `json:"took_ns"` // to the end of the capture when it was not over
	Over   bool   `json:"over"`
}

// UsageStats are tokens and cost.
type UsageStats struct {
	Input      int64   `json:"input"`
	Output     int64   `json:"output"`
	CacheRead  int64   `json:"cache_read"`
	CacheWrite int64   `json:"cache_write"`
	Cost       float64 `json:"cost"`
}

// Stats gives the figures of what was added so far. t is the time at which they are asked for, in nanoseconds since the
// start; of a session that has ended the time does not matter.
func (s *Session) Stats(t int64) *Stats {
	if t = max(t, s.T); s.Ended {
		t = s.T
	}
	st := &Stats{Duration: t, Live: !s.Ended, Entries: s.Entries, Lost: s.Lost, Version: s.Version.String(), From: s.VersionFrom,
		Kinds: []KindVolume{}, Commands: []Latency{}, Slowest: slices.Clone(s.figures.slowest), RunCount: s.figures.runs,
		Runs: []RunStats{}, Tools: []ToolStats{}, Stalls: []StallStats{}, Usage: UsageStats(s.figures.usage), Sizes: map[string][]int64{}}
	for _, k := range s.kinds.list {
		if k.Records > 0 {
			st.Kinds = append(st.Kinds, k.KindVolume)
		}
	}
	slices.SortFunc(st.Kinds, func(a, b KindVolume) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.From, b.From), cmp.Compare(a.Kind, b.Kind))
	})
	for i, sizes := range s.figures.sizes {
		last := len(sizes)
		for last > 0 && sizes[last-1] == 0 {
			last--
		}
		st.Sizes[(record.Client + record.Stream(i)).String()] = slices.Clone(sizes[:last])
	}
	for _, l := range s.figures.commands {
		st.Commands = append(st.Commands, l.percentiles())
	}
	slices.SortFunc(st.Commands, func(a, b Latency) int { return cmp.Compare(a.Command, b.Command) })
	for _, r := range s.Runs {
		st.Runs = append(st.Runs, r.stats())
	}
	st.Tools = s.toolStats()
	for _, stall := range s.Stalls {
		took := stall.For
		if took == 0 {
			took = t - stall.Since
		}
		st.Stalls = append(st.Stalls, StallStats{stall.Stream.String(), stall.Since, took, stall.For > 0})
	}
	return st
}

func (l *latency) percentiles() Latency {
	out := l.Latency
	if len(l.sample) > 0 {
		all := slices.Clone(l.sample)
		slices.Sort(all)
		at := func(q float64) int64 { return all[int(math.Ceil(q*float64(len(all))))-1] }
		out.P50, out.P90, out.P99 = at(.5), at(.9), at(.99)
	}
	return out
}

// Stats are the figures of the run so far.
func (r *Run) Stats() RunStats { return r.stats() }

func (r *Run) stats() RunStats {
	rs := RunStats{N: r.Start.N, Start: r.Start.T, Turns: r.turns, Tools: r.calls, Retries: r.Retries, Rate: r.rate,
		Usage: UsageStats(r.usage), Aborted: r.Aborted, Broken: r.Broken}
	if r.Settled != nil {
		rs.Took = r.Settled.T - r.Start.T
	}
	if r.first != nil {
		rs.FirstDelta = r.first.T - r.asked()
	}
	return rs
}

// asked is when the run was asked for: when its prompt was sent, or by itself.
func (r *Run) asked() int64 {
	if r.Prompt != nil {
		return r.Prompt.T
	}
	return r.Start.T
}

func (s *Session) toolStats() []ToolStats {
	list := []ToolStats{}
	for _, ts := range s.figures.tools {
		list = append(list, ts.ToolStats)
	}
	slices.SortFunc(list, func(a, b ToolStats) int {
		return cmp.Or(cmp.Compare(b.Took, a.Took), cmp.Compare(a.Name, b.Name))
	})
	return list
}
