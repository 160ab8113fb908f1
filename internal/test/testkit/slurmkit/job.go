//go:build unix

package slurmkit

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A State says where a job is.
type State string

// The states of a job.
const (
	Pending   State = "PENDING"
	Running   State = "RUNNING"
	Completed State = "COMPLETED" // the script has returned 0
	Failed    State = "FAILED"    // the script has returned something else
	Cancelled State = "CANCELLED"
	NodeFail  State = "NODE_FAIL" // killed, without --requeue
)

// A Job is a job, or one task of an array.
type Job struct {
	c          *Cluster
	opt        options
	id, array  int // array is the id of the first task
	task       int // -1 if it is of no array
	spool, dir string
	args, env  []string

	// c.mu guards the following.
	state    State
	next     State // when the script ends: Pending, Cancelled, NodeFail, or "" for what it returns
	restarts int
	cmd      *exec.Cmd
	mark     string   // identifies the processes of this run
	left     []string // command lines of processes that were still there when the script ended
}

// Name returns the id, for an array with the number of the task.
func (j *Job) Name() string {
	if j.task < 0 {
		return strconv.Itoa(j.id)
	}
	return fmt.Sprintf("%d_%d", j.array, j.task)
}

// start starts the script. c.mu is held. bash gets it as an argument: if the file itself were
// executed, it could be busy, since a process that is being started has each open file for a
// moment.
func (j *Job) start() {
	flags := os.O_CREATE | os.O_WRONLY | os.O_APPEND
	if !j.opt.appends {
		flags |= os.O_TRUNC
	}
	out, err := os.OpenFile(j.outputPath(), flags, 0o666)
	if err == nil {
		j.cmd = exec.Command("bash", append([]string{filepath.Join(j.spool, "slurm_script")}, j.args...)...)
		j.cmd.Dir, j.cmd.Env, j.cmd.Stdout, j.cmd.Stderr = j.dir, j.environ(), out, out
		j.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		err = j.cmd.Start()
		_ = out.Close() // the job has it
	}
	if err != nil {
		j.state = Failed
		fmt.Fprintln(os.Stderr, "slurmkit:", err)
		return
	}
	j.state, j.next = Running, ""
	go j.run(j.cmd, j.mark)
}

// run waits for the end of the script.
func (j *Job) run(cmd *exec.Cmd, mark string) {
	err := cmd.Wait()
	left := processes(mark)
	killAll(mark)
	j.c.mu.Lock()
	defer j.c.mu.Unlock()
	switch {
	case j.next == Pending:
		j.state, j.restarts = Pending, j.restarts+1
	case j.next != "":
		j.state = j.next
	default:
		for _, p := range left {
			j.left = append(j.left, p.line)
		}
		j.state = Completed
		if err != nil {
			j.state = Failed
		}
	}
	j.c.schedule()
}

// environ returns the environment of the script.
func (j *Job) environ() []string {
	o := j.opt
	env := append([]string(nil), j.env...)
	set := func(name string, value any) { env = append(env, fmt.Sprintf("%s=%v", name, value)) }
	set("SLURM_JOB_ID", j.id)
	set("SLURM_JOB_NAME", o.name)
	set("SLURM_SUBMIT_DIR", j.dir)
	set("SLURM_JOB_NUM_NODES", o.nodes)
	set("SLURM_NTASKS", o.tasks)
	if o.perNode > 0 {
		set("SLURM_NTASKS_PER_NODE", o.perNode)
	}
	set("SLURM_PROCID", 0) // a script has these too
	set("SLURM_LOCALID", 0)
	set("SLURM_NODEID", 0)
	if j.task >= 0 {
		set("SLURM_ARRAY_JOB_ID", j.array)
		set("SLURM_ARRAY_TASK_ID", j.task)
	}
	if j.restarts > 0 {
		set("SLURM_RESTART_COUNT", j.restarts)
	}
	j.mark = fmt.Sprintf("%s.%d.%d", j.c.socket(), j.id, j.restarts)
	set(jobName, j.mark)
	return env
}

// outputPath returns the path of the output.
func (j *Job) outputPath() string {
	pattern := j.opt.output
	if pattern == "" && j.task < 0 {
		pattern = "slurm-%j.out"
	} else if pattern == "" {
		pattern = "slurm-%A_%a.out"
	}
	path := strings.NewReplacer("%x", j.opt.name, "%j", strconv.Itoa(j.id), "%A", strconv.Itoa(j.array), "%a", strconv.Itoa(j.task)).Replace(pattern)
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(j.dir, path)
}

// A process is a process of a job.
type process struct {
	pid  int
	line string // its command line
	step bool   // it is srun
}

// processes returns the processes of a job, as a cgroup would have them: their environment has the
// mark.
func processes(mark string) (all []process) {
	paths, _ := filepath.Glob("/proc/[0-9]*/environ") // the pattern is right
	for _, path := range paths {
		env, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(append(env, 0), []byte(jobName+"="+mark+"\x00")) {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		line, err := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		if err != nil || len(line) == 0 {
			continue // it has ended
		}
		args := strings.Split(string(line), "\x00")
		all = append(all, process{pid, strings.Join(args, " "), filepath.Base(args[0]) == "srun"})
	}
	return all
}

// killAll kills all processes with a mark.
func killAll(mark string) {
	for range 100 {
		all := processes(mark)
		if len(all) == 0 {
			return
		}
		for _, p := range all {
			_ = syscall.Kill(p.pid, syscall.SIGKILL) // it may have ended
		}
		time.Sleep(time.Millisecond)
	}
}

// stop kills the job, as far as it runs, and gives it a state.
func (j *Job) stop(state State) {
	j.c.mu.Lock()
	running, mark := j.state == Running, j.mark
	if running {
		j.next = state
	} else if state == Pending || j.state == Pending {
		j.state = state
		j.c.schedule()
	}
	j.c.mu.Unlock()
	if running {
		killAll(mark)
	}
}

// quiet waits until the job does not run.
func (j *Job) quiet() {
	for range 1000 {
		if j.State() != Running {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// signal sends a signal to the script, or to the steps.
func (j *Job) signal(number syscall.Signal, batch bool) {
	j.c.mu.Lock()
	defer j.c.mu.Unlock()
	if j.state != Running {
		return
	}
	if batch {
		_ = j.cmd.Process.Signal(number) // it may have ended
		return
	}
	for _, p := range processes(j.mark) {
		if p.step {
			_ = syscall.Kill(p.pid, number) // it may have ended
		}
	}
}

// Warn sends the signal that the job asked for by --signal, as SLURM does before the time limit.
func (j *Job) Warn() {
	j.c.t.Helper()
	if j.opt.warn == 0 {
		j.c.t.Fatalf("job %s asked for no --signal", j.Name())
	}
	j.signal(j.opt.warn, j.opt.warnBatch)
}

// Kill kills all processes of the job, as the failure of its node does, or a preemption whose grace
// has passed. A job with --requeue starts again.
func (j *Job) Kill() {
	if j.opt.requeue {
		j.stop(Pending)
		return
	}
	j.stop(NodeFail)
}

// State returns the state.
func (j *Job) State() State {
	j.c.mu.Lock()
	defer j.c.mu.Unlock()
	return j.state
}

// Restarts returns how often the job was requeued.
func (j *Job) Restarts() int {
	j.c.mu.Lock()
	defer j.c.mu.Unlock()
	return j.restarts
}

// Commands returns the command lines of the processes of the job.
func (j *Job) Commands() (lines []string) {
	j.c.mu.Lock()
	mark := j.mark
	j.c.mu.Unlock()
	for _, p := range processes(mark) {
		lines = append(lines, p.line)
	}
	return lines
}

// Left returns the command lines of the processes that were still there when the script ended.
func (j *Job) Left() []string {
	j.c.mu.Lock()
	defer j.c.mu.Unlock()
	return j.left
}

// Ended waits until the job runs no more, and returns its state.
func (j *Job) Ended() State {
	j.c.t.Helper()
	j.c.Until("the end of job "+j.Name(), func() bool { s := j.State(); return s != Running && s != Pending })
	return j.State()
}

// Output returns the output of the job.
func (j *Job) Output() string {
	text, err := os.ReadFile(j.outputPath())
	if err != nil {
		return err.Error()
	}
	return string(text)
}
