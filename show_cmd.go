package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"time"

	"github.com/spf13/pflag"

	"pitap/inspect"
	"pitap/inspect/text"
	"pitap/record"
)

// showFlags are the flags of show as they were given.
type showFlags struct {
	from, kinds, ids   []string
	grep, since, until string
	flagged            bool
	jq                 string
	raw, json, pretty  bool
	follow, runs       bool
	color              *string
}

func runShow(t *tool, args []string) error {
	var s showFlags
	f := t.flags("show")
	f.StringSliceVar(&s.from, "from", nil, "only records of `STREAM`: client, agent, stderr or note")
	f.StringSliceVar(&s.kinds, "kind", nil, "only kinds that begin with or match `KIND`")
	f.StringSliceVar(&s.ids, "id", nil, "only records with the id `ID`")
	f.StringVar(&s.grep, "grep", "", "only records whose bytes match `REGEXP`")
	f.StringVar(&s.since, "since", "", "from `PLACE` on")
	f.StringVar(&s.until, "until", "", "up to `PLACE`")
	f.BoolVar(&s.flagged, "flagged", false, "only records whose framing is remarkable")
	f.StringVar(&s.jq, "jq", "", "run the jq program `EXPR` over each record")
	f.BoolVarP(&s.raw, "raw-output", "r", false, "with --jq: write strings without quotes")
	f.BoolVar(&s.json, "json", false, "write the entries as they stand in the capture")
	f.BoolVar(&s.pretty, "pretty", false, "write the bodies of the records, indented")
	f.BoolVarP(&s.follow, "follow", "f", false, "go on while the capture is recorded")
	f.BoolVar(&s.runs, "runs", false, "write the tree of runs, turns, messages and tools instead")
	t.dirFlag(f)
	s.color = colorFlag(f)
	if done, err := t.parse(f, args); done || err != nil {
		return err
	}
	out, err := t.output(*s.color)
	if err != nil {
		return err
	}
	if s.runs {
		return t.showRuns(f, out)
	}
	opt, err := s.options(f)
	if err != nil {
		return err
	}
	opt.Terminal, opt.Width, opt.Palette = out.terminal, out.width, out.palette
	c, err := t.open(f.Args())
	if err != nil {
		return err
	}
	defer c.Close()
	return t.show(c, out, opt, s.follow)
}

// showRuns writes the tree of runs.
func (t *tool) showRuns(f *pflag.FlagSet, out *output) (err error) {
	f.Visit(func(flag *pflag.Flag) {
		if flag.Name != "runs" && flag.Name != "color" && flag.Name != "dir" {
			err = usageError("show: --runs and --%s exclude each other: --runs writes all runs, and no records", flag.Name)
		}
	})
	if err != nil {
		return err
	}
	c, s, err := t.session(f.Args())
	if err != nil {
		return err
	}
	defer c.Close()
	if err := s.WriteRuns(out, out.palette, out.width); err != nil {
		return err
	}
	return out.Flush()
}

// options makes sense of the flags.
func (s *showFlags) options(f *pflag.FlagSet) (opt inspect.ShowOptions, err error) {
	opt.Strings, opt.Pretty = s.raw, s.pretty
	filter := &opt.Filter
	filter.From, filter.Flagged = s.from, s.flagged
	for _, name := range s.from {
		if stream, ok := record.ParseStream(name); (!ok || stream == record.NoStream) && name != inspect.FromNote {
			return opt, usageError("show: --from is %q; it takes client, agent, stderr and note", name)
		}
	}
	for _, k := range s.kinds {
		filter.Kinds = append(filter.Kinds, inspect.NewPattern(k))
	}
	for _, id := range s.ids {
		filter.IDs = append(filter.IDs, inspect.NewPattern(id))
	}
	if s.grep != "" {
		if filter.Grep, err = regexp.Compile(s.grep); err != nil {
			return opt, usageError("show: --grep: %v", err)
		}
	}
	for _, p := range []struct {
		name, value string
		to          **inspect.Place
	}{{"since", s.since, &filter.Since}, {"until", s.until, &filter.Until}} {
		if !f.Changed(p.name) {
			continue
		}
		place, err := inspect.ParsePlace(p.value)
		if err != nil {
			return opt, usageError("show: --%s: %v", p.name, err)
		}
		*p.to = &place
	}
	switch {
	case s.json && f.Changed("jq"):
		return opt, usageError("show: --json and --jq exclude each other: --jq . writes records, --json whole entries")
	case s.json:
		opt.Form = inspect.JSON
	case f.Changed("jq"):
		opt.Form = inspect.Results
		if opt.Query, err = inspect.ParseQuery(s.jq); err != nil {
			return opt, usageError("show: --jq: %v", err)
		}
	case s.raw:
		return opt, usageError("show: --raw-output is for --jq")
	}
	return opt, nil
}

// show writes a capture's entries.
func (t *tool) show(c *record.Capture, out *output, opt inspect.ShowOptions, follow bool) error {
	s := inspect.NewShow(out, opt)
	interrupted := func() bool { return false }
	if follow {
		stop, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
		defer cancel()
		interrupted = func() bool { return stop.Err() != nil }
		followShow(c, s, out, stop.Done())
	}
	h, err := t.begin(c)
	switch {
	case interrupted():
		return statusError{status: statusInterrupted}
	case err != nil:
		return err
	}
	if out.terminal && opt.Form == inspect.Lines {
		title := text.Cut(inspect.Title(c.Path, h), max(out.width, 20))
		fmt.Fprintln(out, out.palette.Bold(title))
	}
	size := c.Size()
	for err == nil && c.Next() {
		err = s.Entry(c.Entry())
		if !follow {
			out.progress.at("read", c.Unit(), size)
		}
	}
	done := errors.Is(err, inspect.ErrDone)
	if err == nil {
		err = s.Pending()
	}
	if err == nil || done {
		err = errors.Join(s.Flush(), out.Flush())
	}
	out.progress.clear()
	switch {
	case err != nil:
		return err
	case interrupted():
		return statusError{status: statusInterrupted}
	case s.Shown == 0:
		t.complain(t.noneShown(filepath.Base(c.Path)))
	}
	if err := t.queried(opt.Query); err != nil || done {
		return err
	}
	return t.condition(c)
}

// noneShown says that nothing is as it was asked for; where a kind was, how to find out which there are.
func (t *tool) noneShown(name string) error {
	err := fmt.Errorf("%s: no entry is as asked for", name)
	if t.flagSet.Changed("kind") {
		return hint(err, "pitap stats lists the kinds that are in it")
	}
	return err
}

// followShow makes the capture's reader wait for more, and show what there is before it does.
func followShow(c *record.Capture, s *inspect.Show, out *output, stop <-chan struct{}) {
	c.Follow(stop)
	more := c.Wait
	var at int64
	var since time.Time
	c.Wait = func() bool {
		if n := c.Entry().N; n != at || since.IsZero() {
			at, since = n, time.Now()
		}
		if time.Since(since) > time.Second { // half a record that stays so is what a hanging client looks like
			s.Pending()
		}
		if s.Flush() != nil || out.Flush() != nil { // nobody reads any more
			return false
		}
		return more()
	}
}

// queried says what a query was not given and where it failed.
func (t *tool) queried(q *inspect.Query) error {
	if q == nil {
		return nil
	}
	for _, err := range q.First {
		t.complain(err)
	}
	if more := q.Errors - len(q.First); more > 0 {
		t.complain(fmt.Errorf("and %d more errors of the jq program", more))
	}
	if words := q.Skips(); words != "" {
		t.complain(errors.New(words))
	}
	if q.Errors > 0 {
		return statusError{status: statusNo}
	}
	return nil
}
