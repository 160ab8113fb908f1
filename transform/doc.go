// Package transform prepares batches for training: it normalises columns, fills missing values,
// crops and flips. Transforms are composed into a pipeline, which several goroutines may share.
//
//	stats, err := transform.FitStandard(train, nil) // means and deviations; NaN does not count
//	crop := transform.OnKeys(transform.RandomCrop(28, 28), "image", "mask") // crops both alike
//	scale := transform.OnKeys(transform.CastScale(tensor.Float32, 2./255, -1), "image")
//	pipeline := transform.Compose(stats, transform.FillNaN(0), crop, scale)
//	batch, err = pipeline.Apply(batch, transform.Draw{Seed: 1, Epoch: epoch, Rows: rows})
//
// A [Transform] makes a dictionary of a dictionary, and its String lists its steps. [Func] turns a
// function into a transform, [Random] a function that draws random numbers. [Compose] applies
// several transforms in order, [OnKeys] applies one to some of the keys. Operations of package
// arith on whole dictionaries become transforms by Func; this package has further transforms that
// pipelines often need.
//
// # Columns
//
// [FitStandard] computes the mean and the deviation of columns. The divisor of the deviation is the
// number of values that count: after Apply the same rows have mean 0 and deviation 1. In a constant
// column the deviation is set to 1. In a column without values that count, the mean is 0 and the
// deviation 1. The result does not depend on the number of cores.
//
// For a dense leaf [B... F...] the columns are
// the dims after the batch shape, for a ragged leaf [B... * * F...] the features of its values. A
// [Standard] records the levels of ragged leaves. So it also applies to the same leaves after
// padding, [B... L M F...], for example by loader.Pad, which a loader calls before its Transform.
// Apply changes padding like values. To get padding that is 0, pad after Apply; or pad with NaN and
// apply FillNaN(0) after it.
//
// # Statistics and padding
//
// For [FitStandard] NaN never counts, and a row without values that count does not change a bit of
// the result. So ragged leaves have, bit for bit, the same statistics before and after padding,
// given the masks of ragged.Tensor.DensifyMasked. For that the levels must be batch dims: give the
// dictionary of padded leaves [N L F...] the batch shape [N L] by tdict.TensorDict.WithBatch. With
// the batch shape [N] a dense leaf [N L F...] has L*F columns.
//
// # Random numbers
//
// A row of a batch is everything at one position of its first dim. Its random numbers depend only
// on the seed, the epoch, the number of the row in the dataset, and the position of the step in the
// pipeline. They do not depend on other rows of the batch, on the order of rows, or on the number
// of goroutines. [Draw] says how they are derived; this does not change between versions. Two steps
// draw independently; one step draws once for all leaves of a row.
//
// # Results
//
// A transform never changes its argument. The result is another dictionary, which shares the leaves
// that the transform does not change, and their memory.
//
// # Errors and concurrency
//
// An error of a [Compose] says which step failed; errors.Is finds the cause. A panic of a step is
// an error too. Transforms do not change. They are safe for concurrent use if the functions given
// to Func and Random are.
package transform
