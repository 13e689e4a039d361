package tui

import (
	"github.com/gdamore/tcell/v2"

	"pitap/inspect/text"
	"pitap/inspect/view"
)

// prompt is the line in which something is typed.
type prompt struct {
	label   string
	text    []rune
	at      int
	kind    string            // whose history
	change  func(string)      // after every key; may be nil
	done    func(string)      // Enter
	cancel  func()            // Esc; may be nil
	toggle  func() string     // Ctrl-R: gives the new label; may be nil
	history int               // how far back
	help    func() (s string) // what stands behind the text; may be nil
}

// ask opens the prompt.
func (a *app) ask(p *prompt) {
	p.at = len(p.text)
	a.prompt = p
	a.say("")
}

// promptKey handles a key in the prompt.
func (a *app) promptKey(ev *tcell.EventKey) {
	p := a.prompt
	before := string(p.text)
	switch key := ev.Key(); key {
	case tcell.KeyEnter:
		a.prompt = nil
		if before != "" {
			a.remember(p.kind, before)
		}
		p.done(before)
		return
	case tcell.KeyEscape, tcell.KeyCtrlC, tcell.KeyCtrlG:
		a.prompt = nil
		if p.cancel != nil {
			p.cancel()
		}
		return
	case tcell.KeyBackspace, tcell.KeyBackspace2:
		if len(p.text) == 0 {
			a.prompt = nil
			if p.cancel != nil {
				p.cancel()
			}
			return
		}
		if p.at > 0 {
			p.text = append(p.text[:p.at-1], p.text[p.at:]...)
			p.at--
		}
	case tcell.KeyDelete:
		if p.at < len(p.text) {
			p.text = append(p.text[:p.at], p.text[p.at+1:]...)
		}
	case tcell.KeyLeft:
		p.at = max(0, p.at-1)
	case tcell.KeyRight:
		p.at = min(len(p.text), p.at+1)
	case tcell.KeyHome, tcell.KeyCtrlA:
		p.at = 0
	case tcell.KeyEnd, tcell.KeyCtrlE:
		p.at = len(p.text)
	case tcell.KeyCtrlU:
		p.text, p.at = p.text[p.at:], 0
	case tcell.KeyCtrlW:
		i := p.at
		for i > 0 && p.text[i-1] == ' ' {
			i--
		}
		for i > 0 && p.text[i-1] != ' ' {
			i--
		}
		p.text, p.at = append(p.text[:i], p.text[p.at:]...), i
	case tcell.KeyCtrlR:
		if p.toggle != nil {
			p.label = p.toggle()
			if p.change != nil {
				p.change(string(p.text))
			}
		}
	case tcell.KeyUp, tcell.KeyDown:
		a.recall(p, key == tcell.KeyUp)
	case tcell.KeyRune:
		if len(p.text) < 4000 && ev.Modifiers()&(tcell.ModAlt|tcell.ModCtrl|tcell.ModMeta) == 0 {
			p.text = append(p.text[:p.at], append([]rune{ev.Rune()}, p.text[p.at:]...)...)
			p.at++
		}
	}
	if now := string(p.text); now != before && p.change != nil {
		p.change(now)
	}
}

func (a *app) remember(kind, said string) {
	list := a.history[kind]
	if len(list) == 0 || list[len(list)-1] != said {
		a.history[kind] = append(list, said)
	}
}

// recall puts what was typed before into the prompt.
func (a *app) recall(p *prompt, back bool) {
	list := a.history[p.kind]
	if back {
		p.history = min(p.history+1, len(list))
	} else {
		p.history = max(p.history-1, 0)
	}
	p.text = nil
	if p.history > 0 {
		p.text = []rune(list[len(list)-p.history])
	}
	p.at = len(p.text)
}

// maxSaid is how many lines a message, or what helps with a prompt, may take.
const maxSaid = 3

// drawPrompt draws the prompt, or the message, on the last lines of p, and tells how many those are.
func (a *app) drawPrompt(p painter) int {
	if a.prompt == nil {
		if a.message == "" {
			return 0
		}
		return a.drawSaid(p, a.message, a.theme.style(a.messageRole, a.theme.base))
	}
	y := p.h - 1
	p.fill(y, a.theme.base)
	pr := a.prompt
	x := p.print(0, y, p.w, pr.label, a.theme.style(view.Strong, a.theme.base))
	// Of a text longer than the line the part around the cursor is shown.
	room := max(4, p.w-x-2)
	from := 0
	for text.Width(string(pr.text[from:pr.at])) > room-1 && from < pr.at {
		from++
	}
	p.print(x, y, room+1, string(pr.text[from:]), a.theme.base)
	a.cursor(p.x+x+text.Width(string(pr.text[from:pr.at])), p.y+y)
	if pr.help == nil {
		return 1
	}
	said := pr.help()
	if said == "" {
		return 1
	}
	dim := a.theme.style(view.Dim, a.theme.base)
	if end := x + min(room, text.Width(string(pr.text[from:]))) + 2; text.Width(said) <= p.w-end {
		p.print(end, y, p.w-end, said, dim)
		return 1
	}
	return 1 + a.drawSaid(p.part(0, 0, p.w, p.h-1), said, dim)
}

// drawSaid draws a text on the last lines of p, and tells how many it took.
func (a *app) drawSaid(p painter, said string, st tcell.Style) int {
	lines := sentences(said, p.w, min(maxSaid, max(1, p.h-3)))
	for i, l := range lines {
		y := p.h - len(lines) + i
		p.fill(y, a.theme.base)
		p.print(0, y, p.w, l, st)
	}
	return len(lines)
}

// cursor says where the terminal's cursor is to stand.
func (a *app) cursor(x, y int) { a.cursorX, a.cursorY = x, y }
