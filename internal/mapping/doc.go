// Package mapping maps files into memory and gives each mapping a safe end of life.
//
// The garbage collector does not see mapped memory: bytes that are still in use may be unmapped,
// and a later read is then a fault or, worse, reads another file. A [Mapping] therefore ends in one
// of two ways only. [Mapping.Close] refuses new users, and the bytes are unmapped when the last
// running user is done. Or the Mapping becomes unreachable and no raw slice was ever handed out:
// then a cleanup unmaps it.
//
//	m, err := mapping.Map(f, size, mapping.ReadOnly) // f may be closed now
//	data, err := m.Acquire()                         // a loan: data is valid until Release
//	...
//	m.Release()
//	err = m.Close()
//
// Close never waits, so a user may call it between its own Acquire and Release; its bytes stay
// valid until that Release. [Mapping.CloseWait] closes and waits for the users. Use it in code that
// must know that the file is free.
//
// [Mapping.Pin] is for bytes that are handed to code which does not say when it is done with them.
// It costs address space, not memory, until the Mapping is closed.
//
// [Mapping.Words] returns the bytes as words that processes change atomically; [Mapping.WaitWord]
// waits until another process changes one.
//
// # Files that shrink
//
// Map checks the size of the file. If another process truncates the file later, a read beyond its
// new end is a fault, which by default ends the process. [Guard] turns such a fault into a
// [FaultError]. Only loads and stores fault: a system call that is given such bytes returns EFAULT.
//
// There is no fault in the page that contains the new end: bytes past EOF read as zeros there. Only
// the size of the file reveals it, so [Mapping.Intact] checks the size:
//
//	err := mapping.Guard(func() { use(data) })
//	if err == nil {
//		err = m.Intact() // before m.Release
//	}
//
// # Limits
//
// Mappings start at the beginning of the file. Linux allows a process vm.max_map_count maps, 65,530
// by default, and Go's runtime ends the process when it cannot get one. Mappings take at most half
// of them, see [Limit]; each Mapping always counts as one. Beyond the limit, [Map] copies small
// files if the mode is [ReadOrCopy], and otherwise returns [ErrLimit].
//
// On Unix systems mappings keep a descriptor of their file, for Intact: up to 1,000 of the mappings
// alive at a time, or fewer, a tenth of RLIMIT_NOFILE.
//
// Storing to a hole of a sparse file on a full disk is a fault too, so write files before mapping
// them. Windows neither truncates nor replaces a file while it is mapped.
package mapping
