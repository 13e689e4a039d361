package session

import "pitap/record"

// endRules are about how a session ends, about flow, and about what a capture should not hold.
var endRules = []rule{
	{
		Rule: record.Rule{ID: "end/no-start", Severity: record.SevError, Title: "the agent could not be started",
			Explain: "The program that was to be recorded could not be started: it is not there, or may not be executed."},
		hint:    "look at the path of the agent",
		example: "pitap record -- /no/such/pi",
	},
	{
		Rule: record.Rule{ID: "end/eof", Severity: record.SevHazard, Title: "input closed with work in flight",
			Explain: "The client closed the agent's input (or ended) while something was under way. pi then exits within a " +
				"moment, and drops what is not done without a response. If that is not what you want, wait for the " +
				"responses, and for agent_settled, before you close."},
		hint:     "wait for responses and agent_settled before you close the input",
		versions: "since 0.62.0; before, pi goes on as long as anything keeps it alive",
		example:  `echo '{"type":"bash","command":"sleep 3"}' | pi --mode rpc`,
	},
	{
		Rule: record.Rule{ID: "end/killed", Severity: record.SevHazard, Title: "killed while working",
			Explain: "A signal ended the agent while something was under way. What was not done has no response, and the " +
				"last record may be cut."},
		hint:    "close the agent's input and wait, before you send signals",
		example: "SIGTERM while the model streams; exit status 143",
	},
	{
		Rule: record.Rule{ID: "end/killed-by-line", Severity: record.SevError, Title: "a line that killed the agent",
			Explain: "The agent died right after a line of the client that is no proper command. The line null kills pi " +
				"(since 0.65.0), and so does an id that is nested thousands deep."},
		hint:    "send only objects with a type",
		example: "the line null: exit status 1, and a TypeError on stderr",
	},
	{
		Rule: record.Rule{ID: "end/reader-gone", Severity: record.SevHazard, Title: "output closed while the agent worked",
			Explain: "The client closed its end of the agent's output, and the agent died of it at its next write."},
		hint:    "read the agent's output to its end",
		example: "pi --mode rpc | head -1",
	},
	{
		Rule: record.Rule{ID: "end/open", Severity: record.SevHazard, Title: "the agent left with commands open",
			Explain: "The agent exited with status 0 and without being told to, while commands had no response. Who waits " +
				"for one waits for ever, unless it sees the end of the agent's output."},
		hint:    "give up waiting when the agent's output ends; look at what the extensions do",
		example: "an extension calls ctx.shutdown() while a bash command runs",
	},
	{
		Rule: record.Rule{ID: "end/left", Severity: record.SevNote, Title: "the agent left while it worked",
			Explain: "The agent exited with status 0 and without being told to, in the middle of a run. An extension can " +
				"ask pi to shut down; pi up to 1.5.0 does not wait for the run then."},
		hint:    "look at what the extensions do",
		example: "an extension calls ctx.shutdown() while the model streams",
	},
	{
		Rule: record.Rule{ID: "end/died", Severity: record.SevError, Title: "the agent died",
			Explain: "The agent exited with an error of its own. What it wrote on stderr before tells more; what was under " +
				"way is dropped."},
		hint:    "look at stderr before the exit",
		example: "pi --mode rpc --no-such-option: exit status 1",
	},
	{
		Rule: record.Rule{ID: "end/cut", Severity: record.SevNote, Title: "a recording that stops in the middle of work",
			Explain: "The capture ends without the agent's exit, and something was under way. pitap itself was killed " +
				"(clients that stop pi by SIGKILL do that: give it a second to end after SIGTERM), the machine " +
				"stopped, or this is a copy of a capture that went on."},
		hint:    "send SIGTERM and wait before SIGKILL",
		example: "kill -9 of pitap while the model streams",
	},
	{
		Rule: record.Rule{ID: "end/stderr", Severity: record.SevNote, Title: "stderr shortly before a bad end",
			Explain: "The agent wrote this on stderr within two seconds before it ended with an error or by a signal. Many " +
				"clients throw stderr away; it often says what happened."},
		hint:    "show stderr to your users",
		example: "TypeError: Cannot read properties of null (reading 'id')",
	},
	{
		Rule: record.Rule{ID: "flow/stall", Severity: record.SevHazard, Title: "a reader that did not read",
			Explain: "The client did not read the agent's output, or its stderr, for a second or longer, and what the " +
				"agent wrote had to wait. While the client does not read, pi stands still. Read both in a thread or " +
				"task of their own, whatever else the client does."},
		hint:    "read all the time, in a thread or task of its own",
		example: "a client that reads stdout only while it waits for a response",
	},
	{
		Rule: record.Rule{ID: "flow/agent-stall", Severity: record.SevNote, Title: "an agent that did not read",
			Explain: "The agent did not read its input for a second or longer, and what the client wrote had to wait. pi " +
				"is busy with something that it does not interrupt, such as a very long line (8 MiB take 0.7 s, 64 " +
				"MiB 27 s), or it was stopped."},
		hint:    "see whether it is busy or was stopped (state T in ps); send very long texts as files",
		example: "a prompt with an image of 30 MB",
	},
	{
		Rule: record.Rule{ID: "secret/plain", Severity: record.SevNote, Title: "a secret in plain sight",
			Explain: "Something that looks like an API key or a bearer token stands in a record. It is in the capture, " +
				"too: think before you pass the capture on."},
		hint:    "do not pass this capture on",
		example: "Authorization: Bearer eyJhbGciOiJIUzI1NiIs... in the output of a tool",
	},
}
