// Package safetensors opens safetensors files, and sharded sets of them, as dictionaries mapped
// into memory, and writes dictionaries to such files. Hugging Face's safetensors has the same
// format.
//
//	err := safetensors.Save("batch.safetensors", td)
//	f, err := safetensors.Open("batch.safetensors")
//	defer f.Close()
//	rows, err := f.Index(ix.Take(7, 0))      // reads two rows from the mapped file
//	weight, err := f.Tensor("model/weight")  // "model.weight" in the file
//
// Each side reads what the other wrote. This package writes the same bytes as Python, but for the
// order of strings in __metadata__, which Python writes in any order and this package sorted.
//
// # Names and keys
//
// A name is cut at each "." into the parts of a key, since that is how torch spells modules within
// modules, and flatten_keys of Python's tensordict dictionaries within dictionaries: "model.weight"
// is the key model/weight, and Keys of "model/layers" opens all of "model.layers.*". A part of a
// key that contains a "." comes back as two parts: set another Separator, in [SaveOptions] and
// [Options], to keep it. Flat leaves names whole, for files where one name goes on where another
// ends, as "a" and "a.b" do.
//
// Keys are in their order, as Python lists the names of a file.
//
// # Batch shape
//
// The format has no batch shape. [Open] takes the longest shape with which the shapes of all
// tensors begin; BatchDims bounds it, and Batch gives it. Weights share no rows: open them with
// BatchDims: -1.
//
// If the batch shape of a saved dictionary is another, or if its dims have names, [Save] puts the
// batch shapes and names of it and of nested dictionaries into a string "tensordict" of
// __metadata__, which other readers pass over. [Open] takes them from there; with Flat, or another
// Separator than the file was saved with, it takes only the batch shape and names of the whole.
// Where a nested dictionary has others than the one around it, Save refuses keys with a part that
// contains the separator. A program that changes shapes and hands the string on makes a file that
// is [ErrCorrupt] without Batch or BatchDims.
//
// # Dtypes
//
// The format has all dtypes of tensors but complex128. 8-bit floats, which tensors lack, are
// [ErrUnsupported], or their bytes as uint8 if RawFloat8 is set. Elements of less than a byte are
// ErrUnsupported.
//
// # Sets
//
// Large models are sets of files with an index, model.safetensors.index.json, which says in which
// file each tensor lies. Opened by the path of the index, a set is one dictionary. Its files are in
// the directory of the index, or below it; they may be links, as in the cache of Hugging Face's
// hub. Each that holds a tensor to be opened is mapped at once. A tensor that is not where the
// index says, or in another file too, is [ErrCorrupt]. Sets are not written.
//
// # Memory
//
// Tensors lie in the mapped files, and so do their views; copies do not. Opening reads headers, of
// up to 100 MB each, and nothing else. A [File] that is dropped without Close is unmapped with its
// last tensor or view, unless tensor.Of handed out a slice of it. Using an element after Close is
// [ErrClosed]; an operation under way ends as if there were no Close.
//
// If another process cuts a file that is mapped, reading it through this module returns [ErrFault].
// [Save] cuts no file: it puts another in its place, and whoever has opened the old one keeps it.
//
// # Errors
//
// Errors of files are [FileError]: the file, the tensor in it, and the reason, for errors.Is.
package safetensors
