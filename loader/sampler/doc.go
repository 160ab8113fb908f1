// Package sampler determines which rows of a dataset make an epoch, in which order, and where
// batches end. It also splits rows into training and test sets.
//
//	parts, err := sampler.SplitGroups(ids, []float64{0.8, 0.2}, 1)
//	train, err := loader.Subset(src, parts[0]) // rows with one id are in one part
//	l, err := loader.New(train, loader.Options{Batch: 64, Sampler: sampler.Random(), Seed: 1})
//	groups, err := sampler.NewGroups(ids, sampler.GroupOptions{})
//	batches, err := groups.Batches(sampler.GroupBatchOptions{Groups: 16}) // for Options.Batching
//
// The package handles only row numbers; package loader fetches the rows.
//
// # Samplers
//
// A [Sampler] puts units, which are rows or groups of rows, in an order. It has no state. The order
// depends on the seed, the number of the epoch and the number of units. It is the same on every
// platform and, while the version of the loader's state does not change, in every version of this
// module. Samplers are composed like functions:
//
//	half, err := sampler.Shard(sampler.Random(), sampler.Share{Rank: 0, World: 2})
//	train, err := sampler.Among(rows, sampler.Random())
//
// An [Order] computes the unit at any position. So an epoch is resumed at position 10,000,000 as
// fast as at 10, and an order of many rows needs no memory.
//
// # Batchings
//
// A [Batching] cuts an order into batches: of a fixed number of rows ([Rows]), of whole groups
// ([Groups]), or of rows of about the same length ([Buckets]). With groups, the units of a sampler
// are groups: Shard divides groups among ranks, Random puts groups in random order.
//
// # Parts
//
// [Split], [SplitGroups] and [Folds] list the rows of a training and a test set, or of folds.
//
// # Repetitions
//
// With N units, the number u + k*N in an order is the k-th repetition of unit u. Random transforms
// draw different numbers for each repetition.
//
// # Concurrency
//
// All types of this package are safe for concurrent use, and do not change.
//
// # Adding a sampler
//
// A sampler is a pure function of an [Epoch], whose order takes constant time at any position. Its
// String describes everything that the order depends on. To test it by samplers_test.go and
// FuzzSamplers, add a line to their table.
package sampler
