// Package nrt writes collections of ragged tensors to .nrt files, and opens such files mapped into
// memory. Python's nested_ragged_tensors has the same format.
//
//	err := nrt.Save("patients.nrt", j)
//	f, err := nrt.Open("patients.nrt")
//	defer f.Close()
//	patient, err := f.Row(7)           // takes constant time, and reads nothing
//	days, err := patient.Tensor("day")
//
// Each side reads the files of the other. This package writes the same bytes as Python.
//
// # The format
//
// A file has arrays of one dim each. Their names begin with the depth of their values. This is
// {"s": [7, 8], "ts": [[1, 2], [3]], "v": [[[], [5]], [[6, 6]]]}:
//
//	dim0/s        7 8        one value for each row
//	dim1/bounds   2 3        the ends of the rows of level 1: [0, 2) and [2, 3)
//	dim1/ts       1 2 3      values in the rows of level 1
//	dim2/bounds   0 1 3      the ends of the rows of level 2: [0, 0), [0, 1) and [1, 3)
//	dim2/v        5 6 6
//
// Bounds are int64. All fields of one depth share them. The last bound of a level is the number of
// rows of the next level, or of values. A value for all rows, a scalar, is an array of one element
// with depth -1; nested_ragged_tensors also writes dim-2 and so on, which this package reads. The
// arrays are in a safetensors file: 8 bytes with the length of a header, the header, which is JSON,
// and the elements, little-endian. The file has nothing else: no name of a tree, no order of
// fields, no checksum.
//
// Elements are bools, integers of 8 to 64 bits, and floats of 16 (IEEE), 32 and 64 bits.
// nested_ragged_tensors does not read other dtypes, such as bfloat16, so this package neither reads
// nor writes them.
//
// # Reading
//
// [Open] copies the bounds, and checks that they never decrease, and that each level has as many
// rows, or values, as the level above it says. Values stay in the mapped file. With [Options].Keys,
// only the named fields and their bounds are read. Nothing in a file is trusted: invalid content is
// [ErrCorrupt].
//
// Open ignores metadata, bounds deeper than any field, and the "lengths" that old writers added to
// bounds: int64, one for each row, equal to the lengths. Any other array of that name is a field.
//
// # Lists
//
// [FromLists] makes fields of nested lists. Fields are in the order of its schema, which says their
// dtypes and depths, so that lists may be empty: KindTensor for a list of one value a row,
// KindRagged with a Depth, which may be tdict.Any for the depth of the list, and KindUnbatched for
// a value instead of a list, which becomes a scalar. Integers must fit the dtype exactly; floats
// must too if it is an integer dtype, otherwise they are rounded. A bool counts as 0 or 1. A field
// without a list is left out if its spec is Optional.
//
// Without a schema fields are in the order of their names, and a list has its own depth. Without a
// dtype in a spec, a []any has the smallest dtype, which is the one that the Python package
// nested_ragged_tensors infers: bool if all values are bools; for integers the first of uint8,
// uint16, uint32, uint64 that holds all, or of int8, int16, int32, int64 if one is negative;
// float32 if there is a float. Unlike in Python, an integer that the dtype does not hold, such as
// 16777217 beside a float, is an error.
//
// encoding/json decodes a number as a float64. To keep integers, call UseNumber on its Decoder, or
// give the dtype in a schema.
//
// # Memory
//
// Fields are in the mapped file, and so are their views, rows and ranges; copies are not. A [File]
// that is dropped without Close is unmapped with its last field or view, unless tensor.Of returned
// a slice of it. An operation on elements after Close is [ErrClosed]; a running operation
// completes.
//
// If another process truncates a mapped file, reading it through this module returns [ErrFault].
// [Save] never truncates a file: it replaces the file by a new one, and an open File keeps the old
// content.
//
// # Errors
//
// Errors of files are [FileError]: the file, the array in it, and the cause, for errors.Is.
package nrt
