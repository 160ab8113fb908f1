// Package slurm has the job scripts of docs/slurm.md, in a directory for each topology. Its tests
// run them.
package slurm
