// Package inspect examines dictionaries and saved datasets: the differences between two of them, a
// summary of their values, and a list of their content.
//
//	report, err := inspect.Dataset("visits") // opens no leaf
//	err = inspect.Print(os.Stdout, td, inspect.PrintOptions{})
//	columns, err := inspect.Describe(ctx, td, inspect.DescribeOptions{ByColumn: true})
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
//   - [Print] writes a tree of keys. String of a dictionary is Print without bytes and options.
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
//   - Quantiles are approximate for more than 1,024 values: see Describe.
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
