// Package dircache keeps a circular cache of samples in a directory, for the processes of one
// machine: the engine of package samplecache that needs nothing but a disk, or better tmpfs.
//
//	err := dircache.Create("/dev/shm/brains", schema, samplecache.Config{Samples: 1000})
//	c, err := samplecache.Open(ctx, dircache.Engine{Dir: "/dev/shm/brains"}, samplecache.Options{})
//
// There is no server. Samples are written to and read from mapped files; a slot is reserved and
// committed by a compare-and-swap in a mapped control file; a generation is published by the rename
// of one small file. FORMAT.md beside this file describes all of it, for readers in other
// languages, too: each generation is a directory that memmap.Open and Python's tensordict read as
// it stands.
//
// # Processes that die
//
// Each process holds a FIFO open, and the others its other end, so that the kernel tells them when
// it is gone. Whoever hears it frees its slots, lets go of its names and completes what it had
// begun; generations that it held are locked by flock, which dies with it. If all are killed, the
// next that opens the cache does so. Nothing needs to be cleaned up by hand.
//
// A process that is stopped, or stuck, keeps what it holds.
//
// # Space
//
// Create sets aside room for 2 + Retain generations: one that is filled, the one published last,
// and those retained. The directory of a retired one is filled again if nobody reads it. If
// somebody does, it is put aside, and a new one is made: up to MaxHeld; then producers wait.
//
// # Damage
//
// Each sample has the CRC-32C of its leaves, compared when a process first reads it. Each word of
// the control file carries a check of its own; if it is damaged, operations are ErrCorrupt, and the
// next process that opens the cache alone makes the file again from the MANIFEST and the records of
// the samples. So it does after the machine was started anew.
//
// # Limits
//
//   - One machine: FIFOs and memory are not shared over a network. A directory on a network file
//     system, or one that another machine has used, is ErrOtherHost.
//   - All processes must be trusted alike: who may write the directory may damage the cache.
//   - 1,024 sessions at a time, 4,096 names of producers, 64 groups, 8,192 ranks in the epochs that
//     are remembered.
//   - Linux. It builds for macOS, where nothing of it was run. On Windows all is
//     errors.ErrUnsupported.
package dircache
