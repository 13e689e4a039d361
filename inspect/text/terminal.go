package text

import (
	"os"

	"golang.org/x/term"
)

// Palette colours text for a terminal, with the eight colours that every terminal has. The zero value leaves all text
// as it is. Each ends with the code that undoes it and no other kind, so what is bold within red leaves the rest red.
type Palette struct {
	Enabled bool
}

// Each returns s in one style, and s itself when the palette is not enabled or s is empty. s must be visible text.

func (p Palette) Bold(s string) string    { return p.wrap(s, bold) }
func (p Palette) Dim(s string) string     { return p.wrap(s, dim) }
func (p Palette) Reverse(s string) string { return p.wrap(s, reverse) }
func (p Palette) Red(s string) string     { return p.wrap(s, red) }
func (p Palette) Green(s string) string   { return p.wrap(s, green) }
func (p Palette) Yellow(s string) string  { return p.wrap(s, yellow) }
func (p Palette) Blue(s string) string    { return p.wrap(s, blue) }
func (p Palette) Magenta(s string) string { return p.wrap(s, magenta) }
func (p Palette) Cyan(s string) string    { return p.wrap(s, cyan) }

// style is a pair of sequences, from there on and from there on no more.
type style struct{ on, off string }

var (
	plain   = style{}
	bold    = style{"\x1b[1m", "\x1b[22m"}
	dim     = style{"\x1b[2m", "\x1b[22m"}
	reverse = style{"\x1b[7m", "\x1b[27m"}
	red     = style{"\x1b[31m", "\x1b[39m"}
	green   = style{"\x1b[32m", "\x1b[39m"}
	yellow  = style{"\x1b[33m", "\x1b[39m"}
	blue    = style{"\x1b[34m", "\x1b[39m"}
	magenta = style{"\x1b[35m", "\x1b[39m"}
	cyan    = style{"\x1b[36m", "\x1b[39m"}
)

func (p Palette) wrap(s string, st style) string {
	if !p.Enabled || s == "" {
		return s
	}
	return st.on + s + st.off
}

// IsTerminal says whether f is a terminal; nil and closed files are none.
func IsTerminal(f *os.File) bool {
	is := false
	control(f, func(fd int) { is = term.IsTerminal(fd) })
	return is
}

// TerminalWidth returns the width in cells of the terminal that f is, 0 when it is none or does not tell.
func TerminalWidth(f *os.File) int {
	width := 0
	control(f, func(fd int) {
		if w, _, err := term.GetSize(fd); err == nil {
			width = w
		}
	})
	return width
}

// control calls do with the descriptor of f. Unlike f.Fd it leaves the descriptor's blocking mode alone, which others
// may share.
func control(f *os.File, do func(fd int)) {
	if f == nil {
		return
	}
	if c, err := f.SyscallConn(); err == nil {
		c.Control(func(fd uintptr) { do(int(fd)) }) // closed: do is not called
	}
}
