package record

import (
	"encoding/base64"
	"encoding/json"
	"strconv"
	"time"

	"pitap/record/scan"
)

// AppendEntry appends the line of an entry, with its LF. Body must suit Form: JSON without LF and CR for Msg, UTF-8 for
// Text.
func AppendEntry(dst []byte, e *Entry) []byte {
	dst = appendHead(dst, e)
	if e.Note != nil {
		return dst
	}
	switch e.Form {
	case Msg:
		dst = append(dst, e.Body...)
	case Text:
		dst = scan.AppendQuote(dst, e.Body)
	default:
		dst = append(dst, '"')
		dst = base64.StdEncoding.AppendEncode(dst, e.Body)
		dst = append(dst, '"')
	}
	return append(dst, entryTail...)
}

const entryTail = "}\n"

// appendHead appends what stands before the bytes of a record, or the whole line of a note.
func appendHead(dst []byte, e *Entry) []byte {
	dst = append(dst, `{"n":`...)
	dst = strconv.AppendInt(dst, e.N, 10)
	dst = append(dst, `,"t":`...)
	dst = strconv.AppendInt(dst, e.T, 10)
	if e.Note != nil {
		return appendNote(dst, e)
	}
	dst = append(dst, `,"from":"`...)
	dst = append(dst, e.From.String()...)
	dst = append(dst, `","off":`...)
	dst = strconv.AppendInt(dst, e.Off, 10)
	if e.Part {
		dst = append(dst, `,"part":true`...)
		if e.Last {
			dst = append(dst, `,"last":true`...)
		}
	}
	if e.EOL != "\n" && (!e.Part || e.Last) {
		dst = append(dst, `,"eol":`...)
		dst = scan.AppendQuote(dst, []byte(e.EOL))
	}
	dst = appendCuts(dst, e)
	if e.Flags != 0 {
		dst = append(dst, `,"flags":[`...)
		for i, name := range e.Flags.Names() {
			dst = appendComma(dst, i)
			dst = append(dst, '"')
			dst = append(dst, name...)
			dst = append(dst, '"')
		}
		dst = append(dst, ']')
	}
	if len(e.Supersedes) > 0 {
		dst = append(dst, `,"supersedes":[`...)
		for i, n := range e.Supersedes {
			dst = strconv.AppendInt(appendComma(dst, i), n, 10)
		}
		dst = append(dst, ']')
	}
	switch e.Form {
	case Msg:
		return append(dst, `,"msg":`...)
	case Text:
		return append(dst, `,"text":`...)
	}
	return append(dst, `,"base64":`...)
}

func appendComma(dst []byte, i int) []byte {
	if i > 0 {
		dst = append(dst, ',')
	}
	return dst
}

func appendCuts(dst []byte, e *Entry) []byte {
	if len(e.Cuts) == 0 {
		return dst
	}
	dst = append(dst, `,"cuts":[`...)
	for i, c := range e.Cuts {
		dst = append(appendComma(dst, i), '[')
		dst = strconv.AppendInt(dst, c.At, 10)
		dst = append(dst, ',')
		dst = strconv.AppendInt(dst, c.T, 10)
		dst = append(dst, ']')
	}
	dst = append(dst, ']')
	if e.MoreCuts > 0 {
		dst = append(dst, `,"moreCuts":`...)
		dst = strconv.AppendInt(dst, e.MoreCuts, 10)
	}
	return dst
}

// noteJSON is a note as it stands in a capture, behind n and t.
type noteJSON struct {
	Note   string           `json:"note"`
	From   string           `json:"from,omitempty"`
	Signal string           `json:"signal,omitempty"`
	To     string           `json:"to,omitempty"`
	Code   *int             `json:"code,omitempty"`
	Error  string           `json:"error,omitempty"`
	Off    *int64           `json:"off,omitempty"`
	Since  int64            `json:"since,omitempty"`
	For    int64            `json:"for,omitempty"`
	By     int64            `json:"by,omitempty"`
	Wall   *time.Time       `json:"wall,omitempty"`
	Bytes  int64            `json:"bytes,omitempty"`
	Lost   map[string]int64 `json:"lost,omitempty"`
	Path   string           `json:"path,omitempty"`
	Data   []byte           `json:"data,omitempty"`
	Totals *Totals          `json:"totals,omitempty"`
}

func appendNote(dst []byte, e *Entry) []byte {
	dst = append(dst, ',')
	dst = append(dst, noteBytes(e)[1:]...)
	return append(dst, '\n')
}

// noteBytes is a note as a JSON object, without n and t.
func noteBytes(e *Entry) []byte {
	n := e.Note
	j := noteJSON{Note: n.Kind, From: e.From.String(), Signal: n.Signal, To: n.To, Code: n.Code, Error: n.Error,
		Since: n.Since, For: n.For, By: n.By, Bytes: n.Bytes, Lost: n.Lost, Path: n.Path, Data: n.Data, Totals: n.Totals}
	if e.Off != 0 {
		j.Off = &e.Off
	}
	if !n.Wall.IsZero() {
		j.Wall = &n.Wall
	}
	b, err := json.Marshal(&j)
	if err != nil { // a wall time past the year 9999
		j.Wall = nil
		b, _ = json.Marshal(&j)
	}
	return b
}
