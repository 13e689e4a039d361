package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

const (
	defaultWait = 4 * time.Second        // test runners give up at 5
	pauseTime   = 250 * time.Millisecond // that a question is waited for, and that a client is silent before answers go out of turn
	afterAnswer = 5 * time.Millisecond   // before what follows an answer: no model is quicker
	sayAfter    = time.Second            // a wait is said
	lastWrite   = 20 * time.Millisecond  // that a write may take after a second signal that ends pi
	chunk       = 64 << 10               // bytes in one write at full speed
	maxHeld     = 64                     // records behind an answer that others may overtake
	maxAsked    = 10_000                 // questions that may be unanswered before no more is read from the client
)

// MaxSpeed is the speed at which nothing but the client's reading holds the replay up.
const MaxSpeed = -1

// Agent plays a script as pi would have written it. Fill in Script, In and Out; every other field has a useful zero
// value. An Agent plays once.
type Agent struct {
	Script *Script

	In     io.Reader // what the client writes; Run closes it at the end if it is an io.Closer
	Out    io.Writer // what the client reads; Run closes it at the end if it is an io.Closer
	Stderr io.Writer // recorded stderr, and what the replay has to say; nil: nowhere

	// Signals brings signals by their names, such as "SIGTERM". Gone is closed when the reader of Out has gone.
	Signals <-chan string
	Gone    <-chan struct{}
	// Unread tells how many bytes in Out its reader has not taken yet, so that a fault can have it see where a write ends;
	// nil: not known.
	Unread func() int

	Live Folders // where the client runs: recorded paths in the recorded folders are equal to paths in these
	Map  []Pair  // further texts that are equal

	Wait      time.Duration // how long a record of the client is waited for; 0: 4 s; negative: for ever
	Speed     float64       // 0: as fast as the client reads, but 5 ms after each answer; MaxSpeed: without these; 1: as recorded; 2: twice as fast
	MaxGap    time.Duration // the longest pause at a recorded speed; 0: any
	MatchType bool          // a command that changes something may differ from the recorded one in all but its type
	Ignore    []string      // paths in the client's records that are not compared, as `images[*].data`
	Fault     *Fault        // what to do to the client; nil for nothing
	Quiet     bool          // say nothing on stderr but what was recorded

	// OnReport is told how the replay stands: at its start, when something is amiss, and at its end. It is called from
	// the goroutine of Run and must not keep the report.
	OnReport func(*Report)
}

// Run plays the script until it ends, the client ends it, or ctx is done, and returns how it went. It returns an error
// when the Agent can't be used as it is. In and Out, if they are io.Closers, are closed, which ends reads and writes
// that are under way in pipes; where that can't be, a goroutine stays in a read.
func (a *Agent) Run(ctx context.Context) (*Report, error) {
	p, err := newPlayer(a)
	if err != nil {
		return nil, err
	}
	var pumps sync.WaitGroup
	stop := make(chan struct{})
	lines := make(chan line, 64)
	pumps.Go(func() { readLines(a.In, lines, stop) })
	p.out = newWriter(a.Out, &pumps)
	errOut := a.Stderr
	if errOut == nil {
		errOut = io.Discard
	}
	p.err = newErrorWriter(errOut)

	if p.s.short {
		p.say("the capture is %s, %s", p.rep.Cut, placeOf(p.s.lines, p.entry(len(p.s.steps)))+" is its last")
	}
	p.report()
	p.loop(ctx, lines)
	p.drain(ctx)
	close(stop)
	close(p.out.to)
	p.err.close()
	joinable := closeIf(a.Out)
	joinable = closeIf(a.In) && joinable
	if joinable {
		pumps.Wait()
	}
	p.err.flush(time.Second)
	p.report()
	return &p.rep, nil
}

func closeIf(x any) bool {
	c, ok := x.(io.Closer)
	if ok {
		c.Close()
	}
	return ok
}

func newPlayer(a *Agent) (*player, error) {
	switch {
	case a.Script == nil:
		return nil, errors.New("replay: no script")
	case a.In == nil || a.Out == nil:
		return nil, errors.New("replay: In and Out are needed")
	}
	h := a.Script.header
	p := &player{a: a, s: a.Script, wait: a.Wait, start: time.Now(), fault: a.Fault}
	p.m.paths = newPaths(Folders{h.Cwd, h.Home, h.Tmp}, a.Live, a.Map)
	for _, text := range a.Ignore {
		pat, err := parsePattern(text)
		if err != nil {
			return nil, fmt.Errorf("replay: %w", err)
		}
		p.m.ignore = append(p.m.ignore, pat)
		if !p.s.sends(pat) {
			p.rep.Unused = append(p.rep.Unused, text)
		}
	}
	if p.wait == 0 {
		p.wait = defaultWait
	}
	p.anchor = p.start
	p.cmds = make([]state, len(p.s.commands))
	p.byKind = map[string][]*command{}
	for _, c := range p.s.commands {
		if c.gate && c.dialog == nil {
			p.byKind[c.kind] = append(p.byKind[c.kind], c)
		}
	}
	p.asked = map[*question]*asking{}
	p.rep.Outcome, p.rep.Cut = Running, p.s.condition
	if p.rep.Cut == "" && p.s.exit == nil && (p.s.short || h.Cut != "") {
		p.rep.Cut = "cut short: it has no end"
	}
	return p, nil
}

// loop waits for what can happen and goes on.
func (p *player) loop(ctx context.Context, lines chan line) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		p.now = time.Now()
		p.tick()
		p.advance()
		if p.over {
			return
		}
		from, gone, signals := lines, p.a.Gone, p.a.Signals
		if len(p.asks)+len(p.answers) >= maxAsked || p.eof {
			from = nil
		}
		if p.gone {
			gone = nil
		}
		timer.Reset(max(0, p.deadline().Sub(p.now)))
		select {
		case l := <-from:
			p.receive(l)
		case err := <-p.out.done:
			p.wrote(err)
		case <-gone:
			p.gone = true
		case name, ok := <-signals:
			if ok {
				p.signalled(name)
			} else {
				p.a.Signals = nil
			}
		case <-timer.C:
		case <-ctx.Done():
			p.finish(Unfinished, "stopped", 143, "")
			p.abandon = true
		}
	}
}

// drain waits until the client has read the last bytes, as pi stays until then; a second signal ends it.
func (p *player) drain(ctx context.Context) {
	var impatient <-chan time.Time
	for !p.abandon && (p.out.busy || len(p.buf) > 0 || len(p.writes) > 0) && !p.gone {
		if !p.out.busy {
			if p.fault != nil && len(p.buf) > 0 {
				p.take(p.buf)
				p.buf = p.buf[:0]
			}
			if !p.pump(false) && p.fault == nil {
				p.flush()
			}
			continue
		}
		if p.terms > 1 && impatient == nil {
			impatient = time.After(lastWrite)
		}
		select {
		case <-impatient:
			p.abandon = true
		case err := <-p.out.done:
			p.wrote(err)
		case <-p.a.Gone:
			p.gone = true
		case name, ok := <-p.a.Signals:
			if !ok {
				p.a.Signals = nil
			} else if endsBy(name) != 0 {
				p.terms++
			}
		case <-ctx.Done():
			p.abandon = true
		}
	}
}
