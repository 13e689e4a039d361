package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"pitap/replay"
)

// sweep is what the sweep command was asked for.
type sweep struct {
	only    []string
	timeout time.Duration
	seed    uint64
	verbose bool
	path    string
	test    []string

	unfinished bool // the test leaves replays unfinished
}

// listFaults says what faults there are and what they catch.
func (t *tool) listFaults() error {
	w := tabwriter.NewWriter(t.out(), 0, 0, 2, ' ', 0)
	for _, k := range replay.Faults() {
		name := k.Name
		if k.Arg != "" {
			name += "[=" + strings.Replace(k.Arg, ", ", ": ", 1) + "]"
		}
		fmt.Fprintf(w, "%s\t%s\n", name, k.Catches)
	}
	return w.Flush()
}

func runSweep(t *tool, args []string) error {
	var s sweep
	f := t.flags("sweep")
	f.SetInterspersed(false)
	f.StringSliceVar(&s.only, "only", nil, "the faults `NAME,...`; else all")
	s.timeout = 30 * time.Second
	f.Var(seconds{&s.timeout}, "timeout", "a test that takes longer than `TIME` hangs")
	f.Uint64Var(&s.seed, "seed", 1, "`NUMBER` that decides what faults do at random")
	f.BoolVarP(&s.verbose, "verbose", "v", false, "show what the tests write")
	if done, err := t.parse(f, args); done || err != nil {
		return err
	}
	rest := f.Args()
	if len(rest) > 1 && rest[1] == "--" {
		rest = append(rest[:1:1], rest[2:]...)
	}
	if len(rest) < 2 {
		return usageError("sweep: name a CAPTURE and the client's test, as in: pitap sweep session.jsonl -- npm test")
	}
	if info, err := os.Stat(rest[0]); err == nil && info.IsDir() {
		return usageError("sweep: %s is a folder; name one capture in it", rest[0])
	}
	path, err := t.find(rest[:1])
	if err != nil {
		return err
	}
	if s.path, err = filepath.Abs(path); err != nil {
		return err
	}
	s.test = rest[1:]
	return t.sweep(&s)
}

// outcomes of a test.
const (
	passed = "passed"
	failed = "failed"
	hung   = "hung"

	byTest    = "by the test"
	byVerdict = "by the verdict"
)

// sweep runs the test without a fault, then under each.
func (t *tool) sweep(s *sweep) error {
	dir, err := os.MkdirTemp("", "pitap-sweep-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if err := link(self, filepath.Join(dir, shimName())); err != nil {
		return err
	}
	faults := []string{""}
	fatal := map[string]bool{}
	for _, k := range replay.Faults() {
		fatal[k.Name] = k.Fatal
		if len(s.only) == 0 {
			faults = append(faults, k.Name)
		}
	}
	for _, name := range s.only {
		if _, err := replay.ParseFault(name, 0); err != nil {
			return usageError("sweep: %v", err)
		}
		faults = append(faults, name)
	}
	var bad []string
	for _, fault := range faults {
		begin := time.Now()
		name, _, _ := strings.Cut(fault, "=")
		result, judge, output, err := t.underFault(s, dir, fault, fatal[name])
		if err != nil {
			return err
		}
		note := ""
		switch {
		case fault == "" && result != passed:
			return fmt.Errorf("the test %s without any fault:\n%s", result, output)
		case fault == "" && judge == byVerdict: // on purpose, as it seems: a test that ends early
			s.unfinished = true
			note = "but its replay did not go as recorded; so the test alone judges"
		case result == failed && fatal[name]:
			note = "it may fail here, but must end"
		case result != passed:
			bad = append(bad, name)
			for _, k := range replay.Faults() {
				if k.Name == name {
					note = judge + ": " + k.Catches
				}
			}
		}
		if fault == "" {
			fault = "no fault"
		}
		fmt.Fprintf(t.out(), "%-12s %-7s %6.1fs  %s\n", fault, result, time.Since(begin).Seconds(), note)
		if s.verbose && output != "" {
			fmt.Fprintf(t.out(), "%s\n", output)
		}
	}
	if len(bad) > 0 {
		return statusError{statusNo, fmt.Errorf("%d of %d faults break the client; pitap sweep -v --only %s shows how", len(bad), len(faults)-1, strings.Join(bad, ","))}
	}
	return nil
}

// sweepVariable names a folder for reports of the sweep's own: tests set PITAP_REPORT to what they like.
const sweepVariable = "PITAP_SWEEP"

// underFault runs the test once. The client finds the replayer as pi in PATH.
// judge tells what decided: the test, or the verdict on its replays.
func (t *tool) underFault(s *sweep, dir, fault string, fatal bool) (result, judge, output string, err error) {
	reports := filepath.Join(dir, "reports-"+fault)
	if err := os.Mkdir(reports, 0o755); err != nil {
		return "", "", "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.test[0], s.test[1:]...)
	inGroup(cmd)
	cmd.WaitDelay = time.Second
	cmd.Env = os.Environ()
	for name, value := range map[string]string{"PATH": dir + string(os.PathListSeparator) + t.getenv("PATH"), "PITAP_FIXTURE": s.path,
		"PITAP_MODE": "replay", "PITAP_FAULT": fault, "PITAP_SEED": fmt.Sprint(s.seed), "PITAP_REPORT": reports, "PITAP_QUIET": "1",
		sweepVariable: reports} {
		cmd.Env = setEnv(cmd.Env, name, value)
	}
	b, err := cmd.CombinedOutput()
	output = strings.TrimRight(string(b), "\n")
	found, _ := filepath.Glob(filepath.Join(reports, "*.json"))
	missed, unfinished := false, false
	for _, file := range found {
		b, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		if r, err := replay.ParseReport(b); err == nil {
			missed = missed || len(r.Misses) > 0
			unfinished = unfinished || r.Failed()
			output += "\npitap verdict: " + strings.TrimRight(r.String(), "\n")
		}
	}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return hung, byTest, output, nil
	case errors.As(err, &exit), errors.Is(err, exec.ErrWaitDelay):
		return failed, byTest, output, nil
	case err != nil:
		return "", "", "", fmt.Errorf("sweep: the test can't be run: %w", err)
	case len(found) == 0:
		return "", "", "", fmt.Errorf("the test never started pi --mode rpc, from PATH or by a shim, with its environment")
	case missed, unfinished && !s.unfinished && fault != "" && !fatal:
		return failed, byVerdict, output, nil
	case unfinished:
		return passed, byVerdict, output, nil
	}
	return passed, byTest, output, nil
}
