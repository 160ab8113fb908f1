//go:build 386 || arm || mips || mipsle

package cast

// Sizes and offsets of a file reach beyond what an int of 32 bits holds. A build for such a machine
// ends here, with one error that says so.
var _ = tensordict_requires_a_64_bit_machine
