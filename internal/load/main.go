// Command load is the agent of the benchmarks of the whole program.
//
//	load echo          answers each line with a line
//	load runs FILE     answers each line {"id":"ID",... with the lines of FILE, in which @ID stands for the id
//	load flood N FILE  writes the lines of FILE again and again, N bytes or a little more, as fast as it can
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strconv"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) == 1 && args[0] == "echo":
		return echo()
	case len(args) == 2 && args[0] == "runs":
		return runs(args[1])
	case len(args) == 3 && args[0] == "flood":
		n, err := strconv.ParseInt(args[1], 10, 64)
		if err != nil {
			return err
		}
		return flood(n, args[2])
	}
	return fmt.Errorf("usage: load echo | load runs FILE | load flood N FILE")
}

// echo answers at once, one write a line, as pi does.
func echo() error {
	lines := bufio.NewReaderSize(os.Stdin, 64<<10)
	answer := []byte(`{"type":"response","command":"get_state","success":true,"data":`)
	buf := make([]byte, 0, 64<<10)
	for {
		line, err := lines.ReadSlice('\n')
		if err != nil {
			return nil
		}
		buf = append(append(append(buf[:0], answer...), line[:len(line)-1]...), '}', '\n')
		if _, err := os.Stdout.Write(buf); err != nil {
			return err
		}
	}
}

// runs writes each line by itself, as pi does.
func runs(file string) error {
	template, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	lines := bufio.NewReaderSize(os.Stdin, 64<<10)
	buf := make([]byte, 0, 64<<10)
	for {
		command, err := lines.ReadSlice('\n')
		if err != nil {
			return nil
		}
		id, _, _ := bytes.Cut(bytes.TrimPrefix(command, []byte(`{"id":"`)), []byte(`"`))
		for line := range bytes.Lines(template) {
			before, after, found := bytes.Cut(line, []byte("@ID"))
			buf = append(buf[:0], before...)
			if found {
				buf = append(append(buf, id...), after...)
			}
			if _, err := os.Stdout.Write(buf); err != nil {
				return err
			}
		}
	}
}

func flood(n int64, file string) error {
	block, err := os.ReadFile(file)
	if err != nil || len(block) == 0 {
		return fmt.Errorf("%s: empty, or %v", file, err)
	}
	for sent := int64(0); sent < n; sent += int64(len(block)) {
		for p := block; len(p) > 0; {
			k := min(len(p), 64<<10)
			if _, err := os.Stdout.Write(p[:k]); err != nil {
				return err
			}
			p = p[k:]
		}
	}
	return nil
}
