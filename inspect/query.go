package inspect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/itchyny/gojq"

	"pitap/inspect/text"
	"pitap/record/scan"
)

const (
	maxQuery      = 16 << 20 // bytes of a record that a query is given
	maxQueryDepth = 1000     // of its nesting: what decodes it recurses
)

// Query is a program in jq's language that runs over records.
type Query struct {
	code  *gojq.Code
	entry bool // the program asks for $entry

	// Skipped says how many records it was not given, by reason.
	Skipped map[string]int
	// Errors counts the records that it failed for; the first few errors are kept.
	Errors int
	First  []error
}

// maxQueryErrors is how many errors of a query are kept.
const maxQueryErrors = 10

// Words for what a query is not given.
const (
	skipNotJSON = "not JSON"
	skipBig     = "longer than 16 MiB"
	skipDeep    = "nested too deep"
)

// errHalt ends a query for good.
var errHalt = errors.New("halt")

// ParseQuery compiles a program. Its input is a record as a JSON value, and $entry the entry's other members.
func ParseQuery(program string) (*Query, error) {
	parsed, err := gojq.Parse(program)
	if err != nil {
		return nil, err
	}
	code, err := gojq.Compile(parsed, gojq.WithVariables([]string{"$entry"}))
	if err != nil {
		return nil, err
	}
	return &Query{code: code, entry: strings.Contains(program, "$entry"), Skipped: map[string]int{}}, nil
}

// Run runs the program over a row's record and calls emit for each result. Notes are no records. Errors of the program
// are kept in the Query; the error returned is that of emit.
func (q *Query) Run(r *Row, emit func(result any) error) error {
	if r.Note != nil {
		return nil
	}
	if why := q.refuse(r); why != "" {
		q.Skipped[why]++
		return nil
	}
	input, err := decodeJSON(r.Body)
	if err != nil {
		q.Skipped[skipNotJSON]++
		return nil
	}
	var entry any
	if q.entry {
		entry = entryMembers(r)
	}
	for results := q.code.Run(input, entry); ; {
		result, ok := results.Next()
		if !ok {
			return nil
		}
		if err, ok := result.(error); ok {
			return q.failed(r, err)
		}
		if err := emit(result); err != nil {
			return err
		}
	}
}

// failed keeps an error of the program; halt ends the query.
func (q *Query) failed(r *Row, err error) error {
	var halt *gojq.HaltError
	if errors.As(err, &halt) {
		if halt.Value() != nil {
			q.Errors++
			q.First = append(q.First, err)
		}
		return errHalt
	}
	if q.Errors++; len(q.First) < maxQueryErrors {
		q.First = append(q.First, fmt.Errorf("entry %d: %w", r.N, err))
	}
	return nil
}

// refuse says why a query is not given a record.
func (q *Query) refuse(r *Row) string {
	if r.Size > maxQuery || r.Parts() && r.Size > int64(len(r.Body)) {
		return skipBig
	}
	switch v := scan.Scan(r.Body); {
	case !v.JSON:
		return skipNotJSON
	case v.Depth > maxQueryDepth:
		return skipDeep
	}
	return ""
}

func decodeJSON(b []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	err = d.Decode(&v)
	return v, err
}

// entryMembers gives the members of an entry's line but for the record itself.
func entryMembers(r *Row) any {
	entry := map[string]any{}
	if r.Line == nil {
		return map[string]any{"n": int(r.N), "t": int(r.T), "from": r.From.String(), "off": int(r.Off)}
	}
	for m := scan.MembersOf(r.Line); m.Next(); {
		if m.Is("msg") || m.Is("text") || m.Is("base64") {
			continue
		}
		if v, err := decodeJSON(r.Line[m.Start:m.End]); err == nil {
			key, _ := scan.Unescape(nil, m.Key)
			entry[string(key)] = v
		}
	}
	return entry
}

// Skips says in words what was left out, "" when nothing was.
func (q *Query) Skips() string {
	var all []string
	total := 0
	for _, why := range []string{skipNotJSON, skipBig, skipDeep} {
		if n := q.Skipped[why]; n > 0 {
			all = append(all, fmt.Sprintf("%d %s", n, why))
			total += n
		}
	}
	if total == 0 {
		return ""
	}
	return fmt.Sprintf("%s not given to jq: %s", text.Plural(total, "record"), strings.Join(all, ", "))
}
