package inspect

import "pitap/record"

// Arrow is the sign of a row's direction: → from the client, ← from the agent, ! stderr, · a note.
func Arrow(r *Row) string { return arrow(r) }

// FlagWords names what was remarkable about a record's framing, without the word that all of them begin with.
func FlagWords(f record.Flags) string { return flagWords(f) }

// Match tells whether a text is what the pattern stands for.
func (p Pattern) Match(s string) bool { return p.match(s) }

// Begins is Match, but a pattern without * and ? need only be the beginning.
func (p Pattern) Begins(s string) bool { return p.begins(s) }
