package record

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// TestClockSetBack: somebody sets the clock back, before, while and after another process goes on with the recording. No
// time is negative, entries stay in order, and notes tell of it.
func TestClockSetBack(t *testing.T) {
	for _, by := range []time.Duration{2 * time.Second, time.Hour, 20 * 365 * 24 * time.Hour} {
		t.Run(fmt.Sprint(by), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSession(t)
				back := func() {
					s.mu.Lock()
					s.wall -= by
					s.mu.Unlock()
				}
				back() // before anything is recorded
				s.talk(time.Second, 20*time.Millisecond)
				back()
				s.talk(time.Second, 20*time.Millisecond)
				back()
				s.goOn()
				s.talk(time.Second, 20*time.Millisecond)
				back()
				s.talk(time.Second, 20*time.Millisecond)
				s.close()
				if n := len(s.check().of("clock")); n != 4 {
					t.Errorf("%d clock notes, want 4", n)
				}
				r := NewReader(s.file, s.file.size)
				for n := int64(1); r.Next(); n++ {
					if e := r.Entry(); e.N != n || e.T < 0 || e.T > int64(5*time.Second) {
						t.Fatalf("entry %d, t %v: want %d, and a time in the session", e.N, time.Duration(e.T), n)
					}
				}
			})
		})
	}
}
