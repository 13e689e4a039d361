package record

import "pitap/record/scan"

// maxKept is how many bytes Framing keeps of a record that comes in parts, and of lines that may be one record. What
// is longer it judges as it passes by.
const maxKept = 1 << 20

// parts is a record that comes in parts. The zero value is none.
type parts struct {
	active  bool
	damaged bool // some of its bytes are not in the capture: it is not judged
	n, off  int64
	size    int64
	buf     []byte // all of it; when it is long, its head

	// Of a long record:
	long  bool
	cr    bool // a CR that came last is held back: it may belong to the line end
	all   scan.Scanner
	base  int // see line
	inner scan.Scanner
}

// part takes the next part of a record.
func (f *Framing) part(e *Entry) {
	s := &f.streams[e.From]
	p := &s.parts
	if !p.active {
		*p = parts{active: true, n: e.N, off: e.Off, buf: p.buf[:0]}
		p.damaged = e.Off != s.next // its beginning was lost, or is not known
	}
	if e.Off != p.off+p.size {
		p.damage()
	}
	if !p.damaged {
		p.write(e.Body, f.keep)
	}
	s.next = e.Off + int64(len(e.Body)+len(e.EOL))
	s.noteReads(p.off, e)
	if e.Last {
		f.endParts(e.From, e.EOL)
	}
}

// endParts judges a record that has come in parts, the line end of which is eol.
func (f *Framing) endParts(from Stream, eol string) {
	s := &f.streams[from]
	p := &s.parts
	defer p.drop()
	if !p.active || p.damaged {
		return
	}
	l := line{n: p.n, off: p.off, from: from, eol: eol, lastRead: s.next - s.read}
	p.judge(&l)
	if clean(l.size, l.eol, &l.res) && s.group.empty() && !s.utf16 {
		return
	}
	f.line(&l)
}

// judge fills in what is known of the record.
func (p *parts) judge(l *line) {
	l.size = p.size
	if !p.long {
		body := p.buf
		if n := len(body); l.eol == "\n" && n > 0 && body[n-1] == '\r' {
			body, l.eol = body[:n-1], "\r\n"
		}
		l.size, l.body, l.head, l.res = int64(len(body)), body, headOf(body), scan.Scan(body)
		return
	}
	if p.cr && l.eol == "\n" {
		l.size, l.eol = p.size-1, "\r\n"
	} else {
		p.feed(nil)
	}
	l.head, l.base = p.buf, p.base
	l.long, l.res = &p.all, p.all.Result()
	l.longInner, l.inner = &p.inner, p.inner.Result()
}

// damage says that bytes of the record are missing.
func (p *parts) damage() {
	p.damaged = true
	p.buf = p.buf[:0]
}

// drop forgets the record.
func (p *parts) drop() {
	if p.active {
		*p = parts{buf: p.buf[:0]}
	}
}

func (p *parts) write(b []byte, keep int) {
	p.size += int64(len(b))
	if !p.long {
		k := min(len(b), keep-len(p.buf))
		p.buf = append(p.buf, b[:k]...)
		b = b[k:]
		if len(b) == 0 {
			return
		}
		p.turnLong()
	}
	p.feed(b)
}

// turnLong goes over from keeping the record to judging it as it passes by.
func (p *parts) turnLong() {
	p.long = true
	p.feed(p.buf)
	r := p.all.Result()
	if p.base = innerStart(headOf(p.buf), &r); p.base > 0 {
		b := p.buf[p.base:]
		if p.cr {
			b = b[:len(b)-1]
		}
		p.inner.Write(b)
	}
	p.buf = append([]byte(nil), headOf(p.buf)...)
}

// feed gives bytes of a long record to the scanners, and before them a CR that was held back.
func (p *parts) feed(b []byte) {
	if p.cr {
		p.cr = false
		p.scan([]byte{'\r'})
	}
	if n := len(b); n > 0 && b[n-1] == '\r' {
		p.cr = true
		b = b[:n-1]
	}
	p.scan(b)
}

func (p *parts) scan(b []byte) {
	p.all.Write(b)
	if p.base > 0 {
		p.inner.Write(b)
	}
}
