package view

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"pitap/inspect"
	"pitap/inspect/text"
	"pitap/record"
)

// Bottom is what the last lines of the screen say: the sentence of pitap why, and what crossed last in each direction,
// from the client first; brief is the same for a narrow screen. There are no directions before the header was read.
func (s *Store) Bottom() (why string, last, brief []Line) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.err != nil:
		_, why = trouble(s.err, s.capture.Size())
	case s.sess == nil:
		why = "Reading the capture."
	case !s.done && !s.live:
		percent := int64(0)
		if s.indexed {
			percent = 100 * s.loaded / max(1, s.count)
		} else if size := s.capture.Size(); size > 0 {
			percent = 100 * s.tailUnit / size
		}
		why = fmt.Sprintf("Reading the capture: %d%%, %s entries.", percent, text.Count(s.loaded))
	default:
		why = s.sess.Brief(s.now())
	}
	why = text.VisibleString(why)
	if s.sess == nil {
		return why, nil, nil
	}
	for _, side := range []record.Stream{record.Client, record.Agent} {
		last, brief = append(last, s.crossed(side)), append(brief, s.crossedBriefly(side))
	}
	return why, last, brief
}

// crossed says for a direction what crossed last, how long ago, how much of a record is pending, and who does not read.
func (s *Store) crossed(side record.Stream) (last Line) {
	now := s.now()
	last.add(streamRole(side), arrows[side])
	if m := s.sess.Last[side]; m == nil {
		last.add(Dim, "nothing yet")
	} else {
		last.add(Plain, text.Cut(text.VisibleString(m.Kind), 28)).add(Dim, fmt.Sprintf(" #%d ", m.N)).add(ageRole(now-m.T, s.live && !s.done), s.age(now-m.T))
	}
	if h := s.pass.half[side]; h.any {
		last.add(Bad, fmt.Sprintf(", half a record: %s bytes", text.Count(h.bytes)))
	}
	for _, st := range s.sess.Stalls {
		if st.For == 0 && !s.sess.Ended && st.Stream == side {
			reader := "agent"
			if side == record.Agent {
				reader = "client"
			}
			last.add(Bad, fmt.Sprintf(", the %s does not read: %s bytes wait", reader, text.Count(st.Bytes)))
		}
	}
	return last
}

var arrows = map[record.Stream]string{record.Client: "→ ", record.Agent: "← "}

// crossedBriefly is crossed in as few cells as it can be.
func (s *Store) crossedBriefly(side record.Stream) (last Line) {
	last.add(streamRole(side), arrows[side])
	m := s.sess.Last[side]
	if m == nil {
		last.add(Dim, "nothing yet")
		return last
	}
	ns := s.now() - m.T
	age, _, _ := strings.Cut(s.age(ns), " ")
	last.add(Plain, text.Cut(text.VisibleString(m.Kind[strings.IndexByte(m.Kind, ':')+1:]), 9)+" ").add(ageRole(ns, s.live && !s.done), age)
	if h := s.pass.half[side]; h.any {
		last.add(Bad, " +"+text.Size(h.bytes))
	}
	return last
}

func ageRole(ns int64, live bool) Role {
	if live && ns > 10e9 {
		return Warn
	}
	return Plain
}

// age says how long ago something was; seconds have one digit, so that it counts up evenly.
func (s *Store) age(ns int64) string {
	word := " ago"
	if s.done {
		word = " before the end"
	}
	switch {
	case ns < 1e9:
		return text.Duration(ns/1e6*1e6) + word
	case ns < 60e9:
		return fmt.Sprintf("%.1fs%s", float64(ns)/1e9, word)
	}
	return text.Duration(ns) + word
}

// Title names the capture in a number of cells: all that there is room for, the label first.
func (s *Store) Title(room int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := shortName(s.Path)
	if s.header == nil {
		return text.Cut(text.VisibleString(id), room)
	}
	h := s.header
	if full := text.VisibleString(inspect.Title(s.Path, h)); text.Width(full) <= room {
		return full
	}
	agent, client, started := origin(h)
	return firstFitting(room, []string{h.Label, id, agent, client, started}, []string{h.Label, id, agent, client}, []string{h.Label, id, client},
		[]string{h.Label, id}, []string{h.Label}, []string{id})
}

// Origin says in a number of cells who spoke with whom and since when, as far as there is room for it.
func (s *Store) Origin(room int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.header == nil {
		return ""
	}
	agent, client, started := origin(s.header)
	return firstFitting(room, []string{agent, client, started}, []string{agent, client}, []string{client}, []string{agent}, nil)
}

func origin(h *record.Header) (agent, client, started string) {
	if h.Client.Name != "" {
		client = "started by " + h.Client.Name
	}
	if !h.Start.IsZero() {
		started = h.Start.Local().Format("15:04:05")
	}
	return inspect.AgentName(h), client, started
}

// firstFitting joins the first of the lists of parts that so many cells have room for; empty parts are left out.
func firstFitting(room int, lists ...[]string) (best string) {
	for _, parts := range lists {
		best = strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), " · ")
		if best = text.VisibleString(best); text.Width(best) <= room && (best != "" || len(parts) == 0) {
			return best
		}
	}
	return text.Cut(best, room)
}

// shortName is what is enough of a capture's name to call it by: the last part, as in pitap ls.
func shortName(path string) string {
	name := filepath.Base(path)
	name, _, _ = strings.Cut(name, ".jsonl")
	if i := strings.LastIndexByte(name, '-'); i >= 0 && len(name)-i == 9 {
		return name[i+1:]
	}
	return name
}
