// Package vfstest provides a disk in memory that fails on demand and knows what a crash would
// leave. It is for tests of code that saves through package vfs.
//
// A [Disk] tells what is current from what is durable. Bytes become durable when their file is
// synced, names when their directory is. [Disk.FailAfter] and [Disk.FailOnce] make an operation
// fail; [Disk.Crash] returns the disk that the next boot would find. A test fails every operation
// in turn:
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
//			return // n lies beyond the last operation
//		}
//	}
//
// # The model
//
// A real crash keeps any selection of what was not synced, within limits each file system draws for
// itself. The [CrashMode]s are the corners of that room that savers stumble over. A directory moved
// between two parents of which only the old one was synced is lost; real file systems are kinder.
// A file may have several names, which a crash keeps or loses one by one. There are no symbolic
// links, no permissions and no times.
package vfstest
