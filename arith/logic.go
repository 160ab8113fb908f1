package arith

// And returns bools that are true where both x and y are true. For integers it is the bitwise AND.
func And[T Elementwise[T]](x T, y any) (T, error) { return apply(opAnd, x, y) }

// AndInto is [And] into dst.
func AndInto[T Elementwise[T]](dst, x T, y any) error { return applyInto(opAnd, dst, x, y) }

// Or returns bools that are true where x or y is true. For integers it is the bitwise OR.
func Or[T Elementwise[T]](x T, y any) (T, error) { return apply(opOr, x, y) }

// OrInto is [Or] into dst.
func OrInto[T Elementwise[T]](dst, x T, y any) error { return applyInto(opOr, dst, x, y) }

// Xor returns bools that are true where x and y differ. For integers it is the bitwise XOR.
func Xor[T Elementwise[T]](x T, y any) (T, error) { return apply(opXor, x, y) }

// XorInto is [Xor] into dst.
func XorInto[T Elementwise[T]](dst, x T, y any) error { return applyInto(opXor, dst, x, y) }

// Not returns bools that are true where x is false. For integers it is the bitwise complement.
func Not[T Elementwise[T]](x T) (T, error) { return apply(opNot, x) }

// NotInto is [Not] into dst.
func NotInto[T Elementwise[T]](dst, x T) error { return applyInto(opNot, dst, x) }
