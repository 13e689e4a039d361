package view

import "math/bits"

// bitset is a set of the entries of one frame.
type bitset []uint64

func newBitset(n int) bitset { return make(bitset, (n+63)/64) }

func (b bitset) has(i int) bool { return i>>6 < len(b) && b[i>>6]>>(i&63)&1 != 0 }

// put sets or clears bit i, and grows the set for it.
func (b *bitset) put(i int, on bool) {
	for i>>6 >= len(*b) {
		*b = append(*b, 0)
	}
	if on {
		(*b)[i>>6] |= 1 << (i & 63)
	} else {
		(*b)[i>>6] &^= 1 << (i & 63)
	}
}

// word is word w of the set; those behind its end are 0.
func (b bitset) word(w int) uint64 {
	if w < len(b) {
		return b[w]
	}
	return 0
}

// after finds the first i at or after from, and before n, whose bit in the words that f gives is set; -1 if none is.
func after(from, n int, f func(w int) uint64) int {
	if from < 0 {
		from = 0
	}
	for w := from >> 6; w<<6 < n; w++ {
		v := f(w)
		if w == from>>6 {
			v &= ^uint64(0) << (from & 63)
		}
		if v != 0 {
			if i := w<<6 + bits.TrailingZeros64(v); i < n {
				return i
			}
			return -1
		}
	}
	return -1
}

// before finds the last i at or before from whose bit is set; -1 if none is.
func before(from int, f func(w int) uint64) int {
	if from < 0 {
		return -1
	}
	for w := from >> 6; w >= 0; w-- {
		v := f(w)
		if w == from>>6 && from&63 != 63 {
			v &= 1<<(from&63+1) - 1
		}
		if v != 0 {
			return w<<6 + 63 - bits.LeadingZeros64(v)
		}
	}
	return -1
}

// count counts the set bits below n in the words that f gives.
func count(n int, f func(w int) uint64) (total int) {
	for w := 0; w<<6 < n; w++ {
		v := f(w)
		if n-w<<6 < 64 {
			v &= 1<<(n-w<<6) - 1
		}
		total += bits.OnesCount64(v)
	}
	return total
}
