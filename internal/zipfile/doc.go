// Package zipfile reads and writes zip archives whose payloads can be mapped: it returns the
// position of each payload that it reads, and aligns each payload that it writes.
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
// [Open] reads the directory and all local headers, but no payload. It trusts neither. It refuses
// entries that overlap, names that are duplicate or lead out of the archive, local headers that
// differ from the directory, bytes before the archive, encryption, methods other than stored and
// deflate, several disks, and zip64 records that are not in their places. archive/zip allows most
// of these, and does not return the positions of local headers, so this package reads the records
// itself. It ignores comments, and extra fields other than zip64 sizes. Memory and time grow with
// the number of entries, which [Limits] bound, not with numbers in headers.
//
// # Writing
//
// A [Writer] writes the same bytes as Python's zipfile with force_zip64, as NumPy and tensordict
// use it. The local header always has zip64 sizes. The directory has them for sizes of 2 GiB or
// more, as in Python; zip64 end records follow in the same case, or for more than 65,535 entries.
// If a payload is aligned, the extra field 0x6474 ("td") of zeros before the zip64 sizes pads the
// header, as in tensordict; the directory repeats it. Deflated bytes differ from the output of
// zlib.
//
// The checksum and sizes of an entry are before the payload. The Writer writes them when the
// payload is complete, so it needs an [io.WriterAt]. The alternative, a first pass to compute the
// checksum, would read a mapped source twice, perhaps from disk, and could not find the length of a
// deflated payload. Small writes are buffered: a header that is still in the buffer is changed
// there.
//
// # Concurrency
//
// An [Archive] is safe for concurrent use; a Writer, and a reader from [Entry.Reader], are not.
package zipfile
