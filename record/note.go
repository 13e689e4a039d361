package record

import (
	"encoding/json"
	"fmt"

	"pitap/record/scan"
)

// maxTotals bounds the members of a note that hold more than one figure, in bytes.
const maxTotals = 64 << 10

// parseNote reads a note, with or without n and t.
func parseNote(line []byte, e *Entry) error {
	note := new(Note)
	*e = Entry{Note: note}
	ms := scan.MembersOf(line)
	for ms.Next() {
		to := noteMember(e, note, string(ms.Key))
		if to == nil {
			continue
		}
		value := line[ms.Start:ms.End]
		if (to == &note.Lost || to == &note.Totals) && len(value) > maxTotals {
			return fmt.Errorf("note: member %s at byte %d has %d bytes", ms.Key, ms.Start, len(value))
		}
		if err := json.Unmarshal(value, to); err != nil {
			return fmt.Errorf("note: member %s at byte %d: %v", ms.Key, ms.Start, err)
		}
	}
	end := ms.ObjectEnd()
	switch {
	case end < 0:
		return fmt.Errorf("note: no JSON object at byte 0")
	case min(e.N, e.T, e.Off) < 0 || max(e.N, e.T, e.Off) > maxCount:
		return fmt.Errorf("note: a member n, t or off before byte %d is not a count", end)
	}
	return trailing(line, end)
}

// noteMember returns where the member of a note goes, nil for one that is not known.
func noteMember(e *Entry, n *Note, name string) any {
	switch name {
	case "n":
		return &e.N
	case "t":
		return &e.T
	case "off":
		return &e.Off
	case "from":
		return (*jsonStream)(&e.From)
	case "note":
		return &n.Kind
	case "signal":
		return &n.Signal
	case "to":
		return &n.To
	case "code":
		return &n.Code
	case "error":
		return &n.Error
	case "since":
		return &n.Since
	case "for":
		return &n.For
	case "by":
		return &n.By
	case "wall":
		return &n.Wall
	case "bytes":
		return &n.Bytes
	case "lost":
		return &n.Lost
	case "path":
		return &n.Path
	case "data":
		return &n.Data
	case "totals":
		return &n.Totals
	}
	return nil
}

// jsonStream is a Stream that is read from its name. One that is not known is none.
type jsonStream Stream

func (s *jsonStream) UnmarshalJSON(b []byte) error {
	*(*Stream)(s) = streamOf(b)
	return nil
}
