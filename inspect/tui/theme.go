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
}

// Themes are the names of the themes.
var Themes = []string{"dark", "light", "none"}

// newTheme makes a theme for a terminal of so many colours; dark is what it makes of names that there are none of.
func newTheme(name string, colours int) theme {
	base := tcell.StyleDefault
	t := theme{name: name, base: base}
	fg := func(c tcell.Color) tcell.Style { return base.Foreground(c) }
	set := func(r view.Role, s tcell.Style) { t.roles[r] = s }
	for i := range t.roles {
		t.roles[i] = base
	}
	set(view.Strong, base.Bold(true))
	set(view.Mark, base.Reverse(true))
	switch name {
	case "none":
		t.plain = true
		set(view.Bad, base.Bold(true))
		set(view.Warn, base.Underline(true))
		set(view.Symbol, base.Reverse(true))
		t.sel, t.selNo = base.Reverse(true), base.Bold(true)
		t.bar, t.tab, t.title = base, base.Reverse(true), base.Underline(true)
		return t
	case "dark", "":
		t.name = "dark"
		set(view.Dim, fg(tcell.ColorGray))
		set(view.Good, fg(tcell.ColorLime))
		set(view.Bad, fg(tcell.ColorRed))
		set(view.Warn, fg(tcell.ColorYellow))
		set(view.Client, fg(tcell.ColorAqua))
		set(view.Note, fg(tcell.ColorFuchsia))
		set(view.Stderr, fg(tcell.ColorRed))
		set(view.Key, fg(tcell.ColorAqua))
		set(view.String, fg(tcell.ColorLime))
		set(view.Number, fg(tcell.ColorYellow))
		set(view.Word, fg(tcell.ColorFuchsia))
		set(view.Symbol, fg(tcell.ColorRed))
		t.sel = base.Background(tcell.ColorNavy).Foreground(tcell.ColorWhite)
		t.selNo = base.Background(tcell.ColorGray).Foreground(tcell.ColorWhite)
		t.bar = base.Background(tcell.ColorGray).Foreground(tcell.ColorWhite)
		t.tab = base.Background(tcell.ColorTeal).Foreground(tcell.ColorBlack)
		if colours >= 256 {
			grey := tcell.PaletteColor
			t.sel = base.Background(grey(24)).Foreground(grey(255))
			t.selNo = base.Background(grey(238)).Foreground(grey(255))
			t.bar = base.Background(grey(236)).Foreground(grey(252))
			t.tab = base.Background(grey(31)).Foreground(grey(231)).Bold(true)
			set(view.Dim, fg(grey(245)))
			set(view.Bad, fg(grey(203)))
			set(view.Stderr, fg(grey(203)))
			set(view.Good, fg(grey(114)))
			set(view.String, fg(grey(150)))
			set(view.Number, fg(grey(179)))
			set(view.Warn, fg(grey(221)))
			set(view.Client, fg(grey(80)))
			set(view.Key, fg(grey(110)))
			set(view.Note, fg(grey(176)))
			set(view.Word, fg(grey(176)))
		}
	case "light":
		set(view.Dim, fg(tcell.ColorGray))
		set(view.Good, fg(tcell.ColorGreen))
		set(view.Bad, fg(tcell.ColorMaroon))
		set(view.Warn, fg(tcell.ColorOlive))
		set(view.Client, fg(tcell.ColorNavy))
		set(view.Note, fg(tcell.ColorPurple))
		set(view.Stderr, fg(tcell.ColorMaroon))
		set(view.Key, fg(tcell.ColorNavy))
		set(view.String, fg(tcell.ColorGreen))
		set(view.Number, fg(tcell.ColorOlive))
		set(view.Word, fg(tcell.ColorPurple))
		set(view.Symbol, fg(tcell.ColorMaroon))
		t.sel = base.Background(tcell.ColorNavy).Foreground(tcell.ColorWhite)
		t.selNo = base.Background(tcell.ColorSilver).Foreground(tcell.ColorBlack)
		t.bar = base.Background(tcell.ColorSilver).Foreground(tcell.ColorBlack)
		t.tab = base.Background(tcell.ColorTeal).Foreground(tcell.ColorWhite)
		if colours >= 256 {
			grey := tcell.PaletteColor
			t.sel = base.Background(grey(153)).Foreground(grey(16))
			t.selNo = base.Background(grey(252)).Foreground(grey(16))
			t.bar = base.Background(grey(254)).Foreground(grey(235))
			t.tab = base.Background(grey(25)).Foreground(grey(231)).Bold(true)
			set(view.Dim, fg(grey(243)))
			set(view.Good, fg(grey(28)))
			set(view.String, fg(grey(28)))
			set(view.Number, fg(grey(94)))
			set(view.Warn, fg(grey(130)))
			set(view.Client, fg(grey(25)))
			set(view.Key, fg(grey(25)))
			set(view.Bad, fg(grey(160)))
			set(view.Stderr, fg(grey(160)))
			set(view.Note, fg(grey(90)))
			set(view.Word, fg(grey(90)))
		}
	}
	if colours < 16 { // there is no grey
		set(view.Dim, base)
		t.bar = base.Background(tcell.ColorNavy).Foreground(tcell.ColorSilver)
		t.sel = base.Background(tcell.ColorSilver).Foreground(tcell.ColorBlack)
		t.selNo = t.bar
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
	if t.plain {
		return on.Bold(attr&tcell.AttrBold != 0 || onAttr&tcell.AttrBold != 0)
	}
	if fg == tcell.ColorDefault || r == view.Dim {
		fg, _, _ = on.Decompose()
	}
	return tcell.StyleDefault.Foreground(fg).Background(bg).Attributes(attr | onAttr)
}
