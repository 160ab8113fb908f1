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
// Each side reads the files of the other. This package writes the same bytes as Python, except for
// the order of strings in __metadata__: Python writes them in any order, this package sorted.
//
// # Names and keys
//
// A name is split at each "." into the parts of a key: "model.weight" is the key model/weight, and
// the key "model/layers" in Keys opens all of "model.layers.*". This is how torch names nested
// modules, and how flatten_keys of Python's tensordict names nested dictionaries. A part of a key
// that contains a "." comes back as two parts: to keep it, set another Separator in [SaveOptions]
// and [Options]. Flat does not split names. It is for files in which one name is a prefix of
// another, such as "a" and "a.b".
//
// Keys are sorted, as Python lists the names of a file.
//
// # Batch shape
//
// The format has no batch shape. [Open] takes the longest common prefix of the shapes of all
// tensors; BatchDims bounds its length, and Batch sets it. Weights share no rows: open them with
// BatchDims: -1.
//
// If that prefix is not the batch shape of a saved dictionary, or if its dims have names, [Save]
// adds a string "tensordict" to __metadata__, with the batch shapes and names of the dictionary and
// of nested dictionaries. Other readers ignore it. [Open] uses it. With Flat, or another Separator
// than at Save, it uses only the batch shape and names of the outermost dictionary.
//
// If a nested dictionary has another batch shape or other names than the one that contains it, Save
// returns an error for keys with a part that contains the separator. A program that changes shapes
// and copies the string makes a file that is [ErrCorrupt], unless Batch or BatchDims is set.
//
// # Dtypes
//
// The format has all dtypes of tensors except complex128. Python's safetensors reads complex64 from
// version 0.6 on; earlier versions refuse the whole file. 8-bit floats, which tensors do not have,
// are [ErrUnsupported]; with RawFloat8 their bytes are opened as uint8. Elements of less than a
// byte are ErrUnsupported.
//
// # Sets
//
// Large models are sets of files with an index, model.safetensors.index.json, which lists the file
// of each tensor. Given the path of the index, Open opens the set as one dictionary. Its files are
// in the directory of the index, or in directories below it; they may be links, as in the cache of
// Hugging Face's hub. All files with a tensor to open are mapped when the set is opened. A tensor
// that is not in the file that the index names, or also in another file, is [ErrCorrupt]. The
// package does not write sets.
//
// # Memory
//
// Tensors are in the mapped files, and so are their views; copies are not. Opening reads only
// headers, of up to 100 MB each. A [File] that is dropped without Close is unmapped with its last
// tensor or view, unless tensor.Of returned a slice of it. An operation on elements after Close is
// [ErrClosed]; a running operation completes.
//
// If another process truncates a mapped file, reading it through this module returns [ErrFault].
// [Save] never truncates a file: it replaces the file by a new one, and an open File keeps the old
// content.
//
// # Errors
//
// Errors of files are [FileError]: the file, the tensor in it, and the cause, for errors.Is.
package safetensors
