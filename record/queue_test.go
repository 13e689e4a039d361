package record

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// drainQueue takes all items of a queue until it is closed, and checks that each stream's bytes are a counter that goes
// on, but for those that gaps count.
func drainQueue(t *testing.T, q *queue, pause func()) (got, lost [streamCount]int64) {
	t.Helper()
	last := int64(0)
	for q.sleep() {
		for {
			it, ok := q.next()
			if !ok {
				break
			}
			if it.t < last {
				t.Errorf("item of %d after %d", it.t, last)
			}
			last = it.t
			switch it.kind {
			case itemBytes:
				if want := pattern(got[it.from]+lost[it.from], len(it.p)); !bytes.Equal(it.p, want) {
					t.Errorf("%v at byte %d: %d bytes are others", it.from, got[it.from]+lost[it.from], len(it.p))
				}
				got[it.from] += int64(len(it.p))
			case itemGap:
				for i := range lost {
					lost[i] += lossOf(it.p, i).bytes
				}
			}
			pause()
			q.release(it)
		}
	}
	return got, lost
}

// pattern is what stands at an offset of every stream.
func pattern(off int64, n int) []byte {
	p := make([]byte, (n+23)/8*8)
	for i := 0; i < len(p); i += 8 {
		binary.LittleEndian.PutUint64(p[i:], uint64(off/8+int64(i/8))*0x9E3779B97F4A7C15)
	}
	return p[off%8:][:n]
}

// TestQueueConcurrent: three pumps and one that makes notes, many times around the ring.
func TestQueueConcurrent(t *testing.T) {
	start := time.Now()
	q := newQueue(func() int64 { return int64(time.Since(start)) })
	var pumps, reader sync.WaitGroup
	var sent [streamCount]int64
	notes, taken := 0, 0
	for s := Client; s < streamCount; s++ {
		pumps.Go(func() {
			r := rand.New(rand.NewPCG(uint64(s), 1))
			for range scaled(4000) {
				n := []int{1, 100, 4096, 65536, r.IntN(65536)}[r.IntN(5)]
				q.put(s, pattern(sent[s], n))
				sent[s] += int64(n)
			}
		})
	}
	pumps.Go(func() {
		for range scaled(4000) {
			if q.putNote([]byte(`{"note":"signal"}`)) {
				notes++
			}
		}
	})
	var got, lost [streamCount]int64
	reader.Go(func() {
		got, lost = drainQueue(t, q, func() { taken++ })
	})
	pumps.Wait()
	q.close()
	reader.Wait()
	for s := Client; s < streamCount; s++ {
		if got[s]+lost[s] != sent[s] {
			t.Errorf("%v: %d put, %d taken, %d lost", s, sent[s], got[s], lost[s])
		}
	}
	if notes == 0 || taken < notes {
		t.Errorf("%d notes, %d items", notes, taken)
	}
	if q.used != 0 {
		t.Errorf("%d bytes are left", q.used)
	}
}

// TestQueueFull fills the ring, behind each of many places in it, and counts to the byte what found no room.
func TestQueueFull(t *testing.T) {
	t.Parallel()
	places := []int{0, 1, 100, 1 << 20, 16<<20 - 100_000, 16<<20 - 65_600}
	if racing {
		places = []int{100, 16<<20 - 65_600}
	}
	for _, first := range places {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			q := newQueue(func() int64 { return int64(time.Since(start)) })
			var sent [streamCount]int64
			put := func(s Stream, n int) time.Duration {
				began := time.Now()
				q.put(s, pattern(sent[s], n))
				sent[s] += int64(n)
				return time.Since(began)
			}
			var got, lost [streamCount]int64
			done := make(chan struct{})
			hold, begun := make(chan struct{}), false
			go func() {
				defer close(done)
				got, lost = drainQueue(t, q, func() {
					if begun {
						<-hold
					}
				})
			}()
			for n := first; n > 0; n -= 65536 {
				put(Agent, min(n, 65536))
			}
			synctest.Wait()
			begun = true
			full, fast := 0, 0
			credit := mostCredit // what came fast at first may wait longer, once
			for range 700 {      // 43 MiB and as many small ones
				for s, n := range map[Stream]int{Agent: 65536, Client: 10} {
					limit := worth(n)
					d := put(s, n)
					if d > limit+credit {
						t.Fatalf("%d bytes waited for %v, more than %v", n, d, limit)
					}
					credit = max(0, credit-max(0, d-limit))
					if d == 0 {
						fast++
					} else {
						full++
					}
				}
			}
			if full == 0 || full > 3 { // then a gap is open, and nothing waits
				t.Errorf("%d puts have waited, %d have not", full, fast)
			}
			if !q.putNote([]byte(`{"note":"signal"}`)) {
				t.Error("no room for a note")
			}
			close(hold)
			synctest.Wait()
			put(Client, 10)
			q.close()
			<-done
			for s := Client; s < streamCount; s++ {
				if got[s]+lost[s] != sent[s] {
					t.Errorf("%v: %d put, %d taken, %d lost", s, sent[s], got[s], lost[s])
				}
			}
			if lost[Agent] < 26<<20 || lost[Agent] > 28<<20 {
				t.Errorf("lost %v", lost)
			}
		})
	}
}

// TestQueueWaitsForRoom: a reader that takes its time slows those who put, and nothing is lost.
func TestQueueWaitsForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		q := newQueue(func() int64 { return int64(time.Since(start)) })
		var got, lost [streamCount]int64
		var reader, pumps sync.WaitGroup
		reader.Go(func() {
			got, lost = drainQueue(t, q, func() { pause(10 * time.Millisecond) })
		})
		var sent [streamCount]int64
		for s := Client; s <= Agent; s++ {
			pumps.Go(func() {
				for range 300 {
					q.put(s, pattern(sent[s], 65536))
					sent[s] += 65536
				}
			})
		}
		pumps.Wait()
		if d := time.Since(start); d < 3*time.Second || d > 7*time.Second {
			t.Errorf("37 MiB at 6 MiB/s behind a ring of 16 took %v", d)
		}
		q.close()
		reader.Wait()
		if got != sent || lost != [streamCount]int64{} {
			t.Errorf("put %v, taken %v, lost %v", sent, got, lost)
		}
	})
}

// TestQueueNotes: notes find room when records do not, and are refused when there is none.
func TestQueueNotes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(func() int64 { return 1 })
		for range 300 {
			q.put(Agent, make([]byte, 65536))
		}
		n := 0
		for q.putNote(bytes.Repeat([]byte{' '}, 100)) {
			n++
		}
		if n < 500 || n > 2000 {
			t.Errorf("%d notes found room", n)
		}
		q.close()
		if q.putNote([]byte("{}")) {
			t.Error("a note was taken after the end")
		}
	})
}

// Forwarding makes no garbage.
func TestPutAllocatesNothing(t *testing.T) {
	q := newQueue(func() int64 { return 1 })
	p := bytes.Repeat([]byte("x"), 300)
	if n := testing.AllocsPerRun(1000, func() {
		q.put(Client, p)
		q.put(Agent, p)
		for range 2 {
			it, _ := q.next()
			q.release(it)
		}
	}); n != 0 {
		t.Errorf("%v allocations for two puts", n)
	}
}
