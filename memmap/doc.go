// Package memmap keeps dictionaries as directories of files, one per leaf, and opens them mapped
// into memory. It is the directory format of Python's tensordict: each side reads what the other
// wrote. FORMAT.md beside this file describes it.
//
//	err := memmap.Save("digits", td)
//
//	ds, err := memmap.Open("digits")
//	defer ds.Close()
//	batch, err := ds.Index(ix.Take(rows...)) // reads only these rows
//
// # Saving
//
// [Save] is atomic: it writes beside the directory, syncs, and exchanges the two, so that at any
// moment, after a crash too, the directory holds the whole of what was saved before or the whole of
// what is saved now. (FORMAT.md names the one moment that is excepted on systems other than Linux.)
// Dictionaries opened before keep what they have mapped; a leaf that they want for the first time
// is [ErrReplaced].
//
// # Opening
//
// [Open] reads the meta.json files and checks the size of every leaf's file, but maps none: a leaf
// is mapped when its elements are first wanted, since a process can have only some 65,000 mappings.
// Nothing in the directory is trusted: a file that is missing, short, a link, or anything but a
// regular file is [ErrCorrupt], as is a shape that does not fit. Nothing is unpickled, ever.
// Entries of Python's that do not hold a tensor are [ErrUnsupported].
//
// # Memory
//
// Leaves of an opened dictionary lie in the mapped files. Their views do too; copies, as those that
// ix.Take makes, do not. A dictionary that is dropped without Close is unmapped with its last leaf
// or view, unless tensor.Of handed out a slice of it.
//
// [Dataset.Close] never waits. From then on elements are [ErrClosed], but what an operation under
// way has begun to read it reads to the end, and a file is unmapped when the last operation on it
// ends. [Dataset.CloseWait] waits for that.
//
// If another process cuts a file that is mapped, reading it through this module returns [ErrFault];
// reading it through a slice that tensor.Of handed out ends the program.
package memmap
