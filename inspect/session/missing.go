package session

import (
	"pitap/record"
)

// missing is what is known of entries that the capture does not hold. Nothing is concluded from them.
type missing struct {
	client, agent bool // records of that side are missing, somewhere before
	edited        bool // a fixture that was made smaller: texts may have been cut
	began         bool // an entry was seen
	n             int64
	next          [4]int64 // by stream: offset behind the latest record
}

func (m *missing) all() { m.client, m.agent = true, true }

// checkMissing looks whether an entry follows the one before it.
func (s *Session) checkMissing(e *record.Entry) {
	m := &s.missing
	if m.began && e.N > m.n+1 && !isGap(e) || !m.began && e.N > 1 {
		s.lose(record.NoStream)
	}
	m.began, m.n = true, e.N
	if e.Note != nil || e.From == record.NoStream {
		return
	}
	if e.Off > m.next[e.From] {
		s.lose(e.From)
	}
	m.next[e.From] = max(m.next[e.From], e.Off+int64(len(e.Body)+len(e.EOL)))
}

func isGap(e *record.Entry) bool { return e.Note != nil && e.Note.Kind == "gap" }

// gap takes the note of bytes that were not recorded.
func (s *Session) gap(e *record.Entry) {
	known := false
	for name, bytes := range e.Note.Lost {
		s.Lost = min(s.Lost+max(0, bytes), 1<<62)
		if stream, ok := record.ParseStream(name); ok {
			known = true
			s.lose(stream)
			if e.Note.Lost[name] > 0 {
				s.missing.next[stream] += bytes
			}
		}
	}
	if !known {
		s.lose(e.From)
	}
}

// lose says that records of a stream are missing here; of NoStream, of all.
func (s *Session) lose(from record.Stream) {
	m := &s.missing
	switch from {
	case record.Client:
		m.client = true
	case record.Agent:
		m.agent = true
	case record.Stderr:
		return
	default:
		m.all()
	}
	s.pairs.doubt()
	for _, stream := range []record.Stream{record.Client, record.Agent} {
		if from == stream || from == record.NoStream {
			s.parts[stream] = &parts{damaged: true}
		}
	}
	if from != record.Client {
		s.darken("a gap in the recording")
		s.asks.forget()
	}
}

// darken ends what is known of the agent's life: something that it wrote is missing. A run that goes on is left.
func (s *Session) darken(why string) {
	s.life = life{dark: true}
	if s.run != nil {
		s.run.Broken = why
		s.endRun()
	}
	clear(s.tools)
	s.compact, s.retry = nil, nil
}
