package text

import (
	"math"
	"os"
	"testing"
	"time"
)

const (
	us  = int64(time.Microsecond)
	ms  = int64(time.Millisecond)
	sec = int64(time.Second)
)

func TestFigures(t *testing.T) {
	check := func(name string, f func(int64) string, cases map[int64]string) {
		t.Helper()
		for in, want := range cases {
			if got := f(in); got != want {
				t.Errorf("%s(%d) = %q, want %q", name, in, got, want)
			}
		}
	}
	check("Duration", Duration, map[int64]string{
		0: "0ns", 7: "7ns", 812: "812ns", 999: "999ns", 1000: "1.00µs", 1234: "1.23µs", 9_994: "9.99µs", 9_995: "10.0µs",
		12_345: "12.3µs", 99_949: "99.9µs", 99_950: "100µs", 950 * us: "950µs", 999_499: "999µs", 999_500: "1.00ms",
		1_234_567: "1.23ms", 45_600 * us: "45.6ms", 999_499 * us: "999ms", 999_500 * us: "1.00s", 1_234 * ms: "1.23s",
		59_949 * ms: "59.9s", 59_950 * ms: "1m00s", 123 * sec: "2m03s", 3599*sec + 499*ms: "59m59s", 3599*sec + 500*ms: "1h00m",
		3720 * sec: "1h02m", 86_369 * sec: "23h59m", 86_370 * sec: "1d00h", 125 * 3600 * sec: "5d05h",
		-1_234_567: "-1.23ms", math.MaxInt64: "106751d23h", math.MinInt64: "-106751d23h",
	})
	check("Since", Since, map[int64]string{
		0: "0.000000", 123_456: "0.000123", 999: "0.000000", 12_345_678_999: "12.345678", 3600*sec - 1: "3599.999999",
		3600 * sec: "1:00:00.000", 3723*sec + 456*ms: "1:02:03.456", 100 * 3600 * sec: "100:00:00.000",
		-1_500 * us: "-0.001500", math.MinInt64: "-2562047:47:16.854",
	})
	check("Size", Size, map[int64]string{
		0: "0B", 812: "812B", 1023: "1023B", 1024: "1.0K", 1229: "1.2K", 64 << 20: "64.0M", 812 << 20: "812M",
		1<<20 - 1: "1.0M", 1023 << 10: "1023K", 102_348: "99.9K", 102_400: "100K", 2 << 30: "2.0G", math.MaxInt64: "8.0E",
		-2048: "-2.0K", math.MinInt64: "-8.0E",
	})
	check("Count", Count, map[int64]string{
		0: "0", 999: "999", 1000: "1,000", 1_234_567: "1,234,567", -999: "-999", -1000: "-1,000",
		math.MinInt64: "-9,223,372,036,854,775,808",
	})
	check("Ago", func(n int64) string { return Ago(time.Duration(n)) }, map[int64]string{
		0: "just now", 999 * ms: "just now", sec: "1 second ago", 59_999 * ms: "59 seconds ago", 60 * sec: "1 minute ago",
		200 * sec: "3 minutes ago", 3600 * sec: "1 hour ago", 47 * 3600 * sec: "1 day ago", 50 * 3600 * sec: "2 days ago",
		31 * 86_400 * sec: "1 month ago", 800 * 86_400 * sec: "2 years ago", -200 * sec: "in 3 minutes", -1: "just now",
		math.MinInt64: "in 292 years",
	})
}

// Figures stay within the cells that their documentation names, so columns of them line up.
func TestFiguresAreShort(t *testing.T) {
	for n := int64(1); n < 24*3600*sec; n += 1 + n/997 {
		if d := Duration(n); Width(d) > 6 {
			t.Fatalf("Duration(%d) = %q", n, d)
		}
	}
	for n := int64(1); n < math.MaxInt64/2; n += 1 + n/997 {
		if s := Size(n); Width(s) > 5 {
			t.Fatalf("Size(%d) = %q", n, s)
		}
	}
}

func TestPalette(t *testing.T) {
	on, off := Palette{Enabled: true}, Palette{}
	for _, c := range []struct{ got, want string }{
		{off.Red("x"), "x"}, {off.Bold(""), ""}, {on.Red(""), ""},
		{on.Red("x"), "\x1b[31mx\x1b[39m"},
		{on.Red("a" + on.Bold("b") + "c"), "\x1b[31ma\x1b[1mb\x1b[22mc\x1b[39m"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
	seen := map[string]bool{}
	for _, f := range []func(string) string{on.Bold, on.Dim, on.Reverse, on.Red, on.Green, on.Yellow, on.Blue, on.Magenta, on.Cyan} {
		if s := f("x"); seen[s] || s == "x" {
			t.Errorf("%q is not a style of its own", s)
		} else {
			seen[s] = true
		}
	}
}

func TestNoTerminal(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	defer w.Close()
	for _, f := range []*os.File{nil, r, w} {
		if IsTerminal(f) || TerminalWidth(f) != 0 {
			t.Errorf("%v is taken for a terminal", f)
		}
	}
}
