package session

import (
	"bytes"
	"strconv"
	"strings"

	"pitap/record/scan"
)

// changed tells whether an id says something else than the one that came back for it: a number that was rounded, text
// that was not UTF-8. That it is written otherwise (1.50e2 and 150) does not matter to who reads JSON.
func changed(sent, got []byte) bool {
	sent, got = bytes.TrimSpace(sent), bytes.TrimSpace(got)
	switch {
	case len(sent) >= maxKept || len(got) >= maxKept || len(sent) == 0 || len(got) == 0:
		return false
	case sent[0] == '-' || sent[0] >= '0' && sent[0] <= '9':
		return decimal(string(sent)) != decimal(string(got))
	case sent[0] == '"':
		return scan.Scan(sent).Marks&scan.NotUTF8 != 0
	}
	return false
}

// decimal writes a JSON number so that equal numbers are written alike: its digits, and the power of ten of the last.
func decimal(number string) string {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(number), "e")
	exp, err := strconv.ParseInt(exponent, 10, 32)
	if err != nil && exponent != "" {
		return number
	}
	sign := ""
	if strings.HasPrefix(mantissa, "-") {
		sign, mantissa = "-", mantissa[1:]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	exp -= int64(len(fraction))
	digits := strings.TrimLeft(whole+fraction, "0")
	if trimmed := strings.TrimRight(digits, "0"); trimmed != "" {
		return sign + trimmed + "e" + strconv.FormatInt(exp+int64(len(digits)-len(trimmed)), 10)
	}
	return "0"
}

func containsAny(s string, parts ...string) bool {
	for _, p := range parts {
		if strings.Contains(s, p) {
			return true
		}
	}
	return false
}
