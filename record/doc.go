// Package record turns bytes into records, records into entries, and entries into capture files, and back.
//
// A capture is a sequence of zstd frames. Their contents, joined, are JSON lines: one header, then entries.
//
//	+---------+---------+-- --+---------+-------------+--------------+
//	| frame 1 | frame 2 | ... | frame K | index       | seek table   |
//	+---------+---------+-- --+---------+-------------+--------------+
//	  header    entries         ... end   skippable     skippable
//	  entries                             (ours)        (zstd seekable)
//
//	frame  = zstd frame header | block | block | ... | last block | checksum
//	block  = what one flush wrote: whole entries, at most 100 ms of them
//	entry  = {"n":12,"t":1234567,"from":"agent","off":4096,"msg":{...}} LF
//
// Frames are closed at the first entry boundary after 1 MiB, so each can be read without the others. Nothing follows
// an open frame. A capture that was cut (no end note, no index) has everything up to its last whole block. FORMAT.md
// describes the format for readers of other programs.
//
// Writing: a [Recorder] takes the bytes of three streams and the session's notes from any number of goroutines, stamps
// and queues them, and alone owns the file; a [Splitter] for each stream cuts bytes into records; a [Writer] lays
// entries into frames. A failure to write never reaches those who call the Recorder: what it loses it counts.
//
// Reading: a [Reader] gives the entries of a capture in order, of every prefix of one, and of the undamaged frames of a
// damaged one; with a Wait function it follows a capture that grows. [Mend] makes a cut capture whole.
package record
