package replay

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Outcome says how a replay ended.
type Outcome string

const (
	Recorded   Outcome = "recorded"   // no replay: the session was recorded anew
	Running    Outcome = "running"    // it has not ended, or was killed
	Complete   Outcome = "complete"   // all that was recorded was played
	Unfinished Outcome = "unfinished" // the client ended the session before the recorded end
	GaveUp     Outcome = "gave up"    // what the script waited for did not come
	Different  Outcome = "different"  // a dialog got another answer than the recorded one
	Broken     Outcome = "broken"     // the capture could not be read to its end
)

// Report tells how a replay went. It is made for people and for tests: see Failed and String.
type Report struct {
	Capture   string    `json:"capture,omitempty"`
	Start     time.Time `json:"start,omitzero"`      // when the replay began
	Args      []string  `json:"args,omitempty"`      // of the agent
	OtherArgs string    `json:"otherArgs,omitempty"` // how these differ from the recorded ones, in words
	Outcome   Outcome   `json:"outcome"`
	Detail    string    `json:"detail,omitempty"` // of the outcome, in words
	Code      int       `json:"code"`             // the exit status that the agent ended with
	Signal    string    `json:"signal,omitempty"` // the signal that ended it, such as "SIGINT"

	At        int64    `json:"at"`              // number of the entry that the script stands at
	Last      int64    `json:"last"`            // number of its last entry
	Lines     bool     `json:"lines,omitempty"` // these are numbers of lines in the capture's file
	Waiting   string   `json:"waiting,omitempty"`
	Misses    []Miss   `json:"misses,omitempty"`    // records that were not recorded
	NeverCame []string `json:"neverCame,omitempty"` // recorded commands that change something, and did not come
	Waits     []Wait   `json:"waits,omitempty"`     // of a second or more
	Early     []string `json:"early,omitempty"`     // answers that were given before their place
	TooEarly  int      `json:"tooEarly,omitempty"`  // of those: that pi would have answered otherwise
	Ended     string   `json:"ended,omitempty"`     // how the session ended, if otherwise than it was recorded, in words
	Reordered []string `json:"reordered,omitempty"` // answers that were given before others, since the client waited for them
	Received  int      `json:"received,omitempty"`  // records that the client sent
	Skipped   int      `json:"skipped,omitempty"`   // recorded questions that the client did not ask
	Extra     int      `json:"extra,omitempty"`     // questions asked more often or elsewhere
	Unused    []string `json:"unused,omitempty"`    // paths to ignore that no record of the client has
	Cut       string   `json:"cut,omitempty"`       // how the capture ends, if it is not whole
}

// Miss is a record of the client that matches nothing.
type Miss struct {
	Record  string      `json:"record"`            // shortened
	Kind    string      `json:"kind,omitempty"`    // its type
	Nearest int64       `json:"nearest,omitempty"` // number of the recorded entry that comes closest
	First   *Difference `json:"first,omitempty"`   // where they part
	Why     string      `json:"why"`
	Times   int         `json:"times,omitempty"` // how often it came, if more than once
}

// Wait is a time in which the script waited for the client.
type Wait struct {
	For    string  `json:"for"`
	N      int64   `json:"n,omitempty"` // number of the entry
	Second float64 `json:"seconds"`
	GaveUp bool    `json:"gaveUp,omitempty"`
}

const maxListed = 100 // of misses and the like in a report

// Failed tells whether the client did not do what was recorded.
func (r *Report) Failed() bool {
	return r.Outcome != Complete && r.Outcome != Recorded || len(r.Misses) > 0
}

// Encode returns the report as JSON.
func (r *Report) Encode() []byte {
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return nil // it holds strings and numbers
	}
	return append(b, '\n')
}

// ParseReport reads what Encode wrote.
func ParseReport(b []byte) (*Report, error) {
	r := new(Report)
	if err := json.Unmarshal(b, r); err != nil {
		return nil, err
	}
	if r.Outcome == "" {
		return nil, fmt.Errorf("no report of a replay: it has no outcome")
	}
	return r, nil
}

// maxShown is how many notes of a kind String gives.
const maxShown = 5

// String says in a few lines how the replay went.
func (r *Report) String() string {
	text, _ := r.Verdict(false)
	return text
}

// Verdict says in a few lines how the replay went, and whether that is a failure. With allowUnfinished a client may end
// or kill a session before its recorded end, if all that it sent until then was recorded.
func (r *Report) Verdict(allowUnfinished bool) (text string, failed bool) {
	failed = r.Failed()
	allowed := failed && allowUnfinished && (r.Outcome == Unfinished || r.Outcome == Running) && len(r.Misses) == 0 && r.Received > 0
	var b strings.Builder
	switch {
	case allowed:
		failed = false
		b.WriteString("ok, as it may be unfinished")
	case failed:
		fmt.Fprintf(&b, "FAILED: %s", r.Outcome)
	default:
		fmt.Fprintf(&b, "ok: %s", r.Outcome)
	}
	if failed && allowUnfinished && r.Received == 0 && r.Outcome != Broken {
		b.WriteString(": the client sent nothing")
	}
	if r.Outcome == Running {
		b.WriteString(": it goes on, or was killed")
	}
	switch n := len(r.Misses); {
	case r.Detail != "":
		fmt.Fprintf(&b, ": %s", r.Detail)
	case r.Outcome == Complete && n == 1:
		b.WriteString(", but for a record that was not recorded")
	case r.Outcome == Complete && n > 1:
		fmt.Fprintf(&b, ", but for %d records that were not recorded", n)
	}
	if r.Outcome != Complete && r.Last > 0 {
		fmt.Fprintf(&b, "; at %s of %d", placeOf(r.Lines, r.At), r.Last)
		if r.Waiting != "" && r.Outcome != GaveUp {
			fmt.Fprintf(&b, ", waiting for %s", r.Waiting)
		}
	}
	if n := r.TooEarly; n > 0 && len(r.Misses) == 0 {
		fmt.Fprintf(&b, ", but %s came too early: pi would have answered otherwise", questions(n))
	}
	b.WriteByte('\n')
	for _, m := range r.Misses {
		fmt.Fprintf(&b, "  miss: %s\n        %s\n", m.Record, m.Why)
		if m.Times > 1 {
			fmt.Fprintf(&b, "        %d times\n", m.Times)
		}
	}
	noted(&b, "never came", r.NeverCame)
	for _, w := range r.Waits {
		if w.GaveUp {
			continue // the first line says it
		}
		fmt.Fprintf(&b, "  waited %v for %s\n", time.Duration(w.Second*float64(time.Second)).Round(10*time.Millisecond), w.For)
	}
	noted(&b, "asked early", r.Early)
	noted(&b, "answered out of turn", r.Reordered)
	if r.Skipped > 0 {
		fmt.Fprintf(&b, "  recorded questions that were not asked: %d\n", r.Skipped)
	}
	noted(&b, "--ignore or PITAP_IGNORE: in no recorded record is", r.Unused)
	if r.OtherArgs != "" {
		fmt.Fprintf(&b, "  %s\n", r.OtherArgs)
	}
	if r.Ended != "" {
		fmt.Fprintf(&b, "  %s\n", r.Ended)
	}
	if r.Cut != "" {
		fmt.Fprintf(&b, "  the capture is %s\n", r.Cut)
	}
	return b.String(), failed
}

func questions(n int) string {
	if n == 1 {
		return "a question"
	}
	return fmt.Sprintf("%d questions", n)
}

// noted writes the first few of a list.
func noted(b *strings.Builder, what string, list []string) {
	for i, text := range list {
		if i == maxShown && len(list) > maxShown+1 {
			fmt.Fprintf(b, "  %s: and %d more\n", what, len(list)-maxShown)
			return
		}
		fmt.Fprintf(b, "  %s: %s\n", what, text)
	}
}

func appendListed[T any](list []T, item T) []T {
	if len(list) < maxListed {
		list = append(list, item)
	}
	return list
}
