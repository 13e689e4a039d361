package text

import "strings"

// Wrap breaks a paragraph into lines of at most width cells, at spaces; a longer word stands in a line of its own. With
// width 0 it is left as it is.
func Wrap(s string, width int) string {
	if width <= 0 {
		return s
	}
	var b strings.Builder
	used := 0
	for _, word := range strings.Fields(s) {
		w := Width(word)
		switch {
		case used == 0:
		case used+1+w > width:
			b.WriteByte('\n')
			used = 0
		default:
			b.WriteByte(' ')
			used++
		}
		b.WriteString(word)
		used += w
	}
	return b.String()
}
