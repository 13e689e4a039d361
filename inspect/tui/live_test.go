package tui

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pitap/record"
)

// recording is a session that is live.
type recording struct {
	*record.Recorder
	path string
	end  func()
}

// live begins to record a session that began so long ago, of a pi whose process is this one.
func live(t *testing.T, dir, name, label string, ago time.Duration) *recording {
	t.Helper()
	r := &recording{path: filepath.Join(dir, name)}
	begin := time.Now().Add(-ago)
	opened := make(chan *os.File, 1)
	r.Recorder = record.NewRecorder(record.Config{
		Open: func() (record.File, *record.Header, error) {
			f, err := os.OpenFile(r.path, os.O_CREATE|os.O_RDWR|os.O_EXCL, 0o600)
			if err == nil {
				err = record.Lock(f)
			}
			opened <- f
			return f, &record.Header{Pitap: 1, Argv: []string{"pi"}, Start: begin, Label: label,
				Agent: record.AgentInfo{Path: "/bin/pi", Version: "1.6.0", PID: os.Getpid()}}, err
		},
		Clock: func() int64 { return int64(time.Since(begin)) - int64(ago) + 1e6 }, Wall: time.Now, Warn: func(err error) { t.Error(err) },
	})
	r.Put(record.Client, []byte(`{"type":"get_state","id":"a"}`+"\n"))
	var f *os.File
	select {
	case f = <-opened:
	case <-time.After(patience):
		t.Fatal("no file was opened")
	}
	done := false
	r.end = func() {
		if !done {
			done = true
			r.Close()
			f.Close()
		}
	}
	t.Cleanup(r.end)
	return r
}

// TestLiveFindings looks at a dialog that nobody answers, while it is open: it stands under the findings as in pitap check.
func TestLiveFindings(t *testing.T) {
	r := live(t, t.TempDir(), "20261130-100000.000-pi-00000001.jsonl.zst", "stuck", 20*time.Second)
	r.Put(record.Agent, []byte(`{"id":"a","type":"response","command":"get_state","success":true}`+"\n"))
	s := start(t, r.path, 80, 24, Options{Theme: "none"})
	s.press("4")
	s.until("the header is read", func() bool { return s.a.store.State().Entries >= 2 })
	s.wantNoText("dialog/")
	r.Put(record.Agent, []byte(`{"type":"extension_ui_request","id":"q","method":"select","title":"Which?","options":["x","y"]}`+"\n"))
	s.until("the dialog is found", func() bool {
		s.a.Draw(s.sim)
		s.sim.Show()
		return strings.Contains(dump(s.sim), "dialog/")
	})
}

// TestOtherLive looks at a session that has ended while another one of the same folder is live.
func TestOtherLive(t *testing.T) {
	dir := t.TempDir()
	old := live(t, dir, "20261130-100000.000-pi-00000001.jsonl.zst", "", time.Second)
	old.end()
	s := start(t, old.path, 80, 24, Options{Theme: "none", Dir: dir})
	s.wantNoText("live")
	r := live(t, dir, "20261130-090000.000-pi-00000002.jsonl.zst", "alpha", time.Second)
	s.until("the other one is told", func() bool { return s.a.othersWords() != "" })
	s.wantText("1 other is live: alpha (c)   ? help\n")
	r.end()
	s.until("it is told no more", func() bool { return s.a.othersWords() == "" })
	s.wantNoText("live")
}
