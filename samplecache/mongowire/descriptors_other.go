//go:build !unix

package mongowire

// descriptors returns how many files and connections the process may have open.
func descriptors() int { return 1 << 20 }
