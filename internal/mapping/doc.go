// Package mapping maps files into memory and gives each mapping a safe end of life.
//
// The garbage collector does not see mapped memory: bytes that are still in use may be unmapped
// under the reader's feet, and what is read then is a fault or, worse, another file. A [Mapping]
// therefore ends in one of two ways only. [Mapping.Close] refuses new users, and the bytes are
// unmapped when the last running one is done. Or the Mapping becomes unreachable and no raw slice
// was ever handed out: then a cleanup unmaps it.
//
//	m, err := mapping.Map(f, size, mapping.ReadOnly) // f may be closed now
//	data, err := m.Acquire()                         // a loan: data is valid until Release
//	...
//	m.Release()
//	err = m.Close()
//
// Close never waits, so a user may call it between its own Acquire and Release; its bytes stay
// valid until that Release. [Mapping.CloseWait] closes and waits for the users: it is for code that
// must know that the file is free.
//
// [Mapping.Pin] is for bytes that escape to code which cannot say when it is done with them. It
// costs address space, not memory, for as long as the Mapping is not closed.
//
// [Mapping.Words] are the bytes as words that processes change atomically; [Mapping.WaitWord] waits
// until another changes one.
//
// # Files that shrink
//
// The size of the file is checked before it is mapped. If somebody truncates the file later, a read
// beyond its new end is a fault, which by default ends the process. [Guard] turns such a fault into
// a [FaultError]. Only loads and stores fault: a system call that is given such bytes returns
// EFAULT.
//
// The page in which the new end lies has no fault: what is beyond the end reads as zeros there.
// Only the size of the file tells, so [Mapping.Intact] asks for it:
//
//	err := mapping.Guard(func() { use(data) })
//	if err == nil {
//		err = m.Intact() // before m.Release
//	}
//
// # Limits
//
// Mappings start at the beginning of the file. Linux allows a process vm.max_map_count maps, 65,530
// by default, and Go's runtime ends the process when it gets none. Mappings take at most half of
// them, see [Limit]; one is one map, whatever is done with it. Beyond the limit, [Map] makes copies
// of small files where [ReadOrCopy] allows it, and else returns [ErrLimit].
//
// On Unix systems mappings keep a descriptor of their file, for Intact: the first 1,000 alive at a
// time, or fewer, a tenth of RLIMIT_NOFILE. [Retry] gives them up when the process has none left.
//
// Storing to a hole of a sparse file on a full disk is a fault too, so write files before mapping
// them. Windows neither truncates nor replaces a file while it is mapped.
package mapping
