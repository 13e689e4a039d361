package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"pitap/record"
	"pitap/replay"
)

// replaying is what the replay command was asked for. Every flag has a variable, since most clients take only a path.
type replaying struct {
	path   string // of the capture
	args   []string
	wait   time.Duration
	speed  string
	maxGap time.Duration
	match  string
	ignore []string
	pairs  []string // OLD=NEW
	report string
	fault  string
	seed   uint64
	quiet  bool
	files  bool

	otherArgs string // how the arguments differ from the recorded ones, in words
}

// defaults takes what the environment says.
func (r *replaying) defaults(getenv func(string) string) error {
	r.report = getenv("PITAP_REPORT") // what is wrong with the others is to be reported
	r.wait, r.speed, r.match = 4*time.Second, "client", "exact"
	for _, v := range []struct {
		name string
		to   any
	}{{"WAIT", &r.wait}, {"SPEED", &r.speed}, {"MAX_GAP", &r.maxGap}, {"MATCH", &r.match}, {"IGNORE", &r.ignore},
		{"MAP", &r.pairs}, {"REPORT", &r.report}, {"FAULT", &r.fault}, {"SEED", &r.seed}, {"QUIET", &r.quiet}, {"FILES", &r.files}} {
		text := getenv("PITAP_" + v.name)
		if text == "" {
			continue
		}
		var err error
		switch to := v.to.(type) {
		case *string:
			*to = text
		case *[]string:
			*to = splitList(text)
		case *bool:
			*to, err = truth(text)
		case *uint64:
			*to, err = strconv.ParseUint(text, 10, 64)
		case *time.Duration:
			*to, err = duration(text)
		}
		if err != nil {
			return usageError("PITAP_%s: %v", v.name, err)
		}
	}
	return nil
}

// splitList splits a list at its commas; one behind a backslash belongs to its item.
func splitList(text string) (list []string) {
	item := ""
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text) && (text[i+1] == ',' || text[i+1] == '\\'):
			i++
			item += text[i : i+1]
		case c == ',':
			list, item = append(list, item), ""
		default:
			item += text[i : i+1]
		}
	}
	return append(list, item)
}

// truth reads a variable that is 1 or 0.
func truth(text string) (bool, error) {
	switch text {
	case "1":
		return true, nil
	case "0":
		return false, nil
	}
	return false, fmt.Errorf("%q is neither 1 nor 0", text)
}

// duration reads "4s", or "4" for seconds.
func duration(text string) (time.Duration, error) {
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		return time.Duration(n * float64(time.Second)), nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("%q is no time such as 4s", text)
	}
	return d, nil
}

// seconds is a flag that takes "4s" and "4".
type seconds struct{ d *time.Duration }

func (s seconds) String() string { return s.d.String() }
func (s seconds) Type() string   { return "TIME" }
func (s seconds) Set(text string) (err error) {
	*s.d, err = duration(text)
	return err
}

func (r *replaying) flags(f *pflag.FlagSet) {
	f.Var(seconds{&r.wait}, "wait", "how long to wait for a record of the client `TIME`; 0: for ever")
	f.StringVar(&r.speed, "speed", r.speed, "`SPEED`: client (as fast as it reads, 5 ms after each answer), max, or a factor: 1 is as recorded")
	f.Var(seconds{&r.maxGap}, "max-gap", "the longest pause `TIME` at a recorded speed")
	f.StringVar(&r.match, "match", r.match, "`HOW` a command that changes something is compared: exact, or type for its type alone")
	f.StringArrayVar(&r.ignore, "ignore", r.ignore, "don't compare the `PATH` in the client's records, as images[*].data (repeatable)")
	f.StringArrayVar(&r.pairs, "map", r.pairs, "the recorded text OLD is equal to NEW: `OLD=NEW` (repeatable)")
	f.StringVar(&r.report, "report", r.report, "write how it went to `FILE`, or into a folder, for pitap verdict")
	f.StringVar(&r.fault, "fault", r.fault, "do to the client what agents rarely do: `NAME[=ARG]`; list names them")
	f.Uint64Var(&r.seed, "seed", r.seed, "`NUMBER` that decides what a fault does at random")
	f.BoolVar(&r.files, "files", r.files, "write the session's files, if the capture has them, to where they were")
	f.BoolVar(&r.quiet, "quiet", r.quiet, "say nothing on stderr but what was recorded")
}

func runReplay(t *tool, args []string) error {
	var r replaying
	begun, err := t.runReplay(&r, args)
	if err != nil && !begun {
		t.reportBroken(r, err, statusOf(err))
	}
	return err
}

// statusOf is the status that the program ends with after an error.
func statusOf(err error) int {
	var code statusError
	if errors.As(err, &code) {
		return code.status
	}
	return statusNo
}

// runReplay reads the flags and replays. begun tells whether it came to the second.
func (t *tool) runReplay(r *replaying, args []string) (begun bool, err error) {
	if err := r.defaults(t.getenv); err != nil {
		return false, err
	}
	f := t.flags("replay")
	f.SetInterspersed(false)
	r.flags(f)
	if done, err := t.parse(f, args); done || err != nil {
		return false, err
	}
	if r.fault == "list" {
		return false, t.listFaults()
	}
	if f.NArg() == 0 {
		return false, usageError("replay: name a CAPTURE, as in: pitap replay session.jsonl.zst --mode rpc")
	}
	r.path, r.args = f.Arg(0), f.Args()[1:]
	if info, statErr := os.Stat(r.path); statErr == nil && info.IsDir() {
		r.path, err = t.inFolder(r.path, r.args, isAside(r.args))
	} else {
		r.path, err = t.find(f.Args()[:1])
	}
	if err != nil {
		return false, err
	}
	if name := flagAmong(f, r.args); name != "" && !r.quiet {
		t.complain(fmt.Errorf("replay: %s stands behind CAPTURE, where it is pi's and does nothing; put it before CAPTURE", name))
	}
	return true, t.replay(*r)
}

// flagAmong finds a flag of the replay among the arguments that are the agent's; pi has none of these names.
func flagAmong(f *pflag.FlagSet, args []string) (name string) {
	for _, a := range args {
		if a == "--" {
			break
		}
		if long, ok := strings.CutPrefix(a, "--"); ok {
			long, _, _ = strings.Cut(long, "=")
			if f.Lookup(long) != nil {
				return "--" + long
			}
		}
	}
	return ""
}

// replay is the agent, with a capture for a mind. It returns the recorded status.
func (t *tool) replay(r replaying) error {
	done, err := t.aside(r.path, r.args)
	if done {
		return err
	}
	var a *replay.Agent
	if err == nil {
		a, err = t.replayer(r)
	}
	if err != nil {
		t.reportBroken(r, err, statusOf(err))
		return err
	}
	defer a.Script.Close()
	r.otherArgs = t.otherArgs(a.Script.Header(), r.args)
	if r.files {
		if err := writeFiles(r.path, a); err != nil && !r.quiet {
			t.complain(err)
		}
	}
	a.In, a.Out, a.Stderr = plainReader{t.stdin}, t.stdout, t.stderr
	if a.OnReport, err = t.reporter(r); err != nil {
		return err
	}
	signals, gone, stop := watchProcess(t.stdout)
	defer stop()
	a.Signals, a.Gone, a.Unread = signals, gone, unread(t.stdout)
	report, err := a.Run(context.Background())
	if err != nil {
		t.reportBroken(r, err, statusOf(err))
		return err
	}
	if report.Signal != "" {
		return dieBy(report.Signal)
	}
	return statusError{status: report.Code}
}

// writeFiles writes the session's files out.
func writeFiles(path string, a *replay.Agent) error {
	c, err := record.Open(path)
	if err != nil {
		return err
	}
	defer c.Close()
	written, err := replay.WriteFiles(c.Reader, a.Live, a.Map)
	if err == nil && written == 0 {
		err = fmt.Errorf("%s holds no files; record with --with-session, and cut with --exact", path)
	}
	return err
}

// plainReader hides the file's Close: a read of stdin can't be interrupted, and the process ends anyway.
type plainReader struct{ f *os.File }

func (r plainReader) Read(b []byte) (int, error) { return r.f.Read(b) }

// replayer makes the agent that the flags describe.
func (t *tool) replayer(r replaying) (*replay.Agent, error) {
	a := &replay.Agent{Wait: r.wait, MaxGap: r.maxGap, Ignore: r.ignore, Quiet: r.quiet}
	switch {
	case r.wait < 0 || r.maxGap < 0:
		return nil, usageError("replay: --wait is %v and --max-gap %v; times are not negative, and --wait 0 is for ever", r.wait, r.maxGap)
	case r.wait == 0:
		a.Wait = -1
	}
	switch r.speed {
	case "client", "":
	case "max":
		a.Speed = replay.MaxSpeed
	default:
		n, err := strconv.ParseFloat(r.speed, 64)
		if err != nil || !(n > 0) {
			return nil, usageError("replay: --speed is %q; it takes client, max or a factor such as 1", r.speed)
		}
		a.Speed = n
	}
	if r.fault != "" {
		var err error
		if a.Fault, err = replay.ParseFault(r.fault, r.seed); err != nil {
			return nil, usageError("replay: %v", err)
		}
	}
	if err := besideFixture(r.path, &r); err != nil {
		return nil, err
	}
	switch r.match {
	case "exact", "":
	case "type":
		a.MatchType = true
	default:
		return nil, usageError("replay: --match is %q; it takes exact or type", r.match)
	}
	a.Ignore = r.ignore
	for _, pair := range r.pairs {
		old, now, ok := strings.Cut(pair, "=")
		if !ok || old == "" {
			return nil, usageError("replay: --map is %q; it takes OLD=NEW", pair)
		}
		a.Map = append(a.Map, replay.Pair{Old: old, New: now})
	}
	a.Live = replay.Folders{Home: t.getenv("HOME"), Tmp: os.TempDir()}
	a.Live.Cwd, _ = os.Getwd()
	var err error
	if a.Script, err = replay.Open(r.path); err != nil {
		return nil, err
	}
	if old, now := replay.SessionDir(a.Script.Header().Argv), replay.SessionDir(r.args); old != "" && now != "" {
		a.Map = append(a.Map, replay.Pair{Old: old, New: now})
	}
	return a, nil
}

// besideFixture reads FIXTURE.match, a file of JSON that says how to compare: {"ignore":[PATH...],"map":{OLD:NEW},
// "match":"type"}.
func besideFixture(path string, r *replaying) error {
	file := path + ".match"
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxShimFile) {
		err = errors.New("not a file of less than 1 MiB")
	}
	var b []byte
	if err == nil {
		b, err = os.ReadFile(file)
	}
	var m struct {
		Ignore []string
		Map    map[string]string
		Match  string
	}
	if err == nil {
		d := json.NewDecoder(bytes.NewReader(b))
		d.DisallowUnknownFields() // a misspelt one would be ignored
		err = d.Decode(&m)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	r.ignore = append(r.ignore, m.Ignore...)
	for old, now := range m.Map {
		r.pairs = append(r.pairs, old+"="+now)
	}
	if m.Match != "" {
		r.match = m.Match
	}
	return nil
}

// writeWhole replaces a file: who reads it finds the old content or the new. One that is there keeps its mode; a new one
// gets perm, less what the umask takes.
func writeWhole(file string, content []byte, perm fs.FileMode) error {
	return writeWholeFrom(file, perm, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// writeWholeFrom is writeWhole with what write writes. Of a link it replaces what that leads to.
func writeWholeFrom(file string, perm fs.FileMode, write func(io.Writer) error) error {
	if target, err := filepath.EvalSymlinks(file); err == nil {
		file = target
	}
	if info, err := os.Lstat(file); err == nil && !info.Mode().IsRegular() { // a device, a pipe or a link to nothing stays what it is
		return fill(file, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, perm, write)
	} else if err == nil {
		perm = info.Mode().Perm()
	}
	draft := fmt.Sprintf("%s.%d.tmp", file, os.Getpid())
	os.Remove(draft)
	err := fill(draft, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm, write)
	if err == nil {
		err = os.Rename(draft, file)
	}
	if err != nil {
		os.Remove(draft)
	}
	var at *fs.PathError
	if errors.As(err, &at) {
		err = fmt.Errorf("%s: %w", file, at.Err) // the draft is our affair
	}
	return err
}

// writeNew writes a file that is not there yet: through no link that somebody may have put there.
func writeNew(file string, content []byte, perm fs.FileMode) error {
	return fill(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

func fill(file string, flags int, perm fs.FileMode, write func(io.Writer) error) error {
	f, err := os.OpenFile(file, flags, perm)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 64<<10)
	if err = write(w); err == nil {
		err = w.Flush()
	}
	return errors.Join(err, f.Close())
}
