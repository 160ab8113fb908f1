// Package slurmtest runs the job scripts of examples/slurm in tests, with the scheduler of package
// slurmkit and a generator that needs no Python.
package slurmtest
