package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/signal"
	"time"

	"pitap/inspect/report"
	"pitap/inspect/session"
	"pitap/record"
)

// following writes the findings of a live capture as they come.
type following struct {
	checking
	capture *record.Capture
	session *session.Session
	report  *report.Report
	out     *output
	told    map[followKey]bool
	seen    int64 // entries when it was looked last
	looked  time.Time
	err     error // of writing
}

type followKey struct {
	rule string
	from record.Stream
	n    int64
}

// While nothing comes, findings about waiting are looked for so often.
const followEvery = 500 * time.Millisecond

// checkFollow checks a capture while it is recorded, up to its end.
func (t *tool) checkFollow(c checking, names []string, out *output) error {
	if c.format == "sarif" || c.format == "junit" {
		return usageError("check: --follow writes findings as they come; --format %s takes all at once", c.format)
	}
	capture, err := t.open(names)
	if err != nil {
		return err
	}
	defer capture.Close()
	stop, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	capture.Follow(stop.Done())
	h, err := t.begin(capture)
	if err != nil {
		return err
	}
	f := &following{checking: c, capture: capture, session: session.New(h), out: out, told: map[followKey]bool{}}
	f.report = &report.Report{Path: capture.Path}
	more := capture.Wait
	capture.Wait = func() bool {
		f.look()
		return f.err == nil && more()
	}
	for f.err == nil && capture.Next() {
		f.session.Add(capture.Entry())
	}
	switch {
	case f.err != nil:
		return f.err
	case stop.Err() != nil:
		return statusError{status: statusInterrupted}
	case capture.Err() != nil:
		return fmt.Errorf("%s: %w", capture.Path, capture.Err())
	}
	f.session.End(capture.Ended())
	f.looked = time.Time{}
	f.look()
	return f.end()
}

// look writes what was found since it was called last.
func (f *following) look() {
	if f.seen == f.session.Entries && time.Since(f.looked) < followEvery {
		return
	}
	f.seen, f.looked = f.session.Entries, time.Now()
	findings := append(f.session.Findings(), f.session.Pending(now(f.capture, f.session))...)
	for i := range findings {
		one := &findings[i]
		key := followKey{one.Rule, one.From, one.N}
		if f.told[key] || one.Severity < f.least || !f.wanted(one.Rule) {
			continue
		}
		f.told[key] = true
		f.report.Findings = append(f.report.Findings, *one)
		if f.err = f.tell(one); f.err != nil {
			return
		}
	}
	f.err = f.out.Flush()
}

func (f *following) tell(one *record.Finding) error {
	switch f.format {
	case "json":
		return visibly(f.out, func(b *bytes.Buffer) error { return report.WriteFindingJSON(b, one) })
	case "github":
		return f.report.WriteFindingGitHub(f.out, one)
	}
	return report.WriteFinding(f.out, one, f.out.style())
}

// end sums up.
func (f *following) end() error {
	sum := reportOf(f.capture, f.session)
	sum.Findings = f.report.Findings
	if f.format == "text" {
		if err := sum.WriteHead(f.out, f.out.style()); err != nil {
			return err
		}
	}
	if err := f.out.Flush(); err != nil {
		return err
	}
	if sum.Fails(f.failOn) {
		return statusError{status: statusNo}
	}
	return nil
}
