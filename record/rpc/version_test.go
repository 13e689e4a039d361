package rpc

import "testing"

func mustVersion(t testing.TB, text string) Version {
	t.Helper()
	if text == "" {
		return Version{}
	}
	v, ok := ParseVersion(text)
	if !ok {
		t.Fatalf("%q is no version", text)
	}
	return v
}

func TestParseVersion(t *testing.T) {
	for text, want := range map[string]string{
		"1.6.0":         "1.6.0",
		"0.67.68":       "0.67.68",
		"v0.84.4":       "0.84.4",
		"1.7.0-rc.1":    "1.7.0",
		"1.7.0+build-5": "1.7.0",
		"65535.0.1":     "65535.0.1",
	} {
		if v, ok := ParseVersion(text); !ok || v.String() != want {
			t.Errorf("ParseVersion(%q) = %q, %v", text, v, ok)
		}
	}
	for _, text := range []string{"", "1", "1.6", "1.6.0.1", "1..0", "a.b.c", "1.6.-1", "65536.0.0", "+1.2.3", "1.6.0 "} {
		if v, ok := ParseVersion(text); ok || !v.IsZero() {
			t.Errorf("ParseVersion(%q) = %q, %v, want no version", text, v, ok)
		}
	}
}

func TestVersionOrder(t *testing.T) {
	ordered := []string{"", "0.9.10", "0.10.0", "0.84.3", "0.84.4", "1.0.0", "1.0.10", "1.1.0", "2.0.0"}
	for i, a := range ordered {
		for j, b := range ordered {
			want := min(max(i-j, -1), 1)
			if got := mustVersion(t, a).Compare(mustVersion(t, b)); got != want {
				t.Errorf("%q.Compare(%q) = %d, want %d", a, b, got, want)
			}
		}
	}
}

func TestSpanAt(t *testing.T) {
	p := &parser{v: &Vocabulary{}}
	for _, text := range []string{"0.40.0", "0.50.0", "0.60.0", "0.70.0"} {
		p.v.Tested = append(p.v.Tested, mustVersion(t, text))
	}
	for _, test := range []struct {
		span, at string
		want     Presence
	}{
		{"-", "", Present},
		{"-", "0.1.0", Present},
		{"-", "9.0.0", Present},
		{"0.50.0-", "", Maybe},
		{"0.50.0-", "0.40.0", Later},
		{"0.50.0-", "0.30.0", Later},
		{"0.50.0-", "0.45.0", Maybe}, // somewhere in between it came
		{"0.50.0-", "0.50.0", Present},
		{"0.50.0-", "9.0.0", Present},
		{"0.45.0-", "0.44.9", Later}, // not tested, so told by the changelog: exact
		{"0.45.0-", "0.45.0", Present},
		{"-0.50.0", "0.50.0", Present},
		{"-0.50.0", "0.55.0", Maybe},
		{"-0.50.0", "0.60.0", Earlier},
		{"-0.50.0", "9.0.0", Earlier},
		{"-0.50.0", "", Maybe},
		{"0.50.0-0.60.0", "0.40.0", Later},
		{"0.50.0-0.60.0", "0.55.0", Present},
		{"0.50.0-0.60.0", "0.65.0", Maybe},
		{"0.50.0-0.60.0", "0.70.0", Earlier},
	} {
		if got := p.span(test.span).At(mustVersion(t, test.at)); got != test.want {
			t.Errorf("span %s at %q: %v, want %v", test.span, test.at, got, test.want)
		}
	}
}

func TestSpanString(t *testing.T) {
	voc := Load()
	for _, test := range []struct {
		span Span
		want string
	}{
		{voc.Command("prompt").Span, ""},
		{voc.Command("clear_queue").Span, "since 0.84.4"},
		{voc.Command("branch").Span, "until 0.42.5"},
		{voc.Behaviour("abort-delivers-queue").Span, "0.78.0 to 0.85.1"},
	} {
		if got := test.span.String(); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}
