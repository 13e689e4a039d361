// Package view is the model of the inspector: what a screen shows of a capture, without a screen.
//
// A [Store] opens a capture at once: with an index it reads only the frames that are looked at, without one it shows
// what it has while the rest loads behind, and it follows a capture that grows. Entries have positions, counted from 0
// in the order of the file; a row is the position of an entry that is shown, and [Store.Next] and [Store.Prev] go from
// row to row past what is folded, superseded or filtered away. A Store keeps a few bits of each entry and a few frames,
// so millions of entries need little memory.
//
// What is shown is made of [Line]s: text with roles, which package tui gives colours. All text in lines came from
// package text or passed through it, so nothing from a capture can act on a terminal.
//
// A Store may be used by several goroutines.
package view
