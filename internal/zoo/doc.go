// Package zoo has small agents for tests, and eyes on processes. A test binary that calls Main first is each of them: a
// program named "zoo" whose arguments are steps, done one after the other.
//
//	zoo out:"half a " line out:"line\n" exit:3
//
// Functions of this package write the steps: Out, Line, Exit, ... An agent writes and reads with single system calls and
// keeps nothing back, says errors on stderr as "stdout: EPIPE", and ends by itself after a minute. The package is for
// tests alone.
package zoo
