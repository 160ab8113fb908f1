// Tdict looks at datasets, checks, cuts, and converts them, without a program.
//
//	$ tdict convert visits.csv visits
//	$ tdict show visits
//	$ tdict stats visits
//	$ tdict slice visits adults --where 'age >= 18 and sex == "f"'
//	$ tdict verify visits adults
//
// docs/cli.md describes each command. Each is a call of an exported function of this module, so
// that a program can do the same: memmap.Verify, packages inspect, forms, where and mongowire.
//
// Data goes to standard output, everything else to standard error. The exit code is
//
//	0    done
//	1    the answer is no: verify found a fault, diff a difference, schema check a misfit
//	2    the command line is wrong
//	3    the command failed
//	130  interrupted, by SIGINT or SIGTERM
package main
