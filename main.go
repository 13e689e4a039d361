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

	statusInterrupted = 128 + 2 // by Ctrl-C, as shells have it
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

	flagSet *pflag.FlagSet // of the command that runs
	chosen  string         // path of a live capture that was taken because none was named, and that was said
	dir     string         // where captures are looked for; "" for the default; see dirFlag
	unsaid  error          // the first error of out
}

// out is stdout for what is written in passing: status tells of the first error.
func (t *tool) out() io.Writer { return outWriter{t} }

type outWriter struct{ t *tool }

func (w outWriter) Write(p []byte) (int, error) {
	n, err := w.t.stdout.Write(p)
	if err != nil && w.t.unsaid == nil {
		w.t.unsaid = err
	}
	return n, err
}

func commands() []command {
	return []command{
		{"record", "[flags] [--] AGENT [ARG...]", "record a session: put this where the agent was", runRecord},
		{"ls", "[--dir DIR] [--json]", "captures, newest first; which are live", runLs},
		{"inspect", "[flags] [CAPTURE]", "the terminal inspector; follows a live capture", runInspect},
		{"show", "[flags] [CAPTURE]", "entries as text, filtered", runShow},
		{"why", "[--dir DIR] [CAPTURE]", "what a session waits for, or how it ended, in words", runWhy},
		{"stats", "[flags] [CAPTURE]", "figures: latencies, runs, tokens, tools, stalls, sizes", runStats},
		{"check", "[flags] [CAPTURE...]", "what is wrong with a session; exit 1 when there are errors", runCheck},
		{"replay", "[flags] CAPTURE [ARG...]", "be the agent, as recorded; ARGs are pi's own", runReplay},
		{"cut", "[flags] [CAPTURE]", "a small, readable fixture from a capture", runCut},
		{"demo", "", "a built-in session through all of it, nothing to install", runDemo},
		{"sweep", "[flags] CAPTURE -- TEST [ARG...]", "a client's test under each fault", runSweep},
		{"verdict", "[REPORT...]", "did the replays go as recorded", runVerdict},
		{"extract", "[flags] [CAPTURE]", "one direction's exact bytes", runExtract},
		{"prune", "[flags]", "remove old captures", runPrune},
		{"mend", "CAPTURE", "make a capture that was cut whole for other programs", runMend},
		{"shim", "[flags] DIR", "a `pi` that records, for clients that take only a path", runShim},
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
	if isPi(t.self) {
		return t.status(t.asPi(args[1:]))
	}
	return t.status(t.dispatch(args[min(1, len(args)):]))
}

// status turns an error into words on stderr and an exit status.
func (t *tool) status(err error) int {
	var code statusError
	if t.unsaid != nil && !errors.Is(err, t.unsaid) {
		err = errors.Join(err, t.unsaid)
	}
	switch {
	case err == nil:
		return statusFine
	case errors.As(err, &code):
		if code.err != nil {
			t.complain(code.err)
		}
		if t.unsaid != nil && !errors.Is(t.unsaid, syscall.EPIPE) {
			t.complain(t.unsaid)
		}
		return code.status
	case errors.Is(err, syscall.EPIPE):
		return statusFine // the reader has seen enough
	}
	t.complain(err)
	return statusNo
}

func (t *tool) complain(err error) {
	for i, line := range strings.Split(strings.TrimRight(err.Error(), "\n"), "\n") {
		if i == 0 {
			line = "pitap: " + line
		} else {
			line = "  " + line
		}
		fmt.Fprintln(t.stderr, visible(line))
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
		if len(args) > 1 && args[1] != "help" && !strings.HasPrefix(args[1], "-") {
			return t.dispatch([]string{args[1], "--help"})
		}
		return t.usage(t.out())
	case "--version", "version":
		_, err := fmt.Fprintln(t.out(), "pitap", version)
		return err
	}
	names := make([]string, 0, 16)
	for _, c := range commands() {
		if c.name == args[0] {
			return c.run(t, args[1:])
		}
		if c.help != "" {
			names = append(names, c.name)
		}
	}
	if strings.HasPrefix(args[0], "-") {
		return usageError("flags follow the command: pitap COMMAND %s; pitap help lists the commands", args[0])
	}
	return usageError("no command %q%s; pitap help lists them", args[0], didYouMean(args[0], names))
}

func (t *tool) usage(w io.Writer) error {
	var b strings.Builder
	b.WriteString(usageHead)
	for _, c := range commands() {
		if c.help != "" {
			fmt.Fprintf(&b, "    %-9s %s\n", c.name, c.help)
		}
	}
	b.WriteString(usageTail)
	_, err := io.WriteString(w, b.String())
	return err
}

// flags makes a command's flag set.
func (t *tool) flags(name string) *pflag.FlagSet {
	f := pflag.NewFlagSet(name, pflag.ContinueOnError)
	f.SortFlags = false
	f.SetOutput(io.Discard)
	f.Usage = func() {}
	t.flagSet = f
	return f
}

// parse parses a command's arguments. done is true when help was asked for, and given.
func (t *tool) parse(f *pflag.FlagSet, args []string) (done bool, err error) {
	err = f.Parse(args)
	switch {
	case errors.Is(err, pflag.ErrHelp):
		t.help(f)
		return true, nil
	case err != nil:
		return false, usageError("%s: %v%s; pitap help %s lists its flags", f.Name(), err, meantFlag(f, err), f.Name())
	}
	return false, nil
}

// help writes a command's help.
func (t *tool) help(f *pflag.FlagSet) {
	for _, c := range commands() {
		if c.name != f.Name() {
			continue
		}
		fmt.Fprintf(t.out(), "Usage: pitap %s %s\n\n", c.name, c.args)
		if text := helpTexts[c.name]; text != "" {
			io.WriteString(t.out(), text)
		} else {
			fmt.Fprintf(t.out(), "%s\n\n%s", c.help, f.FlagUsages())
		}
	}
}

// meantFlag guesses which flag was meant by one that does not exist.
func meantFlag(f *pflag.FlagSet, err error) string {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return ""
	}
	var names []string
	f.VisitAll(func(flag *pflag.Flag) { names = append(names, "--"+flag.Name) })
	return didYouMean("--"+unknown.GetSpecifiedName(), names)
}

// didYouMean names what is like a word, if anything is.
func didYouMean(word string, names []string) string {
	best, least := "", 3
	for _, name := range names {
		if d := distance(word, name); d < least {
			best, least = name, d
		}
	}
	if best == "" {
		return ""
	}
	return ", did you mean " + best + "?"
}

// distance is how many letters must be added, dropped or changed to get from a to b. Two that changed places are one.
func distance(a, b string) int {
	if len(a) > 40 {
		return len(a)
	}
	two, one := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range one {
		one[j] = j
	}
	for i := range len(a) {
		row := make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			change := one[j]
			if a[i] != b[j] {
				change++
			}
			row[j+1] = min(change, one[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], two[j-1]+1)
			}
		}
		two, one = one, row
	}
	return one[len(b)]
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
