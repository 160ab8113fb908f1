// Package vfstest provides a disk in memory that fails on demand and can show its state after a
// crash. It is for tests of code that saves through package vfs.
//
// A [Disk] distinguishes its current state from the durable one. Bytes become durable when their
// file is synced, names when their directory is. [Disk.FailAfter] and [Disk.FailOnce] make an
// operation fail; [Disk.Crash] returns the disk as the next boot would find it. A test makes every
// operation fail in turn:
//
//	for n := 1; ; n++ {
//		disk := vfstest.New()
//		save(disk, "d", before)
//		disk.FailAfter(n)
//		err := save(disk, "d", after)
//		for _, mode := range vfstest.CrashModes() {
//			got := open(disk.Crash(mode), "d") // before or after, never a mixture
//		}
//		if err == nil {
//			return // n is beyond the last operation
//		}
//	}
//
// # The model
//
// After a real crash any selection of the unsynced changes may be there, within limits that differ
// between file systems. The [CrashMode]s are extreme selections that reveal mistakes of savers. If
// a directory is moved between two parents and only the old one was synced, the directory is lost;
// real file systems are kinder. A file may have several names, which a crash keeps or loses one by
// one. There are no symbolic links, no permissions and no times.
package vfstest
