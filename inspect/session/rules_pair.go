package session

import "pitap/record"

// pairRules are about commands and what they hold, prompts and dialogs.
var pairRules = []rule{
	{
		Rule: record.Rule{ID: "pair/unanswered", Severity: record.SevError, Title: "a command without response",
			Explain: "pi answers every command that is a JSON object with exactly one response, most of them at once. This " +
				"command got none, although the agent went on writing other things for two seconds or more. Look at " +
				"what the agent did after the command: an exception in an extension shows on stderr or as " +
				"extension_error. Commands that answer late by nature (prompt, bash, compact, abort) are never " +
				"reported here: wait/response and pitap why tell what they wait for."},
		hint:    "look at stderr and extension_error behind the command; give commands of yours a time limit",
		example: `{"id":"1","type":"get_state"} is sent, events go on for seconds, and no response with the id "1" comes`,
	},
	{
		Rule: record.Rule{ID: "pair/twice", Severity: record.SevError, Title: "a command that was answered twice",
			Explain: "Two responses carry the id of one command. A client that resolves a promise by id ignores the second " +
				"one or, worse, takes it for the answer to something else. pi up to 0.67.2 did this when a prompt " +
				"that it had accepted failed later; that case is not reported."},
		hint:    "match each response once and ignore the rest",
		example: `two records {"id":"1","type":"response","command":"get_state",...}, and one command with the id "1"`,
	},
	{
		Rule: record.Rule{ID: "pair/stray", Severity: record.SevError, Title: "a response without a command",
			Explain: "A response came whose id no command had, or without id where no such command was open. Something " +
				"between client and agent changed an id or dropped a command, or another process writes to the " +
				"agent's stdin."},
		hint:    "see whether something between client and agent changes records",
		example: `{"id":"9","type":"response","command":"get_state",...}, and no command had the id "9"`,
	},
	{
		Rule: record.Rule{ID: "pair/id-missing", Severity: record.SevHazard, Title: "a response that lacks the command's id",
			Explain: "The command had an id and the response has none, so that the pair is a guess by its type. pi up to " +
				"0.79.6 answers unknown commands like that, and up to 0.64.0 every command that throws an exception. " +
				"A client that waits for the id waits for ever."},
		hint:     "let the client time out, or use a pi of 0.79.7 or later",
		versions: "for pi itself: until 0.79.6",
		example:  `{"id":"x","type":"foobar"} is answered by {"type":"response","command":"foobar","success":false,...}`,
	},
	{
		Rule: record.Rule{ID: "pair/id-changed", Severity: record.SevHazard, Title: "an id that comes back as another one",
			Explain: "pi reads an id as JavaScript does and writes it back: 12345678901234567890 becomes " +
				"12345678901234567000, 1e400 becomes null, bytes that are not UTF-8 become U+FFFD. A client that " +
				"compares ids does not find its command again. Or an agent that is not pi gives the id back as " +
				`another type, such as "1" for 1.`},
		hint:    "use strings as ids, of ASCII characters",
		example: `{"id":12345678901234567890,"type":"abort"} is answered by {"id":12345678901234567000,...}`,
	},
	{
		Rule: record.Rule{ID: "pair/id-reused", Severity: record.SevHazard, Title: "one id for two open commands",
			Explain: "A command has the id of another one that is not answered yet. pi accepts that and answers both, in " +
				"whatever order they are done: which response belongs to which command can only be told by type, or " +
				"not at all."},
		hint:    "count ids up",
		example: `{"id":"1","type":"bash",...} and, before its response, {"id":"1","type":"get_state"}`,
	},
	{
		Rule: record.Rule{ID: "pair/wrong-command", Severity: record.SevError, Title: "a response that names another command",
			Explain: "The response has the id of one command and names another in its member command."},
		hint:    "see whether something between client and agent changes ids",
		example: `{"id":"1","type":"get_state"} is answered by {"id":"1","type":"response","command":"get_messages",...}`,
	},
	{
		Rule: record.Rule{ID: "pair/early", Severity: record.SevNote, Title: "a command sent before the agent was ready",
			Explain: "pi takes a second or so to start. What a client sends meanwhile waits in the pipe, which is fine, " +
				"but the time until its response says nothing of the command."},
		hint:    "nothing to do: pi was starting; to measure pi, take later commands",
		example: "a client sends get_state as soon as it has started pi, and gets the response 2.5 s later",
	},
	{
		Rule: record.Rule{ID: "command/unknown", Severity: record.SevError, Title: "a command that this pi does not know",
			Explain: "pi answered that it does not know the command. The finding says in which versions of pi there is " +
				"such a command, if there is in any."},
		hint:    "compare the client with the version of pi",
		example: `{"type":"get_tree"} with pi 0.74: the command is there since 0.80.3`,
	},
	{
		Rule: record.Rule{ID: "field/missing", Severity: record.SevHazard, Title: "a command without a member that it needs",
			Explain: "pi checks no arguments: a command without a member that it needs is answered with a TypeError, or " +
				"does something that nobody meant."},
		hint:     "send the member",
		versions: "as the vocabulary has it for the version that was recorded",
		example:  `{"type":"prompt"} without message`,
	},
	{
		Rule: record.Rule{ID: "field/type", Severity: record.SevHazard, Title: "a member of the wrong type",
			Explain: "pi checks no arguments: a member of the wrong type is answered with a TypeError, or stored as it is " +
				"(set_steering_mode 5 shows up in get_state)."},
		hint:     "send the type that the protocol has",
		versions: "as the vocabulary has it for the version that was recorded",
		example:  `{"type":"set_steering_mode","mode":5}`,
	},
	{
		Rule: record.Rule{ID: "field/value", Severity: record.SevHazard, Title: "a value that the protocol does not have",
			Explain: "The member takes one of a few values, and this is none of them. pi may store it, ignore it, or take " +
				"it for another one (an unknown streamingBehavior counts as steer)."},
		hint:     "send one of the values that the protocol has",
		versions: "as the vocabulary has it for the version that was recorded",
		example:  `{"type":"prompt","message":"hi","streamingBehavior":"queue"}`,
	},
	{
		Rule: record.Rule{ID: "field/repeated", Severity: record.SevHazard, Title: "a member that stands twice in a record",
			Explain: "JSON does not say which of two members with the same name counts. pi takes the last one, as JavaScript " +
				"does; other readers take the first, both, or refuse the record."},
		hint:    "write each member once",
		example: `{"id":"1","id":"2","type":"abort"}`,
	},
	{
		Rule: record.Rule{ID: "field/unknown", Severity: record.SevNote, Title: "something that this version of pi does not have",
			Explain: "A record, a member or a value is not in the vocabulary of the version of pi that was recorded. From " +
				"the agent it means that pi is newer than pitap, or that an extension wrote it. From the client it " +
				"means that the client was written for another version, and pi ignores it."},
		hint:     "see whether client and pi are of the versions that you meant",
		versions: "as the vocabulary has it for the version that was recorded",
		example:  `{"type":"brand_new_event","x":1} from the agent; {"type":"bash","command":"ls","excludeFromContext":true} to pi 0.74, which has no such member`,
	},
	{
		Rule: record.Rule{ID: "run/prompt-while-busy", Severity: record.SevHazard, Title: "a prompt that pi refused because it was busy",
			Explain: "While a run goes on pi refuses a prompt that does not say what is to become of it. Send " +
				`streamingBehavior "steer" (for the next turn) or "followUp" (when the run would end), or the ` +
				"commands steer and follow_up, or wait for agent_settled. agent_end is not enough: a retry or a " +
				"queued message may follow it. While pi compacts the conversation no prompt is taken (since 0.84.0)."},
		hint:    "send streamingBehavior, or wait for agent_settled",
		example: `two prompts, the second before the agent_settled of the first: {"success":false,"error":"Agent is already processing. ..."}`,
	},
	{
		Rule: record.Rule{ID: "run/prompt-lost", Severity: record.SevError, Title: "a prompt that was accepted and never ran",
			Explain: "Prompts that are written one behind the other, before the first one's agent_start, are all accepted, " +
				"and only the first one runs. Each of the others gives a lone agent_settled (since 0.80.4), or " +
				"nothing at all. A known race of pi. Wait for agent_start (or for agent_settled) before the next " +
				"prompt, or send it as follow_up."},
		hint:    "wait for agent_start before the next prompt, or send it as follow_up",
		example: "two prompts in one write, two responses with success true, one agent_start",
	},
	{
		Rule: record.Rule{ID: "run/handled", Severity: record.SevNote, Title: "a prompt that starts no run",
			Explain: "pi answered the prompt with disposition handled: an extension's command or input handler took it, " +
				"and no run follows. A client that waits for agent_end or agent_settled after each prompt waits for " +
				"ever. The session went on for seconds without another command: perhaps the client waits."},
		hint:     "do not wait for a run when disposition is handled",
		versions: "since 0.99.0",
		example:  `{"type":"prompt","message":"/deploy"} is answered by {"data":{"disposition":"handled"}}, and nothing follows`,
	},
	{
		Rule: record.Rule{ID: "run/queued", Severity: record.SevNote, Title: "a queued message that never came to the model",
			Explain: "A steer, follow_up or queued prompt was accepted, and no run came after it that would have delivered " +
				"it. A queue waits for a run: sent while pi is idle, such a message stays where it is until the next " +
				"prompt. Send a prompt instead, or clear_queue to take it back."},
		hint:    "send a prompt when pi is idle; steer and follow_up only wait in the queue",
		example: `{"type":"steer","message":"be brief"} after agent_settled, and no prompt after it`,
	},
	{
		Rule: record.Rule{ID: "dialog/unanswered", Severity: record.SevHazard, Title: "a dialog without answer that holds things up",
			Explain: "An extension asked the client something (select, confirm, input or editor) and there was no answer, " +
				"and no time limit: the extension waits, and with it a tool, a prompt or a run. A client that can't " +
				`show dialogs must answer each with {"type":"extension_ui_response","id":...,"cancelled":true}.`},
		hint:    "answer every dialog, with cancelled if need be",
		example: `{"type":"extension_ui_request","id":"u1","method":"confirm",...}, and no extension_ui_response with the id "u1"`,
	},
	{
		Rule: record.Rule{ID: "dialog/open", Severity: record.SevNote, Title: "a dialog that nobody answered",
			Explain: "An extension asked the client something and there was no answer. Nothing seems to wait for it: " +
				"perhaps the extension has taken it back, which the wire does not tell."},
		hint:    "answer every dialog, with cancelled if need be",
		example: "a dialog in a session that goes on, settles and ends as if it had not been",
	},
	{
		Rule: record.Rule{ID: "dialog/twice", Severity: record.SevHazard, Title: "a dialog that was answered twice",
			Explain: "pi takes the first answer and ignores the others without a word."},
		hint:    "answer each dialog once",
		example: "two extension_ui_responses with the id of one dialog",
	},
	{
		Rule: record.Rule{ID: "dialog/needless", Severity: record.SevNote, Title: "an answer to a request that wants none",
			Explain: "notify, setStatus, setWidget, setTitle and set_editor_text are for the client to show. They want no " +
				"answer, and pi ignores one."},
		hint:    "answer only select, confirm, input and editor",
		example: "a client that answers every extension_ui_request with cancelled",
	},
	{
		Rule: record.Rule{ID: "dialog/wrong-id", Severity: record.SevError, Title: "an answer to no dialog",
			Explain: "The answer's id is not that of any dialog. pi ignores it without a word, and the dialog that was " +
				"meant stays open."},
		hint:    "send the id of the request back as it came",
		example: `a dialog with the id "u1", and {"type":"extension_ui_response","id":"1","value":"yes"}`,
	},
	{
		Rule: record.Rule{ID: "dialog/wrong-member", Severity: record.SevError, Title: "an answer of the wrong form",
			Explain: "select, input and editor are answered with value (a string), confirm with confirmed (true or false); " +
				"all of them can be answered with cancelled. pi checks nothing: of another member the extension sees " +
				"nothing, and another type it gets as it is."},
		hint:    "select, input, editor: value; confirm: confirmed; or cancelled",
		example: `{"confirmed":"yes"} for a confirm, {"value":"b"} for a confirm, {"confirmed":true} for a select`,
	},
	{
		Rule: record.Rule{ID: "dialog/not-an-option", Severity: record.SevHazard, Title: "an answer that was not offered",
			Explain: "The value is not among the options of the select. pi does not check it: the extension gets a value " +
				"that it never offered. The options are to be sent back byte for byte, U+2028 and emoji included."},
		hint:    "send one of the options back, unchanged",
		example: `options ["Allow","Block"], and the answer {"value":"allow"}`,
	},
	{
		Rule: record.Rule{ID: "dialog/late", Severity: record.SevNote, Title: "an answer after the dialog's time limit",
			Explain: "The request had a timeout, and the answer came after it. pi has gone on without it and ignores it. " +
				"The wire does not tell when a dialog closes: count the time in the client and take the dialog away."},
		hint:     "take dialogs away when their timeout has passed",
		versions: "since 0.38.0",
		example:  `{"method":"confirm","timeout":5000,...}, and an answer 8 s later`,
	},
	{
		Rule: record.Rule{ID: "dialog/id-reused", Severity: record.SevHazard, Title: "two UI requests with one id",
			Explain: "Each extension_ui_request of pi has an id of its own. Two with the same id can't be told apart by " +
				"their answers: what runs in pi's place makes them wrong."},
		hint:    "give each request an id of its own",
		example: `two requests with "id":"1"`,
	},
}
