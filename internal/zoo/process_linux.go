package zoo

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of times in /proc.
const tick = 10 * time.Millisecond

// Alive tells whether a process runs; one that has exited and was not waited for does not.
func Alive(pid int) bool {
	s := State(pid)
	return s != 0 && s != 'Z' && s != 'X'
}

// State is the letter that ps shows: 'R', 'S', 'T' (stopped), 'Z'..., 0 when there is no such process.
func State(pid int) byte {
	if fields := stat(pid); len(fields) > 0 {
		return fields[0][0]
	}
	return 0
}

// CPU is the processor time that a process has used.
func CPU(pid int) time.Duration {
	fields := stat(pid)
	if len(fields) < 13 {
		return 0
	}
	return time.Duration(number(fields[11])+number(fields[12])) * tick
}

// Group is the process group of a process.
func Group(pid int) int {
	if fields := stat(pid); len(fields) > 2 {
		return number(fields[2])
	}
	return 0
}

// stat gives the fields of /proc/PID/stat from the state on.
func stat(pid int) []string {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	return strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
}

// Switches is how often the threads of a process have gone to sleep.
func Switches(pid int) (total int) {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	for _, f := range files {
		total += field(f, "voluntary_ctxt_switches")
	}
	return total
}

// Peak is the most memory that a process has had resident, in bytes, Resident what it has now.
func Peak(pid int) int     { return field(fmt.Sprintf("/proc/%d/status", pid), "VmHWM") << 10 }
func Resident(pid int) int { return field(fmt.Sprintf("/proc/%d/status", pid), "VmRSS") << 10 }

// field reads a number from a file of lines "NAME: NUMBER ...".
func field(file, name string) int {
	b, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			n, _ := strconv.Atoi(strings.Fields(value)[0])
			return n
		}
	}
	return 0
}

// Children gives the ids of a process's children.
func Children(pid int) (children []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, f := range files {
		child, _ := strconv.Atoi(strings.Split(f, "/")[2])
		if fields := stat(child); len(fields) > 1 && fields[1] == strconv.Itoa(pid) {
			children = append(children, child)
		}
	}
	return children
}

// Holders gives the ids of the processes that have a file open.
func Holders(file string) (pids []int) {
	links, _ := filepath.Glob("/proc/[0-9]*/fd/*")
	for _, l := range links {
		if to, err := os.Readlink(l); err == nil && to == file {
			pid, _ := strconv.Atoi(strings.Split(l, "/")[2])
			if !slices.Contains(pids, pid) {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}
