//go:build unix

package zoo

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Out writes text to stdout, in one write as far as the kernel takes it.
func Out(text string) string { return "out:" + strconv.Quote(text) }

// Err writes text to stderr.
func Err(text string) string { return "err:" + strconv.Quote(text) }

// Line reads a line from stdin, and not a byte behind it. At the end of stdin the agent goes on, too.
func Line() string { return "line" }

// Lines answers n lines from stdin, each with itself.
func Lines(n int) string { return fmt.Sprint("lines:", n) }

// Echo copies stdin to stdout until stdin ends.
func Echo() string { return "echo" }

// EOF reads stdin to its end.
func EOF() string { return "eof" }

// Digest reads stdin to its end, and writes the line "BYTES HASH" (see Sum).
func Digest() string { return "digest" }

// Take reads n bytes from stdin.
func Take(n int) string { return fmt.Sprint("take:", n) }

// Flood writes the bytes of Records(n, size), 64 KiB a write.
func Flood(n, size int) string { return fmt.Sprintf("flood:%d,%d", n, size) }

// Paced writes the bytes of Records(n, size), one record a write, with a pause after each.
func Paced(pause time.Duration, n, size int) string {
	return fmt.Sprintf("paced:%v,%d,%d", pause, n, size)
}

// Scrambled writes the bytes of ScrambledRecords(n, size) to stdout, 64 KiB a write.
func Scrambled(n, size int) string { return fmt.Sprintf("scramble:%d,%d", n, size) }

// Noise writes the n bytes of Random(seed, n) to stdout, 64 KiB a write.
func Noise(seed uint64, n int) string { return fmt.Sprintf("noise:%d,%d", seed, n) }

// NoiseErr writes the n bytes of Random(seed, n) to stderr, in one write as far as the kernel takes them.
func NoiseErr(seed uint64, n int) string { return fmt.Sprintf("noiseerr:%d,%d", seed, n) }

// Whole writes n times the unit, and an LF, in as few writes as can be.
func Whole(unit string, n int) string { return fmt.Sprintf("whole:%d,%q", n, unit) }

// Fill is Whole without the LF.
func Fill(unit string, n int) string { return fmt.Sprintf("fill:%d,%q", n, unit) }

// Drip writes text to stdout byte by byte, with a pause after each.
func Drip(pause time.Duration, text string) string { return fmt.Sprintf("drip:%v,%q", pause, text) }

// Progress makes the size of a file the number of bytes that Flood and Noise have written.
func Progress(file string) string { return "progress:" + file }

// Close closes a descriptor.
func Close(fd int) string { return fmt.Sprint("close:", fd) }

// Nonblock sets O_NONBLOCK on the open file behind a descriptor.
func Nonblock(fd int) string { return fmt.Sprint("nonblock:", fd) }

// Broken waits, without writing, until a descriptor polls as broken (POLLERR or POLLHUP), and says so on stderr if that
// is still open: "fd 1 broken".
func Broken(fd int) string { return fmt.Sprint("broken:", fd) }

// Pipe sets how much the pipe at a descriptor holds, in bytes.
func Pipe(fd, size int) string { return fmt.Sprintf("pipe:%d,%d", fd, size) }

// Wait pauses.
func Wait(d time.Duration) string { return "wait:" + d.String() }

// Await waits until a file exists.
func Await(file string) string { return "await:" + file }

// Touch makes a file that holds the process's id. It is there at once with its content.
func Touch(file string) string { return "touch:" + file }

// Forever waits for a signal that ends the agent.
func Forever() string { return "forever" }

// Exit ends the agent.
func Exit(status int) string { return fmt.Sprint("exit:", status) }

// Die ends the agent by a signal's default action.
func Die(sig syscall.Signal) string { return fmt.Sprint("die:", int(sig)) }

// Ignore ignores a signal.
func Ignore(sig syscall.Signal) string { return fmt.Sprint("ignore:", int(sig)) }

// Count writes a line "SIGNAL COUNT" (see SignalName) to stdout for each of the signals that comes.
func Count(sigs ...syscall.Signal) string { return "count:" + numbers(sigs) }

// Log is Count, but the lines are appended to a file, which is there at once.
func Log(file string, sigs ...syscall.Signal) string { return "log:" + file + "," + numbers(sigs) }

// CleanUp makes the agent, at the signal's first coming, say "cleaning up", take its time, say "clean" and exit. At its
// second coming it exits at once with 99.
func CleanUp(sig syscall.Signal, takes time.Duration, status int) string {
	return fmt.Sprintf("cleanup:%d,%v,%d", int(sig), takes, status)
}

// Child starts a child that does steps of its own, with the agent's descriptors, and goes on.
func Child(steps ...string) string {
	b, _ := json.Marshal(steps)
	return "child:" + string(b)
}

func numbers(sigs []syscall.Signal) string {
	var s []string
	for _, sig := range sigs {
		s = append(s, strconv.Itoa(int(sig)))
	}
	return strings.Join(s, ",")
}

// Records gives n records of size bytes each, their LF included (at least 32), which are numbered from 0.
func Records(n, size int) []byte {
	b := make([]byte, 0, n*size)
	for i := range n {
		b = appendRecord(b, i, size)
	}
	return b
}

func appendRecord(b []byte, i, size int) []byte {
	end := len(b) + size
	b = fmt.Appendf(b, `{"type":"flood","n":%d,"pad":"`, i)
	for left := end - 3 - len(b); left > 0; left-- {
		b = append(b, "abcdefgh"[left%8])
	}
	return append(b, "\"}\n"...)
}

// ScrambledRecords gives n records of size bytes each, their LF included, that compress to half.
func ScrambledRecords(n, size int) []byte {
	b := make([]byte, 0, n*size)
	source := rand.New(rand.NewPCG(1, 2))
	for range n {
		b = append(b, `{"data":"`...)
		for range size - 12 {
			b = append(b, "0123456789abcdef"[source.Uint32()&15])
		}
		b = append(b, "\"}\n"...)
	}
	return b
}

// Random gives n bytes that can't be guessed or compressed, always the same for a seed.
func Random(seed uint64, n int) []byte {
	b := make([]byte, n)
	source := rand.New(rand.NewPCG(seed, 1))
	for i := range b {
		b[i] = byte(source.Uint32())
	}
	return b
}
