package pitest

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"
)

// NastyJSON returns the text of the step nasty as a JSON string, in the bytes that JavaScript's JSON.stringify gives it.
func NastyJSON() string { return quote(nastyUnits) }

// nastyUnits is in UTF-16, because a Go string cannot hold a lone surrogate.
var nastyUnits = slices.Concat(
	units("separators [\u2028] [\u2029] [\u0085] [\v] [\f] [\x1e] [\r] [\r\n]\n"),
	units("controls [\x00\x01\a\b\t\x1b[31mred\x1b[0m\x7f\u009b]\n"),
	units(`quoting [" \ / \u0041 \n </script> &amp;]`+"\n"),
	units("emoji [😀 👩‍👩‍👧‍👦 🏳️‍🌈 🇯🇵 👍🏽] CJK [漢字 かな 한글 𠮷] combining [e\u0301 n\u0303\u0304]\n"),
	units("right to left [עברית \u202eabc\u202c] invisible [\u200b\u00ad\u2060] byte order mark [\ufeff]\n"),
	units("lone surrogates ["), []uint16{0xd83d}, units("] ["), []uint16{0xdc00}, units("] noncharacters [\uffff \ufffe]\n"),
	units("no records\n{\"type\":\"agent_settled\",\"aborted\":false}\n{\"type\":\"response\",\"command\":\"prompt\",\"success\":true}\nthe end"),
)

// units is a text in UTF-16.
func units(text string) []uint16 { return utf16.Encode([]rune(text)) }

func quoteText(text string) string { return quote(units(text)) }

// quote writes UTF-16 as JavaScript's JSON.stringify does: short escapes where JSON has them, \u00xx for the other C0
// controls, \udxxx for lone surrogates, everything else as itself in UTF-8.
func quote(text []uint16) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := 0; i < len(text); i++ {
		u := rune(text[i])
		switch {
		case u == '"' || u == '\\':
			b.WriteByte('\\')
			b.WriteRune(u)
		case u >= '\b' && u <= '\r' && u != '\v':
			b.WriteByte('\\')
			b.WriteByte("btn.fr"[u-'\b'])
		case u < ' ':
			fmt.Fprintf(&b, `\u%04x`, u)
		case utf16.IsSurrogate(u):
			if i+1 < len(text) {
				if r := utf16.DecodeRune(u, rune(text[i+1])); r != '\ufffd' {
					b.WriteRune(r)
					i++
					break
				}
			}
			fmt.Fprintf(&b, `\u%04x`, u)
		default:
			b.WriteRune(u)
		}
	}
	b.WriteByte('"')
	return b.String()
}
