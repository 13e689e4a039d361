package view

import (
	"fmt"

	"pitap/inspect/text"
)

const maxDiff = 2000 // lines of each side that are compared

// Diff lays out the difference between two rows, line by line of their indented JSON.
func Diff(a, b *Detail, width int) (lines []Line) {
	la, lb := a.Pretty(width), b.Pretty(width)
	lines = append(lines,
		Line{Spans: []Span{{fmt.Sprintf("- entry %d  %s", a.Row.N, a.Row.Full), Bad}}, N: a.Row.N},
		Line{Spans: []Span{{fmt.Sprintf("+ entry %d  %s", b.Row.N, b.Row.Full), Good}}, N: b.Row.N})
	cut := len(la) > maxDiff || len(lb) > maxDiff
	la, lb = la[:min(len(la), maxDiff)], lb[:min(len(lb), maxDiff)]
	ta, tb := texts(la), texts(lb)
	same := 0
	out := func(role Role, sign, s string, n int64) {
		lines = append(lines, Line{Spans: []Span{{sign + s, role}}, N: n})
	}
	i, j := 0, 0
	keep := shared(ta, tb)
	for _, k := range append(keep, [2]int{len(ta), len(tb)}) {
		for ; i < k[0]; i++ {
			out(Bad, "- ", ta[i], a.Row.N)
		}
		for ; j < k[1]; j++ {
			out(Good, "+ ", tb[j], b.Row.N)
		}
		if i < len(ta) && j < len(tb) {
			out(Plain, "  ", ta[i], a.Row.N)
			same++
			i, j = i+1, j+1
		}
	}
	if same == len(ta) && same == len(tb) {
		lines = append(lines, R(Good, "They are the same."))
	}
	if cut {
		lines = append(lines, R(Warn, fmt.Sprintf("Only the first %s lines were compared.", text.Count(maxDiff))))
	}
	return lines
}

func texts(lines []Line) []string {
	list := make([]string, len(lines))
	for i, l := range lines {
		list[i] = l.Text()
	}
	return list
}

// shared gives the pairs of indexes of a longest common subsequence.
func shared(a, b []string) (pairs [][2]int) {
	lo := 0
	for lo < len(a) && lo < len(b) && a[lo] == b[lo] {
		pairs = append(pairs, [2]int{lo, lo})
		lo++
	}
	x, y := a[lo:], b[lo:]
	w := len(y) + 1
	best := make([]int16, (len(x)+1)*w)
	for i := len(x) - 1; i >= 0; i-- {
		for j := len(y) - 1; j >= 0; j-- {
			if x[i] == y[j] {
				best[i*w+j] = best[(i+1)*w+j+1] + 1
			} else {
				best[i*w+j] = max(best[(i+1)*w+j], best[i*w+j+1])
			}
		}
	}
	for i, j := 0, 0; i < len(x) && j < len(y); {
		switch {
		case x[i] == y[j]:
			pairs = append(pairs, [2]int{lo + i, lo + j})
			i, j = i+1, j+1
		case best[(i+1)*w+j] >= best[i*w+j+1]:
			i++
		default:
			j++
		}
	}
	return pairs
}
