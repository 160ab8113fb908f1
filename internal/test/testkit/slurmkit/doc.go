// Package slurmkit is a scheduler for tests. It runs job scripts on this machine as SLURM runs them
// on a cluster, so that tests can signal, kill and requeue them.
//
//	c := slurmkit.New(t, shm, "SHM="+shm)
//	c.Sh(dir, "sbatch --array=0-3%2 generate.sh")
//	c.Job("generate", 1).Kill() // a node fails: the job is requeued if it asked for --requeue
//
// The commands sbatch, srun, scontrol and scancel are links to the binary of the test, whose
// TestMain calls [Main]. They know the options that the scripts of this module use, and refuse
// others. What is like SLURM, because scripts depend on it:
//
//   - A script runs as a copy elsewhere, in the directory of sbatch. Only --signal=B: reaches it.
//   - When the script ends, all processes that it has left are killed. Job.Left has them.
//   - A job that is requeued keeps its id. SLURM_RESTART_COUNT counts, and is not set before.
//   - srun without --overlap waits for other such steps of the job.
//   - Each node has its own memory: a directory that New is given stands for it.
package slurmkit
