// Package inspect looks at dictionaries and at saved datasets: in what two of them differ, what
// their values are like, and what is in them.
//
//	report, err := inspect.Dataset("visits") // opens no leaf
//	err = inspect.Print(os.Stdout, td, inspect.PrintOptions{})
//	columns, err := inspect.Describe(ctx, td, inspect.DescribeOptions{ByColumn: true})
//	for d, err := range inspect.Differences(ctx, td, other, inspect.DifferencesOptions{ATol: 1e-6}) {
//		...
//	}
//
// # Which one to use
//
// [Differences] is for data of any size: it reads leaves block by block, on several goroutines, and
// can leave out those whose checksums are equal. The methods Diffs and Equal of a dictionary are
// for what is in memory. [Describe] reads each leaf once; package arith has the sums, means and
// quantiles of single tensors, and package transform the statistics that training needs. String of
// a dictionary is [Print] without bytes and options.
//
// # Limits
//
//   - Memory: Differences takes 1 MiB for each leaf and worker where it copies, and what it yields.
//     Describe takes some hundred KiB for each worker, and with ByColumn and quantiles about 4 MiB:
//     64 columns are described at a time. Both hold offsets of ragged rows.
//   - A ragged leaf that was permuted, or of which an index with steps is taken, is copied. Leaves
//     of datasets are not.
//   - Masks of rows take a byte for each row, and for each value of a ragged leaf.
//   - Data is compared and counted value by value, on one goroutine, and shows at most 8
//     differences.
//   - Quantiles are approximate beyond 1,024 values, see Describe.
//   - Nothing says that bytes are text: ragged uint8 without features is taken for text.
//
// # Errors
//
// Errors are a tdict.KeyError where they are about a key, and those of packages tensor, tdict,
// shapeops and memmap. The Text, A and B of a Difference quote keys and texts, as Go does. Key, and
// the texts of Data in A and B, are as they are: quote them before they go to a terminal, as Print
// does.
//
// All functions are safe for concurrent use, as readers of the dictionaries are.
package inspect
