package record

import (
	"time"
)

// State is what one recorder hands to another, in another process, that goes on with its capture. It is plain data, for
// JSON.
type State struct {
	Pos       int64 // end of the file
	Header    []byte
	N         int64
	Lost      int64
	Rows      []FrameInfo
	Streams   [streamCount]Volume
	Flagged   [32]int64
	Ends      [streamCount]int64
	Splitters [streamCount]SplitterState
	Start     time.Time
	Skew      time.Duration
	Items     []Item // queued, not recorded
}

// SplitterState is the state of one stream's splitter.
type SplitterState struct {
	Off, Start, Last, Gone int64
	Pending                []byte
	Written                int
	Parts                  []int64
	Partial                bool
	Cuts                   []Cut
	More                   int64
}

// Item is one queued thing.
type Item struct {
	Kind uint8
	From Stream
	T    int64
	P    []byte
}

// save ends the open frame and returns the state, or nil when the file fails.
func (r *Recorder) save() *State {
	if r.failing != nil || r.w == nil {
		return nil
	}
	if err := r.w.CloseFrame(); err != nil {
		r.fail(err)
		return nil
	}
	s := &State{Pos: r.w.frames.pos, Header: r.w.header, N: r.w.n, Lost: r.w.now.lost, Rows: r.w.rows, Streams: r.w.now.streams, Flagged: r.w.now.flagged,
		Ends: r.w.now.pos, Start: r.start, Skew: r.clockSkew}
	for i, sp := range r.splitters {
		if sp != nil {
			s.Splitters[i] = SplitterState{sp.off, sp.start, sp.last, sp.gone, sp.pending, sp.written, sp.parts, sp.partial, sp.cuts, sp.more}
		}
	}
	for {
		it, ok := r.queue.next()
		if !ok {
			return s
		}
		s.Items = append(s.Items, Item{uint8(it.kind), it.from, it.t, append([]byte(nil), it.p...)})
		r.queue.release(it)
	}
}

// resume puts the recorder in a state that another one saved.
func (r *Recorder) resume(s *State) error {
	f, _, err := r.openFile()
	if err != nil {
		return err
	}
	frames, err := newFrameWriter(f, s.Pos, r.cfg.Sync)
	if err != nil {
		return err
	}
	r.w = &Writer{frames: frames, header: s.Header, n: s.N, rows: s.Rows}
	r.w.now = progress{row: FrameInfo{Off: s.Pos}, streams: s.Streams, flagged: s.Flagged, pos: s.Ends, lost: s.Lost}
	r.w.safe = r.w.now
	r.start, r.clockSkew = s.Start, s.Skew
	for i, sp := range r.splitters {
		if sp != nil {
			st := s.Splitters[i]
			sp.off, sp.start, sp.last, sp.gone = st.Off, st.Start, st.Last, st.Gone
			sp.pending, sp.written, sp.parts, sp.partial, sp.cuts, sp.more = st.Pending, st.Written, st.Parts, st.Partial, st.Cuts, st.More
		}
	}
	return nil
}

// items gives what was queued when the state was saved.
func (s *State) items() []item {
	if s == nil {
		return nil
	}
	var items []item
	for _, it := range s.Items {
		items = append(items, item{itemKind(it.Kind), it.From, it.T, it.P})
	}
	return items
}
