package view

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestProcessState(t *testing.T) {
	cmd := exec.Command("sleep", "100")
	if err := cmd.Start(); err != nil {
		t.Skip(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	want := func(word string) {
		t.Helper()
		for late := time.Now().Add(patience); ; {
			said := processState(cmd.Process.Pid, os.Getpid())
			if strings.HasPrefix(said, word) {
				return
			}
			if time.Now().After(late) {
				t.Fatalf("the state is %q, want %s", said, word)
			}
		}
	}
	want("asleep")
	cmd.Process.Signal(syscall.SIGSTOP)
	want("stopped")
	cmd.Process.Signal(syscall.SIGCONT)
	want("asleep")
	if said := processState(cmd.Process.Pid, os.Getpid()+1); said != "" {
		t.Errorf("of another's child it says %q", said)
	}
	cmd.Process.Kill()
	want("dead")
	cmd.Wait()
	if said := processState(cmd.Process.Pid, os.Getpid()); said != "" {
		t.Errorf("of one that is gone it says %q", said)
	}
}
