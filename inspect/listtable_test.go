package inspect

import (
	"strings"
	"testing"
	"time"

	"pitap/inspect/text"
)

// The columns that tell one capture from another stay on a narrow terminal, and no line is wider than it.
func TestListFits(t *testing.T) {
	l := &Listed{Name: "4f02609e", Condition: CondCut, Start: time.Now(), Duration: 5, Client: "node", Agent: "pi", Version: "1.6.0",
		Entries: 10_021, Size: 64 << 10, Findings: map[string]int{"hazard": 2}, Flagged: map[string]int64{"framing/u2028": 3, "framing/oversize": 1}, Folder: "~/src/a/long/way/down/to/the/project"}
	for _, test := range []struct {
		width int
		want  string
	}{
		{50, "name state start agent"},
		{80, "name state start agent entries size framing"},
		{100, "name state start duration agent entries size framing folder"},
		{140, "name state start duration agent client entries size framing folder"},
		{0, "name state start duration agent client entries size framing label folder"},
	} {
		var b strings.Builder
		if err := ListTable([]*Listed{l}, test.width, true, text.Palette{}).Flush(&b); err != nil {
			t.Fatal(err)
		}
		lines := strings.SplitAfter(b.String(), "\n")
		if got := strings.Join(strings.Fields(lines[0]), " "); got != test.want {
			t.Errorf("of %d cells: %s, want %s", test.width, got, test.want)
		}
		for _, line := range lines {
			if w := text.Width(strings.TrimSuffix(line, "\n")); test.width > 0 && w > test.width {
				t.Errorf("of %d cells, a line is %d wide: %q", test.width, w, line)
			}
		}
	}
	for _, test := range []struct{ cut, want string }{{lastCells("~/a/project", 11), "~/a/project"}, {lastCells("~/a/project", 8), "…project"}, {lastCells("項目", 3), "…目"}} {
		if test.cut != test.want {
			t.Errorf("cut to %q, want %q", test.cut, test.want)
		}
	}
}
