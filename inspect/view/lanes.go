package view

import (
	"fmt"

	"pitap/inspect/session"
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
	return append(lanes, s.spanLanes(t0, t1)...)
}

// spanLanes gives what took time: runs, the model, tools, bash, dialogs, stalls.
func (s *Store) spanLanes(t0, t1 int64) []Lane {
	lanes := []Lane{{Name: "runs", Role: Strong}, {Name: "model", Role: Note}, {Name: "tools", Role: Number},
		{Name: "bash", Role: Number}, {Name: "dialogs", Role: Key}, {Name: "stalls", Role: Bad}}
	runs, model, tools, bash, dialogs, stalls := &lanes[0], &lanes[1], &lanes[2], &lanes[3], &lanes[4], &lanes[5]
	now := s.now()
	add := func(l *Lane, from session.Moment, to *session.Moment, name string, bad bool) {
		b := now
		if to != nil {
			b = to.T
		}
		if b >= t0 && from.T <= t1 && len(l.Spans) < maxSpans {
			l.Spans = append(l.Spans, LaneSpan{from.T, b, from.N, text.VisibleString(name), bad, to == nil})
		}
	}
	for i, r := range s.sess.Runs {
		end := r.Settled
		if end == nil && r.Broken != "" {
			end = r.End
		}
		add(runs, r.Start, end, fmt.Sprintf("run %d", i+1), r.Aborted || r.Broken != "")
		for _, turn := range r.Turns {
			for _, m := range turn.Messages {
				if m.Role == "assistant" {
					add(model, m.Start, m.End, m.Model, m.Error != "")
				}
			}
		}
	}
	for _, tool := range s.sess.Tools {
		add(tools, tool.Start, tool.End, tool.Name, tool.Failed)
	}
	for _, c := range s.sess.Commands {
		if c.Type == "bash" {
			add(bash, c.Moment, c.Response, "bash", c.Response != nil && !c.Success)
		}
	}
	for _, d := range s.sess.Dialogs {
		end := d.Answer
		if end == nil && d.Timeout > 0 && d.T+d.Timeout < now {
			end = &session.Moment{T: d.T + d.Timeout}
		}
		add(dialogs, d.Moment, end, d.Method, false)
	}
	for _, st := range s.sess.Stalls {
		var end *session.Moment
		if st.For > 0 {
			end = &session.Moment{T: st.Since + st.For}
		}
		add(stalls, session.Moment{N: st.N, T: st.Since}, end, st.Stream.String(), true)
	}
	return lanes
}
