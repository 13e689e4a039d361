package view

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pitap/inspect/filter"
	"pitap/record"
)

const patience = 60 * time.Second

// opened opens a capture and waits until it is read.
func opened(t testing.TB, path string) *Store {
	t.Helper()
	told := make(chan struct{}, 1)
	s, err := Open(path, func() {
		select {
		case told <- struct{}{}:
		default:
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	late := time.After(patience)
	for !s.State().Done {
		select {
		case <-told:
		case <-late:
			t.Fatal("the capture is not read")
		}
	}
	return s
}

// recorded makes a compressed capture with its index of n deltas in blocks of ten, a command and its response before
// each block.
func recorded(t testing.TB, n int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "c.jsonl.zst")
	var now atomic.Int64
	r := record.NewRecorder(record.Config{
		Open: func() (record.File, *record.Header, error) {
			f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_EXCL, 0o600)
			return f, &record.Header{Pitap: 1, Argv: []string{"pi"}, Start: time.Unix(1e9, 0)}, err
		},
		Clock: func() int64 { return now.Add(1000) },
		Wall:  func() time.Time { return time.Unix(1e9, now.Load()) },
		Warn:  func(err error) { t.Error(err) },
	})
	r.Put(record.Agent, []byte("{\"type\":\"agent_start\"}\n{\"type\":\"turn_start\"}\n{\"type\":\"message_start\",\"message\":{\"role\":\"assistant\",\"content\":[]}}\n"))
	filler := strings.Repeat("x", 200)
	for i := range n {
		if i%10 == 0 {
			r.Put(record.Client, fmt.Appendf(nil, `{"type":"get_state","id":"c%d"}`+"\n", i))
			r.Put(record.Agent, fmt.Appendf(nil, `{"id":"c%d","type":"response","command":"get_state","success":true}`+"\n", i))
		}
		r.Put(record.Agent, fmt.Appendf(nil, `{"type":"message_update","assistantMessageEvent":{"type":"text_delta","contentIndex":0,"delta":"word%d "},"pad":"%s"}`+"\n", i, filler))
	}
	r.Put(record.Stderr, []byte("a line on stderr with a Needle\n"))
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// rows are the positions of all rows, going down.
func rows(t testing.TB, s *Store) (list []int64) {
	t.Helper()
	for at, ok := s.First(); ok; {
		list = append(list, at)
		next, more := s.Next(at)
		if more && next <= at {
			t.Fatalf("the row behind %d is %d", at, next)
		}
		at, ok = next, more
	}
	var back []int64
	for at, ok := s.Last(); ok; at, ok = s.Prev(at) {
		back = append(back, at)
		if len(back) > len(list) {
			break
		}
	}
	slices.Reverse(back)
	if !slices.Equal(list, back) {
		t.Fatalf("%d rows going down, %d going up: %v %v", len(list), len(back), head10(list), head10(back))
	}
	return list
}

func head10(l []int64) []int64 { return l[:min(10, len(l))] }

func TestFolding(t *testing.T) {
	s := opened(t, recorded(t, 20_000)) // several frames
	if n := len(s.frames); n < 3 {
		t.Fatalf("%d frames", n)
	}
	list := rows(t, s)
	if want := 3 + 2000*3 + 1 + 1; len(list) != want { // and stderr and end
		t.Fatalf("%d rows, want %d", len(list), want)
	}
	r := s.Row(list[5])
	if r.Count != 10 || !strings.HasPrefix(r.Text, "word0 word1 word2 ") || r.Kind != "text" {
		t.Errorf("the block is %+v", r)
	}
	if resp := s.Row(list[4]); resp.Took <= 0 || resp.ID != "c0" {
		t.Errorf("the response is %+v", resp)
	}
	if !s.Unfold(list[5]) || len(rows(t, s)) != len(list)+9 {
		t.Errorf("one block unfolded: %d rows, before %d", len(rows(t, s)), len(list))
	}
	s.Unfold(list[5])
	s.Fold()
	if n := len(rows(t, s)); int64(n) != s.State().Entries {
		t.Errorf("nothing folded: %d rows of %d entries", n, s.State().Entries)
	}
	s.Fold()
	for _, n := range []int64{1, 2, 777, 20_000, s.State().Entries} {
		if pos := s.Pos(n); pos != n-1 {
			t.Errorf("entry %d is at position %d", n, pos)
		}
	}
	if at := s.At(s.Row(500).T); at != 500 {
		t.Errorf("the time of position 500 is at %d", at)
	}
}

// TestWithoutIndex cuts the index off, and packs all into one frame: the rows must be the same.
func TestWithoutIndex(t *testing.T) {
	path := recorded(t, 20_000)
	whole := opened(t, path)
	want := rows(t, whole)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	last := whole.frames[len(whole.frames)-1]
	cut := filepath.Join(t.TempDir(), "cut.jsonl.zst")
	info, err := record.ReadIndex(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	end := info[len(info)-1].Off + info[len(info)-1].Size
	_ = last
	if err := os.WriteFile(cut, b[:end], 0o600); err != nil {
		t.Fatal(err)
	}
	s := opened(t, cut)
	if s.indexed {
		t.Fatal("an index was found")
	}
	if got := rows(t, s); !slices.Equal(got, want) {
		t.Errorf("%d rows without index, %d with it", len(got), len(want))
	}
	for _, pos := range []int64{0, 5, 9000, 15000, s.State().Entries - 1} {
		if a, b := s.Row(pos), whole.Row(pos); a.Text != b.Text || a.N != b.N {
			t.Errorf("row %d is %+v, with index %+v", pos, a, b)
		}
	}
	plain := filepath.Join(t.TempDir(), "plain.jsonl")
	out, err := os.Create(plain)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := whole.Export(out, -1, false); err != nil {
		t.Fatal(err)
	}
	out.Close()
	whole.Fold()
	p := opened(t, plain)
	p.Fold()
	if got, want := len(rows(t, p)), len(rows(t, whole)); got != want {
		t.Errorf("%d rows of the exported capture, %d of the original", got, want)
	}
}

// TestStates opens what is no whole capture: every prefix, damage, an empty file, none at all.
func TestStates(t *testing.T) {
	path := recorded(t, 300)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := func(name string, b []byte) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, b, 0o600); err != nil {
			t.Fatal(err)
		}
		return p
	}
	for _, n := range []int{0, 1, 3, 4, 10, 100, len(b) / 4, len(b) / 2, len(b) - 200, len(b) - 9, len(b) - 1} {
		s := opened(t, file(fmt.Sprint("prefix", n), b[:n]))
		rows(t, s)
		st := s.State()
		if st.Condition == "" && st.Err == nil && !st.Ended {
			t.Errorf("%d bytes: nothing is said about the cut", n)
		}
		why, _, _ := s.Bottom()
		if why == "" || len(s.Process(80)) == 0 {
			t.Errorf("%d bytes: the screen says nothing", n)
		}
	}
	for i := 40; i < len(b); i += len(b)/40 + 1 {
		bad := bytes.Clone(b)
		bad[i] ^= 0x55
		s := opened(t, file(fmt.Sprint("flipped", i), bad))
		rows(t, s)
		st := s.State()
		if st.Damage == 0 && st.Err == nil && st.Condition == "" && int(st.Entries) < 300 {
			t.Errorf("byte %d flipped: nothing is said, and there are %d entries", i, st.Entries)
		}
		s.Findings(80)
		s.Runs(80)
		s.Figures(80)
	}
	if s := opened(t, file("other", []byte("hello\nworld\n"))); s.State().Err == nil {
		t.Error("a text is a capture")
	}
	if _, err := Open(filepath.Join(dir, "nowhere"), nil); err == nil {
		t.Error("a file that does not exist opens")
	}
}

func TestSearch(t *testing.T) {
	s := opened(t, recorded(t, 20_000))
	for _, c := range []struct {
		source string
		regexp bool
		from   int64
		dir    int
		text   string
	}{
		{"word15000 ", false, 0, 1, "word15000 "},
		{"WORD15000 ", false, 0, 1, ""},
		{"needle", false, 0, 1, "Needle"},
		{"Needle", false, 0, -1, "Needle"},
		{`word1500\d `, true, 0, 1, "word15000 "},
		{`word1500\d `, true, 0, -1, "word15009 "},
		{`word15\d{3} `, true, 17_000, 1, "word15000 "},
		{"no such", false, 0, 1, ""},
	} {
		p, err := NewPattern(c.source, c.regexp)
		if err != nil {
			t.Fatal(err)
		}
		hit := s.Search(context.Background(), p, c.from, c.dir)
		if hit.Pos < 0 {
			if c.text != "" {
				t.Errorf("%q is not found", c.source)
			}
			continue
		}
		s.Reveal(hit.Pos)
		if r := s.Row(hit.Pos); c.text == "" || !strings.Contains(r.Text, c.text) {
			t.Errorf("%q from %d: found %q, want %q", c.source, c.from, r.Text, c.text)
		}
	}
	for _, source := range []string{`^\{`, `\}$`, `^\{"type":"\w+"`} { // of the record, not of the line around it
		p, err := NewPattern(source, true)
		if err != nil {
			t.Fatal(err)
		}
		if hit := s.Search(context.Background(), p, 0, 1); hit.Pos < 0 || hit.Pos > 10 {
			t.Errorf("%q is found at position %d", source, hit.Pos)
		}
	}
	// What stands in the line around a record is not found.
	p, _ := NewPattern(`"from"`, false)
	if hit := s.Search(context.Background(), p, 0, 1); hit.Pos >= 0 {
		t.Errorf("found %d, the name of a member of the entry", hit.Pos)
	}
}

func TestFilter(t *testing.T) {
	s := opened(t, recorded(t, 8_000)) // two frames
	if len(s.frames) < 2 {
		t.Fatal("one frame")
	}
	set := func(source, program string) int {
		t.Helper()
		e, err := filter.Parse(source)
		if err != nil {
			t.Fatal(err)
		}
		s.SetFilter(&Filter{Expr: e, Program: program}, 5000)
		late := time.Now().Add(patience)
		for looked, _, all := s.Progress(); looked < all; looked, _, all = s.Progress() {
			if time.Now().After(late) {
				t.Fatal("the filter does not come to its end")
			}
			time.Sleep(time.Millisecond)
		}
		return len(rows(t, s))
	}
	for _, c := range []struct {
		source, program string
		want            int
	}{
		{"kind:get_state", "", 800},
		{"kind:text_delta", "", 1}, // what is between them is filtered away, and the blocks stay blocks
		{"id:c100", "", 2},
		{"from:stderr", "", 1},
		{"text:word7000", "", 1},
		{"n<4000", `.command == "get_state"`, 333}, // of the responses that far
		{"took>0s", "", 800},
		{"is:unanswered", "", 0},
	} {
		got := set(c.source, c.program)
		if c.source == "kind:text_delta" {
			if got != 800 {
				t.Errorf("%q: %d rows", c.source, got)
			}
			continue
		}
		if got != c.want {
			t.Errorf("%q %q: %d rows, want %d", c.source, c.program, got, c.want)
		}
	}
	s.SetFilter(nil, 0)
	if got := len(rows(t, s)); got < 2400 {
		t.Errorf("%d rows without filter", got)
	}
}

// TestLive follows a capture that grows: a row must be there 150 ms after its record, parts are told, and then the end.
func TestLive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "live.jsonl.zst")
	begin := time.Now()
	locked := make(chan *os.File, 1)
	r := record.NewRecorder(record.Config{
		Open: func() (record.File, *record.Header, error) {
			f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_EXCL, 0o600)
			if err == nil {
				err = record.Lock(f)
			}
			locked <- f
			return f, &record.Header{Pitap: 1, Argv: []string{"pi"}, Start: begin}, err
		},
		Clock: func() int64 { return int64(time.Since(begin)) }, Wall: time.Now, Warn: func(err error) { t.Error(err) },
	})
	r.Put(record.Client, []byte(`{"type":"get_state","id":"a"}`+"\n"))
	f := <-locked
	told := make(chan struct{}, 1)
	var s *Store
	wait := func(what string, f func() bool) time.Duration {
		t.Helper()
		from, late := time.Now(), time.After(patience)
		for !f() {
			select {
			case <-told:
			case <-time.After(5 * time.Millisecond):
			case <-late:
				t.Fatalf("waited in vain for %s", what)
			}
		}
		return time.Since(from)
	}
	wait("the file", func() bool { info, err := os.Stat(path); return err == nil && info.Size() > 0 })
	s, err := Open(path, func() {
		select {
		case told <- struct{}{}:
		default:
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	// A recorder that is late says so in notes, so that rows are not counted but looked for.
	row := func(words ...string) (found *Row) {
		for pos := s.State().Entries - 1; pos >= 0; pos-- {
			r := s.Row(pos)
			if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(r.Kind+" "+r.Text, w) }) {
				return r
			}
		}
		return nil
	}
	wait("the first row", func() bool { return row("get_state") != nil })
	if st := s.State(); !st.Live || st.Done {
		t.Errorf("the state is %+v", st)
	}
	var all []time.Duration
	for i := range 8 {
		r.Put(record.Agent, fmt.Appendf(nil, `{"type":"x","i":%d}`+"\n", i))
		all = append(all, wait("a row", func() bool { return row("x", fmt.Sprintf("i=%d", i)) != nil }))
	}
	slices.Sort(all)
	t.Logf("a row is there after %v in the median, %v at most", all[len(all)/2], all[len(all)-1])
	e, err := filter.Parse("kind:x or kind:half")
	if err != nil {
		t.Fatal(err)
	}
	s.SetFilter(&Filter{Expr: e}, 0)
	wait("the filter", func() bool { looked, taken, all := s.Progress(); return looked == all && taken == 8 })
	r.Put(record.Agent, []byte(`{"type":"x"}`+"\n"))
	wait("a row that passes the filter", func() bool { looked, taken, all := s.Progress(); return looked == all && taken == 9 })
	r.Put(record.Agent, []byte(`{"type":"half`))
	wait("half a record", func() bool {
		_, last, _ := s.Bottom()
		return strings.Contains(last[1].Text(), "half a record: 13 bytes")
	})
	r.Put(record.Agent, []byte(`"}`+"\n"))
	wait("the other half", func() bool { _, last, _ := s.Bottom(); return !strings.Contains(last[1].Text(), "half a record") })
	if r := row("half"); r == nil || r.Kind != "half" || r.Size != 15 {
		t.Errorf("the record is %+v", r)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	f.Close()
	wait("the end", func() bool { st := s.State(); return st.Done && st.Ended })
}
