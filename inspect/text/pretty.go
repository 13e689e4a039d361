package text

import "io"

// PrettyOptions says how Pretty writes. The zero value is plain text.
type PrettyOptions struct {
	Palette Palette
	Prefix  string // before each line, as it is
	Indent  int    // spaces a level; 0: 2
	Levels  int    // deeper levels are indented as this one; 0: 20
}

// chunk is how many bytes Pretty gathers before it writes.
const chunk = 32 << 10

// Pretty writes msg to w as JSON with one member a line, each line ended by LF. Numbers, escapes in strings, the order
// of keys and duplicate keys stay as they are; what must not reach a terminal is replaced as by Visible. From where
// msg is not JSON on, it is written as by Visible, so a text that is no JSON at all is one line.
//
// It holds one chunk of text and one bit a level of nesting, whatever the size of msg. The first error of w ends it
// and is returned.
func Pretty(w io.Writer, msg []byte, opt PrettyOptions) error {
	if opt.Indent == 0 {
		opt.Indent = 2
	}
	if opt.Levels == 0 {
		opt.Levels = 20
	}
	p := printer{w: w, opt: opt, buf: make([]byte, 0, min(chunk, 4*len(msg))+256)}
	p.add(opt.Prefix)
	p.value(msg)
	p.add("\n")
	p.flush()
	return p.err
}

// printer is a writer with a buffer and a sticky error.
type printer struct {
	w   io.Writer
	opt PrettyOptions
	buf []byte
	err error
}

// value writes the tokens of msg.
func (p *printer) value(msg []byte) {
	t := walker{s: msg}
	last := tokEnd
	for p.err == nil {
		level := t.depth
		k, tok := t.next()
		// A token that is not behind a colon begins a line, but for commas and for the end of what is empty.
		switch {
		case k == tokEnd:
			return
		case k == tokClose:
			if last != tokOpen {
				p.newLine(level - 1)
			}
		case k != tokColon && k != tokComma && last != tokEnd && last != tokColon:
			p.newLine(level)
		}
		p.token(k, tok, last)
		last = k
	}
}

// token writes one token in its colour; last is what stood before it.
func (p *printer) token(k kind, tok []byte, last kind) {
	st := plain
	switch k {
	case tokKey:
		st = blue
	case tokString:
		st = green
	case tokNumber:
		st = cyan
	case tokLiteral:
		st = magenta
	case tokJunk:
		if last != tokEnd { // behind JSON: an error; all there is: just text
			st = red
		}
	}
	coloured := p.opt.Palette.Enabled && st != plain
	if coloured {
		p.add(st.on)
	}
	quote, rest := cutQuote(tok)
	p.visible(quote)
	p.visible(rest)
	if coloured {
		p.add(st.off)
	}
	if k == tokColon {
		p.add(" ")
	}
}

// newLine begins a line at the given level.
func (p *printer) newLine(level int) {
	p.add("\n")
	p.add(p.opt.Prefix)
	p.add(spaces(p.opt.Indent * min(level, p.opt.Levels)))
}

// visible writes s in visible form, however long it is.
func (p *printer) visible(s []byte) {
	for len(s) > 0 && p.err == nil {
		var n int
		p.buf, n = appendVisible(p.buf, s, chunk)
		s = s[n:]
		if len(p.buf) >= chunk {
			p.flush()
		}
	}
}

// add writes s as it is.
func (p *printer) add(s string) {
	p.buf = append(p.buf, s...)
	if len(p.buf) >= chunk {
		p.flush()
	}
}

// flush writes what was gathered.
func (p *printer) flush() {
	if p.err == nil {
		_, p.err = p.w.Write(p.buf)
	}
	p.buf = p.buf[:0]
}
