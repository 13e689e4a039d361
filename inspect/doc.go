// Package inspect tells what a capture means: what each entry says in one line, which entries are asked for, what is
// wrong with a session, and which captures there are.
//
// The way of an entry: a [Fold] makes rows of entries, so that a record is one row however many entries hold it; a
// [Summarizer] says what a row is and what matters of it; a [Filter] decides whether it is shown; [Show] writes it.
// [Check] gives the findings of a capture, [List] what a list says of each capture in a folder; a [Policy] chooses old
// ones, and [Remove] removes one. What a session as a whole means is told by package session below this one.
//
// Everything in a capture is hostile. What is kept of a record is bounded (see [Fold]), nothing recurses over it, and
// what is written for people passes package text, so that nothing in a capture can act on a terminal.
//
// No type here may be used by two goroutines at once.
package inspect
