package session

import (
	"slices"

	"pitap/record"
)

// volumes counts records and bytes as they come.
type volumes struct {
	kinds map[kindKey]*KindVolume
	sizes [3]sizes // by stream, from client on
}

type kindKey struct {
	from record.Stream
	kind string
}

// maxKinds bounds the kinds that are told apart; hostile traffic could have any number.
const maxKinds = 500

// KindVolume is how much there was of one kind of record.
type KindVolume struct {
	From    string `json:"from"`
	Kind    string `json:"kind"`
	Records int64  `json:"records"`
	Bytes   int64  `json:"bytes"`
	Largest int64  `json:"largest"`
}

// sizes is a histogram of record sizes by powers of two.
type sizes [40]int64

func (v *volumes) count(r *Record) {
	if v.kinds == nil {
		v.kinds = map[kindKey]*KindVolume{}
	}
	kind := r.Kind
	switch {
	case r.From == record.Stderr:
		kind = "line"
	case kind == "":
		kind = "not a record"
	}
	key := kindKey{r.From, kind}
	k := v.kinds[key]
	if k == nil {
		if len(v.kinds) >= maxKinds {
			key.kind = "others"
			k = v.kinds[key]
		}
		if k == nil {
			k = &KindVolume{From: r.From.String(), Kind: key.kind}
			v.kinds[key] = k
		}
	}
	size := r.Size + int64(len(r.EOL))
	k.Records++
	k.Bytes += size
	k.Largest = max(k.Largest, size)
	bucket := 0
	for n := size; n > 1 && bucket < len(sizes{})-1; n >>= 1 {
		bucket++
	}
	v.sizes[r.From-record.Client][bucket]++
}

// Stats are the figures of a session. Times are nanoseconds.
type Stats struct {
	Duration  int64        `json:"duration_ns"`
	Entries   int64        `json:"entries"`
	Lost      int64        `json:"lost_bytes,omitempty"`
	Version   string       `json:"version"`
	From      string       `json:"version_from"`
	Kinds     []KindVolume `json:"kinds"`     // most bytes first
	Latencies []Latency    `json:"latencies"` // by command
	Slowest   []Slow       `json:"slowest"`
	Runs      []RunStats   `json:"runs"`
	Tools     []ToolStats  `json:"tools"` // most time first
	Stalls    []StallStats `json:"stalls"`
	Usage     UsageStats   `json:"usage"`
	// Sizes counts records by size: element i those of at least 2^i and less than 2^(i+1) bytes.
	Sizes map[string][]int64 `json:"sizes"`
}

// Latency is how long the responses of one command took.
type Latency struct {
	Command string `json:"command"`
	Count   int    `json:"count"`
	Open    int    `json:"open"` // without response
	Failed  int    `json:"failed"`
	P50     int64  `json:"p50_ns"`
	P90     int64  `json:"p90_ns"`
	P99     int64  `json:"p99_ns"`
	Max     int64  `json:"max_ns"`
}

// Slow is one of the slowest commands.
type Slow struct {
	N       int64  `json:"n"`
	Command string `json:"command"`
	Took    int64  `json:"took_ns"`
}

// RunStats are the figures of one run.
type RunStats struct {
	N          int64   `json:"n"`
	Start      int64   `json:"start_ns"`
	Took       int64   `json:"took_ns"` // 0 when it did not settle
	Turns      int     `json:"turns"`
	Tools      int     `json:"tools"`
	Retries    int     `json:"retries"`
	FirstDelta int64   `json:"first_delta_ns"` // from the prompt; 0 when there was none
	Rate       float64 `json:"tokens_per_s"`   // of the longest answer
	Usage      UsageStats
	Aborted    bool   `json:"aborted,omitempty"`
	Broken     string `json:"broken,omitempty"`
}

// ToolStats are the figures of one tool.
type ToolStats struct {
	Name   string `json:"name"`
	Calls  int    `json:"calls"`
	Failed int    `json:"failed"`
	Open   int    `json:"open"`
	Took   int64  `json:"took_ns"`
	Max    int64  `json:"max_ns"`
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

// Stats gives the figures so far.
func (s *Session) Stats() *Stats {
	st := &Stats{Duration: s.T, Entries: s.Entries, Lost: s.Lost, Version: s.Version.String(), From: s.VersionFrom, Sizes: map[string][]int64{}}
	for _, k := range s.volumes.kinds {
		st.Kinds = append(st.Kinds, *k)
	}
	slices.SortFunc(st.Kinds, func(a, b KindVolume) int {
		if a.Bytes != b.Bytes {
			return int(min(1, max(-1, b.Bytes-a.Bytes)))
		}
		return compareStrings(a.From+a.Kind, b.From+b.Kind)
	})
	for i, sizes := range s.volumes.sizes {
		last := 0
		for j, n := range sizes {
			if n > 0 {
				last = j + 1
			}
		}
		st.Sizes[(record.Client + record.Stream(i)).String()] = slices.Clone(sizes[:last])
	}
	s.latencies(st)
	var total Usage
	for _, r := range s.Runs {
		rs, u := r.stats()
		total.Add(u)
		st.Runs = append(st.Runs, rs)
	}
	st.Usage = UsageStats(total)
	s.toolStats(st)
	for _, stall := range s.Stalls {
		took := stall.For
		if took == 0 {
			took = s.T - stall.Since
		}
		st.Stalls = append(st.Stalls, StallStats{stall.Stream.String(), stall.Since, took, stall.For > 0})
	}
	return st
}

func compareStrings(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func (s *Session) latencies(st *Stats) {
	by := map[string]*Latency{}
	took := map[string][]int64{}
	var order []string
	for _, c := range s.Commands {
		name := c.words()
		l := by[name]
		if l == nil {
			if len(by) >= maxKinds {
				continue
			}
			l = &Latency{Command: name}
			by[name] = l
			order = append(order, name)
		}
		ns, ok := c.Latency()
		if !ok {
			l.Open++
			continue
		}
		l.Count++
		if !c.Success {
			l.Failed++
		}
		took[name] = append(took[name], ns)
		st.Slowest = append(st.Slowest, Slow{c.N, name, ns})
	}
	for _, name := range order {
		l := by[name]
		if all := took[name]; len(all) > 0 {
			slices.Sort(all)
			at := func(q float64) int64 { return all[int(q*float64(len(all)-1)+0.5)] }
			l.P50, l.P90, l.P99, l.Max = at(.5), at(.9), at(.99), all[len(all)-1]
		}
		st.Latencies = append(st.Latencies, *l)
	}
	slices.SortFunc(st.Latencies, func(a, b Latency) int { return compareStrings(a.Command, b.Command) })
	slices.SortStableFunc(st.Slowest, func(a, b Slow) int { return int(min(1, max(-1, b.Took-a.Took))) })
	st.Slowest = st.Slowest[:min(10, len(st.Slowest))]
}

func (r *Run) stats() (RunStats, Usage) {
	rs := RunStats{N: r.Start.N, Start: r.Start.T, Turns: len(r.Turns), Retries: r.Retries, Aborted: r.Aborted, Broken: r.Broken}
	if r.Settled != nil {
		rs.Took = r.Settled.T - r.Start.T
	}
	asked := r.Start.T
	if r.Prompt != nil {
		asked = r.Prompt.T
	}
	var total Usage
	var most int64
	for _, t := range r.Turns {
		rs.Tools += len(t.Tools)
		for _, m := range t.Messages {
			if m.First != nil && rs.FirstDelta == 0 {
				rs.FirstDelta = m.First.T - asked
			}
			if m.Role == "assistant" {
				total.Add(m.Usage)
			}
			if m.Usage.Output > most {
				most, rs.Rate = m.Usage.Output, m.Rate()
			}
		}
	}
	rs.Usage = UsageStats(total)
	return rs, total
}

func (s *Session) toolStats(st *Stats) {
	by := map[string]*ToolStats{}
	for _, t := range s.Tools {
		ts := by[t.Name]
		if ts == nil {
			if len(by) >= maxKinds {
				continue
			}
			ts = &ToolStats{Name: t.Name}
			by[t.Name] = ts
		}
		ts.Calls++
		if t.End == nil {
			ts.Open++
			continue
		}
		if t.Failed {
			ts.Failed++
		}
		ts.Took += t.End.T - t.Start.T
		ts.Max = max(ts.Max, t.End.T-t.Start.T)
	}
	for _, ts := range by {
		st.Tools = append(st.Tools, *ts)
	}
	slices.SortFunc(st.Tools, func(a, b ToolStats) int {
		if a.Took != b.Took {
			return int(min(1, max(-1, b.Took-a.Took)))
		}
		return compareStrings(a.Name, b.Name)
	})
}
