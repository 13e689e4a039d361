package session

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pitap/inspect/text"
	"pitap/record"
)

func TestRunTree(t *testing.T) {
	a := assistant(toolCall("c1", "bash"), "toolUse")
	s := ended(t, prompt("p", "count")+started("p")+at(1, runStart)+whole(user("count"))+start(assistant("", "pending"))+at(1.5, updated(`{"type":"toolcall_start","contentIndex":0,"id":"c1","toolName":"bash"}`))+
		at(1.6, updated(`{"type":"toolcall_delta","contentIndex":0,"delta":"{}"}`))+at(2, end(a))+toolStart("c1", "bash")+toolUpdate("c1", "bash")+at(3, toolEnd("c1", "bash"))+whole(result("c1", "bash"))+turnEnd(a, result("c1", "bash"))+
		turn+whole(assistant(says("1 2 3"), "stop"))+turnEnd(assistant(says("1 2 3"), "stop"))+runEnd()+settled+exits)
	wantIDs(t, s.Findings(), "")
	r := s.Runs[0]
	if r.Prompt != s.Commands[0] || s.Commands[0].Run != r || len(r.Turns) != 2 || len(r.Turns[0].Tools) != 1 || r.Settled == nil {
		t.Fatalf("run %+v", r)
	}
	tool := r.Turns[0].Tools[0]
	if tool.Updates != 1 || tool.End.T-tool.Start.T != 999_000_000 {
		t.Errorf("tool %+v", tool)
	}
	var b bytes.Buffer
	if err := s.WriteRuns(&b, text.Palette{}, 0); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"run 1  #3  at 1.000000  2.0", "prompt #1", "200 in, 14 out  $0.5000", "\n  turn 1  #4", "\n    user  #5  count\n", "first delta after 599ms in the turn", ", first delta 1.60s later", "toolUse", "\n    tool bash  #11  999ms\n", "\n    assistant  #18  1.00ms  100 in, 7 out  $0.2500  1 2 3"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	st := s.Stats(s.T)
	if st.RunCount != 1 || st.Runs[0].Turns != 2 || st.Runs[0].FirstDelta != 1_599_000_000 || st.Usage.Output != 14 || st.Tools[0].Calls != 1 || st.Tools[0].Took != 999_000_000 {
		t.Errorf("stats %+v", st)
	}
}

func TestQueueDelivery(t *testing.T) {
	queued := func(steering, followUp string) string {
		return fmt.Sprintf("< {\"type\":\"queue_update\",\"steering\":[%s],\"followUp\":[%s]}\n", steering, followUp)
	}
	s := ended(t, prompt("p", "hi")+started("p")+runStart+whole(user("hi"))+
		"> {\"id\":\"s1\",\"type\":\"steer\",\"message\":\"one\"}\n> {\"id\":\"s2\",\"type\":\"steer\",\"message\":\"/greet Ada\"}\n> {\"id\":\"f\",\"type\":\"follow_up\",\"message\":\"later\"}\n"+
		queued(`"one"`, "")+queued(`"one","Hello, Ada"`, "")+queued(`"one","Hello, Ada"`, `"later"`)+disposed("s1", "steer", "queued")+disposed("s2", "steer", "queued")+disposed("f", "follow_up", "queued")+
		whole(assistant("", "stop"))+turnEnd(assistant("", "stop"))+turn+queued(`"Hello, Ada"`, `"later"`)+whole(user("one"))+whole(assistant("", "stop"))+turnEnd(assistant("", "stop"))+
		turn+queued("", `"later"`)+whole(user("Hello, Ada"))+whole(assistant("", "stop"))+turnEnd(assistant("", "stop"))+runEnd()+settled+exits)
	wantIDs(t, s.Findings(), "")
	var got []string
	for _, c := range s.Commands {
		n := int64(0)
		if c.Delivered != nil {
			n = c.Delivered.N
		}
		got = append(got, fmt.Sprintf("%s:%d", c.Type, n))
	}
	if list := strings.Join(got, " "); list != "prompt:0 steer:21 steer:28 follow_up:0" {
		t.Errorf("delivered %s", list)
	}
	open := s.Open(s.T)
	if len(open) != 1 || open[0].What != "queue" || open[0].N != 9 {
		t.Errorf("open %+v", open)
	}
}

// In old versions another session takes the place of one whose run goes on, without a word.
func TestSessionReset(t *testing.T) {
	reset := "> {\"id\":\"n\",\"type\":\"new_session\"}\n< {\"id\":\"n\",\"type\":\"response\",\"command\":\"new_session\",\"success\":true,\"data\":{\"cancelled\":false}}\n"
	begun := old(prompt("p", "hi") + started("p") + runStart + start(assistant("", "stop")) + textUpdate("start", 0, "", "") + toolStart("c1", "bash"))
	begun = strings.ReplaceAll(begun, `"type":"text_start","contentIndex":0`, `"type":"text_start","contentIndex":0,"partial":`+assistant("", "stop"))
	begun = strings.ReplaceAll(begun, "},"+usage+"}\n", `},"message":`+assistant("", "stop")+"}\n")
	s := ended(t, begun+reset+strings.TrimPrefix(old(run("q", "on", "yes")), "pi 0.74.2\n")+exits)
	if len(s.Runs) != 2 || !strings.Contains(s.Runs[0].Broken, "replaced by new_session") || s.Runs[1].Settled == nil {
		t.Errorf("runs %+v", s.Runs)
	}
	if why := s.Why(0); !strings.Contains(why, "Nothing was open") {
		t.Errorf("why says %q", why)
	}
	cancelled := strings.Replace(reset, `"cancelled":false`, `"cancelled":true`, 1)
	s, _ = read(t, fixture(t, begun+cancelled))
	if s.Runs[0].Broken != "" || s.run == nil {
		t.Error("a cancelled new_session has ended the run")
	}
}

// A capture of which the header does not tell the version, of versions with and without agent_settled.
func TestVersionGuess(t *testing.T) {
	two := run("p", "one", "1") + run("q", "two", "2") + exits
	for _, test := range []struct{ text, version string }{
		{two, "1.6.0"},
		{strings.TrimPrefix(old(two), "pi 0.74.2\n"), "0.7"},
		{strings.ReplaceAll(strings.ReplaceAll(two, settled, ""), `,"data":{"disposition":"started"}`, ""), "0.8"},
	} {
		s := ended(t, "pi -\n"+test.text)
		if s.VersionFrom != "guess" || !strings.HasPrefix(s.Version.String(), test.version) {
			t.Errorf("version %s (%s), want %s", s.Version, s.VersionFrom, test.version)
		}
		if len(s.Runs) != 2 || s.Runs[0].Settled == nil || s.Runs[0].Prompt != s.Commands[0] || s.Runs[1].Prompt != s.Commands[1] {
			t.Errorf("%s: runs %+v", test.version, s.Runs)
		}
	}
}

// What a version before 0.57.0 reads as several lines.
func TestOldLineEnds(t *testing.T) {
	parse := "< {\"type\":\"response\",\"command\":\"parse\",\"success\":false,\"error\":\"x\"}\n"
	s := ended(t, "pi 0.49.3\n"+ready+"> {\"id\":\"s\",\"type\":\"get_state\",\"x\":\"a\u2028b\"}\n"+parse+parse+at(5, ready2)+at(9, exits))
	for _, f := range s.Findings() {
		if strings.HasPrefix(f.Rule, "pair/") || strings.HasPrefix(f.Rule, "wait/") {
			t.Errorf("%s: %s", f.Rule, f.Text)
		}
	}
}

// A record that is too long to be written whole stays in parts; its members are known all the same.
func TestRecordInParts(t *testing.T) {
	record := `{"type":"prompt","message":"` + strings.Repeat("long \\u00e9 ", 40_000) + `","images":[` + strings.Repeat(`{"a":"b"},`, 1000) + `{}],"id":"at the end","streamingBehavior":"steer"}`
	for _, size := range []int{7, 1000, 100_000, len(record)} {
		if size == 7 && (testing.Short() || raceEnabled) {
			continue
		}
		var b strings.Builder
		b.WriteString("pi 1.6.0\n")
		n := 1
		for at := 0; at < len(record); at += size {
			piece := record[at:min(len(record), at+size)]
			last := ""
			if at+size >= len(record) {
				last = `,"last":true`
			}
			fmt.Fprintf(&b, "... {\"n\":%d,\"t\":%d,\"from\":\"client\",\"off\":%d,\"part\":true%s,\"text\":%s}\n", n, n, at, last, quoted([]byte(piece)))
			n++
		}
		b.WriteString(disposed("at the end", "prompt", "queued") + exits)
		s := ended(t, b.String())
		if len(s.Commands) != 1 {
			t.Fatalf("parts of %d: %d commands", size, len(s.Commands))
		}
		c := s.Commands[0]
		if c.Type != "prompt" || c.ID != `"at the end"` || !c.Streaming || c.Response == nil || c.Size != int64(len(record)) || c.N != 1 {
			t.Errorf("parts of %d: %+v", size, c)
		}
	}
	// Half of one is open, and nothing is concluded from one whose beginning is missing.
	s, _ := read(t, fixture(t, ready+`... {"n":3,"t":5000000,"from":"client","off":26,"part":true,"text":"{\"type\":\"ab"}`))
	if open := s.Open(s.T); len(open) != 1 || open[0].What != "half" || open[0].For != "client" || !strings.Contains(s.Why(s.T), "Half a record has come from the client, 11 bytes without a line end") {
		t.Errorf("open %+v, why %s", open, s.Why(s.T))
	}
	s = ended(t, ready+"* \"gap\",\"from\":\"client\",\"lost\":{\"client\":50}\n"+`... {"n":4,"t":5000000,"from":"client","off":76,"part":true,"last":true,"text":"ort\"}"}`+"\n"+exits)
	wantIDs(t, s.Findings(), "")
}

// The same entries give the same session, whether deltas are recognized by their bytes or not, and read ahead or not.
func TestAlikeAndAhead(t *testing.T) {
	var b strings.Builder
	words := []string{"a", "", "two words", `quote \" and \\ back`, `line\nend`, "é漢😀", "\\ud83d", "\\ude00", "\u2028", "\x7f"}
	b.WriteString(prompt("p", "hi") + started("p") + runStart + start(assistant("", "pending")) + textUpdate("start", 0, "", ""))
	var sum strings.Builder
	for i := range 2000 {
		w := words[i%len(words)]
		sum.WriteString(w)
		fmt.Fprintf(&b, "< {\"type\":\"message_update\",\"assistantMessageEvent\":{\"type\":\"text_delta\",\"contentIndex\":0,\"delta\":\"%s\"},%s}\n", w, usage)
		if i%500 == 0 {
			b.WriteString(command(fmt.Sprint(i), "abort_retry") + answer(fmt.Sprint(i), "abort_retry"))
		}
	}
	fmt.Fprintf(&b, "< {\"type\":\"message_update\",\"assistantMessageEvent\":{\"type\":\"text_end\",\"contentIndex\":0,\"content\":\"%s\"},%s}\n", sum.String()+"!", usage)
	b.WriteString(end(assistant("", "stop")) + turnEnd(assistant("", "stop")) + runEnd() + settled + exits)
	capture := fixture(t, b.String())

	r := record.NewReader(memory(capture), func() (int64, error) { return int64(len(capture)), nil })
	h, err := r.Header()
	if err != nil {
		t.Fatal(err)
	}
	quick, recognized := New(h), 0
	for r.Next() {
		if id, _ := r.Entry().Alike(); id != 0 && id == quick.same.id {
			recognized++
		}
		quick.Add(r.Entry())
	}
	quick.End(r.Ended())
	if recognized < 1000 {
		t.Errorf("%d deltas were recognized", recognized)
	}
	slow := New(quick.Header)
	r = record.NewReader(memory(capture), func() (int64, error) { return int64(len(capture)), nil })
	for r.Next() {
		e := *r.Entry()
		fresh := record.Entry{N: e.N, T: e.T, From: e.From, Off: e.Off, Form: e.Form, Body: bytes.Clone(e.Body), EOL: e.EOL, Note: e.Note}
		slow.Add(&fresh)
	}
	slow.End(r.Ended())
	path := filepath.Join(t.TempDir(), "c.jsonl")
	if err := os.WriteFile(path, capture, 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := record.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ahead := New(quick.Header)
	a := c.Ahead()
	for a.Next() {
		ahead.Add(a.Entry())
	}
	ahead.End(c.Ended())
	for name, other := range map[string]*Session{"not recognized": slow, "read ahead": ahead} {
		if got, want := other.Findings(), quick.Findings(); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: findings\n%swant\n%s", name, wordsOf(got), wordsOf(want))
		}
		if got, want := other.Stats(other.T), quick.Stats(quick.T); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: stats %+v\nwant %+v", name, got, want)
		}
		x, y := other.Runs[0].Turns[0].Messages[0], quick.Runs[0].Turns[0].Messages[0]
		if x.Updates != y.Updates || x.Text != y.Text || x.Latest != y.Latest {
			t.Errorf("%s: message %+v, want %+v", name, x, y)
		}
	}
}

func wordsOf(list []record.Finding) string { return words(list) }

func TestStats(t *testing.T) {
	var b strings.Builder
	for i := range 100 {
		b.WriteString(at(float64(i), "> {\"id\":"+fmt.Sprint(i)+",\"type\":\"abort\"}\n"))
		b.WriteString(at(float64(i)+float64(i+1)/1000, "< {\"id\":"+fmt.Sprint(i)+",\"type\":\"response\",\"command\":\"abort\",\"success\":"+fmt.Sprint(i%10 != 0)+",\"error\":\"x\"}\n"))
	}
	b.WriteString("> {\"type\":\"get_state\"}\n")
	s := ended(t, b.String()+exits)
	st := s.Stats(s.T)
	var abort Latency
	for _, l := range st.Commands {
		if l.Command == "abort" {
			abort = l
		}
	}
	ms := int64(1_000_000)
	if abort.Count != 100 || abort.Failed != 10 || abort.P50 != 50*ms || abort.P90 != 90*ms || abort.P99 != 99*ms || abort.Max != 100*ms || abort.Slowest != 199 {
		t.Errorf("abort: %+v", abort)
	}
	if len(st.Slowest) != 10 || st.Slowest[0].Took != 100*ms || st.Slowest[9].Took != 91*ms {
		t.Errorf("slowest: %+v", st.Slowest)
	}
	if len(st.Commands) != 2 || st.Commands[1].Open != 1 {
		t.Errorf("commands: %+v", st.Commands)
	}
	var out bytes.Buffer
	if err := st.WriteText(&out, text.Palette{}, 0); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"1m39s  204 entries  pi 1.6.0 (header)\n",
		"command    answered  failed  open     p50     p90     p99    max  entry\nabort           100      10        50.0ms  90.0ms  99.0ms  100ms   #199\nget_state         0             1       -       -       -      -\n",
		"records by size\nfrom    <256B\nclient    101\nagent     100\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("text:\n%s\nwant in it:\n%s", out.String(), want)
		}
	}
}

// A live session goes on until now, and so do its stalls; nothing may tell the version.
func TestStatsLive(t *testing.T) {
	s, _ := read(t, fixture(t, "pi -\n"+ready+"* \"stall\",\"from\":\"agent\",\"since\":1000000,\"bytes\":9\n"))
	st := s.Stats(9_000_000_000)
	if !st.Live || st.Duration != 9_000_000_000 || len(st.Stalls) != 1 || st.Stalls[0].Took != 8_999_000_000 {
		t.Errorf("live: %+v", st)
	}
	var out bytes.Buffer
	if err := st.WriteText(&out, text.Palette{}, 0); err != nil || !strings.HasPrefix(out.String(), "9.00s so far, live  3 entries  pi "+s.Version.String()+" (assumed)\n") {
		t.Errorf("text: %v\n%s", err, out.String())
	}
	s.End(false)
	if st := s.Stats(99_000_000_000); st.Live || st.Duration != s.T {
		t.Errorf("ended: %+v", st)
	}
}

// A figure that is counted over more than is kept.
func TestPercentilesOfASample(t *testing.T) {
	var f figures
	for i := range 100_000 {
		c := &Command{Moment: Moment{N: int64(i)}, Type: "x", Response: &Moment{T: int64(i)}}
		f.sent(c)
		f.answered(c)
	}
	l := f.commands["x"].percentiles()
	near := func(got, want int64) bool { return got > want-2000 && got < want+2000 }
	if l.Count != 100_000 || l.Open != 0 || l.Max != 99_999 || !near(l.P50, 50_000) || !near(l.P90, 90_000) || !near(l.P99, 99_000) {
		t.Errorf("%+v", l)
	}
}

func TestEarlyAnswerIsTheAgentsOwn(t *testing.T) {
	s := ended(t, command("a", "abort")+"< {\"type\":\"extension_ui_request\",\"id\":\"u\",\"method\":\"setTitle\",\"title\":\"x\"}\n"+at(5, answer("a", "abort"))+exits)
	wantIDs(t, s.Findings(), "pair/early#1")
}

func TestChanged(t *testing.T) {
	for _, test := range []struct {
		sent, got string
		want      bool
	}{
		{"1", "1", false}, {"1.0", "1", false}, {"1.50e2", "150", false}, {"-0", "0", false}, {"0.1e1", "1", false}, {"100e-2", "1", false},
		{"12345678901234567890", "12345678901234567000", true}, {"1e400", "null", true}, {"1e-400", "0", true}, {"1e99999999999999", "null", true},
		{`"a"`, `"a"`, false}, {`"\u0061"`, `"a"`, false}, {"\"\xff\"", "\"\ufffd\"", true}, {`{"a":1}`, `{"a":1}`, false},
	} {
		if got := changed([]byte(test.sent), []byte(test.got)); got != test.want {
			t.Errorf("%s to %s: %v", test.sent, test.got, got)
		}
	}
}

// A fixture is no recording that was cut: that it has no end, no times and not all members says nothing.
func TestFixture(t *testing.T) {
	text := `{"pitap":1,"agent":{"version":"1.6.0"},"cut":"strings shortened"}
{"from":"client","msg":{"id":"p","type":"prompt","message":"hi"}}
{"from":"agent","msg":{"id":"p","type":"response","command":"prompt","success":true,"data":{"disposition":"started"}}}
{"from":"agent","msg":{"type":"agent_start"}}
{"from":"agent","msg":{"type":"turn_start"}}
{"from":"agent","msg":{"type":"message_start","message":{"role":"assistant","content":[],"stopReason":"pending"}}}
{"from":"agent","msg":{"type":"message_update","assistantMessageEvent":{"type":"text_start","contentIndex":0}}}
`
	s, _ := read(t, []byte(text))
	s.End(false)
	wantIDs(t, s.Findings(), "")
	want := "This fixture ends without the agent's exit. Open was then: the model was answering. Behind that, the run of the prompt \"p\" (entry 1) was going on. " +
		"The client last sent prompt \"p\" (entry 1); the agent last sent message_update:text_start (entry 6)."
	if why := s.Why(0); why != want {
		t.Errorf("why says %q, want %q", why, want)
	}
}
