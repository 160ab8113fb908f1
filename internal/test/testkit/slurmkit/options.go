//go:build unix

package slurmkit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// Options are the options of sbatch that this scheduler heeds.
type options struct {
	name         string
	output       string
	nodes, tasks int
	perNode      int // tasks; 0 if only their sum is given
	first, last  int // tasks of the array
	isArray      bool
	throttle     int // tasks that run at once; 0 for all
	requeue      bool
	appends      bool // to the output
	warn         syscall.Signal
	warnBatch    bool // the signal is for the script, not for the steps
}

// ignored are options that only a cluster needs.
var ignored = []string{"time", "mem", "cpus-per-task", "gpus-per-node", "gpus-per-task", "partition", "account", "nodelist"}

// signals are the signals that scripts may ask for.
var signals = map[string]syscall.Signal{"TERM": syscall.SIGTERM, "INT": syscall.SIGINT, "USR1": syscall.SIGUSR1, "USR2": syscall.SIGUSR2}

func signalOf(name string) (syscall.Signal, error) {
	number, ok := signals[strings.TrimPrefix(name, "SIG")]
	if !ok {
		return 0, fmt.Errorf("unknown signal %q", name)
	}
	return number, nil
}

// commandLine splits the arguments of sbatch into options, and a script with its arguments.
func commandLine(args []string) (opt []string, parsable bool, rest []string, err error) {
	for i, arg := range args {
		switch name, ok := strings.CutPrefix(arg, "--"); {
		case arg == "--parsable":
			parsable = true
		case ok:
			opt = append(opt, name)
		case strings.HasPrefix(arg, "-"):
			return nil, false, nil, fmt.Errorf("unrecognized option %q", arg)
		default:
			return opt, parsable, args[i:], nil
		}
	}
	return opt, parsable, nil, nil
}

// script sets the options of the lines of a script that begin with #SBATCH. As with SLURM, they end
// with the first command.
func (o *options) script(text string) error {
	if !strings.HasPrefix(text, "#!") {
		return fmt.Errorf("this does not look like a batch script: want a first line with #! and a shell")
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "#") {
			return nil
		}
		directive, ok := strings.CutPrefix(line, "#SBATCH --")
		if !ok && strings.HasPrefix(line, "#SBATCH") {
			return fmt.Errorf("got %q, want an option with --", line)
		}
		if !ok {
			continue
		}
		directive, _, _ = strings.Cut(directive, " #")
		if err := o.set(strings.TrimSpace(directive)); err != nil {
			return err
		}
	}
	return nil
}

// set sets an option, NAME or NAME=VALUE.
func (o *options) set(option string) (err error) {
	name, value, _ := strings.Cut(option, "=")
	switch {
	case name == "job-name":
		o.name = value
	case name == "output":
		o.output = value
	case name == "nodes":
		o.nodes, err = strconv.Atoi(value)
	case name == "ntasks":
		o.tasks, err = strconv.Atoi(value)
	case name == "ntasks-per-node":
		o.perNode, err = strconv.Atoi(value)
	case name == "array":
		err = o.setArray(value)
	case name == "requeue":
		o.requeue = true
	case name == "open-mode":
		o.appends = value == "append"
	case name == "signal":
		err = o.setSignal(value)
	case !slices.Contains(ignored, name):
		return fmt.Errorf("unrecognized option '--%s'", name)
	}
	if err != nil {
		return fmt.Errorf("invalid --%s: %w", option, err)
	}
	if o.perNode > 0 {
		o.tasks = o.perNode * o.nodes
	}
	return nil
}

// setArray sets FIRST-LAST, and %AT-ONCE.
func (o *options) setArray(value string) (err error) {
	both, throttle, limited := strings.Cut(value, "%")
	first, last, isRange := strings.Cut(both, "-")
	if !isRange {
		last = first
	}
	o.isArray = true
	if o.first, err = strconv.Atoi(first); err != nil {
		return err
	}
	if o.last, err = strconv.Atoi(last); err != nil {
		return err
	}
	o.throttle = 0
	if limited {
		o.throttle, err = strconv.Atoi(throttle)
	}
	return err
}

// setSignal sets [B:]NAME[@SECONDS].
func (o *options) setSignal(value string) (err error) {
	name, seconds, timed := strings.Cut(value, "@")
	if timed {
		if _, err = strconv.Atoi(seconds); err != nil {
			return err
		}
	}
	name, o.warnBatch = strings.CutPrefix(name, "B:")
	o.warn, err = signalOf(name)
	return err
}

// array returns the numbers of the tasks, or -1 for a job without an array.
func (o *options) array() (tasks []int) {
	if !o.isArray {
		return []int{-1}
	}
	for task := o.first; task <= o.last; task++ {
		tasks = append(tasks, task)
	}
	return tasks
}
