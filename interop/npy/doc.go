// Package npy opens NumPy's files mapped into memory, and writes them: .npy files of one array, and
// .npz archives and structured arrays, which are dictionaries.
//
//	err := npy.SaveDict("visits.npz", td) // numpy.load("visits.npz") reads it
//	d, err := npy.OpenDict("visits.npz")  // takes no memory for elements
//	defer d.Close()
//	batch, err := d.Index(ix.Take(7, 3))
//	x, err := npy.Open("image.npy") // one array, with all methods of a tensor
//
// [Open] returns a tensor, [OpenDict] a dictionary. For a file of the other kind each returns an
// error that says so.
//
// # Arrays
//
// The package reads versions 1.0, 2.0 and 3.0 of the format. It writes 1.0, the same bytes as
// NumPy. Elements are bools, integers, floats of 16, 32 and 64 bits, and complex numbers of 64 and
// 128 bits, in both byte orders. An array in Fortran order becomes a permuted view, and is written
// in Fortran order again.
//
// Other elements are [ErrUnsupported], which says what to save instead: strings, objects, dates,
// long doubles, and raw bytes, as which NumPy writes bfloat16. Nothing is unpickled.
//
// A structured array is a dictionary of its fields; the array's shape is the batch shape. A field
// of a nested record has a nested key. A field is a strided view of the records if its offset and
// the size of the record are multiples of the size of its numbers, as with numpy.dtype(...,
// align=True); otherwise it is a copy.
//
// # Archives
//
// Members are keys: "obs/x.npy" is "obs/x". A name is split at each "/", so "km/h.npy" is the entry
// h of a dictionary km; Flat of [DictOptions] does not split names, and opens archives in which one
// name is a prefix of another, such as "a" and "a/b". [SaveDict] refuses a key with a "/" in a part
// unless another Separator is set. numpy.savez stores members without alignment. They are
// mapped nevertheless: copying and indexing move bytes. Only typed access in place, such as
// tensor.Of, requires a Clone; tdict.Slice copies by itself. [SaveDict] aligns members. The members
// of numpy.savez_compressed are inflated when they are opened. A member that is not an array is an
// error that names it, or is left out by DictOptions.SkipUnsupported.
//
// The batch shape is the longest common prefix of the shapes of all arrays, which may be longer
// than you want: to have rows only, set BatchDims of [DictOptions] to 1. [SaveDict] does not save
// the batch shape.
//
// # Bad files
//
// Nothing in a file is trusted. Headers are bounded, and parsed by a grammar of Python's literals;
// memory grows with the content of a file, not with its claims. Invalid content is [ErrCorrupt]. If
// another process truncates a mapped file, reading it through this module returns [ErrFault].
// Saving never truncates a file: it replaces the file by a new one, and an open File keeps the old
// content.
//
// # Memory
//
// Elements are in the mapped file, and so are views of them; copies are not. A [File] or a [Dict]
// that is dropped without Close is unmapped with its last tensor or view, unless tensor.Of returned
// a slice of it. An operation on mapped elements after Close is [ErrClosed]; a running operation
// completes. Elements that were copied, such as inflated ones, stay usable.
//
// # Errors
//
// Errors of files are [FileError]: the file, the member or field in it, and the cause, for
// errors.Is.
package npy
