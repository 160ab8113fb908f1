// Package memmap saves dictionaries as directories of files, one per leaf, or as single files, and
// opens them mapped into memory. The format is that of Python's tensordict: each side
// reads what the other wrote.
//
//	err := memmap.Save("digits", td)
//	ds, err := memmap.Open("digits")
//	defer ds.Close()
//	batch, err := ds.Index(ix.Take(rows...)) // reads only these rows
//	labels, err := tdict.Slice[int64](batch, "label")
//
// FORMAT.md beside this file describes the format.
//
// # Which one to use
//
//   - [Save] writes a dictionary that is in memory, or opened from elsewhere, as a whole.
//   - [Create] makes one on disk, of any size, to be filled in place.
//   - A [Writer] appends rows, without knowing how many there will be.
//   - [Open] reads one; with Writable, elements can be written where they are.
//   - A [Live] serves the one that a directory holds at present to many goroutines, while others
//     replace it or append to it. It can refuse another schema, and keep a value for each version,
//     such as an index.
//   - [Verify] reads all of one and reports what is damaged.
//   - [Copy] saves a dictionary in another form: directory, archive, or consolidated file.
//
// # Saving
//
// [Save] is atomic: it writes beside the directory, syncs, and exchanges the two, so that at any
// moment, after a crash too, the directory holds the whole of what was saved before or the whole of
// what is saved now. (FORMAT.md names the one moment that is excepted on systems other than Linux.)
// With [SaveOptions.NoReplace] it replaces nothing; Create replaces a dataset only if it is told
// to, and NewWriter goes on with a finished one only with [WriterOptions.Resume].
//
// Dictionaries opened before keep what they have mapped; a leaf that they want for the first time
// is [ErrReplaced], and so are Flush and Close of one opened with Writable, since nobody will see
// what was written. Data beside mapped files keeps its values: it is saved as a whole.
//
// [SaveOptions] can have a schema, which is saved too: data that break it are then [ErrCorrupt],
// and [Dataset.Schema] returns it.
//
// # Opening
//
// [Open] reads the meta.json files and checks the size of every leaf's file, but maps none: a leaf
// is mapped when its elements are first wanted, since the mappings of a process are limited: see
// [OpenOptions].
// Nothing in the directory is trusted: a file that is missing, short, a link, or anything but a
// regular file is [ErrCorrupt], as is a shape that does not fit. Nothing is unpickled, ever.
//
// Each kind of value has its form on disk: tensors, dictionaries, tdict.Data as Python's
// NonTensorData and NonTensorStack, unbatched tensors, ragged tensors. A dictionary with a class is
// Python's tensorclass, which is read as such without the class. One with stacked leaves is
// Python's lazy stack, with a directory for each member, to which [AppendMember] adds. Python's
// nested tensors are read as ragged ones, and its views as what they show. Other entries of
// Python's are [ErrUnsupported], as are values that Python would read back as something else.
//
// # Archives
//
// An archive is one zip file with the files of a directory, which Python's tensordict calls .tdz:
// one file to copy, upload or mount. [Save] writes one if the name ends in .tdz, or if one is
// there; [SaveOptions] can ask for it. [Open], [OpenLive] and [Verify] look at the file itself. All
// leaves lie in one mapping, so an archive of many leaves opens faster than a directory; nothing is
// copied, unless a leaf is compressed: then it is read into memory when it is first wanted.
//
// An archive is read, or replaced as a whole. [OpenOptions.Writable], [Dataset.AddLeaf], [Create]
// and [NewWriter] return [ErrUnsupported]: [Copy] it to a directory.
//
// # Consolidated files
//
// A consolidated file is what Python's consolidate writes, and package wire sends: the elements of
// all leaves in one buffer, and JSON that describes them. [Save] writes one if the name ends in
// .tdc. It opens fastest, and like an archive it is read, or replaced as a whole. Checksums are of
// each [BlockSize] bytes of it. Jagged tensors of Python's are ragged rows; a dictionary that was
// locked when it was saved is marked so.
//
// # Ragged rows
//
// A *ragged.Tensor is saved as its values, which are mapped like any leaf, and its offsets, which
// are read into memory and checked by Open: 8 bytes for each row of a level, bounded by
// [OpenOptions.MaxCopy]. Leaves that share a layout share its offsets on disk, and share one layout
// again when they are opened. Values can be written in place, lengths cannot: what has other
// lengths is saved anew. A [Writer] appends rows of any lengths, and [SaveRows] saves those that
// come in chunks. Python sees data that says what it is, "ragged int64 [3 * *]", which its
// operations pass through; with [SaveOptions.NestedTensors] it sees nested tensors.
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
// reading it through a slice that tensor.Of handed out ends the program. A file that is cut within
// its last page reads as zeros instead. Operations that copy, and Save, therefore look at its size
// once they are done, for the first 1,000 files that a process has mapped at a time; of others
// [Verify] finds it.
//
// # Checksums
//
// Save and Writer keep a CRC-32C of each 64 MiB of a leaf, which [Verify] compares. Before elements
// of a leaf are written for the first time, or handed out to be by tensor.Of, those of the leaf,
// and of the leaves beside it, are made void, durably; a full [Dataset.Flush] or Close sets them
// again, for which it reads the whole leaf. They, and Save, sum what is there: what was damaged
// before passes for sound from then on, so Verify first. Copy compares them while it copies.
// Offsets of ragged rows, which are never written in place, have theirs compared by Open. Data and
// meta.json have no checksums.
//
// In an archive, zip's CRC-32 of each file stands for them, meta.json included.
//
// # Errors
//
// Errors of this package are [FileError]: the directory or archive as it was given, the path in it,
// and the reason, for errors.Is. Their texts have at most 1 KB, whatever a directory holds.
package memmap
