//go:build !unix

package proxy

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"sync"

	"pitap/record"
)

// Run starts the agent, forwards until it has exited, and finishes the recorder. Here it does what the system can: there
// are no signals but the interrupt, a closed output is noticed at the next write, and nothing is handed over.
func Run(cfg Config) (Result, error) {
	cmd := exec.Command(cfg.Path)
	cmd.Args, cmd.Env, cmd.Dir = cfg.Argv, cfg.Env, cfg.Dir
	stdin, err1 := cmd.StdinPipe()
	outR, outW, err2 := os.Pipe()
	errR, errW, err3 := os.Pipe()
	if err := errors.Join(err1, err2, err3); err != nil {
		return Result{}, err
	}
	cmd.Stdout, cmd.Stderr = outW, errW
	interrupts := make(chan os.Signal, 8)
	signal.Notify(interrupts, os.Interrupt) // the agent shares the console and gets it, too
	defer signal.Stop(interrupts)
	if err := cmd.Start(); err != nil {
		if cfg.Started != nil {
			cfg.Started(0)
		}
		code := StatusNotExecutable
		cfg.note(record.Agent, record.Note{Kind: "exit", Code: &code, Error: err.Error()})
		if cfg.Recorder != nil {
			cfg.Recorder.Finish(finishingHere)
		}
		return Result{}, &FindError{cfg.Path, code, err}
	}
	outW.Close()
	errW.Close()
	if cfg.Started != nil {
		cfg.Started(cmd.Process.Pid)
	}
	go cfg.copy(record.Client, os.Stdin, stdin) // a read of stdin can't be interrupted: it ends with the process
	var outputs sync.WaitGroup
	outputs.Go(func() { cfg.copy(record.Agent, outR, os.Stdout) })
	outputs.Go(func() { cfg.copy(record.Stderr, errR, os.Stderr) })
	cmd.Wait()
	outputs.Wait()
	result := Result{Code: cmd.ProcessState.ExitCode()}
	cfg.note(record.Agent, record.Note{Kind: "exit", Code: &result.Code})
	if cfg.Recorder != nil {
		if _, err := cfg.Recorder.Finish(finishingHere); err != nil {
			cfg.warn(err)
		}
	}
	return result, nil
}

// copy is a pump: everything is recorded before it is forwarded.
func (c *Config) copy(stream record.Stream, in io.ReadCloser, out io.WriteCloser) {
	defer in.Close()
	defer out.Close()
	buf := make([]byte, chunk)
	for {
		n, err := in.Read(buf)
		if n > 0 {
			c.put(stream, buf[:n])
			if _, err := out.Write(buf[:n]); err != nil {
				c.note(stream, record.Note{Kind: "closed"})
				return
			}
		}
		if err != nil {
			c.note(stream, record.Note{Kind: "eof"})
			return
		}
	}
}

// Deliver is the detached copy of other systems; nothing is handed over here.
func Deliver(func(error)) error { return errors.ErrUnsupported }

// Die does nothing here: there are no deaths by signal.
func Die(os.Signal) {}

// Say writes a line to stderr.
func Say(_ int, line string) { os.Stderr.WriteString(line) }

// CloseInherited does nothing here: nothing is inherited that was not asked for.
func CloseInherited() {}
