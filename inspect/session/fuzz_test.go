package session

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"pitap/inspect/text"
	"pitap/record"
)

// FuzzSession gives a session any records and notes: nothing makes it fail, and what it says of them is bounded.
func FuzzSession(f *testing.F) {
	for i, test := range ruleTests {
		if i%5 == 0 {
			f.Add(fixture(f, test.text))
		}
	}
	f.Fuzz(probe)
}

// TestShuffled puts the lines of all sessions together at random: what agents and clients can do, in any order.
func TestShuffled(t *testing.T) {
	var pool []string
	for _, test := range ruleTests {
		for line := range strings.Lines(test.text) {
			if !strings.HasPrefix(line, "pi ") && !strings.HasPrefix(line, "...") && len(line) < 2000 {
				pool = append(pool, line)
			}
		}
	}
	rng := rand.New(rand.NewPCG(3, 4))
	versions := []string{"1.6.0", "1.1.0", "0.84.2", "0.82.1", "0.74.2", "0.61.1", "0.49.3", "0.37.2", "-"}
	rounds := 3000
	if raceEnabled {
		rounds = 500
	}
	for range rounds {
		var b strings.Builder
		b.WriteString("pi " + versions[rng.IntN(len(versions))] + "\n")
		for range rng.IntN(60) {
			b.WriteString(pool[rng.IntN(len(pool))])
		}
		probe(t, fixture(t, b.String()))
	}
}

// probe reads a capture into a session and asks it everything.
func probe(t *testing.T, capture []byte) {
	r := record.NewReader(memory(capture), func() (int64, error) { return int64(len(capture)), nil })
	h, err := r.Header()
	if err != nil {
		return
	}
	s := New(h)
	entries := int64(0)
	for r.Next() {
		s.Add(r.Entry())
		entries++
	}
	s.Open(s.T)
	s.Why(s.T)
	s.Brief(s.T)
	s.Pending(s.T + 100)
	s.End(r.Ended())
	list := s.Findings()
	for i, one := range list {
		if one.N < 0 || one.Count < 1 || one.Last < one.N && one.Last != 0 || len(one.Text) > 2000 || i > 0 && list[i-1].N > one.N {
			t.Errorf("finding %+v", one)
		}
	}
	var out bytes.Buffer
	st := s.Stats(s.T)
	st.WriteText(&out, text.Palette{}, 80)
	s.WriteRuns(&out, text.Palette{}, 80)
	records := int64(0)
	for _, k := range st.Kinds {
		records += k.Records
	}
	if s.Entries != entries || records > entries {
		t.Errorf("%d entries, %d records, of %d", s.Entries, records, entries)
	}
	if why := s.Why(0); len(why) > 20_000 {
		t.Errorf("why has %d bytes", len(why))
	}
}
