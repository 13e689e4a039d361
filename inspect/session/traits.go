package session

import "pitap/record/rpc"

// traits are what versions of pi do differently, as far as it matters here.
type traits struct {
	settles       bool // agent_settled ends a run (0.80.4-)
	strictLF      bool // input is split on LF only (0.57.0-)
	answersAtOnce bool // prompt is answered before it is clear whether it works (-0.67.2)
	parseIsAny    bool // any exception of a command is answered as parse, without id (-0.64.0)
	sendResponses bool // failed sends of extensions come as responses (-0.49.3)
	ordered       bool // events come in their order, within a message and a tool (0.55.4-)
	nested        bool // and runs, turns and messages are whole (0.83.0-)
	customInside  bool // a custom message may lie inside an open one (0.84.2-0.84.3)
	dropsLate     bool // updates of a tool that has ended are dropped (0.79.2-)
	pending       bool // an open message has stopReason pending, no ended one has (0.83.0-)
	bashUpdates   bool // bash_execution_update carries the output of bash (0.82.0-)
	orderlyEnd    bool // at the end of input pi exits by itself (0.62.0-)
}

func traitsOf(voc *rpc.Vocabulary, v rpc.Version) traits {
	has := func(id string) bool { return voc.Behaves(id, v) }
	return traits{
		settles:       voc.Event("agent_settled").At(v) <= rpc.Maybe,
		strictLF:      has("strict-lf"),
		answersAtOnce: has("prompt-answers-at-once"),
		parseIsAny:    has("exception-is-parse-error"),
		sendResponses: has("extension-send-responses"),
		ordered:       !has("events-reordered"),
		nested:        has("replacement-ends-run") && !has("replacement-cuts-run"),
		customInside:  has("custom-inside-message"),
		dropsLate:     has("late-tool-updates-dropped"),
		pending:       has("pending"),
		bashUpdates:   has("bash-updates"),
		orderlyEnd:    has("eof-shuts-down"),
	}
}
