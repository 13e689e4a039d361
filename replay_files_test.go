//go:build unix

package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"pitap/record"
)

// What a session wrote is stored at its end, and written out where the replay runs.
func TestWithSession(t *testing.T) {
	s := newSandbox(t)
	long := strings.Repeat("a line of output\n", 1<<20) // 17 MB
	s.file("work/pi-bash-1.log", "all of it\n")
	s.file("work/long.log", long)
	s.file("work/s.jsonl", `{"type":"session"}`+"\n")
	agent := `read -r x; echo '{"type":"response","command":"bash","success":true,"data":{"fullOutputPath":"` + s.path("work/pi-bash-1.log") + `"}}'
echo '{"type":"tool_execution_end","result":{"details":{"fullOutputPath":"` + s.path("work/long.log") + `"}}}'
echo '{"type":"response","command":"get_state","success":true,"data":{"sessionFile":"` + s.path("work/s.jsonl") + `"}}'`
	command := `{"type":"bash","command":"x"}` + "\n"
	capture := s.path("c.jsonl.zst")
	recorded := s.run(command, "pitap", "record", "-o", capture, "--with-session", "--", "sh", "-c", agent)
	if recorded.status != 0 || recorded.stderr != "" {
		t.Fatalf("%+v", recorded)
	}
	c, err := record.Open(capture)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var got []string
	for c.Next() {
		if n := c.Entry().Note; n != nil && n.Kind == "file" {
			got = append(got, strings.TrimPrefix(n.Path, s.path("work")+"/")+" "+string(n.Data)+n.Error)
		}
	}
	want := "pi-bash-1.log all of it\n|long.log not kept: more than 16 MiB|s.jsonl " + `{"type":"session"}` + "\n"
	if strings.Join(got, "|") != want || c.Condition() != "" {
		t.Fatalf("%.200q, want %q; %s", got, want, c.Condition())
	}
	for _, name := range []string{"pi-bash-1.log", "s.jsonl"} {
		if err := os.Remove(s.path("work/" + name)); err != nil {
			t.Fatal(err)
		}
	}
	if o := s.run(command, "pitap", "replay", capture); o.stdout != recorded.stdout || exists(s.path("work/s.jsonl")) {
		t.Errorf("without --files: %+v", o)
	}
	for range 2 { // the second time they are there
		o := s.with("PITAP_FILES=1").run(command, "pitap", "replay", capture)
		if o.stdout != recorded.stdout || o.stderr != "" || o.status != 0 {
			t.Errorf("%+v", o)
		}
		if b, err := os.ReadFile(s.path("work/pi-bash-1.log")); string(b) != "all of it\n" {
			t.Errorf("%q, %v", b, err)
		}
	}
	s.file("work/s.jsonl", "changed since\n")
	if o := s.run(command, "pitap", "replay", "--files", capture); !strings.Contains(o.stderr, "s.jsonl: it is there with another content") || o.stdout != recorded.stdout {
		t.Errorf("%+v", o)
	}
}

// The files are stored too where a copy of pitap ends the capture, and they are those that the last record names.
func TestWithSessionHandover(t *testing.T) {
	s := newSandbox(t)
	s.file("work/s.jsonl", "content\n")
	agent := `(sleep 0.5; echo '{"type":"late"}') & echo '{"type":"x","sessionFile":"` + s.path("work/s.jsonl") + `"}'`
	capture := s.path("c.jsonl.zst")
	if o := s.run("", "pitap", "record", "-o", capture, "--with-session", "--", "sh", "-c", agent); o.status != 0 || o.stderr != "" {
		t.Fatalf("%+v", o)
	}
	stop := make(chan struct{})
	timer := time.AfterFunc(10*time.Second, func() { close(stop) })
	defer timer.Stop()
	c, err := record.Open(capture)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.Follow(stop)
	data, late := "", false
	for c.Next() {
		e := c.Entry()
		if e.Note != nil && e.Note.Kind == "file" {
			data += string(e.Note.Data)
		}
		late = late || string(e.Body) == `{"type":"late"}`
	}
	if data != "content\n" || !late || c.Condition() != "" {
		t.Errorf("%q, late record %v, %s", data, late, c.Condition())
	}
}
