package main

import (
	"bufio"
	"fmt"

	"pitap/record"
)

func runExtract(t *tool, args []string) error {
	var from string
	f := t.flags("extract")
	f.StringVar(&from, "from", "agent", "`STREAM`: client, agent or stderr")
	if done, err := t.parse(f, args); done || err != nil {
		return err
	}
	stream, ok := record.ParseStream(from)
	if !ok || stream == record.NoStream {
		return usageError("extract: --from is %q; it takes client, agent or stderr", from)
	}
	c, err := t.open(f.Args())
	if err != nil {
		return err
	}
	defer c.Close()
	out := bufio.NewWriterSize(t.stdout, 1<<16)
	b := record.Bytes{From: stream, To: out}
	for c.Next() {
		if err := b.Entry(c.Entry()); err != nil {
			return err
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	if b.Lost > 0 {
		t.complain(fmt.Errorf("%s: %d bytes of %s were not recorded; what is written is without them", c.Path, b.Lost, stream))
	}
	return t.condition(c)
}
