package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"testing"

	"pitap/inspect/session"
	"pitap/record"
)

const evil = "100% <bad> & \"worse\"\r\n\x1b[31m\u202e\u0085 a,b:c ]]> \xff"

func sample() *Report {
	return &Report{Path: "caps/a b,c:100%.jsonl", Agent: "pi 1.6.0 (header)", Entries: 12, Lost: 5, Condition: "cut: there is no end note",
		Damage: []record.Damage{{Off: 7, Cause: evil}},
		Findings: []record.Finding{
			{Rule: "pair/twice", Severity: record.SevError, N: 3, From: record.Agent, Off: 40, Count: 2, Last: 9, Text: "answered twice: " + evil, Hint: "match once"},
			{Rule: "framing/u2028", Severity: record.SevHazard, N: 4, From: record.Client, Off: 50, At: 10, Count: 1, Last: 4, Text: "raw", Hint: "escape"},
			{Rule: "field/unknown", Severity: record.SevNote, N: 5, From: record.Agent, Count: 1, Last: 5, Text: "new", Hint: "see"},
		}}
}

// get follows a path of names and indexes through decoded JSON.
func get(t *testing.T, v any, path ...any) any {
	t.Helper()
	for _, p := range path {
		switch p := p.(type) {
		case string:
			m, ok := v.(map[string]any)
			if !ok || m[p] == nil {
				t.Fatalf("no %q in %v", p, v)
			}
			v = m[p]
		case int:
			l, ok := v.([]any)
			if !ok || p >= len(l) {
				t.Fatalf("no element %d in %v", p, v)
			}
			v = l[p]
		}
	}
	return v
}

// SARIF 2.1.0 asks for these members, of these types and values.
func TestSARIF(t *testing.T) {
	var b bytes.Buffer
	if err := WriteSARIF(&b, []*Report{sample(), {Path: "/abs/x.jsonl"}}, "1.2.3"); err != nil {
		t.Fatal(err)
	}
	var log any
	if err := json.Unmarshal(b.Bytes(), &log); err != nil {
		t.Fatal(err)
	}
	if get(t, log, "version") != "2.1.0" || !strings.Contains(get(t, log, "$schema").(string), "sarif-2.1.0") {
		t.Error("version or schema")
	}
	run := get(t, log, "runs", 0)
	if get(t, run, "tool", "driver", "name") != "pitap" || get(t, run, "tool", "driver", "version") != "1.2.3" || get(t, run, "invocations", 0, "executionSuccessful") != true {
		t.Error("tool or invocation")
	}
	rules := get(t, run, "tool", "driver", "rules").([]any)
	if len(rules) != len(session.Rules()) {
		t.Errorf("%d rules, want %d", len(rules), len(session.Rules()))
	}
	ids := map[string]bool{}
	for _, r := range rules {
		id := get(t, r, "id").(string)
		if ids[id] || get(t, r, "shortDescription", "text") == "" || get(t, r, "fullDescription", "text") == "" {
			t.Errorf("rule %s", id)
		}
		ids[id] = true
	}
	results := get(t, run, "results").([]any)
	levels := map[any]bool{"error": true, "warning": true, "note": true}
	for i, r := range results {
		index := int(get(t, r, "ruleIndex").(float64))
		if get(t, rules[index], "id") != get(t, r, "ruleId") || !levels[get(t, r, "level")] || get(t, r, "message", "text") == "" {
			t.Errorf("result %d: %v", i, r)
		}
		uri := get(t, r, "locations", 0, "physicalLocation", "artifactLocation", "uri").(string)
		if strings.ContainsAny(uri, " %\\") && uri != "caps/a%20b,c:100%25.jsonl" {
			t.Errorf("uri %q", uri)
		}
		if line := get(t, r, "locations", 0, "physicalLocation", "region", "startLine").(float64); line < 1 {
			t.Errorf("line %v", line)
		}
	}
	if len(results) != 3 || get(t, results[0], "occurrenceCount") != 2.0 || get(t, results[0], "locations", 0, "physicalLocation", "region", "startLine") != 4.0 {
		t.Errorf("results %v", results)
	}
	if get(t, run, "invocations", 0, "toolExecutionNotifications", 0, "level") != "error" {
		t.Error("no word of the damage")
	}
	b.Reset()
	if err := WriteSARIF(&b, nil, "1"); err != nil || !strings.Contains(b.String(), `"results": []`) {
		t.Errorf("nothing: %v %s", err, b.String()[max(0, b.Len()-200):])
	}
	if uriOf("/a b/c") != "file:///a%20b/c" {
		t.Errorf("uri %s", uriOf("/a b/c"))
	}
}

func TestJUnit(t *testing.T) {
	var b bytes.Buffer
	if err := WriteJUnit(&b, []*Report{sample(), {Path: "clean.jsonl"}}, record.SevError); err != nil {
		t.Fatal(err)
	}
	d := xml.NewDecoder(bytes.NewReader(b.Bytes()))
	for {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("%v in\n%s", err, b.String())
		}
	}
	var suites junitSuites
	if err := xml.Unmarshal(b.Bytes(), &suites); err != nil {
		t.Fatal(err)
	}
	if suites.Tests != 5 || suites.Failures != 2 || len(suites.Suites) != 2 || suites.Suites[0].Tests != 4 || suites.Suites[0].Failures != 2 || suites.Suites[1].Cases[0].Failure != nil {
		t.Errorf("%+v", suites)
	}
	one := suites.Suites[0].Cases[1]
	if one.Name != "pair/twice at agent #3, byte 40, 2 times up to #9" || one.Failure.Type != "error" || !strings.Contains(one.Failure.Text, `<bad> & "worse"`) || !strings.Contains(one.Failure.Text, "match once") {
		t.Errorf("%+v", one.Failure)
	}
	if strings.ContainsAny(b.String(), "\x1b\u202e") || strings.Contains(b.String(), "\xff") {
		t.Error("control characters")
	}
	b.Reset()
	WriteJUnit(&b, []*Report{sample()}, record.SevNote)
	if !strings.Contains(b.String(), `failures="4"`) {
		t.Error("notes do not fail")
	}
}

func TestGitHub(t *testing.T) {
	var b bytes.Buffer
	if err := sample().WriteGitHub(&b); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	if len(lines) != 4 {
		t.Fatalf("%d lines:\n%s", len(lines), b.String())
	}
	for i, want := range []string{
		`::error file=caps/a b%2Cc%3A100%25.jsonl,title=pitap: damaged::byte 7: 100%25 <bad>`,
		`::error file=caps/a b%2Cc%3A100%25.jsonl,line=4,title=pitap%3A pair/twice::answered twice: 100%25 <bad> & "worse"`,
		`::warning file=caps/a b%2Cc%3A100%25.jsonl,line=5,title=pitap%3A framing/u2028::raw%0A(client #4, byte 50 (10 in the record))%0Ahint: escape`,
		`::notice file=`,
	} {
		if !strings.HasPrefix(lines[i], want) {
			t.Errorf("line %d: %s\nwant %s", i, lines[i], want)
		}
		if strings.ContainsAny(lines[i], "\r\x1b") {
			t.Errorf("line %d: control characters", i)
		}
	}
}

func TestTextAndJSON(t *testing.T) {
	var b bytes.Buffer
	r := sample()
	if err := r.WriteText(&b, Style{Width: 70}); err != nil {
		t.Fatal(err)
	}
	out := b.String()
	for _, want := range []string{"a b,c:100%.jsonl: 1 error, 1 hazard, 1 note in 12 entries\n  cut: there is no end note\n", "  damaged at byte 7: ", "5 bytes were not recorded",
		"\n\n  error  pair/twice  agent #3, byte 40, 2 times up to #9\n         answered twice: ", "\n         hint: match once\n", "client #4, byte 50 (10 in the record)"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	for line := range strings.Lines(out) {
		if len([]rune(line)) > 101 {
			t.Errorf("a long line: %q", line)
		}
	}
	if strings.ContainsAny(out, "\x1b\r\u202e") {
		t.Error("control characters")
	}
	b.Reset()
	if err := r.WriteText(&b, Style{}); err != nil || !strings.Contains(b.String(), "1 note in 12 entries; cut: there is no end note\n") {
		t.Errorf("%v, not on one line: %s", err, b.String())
	}
	// The worst stands first, whatever its entry; and nothing is wider than a narrow terminal, but what has no spaces.
	r.Findings[0], r.Findings[2] = r.Findings[2], r.Findings[0]
	b.Reset()
	if err := r.WriteText(&b, Style{Width: 40}); err != nil {
		t.Fatal(err)
	}
	if first, last := strings.Index(b.String(), "pair/twice"), strings.Index(b.String(), "field/unknown"); first > last {
		t.Errorf("the note stands first:\n%s", b.String())
	}
	for line := range strings.Lines(b.String()) {
		if len([]rune(line)) > 41 && strings.Count(strings.TrimSpace(line), " ") > 0 && !strings.Contains(line, "1 error, 1 hazard") {
			t.Errorf("a line too wide for 40 cells: %q", line)
		}
	}
	r = sample()
	b.Reset()
	if err := r.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(b.Bytes(), &got); err != nil || strings.Count(b.String(), "\n") != 1 {
		t.Fatalf("%v: %s", err, b.String())
	}
	if fmt.Sprint(got["errors"], got["hazards"], got["notes"], got["entries"], got["lost"]) != "1 1 1 12 5" || get(t, got, "findings", 0, "rule") != "pair/twice" || get(t, got, "damage", 0, "off") != 7.0 {
		t.Errorf("%v", got)
	}
	clean := Report{Path: "x", Findings: nil}
	if clean.Words() != "nothing found" || clean.Fails(record.SevNote) || !r.Fails(record.SevError) {
		t.Error("verdict")
	}
}

func TestSelect(t *testing.T) {
	for _, test := range []struct {
		rule  string
		least record.Severity
		want  string
	}{{"", record.SevNote, "pair/twice framing/u2028 field/unknown "}, {"", record.SevHazard, "pair/twice framing/u2028 "}, {"field/unknown", record.SevNote, "field/unknown "}, {"field/unknown", record.SevError, ""}} {
		r := sample()
		r.Select(func(rule string) bool { return test.rule == "" || rule == test.rule }, test.least)
		got := ""
		for _, f := range r.Findings {
			got += f.Rule + " "
		}
		if got != test.want {
			t.Errorf("%q, %v: %s", test.rule, test.least, got)
		}
	}
}

func TestDocs(t *testing.T) {
	var b bytes.Buffer
	if err := WriteDocs(&b, session.Docs(), Style{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"run/prompt-lost  error: a prompt that was accepted and never ran\n", "\n  Example: two prompts in one write", "\n  Versions of pi: since 0.82.0.\n", "\n  What to do: from the client: write LF alone"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q", want)
		}
	}
	if strings.Contains(b.String(), "..\n") {
		t.Error("two full stops")
	}
}
