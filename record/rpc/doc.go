// Package rpc is the vocabulary of pi's RPC protocol as data: which records there are, what they hold, and in which
// versions of pi.
//
//	voc := rpc.Load()
//	voc.Command("clear_queue").Since                // 0.84.4
//	voc.Command("fork").ResetsSession               // true
//	voc.Event("agent_settled").Field("aborted")     // bool, since 1.1.0
//	voc.Behaves("abort-delivers-queue", version)    // what no record shows
//
// Everything has a Span, the versions that have it. Span.At tells whether one version does, and Span.String tells it
// to people: "since 0.84.4". The facts were found by comparing the packages of the versions in Vocabulary.Tested, by
// pi's changelog and by recorded sessions; between two tested versions a Span may say Maybe, and so it does for the
// zero Version, which is unknown.
//
// Four uses, from cheap to thorough:
//
//   - Look tells what a record is and its id, without decoding it and without allocating. Texts, filters and pairs of
//     command and response are made from that.
//   - Vocabulary tells what a command does: whether it changes state, starts, aborts or cuts a run, answers late, and
//     which events come before its response.
//   - Guess finds the version of pi from its records, where a capture does not tell.
//   - Validate compares a record with a version, and gives the differences as data. It does not judge: a Problem is no
//     finding yet. It is never wrong about what pi itself writes.
//
// The vocabulary is the file vocabulary.json, in the program; parse.go describes how it is written. It is read at the
// first use, in less than a millisecond, and never changes after that. All functions may be called by many goroutines
// at once; a Guess belongs to one.
//
// Records are hostile: no function recurses over them, fails or panics because of them, or needs memory beyond the
// names and values that it returns, which are cut. That walking over bytes is done by package scan.
package rpc
