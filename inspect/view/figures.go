package view

import (
	"fmt"
	"strconv"
	"strings"

	"pitap/inspect/session"
	"pitap/inspect/text"
	"pitap/record"
)

// Figures lays out the figures, with histograms of latencies and sizes.
func (s *Store) Figures(width int) []Line {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sess == nil {
		return nil
	}
	st := s.sess.Stats(s.now())
	var b strings.Builder
	st.WriteText(&b, text.Palette{Enabled: true}, width)
	lines := coloured(b.String())
	for i := range lines {
		if m := entryNumber.FindStringSubmatch(lines[i].Text()); m != nil {
			lines[i].N, _ = strconv.ParseInt(m[1], 10, 64)
		}
	}
	if secs := float64(st.Duration) / 1e9; secs > 0 {
		lines = append(lines, Line{}, head("rate"))
		lines = append(lines, L(fmt.Sprintf("%.0f entries/s on average", float64(st.Entries)/secs)))
		lines = append(lines, s.rates(width)...)
	}
	if h := latencyHistogram(s.sess, width); len(h) > 0 {
		lines = append(append(lines, Line{}, head("latencies of responses")), h...)
	}
	for _, from := range []string{"client", "agent"} {
		if h := sizeHistogram(st.Sizes[from], width); len(h) > 0 {
			lines = append(append(lines, Line{}, head("sizes of records of the "+from)), h...)
		}
	}
	return lines
}

var blocks = []rune(" ▁▂▃▄▅▆▇█")

// rates draws how many entries came when.
func (s *Store) rates(width int) (lines []Line) {
	n := int64(min(max(width-12, 10), 120))
	end := max(s.sess.T, 1)
	for _, from := range []record.Stream{record.Client, record.Agent, record.Stderr} {
		counts := make([]uint64, n)
		most := uint64(0)
		for i := range n {
			counts[i] = s.lines.sum(from, end*i/n, end*(i+1)/n)
			most = max(most, counts[i])
		}
		if most == 0 {
			continue
		}
		var l Line
		l.add(Dim, fmt.Sprintf("%-8s ", from)).add(streamRole(from), bars(counts, most))
		lines = append(lines, l)
	}
	return lines
}

func streamRole(s record.Stream) Role {
	switch s {
	case record.Client:
		return Client
	case record.Stderr:
		return Stderr
	}
	return Agent
}

// bars draws counts as bars, one cell each; small ones are seen beside big ones.
func bars(counts []uint64, most uint64) string {
	var b strings.Builder
	for _, c := range counts {
		level := 0
		if c > 0 {
			level = 1 + int(7*float64(bitsLen(c))/float64(max(1, bitsLen(most))))
		}
		b.WriteRune(blocks[min(level, 8)])
	}
	return b.String()
}

func bitsLen(n uint64) int {
	l := 0
	for ; n > 1; n >>= 1 {
		l++
	}
	return l
}

func latencyHistogram(sess *session.Session, width int) []Line {
	limits := []int64{1e5, 1e6, 3e6, 1e7, 3e7, 1e8, 3e8, 1e9, 3e9, 1e10, 1e11}
	counts := make([]int64, len(limits)+1)
	total := 0
	for _, c := range sess.Commands {
		if ns, ok := c.Latency(); ok {
			total++
			counts[sortSearch(limits, ns)]++
		}
	}
	if total == 0 {
		return nil
	}
	names := make([]string, len(counts))
	for i := range limits {
		names[i] = "to " + text.Duration(limits[i])
	}
	names[len(limits)] = "longer"
	return histogram(names, counts, width)
}

func sortSearch(limits []int64, v int64) int {
	for i, l := range limits {
		if v <= l {
			return i
		}
	}
	return len(limits)
}

func sizeHistogram(sizes []int64, width int) []Line {
	var names []string
	var counts []int64
	for i := 0; i < len(sizes); i += 2 {
		n := sizes[i]
		if i+1 < len(sizes) {
			n += sizes[i+1]
		}
		names = append(names, "to "+text.Size(int64(1)<<(i+2)))
		counts = append(counts, n)
	}
	return histogram(names, counts, width)
}

// histogram draws a bar for each count, without the empty ones at both ends.
func histogram(names []string, counts []int64, width int) (lines []Line) {
	most := int64(0)
	first, last := len(counts), -1
	for i, c := range counts {
		if c > 0 {
			first, last = min(first, i), i
		}
		most = max(most, c)
	}
	room := min(max(width-26, 8), 60)
	for i := first; i <= last; i++ {
		var l Line
		n := int(counts[i] * int64(room) * 8 / max(most, 1))
		bar := strings.Repeat("█", n/8)
		if n%8 > 0 || n == 0 && counts[i] > 0 {
			bar += string([]rune("▏▎▍▌▋▊▉")[max(0, n%8-1)])
		}
		l.add(Dim, fmt.Sprintf("%10s ", names[i])).add(Client, bar).add(Plain, " "+text.Count(counts[i]))
		lines = append(lines, l)
	}
	return lines
}
