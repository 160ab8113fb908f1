//go:build unix

package programs

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// Supported reports whether this system has process groups.
const Supported = true

// A Program is a program that runs, or has run. Its methods are for one goroutine, except for
// Until.
type Program struct {
	cmd            *exec.Cmd
	stdout, stderr *os.File
	said           chan []string // the last lines of standard error, when that has ended
	ended          chan struct{} // closed when the process has ended

	mu    sync.Mutex
	until time.Time // no Read waits for longer; zero for no limit
}

// linger is how long after the end of a program Read waits for output that a child of it still
// writes, and End for the rest of its standard error. Tests shorten it.
var linger = time.Second

// Start starts a program with arguments, and with env added to the environment. Its standard input
// is empty. tell is called with each line of its standard error, from one goroutine.
func Start(args, env []string, tell func(line string)) (*Program, error) {
	stdout, out, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	stderr, errs, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, stdout.Close(), out.Close())
	}
	widen(stdout)
	p := &Program{cmd: exec.Command(args[0], args[1:]...), stdout: stdout, stderr: stderr, said: make(chan []string, 1), ended: make(chan struct{})}
	p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr = append(os.Environ(), env...), out, errs
	p.cmd.SysProcAttr = attributes()
	started := make(chan error)
	go p.run(started)
	err = <-started
	_, _ = out.Close(), errs.Close() // the program has them
	if err != nil {
		return nil, errors.Join(err, stdout.Close(), stderr.Close())
	}
	go func() {
		p.said <- listen(stderr, tell)
		_ = stderr.Close() // nothing was written to it
	}()
	return p, nil
}

// run starts the program and waits for its end. The kernel kills the program when the thread that
// started it ends, so the goroutine keeps its thread.
func (p *Program) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := p.cmd.Start()
	started <- err
	if err != nil {
		return
	}
	_ = p.cmd.Wait() // ProcessState has the outcome
	p.signal(syscall.SIGKILL)
	close(p.ended)
	p.setDeadline()
}

// signal sends a signal to the process group, and to the program if it has left the group. A
// process that has ended gets none.
func (p *Program) signal(sig syscall.Signal) {
	pid := p.cmd.Process.Pid
	_ = syscall.Kill(-pid, sig) // the group may be empty
	if group, err := syscall.Getpgid(pid); err == nil && group != pid {
		_ = p.cmd.Process.Signal(sig) // it may have ended
	}
}

// Until makes a Read that waits return an error at a time, and each Read that would wait later.
func (p *Program) Until(t time.Time) {
	p.mu.Lock()
	p.until = t
	p.mu.Unlock()
	p.setDeadline()
}

// setDeadline has Read wait until the limit of Until, and after the end of the program no longer
// than linger.
func (p *Program) setDeadline() {
	p.mu.Lock()
	defer p.mu.Unlock()
	limit, late := p.until, time.Now().Add(linger)
	if p.over() && (limit.IsZero() || late.Before(limit)) {
		limit = late
	}
	_ = p.stdout.SetReadDeadline(limit) // it is a pipe, which has deadlines
}

// Read implements io.Reader for the standard output. It returns os.ErrDeadlineExceeded after the
// limit of Until. After the end of the program, it returns io.EOF once nothing is left.
func (p *Program) Read(b []byte) (int, error) {
	if p.over() { // bytes in the pipe are there at once
		p.setDeadline()
	}
	n, err := p.stdout.Read(b)
	if err != nil && p.over() {
		err = io.EOF
	}
	return n, err
}

// over reports whether the process has ended.
func (p *Program) over() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// End waits for the end of the program for as long as patience says. Then it sends SIGTERM to the
// process group, and SIGKILL after the time grace. Nothing can be read afterwards. It is called
// once.
func (p *Program) End(patience, grace time.Duration) Exit {
	_ = p.stdout.Close() // a program that writes on gets SIGPIPE
	over := p.wait(patience)
	if !over {
		p.signal(syscall.SIGTERM)
		if !p.wait(grace) {
			p.signal(syscall.SIGKILL)
			<-p.ended
		}
	}
	_ = p.stderr.SetReadDeadline(time.Now().Add(linger)) // a child in another process group may have it open
	state := p.cmd.ProcessState
	return Exit{Status: state.String(), OK: state.Success(), Ended: !over, Last: <-p.said}
}

// wait waits for the end of the process, and reports whether it has ended.
func (p *Program) wait(patience time.Duration) bool {
	select {
	case <-p.ended:
	case <-time.After(patience):
	}
	return p.over()
}
