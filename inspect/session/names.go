package session

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"pitap/record"
)

// which names a command for a sentence: by its type, by its id as the client wrote it, and by its entry.
func (c *Command) which() string {
	if c.ID == "" {
		return fmt.Sprintf("%s (entry %d)", c.words(), c.N)
	}
	return fmt.Sprintf("%s %s (entry %d)", c.words(), clip(c.ID, 40), c.N)
}

// prompt names a prompt in the same way.
func (c *Command) prompt() string {
	if c.ID == "" {
		return fmt.Sprintf("the prompt of entry %d", c.N)
	}
	return fmt.Sprintf("the prompt %s (entry %d)", clip(c.ID, 40), c.N)
}

// lastSent says what the client sent last, which is m, and how it was refused if it was, with what belongs in brackets
// behind it.
func (s *Session) lastSent(m *Moment) (what, more string) {
	what, more = fmt.Sprintf("%s (entry %d", clip(m.Kind, 60), m.N), ")"
	if c := s.lastCommand(); c != nil && c.N == m.N {
		what = strings.TrimSuffix(c.which(), ")")
		if c.Response != nil && !c.Success {
			more = ", refused: " + c.refusal() + ")"
		}
	}
	return what, more
}

// lastCommand is the latest command, nil before the first.
func (s *Session) lastCommand() *Command {
	if len(s.Commands) == 0 {
		return nil
	}
	return s.Commands[len(s.Commands)-1]
}

// refusal is why a command failed, in the agent's words.
func (c *Command) refusal() string {
	if c.Error == "" {
		return "it did not say why"
	}
	return strings.TrimRight(clip(strings.Join(strings.Fields(c.Error), " "), 120), ".")
}

// wrong says, in clauses, what went wrong with what the client sent and is not open any more: prompts that never ran, and
// a last command that was refused.
func (s *Session) wrong() (clauses []string) {
	if lost := s.lostWords(); lost != "" {
		clauses = append(clauses, lost)
	}
	last := s.Last[record.Client]
	if last == nil {
		return clauses
	}
	if c := s.lastCommand(); c != nil && c.N == last.N && c.Response != nil && !c.Success {
		clauses = append(clauses, fmt.Sprintf("the client's last command, %s, was refused: %s", c.which(), c.refusal()))
	}
	if n := len(s.Bad); n > 0 && s.Bad[n-1].N == last.N {
		clauses = append(clauses, s.Bad[n-1].words())
	}
	return clauses
}

// words say what is wrong with a line.
func (b *BadLine) words() string {
	cr := ""
	if b.cr >= 0 {
		cr = fmt.Sprintf(", but a CR at byte %d, which ends no line", b.cr)
	}
	if b.unended {
		return fmt.Sprintf("the client's last record (entry %d) is not whole: it has no line end (LF)%s", b.N, cr)
	}
	return fmt.Sprintf("the client's last line (entry %d) is no JSON, and the agent could not read it", b.N)
}

// wrongThen is wrong as a sentence behind others, "" when nothing was.
func (s *Session) wrongThen() string {
	if wrong := s.wrong(); len(wrong) > 0 {
		return " " + capital(strings.Join(wrong, "; ")) + "."
	}
	return ""
}

// neverRan is a sentence about the prompts that never ran, "" without one.
func (s *Session) neverRan() string {
	if lost := s.lostWords(); lost != "" {
		return " " + capital(lost) + "."
	}
	return ""
}

// lostWords says which prompts were accepted and never ran, "" when there is none.
func (s *Session) lostWords() string {
	lost, more, raced := s.pairs.lost, s.pairs.more, true
	for _, c := range s.pairs.prompts {
		if s.raceLost(c) && s.run == nil && !slices.Contains(lost, c) {
			lost = append(lost[:len(lost):len(lost)], c)
		}
	}
	var names []string
	for _, c := range lost {
		raced = raced && c.raced
		name := strings.TrimPrefix(c.prompt(), "the prompt ")
		if c.ID == "" {
			name = "entry " + strconv.FormatInt(c.N, 10)
		}
		names = append(names, name)
	}
	if len(names) > maxSaid {
		more += len(names) - maxSaid
		names = names[:maxSaid]
	}
	if more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	out := ""
	switch len(names) {
	case 0:
		return ""
	case 1:
		out = "the prompt " + names[0] + tense(" {was|had been} accepted and never ran", s.over())
		if lost[0].ID == "" {
			out = lost[0].prompt() + tense(" {was|had been} accepted and never ran", s.over())
		}
	default:
		out = "the prompts " + strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1] + tense(" {were|had been} accepted and never ran", s.over())
	}
	if raced {
		out += ": sent before the run of the prompt before had begun"
	}
	return out
}
