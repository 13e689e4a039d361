package record

import (
	"runtime"
	"testing"
	"testing/synctest"
	"time"
)

// A session of twelve hours, with rests and busy times: all of it is recorded, at its time, and nothing grows.
func TestTwelveHours(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSession(t)
		s.talk(time.Minute, time.Second)
		goroutines := runtime.NumGoroutine()
		for range 11 {
			s.talk(10*time.Minute, time.Second)
			s.talk(10*time.Second, time.Millisecond)
			pause(55*time.Minute - 10*time.Second)
			if n := runtime.NumGoroutine(); n != goroutines {
				t.Errorf("%d goroutines, %d at the beginning", n, goroutines)
			}
		}
		s.close()
		y := s.check()
		if y.lost != [streamCount]int64{} || s.warned() != "" || len(y.notes) != 1 { // the end
			t.Errorf("lost %v, warnings %q, notes %+v", y.lost, s.warned(), y.notes)
		}
		r := NewReader(s.file, s.file.size)
		var last time.Duration
		for r.Next() {
			last = time.Duration(r.Entry().T)
		}
		if last < 11*time.Hour+55*time.Minute || last > 12*time.Hour {
			t.Errorf("the last entry is at %v", last)
		}
	})
}
