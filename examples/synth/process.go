package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// A process is a generator in a process of its own.
type process struct {
	cmd  *exec.Cmd
	in   io.Closer
	out  *bufio.Reader
	from string // the number it began with
}

// start starts this program anew, as a generator. It ends when this process does, at the latest.
func start(dir string, by int) (*process, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(exe, "-generator", fmt.Sprint(by), "-dir", dir)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, in: in, out: bufio.NewReader(out)}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p.from, err = p.line()
	return p, err
}

// line returns the next line that the process tells.
func (p *process) line() (string, error) {
	text, err := p.out.ReadString('\n')
	return strings.TrimSpace(text), err
}

// stop ends the process and returns how long it has waited.
func (p *process) stop() (waited time.Duration, err error) {
	err = p.in.Close()
	text, failed := p.line()
	if err = errors.Join(err, failed); err == nil {
		waited, err = time.ParseDuration(text)
	}
	return waited, errors.Join(err, p.cmd.Wait())
}

// kill ends the process wherever it is.
func (p *process) kill() error {
	err := p.cmd.Process.Kill()
	_ = p.cmd.Wait() // it says that the process was killed
	return err
}
