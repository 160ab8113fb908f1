// Package nrt writes collections of ragged tensors to .nrt files, and opens such files mapped into
// memory. Python's nested_ragged_tensors has the same format.
//
//	err := nrt.Save("patients.nrt", j)
//	f, err := nrt.Open("patients.nrt")
//	defer f.Close()
//	patient, err := f.Row(7)           // takes constant time, and reads nothing
//	days, err := patient.Tensor("day")
//
// Each side reads what the other wrote. This package writes the same bytes as Python.
//
// # The format
//
// A file holds arrays of one dim each, under names that say how deep their values lie. This is
// {"s": [7, 8], "ts": [[1, 2], [3]], "v": [[[], [5]], [[6, 6]]]}:
//
//	dim0/s        7 8        one value for each row
//	dim1/bounds   2 3        where the rows of level 1 end: [0, 2) and [2, 3)
//	dim1/ts       1 2 3      values in the rows of level 1
//	dim2/bounds   0 1 3      where the rows of level 2 end: [0, 0), [0, 1) and [1, 3)
//	dim2/v        5 6 6
//
// Bounds are int64. All values of one depth share them, and the last of a level is how many rows
// the next has, or how many values there are. A value for all rows, a scalar, is an array of one
// element under dim-1; the original has also dim-2 and so on, which are read. The arrays lie in a
// safetensors file: the length of a header, in 8 bytes, the header, which is JSON, and the
// elements, little-endian. There is nothing else in it: no name of a tree, no order of fields, no
// checksum.
//
// Elements are bools, integers of 8 to 64 bits, and floats of 16 (IEEE), 32 and 64 bits. The
// original reads no others, such as bfloat16, so that this package neither reads nor writes them.
//
// # Reading
//
// [Open] copies the bounds, and checks them: that they never decrease, and that each level has so
// many rows, or values, as the one around it says. Values stay in the mapped file. With
// [Options].Keys only the named fields are looked at, and the bounds that they need. Nothing in a
// file is trusted: what does not fit is [ErrCorrupt].
//
// Passed over are metadata, bounds deeper than any field, and "lengths" as old writers left it
// beside bounds: int64, one for each, that say the same. A field that is merely called so is a
// field.
//
// # Memory
//
// Fields lie in the mapped file, and so do their views, rows and ranges; copies do not. A [File]
// that is dropped without Close is unmapped with its last field or view, unless tensor.Of handed
// out a slice of it. What comes of an element after Close is [ErrClosed]; an operation under way
// ends as if there were no Close.
//
// If another process cuts a file that is mapped, reading it through this module returns [ErrFault].
// [Save] cuts no file: it puts another in its place, and whoever has opened the old one keeps it.
//
// # Errors
//
// Errors of files are [FileError]: the file, the array in it, and the reason, for errors.Is.
package nrt
