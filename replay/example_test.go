package replay_test

import (
	"bufio"
	"context"
	"fmt"
	"io"

	"pitap/replay"
)

// fixture is a capture, as pitap record and pitap cut make them. Tests keep it in a file and use replay.Open.
const fixture = `{"pitap":1,"agent":{"version":"1.6.0"}}
{"from":"client","msg":{"id":"1","type":"prompt","message":"Say hello"}}
{"from":"agent","msg":{"id":"1","type":"response","command":"prompt","success":true}}
{"from":"agent","msg":{"type":"agent_start"}}
{"from":"agent","msg":{"type":"agent_settled","aborted":false}}
`

// A client's test, without a process: the client gets the ends of two pipes.
func ExampleAgent() {
	script, err := replay.Parse([]byte(fixture))
	if err != nil {
		panic(err)
	}
	stdin, toAgent := io.Pipe()
	fromAgent, stdout := io.Pipe()
	agent := replay.Agent{Script: script, In: stdin, Out: stdout}
	ended := make(chan *replay.Report)
	go func() {
		report, err := agent.Run(context.Background())
		if err != nil {
			panic(err)
		}
		ended <- report
	}()

	// The client under test:
	fmt.Fprintln(toAgent, `{"id":"req-1","type":"prompt","message":"Say hello"}`)
	records := bufio.NewScanner(fromAgent)
	for range 3 {
		records.Scan()
		fmt.Println(records.Text())
	}
	toAgent.Close()

	// In a test: if report.Failed() { t.Error(report) }
	fmt.Print(<-ended)
	// Output:
	// {"id":"req-1","type":"response","command":"prompt","success":true}
	// {"type":"agent_start"}
	// {"type":"agent_settled","aborted":false}
	// ok: complete
}
