package main

import (
	"bytes"
	"fmt"
	"io"

	"pitap/inspect/text"
	"pitap/record"
)

func runExtract(t *tool, args []string) error {
	f := t.flags("extract")
	from := f.String("from", "agent", "`STREAM`: client, agent or stderr")
	t.dirFlag(f)
	if done, err := t.parse(f, args); done || err != nil {
		return err
	}
	stream, ok := record.ParseStream(*from)
	if !ok || stream == record.NoStream {
		return usageError("extract: --from is %q; it takes client, agent or stderr", *from)
	}
	c, err := t.open(f.Args())
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := t.begin(c); err != nil {
		return err
	}
	out, err := t.output("never")
	if err != nil {
		return err
	}
	b := record.Bytes{From: stream, To: out}
	if out.terminal {
		b.To = visibleWriter{out}
	}
	size := c.Size()
	for c.Next() {
		if err := b.Entry(c.Entry()); err != nil {
			return err
		}
		out.progress.at("extracted", c.Unit(), size)
	}
	out.progress.clear()
	if err := out.Flush(); err != nil {
		return err
	}
	if b.Lost > 0 {
		t.complain(fmt.Errorf("%s: %d bytes of %s were not recorded; what is written is without them", c.Path, b.Lost, stream))
	}
	return t.condition(c)
}

// visibleWriter replaces what could act on a terminal. Only line ends are left.
type visibleWriter struct{ w io.Writer }

func (v visibleWriter) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		line, after, found := bytes.Cut(rest, []byte{'\n'})
		out := text.Visible(nil, line)
		if found {
			out = append(out, '\n')
		}
		if _, err := v.w.Write(out); err != nil {
			return 0, err
		}
		rest = after
	}
	return len(p), nil
}
