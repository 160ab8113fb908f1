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
//   - [Seal] accepts elements that Python has changed in place: it computes their checksums again.
//     [SealWritten] computes only the checksums that writes through this module have made void, if
//     no Close has set them again.
//   - [Look] returns the [Listing] of a saved dictionary: each [Entry] with its dtype, shape and
//     file, without reading a leaf. [ListingOf] lists any dictionary. [SameSums] compares two
//     tensors by their checksums alone.
//   - [Dataset.Advise] takes an [Advice] on how elements will be read.
//   - [CheckName] says whether a part of a key can be saved.
//
// OpenWith, SaveWith and CreateOptions, CopyOptions and LiveOptions have options. A [Container] is
// the form that is saved. A [Report] of Verify lists each [Damage].
//
// # Saving
//
// [Save] is atomic. It writes a new directory beside the old one, syncs it, and exchanges the two.
// At any time, and after a crash, the directory holds all of the old dictionary or all of the new
// one. There is one exception: on file systems that cannot exchange two directories in one step,
// such as NFS, a crash may leave nothing there, and the old directory beside it; see FORMAT.md.
//
// Save replaces only an empty directory or a whole saved dictionary, and nothing within one. It
// makes missing parent directories. What replaces a dictionary has its permissions: each new file
// gets the permissions that all old files have. Until it is in its place, only its owner can read
// it. The first time that a process saves in a directory, it removes the temporary files that
// killed processes have left there. An archive and a consolidated file are replaced as one file.
//
// With [SaveOptions.NoReplace], Save replaces nothing. [Create] replaces a dataset only with
// [CreateOptions.Replace]. [NewWriter] appends to a finished dataset only with
// [WriterOptions.Resume].
//
// A Dataset that was opened before its directory was replaced keeps the leaves that it has mapped.
// Using a leaf that it has not mapped yet returns [ErrReplaced]. If it was opened with Writable,
// Flush and Close return ErrReplaced too, because its writes are lost to every reader of the new
// version. A tdict.Data, which Open has read into memory, keeps its old value.
//
// [SaveOptions] can have a schema, which is saved too. Open then returns [ErrCorrupt] for data that
// break the schema, and [Dataset.Schema] returns it.
//
// # Opening
//
// [Open] reads the meta.json files and checks the size of every leaf's file. It maps no file: a
// leaf is mapped when its elements are first used, because the system limits the number of mappings
// of a process. [OpenOptions] states the limits.
//
// Nothing in the directory is trusted. Open returns [ErrCorrupt] for a file that is missing, too
// short for its shape, a symbolic link or not a regular file, and for a value whose shape does not
// begin with the batch shape of its dictionary. Nothing is ever unpickled.
//
// Each kind of value has its form on disk:
//
//   - tensors, unbatched tensors and dictionaries
//   - ragged tensors, as dictionaries of dense tensors: see Ragged tensors
//   - tdict.Data, as Python's NonTensorData and NonTensorStack
//   - a dictionary with a class, as Python's tensorclass. This package does not look up the
//     class; Python loads the dictionary only after the program has imported the class, and if the
//     class has a field for each entry. [SaveOptions.NoClass] saves without classes.
//   - a dictionary with stacked leaves, as Python's lazy stack, with a directory for each member;
//     [AppendMember] adds a member
//
// Python's nested tensors are read as ragged tensors. Open returns [ErrUnsupported] for all other
// kinds of Python entries. Save returns ErrUnsupported for tdict.Data that Python would read back
// with another type or value.
//
// # Archives
//
// An archive is one zip file with the files of a directory, which Python's tensordict calls .tdz.
// It is one file to copy, upload or mount. If a dictionary is at the path, [Save] keeps the form of
// that dictionary. If nothing is there, Save writes an archive if the name ends in .tdz.
// [SaveOptions] can ask for an archive under any name. [Open], [OpenLive] and [Verify] recognize it
// by its content.
//
// All leaves lie in one mapping, so an archive of many leaves opens faster than a directory.
// Nothing is copied, unless a leaf is compressed: it is read into memory when it is first used.
//
// An archive cannot be changed in place: it can be read, or replaced as a whole.
// [OpenOptions.Writable], [Dataset.AddLeaf], [Create] and [NewWriter] return [ErrUnsupported]:
// [Copy] the archive to a directory first.
//
// # Consolidated files
//
// A consolidated file holds the elements of all leaves in one buffer, and JSON that describes them.
// Python's consolidate writes it, and package wire sends it. If nothing is at the path, [Save]
// writes one if the name ends in .tdc; [SaveOptions] can ask for one. This form opens fastest. Like
// an archive, it cannot be changed in place. It has a checksum for each [BlockSize] bytes. Python's
// jagged tensors are read as ragged tensors. The file records whether the dictionary was locked
// when it was saved.
//
// # Ragged tensors
//
// A *ragged.Tensor is saved as a dictionary of dense tensors: the values, end to end, the lengths
// of the rows of each level, and the numbers of the rows. The values are mapped like any leaf.
// [Open] reads the lengths into memory, and checks them and the row numbers. The lengths take 8
// bytes for each row at each level, and at most [OpenOptions.MaxCopy] bytes in total. Leaves with
// equal lengths share one layout when they are opened.
//
// Values can be written in place, lengths cannot: to change lengths, save the dictionary again. A
// [Writer] appends rows of any lengths, and [SaveRows] saves rows that come in chunks. A Writer
// that continues or finishes reads the lengths of all rows into memory.
//
// Python loads that dictionary, with the entries "@lengths", "@pool" and "@row", and saves it again
// as it is; docs/from-python.md says how to use it there. The rows of "@pool" are not the rows of
// the ragged tensor: if Python picks, joins or reorders rows of the dictionary, so that values no
// longer belong to their rows, Open returns [ErrCorrupt] for the result.
//
// Ragged tensors that were saved by versions of this package before they had this form cannot be
// opened: Open and Verify return ErrCorrupt.
//
// # Memory
//
// The leaves of an opened dictionary lie in the mapped files, and so do views of them. Copies, such
// as the results of ix.Take, do not. If a Dataset becomes unreachable without Close, its memory is
// unmapped after its last leaf and view are garbage-collected. A file of which tensor.Of has
// returned a slice stays mapped.
//
// [Dataset.Close] never waits. After Close, operations on elements return [ErrClosed]. An operation
// that is reading a leaf reads it to the end, and the file is unmapped when the last operation on
// it ends. [Dataset.CloseWait] waits for that.
//
// If another process truncates a mapped file, reading it through this module returns [ErrFault].
// Reading it through a slice that tensor.Of returned ends the program. If a file is truncated
// within its last page, however, the system reports no fault: the lost bytes read as zeros. Save,
// and operations that copy, therefore check the size of the file after reading. The check covers at
// most 1,000 mapped files of a process at a time; only [Verify] finds the damage in others.
// [OpenOptions] has the details.
//
// # Checksums
//
// Save and [Writer] store a CRC-32C of each 64 MiB of a leaf, which [Verify] compares:
//
//   - Before the first write to elements of a leaf, and before tensor.Of returns a slice to write
//     to, its checksums are made void, and this is synced. After sixteen leaves of a dictionary the
//     checksums of all leaves in that directory are made void.
//   - [Dataset.Close] computes the checksums of leaves that were written, if nobody else can write
//     them any more. It reads these leaves. [SealWritten] does the same later.
//   - Close and SealWritten compute checksums of the bytes that are there. Earlier damage of these
//     leaves is not found any more after that, so call Verify first.
//   - Save, Copy and all other functions that copy mapped leaves compare checksums while they read
//     them. With [OpenOptions.CheckSums] every operation does.
//   - Python may change elements in place, on purpose. Then call Seal, which accepts them.
//   - Lengths and row numbers of ragged tensors are never written in place; Open compares their
//     checksums.
//   - Each meta.json has a checksum of itself, which Open compares. Data has a checksum, which is
//     compared where checksums of elements are.
//
// An archive has no CRC-32C: Verify compares the CRC-32 that zip stores for each file, meta.json
// included.
//
// # Errors
//
// Errors about a saved dictionary are of type *[DatasetError]. A DatasetError has the directory or
// file as the caller named it, the path in it, and the reason, which errors.Is finds. Its text has
// at most 1 KB, whatever a directory holds. An error of the system, such as syscall.EIO for a disk
// that cannot be read, is never ErrCorrupt.
package memmap
