package pitest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// message is what a script and its turn are read from: one message of the conversation that a request repeats.
type message struct {
	Role    string
	Content content
}

// content is the text of a message, which comes as a string or in parts, some of which are no text.
type content string

func (c *content) UnmarshalJSON(data []byte) error {
	if !bytes.HasPrefix(data, []byte("[")) {
		return json.Unmarshal(data, (*string)(c)) // null leaves it empty
	}
	var parts []struct{ Text string }
	if err := json.Unmarshal(data, &parts); err != nil {
		return err
	}
	for _, part := range parts {
		*c += content(part.Text)
	}
	return nil
}

// nextTurn returns the latest script in the user's messages, and those of its steps that are the model's next turn.
func nextTurn(messages []message) (script string, steps []string) {
	answered, last := 0, ""
	for i := len(messages) - 1; i >= 0; i-- {
		switch m := messages[i]; m.Role {
		case "assistant":
			answered++
		case "user":
			if script, ok := scriptIn(string(m.Content)); ok {
				turn := "say:done"
				if lines := strings.Split(script, "\n"); answered < len(lines) {
					turn = lines[answered]
				}
				return script, strings.Split(turn, " ++ ")
			}
			if last == "" {
				last = string(m.Content)
			}
		}
	}
	return "", []string{"say:You said: " + last}
}

var bracketed = regexp.MustCompile(`(?s)\[\[(.*?)\]\]`)

func scriptIn(text string) (script string, ok bool) {
	if verb, _, _ := strings.Cut(text, ":"); verbs[verb] != nil {
		return text, true
	}
	found := bracketed.FindAllStringSubmatch(text, -1)
	if len(found) == 0 {
		return "", false
	}
	return found[len(found)-1][1], true
}

// errAnswered ends an answer that needs nothing more.
var errAnswered = errors.New("answered")

// A step's error, of any kind, ends the answer.
type step func(a *answer, argument string) error

var verbs = map[string]step{
	"say":   (*answer).say,
	"think": (*answer).think,
	"long":  (*answer).long,
	"burst": (*answer).burst,
	"slow":  (*answer).slow,
	"nasty": (*answer).nasty,
	"tool":  (*answer).tool,
	"err":   (*answer).err,

	"wait":  func(a *answer, name string) error { return a.wait(a.model.gate(name)) },
	"stall": func(a *answer, _ string) error { return a.wait(nil) },
	"cut":   func(a *answer, _ string) error { a.send(); panic(http.ErrAbortHandler) },

	"length": func(a *answer, _ string) error { a.finishReason = "length"; return nil },
	"delta":  func(a *answer, size string) error { a.deltaUnits = max(1, number(size, 16)); return nil },
	"pause":  func(a *answer, ms string) error { a.pause = milliseconds(ms); return nil },
	"usage": func(a *answer, counts string) error {
		in, out, _ := strings.Cut(counts, "/")
		a.tokensIn, a.tokensOut = number(in, 0), number(out, -1)
		return nil
	},
	"overflow": func(a *answer, times string) error {
		if !a.model.fails(a.script, "overflow:"+times, number(times, 1)) {
			return nil
		}
		return a.fail(http.StatusBadRequest,
			"This model's maximum context length is 1000 tokens, but the request has 2000.", "context_length_exceeded")
	},
}

// do does one step; what is none is said.
func (a *answer) do(step string) error {
	verb, argument, _ := strings.Cut(step, ":")
	if do := verbs[verb]; do != nil {
		return do(a, argument)
	}
	return a.say(step)
}

func (a *answer) say(text string) error {
	return a.stream(units(text), `{"content":%s}`)
}

func (a *answer) think(text string) error {
	return a.stream(units(text), `{"reasoning_content":%s}`)
}

func (a *answer) nasty(string) error {
	return a.stream(nastyUnits, `{"content":%s}`)
}

func (a *answer) slow(argument string) error {
	count, ms, _ := strings.Cut(strings.TrimSuffix(argument, "ms"), "x")
	a.pause = milliseconds(ms)
	for i := range number(count, 10) {
		if err := a.say(fmt.Sprintf("word%d ", i+1)); err != nil {
			return err
		}
	}
	return nil
}

func (a *answer) burst(count string) error {
	for range number(count, 0) {
		if err := a.say("abcd"); err != nil {
			return err
		}
	}
	return nil
}

func (a *answer) long(size string) error {
	const most = 64 << 10 // bytes, and UTF-16 units, a delta
	a.deltaUnits = most
	var text []byte
	for left, line := bytesIn(size), 1; left > 0; {
		n := min(left, most)
		for ; len(text) < n; line++ {
			text = fmt.Appendf(text, "line %08d: the quick \"brown\" fox\\jumps over the lazy dog\n", line)
		}
		if err := a.say(string(text[:n])); err != nil {
			return err
		}
		text = append(text[:0], text[n:]...)
		left -= n
	}
	return nil
}

func (a *answer) err(argument string) error {
	status, times, _ := strings.Cut(argument, "x")
	if !a.model.fails(a.script, "err:"+argument, number(times, 1)) {
		return nil
	}
	message := "The server had an error"
	if status == "529" {
		message = "Overloaded"
	}
	return a.fail(max(400, number(status, 500)), message, status)
}

func (a *answer) tool(call string) error {
	name, text, _ := strings.Cut(call, " ")
	arguments := toolArguments(name, text)
	index := a.toolCalls
	a.toolCalls++
	a.finishReason = "tool_calls"
	if err := a.delta(fmt.Sprintf(`{"tool_calls":[{"index":%d,"id":"call_%d_%d","type":"function","function":{"name":%s,"arguments":""}}]}`,
		index, a.number, index, quoteText(name))); err != nil {
		return err
	}
	return a.stream(units(arguments), fmt.Sprintf(`{"tool_calls":[{"index":%d,"function":{"arguments":%%s}}]}`, index))
}

// toolArguments returns the JSON of a tool call's arguments, which are given as JSON or in shorthand.
func toolArguments(name, text string) string {
	if text == "" {
		return "{}"
	}
	if strings.HasPrefix(text, "{") {
		return text
	}
	switch name {
	case "bash":
		return `{"command":` + quoteText(text) + `}`
	case "read":
		return `{"path":` + quoteText(text) + `}`
	case "write":
		path, content, _ := strings.Cut(text, " ")
		return `{"path":` + quoteText(path) + `,"content":` + quoteText(content) + `}`
	}
	return text
}

// number is text as a number that is not negative, or otherwise.
func number(text string, otherwise int) int {
	if n, err := strconv.Atoi(text); err == nil && n >= 0 {
		return n
	}
	return otherwise
}

func milliseconds(text string) time.Duration {
	return time.Duration(number(text, 0)) * time.Millisecond
}

// bytesIn reads a size such as "5MB", "64KiB" or "300"; 0 for what is none.
func bytesIn(size string) int {
	for _, unit := range []struct {
		name string
		size int
	}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"KB", 1e3}, {"MB", 1e6}, {"B", 1}} {
		if digits, ok := strings.CutSuffix(size, unit.name); ok {
			return number(digits, 0) * unit.size
		}
	}
	return number(size, 0)
}
