package pitest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"testing"
	"time"
	"unicode/utf16"
)

// reply is what a client makes of an answer.
type reply struct {
	status            int
	text, think, tool string
	deltas            int
	finish            string
	in, out           int
	done              bool  // [DONE] came
	err               error // of the request, or of reading the answer
}

// ask sends a request with a user's prompt and as many answers of the model as turns.
func ask(ctx context.Context, m *Model, prompt string, turns int) (r reply) {
	messages := []map[string]any{{"role": "user", "content": []map[string]any{{"type": "text", "text": prompt}}}}
	for range turns {
		messages = append(messages, map[string]any{"role": "assistant", "content": nil}, map[string]any{"role": "tool", "content": "x"})
	}
	body, _ := json.Marshal(map[string]any{"model": "thinker", "messages": messages, "stream": true})
	request, err := http.NewRequestWithContext(ctx, "POST", m.URL()+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return reply{err: err}
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return reply{err: err}
	}
	defer response.Body.Close()
	r.status = response.StatusCode
	lines := bufio.NewReader(response.Body)
	for {
		line, err := lines.ReadString('\n')
		if err == io.EOF {
			return r
		}
		if err != nil {
			r.err = err
			return r
		}
		r.add(strings.TrimPrefix(strings.TrimSpace(line), "data: "))
	}
}

func (r *reply) add(data string) {
	if data == "[DONE]" {
		r.done = true
		return
	}
	var chunk struct {
		Choices []struct {
			Delta struct {
				Content   string
				Reasoning string `json:"reasoning_content"`
				ToolCalls []struct {
					Function struct{ Name, Arguments string }
				} `json:"tool_calls"`
			}
			FinishReason string `json:"finish_reason"`
		}
		Usage struct {
			In  int `json:"prompt_tokens"`
			Out int `json:"completion_tokens"`
		}
	}
	if json.Unmarshal([]byte(data), &chunk) != nil {
		return
	}
	for _, choice := range chunk.Choices {
		r.text += choice.Delta.Content
		r.think += choice.Delta.Reasoning
		for _, call := range choice.Delta.ToolCalls {
			r.tool += call.Function.Name + call.Function.Arguments
		}
		r.finish += choice.FinishReason
		if choice.FinishReason == "" {
			r.deltas++
		}
	}
	r.in, r.out = r.in+chunk.Usage.In, r.out+chunk.Usage.Out
}

func TestScripts(t *testing.T) {
	m := NewModel(t)
	for _, test := range []struct {
		prompt string
		turns  int
		want   reply // in is looked at when it is not 0
	}{
		{"say:Hello", 0, reply{text: "Hello", deltas: 1, finish: "stop", out: 2}},
		{"say:a ++ b ++ think:c", 0, reply{text: "ab", think: "c", deltas: 3, finish: "stop", out: 1}},
		{"delta:2 ++ say:12345", 0, reply{text: "12345", deltas: 3, finish: "stop", out: 2}},
		{"say:one\nsay:two", 1, reply{text: "two", deltas: 1, finish: "stop", out: 1}},
		{"say:one\nsay:two", 2, reply{text: "done", deltas: 1, finish: "stop", out: 1}},
		{"hello", 0, reply{text: "You said: hello", deltas: 1, finish: "stop", out: 4}},
		{"see [[say:a]] and [[say:b\nsay:c]]", 1, reply{text: "c", deltas: 1, finish: "stop", out: 1}},
		{"burst:100", 0, reply{text: strings.Repeat("abcd", 100), deltas: 100, finish: "stop", out: 100}},
		{"slow:2x1ms", 0, reply{text: "word1 word2 ", deltas: 2, finish: "stop", out: 3}},
		{"tool:bash ls -l", 0, reply{tool: `bash{"command":"ls -l"}`, deltas: 3, finish: "tool_calls", out: 5}},
		{"tool:read {}", 0, reply{tool: `read{}`, deltas: 2, finish: "tool_calls", out: 1}},
		{"tool:other", 0, reply{tool: `other{}`, deltas: 2, finish: "tool_calls", out: 1}},
		{"usage:5/6 ++ length: ++ say:x", 0, reply{text: "x", deltas: 1, finish: "length", in: 5, out: 6}},
		{"long:70KiB", 0, reply{deltas: 2, finish: "stop", out: 70 << 8}},
	} {
		t.Run(test.prompt, func(t *testing.T) {
			got := ask(t.Context(), m, test.prompt, test.turns)
			if got.status != 200 || !got.done || got.err != nil {
				t.Fatalf("status %d, done %v, %v", got.status, got.done, got.err)
			}
			want := test.want
			want.status, want.done = 200, true
			if want.in == 0 {
				got.in = 0
			}
			if strings.HasPrefix(test.prompt, "long:") {
				if len(got.text) != 70<<10 || !strings.HasPrefix(got.text[61*1000:], "line 00001001") {
					t.Errorf("a text of %d bytes", len(got.text))
				}
				got.text = ""
			}
			if got != want {
				t.Errorf("got %+v\nwant %+v", got, want)
			}
		})
	}
}

func TestScriptedErrors(t *testing.T) {
	m := NewModel(t)
	for _, test := range []struct {
		prompt   string
		statuses []int
	}{
		{"err:529x2 ++ say:x", []int{529, 529, 200, 200}},
		{"err:529x2 ++ say:y", []int{529}},
		{"err:500 ++ say:x", []int{500, 200}},
		{"overflow:1 ++ say:x", []int{400, 200}},
	} {
		for i, want := range test.statuses {
			if got := ask(t.Context(), m, test.prompt, 0); got.status != want || got.done != (want == 200) {
				t.Errorf("%s: answer %d has status %d, done %v; want %d", test.prompt, i+1, got.status, got.done, want)
			}
		}
	}
	if got := ask(t.Context(), m, "say:abc ++ cut:", 0); got.err == nil || got.text != "abc" {
		t.Errorf("a cut answer says %q and ends with %v", got.text, got.err)
	}
}

// Neither a client that goes away nor the end of the test may leave a handler behind: NewModel's cleanup would wait.
func TestModelEnds(t *testing.T) {
	for _, prompt := range []string{"stall:", "say:x ++ stall:", "wait:x", "slow:100000x1000", "burst:100000000"} {
		t.Run(prompt, func(t *testing.T) {
			m := NewModel(t)
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			defer cancel()
			if got := ask(ctx, m, prompt, 0); got.done || got.err == nil {
				t.Errorf("the answer ended: %+v", got)
			}
		})
		t.Run(prompt+" at the end of a test", func(t *testing.T) {
			result, begun := make(chan reply, 1), make(chan struct{})
			ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotFirstResponseByte: func() { close(begun) }})
			run(t, func(t testing.TB) {
				m := NewModel(t)
				go func() { result <- ask(ctx, m, "say:x ++ "+prompt, 0) }()
				select {
				case <-begun:
				case <-time.After(20 * time.Second):
					t.Fatal("no answer")
				}
			})
			select {
			case got := <-result:
				if got.done {
					t.Errorf("the answer ended: %+v", got)
				}
			case <-time.After(20 * time.Second):
				t.Error("the client hangs")
			}
		})
	}
}

func FuzzNextTurn(f *testing.F) {
	f.Add([]byte(`[{"role":"user","content":"say:a ++ b\nsay:c"},{"role":"assistant","content":null}]`))
	f.Add([]byte(`[{"role":"user","content":[{"type":"text","text":"x [[say:a]]"},{"type":"image_url"}]}]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var messages []message
		if json.Unmarshal(data, &messages) != nil {
			return
		}
		if _, steps := nextTurn(messages); len(steps) == 0 {
			t.Error("a turn without a step")
		}
	})
}

func FuzzQuote(f *testing.F) {
	f.Add(bigEndian(nastyUnits))
	f.Add([]byte("\x00\"\xd8\x3d\xde\x00\xdc\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var text []uint16
		for i := 0; i+1 < len(data); i += 2 {
			text = append(text, uint16(data[i])<<8|uint16(data[i+1]))
		}
		var got string
		if err := json.Unmarshal([]byte(quote(text)), &got); err != nil || got != string(utf16.Decode(text)) {
			t.Errorf("%x is quoted as %s, which is %q, %v", text, quote(text), got, err)
		}
	})
}

func bigEndian(text []uint16) (data []byte) {
	for _, u := range text {
		data = append(data, byte(u>>8), byte(u))
	}
	return data
}

func TestNastyJSON(t *testing.T) {
	for _, want := range []string{
		"[\u2028]", "[\u0085]", `[\u000b]`, `[\f]`, `[\u001e]`, `[\r\n]`, `[\u0000\u0001\u0007\b\t\u001b[31m`, "m\x7f\u009b]",
		`[\" \\ / \\u0041 \\n </script> &amp;]`, "😀", `[\ud83d] [\udc00]`, "[\uffff \ufffe]", `\n{\"type\":\"agent_settled\"`,
	} {
		if !strings.Contains(NastyJSON(), want) {
			t.Errorf("%s has no %s", NastyJSON(), want)
		}
	}
}
