package inspect

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"pitap/record"
)

// Policy says which captures are old. The zero value names none.
type Policy struct {
	OlderThan time.Duration // those that began longer ago; 0: age does not count
	MaxSize   int64         // the oldest, until the others have at most so many bytes; 0: no limit
	Keep      int           // never the newest so many; if nothing else is set, all the others
	KeepSet   bool          // Keep counts; so it may be 0
}

// Prunable looks at the files that record.List found in a folder, newest first, and gives those that are captures of
// pitap's. Others, such as a file of somebody's that only looks like one, are nobody's to remove.
func Prunable(found []record.Found) []*Listed {
	var captures []*Listed
	List(found, func(l *Listed) error {
		named := ours.MatchString(filepath.Base(l.Path))
		switch l.Condition {
		case CondWhole, CondLive, CondCut, CondNewer, CondDamaged:
			captures = append(captures, l)
		case CondEmpty:
			if named { // the recorder was killed before it had written anything
				captures = append(captures, l)
			}
		}
		return nil
	})
	return captures
}

// Choose gives the captures that are to go, oldest first. Live ones never go, but count for Keep and MaxSize.
func (p Policy) Choose(captures []*Listed, now time.Time) []*Listed {
	var gone []*Listed
	var total int64
	for _, l := range captures {
		total += l.Size
	}
	for i, l := range slices.Backward(captures) {
		if p.KeepSet && i < p.Keep || l.Condition == CondLive {
			continue
		}
		old := p.OlderThan > 0 && now.Sub(l.Start) > p.OlderThan
		big := p.MaxSize > 0 && total > p.MaxSize
		count := p.KeepSet && p.OlderThan == 0 && p.MaxSize == 0
		if old || big || count {
			gone = append(gone, l)
			total -= l.Size
		}
	}
	return gone
}

// unsureFor is how long a capture without an end is taken for live where locks tell nothing: its recorder may run on
// another machine.
const unsureFor = 24 * time.Hour

// Remove removes a capture, unless it has become live, or is not the file that was looked at.
func Remove(l *Listed, now time.Time) error {
	info, err := os.Lstat(l.Path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s: not a file any more; it stays", l.Path)
	}
	if err := removable(l, info, now); err != nil {
		return err
	}
	return os.Remove(l.Path)
}

func removable(l *Listed, info os.FileInfo, now time.Time) error {
	f, err := os.Open(l.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	open, err := f.Stat()
	if err != nil {
		return err
	}
	locked, known := record.Locked(f)
	switch {
	case !os.SameFile(info, open) || open.Size() != l.Size:
		return fmt.Errorf("%s: changed meanwhile; it stays", l.Path)
	case locked:
		return fmt.Errorf("%s: it is being recorded; it stays", l.Path)
	case !known && l.Condition != CondWhole && now.Sub(open.ModTime()) < unsureFor:
		return fmt.Errorf("%s: it may be being recorded, locks do not work here; it stays for a day", l.Path)
	}
	return nil
}

// ParseAge reads "30d", "2w", "12h" and what time.ParseDuration takes.
func ParseAge(s string) (time.Duration, error) {
	for suffix, unit := range map[string]time.Duration{"d": 24 * time.Hour, "w": 7 * 24 * time.Hour} {
		if number, ok := strings.CutSuffix(s, suffix); ok {
			if n, err := strconv.ParseFloat(number, 64); err == nil && n > 0 && n < 1e5 {
				return time.Duration(n * float64(unit)), nil
			}
		}
	}
	if d, err := time.ParseDuration(s); err == nil && d > 0 {
		return d, nil
	}
	return 0, fmt.Errorf("%q is no age; 30d, 2w and 12h are", s)
}

// ParseSize reads "2G", "500M", "1.5GiB" and numbers of bytes; the units are those of 1024.
func ParseSize(s string) (int64, error) {
	number := strings.TrimSuffix(strings.TrimSuffix(strings.ToUpper(s), "B"), "I")
	unit := 1.0
	if i := strings.IndexAny(number, "KMGT"); i > 0 && i == len(number)-1 {
		for range strings.IndexByte("KMGT", number[i]) + 1 {
			unit *= 1024
		}
		number = number[:i]
	}
	n, err := strconv.ParseFloat(number, 64)
	if err != nil || !(n > 0 && n*unit <= 1<<60) {
		return 0, fmt.Errorf("%q is no size; 2G, 500M and 1000000 are", s)
	}
	return int64(n * unit), nil
}
