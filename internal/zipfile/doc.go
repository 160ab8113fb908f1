// Package zipfile reads and writes zip archives whose payloads can be mapped: it says where each
// payload lies, and places those that it writes.
//
//	a, err := zipfile.Open(file, size, zipfile.Limits{})
//	for _, e := range a.Entries {
//		_, err = io.ReadFull(e.Reader(file), memory[e.Name]) // e.Size bytes; or map them at e.Offset
//	}
//
//	w := zipfile.NewWriter(file)
//	payload, err := w.Create(zipfile.Header{Name: "reward.memmap", Aligned: true})
//	_, err = payload.Write(elements)
//	err = w.Close()
//
// # Reading
//
// [Open] reads the directory and all local headers, and no payload. It trusts neither: it refuses
// entries that overlap, names that escape or repeat, local headers that differ from the directory,
// bytes before the archive, encryption, methods other than stored and deflate, several disks, and
// zip64 records that are not in their places. archive/zip, which allows most of these, does not say
// where local headers are, so the records are read here. Extra fields other than zip64 sizes, and
// comments, are passed over. Memory and time follow the number of entries, which [Limits] bound,
// not the numbers in headers.
//
// # Writing
//
// A [Writer] writes the bytes that Python's zipfile writes with force_zip64, as NumPy and
// tensordict use it. The local header always has zip64 sizes; the directory has them for what is
// 2 GiB or more, as Python decides, and zip64 end records follow likewise, or with more than 65,535
// entries. If a payload is aligned, the extra field 0x6474 ("td") of zeros before the zip64 sizes
// pads the header, as tensordict does; the directory repeats it. Deflated bytes are not those of
// zlib.
//
// The checksum and sizes of an entry stand before the payload. The Writer goes back for them when
// the payload is complete, so it needs an [io.WriterAt]. The alternative, knowing the checksum from
// a first pass, would read a mapped source twice, perhaps from disk, and could not say how long a
// deflated payload becomes. Small writes are gathered: a header that is still in memory is changed
// there.
//
// # Concurrency
//
// An [Archive] is safe for concurrent use; a Writer, and what [Entry.Reader] returns, are not.
package zipfile
