// Package host knows what the system says about the machine: which one it is, since when it runs,
// what time it counts, and whose disk a path lies on.
//
// Processes that share memory and locks through a directory can trust both only on one machine,
// under one kernel. So whoever makes such a directory leaves a note in it, and whoever finds it
// compares:
//
//	name, network, err := host.Network(dir)
//	if network { ... }                              // other machines may write here: no
//	if was.Machine != machine { ... }               // of host.Machine: copied from elsewhere
//	if was.Boot != boot { ... }                     // of host.Boot: all holders of locks are gone
//	if host.Monotonic()-was.Beat > patience { ... } // one clock for all: set by nobody
//
// An id that is "" is not known. Two unknown machines are not known to be the same one.
//
// # Limits
//
// An id is as good as the system's care for it. Clones of a virtual machine, and containers of one
// image that brings its own /etc/machine-id, have one id; containers without that file have none.
// The id of the kernel is the same in all containers of a machine.
//
// The clock of [Monotonic] is one for all processes on Linux, except between time namespaces, and
// on macOS. Neither counts the time that the machine sleeps. On other systems it starts with the
// process.
//
// [Network] goes by the name of the file system. FUSE, which has one name for local and remote
// ones, counts as local, as do disks that several machines share by a protocol below the file
// system (GFS2, OCFS2). Nothing here was run on macOS.
package host
