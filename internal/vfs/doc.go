// Package vfs is the small file-system interface through which a save reaches the disk.
//
// A save writes a whole directory beside the one that it replaces, syncs it, and calls [Publish] to
// put it in place:
//
//	tmp, err := vfs.MakeTemp(fsys, dir)
//	err = fsys.Mkdir(tmp.New(), 0o777)
//	f, err := fsys.Create(filepath.Join(tmp.New(), "reward.memmap"), 0o666) // Write, Sync, Close
//	...
//	err = vfs.Publish(fsys, tmp.New(), dir, old) // old: the result of Lstat(dir)
//	err = tmp.Remove()
//
// [OS] is the real file system. Package vfstest has one in memory that fails on demand and can show
// the state after a crash; tests of savers use it.
//
// [SaveFile] does the same for one file, by a rename:
//
//	at, err := vfs.ResolveFile(path)
//	err = vfs.SaveFile(ctx, vfs.OS, at, vfs.FileOptions{}, func(f vfs.File) error { ... })
//
// [Sweep] removes the leftovers of savers that were killed; the first MakeTemp of each process
// calls it. A [Lock] that ends with its process protects the directories of running savers. A mark
// in each directory of MakeTemp distinguishes them from directories of others. [FileID] identifies
// a file, so that several open files can be compared.
//
// [Numbers] are locks of numbers; one file has any number of them. They end with their process too.
//
// # Durability
//
// The bytes of a file survive a crash once [File.Sync] has returned, its name once [FS.SyncDir] of
// its directory has. A saver must sync every file it wrote and every directory in tmp; Publish
// syncs tmp itself and the directory that contains it. On a file system that ignores fsync, nothing
// is guaranteed.
//
// # Systems
//
// Linux and macOS are supported. A file system that cannot exchange two directories in one step,
// such as NFS, has a moment without the directory when one is replaced; see [Publish]. On other
// systems the package builds, and nothing more is promised: they have no locks, so nothing is
// swept, and [Numbers] returns errors.ErrUnsupported.
package vfs
