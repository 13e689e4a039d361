package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestShimFile(t *testing.T) {
	for name, s := range map[string]shim{
		"nothing": {},
		"all": {agent: "/opt/pi's own/<pi>", path: "/opt/node/bin", recording: recording{
			out: "/x/session.jsonl.zst", dir: "/x/caps", label: "an \"editor\"\u2028/é", strict: true, sync: true, quiet: true}},
	} {
		content := s.encode()
		back, err := parseShim(content)
		if err != nil || !reflect.DeepEqual(back, s) {
			t.Errorf("%s: %s reads as %+v, %v", name, content, back, err)
		}
		if name == "all" && !bytes.Contains(content, []byte("\n\t\"agent\": \"/opt/pi's own/<pi>\",\n")) {
			t.Errorf("written as %s", content)
		}
	}
}

func TestShimFileErrors(t *testing.T) {
	for content, want := range map[string]string{
		"":                                  "line 1 (byte 0): unexpected end",
		"{\n\"agent\": \"pi\"":              "line 2 (byte 15): unexpected end",
		"{\n\"agent\": ":                    "line 2 (byte 11): unexpected end",
		"[]":                                "line 1 (byte 0): it holds no object",
		"null":                              "line 1 (byte 0): it holds no object",
		"# agent\n{}":                       "line 1 (byte 0): invalid character '#'",
		"{\n\n  \"agent\": pi}":             "line 3 (byte 14): invalid character 'p'",
		"{\"strict\": true,\n}":             "line 2 (byte 17): invalid character '}'",
		"{\"agent\": \"pi\" \"dir\": \"\"}": "line 1 (byte 15): invalid character '\"'",
		"{\n\t\"strict\": \"yes\"\n}":       "line 2 (byte 13): strict takes true or false, not string",
		"{\"sync\": true, \"agent\": [1]}":  "line 1 (byte 24): agent takes a string, not array",
		"{\n\"Agent\": \"pi\"}":             "line 2 (byte 2): there is no member \"Agent\"",
		"{\"agent\": \"pi\"}\n{}":           "line 2 (byte 16): invalid character",
		"\xef\xbb\xbf{\"x\": 1}":            "line 1 (byte 4): there is no member \"x\"",
		"\xef\xbb\xbf\n{}}":                 "line 2 (byte 6): invalid character",
	} {
		_, err := parseShim([]byte(content))
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s...", content, err, want)
		}
	}
	if s, err := parseShim([]byte("\xef\xbb\xbf{\"quiet\":true,\"agent\":null}")); err != nil || !s.quiet {
		t.Errorf("with a byte order mark: %+v, %v", s, err)
	}
	dir := t.TempDir()
	if _, err := readShim(dir); err == nil || errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder reads as a file: %v", err)
	}
	if _, err := readShim(filepath.Join(dir, "x")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

func FuzzShimFile(f *testing.F) {
	f.Add([]byte(`{"agent": "/usr/bin/pi", "strict": true}`))
	f.Add([]byte("\xef\xbb\xbf{\n\"agent\": 1}"))
	f.Add([]byte(`{"a":{"b":[`))
	f.Fuzz(func(t *testing.T, content []byte) {
		s, err := parseShim(content)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "line ") {
				t.Errorf("an error without its place: %v", err)
			}
			return
		}
		again, err := parseShim(s.encode())
		if err != nil || !reflect.DeepEqual(again, s) {
			t.Errorf("%+v is written as %s and reads as %+v, %v", s, s.encode(), again, err)
		}
	})
}
