package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"pitap/inspect/text"
)

// output is a command's stdout: buffered, and out of the way of its progress line.
type output struct {
	*bufio.Writer
	terminal bool
	width    int // of the terminal in cells; 0: no terminal, or it does not tell
	palette  text.Palette
	progress *progress
}

// output prepares the command's stdout for long work. A reader that goes away is an error of the next write and no
// longer the end of the process, so that it can end in order.
func (t *tool) output(color string) (*output, error) {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	o := &output{terminal: text.IsTerminal(t.stdout)}
	if o.terminal {
		o.width = text.TerminalWidth(t.stdout)
	}
	switch color {
	case "always":
		o.palette.Enabled = true
	case "auto", "":
		o.palette.Enabled = o.terminal && t.getenv("NO_COLOR") == "" && t.getenv("TERM") != "dumb"
	case "never":
	default:
		return nil, usageError("--color is %q; it takes auto, always or never", color)
	}
	o.progress = &progress{w: t.stderr, visible: text.IsTerminal(t.stderr), began: time.Now()}
	o.Writer = bufio.NewWriterSize(&clearing{t.stdout, o.progress}, 64<<10)
	return o, nil
}

// colorFlag adds the flag --color.
func colorFlag(f *pflag.FlagSet) *string {
	return f.String("color", "auto", "`WHEN` to use colours: auto (on a terminal, unless NO_COLOR is set), always or never")
}

// clearing erases the progress line before anything else is written.
type clearing struct {
	w        io.Writer
	progress *progress
}

func (c *clearing) Write(p []byte) (int, error) {
	c.progress.clear()
	return c.w.Write(p)
}

// progress is a line on the terminal that tells how far long work has come.
type progress struct {
	w       io.Writer
	visible bool // the writer is a terminal
	began   time.Time
	drawn   time.Time
	shown   bool
	calls   uint
}

// Work that takes less says nothing.
const progressAfter = 500 * time.Millisecond

// at draws the line anew, now and then.
func (p *progress) at(doing string, done, total int64) {
	if p.calls++; !p.visible || p.calls%64 != 0 {
		return
	}
	now := time.Now()
	if now.Sub(p.began) < progressAfter || now.Sub(p.drawn) < 100*time.Millisecond {
		return
	}
	p.drawn, p.shown = now, true
	percent := ""
	if total > 0 {
		percent = fmt.Sprintf(" (%d%%)", done*100/total)
	}
	fmt.Fprintf(p.w, "\r\x1b[K%s: %s of %s%s", doing, text.Size(done), text.Size(total), percent)
}

// clear erases the line.
func (p *progress) clear() {
	if p.shown {
		io.WriteString(p.w, "\r\x1b[K")
		p.shown = false
	}
}
