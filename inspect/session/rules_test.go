package session

import (
	"fmt"
	"strings"
	"testing"

	"pitap/record"
)

const (
	confirm = `,"message":"Sure?"`
	options = `,"options":["Allow","Bl\u006fck","a\u2028b"]`
)

var ready = command("r", "abort") + answer("r", "abort")

// ruleTests has for each rule sessions that it finds something in, and sessions in which nothing at all is found.
var ruleTests = []struct {
	rule string
	name string
	text string
	want string // ids of all findings; "" in a session that has none
}{
	{"pair/unanswered", "get_state is passed over", ready + command("a", "get_state") + run("p", "hi", "hello") + at(4, run("q", "hi", "hello")) + exits, "pair/unanswered#3"},
	{"pair/unanswered", "just sent", ready + at(4, command("a", "get_state")) + exits, "end/eof#4"},
	{"pair/unanswered", "bash takes long", ready + "> {\"id\":\"b\",\"type\":\"bash\",\"command\":\"sleep 9\"}\n" + run("p", "hi", "hello") + "9 < {\"type\":\"bash_execution_update\",\"id\":\"b\",\"delta\":\"x\"}\n" +
		"< {\"id\":\"b\",\"type\":\"response\",\"command\":\"bash\",\"success\":true,\"data\":{\"output\":\"x\",\"exitCode\":0,\"cancelled\":false,\"truncated\":false}}\n" + exits, ""},
	{"pair/unanswered", "something was not recorded", ready + command("a", "abort_bash") + "* \"gap\",\"from\":\"agent\",\"lost\":{\"agent\":100}\n4 < {\"type\":\"agent_start\"}\n" + "* \"exit\",\"code\":0\n", "end/open#6"},

	{"pair/twice", "", ready + command("a", "abort") + answer("a", "abort") + answer("a", "abort") + exits, "pair/twice#5"},
	{"pair/twice", "three times", command("a", "abort") + answer("a", "abort") + answer("a", "abort") + answer("a", "abort") + exits, "pair/twice#3x2"},
	{"pair/twice", "a prompt that fails later, in an old version", "pi 0.61.1\n" + prompt("a", "hi") + answer("a", "prompt") + refused("a", "prompt", "no model") + exits, ""},
	{"pair/twice", "the id is used again", command("a", "abort") + answer("a", "abort") + command("a", "abort") + answer("a", "abort") + exits, ""},
	{"pair/twice", "updates are no answers", ready + "> {\"id\":\"b\",\"type\":\"bash\",\"command\":\"ls\"}\n< {\"type\":\"bash_execution_update\",\"id\":\"b\",\"delta\":\"x\"}\n< {\"type\":\"bash_execution_update\",\"id\":\"b\",\"delta\":\"y\"}\n" +
		"< {\"id\":\"b\",\"type\":\"response\",\"command\":\"bash\",\"success\":true,\"data\":{\"output\":\"xy\",\"exitCode\":0,\"cancelled\":false,\"truncated\":false}}\n" + exits, ""},

	{"pair/stray", "", ready + answer("z", "abort_bash") + exits, "pair/stray#3"},
	{"pair/stray", "without id", ready + "< {\"type\":\"response\",\"command\":\"abort_bash\",\"success\":true}\n" + exits, "pair/stray#3"},
	{"pair/stray", "the capture begins in the middle", "... {\"n\":8,\"t\":1,\"from\":\"agent\",\"off\":400,\"msg\":{\"id\":\"z\",\"type\":\"response\",\"command\":\"abort\",\"success\":true}}\n" + "* \"exit\",\"code\":0\n", ""},
	{"pair/stray", "the command was not recorded", ready + "* \"gap\",\"from\":\"client\",\"lost\":{\"client\":30}\n" + answer("z", "abort_bash") + exits, ""},

	{"pair/id-missing", "", ready + command("a", "abort_retry") + "< {\"type\":\"response\",\"command\":\"abort_retry\",\"success\":true}\n" + exits, "pair/id-missing#4"},
	{"pair/id-missing", "the command had none", ready + "> {\"type\":\"abort_retry\"}\n< {\"type\":\"response\",\"command\":\"abort_retry\",\"success\":true}\n" + exits, ""},
	{"pair/id-missing", "an exception in an old version", "pi 0.61.1\n" + "> {\"id\":\"s\",\"type\":\"set_session_name\",\"name\":\"n\"}\n< {\"type\":\"response\",\"command\":\"parse\",\"success\":false,\"error\":\"Failed to parse command: x\"}\n" + exits, "pair/id-missing#2"},

	{"pair/id-changed", "a number is rounded", ready + "> {\"id\":12345678901234567890,\"type\":\"abort\"}\n< {\"id\":12345678901234567000,\"type\":\"response\",\"command\":\"abort\",\"success\":true}\n" + exits, "pair/id-changed#4"},
	{"pair/id-changed", "too large", ready + "> {\"id\":1e400,\"type\":\"abort\"}\n< {\"id\":null,\"type\":\"response\",\"command\":\"abort\",\"success\":true}\n" + exits, "pair/id-changed#4"},
	{"pair/id-changed", "another type", ready + "> {\"id\":1,\"type\":\"abort\"}\n< {\"id\":\"1\",\"type\":\"response\",\"command\":\"abort\",\"success\":true}\n" + exits, "pair/id-changed#4"},
	{"pair/id-changed", "written otherwise", ready + "> {\"id\":1.50e2,\"type\":\"abort\"}\n< {\"id\":150,\"type\":\"response\",\"command\":\"abort\",\"success\":true}\n" +
		"> {\"id\":\"\\u0061\\/\",\"type\":\"abort\"}\n< {\"id\":\"a/\",\"type\":\"response\",\"command\":\"abort\",\"success\":true}\n" +
		"> {\"id\":{\"b\":1,\"2\":[1.0],\"1\":null},\"type\":\"abort\"}\n< {\"id\":{\"1\":null,\"2\":[1],\"b\":1},\"type\":\"response\",\"command\":\"abort\",\"success\":true}\n" +
		"> {\"id\":-0,\"type\":\"abort\"}\n< {\"id\":0,\"type\":\"response\",\"command\":\"abort\",\"success\":true}\n" + exits, ""},

	{"pair/id-reused", "", ready + command("a", "abort") + command("a", "abort_bash") + answer("a", "abort") + answer("a", "abort_bash") + exits, "pair/id-reused#4"},
	{"pair/id-reused", "behind its answer", ready + command("a", "abort") + answer("a", "abort") + command("a", "abort_bash") + answer("a", "abort_bash") + exits, ""},

	{"pair/wrong-command", "", ready + command("a", "abort") + answer("a", "abort_bash") + exits, "pair/wrong-command#4"},
	{"pair/wrong-command", "a command without type", ready + "> {\"id\":\"a\"}\n< {\"id\":\"a\",\"type\":\"response\",\"success\":false,\"error\":\"Unknown command: undefined\"}\n" + exits, "field/missing#3"},

	{"pair/early", "", command("a", "abort") + at(3, answer("a", "abort")) + exits, "pair/early#1"},
	{"pair/early", "the second one", command("a", "abort") + at(0.5, answer("a", "abort")) + command("b", "abort") + at(9, answer("b", "abort")) + exits, ""},

	{"command/unknown", "", ready + command("a", "foobar") + refused("a", "foobar", "Unknown command: foobar") + exits, "command/unknown#3"},
	{"command/unknown", "later", "pi 0.82.1\n" + ready + command("a", "clear_queue") + refused("a", "clear_queue", "Unknown command: clear_queue") + exits, "command/unknown#3"},
	{"command/unknown", "a command that fails", ready + command("a", "cycle_model") + refused("a", "cycle_model", "no models") + exits, ""},

	{"field/missing", "", ready + "> {\"id\":\"a\",\"type\":\"steer\"}\n" + refused("a", "steer", "TypeError") + exits, "field/missing#3"},
	{"field/missing", "one that may be missing", ready + command("a", "new_session") + "< {\"id\":\"a\",\"type\":\"response\",\"command\":\"new_session\",\"success\":true,\"data\":{\"cancelled\":false}}\n" + exits, ""},
	{"field/type", "", ready + "> {\"id\":\"a\",\"type\":\"set_steering_mode\",\"mode\":5}\n" + answer("a", "set_steering_mode") + exits, "field/type#3"},
	{"field/type", "right", ready + "> {\"id\":\"a\",\"type\":\"set_steering_mode\",\"mode\":\"all\"}\n" + answer("a", "set_steering_mode") + exits, ""},
	{"field/value", "", ready + "> {\"id\":\"a\",\"type\":\"set_steering_mode\",\"mode\":\"some\"}\n" + answer("a", "set_steering_mode") + exits, "field/value#3"},
	{"field/missing", "a record without type", ready + "> {\"id\":\"a\"}\n< {\"id\":\"a\",\"type\":\"response\",\"success\":false,\"error\":\"Unknown command: undefined\"}\n" + exits, "field/missing#3"},
	{"field/missing", "the command itself is not there", "pi 0.74.2\n" + ready + command("a", "get_entries") + refused("a", "get_entries", "Unknown command: get_entries") + "> {\"id\":\"b\",\"type\":\"get_entries\",\"since\":5}\n" + refused("b", "get_entries", "Unknown command: get_entries") + exits, "command/unknown#3x2"},
	{"field/type", "a type that is no word", ready + "> {\"id\":\"a\",\"type\":5}\n< {\"id\":\"a\",\"type\":\"response\",\"command\":5,\"success\":false,\"error\":\"Unknown command: 5\"}\n" + exits, "field/type#3"},
	{"field/value", "one that there is", ready + "> {\"id\":\"a\",\"type\":\"set_steering_mode\",\"mode\":\"all\"}\n" + answer("a", "set_steering_mode") + exits, ""},
	{"field/repeated", "", ready + "> {\"id\":\"x\",\"\\u0069d\":\"a\",\"type\":\"abort\"}\n" + answer("a", "abort") + exits, "field/repeated#3"},
	{"field/repeated", "in different objects", ready + "> {\"id\":{\"id\":1,\"type\":2},\"type\":\"abort\"}\n< {\"id\":{\"id\":1,\"type\":2},\"type\":\"response\",\"command\":\"abort\",\"success\":true}\n" + exits, ""},
	{"field/unknown", "a member", ready + "> {\"id\":\"a\",\"type\":\"abort\",\"force\":true}\n" + answer("a", "abort") + exits, "field/unknown#3"},
	{"field/unknown", "a member that came later", "pi 0.74.2\n" + ready + "> {\"id\":\"b\",\"type\":\"bash\",\"command\":\"x\",\"excludeFromContext\":true}\n" +
		"< {\"id\":\"b\",\"type\":\"response\",\"command\":\"bash\",\"success\":true,\"data\":{\"output\":\"\",\"exitCode\":0,\"cancelled\":false,\"truncated\":false}}\n" + exits, "field/unknown#3"},
	{"field/unknown", "the version is a guess", "pi -\n" + ready + "> {\"id\":\"b\",\"type\":\"bash\",\"command\":\"x\",\"excludeFromContext\":true}\n" +
		"< {\"id\":\"b\",\"type\":\"response\",\"command\":\"bash\",\"success\":true,\"data\":{\"output\":\"\",\"exitCode\":0,\"cancelled\":false,\"truncated\":false}}\n" + exits, ""},
	{"field/unknown", "a command that pi has and we do not", ready + command("a", "dance") + answer("a", "dance") + exits, "field/unknown#3"},

	{"run/prompt-while-busy", "", ready + prompt("p", "hi") + started("p") + runStart + prompt("q", "more") + refused("q", "prompt", "Agent is already processing. Specify streamingBehavior ('steer' or 'followUp') to queue the message.") + abortedRun + exits, "run/prompt-while-busy#7"},
	{"run/prompt-while-busy", "with streamingBehavior", ready + prompt("p", "hi") + started("p") + runStart + "> {\"id\":\"q\",\"type\":\"prompt\",\"message\":\"more\",\"streamingBehavior\":\"steer\"}\n" +
		"< {\"type\":\"queue_update\",\"steering\":[\"more\"],\"followUp\":[]}\n" + disposed("q", "prompt", "queued") + "< {\"type\":\"queue_update\",\"steering\":[],\"followUp\":[]}\n" + whole(user("more")) + abortedRun + exits, ""},

	{"run/prompt-lost", "behind the start", prompt("p", "one") + prompt("q", "two") + started("p") + started("q") + runStart + settled + abortedRun + exits, "run/prompt-lost#2"},
	{"run/prompt-lost", "before the start", prompt("p", "one") + prompt("q", "two") + started("p") + started("q") + settled + runStart + abortedRun + exits, "run/prompt-lost#2"},
	{"run/prompt-lost", "two of three", prompt("p", "one") + prompt("q", "two") + prompt("s", "three") + started("p") + started("q") + started("s") + runStart + settled + settled + abortedRun + exits, "run/prompt-lost#2x2"},
	{"run/prompt-lost", "in a version that does not say so", "pi 0.74.2\n" + prompt("p", "one") + prompt("q", "two") + answer("p", "prompt") + answer("q", "prompt") + runStart + whole(user("one")) + whole(assistant("", "stop")) + turnEnd(assistant("", "stop")) + "< {\"type\":\"agent_end\",\"messages\":[]}\n" + exits, "run/prompt-lost#2"},
	{"run/prompt-lost", "one behind the other", run("p", "one", "1") + run("q", "two", "2") + exits, ""},
	{"run/prompt-lost", "an extension's command before it", "pi 0.74.2\n" + prompt("p", "/fail") + answer("p", "prompt") + prompt("q", "two") + answer("q", "prompt") + runStart + whole(user("two")) + whole(assistant("", "stop")) + turnEnd(assistant("", "stop")) + "< {\"type\":\"agent_end\",\"messages\":[]}\n" + exits, ""},

	{"run/handled", "", ready + prompt("p", "/deploy") + disposed("p", "prompt", "handled") + at(9, exits), "run/handled#3"},
	{"run/handled", "and on", ready + prompt("p", "/deploy") + disposed("p", "prompt", "handled") + at(4, ready2) + at(9, exits), ""},

	{"run/queued", "while idle", ready + "> {\"id\":\"s\",\"type\":\"steer\",\"message\":\"brief\"}\n< {\"type\":\"queue_update\",\"steering\":[\"brief\"],\"followUp\":[]}\n" + disposed("s", "steer", "queued") + at(9, exits), "run/queued#3"},
	{"run/queued", "taken back", ready + "> {\"id\":\"s\",\"type\":\"steer\",\"message\":\"brief\"}\n< {\"type\":\"queue_update\",\"steering\":[\"brief\"],\"followUp\":[]}\n" + disposed("s", "steer", "queued") + command("c", "clear_queue") +
		"< {\"type\":\"queue_update\",\"steering\":[],\"followUp\":[]}\n< {\"id\":\"c\",\"type\":\"response\",\"command\":\"clear_queue\",\"success\":true,\"data\":{\"steering\":[\"brief\"],\"followUp\":[]}}\n9 " + exits, ""},
	{"run/queued", "handled", ready + "> {\"id\":\"s\",\"type\":\"steer\",\"message\":\"/x\"}\n" + disposed("s", "steer", "handled") + at(9, exits), ""},

	{"dialog/unanswered", "", ready + prompt("p", "/ask") + dialog("u", "confirm", confirm) + at(5, exits), "dialog/unanswered#4"},
	{"dialog/unanswered", "with a time limit", ready + prompt("p", "/ask") + dialog("u", "confirm", confirm+`,"timeout":200`) + at(5, disposed("p", "prompt", "handled")) + exits, ""},
	{"dialog/open", "", ready + dialog("u", "confirm", confirm) + at(5, ready2) + exits, "dialog/open#3"},
	{"dialog/open", "answered", ready + dialog("u", "confirm", confirm) + reply("u", `,"confirmed":false`) + exits, ""},
	{"dialog/twice", "", ready + dialog("u", "input", "") + reply("u", `,"value":"a"`) + reply("u", `,"value":"a"`) + exits, "dialog/twice#5"},
	{"dialog/twice", "two dialogs", ready + dialog("u", "input", "") + dialog("v", "input", "") + reply("v", `,"value":"a"`) + reply("u", `,"value":"a"`) + exits, ""},
	{"dialog/needless", "", ready + "< {\"type\":\"extension_ui_request\",\"id\":\"u\",\"method\":\"notify\",\"message\":\"x\"}\n" + reply("u", `,"cancelled":true`) + exits, "dialog/needless#4"},
	{"dialog/needless", "no answer", ready + "< {\"type\":\"extension_ui_request\",\"id\":\"u\",\"method\":\"notify\",\"message\":\"x\"}\n" + exits, ""},
	{"dialog/wrong-id", "", ready + dialog("u", "input", "") + reply("1", `,"value":"a"`) + reply("u", `,"value":"a"`) + exits, "dialog/wrong-id#4"},
	{"dialog/wrong-id", "another type", ready + dialog("1", "input", "") + "> {\"type\":\"extension_ui_response\",\"id\":1,\"value\":\"a\"}\n" + reply("1", `,"value":"a"`) + exits, "dialog/wrong-id#4"},
	{"dialog/wrong-id", "no id", ready + "> {\"type\":\"extension_ui_response\",\"value\":\"a\"}\n" + exits, "dialog/wrong-id#3"},
	{"dialog/wrong-id", "the request was not recorded", ready + "* \"gap\",\"from\":\"agent\",\"lost\":{\"agent\":30}\n" + reply("1", `,"value":"a"`) + exits, ""},
	{"dialog/wrong-member", "confirm with value", ready + dialog("u", "confirm", confirm) + reply("u", `,"value":"yes"`) + exits, "dialog/wrong-member#4"},
	{"dialog/wrong-member", "confirmed is no bool", ready + dialog("u", "confirm", confirm) + reply("u", `,"confirmed":"yes"`) + exits, "dialog/wrong-member#4"},
	{"dialog/wrong-member", "nothing", ready + dialog("u", "input", "") + reply("u", "") + exits, "dialog/wrong-member#4"},
	{"dialog/wrong-member", "a value that is no string", ready + dialog("u", "input", "") + reply("u", `,"value":5`) + exits, "dialog/wrong-member#4"},
	{"dialog/wrong-member", "cancelled", ready + dialog("u", "confirm", confirm) + reply("u", `,"cancelled":true`) + exits, ""},
	{"dialog/not-an-option", "", ready + dialog("u", "select", options) + reply("u", `,"value":"allow"`) + exits, "dialog/not-an-option#4"},
	{"dialog/not-an-option", "written otherwise", ready + dialog("u", "select", options) + reply("u", `,"value":"\u0042lock"`) + dialog("v", "select", options) + reply("v", `,"value":"Allow"`) + exits, ""},
	{"dialog/late", "", ready + dialog("u", "input", `,"timeout":200`) + at(0.5, reply("u", `,"value":"a"`)) + exits, "dialog/late#4"},
	{"dialog/late", "in time", ready + dialog("u", "input", `,"timeout":200`) + at(0.1, reply("u", `,"value":"a"`)) + exits, ""},
	{"dialog/id-reused", "", ready + dialog("u", "input", "") + reply("u", `,"value":"a"`) + dialog("u", "input", "") + reply("u", `,"value":"a"`) + exits, "dialog/id-reused#5"},
	{"dialog/id-reused", "1 and \"1\"", ready + dialog("1", "input", "") + "< {\"type\":\"extension_ui_request\",\"id\":1,\"method\":\"setTitle\",\"title\":\"x\"}\n" + reply("1", `,"value":"a"`) + exits, "field/unknown#4"},

	{"order/nesting", "an update without message", prompt("p", "hi") + started("p") + runStart + textUpdate("delta", 0, "delta", "x") + abortedRun + exits, "order/nesting#5"},
	{"order/nesting", "a turn outside a run", ready + turn + exits, "order/nesting#3"},
	{"order/nesting", "a turn outside a run, in an old version", "pi 0.82.1\n" + ready + turn + exits, ""},
	{"order/nesting", "a turn between agent_end and agent_settled", prompt("p", "hi") + started("p") + runStart + whole(assistant("", "stop")) + turnEnd(assistant("", "stop")) + runEnd() + turn + settled + exits, "order/nesting#9"},
	{"order/nesting", "a second answer in a turn", prompt("p", "hi") + started("p") + runStart + whole(assistant("", "stop")) + whole(assistant("", "stop")) + turnEnd(assistant("", "stop")) + runEnd() + settled + exits, "order/nesting#7"},
	{"order/nesting", "a question behind the answer", prompt("p", "hi") + started("p") + runStart + whole(assistant("", "stop")) + whole(user("hi")) + turnEnd(assistant("", "stop")) + runEnd() + settled + exits, "order/nesting#7"},
	{"order/nesting", "pending at the end", prompt("p", "hi") + started("p") + runStart + whole(assistant("", "pending")) + turnEnd(assistant("", "pending")) + runEnd() + settled + exits, "order/nesting#6"},
	{"order/nesting", "a gap before it", prompt("p", "hi") + started("p") + "* \"gap\",\"from\":\"agent\",\"lost\":{\"agent\":5}\n" + textUpdate("delta", 0, "delta", "x") + turnEnd(assistant("", "stop")) + runEnd() + settled + exits, ""},
	{"order/nesting", "a failed run", prompt("p", "hi") + started("p") + runStart + turnEnd(assistant("", "stop")) + whole(assistant("", "error")) + turnEnd(assistant("", "error")) + runEnd() + settled + exits, ""},
	{"order/nesting", "custom messages anywhere", ready + whole(`{"role":"custom","customType":"x","content":"x","display":true,"timestamp":1}`) + run("p", "hi", "hello") + exits, ""},
	{"order/nesting", "retry and further runs", prompt("p", "hi") + started("p") + runStart + whole(assistant("", "error")) + turnEnd(assistant("", "error")) + "< {\"type\":\"agent_end\",\"messages\":[],\"willRetry\":true}\n" +
		"< {\"type\":\"auto_retry_start\",\"attempt\":1,\"maxAttempts\":3,\"delayMs\":100,\"errorMessage\":\"x\"}\n" + runStart + whole(assistant("", "stop")) + "< {\"type\":\"auto_retry_end\",\"success\":true,\"attempt\":1}\n" + turnEnd(assistant("", "stop")) + runEnd() + settled + exits, ""},

	{"order/update", "no start", streamed(textUpdate("delta", 0, "delta", "x")), "order/update#6"},
	{"order/update", "behind the end", streamed(textUpdate("start", 0, "", "") + textUpdate("end", 0, "content", "") + textUpdate("delta", 0, "delta", "x")), "order/update#8"},
	{"order/update", "two starts", streamed(textUpdate("start", 0, "", "") + textUpdate("start", 0, "", "")), "order/update#7"},
	{"order/update", "another kind", streamed(textUpdate("start", 0, "", "") + updated(`{"type":"thinking_delta","contentIndex":0,"delta":"x"}`)), "order/update#7"},
	{"order/update", "blocks side by side", streamed(textUpdate("start", 0, "", "") + textUpdate("start", 1, "", "") + textUpdate("delta", 0, "delta", "a") + textUpdate("delta", 1, "delta", "b") + textUpdate("end", 1, "content", "b") + textUpdate("end", 0, "content", "a")), ""},

	{"order/deltas", "", streamed(textUpdate("start", 0, "", "") + textUpdate("delta", 0, "delta", "Hel") + textUpdate("delta", 0, "delta", "lo") + textUpdate("end", 0, "content", "Hello!")), "order/deltas#9"},
	{"order/deltas", "the same", streamed(textUpdate("start", 0, "", "") + textUpdate("delta", 0, "delta", "Hel\n") + textUpdate("delta", 0, "delta", "lo") + textUpdate("end", 0, "content", "Hel\nlo")), ""},
	{"order/deltas", "a character in halves", streamed(textUpdate("start", 0, "", "") + updated(`{"type":"text_delta","contentIndex":0,"delta":"\ud83d"}`) + updated(`{"type":"text_delta","contentIndex":0,"delta":"\ude00"}`) + textUpdate("end", 0, "content", "😀")), ""},
	{"order/deltas", "bash", ready + "> {\"id\":\"b\",\"type\":\"bash\",\"command\":\"ls\"}\n< {\"type\":\"bash_execution_update\",\"id\":\"b\",\"delta\":\"x\"}\n" +
		"< {\"id\":\"b\",\"type\":\"response\",\"command\":\"bash\",\"success\":true,\"data\":{\"output\":\"xy\",\"exitCode\":0,\"cancelled\":false,\"truncated\":false}}\n" + exits, "order/deltas#5"},

	{"order/bash", "", ready + "< {\"type\":\"bash_execution_update\",\"id\":\"b\",\"delta\":\"x\"}\n" + exits, "order/bash#3"},
	{"order/bash", "the command was not recorded", ready + "* \"gap\",\"from\":\"client\",\"lost\":{\"client\":30}\n< {\"type\":\"bash_execution_update\",\"id\":\"b\",\"delta\":\"x\"}\n" + exits, ""},

	{"order/turn-end", "another message", prompt("p", "hi") + started("p") + runStart + whole(assistant("", "stop")) + turnEnd(assistant(says("x"), "stop")) + runEnd() + settled + exits, "order/turn-end#7"},
	{"order/turn-end", "a result is missing", prompt("p", "hi") + started("p") + runStart + whole(assistant(toolCall("c1", "bash"), "toolUse")) + toolStart("c1", "bash") + toolEnd("c1", "bash") + whole(result("c1", "bash")) + turnEnd(assistant(toolCall("c1", "bash"), "toolUse")) + runEnd() + settled + exits, "order/turn-end#11"},
	{"order/turn-end", "the same", prompt("p", "hi") + started("p") + runStart + whole(assistant(says("x"), "stop")) + turnEnd(assistant(says("x"), "stop")) + runEnd() + settled + exits, ""},
	{"order/turn-end", "records are missing", prompt("p", "hi") + started("p") + runStart + whole(assistant("", "stop")) + "* \"gap\",\"from\":\"agent\",\"lost\":{\"agent\":5}\n" + turnEnd(assistant(says("x"), "stop")) + runEnd() + settled + exits, ""},

	{"order/tool-start", "no call", tools(toolStart("c1", "bash")+toolStart("c2", "bash")+toolEnd("c1", "bash")+toolEnd("c2", "bash"), result("c1", "bash")), "order/tool-start#8"},
	{"order/tool-start", "another name", tools(toolStart("c1", "read")+toolEnd("c1", "read"), result("c1", "bash")), "order/tool-start#7"},
	{"order/tool-start", "a nested call, which no message has", tools(toolStart("c1", "bash")+"< {\"type\":\"tool_execution_start\",\"toolCallId\":\"c1/1\",\"toolName\":\"read\",\"args\":{},\"parentToolCallId\":\"c1\"}\n< {\"type\":\"tool_execution_end\",\"toolCallId\":\"c1/1\",\"toolName\":\"read\",\"parentToolCallId\":\"c1\",\"result\":{},\"isError\":false}\n"+toolEnd("c1", "bash"), result("c1", "bash")), ""},
	{"order/tool-end", "never ends", prompt("p", "hi") + started("p") + runStart + whole(assistant(toolCall("c1", "bash"), "toolUse")) + toolStart("c1", "bash") + turnEnd(assistant(toolCall("c1", "bash"), "toolUse")) + runEnd() + settled + exits, "order/tool-end#8"},
	{"order/tool-end", "no start", tools(toolEnd("c0", "bash")+toolStart("c1", "bash")+toolEnd("c1", "bash"), result("c1", "bash")), "order/tool-end#7"},
	{"order/tool-end", "no result", tools(toolStart("c1", "bash") + toolEnd("c1", "bash")), "order/tool-end#9"},
	{"order/tool-end", "the result is early", tools(toolStart("c1", "bash"), result("c1", "bash")), "order/tool-end#8x2"},
	{"order/tool-end", "a late update", tools(toolStart("c1", "bash")+toolEnd("c1", "bash")+toolUpdate("c1", "bash"), result("c1", "bash")), "order/tool-end#9"},
	{"order/tool-end", "a late update, in an old version", old(tools(toolStart("c1", "bash")+toolEnd("c1", "bash")+toolUpdate("c1", "bash"), result("c1", "bash"))), ""},
	{"order/tool-end", "all in order", tools(toolStart("c1", "bash")+toolUpdate("c1", "bash")+toolEnd("c1", "bash"), result("c1", "bash")), ""},

	{"wait/response", "", ready + prompt("p", "hi") + at(20, exits), "wait/response#3"},
	{"wait/response", "nothing at all", prompt("p", "hi") + "20 * \"signal\",\"signal\":\"SIGTERM\",\"to\":\"agent\"\n* \"exit\",\"code\":143\n", "wait/response#1"},
	{"wait/response", "soon", ready + prompt("p", "hi") + at(3, exits), "end/eof#4"},
	{"wait/run", "", ready + prompt("p", "hi") + started("p") + runStart + whole(user("hi")) + at(20, exits), "wait/run#5"},
	{"wait/run", "a tool runs", ready + prompt("p", "hi") + started("p") + runStart + whole(assistant(toolCall("c1", "bash"), "toolUse")) + toolStart("c1", "bash") + at(20, exits), "end/eof#10"},

	{"end/no-start", "", "* \"exit\",\"code\":127,\"error\":\"no such file\"\n", "end/no-start#1"},
	{"end/no-start", "the agent's own 127", ready + "* \"eof\",\"from\":\"client\"\n* \"exit\",\"code\":127\n", "end/died#4"},
	{"end/eof", "", ready + "> {\"id\":\"b\",\"type\":\"bash\",\"command\":\"sleep 3\"}\n" + exits, "end/eof#4"},
	{"end/eof", "nothing open", ready + exits, ""},
	{"end/killed", "", ready + prompt("p", "hi") + started("p") + runStart + "* \"signal\",\"signal\":\"SIGTERM\",\"to\":\"agent\"\n* \"exit\",\"code\":143\n", "end/killed#8"},
	{"end/killed", "of a signal of its own", ready + prompt("p", "hi") + started("p") + runStart + "* \"exit\",\"signal\":\"SIGKILL\"\n", "end/killed#7"},
	{"end/killed", "idle", ready + "* \"signal\",\"signal\":\"SIGTERM\",\"to\":\"agent\"\n* \"exit\",\"code\":143\n", ""},
	{"end/killed-by-line", "an id that is nested deep", ready + "> {\"id\":" + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + ",\"type\":\"abort\"}\n* \"exit\",\"code\":1\n", "end/killed-by-line#3"},
	{"end/killed-by-line", "with more behind it", ready + "> null\n" + command("x", "abort") + "* \"exit\",\"code\":1\n", "end/killed-by-line#3"},
	{"end/killed-by-line", "it was answered", ready + "> 42\n< {\"type\":\"response\",\"success\":false,\"error\":\"Unknown command: undefined\"}\n* \"exit\",\"code\":1\n", "framing/not-object#3 end/died#5"},
	{"end/killed-by-line", "long after it", ready + "> null\n9 * \"exit\",\"code\":1\n", "framing/not-object#3 end/died#4"},
	{"end/reader-gone", "", ready + prompt("p", "hi") + started("p") + runStart + "* \"closed\",\"from\":\"agent\"\n* \"exit\",\"code\":1\n", "end/reader-gone#8"},
	{"end/reader-gone", "at the end", ready + "* \"eof\",\"from\":\"client\"\n* \"closed\",\"from\":\"agent\"\n* \"exit\",\"code\":0\n", ""},
	{"end/open", "", ready + command("a", "abort") + "* \"exit\",\"code\":0\n", "end/open#4"},
	{"end/open", "the client had closed its input", ready + command("a", "abort") + exits, "end/eof#4"},
	{"end/left", "", ready + prompt("p", "hi") + started("p") + runStart + "* \"exit\",\"code\":0\n", "end/left#7"},
	{"end/left", "the run has settled", ready + run("p", "hi", "hello") + "* \"exit\",\"code\":0\n", ""},
	{"end/died", "", ready + command("a", "abort") + "* \"exit\",\"code\":7\n", "end/died#4"},
	{"end/died", "before it said anything", "* \"exit\",\"code\":1\n", "end/died#1"},
	{"end/died", "of a signal", ready + command("a", "abort") + "* \"signal\",\"signal\":\"SIGHUP\",\"to\":\"agent\"\n* \"exit\",\"code\":129\n", "end/killed#5"},
	{"end/died", "with 0", ready + "* \"exit\",\"code\":0\n", ""},
	{"end/cut", "", ready + prompt("p", "hi") + started("p") + runStart, "end/cut#6"},
	{"end/cut", "idle", ready, ""},
	{"end/stderr", "", ready + "! warming up\n! TypeError: x is not a function\n!     at foo.js:1\n* \"exit\",\"code\":7\n", "end/stderr#3x3 end/died#6"},
	{"end/stderr", "long before", ready + "! warming up\n4 " + exits, ""},

	{"flow/stall", "", ready + "* \"stall\",\"from\":\"agent\",\"since\":100000000,\"bytes\":9\n2 * \"stall\",\"from\":\"agent\",\"since\":100000000,\"for\":1900000000\n" + exits, "flow/stall#3"},
	{"flow/stall", "short", ready + "* \"stall\",\"from\":\"agent\",\"since\":100000000,\"bytes\":9\n0.5 * \"stall\",\"from\":\"agent\",\"since\":100000000,\"for\":400000000\n" + exits, ""},
	{"flow/stall", "to the end", ready + "* \"stall\",\"from\":\"stderr\",\"since\":100000000,\"bytes\":9\n5 " + exits, "flow/stall#3"},
	{"flow/agent-stall", "", ready + "* \"stall\",\"from\":\"client\",\"since\":100000000,\"bytes\":9\n2 * \"stall\",\"from\":\"client\",\"since\":100000000,\"for\":1900000000\n" + exits, "flow/agent-stall#3"},
	{"flow/agent-stall", "while pi starts", command("a", "abort") + "* \"stall\",\"from\":\"client\",\"since\":1000000,\"bytes\":9\n2 * \"stall\",\"from\":\"client\",\"since\":1000000,\"for\":1900000000\n" + answer("a", "abort") + exits, ""},

	{"secret/plain", "", ready + "> {\"id\":\"b\",\"type\":\"set_session_name\",\"name\":\"sk-ant-api03-abcdefghij0123456789klmnop\"}\n< {\"type\":\"session_info_changed\"}\n" + answer("b", "set_session_name") + exits, "secret/plain#3"},
	{"secret/plain", "a bearer token", ready + "< {\"type\":\"extension_error\",\"extensionPath\":\"x\",\"event\":\"y\",\"error\":\"Authorization: Bearer abcdef0123456789abcdef0123\"}\n" + exits, "secret/plain#3"},
	{"secret/plain", "only looks like one", ready + "> {\"id\":\"b\",\"type\":\"set_session_name\",\"name\":\"sk-learn-is-a-very-long-name-of-a-program, task-1234567890123456789012345\"}\n" + answer("b", "set_session_name") + exits, ""},
}

// at is a piece that begins at a time, in seconds.
func at(t float64, piece string) string { return fmt.Sprint(t) + " " + piece }

// old is a session as pi 0.74.2 writes it.
func old(text string) string {
	for _, newer := range []string{`,"data":{"disposition":"started"}`, `,"willRetry":false`, settled} {
		text = strings.ReplaceAll(text, newer, "")
	}
	return "pi 0.74.2\n" + text
}

var ready2 = command("r2", "abort") + answer("r2", "abort")

// abortedRun is the end of a run whose turn has begun.
var abortedRun = whole(assistant("", "aborted")) + turnEnd(assistant("", "aborted")) + runEnd() + "< {\"type\":\"agent_settled\",\"aborted\":true}\n"

// streamed is a run in which the assistant's message has these updates.
func streamed(updates string) string {
	return prompt("p", "hi") + started("p") + runStart + start(assistant("", "pending")) + updates + end(assistant("", "stop")) + turnEnd(assistant("", "stop")) + runEnd() + settled + exits
}

// tools is a run whose only turn has one call, c1 of bash.
func tools(events string, results ...string) string {
	return prompt("p", "hi") + started("p") + "< {\"type\":\"agent_start\"}\n" + toolTurn(events, results...) + runEnd() + settled + exits
}

func TestRules(t *testing.T) {
	fires, silent := map[string]bool{}, map[string]bool{}
	for _, test := range ruleTests {
		name := test.rule + " " + test.name
		t.Run(name, func(t *testing.T) {
			s := ended(t, test.text)
			list := s.Findings()
			if got := ids(list); got != test.want {
				t.Errorf("found %s, want %s\n%s", got, test.want, words(list))
			}
			for _, f := range list {
				if strings.HasPrefix(f.Rule, "framing/") {
					continue // has tests of its own
				}
				if r := ruleOf(f.Rule); f.Text == "" || f.Hint == "" || f.Severity != r.Severity || strings.Contains(f.Text, "%!") || strings.HasSuffix(f.Text, ".") {
					t.Errorf("finding %+v", f)
				}
			}
		})
		if strings.Contains(test.want, test.rule+"#") {
			fires[test.rule] = true
		} else {
			silent[test.rule] = true
		}
	}
	for _, r := range rules {
		if !fires[r.ID] {
			t.Errorf("no session in which %s finds something", r.ID)
		}
		if !silent[r.ID] {
			t.Errorf("no session that %s could be suspected to find something in, and does not", r.ID)
		}
		if r.Explain == "" || r.Title == "" || r.hint == "" || r.example == "" {
			t.Errorf("%s says too little of itself", r.ID)
		}
	}
}

func words(list []record.Finding) string {
	var b strings.Builder
	for _, f := range list {
		b.WriteString("  " + f.Rule + ": " + f.Text + "\n")
	}
	return b.String()
}
