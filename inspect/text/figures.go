package text

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// Duration writes a time span of ns nanoseconds in at most six cells up to a day, with three significant digits up to
// a minute: 812ns 950µs 1.23ms 45.6s 2m03s 1h02m 5d03h.
func Duration(ns int64) string {
	switch {
	case ns == math.MinInt64:
		return Duration(ns + 1)
	case ns < 0:
		return "-" + Duration(-ns)
	case ns < 1000:
		return strconv.FormatInt(ns, 10) + "ns"
	}
	d := time.Duration(ns)
	unit, name := time.Microsecond, "µs"
	if d >= 999500*time.Nanosecond { // which is 1.00ms when rounded, and so on
		unit, name = time.Millisecond, "ms"
	}
	if d >= 999500*time.Microsecond {
		unit, name = time.Second, "s"
	}
	if d < 59950*time.Millisecond {
		return three(d, unit) + name
	}
	if s := d.Round(time.Second) / time.Second; s < 3600 {
		return fmt.Sprintf("%dm%02ds", s/60, s%60)
	}
	if m := d.Round(time.Minute) / time.Minute; m < 24*60 {
		return fmt.Sprintf("%dh%02dm", m/60, m%60)
	}
	h := d.Round(time.Hour) / time.Hour
	return fmt.Sprintf("%dd%02dh", h/24, h%24)
}

// After writes how long something took: "after 1.23ms". What came with one read took no time that anybody could measure,
// and is there "at once".
func After(ns int64) string {
	if ns <= 0 {
		return "at once"
	}
	return "after " + Duration(ns)
}

// three writes d, less than 999.5 units, in units with three significant digits.
func three(d, unit time.Duration) string {
	hundredths := int64((d + unit/200) / (unit / 100))
	if hundredths < 1000 {
		return fmt.Sprintf("%d.%02d", hundredths/100, hundredths%100)
	}
	tenths := int64((d + unit/20) / (unit / 10))
	if tenths < 1000 {
		return fmt.Sprintf("%d.%d", tenths/10, tenths%10)
	}
	return strconv.FormatInt(int64((d+unit/2)/unit), 10)
}

// Since writes the moment t, in nanoseconds since the start of a capture: 0.000123 or 12.345678 (seconds), from an
// hour on 1:02:03.456. Digits behind the last are dropped, not rounded: nothing is shown later than it was.
func Since(t int64) string {
	sign := ""
	if t < 0 {
		sign = "-"
		t = -max(t, -math.MaxInt64)
	}
	s, frac := t/1e9, t%1e9
	if s < 3600 {
		return fmt.Sprintf("%s%d.%06d", sign, s, frac/1000)
	}
	return fmt.Sprintf("%s%d:%02d:%02d.%03d", sign, s/3600, s/60%60, s%60, frac/1e6)
}

// Size writes a number of bytes in at most five cells, in units of 1024: 812B 1.2K 64.0M 812M 2.0G.
func Size(bytes int64) string {
	if bytes < 0 {
		return "-" + Size(-max(bytes, -math.MaxInt64))
	}
	if bytes < 1024 {
		return strconv.FormatInt(bytes, 10) + "B"
	}
	v := float64(bytes) / 1024
	i := 0
	for v >= 1023.5 { // which is 1024 when rounded
		v /= 1024
		i++
	}
	digits := 1
	if v >= 99.95 {
		digits = 0
	}
	return strconv.FormatFloat(v, 'f', digits, 64) + "KMGTPE"[i:i+1]
}

// Plural writes how many there are of what takes an s: "1 record", "1,234 records".
func Plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return Count(int64(n)) + " " + what + "s"
}

// Count writes n with thousands separators: 1,234,567.
func Count(n int64) string {
	s := strconv.FormatInt(n, 10)
	first := 0
	if n < 0 {
		first = 1
	}
	for i := len(s) - 3; i > first; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Ago says in words how long ago something was: "just now" (less than a second), "3 minutes ago", "2 days ago". What
// lies ahead, as with a clock that was set back, is "in 3 minutes". Like a person's, the number is rounded down.
func Ago(d time.Duration) string {
	const day = 24 * time.Hour
	form := "%d %s%s ago"
	if d < 0 {
		form = "in %d %s%s"
		d = -max(d, -math.MaxInt64)
	}
	if d < time.Second {
		return "just now"
	}
	units := []struct {
		d    time.Duration
		name string
	}{{365 * day, "year"}, {30 * day, "month"}, {day, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}, {time.Second, "second"}}
	i := 0
	for d < units[i].d {
		i++
	}
	n, s := d/units[i].d, "s"
	if n == 1 {
		s = ""
	}
	return fmt.Sprintf(form, n, units[i].name, s)
}
