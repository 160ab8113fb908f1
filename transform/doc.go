// Package transform prepares batches for training: it normalises columns, fills missing values,
// crops and flips. Transforms are composed into a pipeline, a value that goroutines may share.
//
//	stats, err := transform.FitStandard(train, nil) // means and deviations of what is not NaN
//	crop := transform.OnKeys(transform.RandomCrop(28, 28), "image", "mask") // the same part of both
//	scale := transform.OnKeys(transform.CastScale(tensor.Float32, 2./255, -1), "image")
//	pipeline := transform.Compose(stats, transform.FillNaN(0), crop, scale)
//	batch, err = pipeline.Apply(batch, transform.Draw{Seed: 1, Epoch: epoch, Rows: rows})
//
// A pipeline prints its steps. A [Transform] makes a dictionary of a dictionary. [Func] makes one
// of a function, [Random] of one that draws numbers; [Compose] applies several in order, [OnKeys]
// one to some of the keys. Verbs of package arith on whole dictionaries are transforms once they
// are given to Func; those here are the ones that a pipeline often needs, with a text.
//
// # Columns
//
// [FitStandard] takes the statistics of columns. Of a dense leaf [B... F...] these are the dims
// after the batch shape, of a ragged leaf [B... * * F...] the features of its values. A [Standard]
// records the levels of ragged leaves. So it applies to the same leaves once they are padded,
// [B... L M F...], as loader.Pad makes them before a loader's Transform is called. Apply changes
// padding as it changes values: padding is 0 only if rows are padded after Apply, or are padded
// with NaN, which FillNaN(0) replaces after it.
//
// # Random numbers
//
// A row of a batch is what lies at one position of its first dim. Its random numbers depend on the
// seed, the epoch, the number of the row in the dataset, and the place of the step in the pipeline,
// and on nothing else: not on what else is in the batch, on the order of rows, or on how many
// goroutines there are. [Draw] says how they are derived; that does not change between versions.
// Two steps draw independently, one step draws once for all leaves of a row.
//
// # Results
//
// A transform never changes its argument. The result is another dictionary, which shares leaves
// that the transform leaves alone, and their memory.
//
// # Errors and concurrency
//
// An error of a [Compose] says which step failed; errors.Is finds the reason. A panic of a step is
// an error too. Transforms do not change: they are safe for concurrent use, if the functions given
// to Func and Random are.
package transform
