package view

import (
	"bytes"
	"hash/maphash"
	"strings"

	"pitap/inspect/session"
	"pitap/record"
	"pitap/record/rpc"
)

// load reads the capture from its beginning to its end, and goes on while it grows.
func (s *Store) load() {
	for s.pump() {
		s.mu.Lock()
		s.capture.Close()
		err := s.open1()
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// open1 opens the capture anew, without its index, which was wrong.
func (s *Store) open1() error {
	gen, path := s.filterGen, s.Path
	c, err := record.Open(path)
	if err != nil {
		s.err, s.done = err, true
		return err
	}
	s.reader.close()
	s.capture, s.reader = c, frameReader{src: c.File(), spill: s.reader.spill, plain: s.reader.plain}
	s.frames, s.count, s.cache, s.tailFrame, s.tail = nil, 0, nil, nil, content{}
	s.indexed, s.indexWrong, s.known = false, false, map[int64]int{}
	s.pass, s.parts, s.rows, s.links, s.lines = pass{}, map[int64]part{}, map[int64]*Row{}, links{}, timeline{}
	s.found = found{}
	s.loaded, s.filterGen = 0, gen
	s.damage = nil
	s.version++
	return nil
}

// pump is one reading of the capture; again tells that its index was wrong.
func (s *Store) pump() (again bool) {
	c := s.capture
	if s.live {
		c.Follow(s.stop)
		wait := c.Wait
		c.Wait = func() bool {
			s.notify()
			return wait()
		}
	}
	h, err := c.Header()
	s.mu.Lock()
	s.header = h
	s.sess = session.New(h)
	s.version++
	s.mu.Unlock()
	if err != nil {
		s.finish(err)
		return false
	}
	s.notify()
	for n := 0; c.Next(); n++ {
		s.mu.Lock()
		s.add(c.Entry(), c.Unit())
		again = s.indexWrong
		s.mu.Unlock()
		if again {
			return true
		}
		if n&255 == 0 && !s.live {
			s.giveWay()
		}
		if n&4095 == 0 {
			select {
			case <-s.stop:
				return false
			default:
			}
			s.notify()
		}
	}
	s.mu.Lock()
	again = s.indexed && s.loaded != s.count && (len(c.Damage()) == 0 || s.partly())
	s.mu.Unlock()
	if again && c.Err() == nil {
		return true
	}
	s.finish(c.Err())
	return false
}

// finish notes how the capture ends.
func (s *Store) finish(err error) {
	cond := ""
	if err == nil {
		cond = s.capture.Condition()
	}
	s.mu.Lock()
	s.err, s.cond, s.done = err, cond, true
	s.damage = append([]record.Damage(nil), s.capture.Damage()...)
	s.ended = s.capture.Ended()
	s.sess.End(s.ended)
	s.version++
	s.mu.Unlock()
	s.notify()
}

// add takes the next entry in order.
func (s *Store) add(e *record.Entry, unit int64) {
	s.version++
	var f *frame
	var i int
	if s.indexed {
		k, ok := s.known[unit]
		if !ok {
			s.indexWrong = true
			return
		}
		f = s.frames[k]
		if s.loaded < f.base { // frames before it are damaged
			if s.partly() {
				s.indexWrong = true
				return
			}
			s.skipTo(k)
		}
		if i = int(s.loaded - f.base); i < 0 || i >= f.count { // i < 0: entries that stand behind later ones are left out
			s.indexWrong = true
			return
		}
	} else {
		f, i = s.grow(e, unit)
	}
	pos := f.base + int64(i)
	s.pass.entry(s, f, i, pos, e)
	if s.loaded = pos + 1; !s.indexed {
		s.count = s.loaded
		f.final, f.read = true, true
	} else if i == f.count-1 {
		f.final, f.read = true, true
		clear(s.rows)
	}
	s.lines.add(e)
	s.sess.Add(e)
	s.links.add(s.sess, e)
	delete(s.rows, pos-1) // what a folded row holds may have grown
	if s.filter != nil && !s.indexed {
		s.matchTail(f, i, e)
	}
}

// partly tells whether the frame that gave the latest entry has given fewer than the index says: of a damaged frame what
// stands before the damage is kept.
func (s *Store) partly() bool {
	k := s.frameAt(s.loaded)
	return k >= 0 && s.loaded > s.frames[k].base
}

// skipTo notes the frames before frame k that gave nothing.
func (s *Store) skipTo(k int) {
	for j := k - 1; j >= 0 && s.frames[j].base+int64(s.frames[j].count) > s.loaded; j-- {
		s.frames[j].bad = "this part of the capture is damaged"
	}
	s.pass.key = 0
}

// grow makes room for an entry of a capture without index.
func (s *Store) grow(e *record.Entry, unit int64) (*frame, int) {
	f := s.tailFrame
	switch {
	case f == nil:
		f = s.newFrame(e, unit)
	case !s.reader.plain && unit != s.tailUnit, s.reader.plain && len(s.tail.raw) > 1<<20:
		s.closeTail(unit)
		s.spilling = false
		f = s.newFrame(e, unit)
	case len(s.tail.raw) > maxTail && !s.reader.plain:
		s.spilling = true
		s.closeTail(unit)
		f = s.newFrame(e, unit)
	}
	s.tail.add(e.Line)
	if f.count == 0 {
		f.t0, f.t1 = e.T, e.T
	}
	f.t0, f.t1 = min(f.t0, e.T), max(f.t1, e.T)
	f.count++
	return f, f.count - 1
}

func (s *Store) newFrame(e *record.Entry, unit int64) *frame {
	f := &frame{off: unit, base: s.count, first: e.N, gen: s.filterGen}
	s.frames = append(s.frames, f)
	s.tailFrame, s.tailUnit, s.tail = f, unit, content{}
	return f
}

// closeTail ends the growing frame; what it holds can be read from the file from now on.
func (s *Store) closeTail(next int64) {
	f := s.tailFrame
	if s.spilling {
		if err := s.spillTail(); err != nil {
			f.bad = err.Error()
		}
	} else {
		f.size = next - f.off
		kept := s.tail
		s.cache = append([]cached{{f, &kept}}, s.cache[:min(len(s.cache), 3)]...)
	}
	s.tailFrame = nil
}

// pass is what must be known of earlier entries to tell how an entry is shown.
type pass struct {
	key   uint64  // of the block that the entry before goes on with; 0: none
	aside []int64 // positions of notes behind it that say nothing about the session
	half  [4]half
}

// half is a record of which parts have come.
type half struct {
	any         bool
	first, last int64 // positions
	bytes       int64
	count       int
}

// part is what is known of a record that stands in parts, by the position of its latest part.
type part struct {
	first int64 // position of its first part
	bytes int64
	count int
	whole bool
}

// entry sets the bits of entry i of a frame.
func (p *pass) entry(s *Store, f *frame, i int, pos int64, e *record.Entry) {
	f.hidden.put(i, false)
	f.cont.put(i, false)
	if e.Note != nil && e.Note.Kind == "lag" && p.key != 0 && len(p.aside) < maxAside {
		p.aside = append(p.aside, pos) // the recorder speaks of itself; a block may go on behind it
		return
	}
	f.coded = f.coded || e.Form == record.Text || e.Form == record.Base64
	key, begins := uint64(0), false
	switch h := &p.half[e.From&3]; {
	case e.Note != nil:
		if e.Note.Kind == "gap" {
			for name := range e.Note.Lost {
				if from, ok := record.ParseStream(name); ok {
					p.half[from].any = false
				}
			}
		}
	case e.Part:
		if h.any {
			s.hide(h.last)
			delete(s.parts, h.last)
		} else {
			*h = half{any: true, first: pos}
		}
		h.last = pos
		h.bytes += int64(len(e.Body))
		h.count++
		s.parts[pos] = part{h.first, h.bytes, h.count, e.Last}
		h.any = !e.Last
	default:
		if h.any && len(e.Supersedes) > 0 {
			s.hide(h.last)
			delete(s.parts, h.last)
		}
		h.any = false
		key, begins = foldKey(e)
	}
	if key != 0 && key == p.key && !begins {
		f.cont.put(i, true)
		for _, at := range p.aside {
			s.setAside(at)
		}
	}
	p.key, p.aside = key, p.aside[:0]
}

// maxAside is how many notes of lag in a row a block goes on over.
const maxAside = 16

// setAside makes a note a part of the block that goes on behind it.
func (s *Store) setAside(pos int64) {
	k := s.frameAt(pos)
	if k < 0 {
		return
	}
	f := s.frames[k]
	f.cont.put(int(pos-f.base), true)
	f.aside.put(int(pos-f.base), true)
	delete(s.rows, pos)
}

// asides counts the entries between two positions that only happen to stand in a block.
func (s *Store) asides(from, to int64) (n int64) {
	for k := max(0, s.frameAt(from)); k < len(s.frames) && s.frames[k].base < to; k++ {
		f := s.frames[k]
		if f.aside == nil {
			continue
		}
		n += int64(count(int(min(to-f.base, int64(f.count))), f.aside.word) - count(int(max(0, from-f.base)), f.aside.word))
	}
	return n
}

// hide takes an entry from the rows.
func (s *Store) hide(pos int64) {
	k := s.frameAt(pos)
	if k < 0 {
		return
	}
	f := s.frames[k]
	f.hidden.put(int(pos-f.base), true)
	f.cont.put(int(pos-f.base), true)
	delete(s.rows, pos)
}

// scanFrame sets the bits of a frame that is looked at before the loader has come to it.
func (s *Store) scanFrame(f *frame, c *content) {
	var p pass
	var like []byte
	for i := range c.lines {
		line := c.line(i)
		if like != nil && len(p.aside) == 0 && isMessageUpdate(line) && hasPart(line, like) {
			f.hidden.put(i, false)
			f.cont.put(i, true)
			continue
		}
		like = nil
		e, err := record.ParseEntry(line)
		if err != nil {
			continue
		}
		p.entry(s, f, i, f.base+int64(i), e)
		if p.key != 0 && isMessageUpdate(line) {
			like = deltaPart(line)
		}
	}
	f.read = true
}

// isMessageUpdate tells whether the line of an entry holds a message_update of the agent, as a recorder writes it.
func isMessageUpdate(line []byte) bool {
	i := bytes.Index(line[:min(len(line), 200)], []byte(`,"msg":{"type":"message_update",`))
	return i >= 0 && bytes.Contains(line[:i], []byte(`"from":"agent"`)) && !bytes.Contains(line[:i], []byte(`"supersedes"`))
}

const eventMember = `"assistantMessageEvent":{"type":"`

// hasPart tells whether a line has the part that deltaPart gave of another.
func hasPart(line, part []byte) bool {
	i := bytes.Index(line, []byte(eventMember))
	return i >= 0 && bytes.HasPrefix(line[i:], part)
}

// deltaPart is the part of the line of a delta that all deltas of its block have, and no other line: it needs not be
// parsed then. It is nil where there is no such part. Quotes within strings are escaped, so that it is none of those.
func deltaPart(line []byte) []byte {
	i := bytes.Index(line, []byte(eventMember))
	if i < 0 {
		return nil
	}
	n := bytes.Index(line[i:], []byte(`,"delta":"`))
	if n < 0 || n > 100 || !bytes.Contains(line[i:i+n], []byte(`_delta","contentIndex":`)) {
		return nil
	}
	return line[i : i+n+len(`,"delta":"`)]
}

var seed = maphash.MakeSeed()

// foldKey names the block of which an entry is a delta; 0 for all that does not fold. begins tells that the entry is
// the block's first.
func foldKey(e *record.Entry) (key uint64, begins bool) {
	if e.From != record.Agent || e.Form != record.Msg || !bytes.Contains(e.Body[:min(len(e.Body), 200)], []byte("_update")) {
		return 0, false
	}
	h := rpc.Look("agent", e.Body)
	var what, id []byte
	switch h.Type {
	case "message_update":
		kind, step, _ := cutLast(h.Sub)
		if step != "start" && step != "delta" && step != "end" {
			return 0, false
		}
		begins = step == "start"
		what = []byte(kind)
		if i := bytes.Index(e.Body, []byte(`"contentIndex":`)); i >= 0 {
			id = e.Body[i+15 : min(len(e.Body), i+19)]
			for j, c := range id {
				if c < '0' || c > '9' {
					id = id[:j]
					break
				}
			}
		}
	case "bash_execution_update":
		what, id = []byte("bash"), h.ID
	case "tool_execution_update":
		what, id = []byte("tool"), member(e.Body, "toolCallId")
	default:
		return 0, false
	}
	var m maphash.Hash
	m.SetSeed(seed)
	m.Write(what)
	m.WriteByte(0)
	m.Write(id)
	return m.Sum64() | 1, begins
}

// cutLast splits a name such as text_delta.
func cutLast(name string) (kind, step string, ok bool) {
	i := strings.LastIndexByte(name, '_')
	if i < 0 {
		return name, "", false
	}
	return name[:i], name[i+1:], true
}

// giveWay waits while somebody searches.
func (s *Store) giveWay() {
	s.turn.Lock()
	defer s.turn.Unlock()
}
