//go:build linux

package slurmkit_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit/slurmkit"
)

func TestMain(m *testing.M) {
	slurmkit.Main()
	os.Exit(m.Run())
}

// submit submits a script of the given lines.
func submit(t *testing.T, c *slurmkit.Cluster, flags string, lines ...string) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "job.sh"), []byte("#!/usr/bin/env bash\n"+strings.Join(lines, "\n")+"\n"), 0o644))
	c.Sh(dir, "sbatch "+flags+" job.sh 'an argument'")
	return dir
}

// requireSays waits until a job has printed a text.
func requireSays(t *testing.T, c *slurmkit.Cluster, j *slurmkit.Job, text string) {
	t.Helper()
	c.Until(text, func() bool { return strings.Contains(j.Output(), text) })
}

// begun is a step that says one when a file called seen is there, and after tries of 10 ms without
// it.
func begun(tries string) string {
	step := "touch begun; for i in {1.." + tries + "}; do [ ! -e seen ] || break; sleep 0.01; done; echo one"
	return "srun bash -c '" + step + "' & until [ -e begun ]; do sleep 0.01; done"
}

// TestJobs has jobs that end by themselves.
func TestJobs(t *testing.T) {
	for name, tt := range map[string]struct {
		flags string
		lines []string
		state slurmkit.State
		says  string
	}{
		"environment": {"", []string{"#SBATCH --job-name=x", "#SBATCH --nodes=2", "#SBATCH --ntasks-per-node=3", `echo "$SLURM_JOB_ID $SLURM_JOB_NAME $SLURM_NTASKS ${SLURM_RESTART_COUNT-none} $1"`},
			slurmkit.Completed, "1 x 6 none an argument\n"},
		"options end with the first command": {"--job-name=x", []string{"true", "#SBATCH --wrong"}, slurmkit.Completed, ""},
		"the command line is stronger":       {"--job-name=x --nodes=3", []string{"#SBATCH --nodes=2", "echo $SLURM_JOB_NUM_NODES"}, slurmkit.Completed, "3\n"},
		"a copy of the script runs":          {"--job-name=x", []string{`[ "$(dirname "$0")" = "$PWD" ] || echo elsewhere`}, slurmkit.Completed, "elsewhere\n"},
		"a script that fails":                {"--job-name=x", []string{"exit 7"}, slurmkit.Failed, ""},
		"tasks":                              {"--job-name=x --nodes=2 --ntasks=4", []string{`srun bash -c 'echo "$SLURM_PROCID $SLURM_LOCALID $SLURM_NODEID of $SLURM_NTASKS"' | sort`}, slurmkit.Completed, "0 0 0 of 4\n1 1 0 of 4\n2 0 1 of 4\n3 1 1 of 4\n"},
		"the highest exit code":              {"--job-name=x --ntasks=3", []string{`srun bash -c 'exit $SLURM_PROCID'; echo $?`}, slurmkit.Completed, "2\n"},
		"a task that fails ends the others":  {"--job-name=x --ntasks=2", []string{`srun --kill-on-bad-exit=1 bash -c '((SLURM_PROCID)) || exit 3; sleep 60'; echo $?`}, slurmkit.Completed, "3\n"},
		"more tasks than nodes have":         {"--job-name=x --nodes=2 --ntasks-per-node=2", []string{`srun --ntasks-per-node=1 true`}, slurmkit.Failed, "want at most 2"},
		"steps share nothing":                {"--job-name=x", []string{begun("10"), "srun echo two; wait"}, slurmkit.Completed, "one\ntwo\n"},
		"steps that overlap":                 {"--job-name=x", []string{begun("3000"), "srun --overlap bash -c 'echo two; touch seen'; wait"}, slurmkit.Completed, "two\none\n"},
		"memory of a node":                   {"--job-name=x --ntasks=2 --nodes=2", []string{"srun bash -c 'basename $0' \"$MEMORY\" | sort"}, slurmkit.Completed, "memory\nmemory-node1\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			memory := filepath.Join(t.TempDir(), "memory")
			c := slurmkit.New(t, memory, "MEMORY="+memory)
			submit(t, c, tt.flags, tt.lines...)
			j := c.Job("x")
			require.Equal(t, tt.state, j.Ended(), j.Output())
			require.Contains(t, j.Output(), tt.says)
			require.Empty(t, j.Left())
		})
	}
}

// TestRefuses has what sbatch does not accept.
func TestRefuses(t *testing.T) {
	c := slurmkit.New(t, "")
	for flags, want := range map[string]string{
		"--wrong=1": "unrecognized option '--wrong'", "-n 2": "unrecognized option", "--nodes=two": "invalid --nodes=two",
		"--signal=B:HUP@60": `unknown signal "HUP"`, "--array=0-x": "invalid --array=0-x",
	} {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "job.sh"), []byte("#!/bin/sh\n"), 0o644))
		require.Contains(t, c.Sh(dir, "sbatch "+flags+" job.sh && exit 1 || true"), want)
	}
	require.Contains(t, c.Sh(t.TempDir(), "scontrol requeue 77 || true"), "invalid job id 77")
	require.Contains(t, c.Sh(t.TempDir(), "scancel --now 77 || true"), "unrecognized option")
}

// TestWarn sends the signal of a job to its script alone.
func TestWarn(t *testing.T) {
	c := slurmkit.New(t, "")
	submit(t, c, "--job-name=x --signal=B:TERM@60", "trap 'echo warned' TERM", "sleep 60 & echo ready", "wait; kill -0 $! && echo alone")
	j := c.Job("x")
	requireSays(t, c, j, "ready")
	j.Warn()
	require.Equal(t, slurmkit.Completed, j.Ended())
	require.Equal(t, "ready\nwarned\nalone\n", j.Output())
	require.Len(t, j.Left(), 1, "the script has left a process")
}

// TestWarnSteps sends the signal to what srun runs.
func TestWarnSteps(t *testing.T) {
	c := slurmkit.New(t, "")
	submit(t, c, "--job-name=x --signal=TERM", `srun bash -c 'trap "echo step; exit 4" TERM; echo ready; while :; do sleep 0.01; done'; echo $?`)
	j := c.Job("x")
	requireSays(t, c, j, "ready")
	j.Warn()
	require.Equal(t, slurmkit.Completed, j.Ended())
	require.Contains(t, j.Output(), "step\n4\n")
}

// TestRequeue kills jobs with and without --requeue, and requeues one by a command.
func TestRequeue(t *testing.T) {
	c := slurmkit.New(t, "")
	script := `echo "run ${SLURM_RESTART_COUNT:-0} of $SLURM_JOB_ID"; ((${SLURM_RESTART_COUNT:-0} > 1)) || { setsid sleep 60 & sleep 60; }`
	dir := submit(t, c, "--job-name=again --requeue --open-mode=append", script)
	j := c.Job("again")
	requireSays(t, c, j, "run 0 of 1\n")
	j.Kill()
	requireSays(t, c, j, "run 1 of 1\n")
	c.Sh(dir, "scontrol requeue 1")
	require.Equal(t, slurmkit.Completed, j.Ended())
	require.Equal(t, "run 0 of 1\nrun 1 of 1\nrun 2 of 1\n", j.Output())
	require.Equal(t, 2, j.Restarts())

	submit(t, c, "--job-name=once", script)
	j = c.Job("once")
	requireSays(t, c, j, "run 0 of 2\n")
	j.Kill()
	require.Equal(t, slurmkit.NodeFail, j.Ended())
	submit(t, c, "--job-name=cancelled --requeue", script)
	j = c.Job("cancelled")
	requireSays(t, c, j, "run 0 of 3\n")
	c.Sh(dir, "scancel 3")
	require.Equal(t, slurmkit.Cancelled, j.Ended())
}

// TestArray runs two tasks of an array at a time.
func TestArray(t *testing.T) {
	c := slurmkit.New(t, "")
	dir := submit(t, c, "--job-name=x --array=3-6%2 --output=%x-%A_%a.log", `echo "task $SLURM_ARRAY_TASK_ID of $SLURM_ARRAY_JOB_ID"; until [ -e go$SLURM_ARRAY_TASK_ID ]; do sleep 0.01; done`)
	for task := 3; task <= 4; task++ {
		requireSays(t, c, c.Job("x", task), "of 1\n")
	}
	require.Equal(t, 2, c.Count("x", slurmkit.Pending))
	c.Sh(dir, "touch go3")
	requireSays(t, c, c.Job("x", 5), "task 5 of 1\n")
	require.Equal(t, 1, c.Count("x", slurmkit.Pending))
	require.FileExists(t, filepath.Join(dir, "x-1_5.log"))
	c.Sh(dir, "touch go4 go5 go6")
	for task := 3; task <= 6; task++ {
		require.Equal(t, slurmkit.Completed, c.Job("x", task).Ended())
	}
}
