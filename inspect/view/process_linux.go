package view

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// processState says in words what the kernel says of a process at this moment, when it is the child of parent: another
// process that has its number by now, or has it elsewhere, is told apart by that. It gives "" when nothing is known.
func processState(pid, parent int) string {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	// pid (name) state ppid ...; the name may hold anything
	i := bytes.LastIndexByte(b, ')')
	if i < 0 {
		return ""
	}
	f := bytes.Fields(b[i+1:])
	if len(f) < 2 || parent <= 0 || string(f[1]) != strconv.Itoa(parent) {
		return ""
	}
	switch f[0][0] {
	case 'R':
		return "running"
	case 'S':
		return "asleep: it waits for something to come"
	case 'D':
		return "in the kernel, for a disk or the like"
	case 'T', 't':
		return "stopped, by SIGSTOP, Ctrl-Z or a debugger: it does nothing before SIGCONT"
	case 'Z', 'X':
		return "dead, and its exit not fetched yet"
	}
	return ""
}
