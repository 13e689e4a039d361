package view

import (
	"sort"
	"time"

	"pitap/inspect/session"
	"pitap/record"
)

// link is two entries that belong together: a command and its response, the start of a tool and its end.
type link struct {
	a, b int64 // numbers of entries
	took int64 // nanoseconds between them
	what string
}

// links are the pairs of a session.
type links struct {
	byA   []link
	byB   []int32 // indexes of byA, in the order of b
	at    int64   // entries of the session when they were made
	ended bool
	made  time.Time
}

// add is called for each entry.
func (l *links) add(*session.Session, *record.Entry) {}

// manyLinks is when pairs are no longer collected at every change, but once a second.
const manyLinks = 20_000

// update collects the pairs anew when the session has gone on; changed tells that it did.
func (l *links) update(s *session.Session) (changed bool) {
	if s == nil || s.Entries == l.at && s.Ended == l.ended || len(l.byA) > manyLinks && !s.Ended && time.Since(l.made) < time.Second {
		return false
	}
	l.at, l.ended, l.made = s.Entries, s.Ended, time.Now()
	l.byA = l.byA[:0]
	pair := func(a session.Moment, b *session.Moment, what string) {
		if b != nil {
			l.byA = append(l.byA, link{a.N, b.N, b.T - a.T, what})
		}
	}
	for _, c := range s.Commands {
		pair(c.Moment, c.Response, "response")
	}
	for _, b := range s.Bad {
		pair(b.Moment, b.Response, "response")
	}
	for _, d := range s.Dialogs {
		pair(d.Moment, d.Answer, "answer")
	}
	for _, t := range s.Tools {
		pair(t.Start, t.End, "end of the tool")
	}
	for _, r := range s.Runs {
		pair(r.Start, r.Settled, "end of the run")
		for _, t := range r.Turns {
			pair(t.Start, t.End, "end of the turn")
			for _, m := range t.Messages {
				pair(m.Start, m.End, "end of the message")
			}
		}
	}
	sort.SliceStable(l.byA, func(i, j int) bool { return l.byA[i].a < l.byA[j].a })
	l.byB = l.byB[:0]
	for i := range l.byA {
		l.byB = append(l.byB, int32(i))
	}
	sort.SliceStable(l.byB, func(i, j int) bool { return l.byA[l.byB[i]].b < l.byA[l.byB[j]].b })
	return true
}

// from gives the pair that an entry begins, to the one that it ends; nil where there is none.
func (l *links) from(n int64) *link {
	i := sort.Search(len(l.byA), func(i int) bool { return l.byA[i].a >= n })
	if i < len(l.byA) && l.byA[i].a == n {
		return &l.byA[i]
	}
	return nil
}

func (l *links) to(n int64) *link {
	i := sort.Search(len(l.byB), func(i int) bool { return l.byA[l.byB[i]].b >= n })
	if i < len(l.byB) && l.byA[l.byB[i]].b == n {
		return &l.byA[l.byB[i]]
	}
	return nil
}

// Partners gives the numbers of the entries that belong to entry n: its response or end, and what it answers or ends.
func (s *Store) Partners(n int64) []int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.partners(n)
}

func (s *Store) partners(n int64) (list []int64) {
	s.links.update(s.sess)
	if l := s.links.from(n); l != nil {
		list = append(list, l.b)
	}
	if l := s.links.to(n); l != nil {
		list = append(list, l.a)
	}
	if s.sess == nil {
		return list
	}
	for _, r := range s.sess.Runs { // a prompt and the run that it began
		if r.Prompt != nil && r.Prompt.N == n {
			list = append(list, r.Start.N)
		}
		if r.Prompt != nil && r.Start.N == n {
			list = append(list, r.Prompt.N)
		}
	}
	return list
}
