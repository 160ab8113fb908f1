// Package vfs is the small door through which a save reaches the disk.
//
// A save writes a whole directory beside the one it replaces, syncs it, and lets [Publish] put it
// in place:
//
//	tmp, err := vfs.MakeTemp(fsys, dir, 0o777)
//	err = fsys.Mkdir(tmp.New(), 0o777)
//	f, err := fsys.Create(filepath.Join(tmp.New(), "reward.memmap")) // Write, Sync, Close
//	...
//	err = vfs.Publish(fsys, tmp.New(), dir, old) // old: what Lstat said of dir
//	err = tmp.Remove()
//
// [OS] is the real file system. Package vfstest has a twin in memory that fails on demand and knows
// what a crash would leave, which is how savers are tested.
//
// [SaveFile] does the same for one file, by a rename:
//
//	at, err := vfs.ResolveFile(path)
//	err = vfs.SaveFile(ctx, vfs.OS, at, vfs.FileOptions{}, func(f vfs.File) error { ... })
//
// What a saver that was killed left beside dir is removed by [Sweep], which the first MakeTemp of
// each process does; a [Lock] that dies with its process keeps it from those at work, and a mark in
// each directory of MakeTemp from those of others. [FileID] says which of several open files are
// one.
//
// [Numbers] are locks of numbers, of which one file has as many as are needed. They die with their
// process too.
//
// Whatever opens a file, here or by [OpenFile], [ReadDir] and [OpenRoot], has mappings close the
// descriptors that they keep if the process has no other left.
//
// # What is durable
//
// A file's bytes survive a crash once [File.Sync] returned, its name once [FS.SyncDir] of its
// directory did. A saver must sync every file it wrote and every directory below tmp; Publish syncs
// tmp itself and the directory that holds it. A file system that ignores fsync can promise nothing.
//
// # Limits
//
// Only Linux can exchange two directories in one step. Elsewhere, and on file systems that cannot
// do it, a crash may leave the old tree under the name [AsidePath] tells; see [Publish]. Windows
// cannot sync a directory and does not rename one with open or mapped files.
package vfs
