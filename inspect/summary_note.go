package inspect

import (
	"strconv"
	"strings"

	"pitap/inspect/text"
	"pitap/record"
)

// note says what a note tells.
func note(l *line, r *Row) Tone {
	n := r.Note
	switch n.Kind {
	case "eof":
		l.add(ended[r.From&3])
		if n.Error != "" {
			l.add(": ", n.Error)
		}
	case "closed":
		l.add(closed[r.From&3])
	case "signal":
		to := "the agent"
		if n.To == "group" {
			to = "the agent's process group"
		}
		l.add(n.Signal, " to ", to)
	case "stall":
		return stall(l, r)
	case "gap":
		l.add("not recorded: ")
		for i, s := range []record.Stream{record.Client, record.Agent, record.Stderr} {
			if lost := n.Lost[s.String()]; lost > 0 {
				if i > 0 && !strings.HasSuffix(string(l.b), ": ") {
					l.add(", ")
				}
				l.add(text.Count(lost), " bytes of ", s.String())
			}
		}
		if n.Error != "" {
			l.add(": ", n.Error)
		}
		return Bad
	case "lag":
		l.add("the capture was ", text.Duration(n.By), " behind the session")
	case "clock":
		sign := "+"
		if n.By < 0 {
			sign = ""
		}
		l.add("the wall clock was moved by ", sign, text.Duration(n.By), " to ", n.Wall.Format("2006-01-02 15:04:05 MST"))
	case "undelivered":
		l.add(text.Count(n.Bytes), " bytes never reached ", reader[r.From&3], ", from byte ", strconv.FormatInt(r.Off, 10), " of the stream on")
		return Bad
	case "exit":
		return exit(l, n)
	case "handover":
		l.add("the agent is gone; a copy of pitap delivers what is left of its output")
	case "file":
		l.add(n.Path, ", ", text.Size(int64(len(n.Data))))
	case "end":
		end(l, n.Totals)
	default:
		var rest []byte
		rest = append(rest, r.Line...)
		l.members(rest, each, "n", "t", "note")
	}
	return Quiet
}

var (
	ended  = [4]string{"end of stream", "the client closed the agent's stdin", "the agent closed its stdout", "the agent closed its stderr"}
	closed = [4]string{"stream closed", "the agent no longer reads its stdin", "the client no longer reads the agent's stdout", "nobody reads the agent's stderr any more"}
	reader = [4]string{"their reader", "the agent", "the client", "the reader of stderr"}
)

func stall(l *line, r *Row) Tone {
	n := r.Note
	if n.For > 0 {
		l.add(reader[r.From&3], " reads again, after ", text.Duration(n.For))
		return Quiet
	}
	l.add(reader[r.From&3], " does not read: ", text.Count(n.Bytes), " bytes wait since ", text.Since(n.Since))
	return Bad
}

func exit(l *line, n *record.Note) Tone {
	switch {
	case n.Error != "":
		l.add("the agent could not be started: ", n.Error)
	case n.Signal != "":
		l.add("the agent was killed by ", n.Signal)
	case n.Code == nil:
		l.add("the agent exited")
	case *n.Code == 0:
		l.add("the agent exited with 0")
		return Good
	default:
		l.add("the agent exited with ", strconv.Itoa(*n.Code))
	}
	return Bad
}

func end(l *line, t *record.Totals) {
	if t == nil {
		l.add("end of the capture")
		return
	}
	l.add("end of the capture: ", text.Count(t.Entries), " entries")
	for _, s := range []record.Stream{record.Client, record.Agent, record.Stderr} {
		if v := t.Streams[s.String()]; v.Records > 0 {
			l.add(", ", s.String(), " ", text.Count(v.Records), " records ", text.Size(v.Bytes))
		}
	}
	if t.Lost > 0 {
		l.add(", ", text.Count(t.Lost), " bytes lost")
	}
}
