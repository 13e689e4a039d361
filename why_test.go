//go:build unix

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"pitap/internal/pitest"
	"pitap/record"
)

// wedging is an extension whose commands do not end.
const wedging = `export default function (pi) {
	pi.registerCommand("never", { description: "never ends", handler: () => new Promise(() => {}) });
	pi.registerCommand("ask", { description: "asks", handler: async (_args, ctx) => void (await ctx.ui.confirm("Delete it?", "For good.")) });
	pi.on("tool_call", async (event, ctx) => {
		if (!event.input.command?.includes("danger")) return;
		if (!(await ctx.ui.confirm("Run it?", event.input.command))) return { block: true };
	});
}
`

// wedge is a session with the real pi that does not go on.
type wedge struct {
	*pitest.Conversation
	f *front
}

// wedgedPi starts pi behind pitap.
func wedgedPi(t *testing.T) *wedge {
	t.Helper()
	pi := pitest.NewPi(t)
	f := behind(t)
	extension := filepath.Join(t.TempDir(), "wedging.ts")
	if err := os.WriteFile(extension, []byte(wedging), 0o600); err != nil {
		t.Fatal(err)
	}
	pi.Args = append(pi.Args, "--extension", extension)
	cmd := pi.Command(filepath.Join(f.bin, "pitap"), "record", "--")
	cmd.Env = append(cmd.Env, "PITAP_DIR="+f.dir)
	w := &wedge{pitest.Start(t, cmd, pitest.Pipes), f}
	w.Send(`{"id":"first","type":"get_state"}`)
	w.ExpectFunc("a response", func(r pitest.Record) bool { return r.Kind() == "response:get_state" })
	return w
}

// why waits until pitap why says something.
func (w *wedge) why(t *testing.T, when, want string) {
	t.Helper()
	re, said := regexp.MustCompile(want), ""
	limit := time.Now().Add(20 * time.Second)
	for time.Now().Before(limit) {
		out, stderr, code := pitap(t, w.f.dir, "why")
		if code == 0 && re.MatchString(out) {
			return
		}
		said = out + stderr // perhaps nothing of the capture has been written yet
	}
	t.Errorf("%s: why says %q\nwant %s", when, said, want)
}

// finds waits until check finds a rule in the session that goes on.
func (w *wedge) finds(t *testing.T, rule, words string) {
	t.Helper()
	re := regexp.MustCompile(" " + rule + " .*\n.*" + words)
	eventually(t, rule+" to be found", func() bool {
		out, _, _ := pitap(t, w.f.dir, "check")
		return re.MatchString(out)
	})
}

// check looks whether check finds a rule, once, when the session has ended.
func (w *wedge) check(t *testing.T, rule string) {
	t.Helper()
	path := w.f.onlyCapture()
	eventually(t, "the capture to end", func() bool { return !live(t, path) })
	out, _, _ := pitap(t, w.f.dir, "check")
	if n := strings.Count(out, " "+rule+" "); n != 1 {
		t.Errorf("check finds %s %d times:\n%s", rule, n, out)
	}
}

func TestWhyNever(t *testing.T) {
	t.Parallel()
	w := wedgedPi(t)
	w.Send(`{"id":"n","type":"prompt","message":"/never"}`)
	w.why(t, "live", `^The extension's command /never has not ended, and the prompt "n" \(entry \d+\) has no response, for [\d.]+(ms|s)\. The prompt is answered only when that has ended\.`)
	w.CloseStdin()
	w.Wait(0)
	w.why(t, "afterwards", `^The agent exited with 0, .* after the client had closed its input \(entry \d+\)\. Open was then: the extension's command /never had not ended, and the prompt "n" \(entry \d+\) had no response, for `)
	w.check(t, "end/eof")
}

func TestWhySilentModel(t *testing.T) {
	t.Parallel()
	w := wedgedPi(t)
	w.Send(`{"id":"p","type":"prompt","message":"stall:"}`)
	w.ExpectFunc("the run", func(r pitest.Record) bool { return r.Type() == "turn_start" })
	w.why(t, "live", `^The model was asked, and has sent nothing, for [\d.]+(ms|s)\. Behind that, the run of the prompt "p" \(entry \d+\) goes on, for `)
	w.Signal(syscall.SIGTERM)
	w.Wait(143)
	w.why(t, "afterwards", `^The agent exited with 143, .* after it was sent SIGTERM \(entry \d+\)\. Open was then: the model had been asked, and had sent nothing, for `)
	w.check(t, "end/killed")
}

func TestWhyModelStops(t *testing.T) {
	t.Parallel()
	w := wedgedPi(t)
	w.Send(`{"id":"p","type":"prompt","message":"say:half an ans ++ stall:"}`)
	w.ExpectFunc("a delta", func(r pitest.Record) bool { return r.Kind() == "message_update:text_delta" })
	w.why(t, "live", `^The model has stopped in the middle of its answer, and sent nothing, for [\d.]+s\. Behind that, the run of the prompt "p" \(entry \d+\) goes on`)
}

func TestWhyDialog(t *testing.T) {
	t.Parallel()
	w := wedgedPi(t)
	w.Send(`{"id":"p","type":"prompt","message":"/ask"}`)
	w.ExpectFunc("the dialog", func(r pitest.Record) bool { return r.Kind() == "extension_ui_request:confirm" })
	w.finds(t, "dialog/unanswered", ` the prompt "p" \(entry \d+\) waits for it\n`)
	w.why(t, "live", `^An extension asks the client something \(confirm "Delete it\?" \(entry \d+\)\) and has no answer, for .*\. The extension waits until the client answers it\. Behind that, the extension's command /ask has not ended, and the prompt "p" \(entry \d+\) has no response`)
	w.Send(`{"type":"extension_ui_response","id":"nope","confirmed":true}`)
	w.why(t, "wrongly answered", `and has no answer, for .*\. Entry \d+ answered the id "nope", which no dialog has\. The extension waits`)
	w.CloseStdin()
	w.Wait(0)
	w.why(t, "afterwards", `Open was then: an extension had asked the client something \(confirm "Delete it\?" \(entry \d+\)\) and had no answer`)
}

func TestWhyDialogOfTool(t *testing.T) {
	t.Parallel()
	w := wedgedPi(t)
	w.Send(`{"id":"p","type":"prompt","message":"tool:bash echo danger\nsay:done"}`)
	w.ExpectFunc("the dialog", func(r pitest.Record) bool { return r.Kind() == "extension_ui_request:confirm" })
	w.finds(t, "dialog/unanswered", ` the tool bash \(entry \d+\) seems to wait for it\n`)
	w.why(t, "live", `^An extension asks the client something .*Behind that, the tool bash \(entry \d+\) runs, for .*; the run of the prompt "p" \(entry \d+\) goes on`)
}

func TestWhyStalledReader(t *testing.T) {
	t.Parallel()
	w := wedgedPi(t)
	w.StopReading()
	w.Send(`{"id":"p","type":"prompt","message":"usage:1000/1000 ++ long:3MB"}`)
	w.why(t, "live", `^The client does not read the agent's output, and [\d,]+ bytes wait, for .*\. The agent stands still until it does\. Behind that, [^m]*the run of the prompt "p" [^m]*\. The client last sent `)
	for n := range 2 { // pi waits for its reader, until it is told again
		w.Signal(syscall.SIGTERM)
		eventually(t, "the signal to be recorded", func() bool { return readNow(t, w.f.onlyCapture()).notes("signal") > n })
	}
	w.Wait(143)
	w.ResumeReading()
	w.why(t, "afterwards", `^The agent exited with 143, .* after it was sent SIGTERM .*[Tt]he client (did not|had not) read`)
}

func TestWhyStoppedAgent(t *testing.T) {
	t.Parallel()
	w := wedgedPi(t)
	c := readNow(t, w.f.onlyCapture())
	pid := c.header.Agent.PID
	syscall.Kill(pid, syscall.SIGSTOP)
	t.Cleanup(func() { syscall.Kill(pid, syscall.SIGCONT) })
	w.Send(`{"id":"g","type":"get_state"}`)
	w.why(t, "live", `^The command get_state "g" \(entry \d+\) has no response, for `)
	syscall.Kill(pid, syscall.SIGKILL)
	w.Wait(-9)
	w.why(t, "afterwards", `^The agent died of SIGKILL, .*: a signal that did not come through pitap\. Open was then: the command get_state "g" \(entry \d+\) had no response, for `)
	w.check(t, "end/killed")
}

func TestWhyDeadAgent(t *testing.T) {
	t.Parallel()
	w := wedgedPi(t)
	w.Send("null")
	w.Wait(1)
	w.why(t, "afterwards", `^The agent exited with 1, .* after the line of entry \d+, which killed it\..* On stderr it said: TypeError: `)
	w.check(t, "end/killed-by-line")
}

// Without pi: an agent that takes a prompt and says nothing, and one that is not there.
func TestWhyWithoutPi(t *testing.T) {
	t.Parallel()
	f := behind(t)
	s := f.exec("sh", "-c", "cat >/dev/null; exit 3")
	s.Send(`{"id":"p","type":"prompt","message":"hi"}`)
	w := &wedge{s, f}
	f.onlyCapture()
	w.why(t, "live", `^The prompt "p" \(entry 1\) has no response, for .*\. The agent has neither accepted nor refused it\..* the agent has sent nothing\.`)
	s.CloseStdin()
	s.Wait(3)
	w.why(t, "afterwards", `^The agent exited with 3, .* after the client had closed its input .*Open was then: the prompt "p" \(entry 1\) had no response`)

	f = behind(t)
	w = &wedge{f.exec(filepath.Join(t.TempDir(), "nothing")), f}
	w.Wait(127)
	w.why(t, "no agent", `^The agent could not be started: .*\(status 127\)\.`)
	w.check(t, "end/no-start")

	f = behind(t)
	w = &wedge{f.exec("sh", "-c", "read x; read y; kill -9 $PPID; sleep 5"), f}
	w.Send(`{"id":"a","type":"abort"}`)
	eventually(t, "the record to be in the capture", func() bool { return len(readNow(t, f.onlyCapture()).entries) > 0 })
	w.Send("{}")
	w.Wait(-9)
	w.why(t, "cut", `^The recording stops here, .* after the start, without the agent's exit\. Open was then: the command abort "a" \(entry \d+\) had no response(, for [\d.]+[µm]?s at least)?\. .* What came after that is not known: pitap was killed, `)
}

// A client that ends its lines in CR, and one whose command is refused.
func TestWhyCROnly(t *testing.T) {
	t.Parallel()
	w := wedgedPi(t)
	w.SendBytes([]byte("{\"id\":\"a\",\"type\":\"get_state\"}\r{\"id\":\"b\",\"type\":\"get_state\"}\r"))
	w.why(t, "live", `^Half a record has come from the client, \d+ bytes without a line end, for .*\. It has a CR at byte 29, which ends no line: the agent waits for an LF\.`)
	w.finds(t, "framing/unterminated", `half a record, \d+ bytes, and its line end \(LF\) has not come in .*a CR`)
}

func TestWhyRefused(t *testing.T) {
	t.Parallel()
	w := wedgedPi(t)
	w.Send(`{"id":"r2","type":"get_stat"}`)
	w.ExpectFunc("a refusal", func(r pitest.Record) bool { return r.Kind() == "response:get_stat failed" })
	w.why(t, "live", `^Nothing is open, but the client's last command, get_stat "r2" \(entry \d+\), was refused: Unknown command: get_stat\. The agent waits for the client's next command\.`)
}

// TestWhyLiveIdle is a session in which nothing is wrong.
func TestWhyLiveIdle(t *testing.T) {
	t.Parallel()
	w := wedgedPi(t)
	w.why(t, "idle", `^Nothing is open: the agent waits for the client's next command\. The client last sent get_state "first" \(entry 1\), .* ago; the agent last sent response:get_state \(entry 2\), .* ago\.`)
	w.Send(`{"id":"p","type":"prompt","message":"slow:400x20"}`)
	w.why(t, "streaming", `^The model is answering, for `)
	if _, err := record.Open(w.f.onlyCapture()); err != nil {
		t.Fatal(err)
	}
}
