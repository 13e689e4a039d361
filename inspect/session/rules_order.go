package session

import "pitap/record"

// orderRules are about the order of what the agent writes.
var orderRules = []rule{
	{
		Rule: record.Rule{ID: "order/nesting", Severity: record.SevHazard, Title: "events out of order",
			Explain: "An event came where the life cycle of pi does not have it, such as an update of a message that has " +
				"not begun, or a turn outside a run. Either the events of two agents were mixed, or what runs in pi's " +
				"place is not as pi is, or pi behaves in a way that pitap does not know."},
		hint:     "see what wrote the record, and whether records are missing before it",
		versions: "messages and updates since 0.55.4, runs and turns since 0.83.0; older versions mix up or cut off",
		example:  "turn_start between agent_end and agent_settled; a user message behind the answer of its turn",
	},
	{
		Rule: record.Rule{ID: "order/update", Severity: record.SevHazard, Title: "updates of a content block out of order",
			Explain: "Each content block of a streamed message has one start, then deltas of the same kind, then at most " +
				"one end, and nothing after that. Clients that put a message together by contentIndex fail on " +
				"anything else."},
		hint:     "take the message of message_end",
		versions: "since 0.55.4",
		example:  "text_delta for a contentIndex that had no text_start",
	},
	{
		Rule: record.Rule{ID: "order/turn-end", Severity: record.SevHazard, Title: "a turn whose end does not fit what came in it",
			Explain: "turn_end repeats the turn's assistant message and its tool results. Here they are not those of the " +
				"message_end records before it."},
		hint:     "see whether records are missing, or changed, before it",
		versions: "since 0.55.4",
		example:  "toolResults with one element, and two toolResult messages in the turn",
	},
	{
		Rule: record.Rule{ID: "order/tool-start", Severity: record.SevHazard, Title: "a tool that starts without its call",
			Explain: "tool_execution_start has the id, name and arguments of a toolCall block in the assistant message of " +
				"the same turn. Here there is none, or it says something else."},
		hint:     "see what wrote the record, and whether records are missing before it",
		versions: "since 0.55.4",
		example:  `tool_execution_start with the toolCallId "c2", and only "c1" in the message`,
	},
	{
		Rule: record.Rule{ID: "order/tool-end", Severity: record.SevHazard, Title: "a tool's start, end and result that do not match",
			Explain: "Each tool call has one tool_execution_start, one tool_execution_end and one toolResult message, in " +
				"this order, before the turn ends; updates lie between start and end. Here one is missing or comes " +
				"too early. A client that shows running tools shows this one for ever."},
		hint:     "see whether records are missing before it",
		versions: "since 0.55.4; updates behind the end since 0.79.2",
		example:  "tool_execution_start of bash, and the run settles without its tool_execution_end",
	},
	{
		Rule: record.Rule{ID: "order/deltas", Severity: record.SevNote, Title: "deltas that do not add up to the text",
			Explain: "The deltas of a block, put together, are not the text that its end gives; or the updates of a bash " +
				"command are not its output. Some providers mend a text at its end. Show the final text instead of " +
				"the deltas once it is there."},
		hint:    "take the text of the end record",
		example: `text_delta "Hel", text_delta "lo", text_end with content "Hello!"`,
	},
	{
		Rule: record.Rule{ID: "order/bash", Severity: record.SevHazard, Title: "output of a bash command that is not open",
			Explain: "bash_execution_update comes between the command bash and its response, with the command's id. Here " +
				"no such command is open."},
		hint:     "see what wrote the record",
		versions: "since 0.82.0",
		example:  "a bash_execution_update behind the response to its bash command",
	},
	{
		Rule: record.Rule{ID: "wait/response", Severity: record.SevHazard, Title: "no response, and silence",
			Explain: "The session ended, or stands, with a command that has no response, and the agent has said nothing " +
				"for ten seconds or more. For a prompt: an extension's command or handler that does not end, an agent " +
				"that hangs, or one that never started to read. pitap why says it in words."},
		hint:    "give commands a time limit; look at stderr and at what extensions do",
		example: `{"type":"prompt","message":"/never"}, and nothing after it`,
	},
	{
		Rule: record.Rule{ID: "wait/run", Severity: record.SevHazard, Title: "a run that does not settle, and silence",
			Explain: "pi accepted a prompt, its run began, and then nothing came for ten seconds or more, up to the end: " +
				"the model's server has accepted the request and sends nothing, or has stopped in the middle of its " +
				"answer."},
		hint:    "abort the run; look at the model's server",
		example: "agent_start, turn_start, the user's message, and then silence",
	},
}
