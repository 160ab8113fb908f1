// Package memmap saves dictionaries as directories with one file per leaf, or as single files, and
// opens them mapped into memory. The format is the one of Python's tensordict: each side reads
// the files of the other.
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
//   - [Save] writes a dictionary, from memory or opened from elsewhere, as a whole.
//   - [Create] makes a dictionary on disk, of any size, to be filled in place.
//   - A [Writer] appends rows, without knowing how many there will be.
//   - [Open] reads a dictionary. With Writable, its elements can be written in place.
//   - A [Live] serves the current version of a directory to many goroutines, while others replace
//     the directory or append to it. It can refuse versions with another schema, and keep a value
//     for each version, such as an index.
//   - [Verify] reads all of a saved dictionary and reports what is damaged.
//   - [Copy] saves a dictionary in another form: directory, archive, or consolidated file.
//
// # Saving
//
// [Save] is atomic. It writes a new directory beside the old one, syncs it, and exchanges the two.
// At any time, and after a crash, the directory holds all of the old dictionary or all of the new
// one. (On systems other than Linux there is one exception, which FORMAT.md names.)
//
// With [SaveOptions.NoReplace], Save replaces nothing. [Create] replaces a dataset only with
// [CreateOptions.Replace]. [NewWriter] appends to a finished dataset only with
// [WriterOptions.Resume].
//
// A dictionary that was opened before its directory was replaced keeps the leaves that it has
// mapped. A leaf that it has not mapped yet is [ErrReplaced]. If it was opened with Writable, Flush
// and Close return ErrReplaced too, because nobody will see its writes. Data beside the mapped
// files keep their values.
//
// [SaveOptions] can have a schema, which is saved too. Open then returns [ErrCorrupt] for data that
// break the schema, and [Dataset.Schema] returns it.
//
// # Opening
//
// [Open] reads the meta.json files and checks the size of every leaf's file. It maps no file: a
// leaf is mapped when its elements are first used, because the number of mappings of a
// process is limited: see [OpenOptions].
//
// Nothing in the directory is trusted. A file that is missing, too short, a link, or not a regular
// file is [ErrCorrupt], and so is a shape that does not fit. Nothing is ever unpickled.
//
// Each kind of value has its form on disk:
//
//   - tensors, ragged tensors, unbatched tensors and dictionaries
//   - tdict.Data, as Python's NonTensorData and NonTensorStack
//   - a dictionary with a class, as Python's tensorclass; nothing looks up the class
//   - a dictionary with stacked leaves, as Python's lazy stack, with a directory for each member;
//     [AppendMember] adds a member
//
// Python's nested tensors are read as ragged tensors, and its views as the rows that they show.
// Other entries of Python's are [ErrUnsupported], and so are values that Python would read back as
// something else.
//
// # Archives
//
// An archive is one zip file with the files of a directory, which Python's tensordict calls .tdz.
// It is one file to copy, upload or mount. [Save] writes an archive if the name ends in .tdz or the
// file there is an archive; [SaveOptions] can ask for one. [Open], [OpenLive] and [Verify]
// recognize it by its content.
//
// All leaves lie in one mapping, so an archive of many leaves opens faster than a directory.
// Nothing is copied, unless a leaf is compressed: it is read into memory when it is first used.
//
// An archive is only read, or replaced as a whole. [OpenOptions.Writable], [Dataset.AddLeaf],
// [Create] and [NewWriter] return [ErrUnsupported]: [Copy] the archive to a directory first.
//
// # Consolidated files
//
// A consolidated file holds the elements of all leaves in one buffer, and JSON that describes them.
// Python's consolidate writes it, and package wire sends it. [Save] writes one if the name ends in
// .tdc. This form opens fastest. Like an archive it is only read, or replaced as a whole. It has a
// checksum for each [BlockSize] bytes. Python's jagged tensors are read as ragged tensors. The file
// records whether the dictionary was locked when it was saved.
//
// # Ragged tensors
//
// A *ragged.Tensor is saved as its values and its offsets. The values are mapped like any leaf.
// [Open] reads the offsets into memory and checks them: 8 bytes for each row of a level, at most
// [OpenOptions.MaxCopy] in all. Leaves that share a layout share its offsets on disk, and share one
// layout when they are opened.
//
// Values can be written in place, lengths cannot: to change lengths, save the dictionary again. A
// [Writer] appends rows of any lengths, and [SaveRows] saves rows that come in chunks.
//
// Python sees a ragged tensor as data with the text "ragged int64 [3 * *]", which its operations
// pass through. With [SaveOptions.NestedTensors] it sees a nested tensor.
//
// # Memory
//
// The leaves of an opened dictionary lie in the mapped files, and so do views of them. Copies, such
// as the results of ix.Take, do not. A dictionary that is dropped without Close is unmapped with
// its last leaf or view, unless tensor.Of handed out a slice of it.
//
// [Dataset.Close] never waits. After it, elements are [ErrClosed]. An operation that is reading a
// leaf reads it to the end, and the file is unmapped when the last operation on it ends.
// [Dataset.CloseWait] waits for that.
//
// If another process truncates a mapped file, reading it through this module returns [ErrFault].
// Reading it through a slice that tensor.Of handed out ends the program. A file that is truncated
// within its last page reads as zeros there, so operations that copy, and Save, check the size of
// the file after they have read it. They do so for the first 1,000 files that a process has mapped
// at a time; for others, only [Verify] finds the damage.
//
// # Checksums
//
// Save and [Writer] store a CRC-32C of each 64 MiB of a leaf, which [Verify] compares:
//
//   - Before elements of a leaf are first written, or handed out by tensor.Of to be written, the
//     checksums of the leaf and of the leaves beside it are made void, durably.
//   - A full [Dataset.Flush], or Close, sets them again. For this it reads the whole leaf.
//   - Flush, Close and Save compute checksums of the bytes that are there. Earlier damage is not
//     found any more after that, so call Verify first. [Copy] compares checksums while it copies.
//   - Offsets of ragged tensors are never written in place; Open compares their checksums.
//   - Data and meta.json have no checksums.
//
// In an archive, zip's CRC-32 of each file, meta.json included, takes their place.
//
// # Errors
//
// Errors of this package are [FileError]: the directory or file as the caller named it, the path in
// it, and the reason, for errors.Is. Their texts have at most 1 KB, whatever a directory holds.
package memmap
