package record

import (
	"errors"
	"fmt"
	"io"
)

// writeSize is how much of entries is collected before it goes to the compressor, in bytes.
const writeSize = 128 << 10

// Writer lays entries into a capture file. It is not safe for concurrent use, and after an error everything fails until
// Repair. It does not close the file.
type Writer struct {
	frames *frameWriter
	rows   []FrameInfo // of the frames that are closed
	header []byte      // the first line
	lines  []byte      // entries that were not handed to frames
	n      int64       // number of the latest entry
	err    error       // sticky

	now  progress // with all that was added
	safe progress // with what is in the file
}

// progress is what a writer knows of what it has written.
type progress struct {
	row     FrameInfo // of the open frame
	streams [streamCount]Volume
	flagged [32]int64          // records by bit of Flags
	pos     [streamCount]int64 // up to where each stream is in entries, or known to be lost
	lost    int64              // bytes of streams that no entry holds
}

// NewWriter begins a capture in an empty file. With sync, each flush waits until the disk has the bytes.
func NewWriter(f File, h *Header, sync bool) (*Writer, error) {
	frames, err := newFrameWriter(f, 0, sync)
	if err != nil {
		return nil, err
	}
	w := &Writer{frames: frames}
	w.header = h.Encode()
	w.lines = append(w.lines, w.header...)
	return w, nil
}

// Add appends an entry under the next number, which it returns. The entry reaches the file with the next Flush.
func (w *Writer) Add(e *Entry) int64 {
	w.n++
	e.N = w.n
	w.now.count(e)
	if e.Form == Msg && len(e.Body) >= writeSize { // without a copy
		w.lines = appendHead(w.lines, e)
		w.write(e.Body)
		w.lines = append(w.lines, entryTail...)
	} else {
		w.lines = AppendEntry(w.lines, e)
	}
	if len(w.lines) >= writeSize || w.frames.size+int64(len(w.lines)) >= frameSize {
		w.push()
	}
	return e.N
}

func (p *progress) count(e *Entry) {
	p.row.add(e)
	if e.Note != nil {
		return
	}
	p.pos[e.From] = max(p.pos[e.From], e.Off+int64(len(e.Body)+len(e.EOL)))
	if e.Part && !e.Last {
		return
	}
	v := &p.streams[e.From]
	v.Records++
	v.Bytes = p.pos[e.From]
	for f := e.Flags.said(); f != 0; f &= f - 1 {
		p.flagged[f.rule()]++
	}
}

// write hands collected lines, and more behind them, to the open frame.
func (w *Writer) write(more []byte) {
	if w.err == nil && len(w.lines) > 0 {
		w.err = w.frames.write(w.lines)
	}
	if w.err == nil && len(more) > 0 {
		w.err = w.frames.write(more)
	}
	w.lines = w.lines[:0]
}

// push hands collected lines to the open frame, and closes it when it is full.
func (w *Writer) push() {
	w.write(nil)
	if w.frames.size >= frameSize {
		w.closeFrame()
	}
}

func (w *Writer) closeFrame() {
	if w.err != nil || w.frames.size == 0 {
		return
	}
	w.now.row.Raw = w.frames.size
	if w.err = w.frames.close(); w.err == nil {
		w.closed()
	}
}

// closed notes that the open frame has ended at the writer's position.
func (w *Writer) closed() {
	w.now.row.Size = w.frames.pos - w.now.row.Off
	w.rows = append(w.rows, w.now.row)
	w.now.row = FrameInfo{Off: w.frames.pos}
	w.safe = w.now
}

// Flush brings all entries to the file.
func (w *Writer) Flush() error {
	w.push()
	if w.err == nil && w.frames.size > 0 {
		w.now.row.Raw = w.frames.size
		if w.err = w.frames.flush(); w.err == nil {
			w.safe = w.now
		}
	}
	return w.err
}

// Repair makes the file whole after an error and clears it, so that entries can be added again; those that were added
// since the last Flush are lost, and of a file that was cut those behind the last frame that is whole. If it fails it can be tried again.
func (w *Writer) Repair() error {
	if size, known := w.frames.length(); known && size < w.frames.pos {
		w.shorten(size)
	}
	open := w.frames.pos > w.frames.start
	if err := w.frames.repair(); err != nil {
		return err
	}
	w.lines, w.now, w.err = w.lines[:0], w.safe, nil
	if w.frames.pos == 0 { // nothing is in the file, the header neither
		w.lines = append(w.lines, w.header...)
	}
	if open {
		w.closed()
	}
	return nil
}

// shorten makes the writer go on behind the last frame that is whole in a file that was cut to size, and know what is in
// the frames before. Where these can't be read it begins again.
func (w *Writer) shorten(size int64) {
	end, n := int64(0), 0
	for n < len(w.rows) && w.rows[n].Off+w.rows[n].Size <= size {
		end = w.rows[n].Off + w.rows[n].Size
		n++
	}
	kept, ok := w.progressTo(end)
	if !ok {
		end, n, kept = 0, 0, progress{}
	}
	kept.row = FrameInfo{Off: end}
	w.rows, w.safe = w.rows[:n], kept
	w.frames.pos, w.frames.start = end, end
}

// progressTo reads what is in the file before end. ok is false when that is damaged.
func (w *Writer) progressTo(end int64) (p progress, ok bool) {
	src, ok := w.frames.file.(Source)
	if !ok || end == 0 {
		return p, false
	}
	r := NewReader(src, func() (int64, error) { return end, nil })
	for r.Next() {
		e := r.Entry()
		p.count(e)
		if e.Note != nil && e.Note.Kind == "gap" {
			for name, lost := range e.Note.Lost {
				if s, known := ParseStream(name); known {
					p.lose(s, p.pos[s]+lost)
				}
			}
		}
	}
	if err := r.Err(); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return p, false
	}
	return p, len(r.Damage()) == 0
}

// Pos tells up to where a stream is in entries, or known to be lost.
func (w *Writer) Pos(s Stream) int64 { return w.now.pos[s] }

// Lose notes that no entry holds the bytes of a stream from Pos up to pos.
func (w *Writer) Lose(s Stream, pos int64) { w.now.lose(s, pos) }

func (p *progress) lose(s Stream, pos int64) {
	p.lost += pos - p.pos[s]
	p.pos[s] = pos
}

// CloseFrame ends the open frame, so that all entries are in the file and another process can go on.
func (w *Writer) CloseFrame() error {
	w.push()
	w.closeFrame()
	return w.err
}

// End writes the end note with the totals, the index and the seek table.
func (w *Writer) End(t int64) error {
	w.Add(&Entry{T: t, Note: &Note{Kind: "end", Totals: w.totals()}})
	if err := w.CloseFrame(); err != nil {
		return err
	}
	index := appendIndex(nil, w.rows)
	w.frames.out = appendSeekTable(append(w.frames.out, index...), w.rows, len(index))
	if w.err = w.frames.put(); w.err != nil {
		return fmt.Errorf("write index: %w", w.err)
	}
	return nil
}

func (w *Writer) totals() *Totals {
	t := &Totals{Entries: w.n + 1, Streams: map[string]Volume{}, Flagged: map[string]int64{}, Lost: w.now.lost}
	for s, v := range w.now.streams {
		if v.Records > 0 {
			t.Streams[Stream(s).String()] = v
		}
	}
	for bit, n := range w.now.flagged {
		if n > 0 {
			t.Flagged[Flags(1 << bit).Names()[0]] = n
		}
	}
	return t
}
