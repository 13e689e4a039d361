package rpc

import (
	"cmp"
	"strconv"
	"strings"
)

// Version is a version of pi. The zero Version is unknown. Versions are comparable with ==.
type Version struct {
	Major, Minor, Patch uint16
}

// ParseVersion reads "1.6.0"; a leading "v" and what follows the third number after "-" or "+" are dropped, so that a
// pre-release counts as its release. ok is false for anything else.
func ParseVersion(text string) (v Version, ok bool) {
	text = strings.TrimPrefix(text, "v")
	if end := strings.IndexAny(text, "-+"); end >= 0 {
		text = text[:end]
	}
	for i, part := range []*uint16{&v.Major, &v.Minor, &v.Patch} {
		number, rest, more := strings.Cut(text, ".")
		n, err := strconv.ParseUint(number, 10, 16)
		if err != nil || more != (i < 2) {
			return Version{}, false
		}
		*part, text = uint16(n), rest
	}
	return v, true
}

// String returns "1.6.0", or "" for the unknown version.
func (v Version) String() string {
	if v.IsZero() {
		return ""
	}
	text := strconv.AppendUint(nil, uint64(v.Major), 10)
	text = strconv.AppendUint(append(text, '.'), uint64(v.Minor), 10)
	return string(strconv.AppendUint(append(text, '.'), uint64(v.Patch), 10))
}

// IsZero reports whether the version is unknown.
func (v Version) IsZero() bool { return v == Version{} }

// Compare returns -1, 0 or 1 as v is older than, equal to or newer than o.
func (v Version) Compare(o Version) int {
	return cmp.Compare(v.number(), o.number())
}

// Before reports whether v is older than o.
func (v Version) Before(o Version) bool { return v.number() < o.number() }

func (v Version) number() uint64 {
	return uint64(v.Major)<<32 | uint64(v.Minor)<<16 | uint64(v.Patch)
}

// Presence says whether a version has a word, a field or a value.
type Presence uint8

const (
	Present Presence = iota // it has it
	Maybe                   // nobody looked at that version, or the version is unknown
	Later                   // only newer versions have it
	Earlier                 // only older versions have it
	Never                   // no version that the vocabulary knows has it
)

var presenceNames = [...]string{"present", "maybe", "later", "earlier", "never"}

// String returns a name such as "later".
func (p Presence) String() string { return presenceNames[int(p)%len(presenceNames)] }

// Span is the versions of pi that have something. The zero Span is all of them.
type Span struct {
	Since Version // the first that has it; zero: the oldest tested version or an earlier one
	Until Version // the last tested version that has it; zero: it has not been taken away

	lacksBefore Version // Since was found by trying versions: the newest tested one without it
	lacksAfter  Version // the oldest tested version after Until
}

// At says whether version v has it. Between two neighbouring tested versions, of which one has it, it is Maybe.
func (s Span) At(v Version) Presence {
	switch {
	case s.Since.IsZero() && s.Until.IsZero():
		return Present
	case v.IsZero():
		return Maybe
	case v.Before(s.Since):
		if !s.lacksBefore.IsZero() && s.lacksBefore.Before(v) {
			return Maybe
		}
		return Later
	case !s.Until.IsZero() && s.Until.Before(v):
		if v.Before(s.lacksAfter) {
			return Maybe
		}
		return Earlier
	}
	return Present
}

// String returns "", "since 0.84.4", "until 0.83.0" or "0.78.0 to 0.85.1".
func (s Span) String() string {
	switch {
	case s.Since.IsZero() && s.Until.IsZero():
		return ""
	case s.Until.IsZero():
		return "since " + s.Since.String()
	case s.Since.IsZero():
		return "until " + s.Until.String()
	}
	return s.Since.String() + " to " + s.Until.String()
}
