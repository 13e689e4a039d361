//go:build linux

package faults

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"pitap/internal/zoo"
	"pitap/record"
)

const ms = time.Millisecond

// long asks for the full form, which takes minutes.
var long = os.Getenv("PITAP_TEST_LONG") == "1"

var bin string // folder with pitap, and with the test binary as peer

// The test binary is also the peers; pitap is built.
func TestMain(m *testing.M) {
	Main()
	os.Exit(testMain(m))
}

func testMain(m *testing.M) int {
	for _, name := range []string{"PITAP_DIR", "PITAP_OFF", "PITAP_AGENT"} {
		os.Unsetenv(name)
	}
	var err error
	bin, err = zoo.Setup("peer")
	defer os.RemoveAll(bin)
	if err == nil {
		err = build()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// build builds pitap as the tests are built, with or without the race detector.
func build() error {
	args := []string{"build", "-o", filepath.Join(bin, "pitap")}
	if zoo.Raced {
		args = append(args, "-race")
	}
	cmd := exec.Command("go", append(args, ".")...)
	cmd.Dir = filepath.Join("..", "..")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build pitap: %w\n%s", err, out)
	}
	// Go keeps a test's result until a file changes that the test has looked at.
	return filepath.WalkDir(cmd.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() != ".." && d.Name()[0] == '.' {
			return filepath.SkipDir
		}
		if filepath.Ext(path) == ".go" {
			_, err = os.Stat(path)
		}
		return err
	})
}

// times is how often something is tried at random moments.
func times(short, full int) int {
	if long {
		return full
	}
	return short
}

var seedsGiven sync.Map

// seedOf gives a seed for the test, and says which when it fails. PITAP_TEST_SEED is the first that a test is given.
func seedOf(t *testing.T) uint64 {
	t.Helper()
	seed := rand.Uint64() >> 40
	if s, err := strconv.ParseUint(os.Getenv("PITAP_TEST_SEED"), 10, 64); err == nil {
		if _, again := seedsGiven.LoadOrStore(t.Name(), true); !again {
			seed = s
		}
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("seed: PITAP_TEST_SEED=%d", seed)
		}
	})
	return seed
}

// rig is a session: a client, pitap and an agent.
type rig struct {
	t    *testing.T
	seed uint64
	r    *rand.Rand
	dir  string // of the captures
	task Task   // of the agent

	flags  []string // of pitap record
	before []string // what starts pitap
	env    []string
	attr   *syscall.SysProcAttr
	files  []*os.File // from descriptor 4 on

	client, agent *Ledger
	peer          *peer // the client, in this process
	in            *os.File
	outs          [2]*os.File
	sent          chan struct{} // closed when the client sends no more
	words         *words
	cmd           *exec.Cmd
	exited        chan struct{}
	lasting       sync.WaitGroup // goroutines of the client
	life          *os.File       // ends when the client and the agent have: pitap leaves it to the agent
	over          chan struct{}  // closed then
}

// newRig prepares a session; Start begins it.
func newRig(t *testing.T) *rig {
	t.Helper()
	seed := seedOf(t)
	work := t.TempDir()
	g := &rig{t: t, seed: seed, r: rand.New(rand.NewPCG(seed, 9)), dir: filepath.Join(work, "captures"),
		task:   Task{Ledger: filepath.Join(work, "agent"), Seed: seed, Pace: ms, Status: 3},
		exited: make(chan struct{}), sent: make(chan struct{}), over: make(chan struct{})}
	g.agent = g.ledger(g.task.Ledger)
	g.client = g.ledger(filepath.Join(work, "client"))
	return g
}

func (g *rig) ledger(file string) *Ledger {
	g.t.Helper()
	l, err := NewLedger(file)
	if err != nil {
		g.t.Fatal(err)
	}
	return l
}

// argv is the command line of pitap before the agent.
func (g *rig) argv() []string {
	return g.argvFor(append([]string{}, filepath.Join(bin, "peer"), taskText(g.task)))
}

func (g *rig) argvFor(agent []string) []string {
	argv := append(append([]string{}, g.before...), filepath.Join(bin, "pitap"), "record")
	return append(append(append(argv, g.flags...), "--"), agent...)
}

func taskText(task Task) string {
	b, err := json.Marshal(task)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// pipe makes a pipe whose ends this process can stop waiting for.
func (g *rig) pipe() (r, w *os.File) {
	g.t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(func() { r.Close(); w.Close() })
	return r, w
}

// start starts the session with the test as its client.
func (g *rig) start() *rig {
	g.t.Helper()
	var theirs [3]*os.File
	theirs[0], g.in = g.pipe()
	g.outs[0], theirs[1] = g.pipe()
	g.outs[1], theirs[2] = g.pipe()
	g.launch(g.argv(), theirs)
	g.peer = newPeer(g.client, clientSeed(g.seed), g.task.Pace)
	g.words = &words{in: g.outs[1]}
	g.lasting.Go(func() {
		defer close(g.sent)
		g.peer.send(NewStream(clientSeed(g.seed), mostRecord), g.in, 0, &g.client.Written, &g.client.Broken)
	})
	g.lasting.Go(func() { g.peer.receiveAgent(g.seed, g.outs[0]) })
	g.lasting.Go(func() { g.peer.receiveErr(g.seed, g.words) })
	return g
}

// startClient starts the session with a client that is a process of its own.
func (g *rig) startClient(limit int64) *rig {
	g.t.Helper()
	task := Task{Ledger: filepath.Join(filepath.Dir(g.dir), "client"), Seed: g.seed, Pace: g.task.Pace, Argv: g.argv(), Limit: limit}
	g.launch([]string{filepath.Join(bin, "peer"), taskText(task)}, [3]*os.File{nil, nil, os.Stderr})
	return g
}

func (g *rig) launch(argv []string, stdio [3]*os.File) {
	g.t.Helper()
	var end *os.File
	g.life, end = g.pipe()
	g.cmd = exec.Command(argv[0], argv[1:]...)
	if stdio[0] != nil {
		g.cmd.Stdin, g.cmd.Stdout = stdio[0], stdio[1]
	}
	g.cmd.Stderr = stdio[2]
	g.cmd.ExtraFiles = append([]*os.File{end}, g.files...)
	g.cmd.Env = append(append(os.Environ(), "PITAP_DIR="+g.dir), g.env...)
	g.cmd.SysProcAttr = g.attr
	if err := g.cmd.Start(); err != nil {
		g.t.Fatal(err)
	}
	end.Close()
	for _, f := range stdio {
		if f != nil && f != os.Stderr {
			f.Close()
		}
	}
	go func() {
		defer close(g.exited)
		g.cmd.Wait()
	}()
	go func() {
		defer close(g.over)
		io.Copy(io.Discard, g.life)
	}()
	g.t.Cleanup(g.end)
}

// end leaves nobody behind.
func (g *rig) end() {
	if g.t.Failed() {
		g.t.Logf("%s", g.where())
	}
	g.cmd.Process.Kill()
	for _, pid := range []int64{g.client.Child.Load(), g.agent.PID.Load()} {
		if pid > 0 && zoo.Alive(int(pid)) && !isClosed(g.over) {
			unix.Kill(int(pid), unix.SIGKILL)
		}
	}
	g.hangUp()
	<-g.exited
	g.life.Close()
	<-g.over
}

// hangUp closes the client's ends, and joins its goroutines.
func (g *rig) hangUp() {
	if g.peer == nil {
		return
	}
	g.peer.stop.Store(true)
	g.in.Close()
	g.outs[0].Close()
	g.outs[1].Close()
	g.lasting.Wait()
}

// where tells how far the session is.
func (g *rig) where() string {
	c, a := g.client, g.agent
	s := fmt.Sprintf("the client has sent %d bytes and got %d, %d on stderr; the agent, process %d, has sent %d, %d on stderr, and got %d",
		c.Written.Load(), c.Read.Load(), c.ReadErr.Load(), a.PID.Load(), a.Written.Load(), a.WroteErr.Load(), a.Read.Load())
	if g.words != nil {
		s += fmt.Sprintf("; pitap said %q", g.words.Said())
	}
	return s
}

func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// patience is how long a test waits for what should come at once.
const patience = 40 * time.Second

// until waits until something is so; it fails when a peer has found something wrong.
func (g *rig) until(what string, so func() bool) {
	g.t.Helper()
	every := time.NewTicker(ms)
	defer every.Stop()
	for deadline := time.Now().Add(patience); ; <-every.C {
		if so() {
			return
		}
		g.right()
		if time.Now().After(deadline) {
			g.t.Fatalf("waiting for %s: not within %v", what, patience)
		}
	}
}

// right fails when a peer has found something wrong.
func (g *rig) right() {
	g.t.Helper()
	for _, l := range []*Ledger{g.client, g.agent} {
		if f := l.Failure(); f != "" {
			g.t.Fatal(f)
		}
	}
}

// flows waits until so many more bytes have come at both ends.
func (g *rig) flows(more int64) {
	g.t.Helper()
	client, agent := g.client.Read.Load(), g.agent.Read.Load()
	g.until(fmt.Sprintf("%d more bytes at both ends", more), func() bool {
		return g.client.Read.Load() >= client+more && g.agent.Read.Load() >= agent+more
	})
}

// moment lets a random time pass.
func (g *rig) moment(most time.Duration) time.Duration {
	d := time.Duration(g.r.Int64N(int64(most)))
	<-time.After(d)
	return d
}

// finish lets the client end the session as a client does, and checks that everything has come and is in the capture.
func (g *rig) finish(status int) *found {
	g.t.Helper()
	g.closeStdin()
	g.wait(status)
	g.ended()
	if c, a := g.client, g.agent; c.Written.Load() != a.Read.Load() || a.Written.Load() != c.Read.Load() || a.WroteErr.Load() != c.ReadErr.Load() {
		g.t.Errorf("bytes are missing: %s", g.where())
	}
	f := g.capture()
	f.exact()
	return f
}

// closeStdin ends the client's stream behind a record.
func (g *rig) closeStdin() {
	g.t.Helper()
	g.peer.stop.Store(true)
	g.until("the client to stop sending", func() bool { return isClosed(g.sent) })
	g.in.Close()
}

// wait waits for the exit of what the test started.
func (g *rig) wait(status int) {
	g.t.Helper()
	g.until("the exit", func() bool { return isClosed(g.exited) })
	if got := statusOf(g.cmd.ProcessState.Sys().(syscall.WaitStatus)); got != status {
		g.t.Fatalf("exit status %d, want %d", got, status)
	}
}

// ended waits until stdout and stderr have ended.
func (g *rig) ended() {
	g.t.Helper()
	g.until("the end of stdout and stderr", func() bool { return g.client.Ended.Load() == 1 && g.client.EndedErr.Load() == 1 })
	g.right()
}

// gone waits until the agent, and a client of its own, are gone.
func (g *rig) gone() {
	g.t.Helper()
	g.until("the agent's end", func() bool { return isClosed(g.over) })
}

// captures are the paths of the captures.
func (g *rig) captures() []string {
	files, _ := filepath.Glob(filepath.Join(g.dir, "*"+record.Ext))
	return files
}

// capture reads the only capture, which must be whole, and compares it with what was sent.
func (g *rig) capture() *found {
	g.t.Helper()
	g.gone()
	files := g.captures()
	if len(files) != 1 {
		g.t.Fatalf("%d captures, want 1: %q", len(files), files)
	}
	g.written(files[0])
	f := g.read(files[0])
	f.whole()
	return f
}

// written waits until nobody writes a capture any more: pitap itself, or the copy of it that goes on.
func (g *rig) written(path string) {
	g.t.Helper()
	g.until("the capture to end", func() bool {
		c, err := record.Open(path)
		if err != nil {
			g.t.Fatal(err)
		}
		defer c.Close()
		return !c.Live()
	})
}
