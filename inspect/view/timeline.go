package view

import "pitap/record"

// buckets is how finely the activity of a stream is kept.
const buckets = 1 << 13

// timeline counts the entries of each stream in spans of time. When a session becomes longer than the spans reach, two
// neighbours become one.
type timeline struct {
	width  int64 // of a span, in nanoseconds; 0: nothing yet
	counts [4][buckets]uint32
}

func (l *timeline) add(e *record.Entry) {
	if e.Note != nil || e.T < 0 {
		return
	}
	if l.width == 0 {
		l.width = 100_000
	}
	for e.T/l.width >= buckets {
		l.width *= 2
		for s := range l.counts {
			c := &l.counts[s]
			for i := range buckets / 2 {
				c[i] = c[2*i] + c[2*i+1]
			}
			clear(c[buckets/2:])
		}
	}
	l.counts[e.From&3][e.T/l.width]++
}

// sum counts the entries of a stream from t0 to t1, roughly where these lie within a span.
func (l *timeline) sum(s record.Stream, t0, t1 int64) (n uint64) {
	if l.width == 0 {
		return 0
	}
	a, b := max(0, t0/l.width), min(buckets-1, max(t0, t1-1)/l.width)
	for ; a <= b; a++ {
		n += uint64(l.counts[s&3][a])
	}
	return n
}
