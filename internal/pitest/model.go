package pitest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// Model is a fake language model on loopback: an OpenAI-compatible chat-completions server, streaming only. What it
// answers is written in the prompt.
//
// Each line of a prompt is one turn of the model; the results of a turn's tool calls lead to the next line, and after
// the last one the model says "done". A line is a list of steps joined by " ++ ", each VERB:ARGUMENT:
//
//	say:TEXT  think:TEXT     streams text, or reasoning
//	long:SIZE                lines of ASCII text in large deltas; SIZE as 5MB, 64KiB, 300
//	burst:N                  N deltas of 4 characters each
//	slow:NxMS                N words, MS milliseconds apart
//	nasty:                   separators, controls, emoji, lone surrogates: NastyJSON
//	tool:NAME ARGUMENTS      a tool call; ARGUMENTS are a JSON object, or shorthand for bash, read, write
//	wait:NAME                goes on when the test calls Release(NAME)
//	delta:N  pause:MS        from here on: UTF-16 units a delta (at first 16), milliseconds after each (at first 0)
//	usage:IN/OUT             the token counts to report
//	length:                  the answer ends as one that reached its longest length
//	err:STATUSxN             answers the first N requests that get to this step with an HTTP status; first in its line
//	overflow:N               the same with the error for a prompt that exceeds the model's context
//	stall:  cut:             sends nothing more; drops the connection
//
// In a text that does not begin with a step, the script is what stands in the last [[...]]. A message without a script
// goes on with the one before it, since pi adds messages of its own; where there has been none, the model repeats what it
// was told. Methods may be called from any goroutine.
type Model struct {
	server *httptest.Server

	mu       sync.Mutex
	answers  int
	failures map[string]int           // by script and step: how often it has failed so far
	gates    map[string]chan struct{} // by the name in wait:NAME; closed by Release
}

// NewModel starts a model, which is stopped when the test ends; what it is streaming then is cut.
func NewModel(t testing.TB) *Model {
	m := &Model{failures: map[string]int{}, gates: map[string]chan struct{}{}}
	m.server = httptest.NewServer(http.HandlerFunc(m.serve))
	t.Cleanup(func() {
		m.server.Listener.Close() // first, or a client that tries again would come in between
		m.server.CloseClientConnections()
		m.server.Close() // waits for the handlers
	})
	return m
}

// URL is the base URL of the API, as in "http://127.0.0.1:40791/v1".
func (m *Model) URL() string { return m.server.URL + "/v1" }

// Release lets every step wait:NAME go on, those to come too.
func (m *Model) Release(name string) {
	gate := m.gate(name)
	m.mu.Lock()
	defer m.mu.Unlock()
	select {
	case <-gate:
	default:
		close(gate)
	}
}

func (m *Model) gate(name string) chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.gates[name] == nil {
		m.gates[name] = make(chan struct{})
	}
	return m.gates[name]
}

// fails counts one more request at a step; it is true for the first n of them.
func (m *Model) fails(script, step string, n int) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.failures[script+"\x00"+step]++
	return m.failures[script+"\x00"+step] <= n
}

func (m *Model) serve(w http.ResponseWriter, r *http.Request) {
	if !strings.HasSuffix(r.URL.Path, "/chat/completions") {
		http.NotFound(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	var request struct {
		Model    string
		Messages []message
	}
	if err := json.Unmarshal(body, &request); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	m.mu.Lock()
	m.answers++
	number := m.answers
	m.mu.Unlock()
	script, turn := nextTurn(request.Messages)
	a := &answer{
		ctx: r.Context(), w: w, flush: http.NewResponseController(w).Flush,
		model: m, name: request.Model, number: number, script: script,
		deltaUnits: 16, finishReason: "stop", tokensIn: (len(body) + 3) / 4, tokensOut: -1,
	}
	for _, step := range turn {
		if err := a.do(step); err != nil {
			return // answered otherwise, or nobody listens
		}
	}
	a.finish()
}

// answer is one streamed answer.
type answer struct {
	ctx    context.Context // ends when the client has gone
	w      http.ResponseWriter
	flush  func() error
	model  *Model
	name   string // of the model that was asked for
	number int
	script string

	deltaUnits   int           // UTF-16 units a delta
	pause        time.Duration // after each delta
	toolCalls    int
	streamed     int // UTF-16 units so far
	tokensIn     int
	tokensOut    int // to report; -1: a quarter of streamed
	finishReason string
}

// event writes one server-sent event with the members of a chunk that differ. It blocks while the client does not read.
func (a *answer) event(members string) error {
	if a.w.Header().Get("Content-Type") == "" {
		a.w.Header().Set("Content-Type", "text/event-stream")
	}
	_, err := fmt.Fprintf(a.w, `data: {"id":"answer-%d","object":"chat.completion.chunk","created":0,"model":%s,%s}`+"\n\n",
		a.number, quoteText(a.name), members)
	return err
}

func (a *answer) delta(delta string) error {
	if err := a.event(`"choices":[{"index":0,"delta":` + delta + `,"finish_reason":null}]`); err != nil {
		return err
	}
	return a.sleep(a.pause)
}

// stream sends a text in deltas; format holds a %s where a delta's JSON string goes. A delta may end between the two
// halves of a surrogate pair, as a real server's may.
func (a *answer) stream(text []uint16, format string) error {
	a.streamed += len(text)
	for len(text) > 0 {
		n := min(a.deltaUnits, len(text))
		if err := a.delta(fmt.Sprintf(format, quote(text[:n]))); err != nil {
			return err
		}
		text = text[n:]
	}
	return nil
}

// sleep sends what is buffered and waits, unless d is 0. It ends early, with an error, when the client has gone.
func (a *answer) sleep(d time.Duration) error {
	if d <= 0 {
		return a.ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	a.send()
	select {
	case <-timer.C:
		return nil
	case <-a.ctx.Done():
		return a.ctx.Err()
	}
}

// wait sends what is buffered and waits until gate is closed; nil never is. It ends early as sleep does.
func (a *answer) wait(gate <-chan struct{}) error {
	a.send()
	select {
	case <-gate:
		return nil
	case <-a.ctx.Done():
		return a.ctx.Err()
	}
}

// send sends what is buffered. What has nothing to send stays without a response.
func (a *answer) send() {
	if a.w.Header().Get("Content-Type") != "" {
		a.flush()
	}
}

// fail is the whole answer: an HTTP status.
func (a *answer) fail(status int, message, code string) error {
	a.w.Header().Set("Content-Type", "application/json")
	a.w.WriteHeader(status)
	fmt.Fprintf(a.w, `{"error":{"message":%s,"type":"server_error","code":%s}}`, quoteText(message), quoteText(code))
	return errAnswered
}

func (a *answer) finish() {
	out := a.tokensOut
	if out < 0 {
		out = (a.streamed + 3) / 4
	}
	a.event(fmt.Sprintf(`"choices":[{"index":0,"delta":{},"finish_reason":%q}]`, a.finishReason))
	a.event(fmt.Sprintf(`"choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}`,
		a.tokensIn, out, a.tokensIn+out))
	io.WriteString(a.w, "data: [DONE]\n\n")
}
