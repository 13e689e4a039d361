package view

import (
	"fmt"
	"slices"
	"sort"
	"time"

	"pitap/record"
)

// found is what was found, kept for as long as it holds.
type found struct {
	list    []record.Finding // in the order of entries
	bad     []badEntry       // what is more than a note, by entry
	counts  [3]int           // by severity
	version uint64
	when    time.Time
}

// badEntry is an entry that an error or a hazard speaks of.
type badEntry struct {
	n   int64
	sev record.Severity
}

// seldom is how often findings are collected anew while a capture is read or grows.
const seldom = 200 * time.Millisecond

// findings gives what was found so far; of a live capture as if it ended now, so that it names what waits too long.
func (s *Store) findings() *found {
	f := &s.found
	growing := s.live && !s.done
	if s.sess == nil || f.version == s.version && !growing || f.version != 0 && !s.done && time.Since(f.when) < seldom {
		return f
	}
	list := s.sess.Findings()
	if growing {
		list = append(list, s.sess.Pending(s.now())...)
		slices.SortStableFunc(list, func(a, b record.Finding) int { return int(min(max(a.N-b.N, -1), 1)) })
	}
	*f = found{list: list, version: s.version, when: time.Now()}
	for i := range list {
		sev := min(list[i].Severity, record.SevError)
		f.counts[sev]++
		if sev == record.SevNote {
			continue
		}
		f.bad = append(f.bad, badEntry{list[i].N, sev})
		if list[i].Last > list[i].N {
			f.bad = append(f.bad, badEntry{list[i].Last, sev})
		}
	}
	slices.SortFunc(f.bad, func(a, b badEntry) int { return int(min(max(a.n-b.n, -1), 1)) })
	return f
}

// Found counts the errors and the hazards that were found so far.
func (s *Store) Found() (errors, hazards int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.findings()
	return f.counts[record.SevError], f.counts[record.SevHazard]
}

// Worst gives the worst severity of what was found about the entries with the numbers from first to last; notes do not
// count.
func (s *Store) Worst(first, last int64) (worst record.Severity) {
	s.mu.Lock()
	defer s.mu.Unlock()
	bad := s.findings().bad
	i := sort.Search(len(bad), func(i int) bool { return bad[i].n >= first })
	for ; i < len(bad) && bad[i].n <= last && worst < record.SevError; i++ {
		worst = max(worst, bad[i].sev)
	}
	return worst
}

// Sore gives the entry at which a session that has ended is best looked at first, and says why, without full stop: the first error, or
// else what explains most of what was open at the end. It gives 0 when nothing went wrong.
func (s *Store) Sore() (n int64, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sess == nil {
		return 0, ""
	}
	for _, f := range s.findings().list {
		if f.Severity == record.SevError {
			return f.N, fmt.Sprintf("the first error, %s, is at entry %d", f.Rule, f.N)
		}
	}
	if open := s.sess.Open(s.now()); len(open) > 0 {
		return open[0].N, fmt.Sprintf("what was open at the end began at entry %d", open[0].N)
	}
	return 0, ""
}
