// Package samplecache shares generated samples: many producers put them, many trainers read them,
// while neither waits for the other longer than they agree to.
//
// A cache holds generations of equally many samples. Producers fill one, while trainers read the
// one published last, again and again. When the next is full it takes over in one step, and the
// place of an old one is filled anew: the cache is circular, and its size on disk does not grow.
//
//	err := dircache.Create("/dev/shm/brains", schema, samplecache.Config{Samples: 1000})
//
//	c, err := samplecache.Open(ctx, dircache.Engine{Dir: "/dev/shm/brains"}, samplecache.Options{})
//
//	p, err := c.Producer("gen-7")         // a process that generates
//	slot, err := p.Reserve(ctx)           // waits for room, before any work is done
//	err = generate(slot.Sample())         // writes to the engine's memory
//	err = slot.Commit(ctx)
//
//	g, err := c.Group("train", world).Epoch(ctx, n) // a process that trains
//	l, err := loader.New(g, loader.Options{Batch: 8, Sampler: sampler.Random()})
//	for batch, err := range l.Batches(ctx) { ... }
//	err = g.Close()
//
// # The nouns
//
//   - A [Cache] is a process's part in it. An [Engine] says where it is kept: package dircache has
//     one for the processes of a machine, in a directory, and package memcache one for a single
//     process, in memory. Package engine says what an engine does.
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
// A sample whose Commit returned nil is in exactly one generation, though every process is killed
// at that moment. A generation is published whole, once, and never changes. Generations that a
// reader gets do not go back in time. Samples are never generated for nothing, but for those that a
// process was working on as it was killed. What a process holds ends with it. Each sample has
// checksums, of which damage is told. docs/samplecache.md says how, and what it costs.
//
// # Waiting
//
// Reserve, Commit, Epoch, Wait and Fetch take a context, and wait until it ends; a nil one never
// does. The error then wraps context.Cause of it, [ErrBlocked], and what was waited for, such as the
// process that holds a slot and since when; the loop of a loader gives the cause alone, so ask
// [Cache.Stats] then. [Cache.Close] ends all waiting with [ErrClosed]. A process that was
// killed makes nobody wait; one that is stopped and holds a slot does, since what it would do on
// waking cannot be prevented.
//
// # Errors
//
// Errors wrap the variables of this package, for errors.Is: [ErrSchema], [ErrGenerationGone],
// [ErrChecksum] in a [RowError] that says which sample, and so on.
package samplecache
