// Package zipfile reads and writes zip archives whose payloads can be mapped: it returns the
// position of each payload that it reads, and aligns each payload that it writes. Package
// archive/zip parses and writes the records.
//
//	a, err := zipfile.Open(file, size, zipfile.MaxEntries)
//	for _, e := range a.Entries {
//		_, err = io.ReadFull(e.Reader(file), memory[e.Name]) // e.Size bytes; or map them
//	}
//
//	w := zipfile.NewWriter(file)
//	h := zipfile.Header{Name: "reward.memmap", Aligned: true}
//	err := w.Add(h, func(payload io.Writer) error {
//		_, err := payload.Write(elements)
//		return err
//	})
//	err = w.Close()
//
// # Reading
//
// [Open] reads the directory and all local headers, but no payload. It trusts neither. Beyond what
// archive/zip checks, it refuses entries that overlap, names that are duplicate, lead out of the
// archive or differ in a local header, bytes that belong to no record before the first entry or
// after the last, encryption, and methods other than stored and deflate. The checksum, the sizes
// and the method in the directory count, not those in local headers.
//
// # Writing
//
// A [Writer] writes the same bytes as Python's zipfile with force_zip64, as NumPy and tensordict
// use it. The local header always has zip64 sizes. If a payload is aligned, the extra field 0x6474
// ("td") of zeros before the zip64 sizes pads the header, as in tensordict; the directory repeats
// it. Deflated bytes differ from the output of zlib, and so does the directory of an archive of
// 2 GiB or 65,535 entries: Python changes to 64-bit fields there, this package at 4 GiB.
//
// The checksum and sizes of an entry are before the payload. The Writer holds a small payload until
// it is complete. It writes a larger one at once, and then its header again, so it needs an
// [io.WriterAt]. The alternative, a first pass to compute the checksum, would read a mapped source
// twice, perhaps from disk, and could not find the length of a deflated payload.
//
// # Concurrency
//
// An [Archive] is safe for concurrent use; a Writer, and a reader from [Entry.Reader], are not.
package zipfile
