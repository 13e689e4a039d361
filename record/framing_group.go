package record

import (
	"bytes"

	"pitap/record/scan"
)

const (
	maxGroupLines = 10000
	maxAgain      = 8 // for each byte that comes, so many bytes are looked at again because a group came to nothing
)

// group is a run of lines of one stream that may together be one record, which was cut by newlines. The first line
// begins an object and ends too early. The zero value is no group.
type group struct {
	lines []line
	size  int          // bytes of the lines
	all   scan.Scanner // has seen them, joined
	raw   int          // joints within a string
	space int          // joints elsewhere, where a newline is white space

	came, again int64 // bytes of all groups so far: as they came, and looked at once more
}

func (g *group) empty() bool { return len(g.lines) == 0 }

// clear forgets the lines. They stay good for who has them.
func (g *group) clear() { *g = group{came: g.came, again: g.again} }

// fits tells whether a line can be kept with the others.
func (g *group) fits(l *line, keep int) bool {
	return l.long == nil && len(g.lines) < maxGroupLines && l.size <= int64(keep-g.size)
}

// begins tells whether a line begins an object that may go on in the next, and where.
func (l *line) begins() (at int, ok bool) {
	r := l.res
	if r.Marks&scan.BOM != 0 && l.body != nil {
		at = len("\ufeff")
		r = scan.Scan(l.body[at:])
	}
	return at, r.Object && l.eol != "" && (r.End == scan.EndEarly || r.End == scan.EndEarlyInString)
}

// push adds a line that fits.
func (g *group) push(l *line) {
	from := 0
	if g.empty() {
		from, _ = l.begins()
	} else if g.all.Result().End == scan.EndEarlyInString {
		g.raw++
		g.all.Write([]byte(`\n`)) // as it should have been written
	} else {
		g.space++
		g.all.Write([]byte("\n"))
	}
	g.all.Write(l.body[from:])
	kept := *l
	kept.body = append(make([]byte, 0, len(l.body)), l.body...)
	kept.head = headOf(kept.body)
	g.lines = append(g.lines, kept)
	g.size += len(l.body) + 1
}

// offer judges a line, now or when it is clear whether it is a record of its own.
func (f *Framing) offer(l *line) {
	g := &f.streams[l.from].group
	if _, begins := l.begins(); g.empty() && !begins {
		f.judge(l, 0)
		return
	}
	g.came += l.size + 1
	if !g.fits(l, f.keep) {
		f.closeGroup(l.from)
	}
	f.settle(f.take(l), l.from)
}

// take takes a line into the group, if it can be part of one, and returns the lines that must be taken once more
// because the group has come to nothing.
func (f *Framing) take(l *line) []line {
	g := &f.streams[l.from].group
	if _, begins := l.begins(); g.empty() && !begins || !g.fits(l, f.keep) {
		f.judge(l, 0)
		return nil
	}
	g.push(l)
	switch g.all.Result().End {
	case scan.EndEarly, scan.EndEarlyInString:
		return nil
	case scan.EndWhole:
		f.joined(l.from)
		return nil
	}
	return f.giveUp(l.from)
}

// settle takes lines until none is left over.
func (f *Framing) settle(lines []line, from Stream) {
	for len(lines) > 0 {
		again := f.take(&lines[0])
		lines = lines[1:]
		if len(again) > 0 {
			lines = append(again, lines...)
		}
	}
}

// giveUp judges the first line of the group as a record of its own, and returns the others, which are no longer in the
// group. When that has cost too much it judges all of them.
func (f *Framing) giveUp(from Stream) []line {
	g := &f.streams[from].group
	lines, size := g.lines, g.size
	g.clear()
	f.judge(&lines[0], 0)
	lines = lines[1:]
	g.again += int64(size)
	if g.again <= maxAgain*g.came {
		return lines
	}
	for i := range lines {
		f.judge(&lines[i], 0)
	}
	return nil
}

// closeGroup judges the lines of the group, to which nothing comes any more.
func (f *Framing) closeGroup(from Stream) {
	g := &f.streams[from].group
	for !g.empty() {
		f.settle(f.giveUp(from), from)
	}
}

// joined adds the finding about a group that is one record, which takes the place of those about its lines.
func (f *Framing) joined(from Stream) {
	g := &f.streams[from].group
	lines := g.lines
	flag := flagRawNewline
	if g.space == 0 && (from == Agent || escapesNewlines(lines)) {
		flag = flagSplit
	}
	for i := range lines {
		f.judge(&lines[i], ^(flagCRLF | flagOversize | flagBOM | flagInvalidUTF8 | flagUnterminated))
	}
	first, last := &lines[0], &lines[len(lines)-1]
	have := f.at(from, flag, int(SevError))
	if have == nil {
		have = f.start(flag, int(SevError), Finding{Severity: SevError, N: first.n, From: from, Off: first.off + first.size, At: first.size,
			Text: textOfGroup(g, flag)})
	}
	have.Count++
	have.Last = last.n
	g.clear()
}

// escapesNewlines tells whether who wrote the lines knows how a newline is written in a string: then it was not a
// newline that cut them.
func escapesNewlines(lines []line) bool {
	for i := range lines {
		if bytes.Contains(lines[i].body, []byte(`\n`)) {
			return true
		}
	}
	return false
}
