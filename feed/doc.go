// Package feed gives the batches of a loader to other processes, such as trainings in Python. The
// batches are in shared memory, which consumers map; a unix socket carries their numbers.
//
//	src, err := loader.FromDataset(ds)
//	f, err := feed.Listen("/tmp/digits.sock", src, feed.Options{
//		Loader: loader.Options{Batch: 64, Sampler: sampler.Random(), Seed: 1},
//		Epochs: 3,
//	})
//	defer f.Close()
//	err = f.Serve(ctx) // until a consumer has had three epochs
//
// A consumer in Go, in another process:
//
//	c, err := feed.Dial(ctx, "/tmp/digits.sock", feed.DialOptions{})
//	for !c.Ended() {
//		for batch, err := range c.Batches(ctx) { ... } // *tdict.TensorDict, valid until the next
//	}
//
// A consumer in Python is tdict.Feed("/tmp/digits.sock"), of the package in the directory python.
// docs/feed.md has the protocol, which is small enough for any language.
//
// # Slots
//
// A consumer has several slots: datasets of package memmap, each with room for the largest batch. A
// batch is made in a free slot. The consumer gives the slot back when it is done with the batch. No
// batch is made in a slot that a consumer holds. If all slots are held, the feed waits.
//
// # Consumers
//
// With Options.Consumers, the consumers are the ranks of a world and share the batches of each
// epoch; with Options.Same, each gets all batches. Each has its own loader and its own slots, so a
// slow consumer delays no other. A consumer that disconnects or dies gives all its slots back, and
// another process can take its rank. It may begin at the state that belongs to any batch.
//
// If the source is a loader.Snapshotter, such as loader.FromLive, all ranks get an epoch from the
// same snapshot.
//
// # Systems
//
// Linux and macOS are supported. On other systems Listen and Dial return errors.ErrUnsupported.
//
// # Implementation
//
//  1. Listen binds the socket (socket.go), makes a batch as prototype, and the slots (slots.go).
//  2. A place (place.go) is a rank: which of its slots are free, filled or held, and its stats.
//  3. A connection (serve.go) takes a place, and runs its loader. One goroutine makes batches, one
//     writes messages, one reads the slots that the consumer gives back.
//  4. An epochs (epochs.go) holds the snapshot of each epoch until all ranks have passed it.
//  5. message.go has the encoding of messages, for both sides; client.go is the consumer.
package feed
