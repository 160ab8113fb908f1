// Package samplecache shares generated samples between processes: many producers put them, many
// trainers read them. A complete set of samples replaces the one before in one step.
//
//	c, err := samplecache.Open(ctx, dircache.Engine{Dir: "/dev/shm/brains"}, samplecache.Options{})
//	p, err := c.Producer("gen-7")         // a process that generates
//	slot, err := p.Reserve(ctx)           // waits for room, before any work is done
//	err = generate(slot.Sample())         // writes to the engine's memory
//	err = slot.Commit(ctx)
//
// A cache holds generations, each of the same number of samples. Producers fill one, while trainers
// read the one published last, again and again. When the next is full it takes over in one step,
// and producers fill the place of an old one: the cache is circular, and its size on disk does not
// grow. Limits say how long producers and trainers wait for each other.
//
// One process makes the cache:
//
//	err := dircache.Create("/dev/shm/brains", schema, samplecache.Config{Samples: 1000})
//
// A process that trains opens it too, and reads a generation:
//
//	g, err := c.Group("train", world).Epoch(ctx, n)
//	l, err := loader.New(g, loader.Options{Batch: 8, Sampler: sampler.Random()})
//	for batch, err := range l.Batches(ctx) { ... }
//	err = g.Close()
//
// # The nouns
//
//   - A [Cache] is a process's part in it. An [Engine] says where it is kept: package dircache has
//     one for the processes of a machine, in a directory, and package memcache one for a single
//     process, in memory. Package engine defines it.
//   - A [Producer] puts samples. One with a name numbers them, and each number is stored once,
//     whatever is killed and tried again.
//   - A [Slot] is a place for a sample that is being written.
//   - A [Generation] is a published set of samples. Whoever has one open reads the same samples
//     until it is closed. It is a loader.Source.
//   - A [Group] is the ranks of a training job, which read the same generation in each epoch.
//   - [Limits] say how far producers and groups may run ahead of each other.
//
// # What is promised
//
// A sample whose Commit returned nil is in exactly one generation, even if every process is killed
// at that moment. A generation is published whole, once, and never changes. No reader gets a
// generation older than one it has seen. Only the samples that a process works on when it is killed
// are generated in vain. A process that ends lets go of all it holds. Each sample has checksums,
// which are compared when it is first read. docs/samplecache.md has the details and the costs.
//
// # Waiting
//
// Reserve, Commit, Epoch, Wait and Fetch take a context, and wait until it ends; a nil one never
// does. Then the error wraps context.Cause of it, [ErrBlocked], and the reason, such as the process
// that holds a slot and since when. The loop of a loader returns the cause alone: ask [Cache.Stats]
// then. [Cache.Close] ends all waiting with [ErrClosed]. Nobody waits for a process that was
// killed. A process that is stopped keeps its slot, since it may write to it when it goes on.
//
// # Errors
//
// Errors wrap the variables of this package, for errors.Is: [ErrSchema], [ErrGenerationGone],
// [ErrChecksum] in a [RowError] that says which sample, and so on.
//
// # Implementation
//
// A [Producer] chooses a number and asks the engine for a row (engine.Row). If the engine returns
// ErrBlocked, Cache.await (await.go) waits for Session.Changed and asks again; nothing else waits.
// The engine lends memory (Row.Place). place.go makes dictionaries of it, a gate (gate.go) counts
// who uses it, and Slot.Commit (slot.go) computes the checksums. A reader compares the checksums of
// rows and returns them (rows.go, generation.go).
//
// Package dircache describes what happens in the directory.
//
// To add an engine, implement the interfaces of engine/engine.go, and write a test that calls
// samplecachetest.TestEngine. Package memcache is the smallest engine.
package samplecache
