// Package npy opens NumPy's files mapped into memory, and writes them: .npy files of one array, and
// .npz archives and structured arrays, which are dictionaries.
//
//	err := npy.SaveDict("visits.npz", td) // numpy.load("visits.npz") reads it
//	d, err := npy.OpenDict("visits.npz")  // takes no memory for elements
//	defer d.Close()
//	batch, err := d.Index(ix.Take(7, 3))
//	x, err := npy.Open("image.npy") // one array, with all methods of a tensor
//
// [Open] returns a tensor, [OpenDict] a dictionary. Each says so if it meets a file of the other
// kind.
//
// # Arrays
//
// Versions 1.0, 2.0 and 3.0 of the format are read, and 1.0 is written, the same bytes as NumPy
// writes. Elements are bools, integers, floats of 16, 32 and 64 bits, and complex numbers of 64 and
// 128 bits, in both byte orders. An array in Fortran order is a permuted view, and written in
// Fortran order again.
//
// Others are [ErrUnsupported], which says what to save instead: strings, objects, dates, long
// doubles and raw bytes, which is what NumPy makes of bfloat16. Nothing is unpickled.
//
// A structured array is a dictionary of its fields; the array's shape is the batch shape. A field
// in a field has a nested key. A field is a strided view of the records if its offset and the size
// of the record are multiples of the size of its numbers, as with numpy.dtype(..., align=True), and
// a copy if not.
//
// # Archives
//
// Members are keys: "obs/x.npy" is "obs/x". numpy.savez stores members without alignment. They are
// mapped nevertheless: whatever copies or indexes moves bytes. Only typed access in place, as by
// tensor.Of, asks for a Clone; tdict.Slice copies by itself. What [SaveDict] writes is aligned. The
// members of numpy.savez_compressed are inflated as they are opened. A member that is no array is
// an error that names it, or left out by DictOptions.SkipUnsupported.
//
// The batch shape is the longest shape with which all arrays begin, which may be longer than you
// want: BatchDims of 1 in [DictOptions] makes it one of rows. [SaveDict] keeps none.
//
// # Bad files
//
// Nothing in a file is trusted. Headers are bounded, and parsed by a grammar of Python's literals;
// memory follows what a file holds, not what it claims. What does not fit is [ErrCorrupt]. If
// another process cuts a file that is mapped, reading it through this module returns [ErrFault].
// Saving cuts no file: it puts another in its place, and whoever has opened the old one keeps it.
//
// # Memory
//
// Elements lie in the mapped file, and so do views of them; copies do not. A [File] or a [Dict]
// that is dropped without Close is unmapped with its last tensor or view, unless tensor.Of handed
// out a slice of it. An operation on mapped elements after Close is [ErrClosed]; one that is under
// way ends as if there were no Close. Elements that were copied, as inflated ones, can be used.
//
// # Errors
//
// Errors of files are [FileError]: the file, the member or field in it, and the reason, for
// errors.Is.
package npy
