// Package inspect examines dictionaries and saved datasets: the differences between two of them, a
// summary of their values, histograms, and a list of their content.
//
//	report, err := inspect.Dataset("visits") // opens no leaf
//	err = inspect.Print(os.Stdout, td, inspect.PrintOptions{})
//	columns, err := inspect.Describe(ctx, td, inspect.DescribeOptions{ByColumn: true})
//	profiles, err := inspect.Profiles(ctx, td, inspect.ProfileOptions{MaxBytes: 32 << 20})
//	for d, err := range inspect.Differences(ctx, td, other, opt) { // see DifferencesOptions
//		...
//	}
//
// # Which one to use
//
//   - [Differences] compares data of any size. It reads leaves block by block, on several
//     goroutines, and can skip leaves whose checksums are equal. For dictionaries in memory there
//     are the methods Diffs and Equal.
//   - [Describe] reads each leaf once. Package arith has the sums, means and quantiles of single
//     tensors, and package transform the statistics that training needs.
//   - [Groups] counts the rows of each [Group], with a mean of each leaf. [RowDifferences] compares
//     two tables whose rows are matched by key, and yields each [RowDifference].
//   - [Dataset] makes a [Report] of a saved dataset, and [Opened] of an opened one.
//   - Describe returns a [Summary] of each leaf or column, and Profiles a [Profile], with the
//     [Histogram]s and [Bar]s of its values, the [HistogramForm] of each, and texts by frequency
//     ([TextCount]). Each group has a [GroupLeaf] of each leaf.
//   - [Profiles] is Describe with histograms, for people who look at data. It reads a leaf twice if
//     it has many different values.
//   - [Print] writes a tree of keys. String of a dictionary is Print without bytes and options.
//
// # What Describe counts
//
//   - Values that a mask hides count as Missing, and in no other count. A schema says which leaves
//     have masks, and tdict.Schema.MaskOf says which shapes masks have. DescribeOptions.Mask may
//     also have only leading dims of its leaf. A row of a ragged leaf that a mask of rows hides is
//     one Missing. Unbatched tensors have no mask.
//   - NaN counts in NaN and Count, and in no other count. Infinities are numbers: with one, Std
//     is NaN, and Mean is infinite, or NaN if there are both signs.
//   - float16 and bfloat16 are converted to float64, exactly. Integers are converted to the
//     nearest float64, which is exact up to 2^53; Min and Max are exact. A true bool is 1.
//     Complex numbers are described by their absolute values; if either part is NaN, the number
//     is NaN.
//   - Ragged uint8 without features is treated as text, unless it has a mask with a bool for each
//     number. Count, Rows and Distinct describe its texts; Distinct stops at 1,024 texts or 64 KiB.
//   - Count of Data is the number of rows that are not nil.
//   - ByColumn describes each feature of a dense tensor separately, and other leaves as a whole.
//
// # Sums
//
// Each leaf is read once, in parts of 131,072 positions, or 4,096 positions of each column. The
// numbers of a part are added as float64 in the order of sums of package arith, and then the sums
// of the parts. So without masks and NaN, Mean equals arith.Mean of the values as float64; the Mean
// of equal numbers is that number, and their Std is 0. Std divides by the number of values, like
// arith.VarOptions.Correction 0. It adds the squared distances from the mean of each 1,024 numbers,
// and joins these in order, by the method of Chan, Golub and LeVeque.
//
// # Quantiles
//
// Quantiles of up to 1,024 values, and at 0 and 1, equal the results of arith.Quantile. Others come
// from a KLL sketch of about 3,000 numbers. In tests with up to 3,000,000 values in seven orders,
// the rank of each is within 0.01*n of q*n.
//
// Of a leaf of more than 2^20 positions, the sketch gets one of each 2, 4, 8 ... numbers, which a
// hash picks; of a part that has at most 1,024 numbers it gets all. If masks and NaN hide more than
// nine tenths of such a leaf, the rank may be farther away. The same values give the same
// quantiles.
//
// # How bins are chosen
//
// The bars of a [Histogram] depend on the finite values that are present: their number, extremes,
// and quantiles at 0.01 and 0.99, called p1 and p99. The rule, in order:
//
//   - No value has no bar, and values that are all equal have one.
//   - Bools, up to 4 different integers and up to 12 different floats have a bar for each value.
//     Lengths do not: the next rules hold for them.
//   - Integers from a minimum to less than 48 above it have a bar for each integer.
//   - Others have equal bins. The first bin holds the minimum, or p1 if the tail below p1 is longer
//     than half of p99-p1. The last bin holds the maximum, or p99 likewise. The width is 1, 2 or 5
//     times a power of ten: the greatest such that 20 bins fit between these two numbers, or 10
//     bins for less than 1,000 values. There are 10 to 52 bins. It is at least 1 for integers, and
//     at least the distance of neighbouring floats.
//
// An edge is the number of the dtype nearest to i*width in decimal: 4.3 lies in the bin that begins
// at 4.3, in float32 too. A bin has its lower edge. If the maximum of floats is an edge, the last
// bin has it too. Absolute values of complex numbers are float64.
//
// # Samples
//
// A leaf with more bytes than ProfileOptions.MaxBytes is sampled; the rest is not read.
//
//   - Of a dense leaf, 64 blocks of 64 KiB are read, evenly spaced. With ByColumn they are rows.
//   - Of a ragged leaf or text, 64 runs of consecutive batch rows are read, evenly spaced by bytes.
//     A run ends with the row in which it exceeds 64 KiB. At most 128 KiB of its values are read,
//     and no text of more than 1 MiB. Offsets count as bytes, 8 for each row.
//   - Data is not sampled.
//
// # Limits
//
//   - Memory: Differences takes 1 MiB for each leaf and worker if it copies, and the memory of
//     its results. Describe takes some hundred KiB for each worker, and with ByColumn and
//     quantiles about 4 MiB, as it describes 64 columns at a time. Both hold the offsets of
//     ragged leaves.
//   - A ragged leaf that was permuted, or indexed with steps, is copied. Leaves of datasets are
//     not.
//   - Masks of rows take a byte for each row, and for each value of a ragged leaf.
//   - Data is compared and counted value by value, on one goroutine, and shows at most 8
//     differences.
//   - Quantiles are approximate for more than 1,024 values, see above.
//   - A dtype does not say that bytes are text: ragged uint8 without features is treated as text.
//
// # Errors
//
// Errors about a key are a tdict.KeyError; others are errors of packages tensor, tdict, shapeops
// and memmap. The Text, A and B of a Difference quote keys and texts, as Go does. Key, and the
// texts of Data in A and B, are not quoted: quote them before they go to a terminal, as Print does.
//
// All functions are safe for concurrent use, as readers of the dictionaries are.
package inspect
