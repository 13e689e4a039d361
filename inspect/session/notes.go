package session

import (
	"slices"

	"pitap/record"
)

const maxErrLines = 100

func (s *Session) stderr(e *record.Entry) {
	text := clip(string(e.Body[:min(len(e.Body), maxKept+1)]), maxKept)
	s.LastErr = append(s.LastErr, Line{Moment{e.N, e.T, "stderr"}, text})
	if len(s.LastErr) > maxErrLines {
		s.LastErr = slices.Delete(s.LastErr, 0, maxErrLines/2)
	}
	r := &Record{Entry: e, Size: int64(len(e.Body))}
	r.kind = s.kinds.of(r)
	s.crossed(r)
	s.figures.count(r)
}

func (s *Session) note(e *record.Entry) {
	n := e.Note
	at := &Moment{e.N, e.T, n.Kind}
	switch n.Kind {
	case "eof":
		if s.EOF[e.From] == nil {
			s.EOF[e.From] = at
		}
	case "closed":
		if s.Closed[e.From] == nil {
			s.Closed[e.From] = at
		}
	case "signal":
		at.Kind = clip(n.Signal, 40)
		s.Signals = append(trimmed(s.Signals, maxNotes), Signal{*at, clip(n.To, 40)})
	case "stall":
		s.stall(e)
	case "gap":
		s.gap(e)
	case "exit":
		s.Exit = &Exit{Moment: *at, Signal: clip(n.Signal, 40), Error: clip(n.Error, maxKept)}
		if n.Code != nil {
			s.Exit.Code = *n.Code
		}
	}
}

func (s *Session) stall(e *record.Entry) {
	st := s.stalled[e.From]
	if st == nil {
		st = &Stall{Stream: e.From, Since: min(e.Note.Since, e.T), N: e.N}
		s.stalled[e.From] = st
		s.Stalls = append(trimmed(s.Stalls, maxNotes), st)
	}
	st.Bytes = max(st.Bytes, e.Note.Bytes)
	if e.Note.For > 0 {
		st.For = e.Note.For
		s.stalled[e.From] = nil
		s.findStall(&s.findings, st, e.T)
	}
}

// findStall finds a reader that did not read for long.
func (s *Session) findStall(f *findings, st *Stall, t int64) {
	took, open := st.For, ""
	if took == 0 {
		took, open = t-st.Since, ", and still does not"
	}
	if took < longStall {
		return
	}
	p := place{n: st.N, from: st.Stream}
	switch st.Stream {
	case record.Agent:
		f.add("flow/stall", p, "", "the client did not read the agent's output for %s%s", ago(took), open)
	case record.Stderr:
		f.add("flow/stall", p, "", "nobody read the agent's stderr for %s%s", ago(took), open)
	case record.Client:
		if s.ready != nil && st.Since > s.ready.T { // until then pi is starting
			f.add("flow/agent-stall", p, "", "the agent did not read its input for %s%s", ago(took), open)
		}
	}
}
