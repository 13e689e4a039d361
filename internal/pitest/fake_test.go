package pitest

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// fakeTB is a test whose failure is looked at.
type fakeTB struct {
	testing.TB
	mu              sync.Mutex
	messages        []string
	failed, skipped bool
	cleanups        []func()
}

// run runs a test in a goroutine of its own, and its cleanups.
func run(t *testing.T, test func(testing.TB)) *fakeTB {
	f := &fakeTB{TB: t}
	f.in(func() { test(f) })
	for len(f.cleanups) > 0 {
		last := f.cleanups[len(f.cleanups)-1]
		f.cleanups = f.cleanups[:len(f.cleanups)-1]
		f.in(last)
	}
	return f
}

func (f *fakeTB) in(call func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		call()
	}()
	<-done
}

func (f *fakeTB) say(message string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.messages = append(f.messages, message)
}

func (f *fakeTB) said() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Join(f.messages, "\n")
}

func (f *fakeTB) Helper()                           {}
func (f *fakeTB) Cleanup(c func())                  { f.cleanups = append(f.cleanups, c) }
func (f *fakeTB) Failed() bool                      { return f.failed }
func (f *fakeTB) Skipped() bool                     { return f.skipped }
func (f *fakeTB) Logf(format string, args ...any)   { f.say(fmt.Sprintf(format, args...)) }
func (f *fakeTB) Fatal(args ...any)                 { f.end(&f.failed, fmt.Sprint(args...)) }
func (f *fakeTB) Fatalf(format string, args ...any) { f.end(&f.failed, fmt.Sprintf(format, args...)) }
func (f *fakeTB) Skip(args ...any)                  { f.end(&f.skipped, fmt.Sprint(args...)) }
func (f *fakeTB) Skipf(format string, args ...any)  { f.end(&f.skipped, fmt.Sprintf(format, args...)) }

func (f *fakeTB) end(how *bool, message string) {
	*how = true
	f.say(message)
	runtime.Goexit()
}
