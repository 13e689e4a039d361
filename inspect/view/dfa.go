package view

import (
	"bytes"
	"encoding/binary"
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// dfa tells quickly where an expression may match: package regexp needs many times as long for text without a match,
// and most text has none. It takes what an expression asks of the place (^, \b) as given. The states are made when they
// are come to. It is not safe for concurrent use.
type dfa struct {
	prog   *syntax.Prog
	states map[string]*dfaState
	start  *dfaState

	marks []uint32 // of each instruction, when it was put into the set last
	mark  uint32
	stack []uint32
}

// dfaState is a set of instructions that are waited at.
type dfaState struct {
	at    []uint32
	match bool
	next  [utf8.RuneSelf]*dfaState
	more  map[rune]*dfaState // beyond ASCII
}

const (
	maxStates = 1000 // that are kept at once
	maxRunes  = 1000 // of more
)

func newDFA(prog *syntax.Prog) *dfa {
	d := &dfa{prog: prog, marks: make([]uint32, len(prog.Inst))}
	d.reset()
	return d
}

// reset forgets the states.
func (d *dfa) reset() {
	d.states = map[string]*dfaState{}
	d.start = d.state(nil)
}

// state gives the state after which the instructions at the places are to be gone on with, or the expression begins.
func (d *dfa) state(from []uint32) *dfaState {
	d.mark++
	s := &dfaState{}
	d.stack = append(append(d.stack[:0], uint32(d.prog.Start)), from...)
	for len(d.stack) > 0 {
		pc := d.stack[len(d.stack)-1]
		d.stack = d.stack[:len(d.stack)-1]
		if d.marks[pc] == d.mark {
			continue
		}
		d.marks[pc] = d.mark
		switch in := &d.prog.Inst[pc]; in.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			d.stack = append(d.stack, in.Out, in.Arg)
		case syntax.InstCapture, syntax.InstNop, syntax.InstEmptyWidth:
			d.stack = append(d.stack, in.Out)
		case syntax.InstMatch:
			s.match = true
		case syntax.InstFail:
		default:
			s.at = append(s.at, pc)
		}
	}
	slices.Sort(s.at)
	key := make([]byte, 0, 4*len(s.at)+1)
	for _, pc := range s.at {
		key = binary.LittleEndian.AppendUint32(key, pc)
	}
	if s.match {
		key = append(key, 1)
	}
	if known := d.states[string(key)]; known != nil {
		return known
	}
	d.states[string(key)] = s
	return s
}

// step gives the state behind a rune.
func (d *dfa) step(s *dfaState, r rune) *dfaState {
	if r >= utf8.RuneSelf {
		if next := s.more[r]; next != nil {
			return next
		}
	}
	var to []uint32
	for _, pc := range s.at {
		if in := &d.prog.Inst[pc]; in.MatchRune(r) {
			to = append(to, in.Out)
		}
	}
	if len(d.states) >= maxStates { // s itself is still of use
		d.reset()
	}
	next := d.state(to)
	switch {
	case r < utf8.RuneSelf:
		s.next[r] = next
	case len(s.more) < maxRunes:
		if s.more == nil {
			s.more = map[rune]*dfaState{}
		}
		s.more[r] = next
	}
	return next
}

// find gives a place in the first line that may have a match; -1 without one. No match goes beyond a line.
func (d *dfa) find(b []byte) int {
	s := d.start
	if s.match {
		return 0
	}
	for i := 0; i < len(b); {
		c := b[i]
		var next *dfaState
		switch {
		case c == '\n':
			next = d.start
			i++
		case c < utf8.RuneSelf:
			if next = s.next[c]; next == nil {
				next = d.step(s, rune(c))
			}
			i++
		default:
			r, size := utf8.DecodeRune(b[i:])
			next = d.step(s, r)
			i += size
		}
		if s = next; s.match {
			return i - 1
		}
	}
	return -1
}

// lineAround gives the bounds of the line that holds byte i, which is not before at.
func lineAround(b []byte, at, i int) (from, to int) {
	from, to = bytes.LastIndexByte(b[at:i], '\n')+1+at, len(b)
	if j := bytes.IndexByte(b[i:], '\n'); j >= 0 {
		to = i + j
	}
	return from, to
}
