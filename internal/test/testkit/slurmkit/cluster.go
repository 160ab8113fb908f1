//go:build unix

package slurmkit

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// names are the names of the commands.
var names = []string{"sbatch", "srun", "scontrol", "scancel"}

// A Cluster is a scheduler, and the jobs that it was given.
type Cluster struct {
	t       testing.TB
	dir     string // has the commands, the socket and the copies of scripts
	private string // a directory that is another one on each node, or ""
	env     []string
	l       net.Listener

	mu    sync.Mutex
	jobs  []*Job
	last  int           // id of the last job
	moved chan struct{} // closed when a job starts or ends
	over  bool          // the test has ended
}

// New starts a scheduler, which ends with the test. private is a directory that is a different one
// on each node; the script of a job sees node 0's. env is added to the environment of all commands.
func New(t testing.TB, private string, env ...string) *Cluster {
	t.Helper()
	dir, err := os.MkdirTemp("", "slurm") // short, since it has a socket
	check(t, err)
	exe, err := os.Executable()
	check(t, err)
	for _, name := range names {
		check(t, os.Symlink(exe, filepath.Join(dir, name)))
	}
	c := &Cluster{t: t, dir: dir, private: private, moved: make(chan struct{})}
	c.env = append(os.Environ(), env...)
	path := dir + ":" + os.Getenv("PATH")
	for _, one := range env {
		if value, ok := strings.CutPrefix(one, "PATH="); ok {
			path = dir + ":" + value
		}
	}
	c.env = append(c.env, "PATH="+path, socketName+"="+c.socket(), privateName+"="+private)
	c.l, err = net.Listen("unix", c.socket())
	check(t, err)
	go c.answer()
	t.Cleanup(c.close)
	return c
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (c *Cluster) socket() string { return filepath.Join(c.dir, "socket") }

// close kills all jobs.
func (c *Cluster) close() {
	_ = c.l.Close()
	c.mu.Lock()
	c.over = true
	jobs := c.jobs
	c.mu.Unlock()
	for _, j := range jobs {
		j.stop(Cancelled)
	}
	for _, j := range jobs {
		if _, err := os.Stat(j.outputPath()); err == nil && c.t.Failed() {
			c.t.Logf("job %s is %s:\n%s", j.Name(), j.State(), j.Output())
		}
		j.quiet()
	}
	_ = os.RemoveAll(c.dir)
}

// Sh runs commands in a directory, as a user does, and returns what they print.
func (c *Cluster) Sh(dir, commands string) string {
	c.t.Helper()
	cmd := exec.Command("bash", "-euo", "pipefail", "-c", commands)
	cmd.Dir, cmd.Env = dir, c.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		c.t.Fatalf("%s: %v\n%s", commands, err, out)
	}
	return string(out)
}

// Job returns the job that was submitted last under a name, of an array the given task.
func (c *Cluster) Job(name string, task ...int) *Job {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := len(c.jobs) - 1; i >= 0; i-- {
		if j := c.jobs[i]; j.opt.name == name && (len(task) == 0 || j.task == task[0]) {
			return j
		}
	}
	c.t.Fatalf("no job is called %s %v", name, task)
	return nil
}

// Count returns the number of jobs with a name that are in a state.
func (c *Cluster) Count(name string, state State) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, j := range c.jobs {
		if j.opt.name == name && j.state == state {
			n++
		}
	}
	return n
}

// answer answers the commands.
func (c *Cluster) answer() {
	for {
		nc, err := c.l.Accept()
		if err != nil {
			return // the test has ended
		}
		go func() {
			defer nc.Close()
			var r request
			if json.NewDecoder(nc).Decode(&r) != nil {
				return // the command was killed
			}
			out, err := c.do(r)
			answer := reply{Out: out}
			if err != nil {
				answer.Err = err.Error()
			}
			_ = json.NewEncoder(nc).Encode(answer)
		}()
	}
}

// do runs a command.
func (c *Cluster) do(r request) (out string, err error) {
	switch r.Args[0] {
	case "sbatch":
		return c.submit(r)
	case "scancel":
		return "", c.cancel(r.Args[1:])
	case "scontrol":
		if len(r.Args) != 3 || r.Args[1] != "requeue" {
			return "", fmt.Errorf("got %q, want requeue JOB", r.Args[1:])
		}
		return "", c.each(r.Args[2], func(j *Job) { j.stop(Pending) })
	}
	return "", fmt.Errorf("no command is called %s", r.Args[0])
}

// each calls fn for a job, or for all tasks of an array.
func (c *Cluster) each(id string, fn func(j *Job)) error {
	c.mu.Lock()
	var found []*Job
	for _, j := range c.jobs {
		if id == j.Name() || id == strconv.Itoa(j.array) || id == strconv.Itoa(j.id) {
			found = append(found, j)
		}
	}
	c.mu.Unlock()
	for _, j := range found {
		fn(j)
	}
	if found == nil {
		return fmt.Errorf("invalid job id %s", id)
	}
	return nil
}

// cancel is scancel: a signal for the steps, with --batch for the script, and without a signal the
// end.
func (c *Cluster) cancel(args []string) error {
	signal, batch, id := "", false, ""
	for _, arg := range args {
		switch value, isSignal := strings.CutPrefix(arg, "--signal="); {
		case isSignal:
			signal = value
		case arg == "--batch":
			batch = true
		case strings.HasPrefix(arg, "-"):
			return fmt.Errorf("unrecognized option %q", arg)
		default:
			id = arg
		}
	}
	if signal == "" {
		return c.each(id, func(j *Job) { j.stop(Cancelled) })
	}
	number, err := signalOf(signal)
	if err != nil {
		return err
	}
	return c.each(id, func(j *Job) { j.signal(number, batch) })
}

// submit is sbatch.
func (c *Cluster) submit(r request) (string, error) {
	opt, parsable, rest, err := commandLine(r.Args[1:])
	if err != nil {
		return "", err
	}
	if len(rest) == 0 {
		return "", fmt.Errorf("got no script")
	}
	path := rest[0]
	if !filepath.IsAbs(path) {
		path = filepath.Join(r.Dir, path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	o := options{name: filepath.Base(path), nodes: 1, tasks: 1}
	if err := o.script(string(text)); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	for _, one := range opt {
		if err := o.set(one); err != nil {
			return "", err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	id := c.last + 1
	spool := filepath.Join(c.dir, fmt.Sprintf("job%d", id))
	if err := os.Mkdir(spool, 0o700); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(spool, "slurm_script"), text, 0o700); err != nil {
		return "", err
	}
	for i, task := range o.array() {
		c.last++
		c.jobs = append(c.jobs, &Job{c: c, opt: o, id: id + i, array: id, task: task, spool: spool, args: rest[1:], dir: r.Dir, env: r.Env, state: Pending})
	}
	c.schedule()
	if parsable {
		return fmt.Sprintln(id), nil
	}
	return fmt.Sprintf("Submitted batch job %d\n", id), nil
}

// schedule starts the jobs that may start. c.mu is held.
func (c *Cluster) schedule() {
	running := map[int]int{}
	for _, j := range c.jobs {
		if j.state == Running {
			running[j.array]++
		}
	}
	for _, j := range c.jobs {
		if j.state == Pending && !c.over && (j.opt.throttle == 0 || running[j.array] < j.opt.throttle) {
			running[j.array]++
			j.start()
		}
	}
	close(c.moved)
	c.moved = make(chan struct{})
}

// Until waits until a condition on jobs holds.
func (c *Cluster) Until(what string, holds func() bool) {
	c.t.Helper()
	late := time.After(time.Minute)
	for {
		c.mu.Lock()
		moved := c.moved
		c.mu.Unlock()
		if holds() {
			return
		}
		select {
		case <-moved:
		case <-time.After(20 * time.Millisecond): // it may depend on more than jobs
		case <-late:
			c.t.Fatalf("never came: %s", what)
		}
	}
}
