// Package mapfile lends the memory of mapped files to tensors.
//
// A [Set] is the files of one open directory. A [File] is one of them, and a tensor.Lender. A file
// is mapped when its memory is first used, since a process may have only [mapping.Limit] mappings;
// beyond that, a small file that is not writable is copied into memory instead.
//
//	s, err := mapfile.Open("digits", mapfile.Options{})
//	f := s.Add(s.Top(), "image.memmap", info, size)
//	t, err := tensor.FromLender(tensor.Uint8, f, 0, 1797, 8, 8)
//	...
//	err = s.Close()
//
// The set holds the directory itself, not its name. If another directory takes its name, files that
// are already mapped stay, and mapping others returns [ErrReplaced]. No path leaves the directory,
// and links in it are not followed.
//
// A [Single] is one file opened by its path, such as an archive, and a [Part] is a range of its
// bytes. All Parts share one mapping. They are read-only.
//
//	s, err := mapfile.OpenSingle("digits.npy", nil)
//	_, err = s.ReadAt(header, 0)
//	t, err := tensor.FromLender(tensor.Uint8, s, len(header), 1797, 8, 8)
//
// Code that keeps facts about the content of files, such as checksums, is notified by
// [Options.Touch] before memory is written, and learns by [File.Quiet] whether nobody uses a file.
package mapfile
