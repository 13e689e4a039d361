//go:build unix

package record

import (
	"syscall"
	"testing"
	"time"
)

// perCPU reports MB of traffic for each second of processor time, which says more than wall time on a busy machine.
func perCPU(b *testing.B, size int64, f func()) {
	used := func() time.Duration {
		var u syscall.Rusage
		syscall.Getrusage(syscall.RUSAGE_SELF, &u)
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	b.SetBytes(size)
	b.ReportAllocs()
	from, n := used(), 0
	for b.Loop() {
		f()
		n++
	}
	b.ReportMetric(float64(size)*float64(n)/1e6/(used()-from).Seconds(), "MB/cpu-s")
}
