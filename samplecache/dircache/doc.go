// Package dircache keeps a circular cache of samples in a directory, for the processes of one
// machine. It is an engine of package samplecache, and needs only a disk, or better tmpfs.
//
//	err := dircache.Create("/dev/shm/brains", schema, samplecache.Config{Samples: 1000})
//	engine := dircache.Engine{Dir: "/dev/shm/brains"}
//	c, err := samplecache.Open(ctx, engine, samplecache.Options{})
//	defer c.Close()
//	g, err := c.Wait(ctx, 0) // the first generation that is published
//	defer g.Close()
//
// There is no server. Processes write samples to mapped files and read them there. A session that
// has a slot, a name or a pass in an epoch locks a byte of one file; the kernel keeps these locks.
// Records in each generation say which of its samples are committed. The rename of one small file
// publishes a generation.
//
// FORMAT.md in this directory describes the files, also for readers in other languages: each
// generation is a directory that memmap.Open and Python's tensordict read.
//
// # Processes that die
//
// When a process dies, the kernel frees its locks, and with them its slots, names and memberships.
// Sessions that wait look for dead processes a few times a second, and complete the operations that
// these had begun. The next process that opens the cache does the same. Nothing needs to be cleaned
// up by hand.
//
// A process that is stopped or stuck keeps what it holds. If it holds the lock of the cache,
// joining, publishing and groups wait for it; reading, Reserve and Commit do not.
//
// # Space
//
// Create allocates room for 2 + Retain generations: the one that is being filled, the one published
// last, and the retained ones. When a generation retires, its directory is renamed for the next one
// and filled again, unless the generation is still being read. Then a new directory is made. After
// MaxHeld of these, producers wait.
//
// # Damage
//
// Each sample has the CRC-32 of its leaves, which a process compares when it first reads the
// sample. Most words of the control file are hints, and wrong ones do no harm. If one of the other
// words is damaged, operations return ErrCorrupt. When all processes have left, the next one that
// opens the cache computes the words again from the MANIFEST and the records of the samples. The
// first process that opens the cache after a restart of the machine does the same.
//
// # Limits
//
//   - One machine: locks and memory are not shared over a network. For a directory on a network
//     file system, or one that another machine has used, Create and Join return ErrOtherHost.
//   - All processes must be trusted: each can damage the cache.
//   - 1,024 sessions at a time, 4,096 names of producers, 64 groups, 512 ranks of a group.
//   - Linux. It builds for macOS, where it was never run. On Windows, Create and Join return
//     errors.ErrUnsupported.
//
// # Implementation
//
//  1. A row is a slot (slots.go). A lock on one byte of the control file says which session fills
//     it. Its record (record.go) says whether it is committed. row.Commit (row.go) writes the
//     record and unlocks the byte. writer.go maps the files. claim.go has the names and their
//     numbers.
//  2. A session that finds all slots committed takes the lock (lock.go) and calls advance
//     (publish.go). publish compares the records and renames the MANIFEST (manifest.go): this one
//     step publishes. complete does everything that follows from it, and is idempotent. stores.go
//     has the directories, and chooses the one that is filled next.
//  3. A change that somebody may wait for ends with raise (watch.go): it increments the sequence
//     word, and a futex wakes all sessions. One goroutine of each session waits for that. While a
//     caller waits, it also looks for dead sessions six times a second, and completes their
//     operations.
//  4. A reader holds a generation by a lock on its directory (hold.go). Its session keeps the
//     leaves of a directory mapped while later generations fill it again (writer.go).
//  5. engine.Groups (engine/groups.go) has the counts of groups, and engine.Limits
//     (engine/limits.go) decides. dircache stores the counts twice in the control file (counts.go).
//     Each member of a group, and each pass in an epoch, has a lock (groups.go).
//  6. Wherever a kill may separate two steps, dircache calls crashPoint (crash.go) with the name of
//     the step that has just ended. The tests named TestW14 kill a process at every crash point.
//
// To add a crash point, call crashPoint with a new name; the tests find it. To add a word, add a
// constant to layout.go and a line to FORMAT.md, and increase formatVersion if older programs would
// misread the file.
package dircache
