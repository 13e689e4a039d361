package tui

import (
	"fmt"

	"pitap/inspect"
	"pitap/inspect/text"
	"pitap/inspect/view"
)

// The ways to look at a row in full, in the order of Tab.
const (
	asTree = iota
	asPretty
	asRaw
	asMeta
	asQuery
)

var modeNames = []string{"tree", "pretty", "raw", "meta", "jq"}

// pane shows one row in full.
type pane struct {
	mode   int
	d      *view.Detail
	key    paneKey
	top    int
	cur    int // line, when it has the focus
	width  int
	height int
	lines  []view.Line // of the mode, but not of raw
	rows   int
}

// paneKey tells when the row must be read anew.
type paneKey struct {
	store          *view.Store
	pos, last, num int64
	size           int64
}

// load reads the selected row, if it is not there already.
func (a *app) load() {
	p := &a.pane
	row := a.store.Row(a.list.sel)
	key := paneKey{a.store, row.Pos, row.Last, row.Count, row.Size}
	if p.d != nil && key == p.key {
		return
	}
	grown := p.d != nil && key.store == p.key.store && key.pos == p.key.pos
	p.d, p.key, p.lines = a.store.Detail(row.Pos), key, nil
	if !grown {
		p.top, p.cur = 0, 0
	}
}

// layout makes the lines of the mode.
func (p *pane) layout(a *app, width int) {
	mode := p.mode
	if mode == asTree && (p.d.Tree == nil || p.d.Block) {
		mode = asPretty
	}
	if p.lines != nil && p.width == width && mode != asTree {
		return
	}
	p.width = width
	switch mode {
	case asTree:
		p.lines = p.d.Tree.Lines(width)
	case asPretty:
		p.lines = p.d.Pretty(width)
	case asMeta:
		p.lines = p.d.Meta(width)
	case asQuery:
		p.lines = []view.Line{view.R(view.Dim, ":jq EXPR gives a program to run over each record")}
		if q, err := inspect.ParseQuery(a.program); err == nil && a.program != "" && p.d.Entry != nil {
			p.lines = p.d.Query(q)
		}
	}
	if p.lines == nil {
		p.lines = []view.Line{}
	}
	p.rows = len(p.lines)
}

// per is how many bytes a line of the raw view has.
func (p *pane) per() int {
	for _, n := range []int{32, 16, 8, 4} {
		if 9+4*n+n/8+4 <= p.width {
			return n
		}
	}
	return 4
}

func (a *app) drawDetail(p painter, focused bool) {
	a.load()
	d := &a.pane
	head := a.theme.bar
	p.fill(0, head)
	x := 1
	for i, name := range modeNames {
		if i == asQuery && a.program == "" {
			continue
		}
		st := head
		if i == d.mode {
			st = a.theme.tab
		}
		x = p.print(x, 0, p.w, " "+name+" ", st)
	}
	r := d.d.Row
	about := fmt.Sprintf("#%d %s", r.N, r.Full)
	if r.Count > 1 {
		about = fmt.Sprintf("#%d to %d, %s of %s", r.N, r.Last, text.Count(r.Count), r.Kind)
		if r.Taken != r.Count {
			about += fmt.Sprintf(", the filter takes %s", text.Count(r.Taken))
		}
	} else if !r.Note {
		about += "  " + text.Size(d.d.Size)
	}
	if room := p.w - x - 2; room > 8 {
		p.print(x+1, 0, room, about, a.theme.style(view.Strong, head))
	}
	body := p.part(0, 1, p.w, p.h-1)
	d.height = body.h
	if d.mode == asRaw && d.d.Entry != nil && d.d.Entry.Note == nil {
		d.width = body.w
		d.rows = d.d.RawRows(d.per())
	} else {
		d.layout(a, body.w)
	}
	d.clamp(focused)
	for y := range body.h {
		i := d.top + y
		if i >= d.rows {
			break
		}
		on := a.theme.base
		if focused && i == d.cur {
			on = a.theme.sel
			body.fill(y, on)
		}
		body.line(0, y, d.line(i), on, a.pattern)
	}
	if d.top+body.h < d.rows && body.h > 1 {
		body.right(0, body.h-1, body.w, fmt.Sprintf(" %d%% ", 100*(d.top+body.h)/d.rows), a.theme.bar)
	}
}

// line gives a line of the pane.
func (p *pane) line(i int) view.Line {
	if p.mode == asRaw && p.d.Entry != nil && p.d.Entry.Note == nil {
		return p.d.RawLine(i, p.per())
	}
	if i < 0 || i >= len(p.lines) {
		return view.Line{}
	}
	return p.lines[i]
}

func (p *pane) clamp(focused bool) {
	p.cur = max(0, min(p.cur, p.rows-1))
	if focused {
		p.top = max(min(p.top, p.cur), p.cur-p.height+1)
	}
	p.top = max(0, min(p.top, p.rows-p.height))
}

// fold folds or unfolds what the cursor is on.
func (p *pane) fold(open, turn bool) {
	l := p.line(p.cur)
	if p.mode != asTree || p.d.Tree == nil || p.d.Block {
		return
	}
	switch {
	case l.Node < 0:
		p.d.Tree.More(-l.Node)
	case turn:
		p.d.Tree.Turn(l.Node)
	case !open && !p.d.Tree.Set(l.Node, false): // already folded: go to what holds it
		for i := p.cur - 1; i >= 0; i-- {
			if p.lines[i].Depth < l.Depth && p.lines[i].Node > 0 {
				p.cur = i
				break
			}
		}
	default:
		p.d.Tree.Set(l.Node, open)
	}
	p.lines = nil
}
