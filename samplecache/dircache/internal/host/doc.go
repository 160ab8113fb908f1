// Package host provides what the system knows about the machine: its identity, its last start, a
// clock, and the kind of disk of a path.
//
// Processes that share memory and locks through a directory can trust both only on one machine,
// under one kernel. So the process that makes such a directory stores these facts in it, and a
// process that opens it compares:
//
//	name, network, err := host.Network(dir)
//	if network { ... }                              // other machines may write here: refuse
//	if was.Machine != machine { ... }               // from host.Machine: it was copied
//	if was.Boot != boot { ... }                     // from host.Boot: no lock is held
//	if host.Monotonic()-was.Beat > patience { ... } // one clock for all, never set
//
// An id of "" means unknown. Two unknown machines may be different.
//
// # Limits
//
// An id is only as good as the system's management of it. Clones of a virtual machine, and
// containers of one image with its own /etc/machine-id, share an id; containers without that file
// have none. The id of the kernel is the same in all containers of a machine.
//
// On Linux, the clock of [Monotonic] is the same for all processes, except in different time
// namespaces; on macOS it is the same too. In neither case does it count the time that the machine
// sleeps. On other systems it starts with the process.
//
// [Network] uses the name of the file system. FUSE, which has one name for local and remote file
// systems, counts as local, as do disks that several machines share by a protocol below the file
// system (GFS2, OCFS2). The code for macOS was never run.
package host
