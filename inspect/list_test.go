package inspect

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pitap/inspect/text"
	"pitap/record"
)

var monday = time.Date(2026, 5, 4, 3, 2, 1, 5e8, time.UTC)

// write writes a capture of some records. With keep it has no end.
func write(t testing.TB, path string, start time.Time, records int, keep bool) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	h := &record.Header{Pitap: record.Version, Start: start, Cwd: "/home/ada/work", Home: "/home/ada", Label: "l",
		Argv: []string{"/opt/pi", "--mode", "rpc"}, Agent: record.AgentInfo{Path: "/opt/pi", Version: "1.6.0"}, Client: record.ClientInfo{Name: "node"}}
	w, err := record.NewWriter(f, h, false)
	if err != nil {
		t.Fatal(err)
	}
	for i := range records {
		flag, _ := record.ParseFlag("framing/crlf")
		w.Add(&record.Entry{T: int64(i+1) * 1e9, From: record.Client, Off: int64(i) * 10, Form: record.Msg, Body: []byte(`{"a":12}`), EOL: "\r\n", Flags: flag})
	}
	if keep {
		err = w.Flush()
	} else {
		err = w.End(int64(records) * 1e9)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// name is a file name as record.Create makes it.
func name(start time.Time, id int) string {
	return fmt.Sprintf("%s-pi-%08x.jsonl.zst", start.UTC().Format("20060102-150405.000"), id)
}

// folder makes a folder with a file of each kind.
func folder(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	path := func(hours, id int) string {
		return filepath.Join(dir, name(monday.Add(time.Duration(hours)*time.Hour), id))
	}
	write(t, path(0, 0xa0), monday, 3, false)
	write(t, path(1, 0xa1), monday.Add(1*time.Hour), 2, true)
	write(t, path(2, 0xa2), monday.Add(2*time.Hour), 2, true)
	live, err := os.OpenFile(path(2, 0xa2), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { live.Close() })
	if err := record.Lock(live); err != nil {
		t.Skip("no locks here: ", err)
	}
	whole, err := os.ReadFile(path(0, 0xa0))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{
		path(3, 0xa3):                            nil,
		path(4, 0xa4):                            whole[:20],
		path(5, 0xa5):                            []byte("no capture"),
		filepath.Join(dir, "plain.jsonl"):        []byte("{\"pitap\":1,\"start\":\"2026-05-04T09:02:01Z\"}\n{\"n\":1,\"t\":2000000000,\"from\":\"client\",\"msg\":{}}\n"),
		filepath.Join(dir, "fixture.jsonl"):      []byte("{\"pitap\":1}\n{\"from\":\"client\",\"msg\":{}}\n{\"note\":\"exit\",\"code\":0}"),
		filepath.Join(dir, "newer.jsonl"):        []byte("{\"pitap\":2}\n"),
		filepath.Join(dir, "data.jsonl"):         []byte("{\"not\":\"ours\"}\n"),
		filepath.Join(dir, "notes.txt"):          []byte("words\n"),
		filepath.Join(dir, "outside", "x.jsonl"): nil,
	}
	for p, content := range files {
		os.MkdirAll(filepath.Dir(p), 0o700)
		if err := os.WriteFile(p, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for i, n := range []string{"fixture.jsonl", "newer.jsonl", "data.jsonl", "plain.jsonl"} {
		mod := monday.Add(time.Duration(9-i) * time.Hour)
		if err := os.Chtimes(filepath.Join(dir, n), mod, mod); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(path(0, 0xa0), filepath.Join(dir, name(monday.Add(-time.Hour), 0xff))); err != nil {
		t.Fatal(err)
	}
	return dir
}

func list(t testing.TB, dir string) []record.Found {
	t.Helper()
	found, err := record.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestList(t *testing.T) {
	var got []string
	err := List(list(t, folder(t)), func(l *Listed) error {
		got = append(got, fmt.Sprintf("%s %s %d %.0fs %s %s %s %s %v", l.Name, l.Condition, l.Entries, l.Duration, l.Agent, l.Version, l.Client, l.Folder, l.Findings))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"fixture.jsonl cut 2 0s     map[]",
		"newer.jsonl newer format 0 0s     map[]",
		"data.jsonl not a capture 0 0s     map[]",
		"plain.jsonl cut 1 2s     map[]",
		"000000a5 not a capture 0 0s     map[]",
		"000000a4 empty 0 0s     map[]",
		"000000a3 empty 0 0s     map[]",
		"000000a2 live 2 2s pi 1.6.0 node ~/work map[]",
		"000000a1 cut 2 2s pi 1.6.0 node ~/work map[]",
		"000000a0 whole 4 3s pi 1.6.0 node ~/work map[hazard:1]",
	}
	if !slices.Equal(got, want) {
		t.Errorf("lists\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestListStopsAtAnError(t *testing.T) {
	dir := t.TempDir()
	for i := range 40 {
		write(t, filepath.Join(dir, name(monday, i)), monday, 1, false)
	}
	stop, n := errors.New("stop"), 0
	err := List(list(t, dir), func(*Listed) error { n++; return stop })
	if err != stop || n != 1 {
		t.Errorf("%d listed, error %v", n, err)
	}
}

func TestShortNames(t *testing.T) {
	found := []record.Found{{Path: "d/" + name(monday, 0xab)}, {Path: "d/" + name(monday.Add(time.Millisecond), 0xab)}, {Path: "d/" + name(monday, 0xac)}, {Path: "d/mine.jsonl"}}
	got := ShortNames(found)
	if got[0] == got[1] || got[2] != "000000ac" || got[3] != "mine.jsonl" {
		t.Errorf("names %q", got)
	}
}

// BenchmarkList lists 1,000 captures.
func BenchmarkList(b *testing.B) {
	dir := b.TempDir()
	for i := range 1000 {
		write(b, filepath.Join(dir, name(monday, i)), monday, 1000, false)
	}
	found := list(b, dir)
	for b.Loop() {
		List(found, func(*Listed) error { return nil })
	}
}

func TestPolicy(t *testing.T) {
	const day = 24 * time.Hour
	now := monday
	var captures []*Listed // newest first: 0 to 9 days old, 10 bytes each, the first and the sixth are live
	for i := range 10 {
		l := &Listed{Name: fmt.Sprint(i), Start: now.Add(-time.Duration(i) * day), Size: 10, Condition: CondWhole}
		if i == 0 || i == 6 {
			l.Condition = CondLive
		}
		captures = append(captures, l)
	}
	tests := []struct {
		name string
		p    Policy
		want string
	}{
		{"nothing", Policy{}, ""},
		{"by age", Policy{OlderThan: 4*day + time.Hour}, "9 8 7 5"},
		{"by count", Policy{Keep: 4, KeepSet: true}, "9 8 7 5 4"},
		{"all", Policy{KeepSet: true}, "9 8 7 5 4 3 2 1"},
		{"by size", Policy{MaxSize: 75}, "9 8 7"},
		{"by size, live ones can't go", Policy{MaxSize: 45}, "9 8 7 5 4 3"},
		{"by age, but not the newest", Policy{OlderThan: day / 2, Keep: 8, KeepSet: true}, "9 8"},
		{"by size, but not the newest", Policy{MaxSize: 1, Keep: 8, KeepSet: true}, "9 8"},
		{"by age or size", Policy{OlderThan: 8*day + time.Hour, MaxSize: 75}, "9 8 7"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, l := range test.p.Choose(captures, now) {
				got = append(got, l.Name)
			}
			if s := strings.Join(got, " "); s != test.want {
				t.Errorf("removes %s, want %s", s, test.want)
			}
		})
	}
}

// TestPrune removes all that may be removed from a folder with a file of each kind.
func TestPrune(t *testing.T) {
	dir := folder(t)
	now := monday.Add(240 * time.Hour)
	for _, l := range (Policy{KeepSet: true}).Choose(Prunable(list(t, dir)), now) {
		if err := Remove(l, now); err != nil {
			t.Error(err)
		}
	}
	var left []string
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		left = append(left, e.Name())
	}
	want := []string{
		name(monday.Add(-time.Hour), 0xff),   // a symlink, whose capture is gone
		name(monday.Add(2*time.Hour), 0xa2),  // live
		name(monday.Add(5*time.Hour), 0xa5),  // named like a capture, but none
		"data.jsonl", "notes.txt", "outside", // somebody's
	}
	if !slices.Equal(left, want) {
		t.Errorf("left are\n%s\nwant\n%s", strings.Join(left, "\n"), strings.Join(want, "\n"))
	}
}

// TestRemoveLooksAgain sees that what changed since it was listed stays.
func TestRemoveLooksAgain(t *testing.T) {
	tests := map[string]func(path string) error{
		"it grew": func(path string) error { return os.WriteFile(path, make([]byte, 10_000), 0o600) },
		"became a link": func(path string) error {
			return errors.Join(os.Rename(path, path+".txt"), os.Symlink(path+".txt", path))
		},
		"became live": func(path string) error {
			f, err := os.OpenFile(path, os.O_RDWR, 0)
			if err != nil {
				return err
			}
			t.Cleanup(func() { f.Close() })
			return record.Lock(f)
		},
	}
	for change, do := range tests {
		t.Run(change, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, name(monday, 1))
			write(t, path, monday, 1, false)
			captures := Prunable(list(t, dir))
			if err := do(path); err != nil {
				t.Fatal(err)
			}
			if err := Remove(captures[0], monday); err == nil {
				t.Error("was removed")
			}
			if _, err := os.Lstat(path); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestParseAgeAndSize(t *testing.T) {
	for s, want := range map[string]time.Duration{"30d": 720 * time.Hour, "2w": 336 * time.Hour, "12h": 12 * time.Hour, "1.5d": 36 * time.Hour, "90m": 90 * time.Minute} {
		if got, err := ParseAge(s); err != nil || got != want {
			t.Errorf("ParseAge(%q) = %v, %v; want %v", s, got, err, want)
		}
	}
	for s, want := range map[string]int64{"2G": 2 << 30, "500M": 500 << 20, "1.5GiB": 3 << 29, "10kb": 10 << 10, "1000000": 1e6, "7B": 7} {
		if got, err := ParseSize(s); err != nil || got != want {
			t.Errorf("ParseSize(%q) = %v, %v; want %v", s, got, err, want)
		}
	}
	for _, s := range []string{"", "d", "0d", "-1d", "x", "1y", "NaNd", "1e9d", "-3h", "0"} {
		if got, err := ParseAge(s); err == nil {
			t.Errorf("ParseAge(%q) = %v, want an error", s, got)
		}
	}
	for _, s := range []string{"", "G", "0", "-1", "x", "1X", "NaN", "1e30", "1GG"} {
		if got, err := ParseSize(s); err == nil {
			t.Errorf("ParseSize(%q) = %v, want an error", s, got)
		}
	}
}

func TestLastCells(t *testing.T) {
	for _, c := range []struct {
		s     string
		cells int
		want  string
	}{
		{"/home/ada/project", 40, "/home/ada/project"}, {"/home/ada/project", 8, "…project"}, {"/日本語/漢字", 5, "…漢字"}, {"/日本語/漢字", 4, "…字"},
		{"\x1b[2J/x", 40, "␛[2J/x"}, {strings.Repeat("\u200b", 100_000), 10, "…"}, {"abc", 0, "…"},
	} {
		got := lastCells(c.s, c.cells)
		if c.want != "…" && got != c.want || text.Width(got) > max(1, c.cells) {
			t.Errorf("the last %d cells of %.20q are %q, want %q", c.cells, c.s, got, c.want)
		}
	}
}
