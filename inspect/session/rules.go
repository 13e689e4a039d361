package session

import (
	"slices"

	"pitap/record"
)

// rule is a rule of the protocol, with the hint that its findings carry.
type rule struct {
	record.Rule
	hint     string
	versions string // of pi for which it applies; "" for all
	example  string
}

var rules = slices.Concat(pairRules, orderRules, endRules)

// ruleIndex finds rules by id.
var ruleIndex = func() map[string]*rule {
	m := map[string]*rule{}
	for i := range rules {
		m[rules[i].ID] = &rules[i]
	}
	return m
}()

func ruleOf(id string) *rule {
	if r := ruleIndex[id]; r != nil {
		return r
	}
	panic("no rule " + id) // a misspelt id in this package
}

// Rules gives all rules: those of framing, then those of the protocol.
func Rules() []record.Rule {
	all := slices.Clone(record.FramingRules)
	for _, r := range rules {
		all = append(all, r.Rule)
	}
	return all
}

// Doc is all that there is to say about a rule.
type Doc struct {
	record.Rule
	Hints    []string // what to do about it; two when that differs for records of client and agent
	Versions string   // of pi for which it applies; "" for all
	Example  string   // "" when Explain has one
}

// Docs gives all rules with what is known of them, in the order of Rules.
func Docs() []Doc {
	var all []Doc
	for i := range record.FramingRules {
		r := &record.FramingRules[i]
		client, agent := r.Hints()
		all = append(all, Doc{Rule: *r, Hints: slices.Compact([]string{"from the client: " + client, "from the agent: " + agent})})
	}
	for _, r := range rules {
		all = append(all, Doc{Rule: r.Rule, Hints: []string{r.hint}, Versions: r.versions, Example: r.example})
	}
	return all
}
