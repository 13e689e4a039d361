//go:build !unix

package record

import "testing"

func perCPU(b *testing.B, size int64, f func()) {
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		f()
	}
}
