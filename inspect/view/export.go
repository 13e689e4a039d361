package view

import (
	"bufio"
	"fmt"
	"io"

	"pitap/record"
	"pitap/record/scan"
)

// Export writes entries as a capture that is not compressed: those that are shown when pos is -1, else those of the row
// at pos. As a fixture they have neither number nor time. It returns how many entries it has written.
func (s *Store) Export(w io.Writer, pos int64, fixture bool) (n int64, err error) {
	out := bufio.NewWriter(w)
	s.mu.Lock()
	h := record.Header{Pitap: record.Version}
	if s.header != nil {
		h = *s.header
	}
	h.Cut = "entries chosen in pitap inspect"
	from, to := int64(0), s.count
	if pos >= 0 {
		from, to = s.group(pos)
	}
	s.mu.Unlock()
	if fixture {
		h.Host, h.Boot, h.PID, h.Client.PID, h.Agent.PID = "", "", 0, 0, 0
	}
	out.Write(h.Encode())
	for at := from; at < to; at++ {
		s.mu.Lock()
		left := budget
		next, ok := s.shownFrom(at, &left)
		if !ok || next >= to {
			s.mu.Unlock()
			break
		}
		at = next
		first := at
		if p, ok := s.parts[at]; ok {
			first = p.first
		}
		for ; first <= at && err == nil; first++ {
			err = s.exportEntry(out, first, at, fixture, &n)
		}
		s.mu.Unlock()
		if err != nil {
			return n, err
		}
	}
	return n, out.Flush()
}

// exportEntry writes an entry; before the one at last only parts of the same record are written.
func (s *Store) exportEntry(w io.Writer, pos, last int64, fixture bool, n *int64) error {
	e, err := s.entry(pos)
	if err != nil {
		return nil // damage is left out
	}
	if pos != last {
		if l, err := s.entry(last); err != nil || !e.Part || e.From != l.From {
			return nil
		}
		e, _ = s.entry(pos)
	}
	*n++
	line := e.Line
	if fixture {
		line = withoutTime(line)
	}
	_, err = fmt.Fprintf(w, "%s\n", line)
	return err
}

// withoutTime drops the members n and t that an entry's line begins with.
func withoutTime(line []byte) []byte {
	m := scan.MembersOf(line)
	at := 1
	for m.Next() && (m.Is("n") || m.Is("t")) {
		if at = m.End; at < len(line) && line[at] == ',' {
			at++
		}
	}
	return append([]byte{'{'}, line[at:]...)
}
