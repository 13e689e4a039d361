package faults

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strconv"
)

// Stream is the endless content of one direction: numbered records that a seed determines.
type Stream struct {
	most int // bytes of a record, about
	n    int
	r    *rand.Rand
	buf  []byte
}

// NewStream gives the stream of a seed. Its records have at most about so many bytes.
func NewStream(seed uint64, most int) *Stream {
	return &Stream{most: most, r: rand.New(rand.NewPCG(seed, 77))}
}

// filling is what long records are filled with; it compresses as text does.
var filling = func() (b []byte) {
	words := []string{"read ", "the ", "file ", "src/main.go ", "漢字 ", "\u2028", `\n`, `\"quoted\" `, "😀 ", "line ", "\u0085"}
	r := rand.New(rand.NewPCG(3, 4))
	for len(b) < 128<<10 {
		b = append(b, words[r.IntN(len(words))]...)
		b = strconv.AppendInt(b, int64(r.Uint32()), 36)
	}
	return b
}()

// fill gives n bytes, or a few more, of whole characters.
func (s *Stream) fill(n int) []byte {
	for at := s.r.IntN(len(filling) / 2); ; at++ {
		if end := at + n; filling[at] == 'r' {
			for end < len(filling) && filling[end] != ' ' {
				end++
			}
			return filling[at:min(end, len(filling))]
		}
	}
}

// Next returns the next record with its LF. It must be used before the next call.
func (s *Stream) Next() []byte {
	s.n++
	size := min(20<<s.r.IntN(7), s.most)
	switch s.r.IntN(300) {
	case 0:
		size = min(70_000, s.most) // more than a pipe holds
	case 1, 2:
		s.buf = append(s.buf[:0], '\n')
		return s.buf
	case 3, 4:
		s.buf = fmt.Appendf(s.buf[:0], "record %d is not JSON: %s\n", s.n, s.fill(size))
		return s.buf
	case 5, 6:
		s.buf = fmt.Appendf(s.buf[:0], "{\"n\":%d,\"bytes\":\"\xff\xc3\"}\n", s.n)
		return s.buf
	case 7, 8:
		s.buf = fmt.Appendf(s.buf[:0], "{\"n\":%d,\"type\":\"get_state\"}\r\n", s.n)
		return s.buf
	}
	s.buf = fmt.Appendf(s.buf[:0], `{"n":%d,"type":"message_update","text":"`, s.n)
	s.buf = append(append(s.buf, s.fill(size)...), "\"}\n"...)
	return s.buf
}

// prefix is the beginning of a stream, as far as it was needed.
type prefix struct {
	s *Stream
	b []byte
}

// part gives the bytes of the stream from one offset to another.
func (p *prefix) part(from, to int64) []byte {
	for int64(len(p.b)) < to {
		p.b = append(p.b, p.s.Next()...)
	}
	return p.b[from:to]
}

// check compares what comes with a stream.
type check struct {
	s    *Stream
	want []byte // of the stream, not come yet
	pos  int64
}

func (c *check) write(p []byte) error {
	for len(p) > 0 {
		if len(c.want) == 0 {
			c.want = c.s.Next()
		}
		n := min(len(p), len(c.want))
		if !bytes.Equal(p[:n], c.want[:n]) {
			at := 0
			for p[at] == c.want[at] {
				at++
			}
			return fmt.Errorf("byte %d, in record %d: %.60q came, want %.60q", c.pos+int64(at), c.s.n, p[at:], c.want[at:])
		}
		c.pos += int64(n)
		p, c.want = p[n:], c.want[n:]
	}
	return nil
}
