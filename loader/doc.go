// Package loader turns a dataset into mini-batches: shuffled, dealt to ranks, cut at groups or by
// length, padded and transformed, ahead of the training loop and at the speed of memory.
//
//	src, err := loader.FromDataset(ds) // or From(td), FromLive, FromJoint, FromRows, FromFunc ...
//	l, err := loader.New(src, loader.Options{
//		Batch:     64,
//		Sampler:   sampler.Random(),
//		Seed:      1,
//		Transform: pipeline, // of package transform
//	})
//	for l.Epoch() < 10 {
//		for batch, err := range l.Batches(ctx) { // *tdict.TensorDict, [64 ...]
//			...
//		}
//		fmt.Println(l.Stats())
//	}
//
// # Sources
//
// A [Source] has two methods: how many rows there are, and Fetch, which returns rows by number, all
// of a batch at once, in memory that is used again and again. What more a source can do it says by
// further interfaces: a [Slicer] shows neighbouring rows without copying them, a [Prefetcher] is
// told what will be wanted, a [Snapshotter] may change between epochs. Sources are put together by
// [Concat], [Zip] and [Subset].
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
package loader
