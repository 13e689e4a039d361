//go:build unix

package record

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestOpenPipe: a pipe is refused at once, and not waited for.
func TestOpenPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe.jsonl.zst")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	if _, err := Open(path); err == nil || !strings.Contains(err.Error(), "not a file") {
		t.Errorf("error %v", err)
	}
	if _, err := CreateAt(path); err == nil || !strings.Contains(err.Error(), "not a file") {
		t.Errorf("error %v", err)
	}
	if found, err := List(filepath.Dir(path)); err != nil || len(found) > 0 {
		t.Errorf("%v, %v", found, err)
	}
}

// TestLock is how others see that a capture is live.
func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.jsonl.zst")
	f, err := CreateAt(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := Lock(f); err != nil {
		t.Skip(err)
	}
	other, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if locked, known := Locked(other); !locked || !known {
		t.Errorf("locked %v, known %v", locked, known)
	}
	third, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer third.Close()
	if err := Lock(third); !errors.Is(err, syscall.EWOULDBLOCK) {
		t.Errorf("locked twice: %v", err)
	}
	// A copy of the descriptor, as a process has it that inherits it, keeps the lock.
	fd, err := syscall.Dup(int(f.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	if locked, _ := Locked(other); !locked {
		t.Error("the lock is gone, and a copy is open")
	}
	syscall.Close(fd)
	if locked, known := Locked(other); locked || !known {
		t.Errorf("after the end: locked %v, known %v", locked, known)
	}
	if err := Lock(third); err != nil {
		t.Errorf("lock again: %v", err)
	}
}

func TestGone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.jsonl.zst")
	f, err := CreateAt(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := Gone(f); err != nil {
		t.Error(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := Gone(f); !errors.Is(err, ErrGone) || !strings.Contains(err.Error(), path) {
		t.Errorf("error %v", err)
	}
}
