//go:build unix

package zoo

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
)

// bin is the folder that Setup made.
var bin string

// Setup makes a folder in which the test binary has each of the names, and zoo. The caller removes it.
func Setup(names ...string) (dir string, err error) {
	os.Setenv("GORACE", "atexit_sleep_ms=0") // else a program built with -race takes a second to exit
	for _, sig := range []os.Signal{syscall.SIGHUP, syscall.SIGINT} {
		if signal.Ignored(sig) { // as for a job in the background: what the tests start would ignore it, too
			signal.Notify(make(chan os.Signal, 1), sig)
		}
	}
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	if bin, err = os.MkdirTemp("", "pitap-test-"); err != nil {
		return "", err
	}
	for _, name := range append(names, "zoo") {
		if err := os.Symlink(self, filepath.Join(bin, name)); err != nil {
			return bin, err
		}
	}
	return bin, nil
}

// plain is this test program, built without -race; "" if that can't be.
var plain = sync.OnceValue(func() string {
	program := filepath.Join(bin, "plain")
	if out, err := exec.Command("go", "test", "-c", "-o", program, ".").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build without -race: %v\n%s", err, out)
		return ""
	}
	return program
})

// Plainly runs a test of much data, or of figures, in a process without the race detector, which makes it slow and large:
//
//	if zoo.Plainly(t) {
//		return
//	}
//
// It returns false when the test is to go on here. The test is then not parallel yet.
func Plainly(t *testing.T) bool {
	t.Helper()
	if !Raced || plain() == "" {
		return false
	}
	t.Parallel()
	args := []string{"-test.run=^" + t.Name() + "$", "-test.v", "-test.timeout=5m"}
	if testing.Short() {
		args = append(args, "-test.short")
	}
	out, err := exec.Command(plain(), args...).CombinedOutput()
	switch {
	case err != nil:
		t.Errorf("%v\n%s", err, out)
	case bytes.Contains(out, []byte("--- SKIP: "+t.Name())):
		t.Skipf("%s", out)
	case testing.Verbose():
		t.Logf("%s", out)
	}
	return true
}
