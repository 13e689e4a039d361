package replay

import (
	"net/url"
	"slices"
	"strings"
)

// Folders are where a session runs. Recorded paths in them are equal to live ones.
type Folders struct {
	Cwd, Home, Tmp string // absolute; "" for unknown
}

// Pair says that a recorded text is equal to a live one.
type Pair struct{ Old, New string }

// paths compares strings with paths in them.
type paths struct {
	recorded, live Folders
	sets           [][]rename // tried one after another
}

// rename puts a mark in the place of any of texts, which begin a path (or stand anywhere).
type rename struct {
	text     string
	mark     string
	live     bool // found in live strings only
	anywhere bool
}

func newPaths(recorded, live Folders, pairs []Pair) *paths {
	p := &paths{recorded: recorded, live: live}
	kinds := [][2]string{{recorded.Cwd, live.Cwd}, {recorded.Home, live.Home}, {recorded.Tmp, live.Tmp}}
	var all, mapped []rename
	var alone [][]rename
	for i, pair := range pairs {
		mark := "\x00m" + string(rune('0'+i))
		anywhere := !strings.HasPrefix(pair.Old, "/") && !strings.Contains(pair.Old, `\`)
		mapped = append(mapped, rename{pair.Old, mark, false, anywhere}, rename{pair.New, mark, true, anywhere})
	}
	for i, k := range kinds {
		old, now := strings.TrimRight(k[0], `/\`), strings.TrimRight(k[1], `/\`)
		if old == "" || now == "" {
			continue
		}
		mark := "\x00" + string("cht"[i])
		var own []rename
		for _, form := range []func(string) string{func(s string) string { return s }, escaped} {
			own = append(own, rename{form(old), mark, false, false}, rename{form(now), mark, true, false})
		}
		all = append(all, own...)
		alone = append(alone, append(slices.Clone(mapped), own...))
	}
	p.sets = [][]rename{append(slices.Clone(mapped), all...)}
	if len(alone) > 1 {
		p.sets = append(p.sets, alone...)
	}
	for _, set := range p.sets {
		slices.SortStableFunc(set, func(a, b rename) int { return len(b.text) - len(a.text) })
	}
	return p
}

// escaped is a path as it stands in a URL.
func escaped(path string) string { return (&url.URL{Path: path}).EscapedPath() }

// equal tells whether a recorded string and a live one are the same but for folders.
func (p *paths) equal(recorded, live string) bool {
	if recorded == live {
		return true
	}
	for _, set := range p.sets {
		if len(set) > 0 && replace(recorded, set, false) == replace(live, set, true) {
			return true
		}
	}
	return false
}

// replace puts marks for paths. In a live string both the recorded and the live form count.
func replace(s string, set []rename, live bool) string {
	var b strings.Builder
	from := 0
next:
	for i := 0; i < len(s); i++ {
		for _, r := range set {
			if r.live && !live || r.text == "" || !strings.HasPrefix(s[i:], r.text) {
				continue
			}
			if !r.anywhere && !(begins(s[:i]) && ends(s[i+len(r.text):])) {
				continue
			}
			b.WriteString(s[from:i])
			b.WriteString(r.mark)
			i += len(r.text)
			from = i
			i--
			continue next
		}
	}
	b.WriteString(s[from:])
	return b.String()
}

// begins tells whether a path can begin behind what stands before it.
func begins(before string) bool {
	if before == "" || strings.HasSuffix(before, "file://") {
		return true
	}
	c := before[len(before)-1]
	return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80 || strings.IndexByte("_-./~\\%", c) >= 0)
}

// ends tells whether a name in a path can end before what stands behind it.
func ends(behind string) bool {
	if behind == "" || behind[0] == '/' || behind[0] == '\\' {
		return true
	}
	c := behind[0]
	if c == '.' && (len(behind) == 1 || behind[1] == ' ' || behind[1] == '\n') {
		return true // the end of a sentence
	}
	return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80 || strings.IndexByte("_-.~%", c) >= 0)
}

// SessionDir is the folder for sessions that pi's arguments name, as a whole path; "" when they name none.
func SessionDir(argv []string) string {
	for i, a := range argv {
		if a == "--" {
			break
		}
		if a == "--session-dir" && i+1 < len(argv) && (strings.HasPrefix(argv[i+1], "/") || len(argv[i+1]) > 2 && argv[i+1][1] == ':') {
			return strings.TrimRight(argv[i+1], `/\`)
		}
	}
	return ""
}

// SameText tells whether a recorded text, such as an argument of the agent, is equal to a live one but for folders.
func SameText(recorded, live string, there, here Folders) bool {
	return newPaths(there, here, nil).equal(recorded, live)
}

// Rewrite puts New for Old in a text, wherever Old begins a path (or stands at all, if it is no path). Of pairs that fit
// at one place the longest counts.
func Rewrite(text string, pairs []Pair) string {
	set := make([]rename, 0, 2*len(pairs))
	for _, p := range pairs {
		if p.Old == "" || !strings.Contains(text, p.Old) && !strings.Contains(text, escaped(p.Old)) {
			continue
		}
		anywhere := !strings.HasPrefix(p.Old, "/") && !strings.Contains(p.Old, `\`)
		set = append(set, rename{text: p.Old, mark: p.New, anywhere: anywhere})
		if e := escaped(p.Old); e != p.Old {
			set = append(set, rename{text: e, mark: escaped(p.New), anywhere: anywhere})
		}
	}
	if len(set) == 0 {
		return text
	}
	slices.SortStableFunc(set, func(a, b rename) int { return len(b.text) - len(a.text) })
	return replace(text, set, false)
}
