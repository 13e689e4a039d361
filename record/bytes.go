package record

import "io"

// Bytes copies the exact bytes of one stream from the entries of a capture, in order. It gives what is there: a gap's
// bytes are missing, and lost counts them.
type Bytes struct {
	From Stream
	To   io.Writer
	Pos  int64 // offset in the stream of the next byte that is not written
	Lost int64 // bytes before Pos that no entry had
}

// Entry writes what an entry adds to the stream: parts at once, and of the whole record that supersedes them the rest.
func (b *Bytes) Entry(e *Entry) error {
	if e.From != b.From || e.Note != nil {
		return nil
	}
	if e.Off > b.Pos {
		b.Lost += e.Off - b.Pos
		b.Pos = e.Off
	}
	at := e.Off
	for _, p := range [2][]byte{e.Body, []byte(e.EOL)} {
		fresh := p[min(int64(len(p)), max(0, b.Pos-at)):]
		at += int64(len(p))
		if len(fresh) == 0 {
			continue
		}
		if _, err := b.To.Write(fresh); err != nil {
			return err
		}
		b.Pos = at
	}
	return nil
}
