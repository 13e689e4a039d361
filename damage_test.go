//go:build unix

package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pitap/inspect/view"
	"pitap/record"
)

// damageBench has a capture of several small frames, and runs commands over damaged copies of it in this process.
type damageBench struct {
	t        *testing.T
	dir      string
	path     string
	out, err *os.File

	whole   []byte
	frames  [][]byte // with content
	tail    []byte   // index and seek table
	lines   []string // what show --json gives
	rows    []string // what the inspector gives
	records map[string][]byte
}

const damagedName = "20260101-000000.000-pi-aaaa0001.jsonl.zst"

func newDamageBench(t *testing.T) *damageBench {
	b := &damageBench{t: t, dir: t.TempDir(), records: map[string][]byte{}}
	b.path = filepath.Join(b.dir, damagedName)
	for _, f := range []**os.File{&b.out, &b.err} {
		file, err := os.Create(filepath.Join(t.TempDir(), "output"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { file.Close() })
		*f = file
	}
	b.record()
	b.lines = strings.SplitAfter(b.ok("show", "--json"), "\n")
	b.lines = b.lines[:len(b.lines)-1]
	for i, line := range b.lines {
		e, err := record.ParseEntry([]byte(line))
		if err != nil || e.N != int64(i+1) {
			t.Fatalf("entry %d is %s, %v", i+1, line, err)
		}
		if e.Note == nil && e.From == record.Agent {
			b.records[line] = append(bytes.Clone(e.Body), e.EOL...)
		}
	}
	b.rows, _, _ = b.store()
	if len(b.rows) < len(b.lines)-5 {
		t.Fatalf("the inspector has %d rows of %d entries", len(b.rows), len(b.lines))
	}
	return b
}

// record writes the capture.
func (b *damageBench) record() {
	f, err := os.Create(b.path)
	if err != nil {
		b.t.Fatal(err)
	}
	defer f.Close()
	w, err := record.NewWriter(f, &record.Header{Pitap: record.Version, Start: time.Unix(1777777777, 0), Argv: []string{"pi"}, Client: record.ClientInfo{Name: "node"}}, false)
	if err != nil {
		b.t.Fatal(err)
	}
	off := [4]int64{}
	add := func(t int64, from record.Stream, form record.Form, body string) {
		w.Add(&record.Entry{T: t, From: from, Off: off[from], Form: form, Body: []byte(body), EOL: "\n"})
		off[from] += int64(len(body)) + 1
	}
	for i := range 4 {
		t := int64(i+1) * 1e7
		add(t, record.Client, record.Msg, fmt.Sprintf(`{"id":"%d","type":"prompt","message":"question %d %x"}`, i, i, rand.New(rand.NewPCG(1, uint64(i))).Uint64()))
		add(t+1, record.Agent, record.Msg, fmt.Sprintf(`{"id":"%d","type":"response","command":"prompt","success":true}`, i))
		add(t+2, record.Agent, record.Msg, `{"type":"agent_start"}`)
		if err := w.Flush(); err != nil {
			b.t.Fatal(err)
		}
		add(t+3, record.Agent, record.Text, fmt.Sprintf("no JSON, %d", i))
		add(t+4, record.Stderr, record.Text, "warning")
		add(t+5, record.Agent, record.Msg, `{"type":"agent_end","messages":[]}`)
		add(t+6, record.Agent, record.Msg, `{"type":"agent_settled"}`)
		if i == 3 {
			err = w.End(t + 7)
		} else {
			err = w.CloseFrame()
		}
		if err != nil {
			b.t.Fatal(err)
		}
	}
	if b.whole, err = os.ReadFile(b.path); err != nil {
		b.t.Fatal(err)
	}
	rows, err := record.ReadIndex(bytes.NewReader(b.whole), int64(len(b.whole)))
	if err != nil || len(rows) != 4 {
		b.t.Fatalf("index: %d rows, %v", len(rows), err)
	}
	end := int64(0)
	for _, r := range rows {
		end = r.Off + r.Size
		b.frames = append(b.frames, b.whole[r.Off:end])
	}
	b.tail = b.whole[end:]
}

// run runs a command as main does.
func (b *damageBench) run(args ...string) (stdout, stderr string, status int) {
	b.t.Helper()
	for _, f := range []*os.File{b.out, b.err} {
		if err := f.Truncate(0); err != nil {
			b.t.Fatal(err)
		}
		if _, err := f.Seek(0, 0); err != nil {
			b.t.Fatal(err)
		}
	}
	env := map[string]string{"PITAP_DIR": b.dir, "HOME": b.dir}
	t := &tool{stdin: nil, stdout: b.out, stderr: b.err, getenv: func(name string) string { return env[name] }, self: "pitap"}
	status = t.status(t.dispatch(args))
	return readFile(b.t, b.out.Name()), readFile(b.t, b.err.Name()), status
}

func (b *damageBench) ok(args ...string) string {
	b.t.Helper()
	out, errs, status := b.run(args...)
	if status != 0 || errs != "" {
		b.t.Fatalf("%q: status %d, says %q", args, status, errs)
	}
	return out
}

// store gives the rows that the inspector shows of entries, and what it says of the capture.
func (b *damageBench) store() (rows []string, lost int, st view.State) {
	b.t.Helper()
	tell := make(chan struct{}, 1)
	s, err := view.Open(b.path, func() {
		select {
		case tell <- struct{}{}:
		default:
		}
	})
	if err != nil {
		b.t.Fatal(err)
	}
	defer s.Close()
	s.Fold()
	deadline := time.NewTimer(time.Minute)
	defer deadline.Stop()
	s.First() // also before all is loaded
	for st = s.State(); !st.Done; st = s.State() {
		select {
		case <-tell:
		case <-deadline.C:
			b.t.Fatal("the inspector does not come to the capture's end within a minute")
		}
	}
	for pos, ok := s.First(); ok; pos, ok = s.Next(pos) {
		r := s.Row(pos)
		if r.Kind == "damage" {
			lost++
			continue
		}
		rows = append(rows, fmt.Sprint(r.N, r.T, r.From, r.Kind, r.Text))
		if len(rows) > 10*len(b.lines) {
			b.t.Fatal("the inspector's rows have no end")
		}
	}
	return rows, lost, s.State()
}

// told is what words about damage and cuts look like.
func told(words string) bool {
	return strings.Contains(words, "damaged") || strings.Contains(words, "cut: ") || strings.Contains(words, "not a capture") ||
		strings.Contains(words, "stops before the header") || strings.Contains(words, "empty file") || strings.Contains(words, "newer")
}

// check runs all commands over a damaged copy. sure are numbers of entries which must be there.
func (b *damageBench) check(name string, data []byte, sure []int64) {
	b.t.Helper()
	if err := os.WriteFile(b.path, data, 0o600); err != nil {
		b.t.Fatal(err)
	}
	out, errs, status := b.run("show", "--json")
	fail := func(format string, args ...any) {
		b.t.Helper()
		b.t.Errorf("%s: %s\nshow says %q", name, fmt.Sprintf(format, args...), errs)
	}
	got := strings.SplitAfter(out, "\n")
	got = got[:len(got)-1]
	same, unchecked := slices.Equal(got, b.lines), strings.Contains(errs, "unchecked") || strings.Contains(errs, "no checksum covers")
	if status > 1 || !same && !told(errs) {
		fail("status %d, %d of %d entries", status, len(got), len(b.lines))
	}
	has := map[string]bool{}
	at := 0
	for _, line := range got {
		has[line] = true
		if i := slices.Index(b.lines[at:], line); i >= 0 {
			at += i + 1
		} else if !unchecked {
			fail("there was no entry %s behind entry %d", line, at)
		}
	}
	for _, n := range sure {
		if !has[b.lines[n-1]] {
			fail("entry %d is not given", n)
		}
	}
	b.commands(fail, got, same, unchecked)
	b.mend(fail, data, got, same)
}

// commands runs the others: show has given these entries.
func (b *damageBench) commands(fail func(string, ...any), got []string, same, unchecked bool) {
	b.t.Helper()
	var want []byte
	for _, line := range got {
		want = append(want, b.records[line]...)
	}
	out, errs, status := b.run("extract")
	if status > 1 || !same && !told(errs) || !unchecked && out != string(want) {
		fail("extract: status %d, says %q, writes %q, want %q", status, errs, out, want)
	}
	for _, args := range [][]string{{"stats", "--json"}, {"why"}, {"cut"}, {"cut", "--exact"}} {
		if _, errs, status := b.run(args...); status > 1 || !same && !told(errs) && !strings.Contains(errs, "nothing to replay") {
			fail("%q: status %d, says %q", args, status, errs)
		}
	}
	if out, errs, status := b.run("check", "--fail-on", "never"); status > 1 || !same && !told(out+errs) {
		fail("check: status %d, says %q and %q", status, out, errs)
	}
	out, errs, status = b.run("ls", "--json")
	if status != 0 || errs != "" || strings.Count(out, "\n") != 1 {
		fail("ls: status %d, says %q, writes %q", status, errs, out)
	}
	if len(got) > 0 && len(b.lines) > 0 && got[len(got)-1] != b.lines[len(b.lines)-1] && strings.Contains(out, `"condition":"whole"`) {
		fail("the last entry is lost, and ls says %s", out)
	}
	if wrong := !strings.Contains(out, `"start":"2026-05-03T03:09:37Z"`) || !strings.Contains(out, `"client":"node"`) || !strings.Contains(out, `"argv":["pi"]`); wrong && strings.Contains(out, `"condition":"whole"`) {
		fail("the header is damaged, and ls says %s", out)
	}
	rows, lost, st := b.store()
	if whole := slices.Equal(rows, b.rows); !whole && st.Damage == 0 && st.Condition == "" && st.Err == nil || same && !whole {
		fail("the inspector has %d rows, %d are lost, and says %+v", len(rows), lost, st)
	}
	if n := len(got) - (len(b.lines) - len(b.rows)); len(rows) < n-1 && lost == 0 && st.Err == nil {
		fail("the inspector has %d rows of %d entries, none is lost", len(rows), len(got))
	}
}

// mend mends the copy: what could be read before can be read then.
func (b *damageBench) mend(fail func(string, ...any), data []byte, got []string, same bool) {
	b.t.Helper()
	_, errs, status := b.run("mend", b.path)
	after, err := os.ReadFile(b.path)
	switch {
	case err != nil || status > 1:
		fail("mend: status %d, says %q, %v", status, errs, err)
	case status == 1 && !bytes.Equal(data, after):
		fail("mend changed the file and says %q", errs)
	case status == 1 && same && !told(errs) && !strings.Contains(errs, "byte "):
		fail("mend says %q", errs)
	case status == 0 && !bytes.Equal(data, after):
		out, errs, _ := b.run("show", "--json")
		if out != strings.Join(got, "") {
			fail("mended, it has %d entries, and show says %q", strings.Count(out, "\n"), errs)
		}
	}
}

// entries gives the numbers of the entries in frames.
func (b *damageBench) entries(frames ...int) (sure []int64) {
	rows, _ := record.ReadIndex(bytes.NewReader(b.whole), int64(len(b.whole)))
	for _, i := range frames {
		for n := rows[i].First; n < rows[i].First+rows[i].Count; n++ {
			sure = append(sure, n)
		}
	}
	return sure
}

// TestDamageShown damages a capture in many ways. No command ends otherwise than in order, none shows anything that was not
// recorded, and each says that something is lost.
func TestDamageShown(t *testing.T) {
	b := newDamageBench(t)
	f := b.frames
	join := func(parts ...[]byte) []byte { return slices.Concat(parts...) }
	zeros := func(p []byte) []byte { return make([]byte, len(p)) }
	for _, test := range []struct {
		name string
		data []byte
		sure []int64
	}{
		{"whole", b.whole, b.entries(0, 1, 2, 3)},
		{"without index", join(f...), b.entries(0, 1, 2, 3)},
		{"swapped", join(f[0], f[2], f[1], f[3], b.tail), b.entries(0, 2, 3)},
		{"twice", join(f[0], f[1], f[1], f[2], f[3], b.tail), b.entries(0, 1, 2, 3)},
		{"removed", join(f[0], f[2], f[3], b.tail), b.entries(0, 2, 3)},
		{"first removed", join(f[1], f[2], f[3], b.tail), b.entries(1, 2, 3)},
		{"last removed", join(f[0], f[1], f[2], b.tail), b.entries(0, 1, 2)},
		{"zeros", join(f[0], zeros(f[1]), f[2], f[3], b.tail), b.entries(0, 2, 3)},
		{"first zeros", join(zeros(f[0]), f[1], f[2], f[3], b.tail), b.entries(1, 2, 3)},
		{"last zeros", join(f[0], f[1], f[2], zeros(f[3]), b.tail), b.entries(0, 1, 2)},
		{"half zeros", join(f[0], f[1][:len(f[1])-60], make([]byte, 60), f[2], f[3], b.tail), b.entries(0, 2, 3)},
		{"shortened", join(f[0], f[1][:60], f[2], f[3], b.tail), b.entries(0, 2, 3)},
		{"twice as a whole", join(b.whole, b.whole), b.entries(0, 1, 2, 3)},
		{"index twice", join(b.whole, b.tail), b.entries(0, 1, 2, 3)},
		{"index first", join(b.tail, b.whole), b.entries(0, 1, 2, 3)},
		{"index alone", b.tail, nil},
		{"garbage behind", join(b.whole, []byte("garbage")), b.entries(0, 1, 2, 3)},
		{"zeros alone", make([]byte, 4096), nil},
	} {
		b.check(test.name, test.data, test.sure)
	}
	step := 29
	switch {
	case long:
		step = 1
	case testing.Short():
		step = 97
	}
	for at := 0; at < len(b.whole); at += step {
		b.check(fmt.Sprintf("first %d of %d bytes", at, len(b.whole)), b.whole[:at], nil)
		data := bytes.Clone(b.whole)
		data[at] ^= 1 << (at % 8)
		var sure []int64
		for i, end := 0, 0; i < len(f); i++ {
			if end += len(f[i]); at < end-len(f[i]) || at >= end {
				sure = append(sure, b.entries(i)...)
			}
		}
		b.check(fmt.Sprintf("byte %d of %d ^ %#x", at, len(b.whole), 1<<(at%8)), data, sure)
	}
}
