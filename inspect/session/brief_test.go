package session

import (
	"strings"
	"testing"
)

// What a screen says of a session that stands still: who waits for whom, without what crossed last.
func TestBrief(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"nothing yet", "", "Nothing was said yet"},
		{"a prompt that was accepted and begins nothing", ready + prompt("p", "hi") + started("p"), `The prompt "p" (entry 3) was accepted, and its run has not begun, for 20.0s. No agent_start has come.`},
		{"a prompt that is swallowed", ready + prompt("p", "hi"), `The prompt "p" (entry 3) has no response, for 20.0s. The agent has neither accepted nor refused it.`},
		{"idle", ready, "Nothing is open: the agent waits for the client's next command."},
	} {
		s, _ := read(t, fixture(t, test.text))
		brief := s.Brief(20_000_000_000)
		if !strings.HasPrefix(brief, test.want) || strings.Contains(brief, "last sent") {
			t.Errorf("%s: %q, want %q", test.name, brief, test.want)
		}
		if why := s.Why(20_000_000_000); !strings.HasPrefix(why, strings.TrimSpace(brief)) {
			t.Errorf("%s: why says %q, and in short %q", test.name, why, brief)
		}
		s.End(true)
		if brief := s.Brief(0); !strings.HasPrefix(brief, "The recording was cut, before the agent's exit.") {
			t.Errorf("%s, cut: %q", test.name, brief)
		}
	}
	s := ended(t, ready+prompt("p", "hi")+started("p")+at(20, exits))
	if brief := s.Brief(0); !strings.Contains(brief, `Open was then: the prompt "p" (entry 3) had been accepted, and its run had not begun, for 20.0s.`) {
		t.Errorf("at the end: %q", brief)
	}
}
