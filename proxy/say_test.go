//go:build linux

package proxy_test

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"pitap/internal/zoo"
	"pitap/proxy"
)

// A warning never waits, whatever stderr is, and leaves it as it was.
func TestSay(t *testing.T) {
	t.Parallel()
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	tty := zoo.NewTerminal(t)
	file, err := os.Create(t.TempDir() + "/file")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for name, fd := range map[string]int{"pipe": pipe[1], "socket": pair[1], "terminal": int(tty.Slave.Fd()), "file": int(file.Fd())} {
		before, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
		if err != nil {
			t.Fatal(err)
		}
		for range 10_000 { // more than any of them but a file takes
			proxy.Say(fd, "a warning that nobody reads\n")
		}
		if after, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0); err != nil || after != before {
			t.Errorf("%s: flags %#x became %#x, %v", name, before, after, err)
		}
	}
	tty.Expect("a warning that nobody reads\r\n")
	unix.Close(pipe[0])
	unix.Close(pair[0])
	proxy.Say(pipe[1], "to nobody\n") // no signal, no panic
	proxy.Say(pair[1], "to nobody\n")
	unix.Close(pipe[1])
	unix.Close(pair[1])
	proxy.Say(-1, "to nothing\n")
}
