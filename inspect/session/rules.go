package session

import "pitap/record"

// rule is a rule with the hint that its findings carry.
type rule struct {
	record.Rule
	hint string
}

// Rules gives all rules: those of framing, then those of the protocol.
func Rules() []record.Rule {
	all := append([]record.Rule(nil), record.FramingRules...)
	for _, r := range rules {
		all = append(all, r.Rule)
	}
	return all
}

func ruleOf(id string) *rule {
	for i := range rules {
		if rules[i].ID == id {
			return &rules[i]
		}
	}
	panic("no rule " + id) // a misspelt id in this package
}

var rules = []rule{
	{record.Rule{ID: "pair/unanswered", Severity: record.SevError, Title: "a command without response",
		Explain: "pi answers every command that is a JSON object with exactly one response, most of them at once. This command got none for two seconds or more, although pi still could have answered. Look at what the agent did after the command: an exception in an extension shows on stderr or as extension_error. Commands that answer late by nature (prompt, bash, compact, abort) are never reported here: `pitap why` tells what they wait for."},
		"look at stderr and extension_error behind the command; give commands of yours a time limit"},
	{record.Rule{ID: "pair/twice", Severity: record.SevError, Title: "a command that was answered twice",
		Explain: "Two responses carry the id of one command. A client that resolves a promise by id ignores the second one or, worse, takes it for the answer to something else. pi up to 0.67.2 did this when a prompt that it had accepted failed later; that case is not reported."},
		"match each response once and ignore the rest"},
	{record.Rule{ID: "pair/stray", Severity: record.SevError, Title: "a response without a command",
		Explain: "A response came whose id no command had, or without id where no such command was open. Something between client and agent changed an id or dropped a command, or another process writes to the agent's stdin."},
		"see whether something between client and agent changes records"},
	{record.Rule{ID: "pair/id-missing", Severity: record.SevHazard, Title: "a response that lacks the command's id",
		Explain: "The command had an id and the response has none, so that the pair is a guess by its type. pi up to 0.79.6 answers unknown commands like that. A client that waits for the id waits for ever."},
		"let the client time out, or use a pi of 0.79.7 or later"},
	{record.Rule{ID: "pair/id-changed", Severity: record.SevHazard, Title: "an id that comes back in another form",
		Explain: "pi reads an id as JavaScript does and writes it back: 12345678901234567890 becomes 12345678901234567000, 1.50e2 becomes 150, 1e400 becomes null. A client that compares ids as text or as 64-bit numbers does not find its command again. Use strings as ids."},
		"use strings as ids"},
	{record.Rule{ID: "pair/id-reused", Severity: record.SevHazard, Title: "one id for two open commands",
		Explain: "A command has the id of another one that is not answered yet. pi accepts that and answers both, in whatever order they are done: which response belongs to which command can only be told by type, or not at all."},
		"count ids up"},
	{record.Rule{ID: "pair/wrong-command", Severity: record.SevError, Title: "a response that names another command",
		Explain: "The response has the id of one command and names another in its member command."},
		"see whether something between client and agent changes ids"},
	{record.Rule{ID: "pair/early", Severity: record.SevNote, Title: "a command sent before the agent was ready",
		Explain: "pi takes a second or so to start. What a client sends meanwhile waits in the pipe, which is fine, but the time until its response says nothing of the command."},
		"measure from the second command on"},
	{record.Rule{ID: "command/unknown", Severity: record.SevError, Title: "a command that this pi does not know",
		Explain: "pi answered that it does not know the command. The vocabulary says since when, or until when, there was such a command, if there ever was."},
		"compare the client with the version of pi"},
	{record.Rule{ID: "field/missing", Severity: record.SevHazard, Title: "a command without a member that it needs",
		Explain: "pi checks no arguments: a command without a member that it needs is answered with a TypeError, or does something that nobody meant."},
		"send the member"},
	{record.Rule{ID: "field/type", Severity: record.SevHazard, Title: "a member of the wrong type",
		Explain: "pi checks no arguments: a member of the wrong type is answered with a TypeError, or stored as it is (set_steering_mode 5 shows up in get_state)."},
		"send the type that the protocol has"},
	{record.Rule{ID: "field/value", Severity: record.SevHazard, Title: "a value that the protocol does not have",
		Explain: "The member takes one of a few values, and this is none of them. pi may store it, ignore it, or take it for another one (an unknown streamingBehavior counts as steer)."},
		"send one of the values that the protocol has"},
	{record.Rule{ID: "field/unknown", Severity: record.SevNote, Title: "something that this version of pi does not have",
		Explain: "A record, a member or a value is not in the vocabulary of the version of pi that was recorded. From the agent it means that pi is newer than pitap. From the client it means that the client was written for another version, and pi ignores it."},
		"see whether client and pi are of the versions that you meant"},
	{record.Rule{ID: "run/prompt-while-busy", Severity: record.SevHazard, Title: "a prompt during a run, without streamingBehavior",
		Explain: "While a run goes on pi refuses a prompt that does not say what is to become of it. Send streamingBehavior \"steer\" (for the next turn) or \"followUp\" (when the run would end), or the commands steer and follow_up, or wait for agent_settled. agent_end is not enough: a retry or a queued message may follow it."},
		"send streamingBehavior, or wait for agent_settled"},
	{record.Rule{ID: "run/prompt-lost", Severity: record.SevError, Title: "a prompt that was accepted and never ran",
		Explain: "Prompts that are written one behind the other, before the first one's agent_start, are all accepted, and only the first one runs. Each of the others gives a lone agent_settled. A known race of pi. Wait for agent_start (or for agent_settled) before the next prompt, or send it as follow_up."},
		"wait for agent_start before the next prompt, or send it as follow_up"},
	{record.Rule{ID: "run/handled", Severity: record.SevNote, Title: "a prompt that starts no run",
		Explain: "pi answered the prompt with disposition handled: an extension's command or input handler took it, and no run follows. A client that waits for agent_end or agent_settled after each prompt waits for ever. The session went on for seconds without another command: perhaps the client waits."},
		"do not wait for a run when disposition is handled"},
	{record.Rule{ID: "dialog/unanswered", Severity: record.SevHazard, Title: "a dialog without answer",
		Explain: "An extension asked the client something (select, confirm, input or editor) and there was no answer, and no time limit: the extension waits for ever, and with it perhaps a tool or a prompt. A client that can't show dialogs must answer each with {\"type\":\"extension_ui_response\",\"id\":...,\"cancelled\":true}."},
		"answer every dialog, with cancelled if need be"},
	{record.Rule{ID: "dialog/twice", Severity: record.SevHazard, Title: "a dialog that was answered twice",
		Explain: "pi takes the first answer and ignores the others without a word."},
		"answer each dialog once"},
	{record.Rule{ID: "dialog/wrong-id", Severity: record.SevError, Title: "an answer to no dialog",
		Explain: "The answer's id is not that of any dialog. pi ignores it without a word, and the dialog that was meant stays open."},
		"send the id of the request back as it came"},
	{record.Rule{ID: "dialog/wrong-member", Severity: record.SevError, Title: "an answer of the wrong form",
		Explain: "select, input and editor are answered with value (a string), confirm with confirmed (true or false); all of them can be answered with cancelled. Anything else the extension gets as undefined."},
		"select, input, editor: value; confirm: confirmed; or cancelled"},
	{record.Rule{ID: "dialog/not-an-option", Severity: record.SevHazard, Title: "an answer that was not offered",
		Explain: "The value is not among the options of the select. pi does not check it: the extension gets a value that it never offered. The options are to be sent back byte for byte, U+2028 and emoji included."},
		"send one of the options back, unchanged"},
	{record.Rule{ID: "dialog/late", Severity: record.SevNote, Title: "an answer after the dialog's time limit",
		Explain: "The request had a timeout, and the answer came after it. pi has gone on without it and ignores it. The wire does not tell when a dialog closes: count the time in the client and take the dialog away."},
		"take dialogs away when their timeout has passed"},
	{record.Rule{ID: "order/nesting", Severity: record.SevHazard, Title: "events out of order",
		Explain: "An event came where the life cycle of pi does not have it, such as an update of a message that has not begun, or a turn outside a run. Either the events of two agents were mixed, or records were lost, or pi behaves in a way that pitap does not know."},
		"see whether records are missing before it"},
	{record.Rule{ID: "order/deltas", Severity: record.SevNote, Title: "deltas that do not add up to the text",
		Explain: "The deltas of a block, put together, are not the text that its end gives. Some providers mend a text at its end. Show the final text instead of the deltas once it is there."},
		"take the text of the end record"},
	{record.Rule{ID: "order/tool-end", Severity: record.SevHazard, Title: "a tool's start and end that do not match",
		Explain: "A tool_execution_end without start, or a start whose end never came although the run went on to its end."},
		"see whether records are missing before it"},
	{record.Rule{ID: "end/eof", Severity: record.SevHazard, Title: "input closed with work in flight",
		Explain: "The client closed the agent's input (or ended) while something was under way. pi then exits within a moment, and drops what is not done without a response. If that is not what you want, wait for the responses, and for agent_settled, before you close."},
		"wait for responses and agent_settled before you close the input"},
	{record.Rule{ID: "end/killed", Severity: record.SevHazard, Title: "killed while working",
		Explain: "A signal ended the agent while something was under way. What was not done has no response, and the last record may be cut."},
		"close the agent's input and wait, before you send signals"},
	{record.Rule{ID: "end/killed-by-line", Severity: record.SevError, Title: "a line that killed the agent",
		Explain: "The agent died right after a line of the client that is no proper command. The line null kills pi, and so does an id that is nested thousands deep."},
		"send only objects with a type"},
	{record.Rule{ID: "end/reader-gone", Severity: record.SevHazard, Title: "output closed while the agent worked",
		Explain: "The client closed its end of the agent's output, and the agent died of it at its next write, with work under way."},
		"read the agent's output to its end"},
	{record.Rule{ID: "end/open", Severity: record.SevHazard, Title: "the agent left with something open",
		Explain: "The agent exited with status 0 and without being told to, while something was under way. An extension can ask pi to shut down."},
		"look at what the extensions do"},
	{record.Rule{ID: "end/died", Severity: record.SevError, Title: "the agent died while working",
		Explain: "The agent exited with an error of its own while something was under way. What it wrote on stderr before tells more."},
		"look at stderr before the exit"},
	{record.Rule{ID: "end/stderr", Severity: record.SevNote, Title: "stderr shortly before a bad end",
		Explain: "The agent wrote this on stderr within two seconds before it ended with an error or by a signal. Many clients throw stderr away; it often says what happened."},
		"show stderr to your users"},
	{record.Rule{ID: "flow/stall", Severity: record.SevHazard, Title: "a reader that did not read",
		Explain: "One side did not read for a second or longer, and what the other wrote had to wait. While the client does not read, pi stands still. Read the agent's output and stderr in a thread or task of their own, whatever else the client does."},
		"read all the time, in a thread or task of its own"},
	{record.Rule{ID: "secret/plain", Severity: record.SevNote, Title: "a secret in plain sight",
		Explain: "Something that looks like an API key or a bearer token stands in a record. It is in the capture, too: think before you pass the capture on."},
		"do not pass this capture on"},
}
