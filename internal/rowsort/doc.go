// Package rowsort puts the rows of a dictionary in the order of some of its columns, in bounded
// memory: what does not fit is sorted in parts, which lie in temporary files until they are merged.
//
//	keys := []nestedkey.Key{"patient", "day"}
//	order, err := rowsort.Rows(ctx, td, schema, keys, rowsort.Options{})
//	defer order.Close()
//	for row, err := range order.All() {
//		use(row.Number, row.Key) // rows with equal values have equal keys
//	}
//
// Columns are tensors of one column, of any dtype but complex ones, and text. The order of numbers
// is NaN last, false before true; text is in the order of its bytes. A value that a mask of the
// schema hides is missing: it is after all others, also in a descending order. Rows with equal
// values keep their order.
package rowsort
