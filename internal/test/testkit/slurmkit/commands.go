//go:build unix

package slurmkit

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// Names of variables in the environment of jobs.
const (
	socketName  = "SLURMKIT_SOCKET"
	privateName = "SLURMKIT_PRIVATE"
	jobName     = "SLURMKIT_JOB"
)

// A request is a command for the scheduler.
type request struct {
	Args []string // with the name of the command
	Dir  string
	Env  []string
}

// A reply is the output of a command.
type reply struct {
	Out, Err string
}

// Main is the main function of a command of the scheduler, if the binary has the name of one. Else
// it returns.
func Main() {
	name := filepath.Base(os.Args[0])
	if !slices.Contains(names, name) || os.Getenv(socketName) == "" {
		return
	}
	run := ask
	if name == "srun" {
		run = srun
	}
	code, err := run(append([]string{name}, os.Args[1:]...))
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: error: %v\n", name, err)
		code = 1
	}
	os.Exit(code)
}

// ask sends a command to the scheduler.
func ask(args []string) (code int, err error) {
	dir, err := os.Getwd()
	if err != nil {
		return 1, err
	}
	nc, err := net.Dial("unix", os.Getenv(socketName))
	if err != nil {
		return 1, err
	}
	defer nc.Close()
	var got reply
	if err = json.NewEncoder(nc).Encode(request{args, dir, os.Environ()}); err == nil {
		err = json.NewDecoder(nc).Decode(&got)
	}
	if err == nil && got.Err != "" {
		err = errors.New(got.Err)
	}
	fmt.Print(got.Out)
	return 0, err
}

// A step is a command that srun runs in a job.
type step struct {
	tasks, nodes  int
	overlap, kill bool // share processors with other steps; a task that fails ends the others
	args          []string
}

// parseStep reads the command line of srun. The job has the defaults.
func parseStep(args []string) (s step, err error) {
	s.tasks, _ = strconv.Atoi(os.Getenv("SLURM_NTASKS")) // of this scheduler
	s.nodes, _ = strconv.Atoi(os.Getenv("SLURM_JOB_NUM_NODES"))
	perNode, ntasks := 0, ""
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		name, value, _ := strings.Cut(args[0], "=")
		switch name {
		case "--ntasks":
			ntasks = value
			s.tasks, err = strconv.Atoi(value)
		case "--nodes":
			s.nodes, err = strconv.Atoi(value)
		case "--ntasks-per-node":
			perNode, err = strconv.Atoi(value)
		case "--overlap":
			s.overlap = true
		case "--kill-on-bad-exit":
			s.kill = value != "0"
		default:
			return s, fmt.Errorf("unrecognized option '%s'", name)
		}
		if err != nil {
			return s, fmt.Errorf("invalid %s: %w", args[0], err)
		}
		args = args[1:]
	}
	switch {
	case perNode > 0 && ntasks == "" && os.Getenv("SLURM_NTASKS_PER_NODE") == "":
		s.tasks = perNode * s.nodes
	case perNode > 0 && s.tasks > perNode*s.nodes:
		return s, fmt.Errorf("got %d tasks, want at most %d, with --ntasks-per-node=%d on %d nodes", s.tasks, perNode*s.nodes, perNode, s.nodes)
	}
	if s.args = args; len(args) == 0 {
		return s, errors.New("got no command")
	}
	return s, nil
}

// srun runs tasks, and returns the highest of their exit codes. It passes signals on.
func srun(args []string) (code int, err error) {
	s, err := parseStep(args[1:])
	if err != nil {
		return 1, err
	}
	if !s.overlap {
		lock, err := os.Create(os.Getenv(jobName) + ".steps")
		if err != nil {
			return 1, err
		}
		defer lock.Close()
		if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
			return 1, err
		}
	}
	all := make([]*exec.Cmd, s.tasks)
	for i := range all {
		if all[i], err = s.start(i); err != nil {
			return 1, err
		}
	}
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, syscall.SIGTERM, syscall.SIGINT, syscall.SIGUSR1, syscall.SIGUSR2)
	go func() {
		for number := range heard {
			tell(all, number.(syscall.Signal))
		}
	}()
	var mu sync.Mutex
	var running sync.WaitGroup
	for _, cmd := range all {
		running.Go(func() {
			_ = cmd.Wait() // the exit code says more
			mu.Lock()
			defer mu.Unlock()
			if failed := cmd.ProcessState.ExitCode(); failed != 0 {
				code = max(code, failed, 1)
				if s.kill {
					tell(all, syscall.SIGKILL)
				}
			}
		})
	}
	running.Wait()
	return code, nil
}

// tell sends a signal to all tasks.
func tell(all []*exec.Cmd, number syscall.Signal) {
	for _, cmd := range all {
		_ = syscall.Kill(-cmd.Process.Pid, number) // it may have ended
	}
}

// start starts task i.
func (s step) start(i int) (*exec.Cmd, error) {
	perNode := (s.tasks + s.nodes - 1) / s.nodes
	node := i / perNode
	args := append([]string(nil), s.args...)
	if private := os.Getenv(privateName); private != "" && node > 0 {
		other := fmt.Sprintf("%s-node%d", private, node)
		if err := os.MkdirAll(other, 0o777); err != nil {
			return nil, err
		}
		for k := range args {
			args[k] = strings.ReplaceAll(args[k], private, other)
		}
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Env = append(os.Environ(), fmt.Sprintf("SLURM_PROCID=%d", i), fmt.Sprintf("SLURM_LOCALID=%d", i%perNode),
		fmt.Sprintf("SLURM_NODEID=%d", node), fmt.Sprintf("SLURM_NTASKS=%d", s.tasks))
	return cmd, cmd.Start()
}
