// Package mapfile lends the memory of mapped files to tensors.
//
// A [Set] is the files of one directory that was opened, a [File] one of them, and a tensor.Lender.
// A file is mapped when its memory is first wanted, since a process may have only [mapping.Limit]
// mappings; beyond that, a small file that is not to be written is copied into memory instead.
//
//	s, err := mapfile.Open("digits", mapfile.Options{})
//	f := s.Add(s.Top(), "image.memmap", info, size)
//	t, err := tensor.FromLender(tensor.Uint8, f, 0, 1797, 8, 8)
//	...
//	err = s.Close()
//
// The set holds the directory itself, not its name: if another takes its place, what is mapped
// stays, and what is not yet mapped is [ErrReplaced]. No path leaves the directory, and no link in
// it is followed.
//
// A [Single] is one file that was opened by its path, such as an archive, and a [Part] some bytes
// of it: however many there are, they share one mapping. They are read-only.
//
//	s, err := mapfile.OpenSingle("digits.npy", nil)
//	_, err = s.ReadAt(header, 0)
//	t, err := tensor.FromLender(tensor.Uint8, s, len(header), 1797, 8, 8)
//
// Whoever keeps facts about the content of files, such as checksums, is told by [Options.Touch]
// before memory is written, and can tell by [File.Quiet] when nobody is at it.
package mapfile
