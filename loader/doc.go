// Package loader makes the mini-batches of a training loop from a dataset. It shuffles, pads and
// transforms rows, divides batches among the ranks of a job, and can resume at any batch.
//
//	src, err := loader.FromDataset(ds)
//	l, err := loader.New(src, loader.Options{Batch: 64, Sampler: sampler.Random(), Seed: 1})
//	for batch, err := range l.Batches(ctx) { // *tdict.TensorDict, [64 ...]
//		...
//	}
//
// One loop over all batches is an epoch. [Loader.Epoch] counts completed epochs, also after a
// resume, and [Loader.Stats] has the rows and bytes per second:
//
//	for l.Epoch() < 10 {
//		for batch, err := range l.Batches(ctx) { ... }
//		fmt.Println(l.Stats())
//	}
//
// Options.Transform is a pipeline of package transform. Options.Collate is a [Collate], which makes
// a batch of the rows that were fetched; [Pad] returns one. Options.Progress is called with the
// [Progress] of the epoch after each batch. With Options.Batching, batches consist of whole groups,
// or of rows of about the same length. With Options.Workers, workers prefetch batches.
//
// # Sources
//
// A [Source] has two methods: Len, the number of rows, and Fetch, which returns all rows of a batch
// at once and may reuse memory. Optional interfaces add abilities: a [Slicer] returns consecutive
// rows without copying them, a [Prefetcher] reads rows in advance, a [Snapshotter] may change
// between epochs and has a [Snapshot] for each, and a [Describer] describes its rows in a
// [Description]. [FromDataset], [From], [FromLive], [FromTensors], [FromRows] and
// [FromFunc] return sources; [Concat], [Zip] and [Subset] combine them.
//
// # Order
//
// Package sampler determines which rows an epoch has, in which order, and where batches end. It has
// samplers for random order, for blocks, for weighted and for stratified sampling, and batches of
// whole groups or of rows of about the same length. The batches of an epoch depend only on the
// data, the sampler, the batching, the seed and the number of the epoch. They are the same on every
// platform and for any number of workers.
//
// With Options.Share, batches are divided among the ranks of a world; all ranks get the same number
// of batches.
//
// # Resuming
//
// [Loader.State] is a small value to store as JSON, with a checkpoint of the model. A loader that
// is restored from it returns exactly the remaining batches, also with another number of ranks. No
// skipped batch is loaded, since samplers compute the row at any position directly.
//
// # Memory
//
// A batch is valid until the loop asks for the next one or ends. Its memory is then reused, so that
// a loop in steady state allocates only headers. With Options.Own each batch owns its memory, and
// with Options.Into it is in memory that the caller gives, such as a ring of buffers; Clone keeps a
// single batch. In tests, Options.Poison reveals the use of an old batch. If the sampler is
// sequential and the source is a Slicer, batches are views of the source, which must not be
// written.
//
// # Workers
//
// Without workers the loop makes each batch when it needs it, which is fastest for rows that only
// need to be copied. With Options.Workers, workers prefetch batches, which come in order.
// Options.Ahead bounds the number of batches that wait and, if it is set, Options.AheadBytes bounds
// their bytes. [Stats] show whether the loop waited for them.
//
// # Errors
//
// [New] returns the errors that can be known in advance. An error during a loop ends the loop. If a
// batch failed, the error is a [BatchError] with the epoch, the batch and its rows; the position of
// the loader is before that batch, and ranging again retries it. [Loader.Batches] lists the other
// errors.
//
// # Implementation
//
//  1. A sampler.Sampler returns the Order of an epoch: the row, or group, at any position. A
//     sampler.Batching cuts the order into a Plan: the rows of any batch. Neither has state, so the
//     position of a [Loader] is a few numbers, its cursor.
//  2. A run is one loop over the batches of an epoch, or over the rest of them. A slot holds a
//     batch and its memory. The run takes slots, in order, from a maker. Without workers the
//     maker runs on the goroutine of the loop. With workers, workers.Stream runs it on their
//     goroutines; Stream keeps the order and ends with the loop. A budget bounds the bytes of the
//     batches that wait.
//  3. The maker fetches the rows into the memory of the slot, then labels, collates and transforms
//     them. A slot returns to the pool when the loop asks for the next batch.
//
// To add a source, write the two methods of [Source]; loadertest.TestSource checks them.
package loader
