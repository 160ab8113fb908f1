// Package dircache keeps a circular cache of samples in a directory, for the processes of one
// machine. It is an engine of package samplecache, and needs only a disk, or better tmpfs.
//
//	err := dircache.Create("/dev/shm/brains", schema, samplecache.Config{Samples: 1000})
//	c, err := samplecache.Open(ctx, dircache.Engine{Dir: "/dev/shm/brains"}, samplecache.Options{})
//	defer c.Close()
//	g, err := c.Wait(ctx, 0) // the first generation that is published
//	defer g.Close()
//
// There is no server. Samples are written to and read from mapped files. A session that holds a
// slot, a name or a part in an epoch locks a byte of one file; the kernel keeps these locks.
// Records beside the samples say which of them are committed. The rename of one small file
// publishes a generation. FORMAT.md beside this file describes the files, for readers in other
// languages too: each generation is a directory that memmap.Open and Python's tensordict read.
//
// # Processes that die
//
// The kernel frees the locks of a process that dies, and with them its slots, names and
// memberships. Sessions that wait look for dead processes a few times a second, and complete the
// operations that these had begun. The next process that opens the cache does the same. Nothing
// needs to be cleaned up by hand.
//
// A process that is stopped, or stuck, keeps what it holds. If it holds the lock of the cache,
// joining, publishing and groups wait for it; reading, Reserve and Commit go on.
//
// # Space
//
// Create sets aside room for 2 + Retain generations: one that is filled, the one published last,
// and those retained. The directory of a retired one is filled again if nobody reads it. If
// somebody does, it is put aside, and a new one is made: up to MaxHeld; then producers wait.
//
// # Damage
//
// Each sample has the CRC-32C of its leaves, compared when a process first reads it. Most words of
// the control file are hints, and wrong ones do no harm. If one that matters is damaged, operations
// are ErrCorrupt; when all processes have left, the next that opens the cache makes the words again
// from the MANIFEST and the records of the samples. After a restart of the machine, the first that
// opens the cache does the same.
//
// # Limits
//
//   - One machine: locks and memory are not shared over a network. A directory on a network file
//     system, or one that another machine has used, is ErrOtherHost.
//   - All processes must be trusted: each can damage the cache.
//   - 1,024 sessions at a time, 4,096 names of producers, 64 groups, 512 ranks of a group.
//   - Linux. It builds for macOS, where it was never run. On Windows, Create and Join return
//     errors.ErrUnsupported.
//
// # Implementation
//
//  1. A row is a slot (slots.go). A lock of one byte of the control file says who fills it, its
//     record (record.go) says whether it is committed, and its word is a hint. row.Commit (row.go)
//     writes the record, gives the lock back, and sets the word. writer.go maps the files; claim.go
//     has the names and their numbers.
//  2. A session that finds all words committed takes the lock (lock.go) and calls goOn
//     (publish.go). publish compares the records and renames the MANIFEST (manifest.go): this is
//     the one step that publishes. settle completes what follows from it; it is idempotent.
//     stores.go has the directories and chooses the one that is filled next.
//  3. Every change ends with raise (watch.go): it increments the sequence word, and a futex wakes
//     all sessions. One goroutine of each session waits for that. Six times a second it also looks
//     for what dead sessions have left, and completes it.
//  4. A reader holds a generation by a lock on its directory (hold.go).
//  5. engine.Groups (engine/groups.go) has the counts of groups, and engine.Limits
//     (engine/limits.go) decides. dircache stores the counts twice in the control file (counts.go).
//     Each member, and each part in an epoch, has a lock (groups.go).
//  6. Between two steps that a kill may separate, dircache calls passing (crash.go), with the name
//     of a crash point, called a moment. The tests of W14 kill a process at every one.
//
// To add a crash point, call passing with the name of the step that has just ended; the tests find
// it. To add a word: a constant in layout.go, a line in FORMAT.md, and a higher formatVersion if
// older programs would misread the file.
package dircache
