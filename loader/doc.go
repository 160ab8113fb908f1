// Package loader makes the mini-batches of a training loop from a dataset. It shuffles, pads and
// transforms rows, deals batches to the ranks of a job, and resumes at any batch.
//
//	src, err := loader.FromDataset(ds)
//	l, err := loader.New(src, loader.Options{Batch: 64, Sampler: sampler.Random(), Seed: 1})
//	for batch, err := range l.Batches(ctx) { // *tdict.TensorDict, [64 ...]
//		...
//	}
//
// One loop over Batches is an epoch. [Loader.Epoch] counts the complete ones, also after a resume,
// and [Loader.Stats] has the rows and bytes a second:
//
//	for l.Epoch() < 10 {
//		for batch, err := range l.Batches(ctx) { ... }
//		fmt.Println(l.Stats())
//	}
//
// Options.Transform is a pipeline of package transform. Batches can end at groups or by the length
// of rows (Options.Batching), and be made ahead of the loop (Options.Workers).
//
// # Sources
//
// A [Source] has two methods: how many rows there are, and Fetch, which returns rows by number, all
// of a batch at once, in memory that is used again and again. What more a source can do it says by
// further interfaces: a [Slicer] shows neighbouring rows without copying them, a [Prefetcher] is
// told what will be wanted, a [Snapshotter] may change between epochs. [FromDataset], [From],
// [FromLive], [FromJoint], [FromTensors], [FromRows] and [FromFunc] make sources; [Concat], [Zip]
// and [Subset] combine them.
//
// # Order
//
// Package sampler says which rows come, in which order, and where batches end: at random, in
// blocks, by weight, by class, groups of rows whole, rows of about the same length. The batches of
// an epoch depend on the data, the sampler, the batching, the seed and the number of the epoch, and
// on nothing else: they are the same on every platform and for any number of workers.
//
// With Options.Share, batches are dealt to the ranks of a world, all of which get equally many.
//
// # Resuming
//
// [Loader.State] is a small value to be kept as JSON, with a checkpoint of the model. A loader that
// is restored from it gives exactly the batches that were left, with as many ranks as there are
// now. Samplers know what is at any position, so nothing is loaded to be passed over.
//
// # Memory
//
// A batch is valid until the loop asks for the next one or ends: its memory is used again, so that
// a loop in steady state allocates headers only. Options.Own has each batch own its memory, Clone
// keeps a single one. Options.Poison, for tests, makes what was kept show. Batches in the order of
// the rows are views of a source that can show some, and are to be read only.
//
// # Workers
//
// Without workers the loop makes each batch when it wants it, which is fastest for rows that only
// have to be copied. With Options.Workers batches are made ahead, in bounded number and bytes, in
// their order. [Stats] say whether the loop has waited for them.
//
// # Errors
//
// What can be known to be wrong is an error of [New]. What goes wrong in a loop ends it with an
// error, a [BatchError] with the epoch, the batch and its rows, and the loader stands before that
// batch: ranging again tries it again.
//
// # Implementation
//
//  1. A sampler.Sampler returns the Order of an epoch: the row, or group, at any position. A
//     sampler.Batching cuts the order into a Plan: the rows of any batch. Neither has state, so the
//     position of a run is a number, the cursor of a [Loader].
//  2. A run is one loop over an epoch. It takes slots, in order, from a maker. The maker runs on
//     the goroutine of the loop, or on workers by workers.Stream, which keeps the order and ends
//     with the loop. A budget bounds the bytes of the batches that wait.
//  3. The maker fetches the rows into the memory of the slot, then labels, collates and transforms
//     them. A slot goes back to the pool when the loop asks for the next batch.
//
// To add a source, write the two methods of [Source]; loadertest.TestSource checks them.
package loader
