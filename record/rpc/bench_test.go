package rpc

import (
	"strings"
	"testing"
)

var delta = []byte(`{"type":"message_update","usage":{"input":1496,"output":8,"cacheRead":0,"cacheWrite":0,"reasoning":0,"totalTokens":1504,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0,"totalFromProvider":false}},"assistantMessageEvent":{"type":"text_delta","contentIndex":1,"delta":"Hell"}}`)

// longUpdate is a message_update as pi until 0.83.0 wrote them: the whole message each time.
var longUpdate = []byte(`{"type":"message_update","assistantMessageEvent":{"type":"text_delta","contentIndex":0,"delta":"x","partial":{"role":"assistant","content":[]}},"message":{"role":"assistant","content":[{"type":"text","text":"` + strings.Repeat("all that was said until now, ", 10000) + `"}]}}`)

var benchRecords = map[string][]byte{
	"delta":    delta,
	"long":     longUpdate,
	"response": []byte(`{"id":"req-17","type":"response","command":"bash","success":true,"data":{"output":"step 1\nstep 2\n","exitCode":0,"cancelled":false,"truncated":false}}`),
	"start":    []byte(`{"type":"turn_start"}`),
}

func BenchmarkLook(b *testing.B) {
	for name, msg := range benchRecords {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(msg)))
			b.ReportAllocs()
			for b.Loop() {
				Look("agent", msg)
			}
		})
	}
}

func BenchmarkValidate(b *testing.B) {
	for name, msg := range benchRecords {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(msg)))
			b.ReportAllocs()
			for b.Loop() {
				Validate(Version{}, "agent", msg)
			}
		})
	}
}

func BenchmarkGuess(b *testing.B) {
	var g Guess
	b.SetBytes(int64(len(delta)))
	b.ReportAllocs()
	for b.Loop() {
		g.See("agent", delta)
	}
}

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		parse(vocabularyJSON)
	}
}
