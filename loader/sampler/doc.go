// Package sampler decides which rows of a dataset make an epoch, in which order, and where batches
// end. It also splits rows into training and test sets.
//
//	parts, err := sampler.SplitGroups(ids, []float64{0.8, 0.2}, 1)
//	train, err := loader.Subset(src, parts[0]) // rows with one id are in one part
//	l, err := loader.New(train, loader.Options{Batch: 64, Sampler: sampler.Random(), Seed: 1})
//	groups, err := sampler.NewGroups(ids, sampler.GroupOptions{})
//	batches, err := groups.Batches(sampler.GroupBatchOptions{Groups: 16}) // for Options.Batching
//
// It knows numbers of rows only; package loader fetches them.
//
// # Samplers
//
// A [Sampler] puts units, which are rows or groups of them, in an order. It has no state: the order
// depends on the seed, the number of the epoch and how many units there are, and is the same on
// every platform and, as long as the version of the loader's state stays, in every version of this
// module. Samplers are put together like functions:
//
//	half, err := sampler.Shard(sampler.Random(), sampler.Share{Rank: 0, World: 2})
//	train, err := sampler.Among(rows, sampler.Random())
//
// An [Order] is not written out: it says what is at any position. So a run is resumed at position
// 10,000,000 as fast as at 10, and an order of many rows needs no memory.
//
// # Batchings
//
// A [Batching] cuts an order into batches: of so many rows ([Rows]), of whole groups ([Groups]), or
// of rows that are about as long as each other ([Buckets]). What a sampler orders are then rows, or
// groups: Shard deals groups to ranks, Random puts groups in a random order.
//
// # Parts
//
// [Split], [SplitGroups] and [Folds] list the rows of a training and a test set, or of folds.
//
// # Repetitions
//
// With N units, the number u + k*N in an order is unit u for the k-th time again. Random transforms
// draw other numbers for it each time.
//
// # Concurrency
//
// Everything here is safe for concurrent use, and does not change.
//
// # Adding a sampler
//
// A sampler is a pure function of an [Epoch], which takes constant time at any position. Its String
// describes all that it depends on. To have samplers_test.go and FuzzSamplers test it, add a line
// to their table.
package sampler
