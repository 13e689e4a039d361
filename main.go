// Command pitap records, inspects, checks and replays what clients say to pi, the coding agent, over its RPC mode.
package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"
	"syscall"
)

const version = "0.1.0"

// Statuses of pitap's own; where an agent ran, its own is used.
const (
	statusFine   = 0
	statusNo     = 1   // what was asked about is not so
	statusUsage  = 2   // wrong use
	statusBroken = 125 // pitap's own failure before the agent ran
)

// command is a row of the table of commands.
type command struct {
	name string
	args string // as the usage line has them
	help string
	run  func(*tool, []string) error
}

// tool is what a command works with.
type tool struct {
	stdin          *os.File
	stdout, stderr *os.File
	getenv         func(string) string
	self           string // the name the program was started under
}

func commands() []command {
	return []command{
		{"record", "[flags] [--] AGENT [ARG...]", "record a session: put this where the agent was", runRecord},
		{"inspect", "[flags] [CAPTURE]", "the terminal inspector; follows a live capture", runInspect},
		{"show", "[flags] [CAPTURE]", "entries as text, filtered", runShow},
		{"why", "[CAPTURE]", "what a session waits for, or how it ended, in words", runWhy},
		{"stats", "[flags] [CAPTURE]", "figures: latencies, runs, tokens, tools, stalls, sizes", runStats},
		{"extract", "[--from STREAM] [CAPTURE]", "one direction's exact bytes", runExtract},
		{"finish", "", "", runFinish},
	}
}

func main() {
	os.Exit(run(os.Args, os.Stdin, os.Stdout, os.Stderr))
}

func run(args []string, stdin, stdout, stderr *os.File) int {
	t := &tool{stdin: stdin, stdout: stdout, stderr: stderr, getenv: os.Getenv, self: "pitap"}
	if len(args) > 0 {
		t.self = args[0]
	}
	return t.status(t.dispatch(args[min(1, len(args)):]))
}

// status turns an error into words on stderr and an exit status.
func (t *tool) status(err error) int {
	var code statusError
	switch {
	case err == nil:
		return statusFine
	case errors.As(err, &code):
		if code.err != nil {
			t.complain(code.err)
		}
		return code.status
	case errors.Is(err, syscall.EPIPE):
		return statusFine // the reader has seen enough
	}
	t.complain(err)
	return statusNo
}

func (t *tool) complain(err error) {
	if lines := strings.TrimRight(err.Error(), "\n"); lines != "" {
		fmt.Fprintf(t.stderr, "pitap: %s\n", lines)
	}
}

// statusError is an error that decides the exit status.
type statusError struct {
	status int
	err    error // nil: nothing more to say
}

func (e statusError) Error() string { return fmt.Sprint(e.err) }
func (e statusError) Unwrap() error { return e.err }

func usageError(format string, args ...any) error {
	return statusError{statusUsage, fmt.Errorf(format, args...)}
}

func (t *tool) dispatch(args []string) error {
	if len(args) == 0 {
		t.usage(t.stderr)
		return statusError{status: statusUsage}
	}
	switch args[0] {
	case "help", "--help", "-h":
		if len(args) > 1 {
			return t.dispatch([]string{args[1], "--help"})
		}
		t.usage(t.stdout)
		return nil
	case "--version", "version":
		fmt.Fprintln(t.stdout, "pitap", version)
		return nil
	}
	for _, c := range commands() {
		if c.name == args[0] {
			return c.run(t, args[1:])
		}
	}
	return usageError("no command %q; pitap help lists them", args[0])
}

func (t *tool) usage(w io.Writer) {
	fmt.Fprint(w, "usage: pitap COMMAND [ARG...]\n\nRecords and debugs what a client says to pi --mode rpc.\n\n")
	for _, c := range commands() {
		if c.help != "" {
			fmt.Fprintf(w, "  %-9s %s\n", c.name, c.help)
		}
	}
	fmt.Fprint(w, "\npitap help COMMAND tells more. A CAPTURE is a path, a part of a name, or absent for the newest.\n")
}

// flags makes a command's flag set. Its help names the command's arguments.
func (t *tool) flags(name string) *pflag.FlagSet {
	f := pflag.NewFlagSet(name, pflag.ContinueOnError)
	f.SortFlags = false
	f.SetOutput(io.Discard)
	f.Usage = func() {}
	return f
}

// parse parses a command's arguments. done is true when help was asked for, and given.
func (t *tool) parse(f *pflag.FlagSet, args []string) (done bool, err error) {
	err = f.Parse(args)
	switch {
	case errors.Is(err, pflag.ErrHelp):
		for _, c := range commands() {
			if c.name == f.Name() {
				fmt.Fprintf(t.stdout, "usage: pitap %s %s\n\n%s\n\n%s", c.name, c.args, c.help, f.FlagUsages())
			}
		}
		return true, nil
	case err != nil:
		return false, usageError("%s: %v; pitap help %s tells more", f.Name(), err, f.Name())
	}
	return false, nil
}

// sameFile tells whether a file is this program.
func sameFile() func(fs.FileInfo) bool {
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	own, err := os.Stat(self)
	if err != nil {
		return nil
	}
	return func(info fs.FileInfo) bool { return os.SameFile(own, info) }
}

// base is the name of a program without folder and .exe.
func base(path string) string { return strings.TrimSuffix(filepath.Base(path), ".exe") }
