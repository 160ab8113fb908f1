package arith

// Equal returns where x and y are equal. NaN equals nothing, 0 and -0 are equal. Whether
// dictionaries or tensors are equal as a whole is a method of theirs.
func Equal[T Elementwise[T]](x T, y any) (T, error) { return apply(opEqual, x, y) }

// EqualInto is [Equal] into dst.
func EqualInto[T Elementwise[T]](dst, x T, y any) error { return applyInto(opEqual, dst, x, y) }

// NotEqual returns where x and y differ.
func NotEqual[T Elementwise[T]](x T, y any) (T, error) { return apply(opNotEqual, x, y) }

// NotEqualInto is [NotEqual] into dst.
func NotEqualInto[T Elementwise[T]](dst, x T, y any) error { return applyInto(opNotEqual, dst, x, y) }

// Less returns where x is less than y; NaN never is.
func Less[T Elementwise[T]](x T, y any) (T, error) { return apply(opLess, x, y) }

// LessInto is [Less] into dst.
func LessInto[T Elementwise[T]](dst, x T, y any) error { return applyInto(opLess, dst, x, y) }

// LessEqual returns where x is less than y or equal.
func LessEqual[T Elementwise[T]](x T, y any) (T, error) { return apply(opLessEqual, x, y) }

// LessEqualInto is [LessEqual] into dst.
func LessEqualInto[T Elementwise[T]](dst, x T, y any) error { return applyInto(opLessEqual, dst, x, y) }

// Greater returns where x is more than y; NaN never is.
func Greater[T Elementwise[T]](x T, y any) (T, error) { return apply(opGreater, x, y) }

// GreaterInto is [Greater] into dst.
func GreaterInto[T Elementwise[T]](dst, x T, y any) error { return applyInto(opGreater, dst, x, y) }

// GreaterEqual returns where x is more than y or equal.
func GreaterEqual[T Elementwise[T]](x T, y any) (T, error) { return apply(opGreaterEqual, x, y) }

// GreaterEqualInto is [GreaterEqual] into dst.
func GreaterEqualInto[T Elementwise[T]](dst, x T, y any) error {
	return applyInto(opGreaterEqual, dst, x, y)
}

// IsNaN returns where x is NaN: nowhere, of integers and bools.
func IsNaN[T Elementwise[T]](x T) (T, error) { return apply(opIsNaN, x) }

// IsNaNInto is [IsNaN] into dst.
func IsNaNInto[T Elementwise[T]](dst, x T) error { return applyInto(opIsNaN, dst, x) }

// IsFinite returns where x is neither infinite nor NaN: everywhere, of integers and bools.
func IsFinite[T Elementwise[T]](x T) (T, error) { return apply(opIsFinite, x) }

// IsFiniteInto is [IsFinite] into dst.
func IsFiniteInto[T Elementwise[T]](dst, x T) error { return applyInto(opIsFinite, dst, x) }
