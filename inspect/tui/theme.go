package tui

import (
	"github.com/gdamore/tcell/v2"

	"pitap/inspect/view"
)

// theme gives roles their colours. It uses the sixteen colours that every terminal has, so that the terminal's own
// palette decides, but for the bars on more capable ones.
type theme struct {
	name  string
	roles [view.Mark + 1]tcell.Style
	base  tcell.Style
	sel   tcell.Style // what a selected line is drawn in
	selNo tcell.Style // the same in a part of the screen without the focus
	bar   tcell.Style // tabs and the last lines
	tab   tcell.Style // the tab that is shown
	title tcell.Style // heads of columns
	plain bool        // no colours: attributes only
	swap  bool        // bars and selection are the terminal's own two colours, turned round
}

// Themes are the names of the themes.
var Themes = []string{"dark", "light", "none"}

// colours are those of a theme on a terminal of sixteen colours, or on one of 256.
type colours struct {
	roles                      map[view.Role]tcell.Color
	sel, selText               tcell.Color
	selNo, selNoText           tcell.Color
	bar, barText, tab, tabText tcell.Color
}

func p256(n int) tcell.Color { return tcell.PaletteColor(n) }

var dark16 = colours{
	roles: map[view.Role]tcell.Color{view.Dim: tcell.ColorGray, view.Good: tcell.ColorLime, view.Bad: tcell.ColorRed, view.Warn: tcell.ColorYellow,
		view.Client: tcell.ColorAqua, view.Note: tcell.ColorFuchsia, view.Stderr: tcell.ColorRed, view.Key: tcell.ColorAqua, view.String: tcell.ColorLime,
		view.Number: tcell.ColorYellow, view.Word: tcell.ColorFuchsia, view.Symbol: tcell.ColorRed},
	sel: tcell.ColorNavy, selText: tcell.ColorWhite, selNo: tcell.ColorGray, selNoText: tcell.ColorWhite,
	bar: tcell.ColorGray, barText: tcell.ColorWhite, tab: tcell.ColorTeal, tabText: tcell.ColorBlack}

var dark256 = colours{
	roles: map[view.Role]tcell.Color{view.Dim: p256(245), view.Good: p256(114), view.Bad: p256(203), view.Warn: p256(221), view.Client: p256(80),
		view.Note: p256(176), view.Stderr: p256(203), view.Key: p256(110), view.String: p256(150), view.Number: p256(179), view.Word: p256(176), view.Symbol: p256(203)},
	sel: p256(24), selText: p256(255), selNo: p256(238), selNoText: p256(255), bar: p256(236), barText: p256(252), tab: p256(31), tabText: p256(231)}

var light16 = colours{
	roles: map[view.Role]tcell.Color{view.Dim: tcell.ColorGray, view.Good: tcell.ColorGreen, view.Bad: tcell.ColorMaroon, view.Warn: tcell.ColorOlive,
		view.Client: tcell.ColorNavy, view.Note: tcell.ColorPurple, view.Stderr: tcell.ColorMaroon, view.Key: tcell.ColorNavy, view.String: tcell.ColorGreen,
		view.Number: tcell.ColorOlive, view.Word: tcell.ColorPurple, view.Symbol: tcell.ColorMaroon},
	tab: tcell.ColorTeal, tabText: tcell.ColorWhite}

var light256 = colours{
	roles: map[view.Role]tcell.Color{view.Dim: p256(243), view.Good: p256(28), view.Bad: p256(160), view.Warn: p256(130), view.Client: p256(25),
		view.Note: p256(90), view.Stderr: p256(160), view.Key: p256(25), view.String: p256(28), view.Number: p256(94), view.Word: p256(90), view.Symbol: p256(160)},
	sel: p256(153), selText: p256(16), selNo: p256(252), selNoText: p256(16), bar: p256(254), barText: p256(235), tab: p256(25), tabText: p256(231)}

// newTheme makes a theme for a terminal of so many colours; a name that there is none of makes dark.
func newTheme(name string, count int) theme {
	base := tcell.StyleDefault
	t := theme{name: name, base: base}
	for i := range t.roles {
		t.roles[i] = base
	}
	t.roles[view.Strong], t.roles[view.Mark] = base.Bold(true), base.Reverse(true)
	c := &dark16
	switch {
	case name == "none":
		t.plain = true
		t.roles[view.Bad], t.roles[view.Warn], t.roles[view.Symbol] = base.Bold(true), base.Underline(true), base.Reverse(true)
		t.sel, t.selNo, t.bar, t.tab, t.title = base.Reverse(true), base.Bold(true), base, base.Reverse(true), base.Underline(true)
		return t
	case name == "light" && count >= 256:
		c = &light256
	case name == "light":
		c = &light16
	case count >= 256:
		c = &dark256
	}
	for role, colour := range c.roles {
		t.roles[role] = base.Foreground(colour)
	}
	t.sel, t.selNo = base.Background(c.sel).Foreground(c.selText), base.Background(c.selNo).Foreground(c.selNoText)
	t.bar, t.tab = base.Background(c.bar).Foreground(c.barText), base.Background(c.tab).Foreground(c.tabText).Bold(count >= 256)
	if count < 16 { // there is no grey
		t.roles[view.Dim] = base
	}
	if c == &light16 || count < 16 { // which of few colours are dark and which are light, each palette has its own way
		t.swap = true
		t.bar, t.tab, t.selNo = base.Reverse(true), base.Bold(true), base.Bold(true).Underline(true)
		t.sel = base.Reverse(true)
	}
	t.title = t.roles[view.Dim].Underline(true)
	return t
}

// style gives a role its style on a background.
func (t *theme) style(r view.Role, on tcell.Style) tcell.Style {
	s := t.roles[r]
	if on == t.base {
		return s
	}
	fg, _, attr := s.Decompose()
	_, bg, onAttr := on.Decompose()
	if t.plain || t.swap && onAttr&tcell.AttrReverse != 0 {
		return on.Bold(attr&tcell.AttrBold != 0 || onAttr&tcell.AttrBold != 0)
	}
	if fg == tcell.ColorDefault || r == view.Dim {
		fg, _, _ = on.Decompose()
	}
	return tcell.StyleDefault.Foreground(fg).Background(bg).Attributes(attr | onAttr)
}
