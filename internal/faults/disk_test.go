//go:build linux

package faults

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"pitap/record"
)

// disk is a small file system of the test's own. Without the right to mount one the test is skipped.
func disk(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("needs the right to mount a file system: %v", err)
	}
	t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
	return dir
}

// recording waits until something of both sides is in the capture, which it returns.
func (g *rig) recording() string {
	g.t.Helper()
	g.flows(1)
	var path string
	g.until("a capture with something in it", func() bool {
		files := g.captures()
		if len(files) != 1 {
			return false
		}
		info, err := os.Stat(files[0])
		path = files[0]
		return err == nil && info.Size() > 1000
	})
	return path
}

// said waits until pitap has said a text so often.
func (g *rig) said(text string, times int) {
	g.t.Helper()
	g.until("pitap to say: "+text, func() bool { return strings.Count(g.words.Said(), text) >= times })
}

const (
	notRecorded = "the session goes on without being recorded"
	again       = "recording again"
)

// Promise: a full disk harms nothing but the recording, which goes on when there is room, and gap notes count what is
// missing, to the byte.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	dir := disk(t, "32m")
	g.dir, g.task.Pace = filepath.Join(dir, "captures"), 5*ms
	g.start()
	path := g.recording()
	filler := filepath.Join(dir, "filler")
	n := times(2, 8)
	for i := range n {
		g.moment(200 * ms)
		os.WriteFile(filler, make([]byte, 33<<20), 0o600) // as much as there is room
		g.said(notRecorded, i+1)
		g.flows(50_000)
		if err := os.Remove(filler); err != nil {
			t.Fatal(err)
		}
		g.said(again, i+1)
		before := g.client.Read.Load()
		g.flows(10_000)
		g.until("new records in the capture", func() bool { return g.read(path).end(record.Agent) > before })
	}
	f := g.finish(3)
	g.counts(f, "no space left on device", n)
}

// counts fails unless the capture has gaps for this reason, and ends with records.
func (g *rig) counts(f *found, why string, least int) {
	g.t.Helper()
	n := 0
	for _, reason := range f.reasons {
		if contains(reason, why) {
			n++
		}
	}
	if n < least {
		g.t.Errorf("%d gaps because of %q, want %d; %q", n, why, least, f.reasons)
	}
	for _, s := range []record.Stream{record.Client, record.Agent} {
		if f.lost[s] == 0 || f.tail(s) > 0 {
			g.t.Errorf("of %v %d bytes are lost, %d of them at the end", s, f.lost[s], f.tail(s))
		}
	}
}

// Promise: a disk that stays full harms nothing but the recording: what came before is readable.
func TestDiskStaysFull(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	dir := disk(t, "1m")
	g.dir = filepath.Join(dir, "captures")
	g.start()
	path := g.recording()
	g.said(notRecorded, 1)
	g.flows(200_000)
	g.closeStdin()
	g.wait(3)
	g.ended()
	g.written(path)
	if c, a := g.client, g.agent; c.Written.Load() != a.Read.Load() || a.Written.Load() != c.Read.Load() {
		t.Errorf("bytes are missing: %s", g.where())
	}
	f := g.read(path)
	for _, s := range []record.Stream{record.Client, record.Agent} {
		if missing := f.missing(s); f.end(s) == 0 || missing > f.lost[s] {
			t.Errorf("capture: ends at byte %d of %v, %d bytes are missing, gap notes count %d", f.end(s), s, missing, f.lost[s])
		}
	}
}

// Promise: a folder that can't be written to harms nothing but the recording, which begins when it can.
func TestReadOnlyFolder(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	var writable func() error
	if unix.Geteuid() == 0 { // whom no mode of a folder stops
		g.dir = disk(t, "32m")
		if err := unix.Mount("", g.dir, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
			t.Fatal(err)
		}
		writable = func() error { return unix.Mount("", g.dir, "", unix.MS_REMOUNT, "") }
	} else {
		if err := os.Mkdir(g.dir, 0o500); err != nil {
			t.Fatal(err)
		}
		writable = func() error { return os.Chmod(g.dir, 0o700) }
	}
	g.task.Pace = 5 * ms
	g.start()
	g.flows(50_000)
	g.said(notRecorded, 1)
	if len(g.captures()) > 0 {
		t.Error("there is a capture")
	}
	if err := writable(); err != nil {
		t.Fatal(err)
	}
	g.said(again, 1)
	g.flows(10_000)
	g.counts(g.finish(3), "", 1)
}

// Promise: a capture that is removed, replaced or cut while it is written harms nothing but what was in it, and is counted.
func TestCaptureMeddledWith(t *testing.T) {
	for _, c := range []struct {
		name   string
		meddle func(g *rig, path string) error
		why    string
	}{
		{"removed", func(g *rig, path string) error { return os.Remove(path) }, "was removed"},
		{"replaced", func(g *rig, path string) error {
			other := filepath.Join(filepath.Dir(g.dir), "other")
			if err := os.WriteFile(other, []byte("something else"), 0o600); err != nil {
				return err
			}
			if err := os.Rename(other, path); err != nil {
				return err
			}
			return os.Rename(path, other)
		}, "was removed"},
		{"removed with its folder", func(g *rig, path string) error { return os.RemoveAll(g.dir) }, "was removed"},
		{"truncated", func(g *rig, path string) error { return os.Truncate(path, 0) }, "cut by another program"},
		{"cut somewhere", func(g *rig, path string) error {
			info, err := os.Stat(path)
			if err != nil {
				return err
			}
			return os.Truncate(path, g.r.Int64N(info.Size()))
		}, "cut by another program"},
		{"overwritten by a shell", func(g *rig, path string) error {
			return os.WriteFile(path, []byte("something else\n"), 0o600)
		}, "cut by another program"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			g := newRig(t)
			g.task.Pace = 5 * ms
			g.start()
			n := times(2, 5)
			for i := range n {
				path := g.recording()
				g.moment(300 * ms)
				if err := c.meddle(g, path); err != nil {
					t.Fatal(err)
				}
				g.said(c.why, i+1)
				g.said(again, i+1)
				g.flows(10_000)
			}
			f := g.finish(3)
			g.counts(f, c.why, 1)
			if f.condition != "" {
				t.Errorf("capture: %q", f.condition)
			}
		})
	}
}

// Promise: what somebody does with the folder's name does not stop the recording.
func TestFolderMoved(t *testing.T) {
	t.Parallel()
	g := newRig(t).start()
	g.recording()
	to := g.dir + "-moved"
	if err := os.Rename(g.dir, to); err != nil {
		t.Fatal(err)
	}
	g.flows(10_000)
	g.dir = to
	g.finish(3).noGap()
}
