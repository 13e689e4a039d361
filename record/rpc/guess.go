package rpc

import (
	"slices"
	"strings"
)

// Guess narrows down the version of pi by what its records have and lack: words, fields and values that came or went.
// The zero value is ready to use. It is meant for captures whose header does not tell the version.
type Guess struct {
	low, high Version         // what was found so far; zero: no bound
	lowWhy    string          // a record that older versions would not write
	highWhy   string          // a record that newer versions would not write
	seen      map[string]int8 // how often a kind was looked at
}

// guessLooks is how many records of a kind are looked at: enough for those that differ by role or outcome.
const guessLooks = 8

// See looks at a record. What the client sends tells nothing of pi's version. After some records of a kind, another
// one costs little more than Look.
func (g *Guess) See(from string, msg []byte) {
	if from != "agent" {
		return
	}
	voc := Load()
	head := Look(from, msg)
	if !voc.knows(head) || g.seen[head.Kind] >= guessLooks {
		return
	}
	if g.seen == nil {
		g.seen = map[string]int8{}
	}
	g.seen[head.Kind]++
	c := checker{voc: voc}
	c.learn = func(s Span, has bool, name string) { g.take(&c, head, s, has, name) }
	c.record(from, msg)
}

// knows reports whether the vocabulary has all the names of a record of the agent, so that Kind is one of few texts.
func (v *Vocabulary) knows(head Head) bool {
	switch head.Type {
	case response:
		return v.commands[head.Command] != nil
	case messageUpdate:
		return v.updates[head.Sub] != nil
	case uiRequest:
		return v.methods[head.Sub] != nil
	}
	return v.events[head.Type] != nil
}

// take narrows the bounds by one fact: that a record has, or lacks, something that only the versions of s have. What
// contradicts the facts so far is left out: somebody else than pi wrote one of them.
func (g *Guess) take(c *checker, head Head, s Span, has bool, name string) {
	low, high := s.Since, s.Until
	if !has {
		low, high = s.lacksAfter, Version{}
		if !s.Since.IsZero() {
			low, high = Version{}, newestBefore(c.voc.Tested, s.Since)
		}
	}
	if g.low.Before(low) && (g.high.IsZero() || !g.high.Before(low)) {
		g.low, g.lowWhy = low, because(c, head, s, has, name)
	}
	if !high.IsZero() && (g.high.IsZero() || high.Before(g.high)) && !high.Before(g.low) {
		g.high, g.highWhy = high, because(c, head, s, has, name)
	}
}

func newestBefore(tested []Version, v Version) Version {
	i, _ := slices.BinarySearchFunc(tested, v, Version.Compare)
	return tested[max(i-1, 0)]
}

// because returns "agent_settled with aborted (since 1.1.0)". name is "" for the record, or what it says of a member.
func because(c *checker, head Head, s Span, has bool, name string) string {
	verb := " with "
	if !has {
		verb = " without "
	}
	path := string(c.appendPath(nil))
	switch {
	case name == "" && path == "":
		return head.Kind + " (" + s.String() + ")"
	case name != "" && path != "":
		path += "."
	}
	return head.Kind + verb + path + name + " (" + s.String() + ")"
}

// Version returns the newest tested version that could have written all that was seen, and the bounds within which pi
// must lie, ends included. A zero bound is none. evidence names the records that set the bounds; "" when there are no
// bounds, and v is the newest version that the vocabulary knows.
func (g *Guess) Version() (v, low, high Version, evidence string) {
	tested := Load().Tested
	v = tested[len(tested)-1]
	if !g.high.IsZero() {
		v = g.high
	}
	if v.Before(g.low) {
		v = g.low
	}
	why := make([]string, 0, 2)
	for _, one := range []string{g.lowWhy, g.highWhy} {
		if one != "" {
			why = append(why, one)
		}
	}
	return v, g.low, g.high, strings.Join(why, "; ")
}
