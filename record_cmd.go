package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/spf13/pflag"

	"pitap/proxy"
	"pitap/record"
	"pitap/record/files"
)

// recording is what the record command was asked for.
type recording struct {
	out    string // -o
	dir    string
	label  string
	strict bool
	sync   bool
	quiet  bool
	files  bool     // --with-session
	path   string   // of the agent
	argv   []string // of the agent

	after func(capture string) // called with the capture's path when the agent has ended; nil: nothing

	morePath string // folder to add to the agent's PATH where its script would not find its interpreter; "": none
	hint     string // ends the message when the agent is not found
}

// recordFlags defines the flags that are kept in a shim's pitap.json, too.
func (r *recording) recordFlags(f *pflag.FlagSet) {
	f.StringVarP(&r.out, "output", "o", "", "write the capture to `FILE` (FILE-2, ... if it exists)")
	f.StringVar(&r.dir, "dir", "", "write the capture to the folder `DIR`")
	f.BoolVar(&r.strict, "strict", false, "refuse to start when the capture can't be written")
	f.BoolVar(&r.sync, "sync", false, "make every flush reach the disk: survives a power loss")
	f.StringVar(&r.label, "name", "", "a `LABEL` for the session, shown by ls")
	f.BoolVar(&r.files, "with-session", false, "store the session's files in the capture when the agent has ended")
	f.BoolVar(&r.quiet, "quiet", false, "say nothing on stderr, whatever happens to the recording")
}

// softMemory is how much memory, in bytes, a recording may take before the garbage collector works harder: records of
// many MiB otherwise leave more behind than they need.
const softMemory = 64 << 20

// readingFiles is how long the files of a session may take to be read and stored before the recorder is left behind.
const readingFiles = 5 * time.Second

func runRecord(t *tool, args []string) error {
	var r recording
	f := t.flags("record")
	f.SetInterspersed(false)
	r.recordFlags(f)
	if done, err := t.parse(f, args); done || err != nil {
		return err
	}
	if f.NArg() == 0 {
		return usageError("record: no agent named; try: pitap record -- pi --mode rpc")
	}
	// Copied, since hideArgs overwrites the memory of the arguments.
	for _, a := range f.Args() {
		r.argv = append(r.argv, strings.Clone(a))
	}
	r.out, r.dir, r.label = strings.Clone(r.out), strings.Clone(r.dir), strings.Clone(r.label)
	if t.isOff() {
		return t.passOn(r)
	}
	return t.record(r)
}

// record runs the agent under a recorder and returns its status.
func (t *tool) record(r recording) error {
	parent := takeParent(t.getenv)
	env, err := t.agentEnv(r.argv[0])
	if err != nil {
		return err
	}
	path, set := os.LookupEnv("PATH")
	if !set {
		path = proxy.DefaultPath
	}
	if r.path, err = findAgent(r.argv[0], path); err != nil {
		return t.unstarted(r, fmt.Errorf("%w%s", err, r.hint))
	}
	start := time.Now()
	capture, err := t.newCapture(r, start)
	if err != nil {
		return err
	}
	hideArgs()
	debug.SetMemoryLimit(softMemory)
	env = withPath(env, r.path, t.getenv("PATH"), r.morePath)
	cfg := proxy.Config{Path: r.path, Argv: r.argv, Env: env, Stdin: 0, Stdout: 1, Stderr: 2, Warn: capture.warn, Capture: capture.current, Sync: r.sync}
	if self, err := os.Executable(); err == nil {
		cfg.Copy = []string{self, "finish"}
	}
	cfg.Started = func(pid int) {
		proxy.CloseInherited()
		capture.started(pid)
		parent.watch(pid, cfg.Recorder)
	}
	rec := record.Config{
		Open:  capture.open,
		Gone:  capture.gone,
		Clock: func() int64 { return int64(time.Since(start)) },
		Wall:  time.Now,
		Warn:  capture.warn,
		Sync:  r.sync,
	}
	if r.files {
		var c files.Collector
		rec.Watch = c.See
		rec.Last = func(add func(*record.Entry)) { c.Notes(capture.header.Cwd, add) }
		cfg.Finishing = readingFiles
	}
	cfg.Recorder = record.NewRecorder(rec)
	result, err := proxy.Run(cfg)
	parent.close()
	if f := capture.current(); r.after != nil && f != nil {
		r.after(f.Name())
	}
	if err != nil {
		return statusError{findStatus(err), err}
	}
	if result.Signal != nil {
		proxy.Die(result.Signal)
		return statusError{status: 128 + signalNumber(result.Signal)}
	}
	return statusError{status: result.Code}
}

func findStatus(err error) int {
	var find *proxy.FindError
	if errors.As(err, &find) {
		return find.Status
	}
	return statusBroken
}

// unstarted records a session whose agent was not found: somebody will look for what happened.
func (t *tool) unstarted(r recording, cause error) error {
	start := time.Now()
	capture, err := t.newCapture(r, start)
	if err != nil {
		return err
	}
	capture.started(0)
	rec := record.NewRecorder(record.Config{Open: capture.open, Clock: func() int64 { return int64(time.Since(start)) }, Wall: time.Now, Warn: capture.warn})
	code := findStatus(cause)
	rec.Note(&record.Entry{From: record.Agent, Note: &record.Note{Kind: "exit", Code: &code, Error: cause.Error()}})
	rec.Finish(time.Second)
	return statusError{code, cause}
}

// capture is the file of a recording, which may have to be made again.
type capture struct {
	t      *tool
	r      recording
	header record.Header
	pid    chan int // of the agent
	said   atomic.Pointer[string]

	mu   sync.Mutex
	file *os.File // nil until it could be made
	used bool     // file was given to the recorder
}

// newCapture prepares a capture. Its file is created by the recorder, so that a file system that hangs keeps nobody
// waiting; in strict mode at once, and then it is an error when that fails.
func (t *tool) newCapture(r recording, start time.Time) (*capture, error) {
	c := &capture{t: t, r: r, pid: make(chan int, 1)}
	c.header = t.header(r, start)
	if !r.strict {
		return c, nil
	}
	var err error
	if c.file, err = c.create(); err != nil {
		return nil, statusError{statusBroken, fmt.Errorf("can't record, so the agent was not started (--strict): %w", err)}
	}
	return c, nil
}

func (c *capture) create() (*os.File, error) {
	f, err := c.createFile()
	if err == nil {
		if err := record.Lock(f); err != nil {
			c.warn(fmt.Errorf("lock %s: %w; ls may not show it as live", f.Name(), err))
		}
	}
	return f, err
}

func (c *capture) createFile() (*os.File, error) {
	if c.r.out != "" {
		return record.CreateAt(c.r.out)
	}
	dir := c.r.dir
	if dir == "" {
		var err error
		if dir, err = record.DefaultDir(c.t.getenv); err != nil {
			return nil, err
		}
	}
	return record.Create(dir, c.header.Start, base(c.r.argv[0]))
}

// started takes the agent's process id, without which there is no header.
func (c *capture) started(pid int) { c.pid <- pid }

// open gives the recorder its file; it runs on the recorder's goroutine.
func (c *capture) open() (record.File, *record.Header, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.file == nil || c.used {
		f, err := c.create()
		if err != nil {
			return nil, nil, err
		}
		c.file = f
	}
	if !c.used { // facts that need not keep the agent waiting
		c.used = true
		c.header.Agent.PID = <-c.pid
		c.header.Agent.Version = proxy.AgentVersion(c.r.path, c.r.argv)
		c.header.Client.Name = processName(c.header.Client.PID)
		c.header.Host, _ = os.Hostname()
		c.header.Boot = record.BootID()
	}
	h := c.header
	return c.file, &h, nil
}

// gone tells the recorder whether the file is still there.
func (c *capture) gone() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return record.Gone(c.file)
}

func (c *capture) current() *os.File {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.file
}

// warn says on stderr what happened to the recording, without ever waiting for it. What was said just now is not said
// again: the recorder tells it, and the end of the session once more.
func (c *capture) warn(err error) {
	text := fmt.Sprintf("pitap: %s\n", strings.ReplaceAll(err.Error(), "\n", "\n  "))
	if last := c.said.Swap(&text); c.r.quiet || last != nil && *last == text {
		return
	}
	proxy.Say(2, text)
}

func (t *tool) header(r recording, start time.Time) record.Header {
	h := record.Header{
		Pitap: record.Version,
		Start: start.UTC().Round(0),
		Argv:  record.Mask(r.argv),
		Home:  t.getenv("HOME"),
		Tmp:   os.TempDir(),
		PID:   os.Getpid(),
		Label: r.label,
		Tool:  "pitap " + version,
		OS:    runtime.GOOS + "/" + runtime.GOARCH,
	}
	h.Cwd, _ = os.Getwd()
	if abs, err := filepath.Abs(r.path); err == nil && r.path != "" {
		h.Agent.Path = abs
	}
	h.Client.PID = os.Getppid()
	return h
}

// processName tells what program a process runs, where the system says so.
func processName(pid int) string {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/comm")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// hideArgs overwrites the program's arguments, as pi does with its own: they may hold secrets that ps would show. On
// Linux the strings of os.Args lie in the memory that ps reads.
func hideArgs() {
	if runtime.GOOS != "linux" {
		return
	}
	for i, arg := range os.Args {
		if i > 0 && len(arg) > 0 {
			clear(unsafe.Slice(unsafe.StringData(arg), len(arg)))
		}
	}
}

// runFinish is the detached copy that delivers what a recording left behind.
func runFinish(t *tool, args []string) error {
	return proxy.Deliver(func(err error) { proxy.Say(2, fmt.Sprintf("pitap: %v\n", err)) })
}
