// Tdict shows, checks, slices and converts datasets on the command line, and makes, fills and
// watches caches of samples.
//
//	$ tdict convert visits.csv visits
//	$ tdict show visits
//	$ tdict stats visits
//	$ tdict slice visits adults --where 'age >= 18 and sex == "f"'
//	$ tdict verify visits adults
//
// docs/cli.md describes each command. Each command calls an exported function of this module, so
// that a program can do the same: memmap.Verify, packages inspect, forms, where, samplecache and
// mongowire.
//
// Data goes to standard output, and everything else to standard error. The exit codes are
//
//	0    success
//	1    the answer is no: verify found damage, diff a difference, schema check a misfit
//	2    the command line is wrong
//	3    the command failed
//	130  interrupted, by SIGINT or SIGTERM
package main

import "github.com/go-tensordict/tensordict/cmd/internal/command"

func main() { command.Main(nil) }
