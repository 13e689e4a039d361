// Package proxy stands between a client and its agent: it starts the agent, forwards three streams and the signals, and
// gives every byte to a recorder before it forwards it.
//
//	client --stdin--> [pump] --pipe--> agent        one pump a stream: a stream that blocks
//	client <-stdout-- [pump] <--pipe-- agent        never blocks another
//	client <-stderr-- [pump] <--pipe-- agent
//	         signals -------- kill --> agent
//
// What the client can observe is what it would observe without a proxy: partial records at once, the end of each stream
// alone, back-pressure, a closed output at once, signals once, the exit status without delay. When the agent has
// exited and its output is not delivered yet, or somebody else still writes to it, Run hands all that is open to a
// detached copy of the program (see Deliver) and returns.
//
// What is not as without a proxy: the agent has pipes where the client may have terminals or files, and reads them later
// than the proxy reads the client's; stdout and stderr that are one pipe lose their order to each other; a child of the
// agent's that outlives it has no input any more. Of the signals that were ignored or blocked when the program started, the
// Go runtime hides SIGQUIT, SIGTERM, SIGABRT and some more, which are as by default in the agent; it also leaves SIGRTMIN
// to its default, which ends the proxy and the agent.
package proxy

import (
	"os"
	"time"

	"pitap/record"
)

// Config says what to run and between what.
type Config struct {
	Path string   // of the agent's program, as Find gives it
	Argv []string // the agent's arguments, its name first
	Env  []string // nil: this process's own
	Dir  string   // "": this process's own

	Stdin, Stdout, Stderr int // file descriptors of the client's ends

	// Recorder gets all bytes and notes; nil records nothing. Run finishes it.
	Recorder *record.Recorder
	// Capture is the recorder's file, for the detached copy; may be nil.
	Capture func() *os.File
	// Started is told the agent's process id before any byte is forwarded, 0 when it could not be started; may be nil.
	Started func(pid int)
	// Sync tells the copy's recorder to make each flush wait for the disk.
	Sync bool
	// Copy is the path of this program and the arguments with which it calls Deliver, under the name pitap; empty: Run
	// waits instead of handing over.
	Copy []string
	// Finishing is how long the end of the capture may take before it is handed over; 0: a moment.
	Finishing time.Duration
	// Warn is told what the user should know. It must not block.
	Warn func(error)
}

// Result is how the agent ended.
type Result struct {
	Code   int       // exit status; -1 after a signal
	Signal os.Signal // that ended the agent, or nil
}

const (
	// grace is how long Run waits after the agent's exit for its last bytes before it hands over.
	grace = 40 * time.Millisecond
	// finishing is how long it waits for the capture's end, and then once more for a state to hand over; if there is none
	// yet it tries again, since a disk that is slow for a moment is likelier than one that hangs.
	finishing      = 150 * time.Millisecond
	finishingTries = 3
	// finishingHere is finishing where nothing can be handed over.
	finishingHere = 10 * time.Second
	// stallAfter is how long a write blocks before a note says so.
	stallAfter = 250 * time.Millisecond
	// chunk is how much is read at once, in bytes: the size of a pipe.
	chunk = 64 << 10
)

func (c *Config) note(from record.Stream, n record.Note) { c.noteAt(from, 0, n) }

// noteAt queues a note about the byte at off of a stream.
func (c *Config) noteAt(from record.Stream, off int64, n record.Note) {
	if c.Recorder != nil {
		c.Recorder.Note(&record.Entry{From: from, Off: off, Note: &n})
	}
}

func (c *Config) put(from record.Stream, p []byte) {
	if c.Recorder != nil {
		c.Recorder.Put(from, p)
	}
}

// now is the time on the recorder's clock.
func (c *Config) now() int64 {
	if c.Recorder == nil {
		return 0
	}
	return c.Recorder.Now()
}

func (c *Config) warn(err error) {
	if c.Warn != nil {
		c.Warn(err)
	}
}
