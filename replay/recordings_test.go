package replay

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pitap/record"
)

// Recorded sessions with the real pi, to a client that sends all at once, and to one that sends with other ids: it gets
// all that was recorded.
func TestRecordings(t *testing.T) {
	files, err := filepath.Glob("testdata/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatal("no recordings", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var in, want bytes.Buffer
			last := 0 // bytes before the client closes stdin
			r := record.NewReader(bytes.NewReader(content), func() (int64, error) { return int64(len(content)), nil })
			for r.Next() {
				e := r.Entry()
				if e.Note != nil && e.Note.Kind == "eof" {
					last = want.Len()
				}
				if to := map[record.Stream]*bytes.Buffer{record.Client: &in, record.Agent: &want}[e.From]; to != nil && e.Note == nil {
					to.Write(e.Body)
					to.WriteString(e.EOL)
				}
			}
			for _, ids := range []*strings.Replacer{strings.NewReplacer(), strings.NewReplacer(`"id":"req-`, `"id":"other `)} {
				s, err := Parse(content)
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				var out bytes.Buffer
				a := &Agent{Script: s, Out: &out, Speed: MaxSpeed}
				stays(a, ids.Replace(in.String()), len(ids.Replace(want.String()[:last])))
				rep, err := a.Run(ctx)
				cancel()
				if err != nil || rep.Failed() || rep.Extra+rep.Skipped > 0 {
					t.Errorf("%v %s", err, rep)
				}
				if got, want := out.String(), ids.Replace(want.String()); got != want {
					t.Errorf("%d bytes, %d recorded", len(got), len(want))
				}
			}
		})
	}
}
