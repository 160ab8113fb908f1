// Package samplecache shares generated samples between processes: producers put samples into a
// cache, and training jobs read them. A complete set of samples replaces the previous one in one
// step.
//
//	engine := dircache.Engine{Dir: "/dev/shm/brains"}
//	c, err := samplecache.Open(ctx, engine, samplecache.Options{})
//	p, err := c.Producer("gen-7")         // a process that generates
//	slot, err := p.Reserve(ctx)           // waits for room, before any work is done
//	err = generate(slot.Sample())         // writes to the engine's memory
//	err = slot.Commit(ctx)
//
// A cache holds generations, each with the same number of samples. Producers fill the next
// generation while training jobs read the latest one again and again. When the next
// generation is full, it becomes the latest in one step, and producers reuse the memory of an old
// one. So the cache is circular, and its size on disk does not grow. Limits say how long producers
// and training jobs wait for each other.
//
// One process makes the cache:
//
//	err := dircache.Create("/dev/shm/brains", schema, samplecache.Config{Samples: 1000})
//
// A process that trains opens the cache too, and reads a generation:
//
//	g, err := c.Group("train", world).Epoch(ctx, n)
//	l, err := loader.New(g, loader.Options{Batch: 8, Sampler: sampler.Random()})
//	for batch, err := range l.Batches(ctx) { ... }
//	err = g.Close()
//
// # Types
//
//   - A [Cache] is the membership of one process in a cache. An [Engine] is the storage of the
//     cache. Package dircache has an engine that keeps it in a directory, for all processes of a
//     machine. Package memcache has one that keeps it in memory, for a single process. Package
//     natscache, a separate module, has one that keeps it on servers, for several machines. Package
//     engine defines the interfaces.
//   - A [Producer] puts samples. A producer with a name numbers its samples, and each number is
//     stored once, even if processes are killed and started again.
//   - A [Slot] is the place of one sample that is being written.
//   - A [Generation] is a published set of samples. It stays the same until it is closed. It is a
//     loader.Source.
//   - A [Group] is the set of ranks of a training job. All ranks read the same generation in an
//     epoch.
//   - An [Info] says where a sample comes from, a [Window] which numbers a producer has committed,
//     and [Verify] when checksums are compared.
//   - [Limits] say how far producers and groups may run ahead of each other.
//
// # Guarantees
//
//   - If Commit returned nil, the sample is in exactly one generation, even if every process is
//     killed at that moment.
//   - A generation is published whole and once, and never changes.
//   - No reader gets a generation older than one that it has seen.
//   - If a process is killed, only the samples that it was working on are lost.
//   - If a process ends, its slots, names, generations and memberships are free.
//   - Each sample has checksums, which are compared when the sample is first read.
//
// docs/samplecache.md has the details and the costs.
//
// # Waiting
//
// Reserve, Commit, Epoch, Wait and Fetch wait until their context ends; a nil context never ends.
// The error then wraps context.Cause(ctx), [ErrBlocked], and the reason, such as the process that
// holds a slot and since when. The loop of a loader returns only the cause: ask [Cache.Stats] for
// the reason. [Cache.Close] ends all waiting with [ErrClosed].
//
// Nobody waits for a process that was killed. A process that is stopped keeps its slot, since it
// may write to the slot when it continues.
//
// # Errors
//
// Errors wrap the variables of this package, for errors.Is: [ErrSchema], [ErrGenerationGone], and
// so on. A [RowError] says which sample an error is about, such as [ErrChecksum].
//
// # Implementation
//
// A [Producer] chooses a number and asks the engine for an engine.Row. If the engine returns
// ErrBlocked, Cache.await (await.go) waits for Session.Changed and asks again; nothing else waits.
// Row.Place lends memory, and place.go makes dictionaries of it. A gate (gate.go) counts the
// operations that use the memory. Slot.Commit (slot.go) computes the checksums. A reader compares
// the checksums of rows and returns the rows (rows.go, generation.go).
//
// Package dircache describes what happens in the directory.
//
// To add an engine, implement the interfaces of engine/engine.go, and write a test that calls
// samplecachetest.TestEngine. Package memcache is the smallest engine.
package samplecache
