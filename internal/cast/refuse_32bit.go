//go:build 386 || arm || mips || mipsle

package cast

// Sizes and offsets of files do not fit an int of 32 bits. This identifier stops a build for such a
// machine with one clear error.
var _ = tensordict_requires_a_64_bit_machine
