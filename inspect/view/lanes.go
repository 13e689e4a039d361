package view

import (
	"fmt"

	"pitap/inspect/text"
	"pitap/record"
)

// Lane is one line of the timeline.
type Lane struct {
	Name   string
	Role   Role
	Counts []uint64 // of a stream: entries in each cell
	Most   uint64
	Spans  []LaneSpan // of all else
}

// LaneSpan is something that took time.
type LaneSpan struct {
	T0, T1 int64 // nanoseconds since the start
	N      int64 // the entry that began it
	Name   string
	Bad    bool
	Open   bool // it has not ended
}

// Bars draws the counts of a lane, a cell each.
func (l *Lane) Bars() string { return bars(l.Counts, l.Most) }

const maxSpans = 20_000

// Lanes gives what happened from t0 to t1, in cells.
func (s *Store) Lanes(t0, t1 int64, cells int) []Lane {
	s.mu.Lock()
	defer s.mu.Unlock()
	var lanes []Lane
	if s.sess == nil || cells <= 0 {
		return nil
	}
	for _, from := range []record.Stream{record.Client, record.Agent, record.Stderr} {
		l := Lane{Name: from.String(), Role: streamRole(from), Counts: make([]uint64, cells)}
		for i := range l.Counts {
			a := t0 + int64(float64(t1-t0)*float64(i)/float64(cells))
			b := t0 + int64(float64(t1-t0)*float64(i+1)/float64(cells))
			l.Counts[i] = s.lines.sum(from, a, b)
			l.Most = max(l.Most, l.Counts[i])
		}
		lanes = append(lanes, l)
	}
	now := s.now()
	lane := func(name string, role Role) *Lane {
		lanes = append(lanes, Lane{Name: name, Role: role})
		return &lanes[len(lanes)-1]
	}
	add := func(l *Lane, n, a, b int64, open bool, name string, bad bool) {
		if b >= t0 && a <= t1 && len(l.Spans) < maxSpans {
			l.Spans = append(l.Spans, LaneSpan{a, b, n, text.VisibleString(name), bad, open})
		}
	}
	end := func(t *int64) (int64, bool) {
		if t == nil {
			return now, true
		}
		return *t, false
	}
	runs, model, tools := lane("runs", Strong), lane("model", Note), lane("tools", Number)
	runs, model, tools = &lanes[3], &lanes[4], &lanes[5]
	for i, r := range s.sess.Runs {
		var t *int64
		if r.Settled != nil {
			t = &r.Settled.T
		} else if r.Broken != "" && r.End != nil {
			t = &r.End.T
		}
		b, open := end(t)
		add(runs, r.Start.N, r.Start.T, b, open, fmt.Sprintf("run %d", i+1), r.Aborted || r.Broken != "")
		for _, turn := range r.Turns {
			for _, m := range turn.Messages {
				if m.Role != "assistant" {
					continue
				}
				var t *int64
				if m.End != nil {
					t = &m.End.T
				}
				b, open := end(t)
				add(model, m.Start.N, m.Start.T, b, open, m.Model, m.Error != "")
			}
		}
	}
	for _, tool := range s.sess.Tools {
		var t *int64
		if tool.End != nil {
			t = &tool.End.T
		}
		b, open := end(t)
		add(tools, tool.Start.N, tool.Start.T, b, open, tool.Name, tool.Failed)
	}
	bash := lane("bash", Number)
	for _, c := range s.sess.Commands {
		if c.Type != "bash" {
			continue
		}
		var t *int64
		if c.Response != nil {
			t = &c.Response.T
		}
		b, open := end(t)
		add(bash, c.N, c.T, b, open, "bash", c.Response != nil && !c.Success)
	}
	dialogs := lane("dialogs", Key)
	for _, d := range s.sess.Dialogs {
		var t *int64
		if d.Answer != nil {
			t = &d.Answer.T
		} else if d.Timeout > 0 && d.T+d.Timeout < now {
			over := d.T + d.Timeout
			t = &over
		}
		b, open := end(t)
		add(dialogs, d.N, d.T, b, open, d.Method, false)
	}
	stalls := lane("stalls", Bad)
	for _, st := range s.sess.Stalls {
		b, open := now, true
		if st.For > 0 {
			b, open = st.Since+st.For, false
		}
		add(stalls, st.N, st.Since, b, open, st.Stream.String(), true)
	}
	return lanes
}
