package arith

// Equal returns bools that are true where x and y are equal. NaN equals nothing; 0 and -0 are
// equal. To compare whole tensors or dictionaries, call their method Equal.
func Equal[T Elementwise[T]](x T, y any) (T, error) { return apply(opEqual, x, y) }

// EqualInto is [Equal] into dst.
func EqualInto[T Elementwise[T]](dst, x T, y any) error { return applyInto(opEqual, dst, x, y) }

// NotEqual returns bools that are true where x and y differ.
func NotEqual[T Elementwise[T]](x T, y any) (T, error) { return apply(opNotEqual, x, y) }

// NotEqualInto is [NotEqual] into dst.
func NotEqualInto[T Elementwise[T]](dst, x T, y any) error { return applyInto(opNotEqual, dst, x, y) }

// Less returns bools that are true where x is less than y. The result is false where either is NaN.
func Less[T Elementwise[T]](x T, y any) (T, error) { return apply(opLess, x, y) }

// LessInto is [Less] into dst.
func LessInto[T Elementwise[T]](dst, x T, y any) error { return applyInto(opLess, dst, x, y) }

// LessEqual returns bools that are true where x is less than or equal to y. The result is false
// where either is NaN.
func LessEqual[T Elementwise[T]](x T, y any) (T, error) { return apply(opLessEqual, x, y) }

// LessEqualInto is [LessEqual] into dst.
func LessEqualInto[T Elementwise[T]](dst, x T, y any) error { return applyInto(opLessEqual, dst, x, y) }

// Greater returns bools that are true where x is greater than y. The result is false where either
// is NaN.
func Greater[T Elementwise[T]](x T, y any) (T, error) { return apply(opGreater, x, y) }

// GreaterInto is [Greater] into dst.
func GreaterInto[T Elementwise[T]](dst, x T, y any) error { return applyInto(opGreater, dst, x, y) }

// GreaterEqual returns bools that are true where x is greater than or equal to y. The result is
// false where either is NaN.
func GreaterEqual[T Elementwise[T]](x T, y any) (T, error) { return apply(opGreaterEqual, x, y) }

// GreaterEqualInto is [GreaterEqual] into dst.
func GreaterEqualInto[T Elementwise[T]](dst, x T, y any) error {
	return applyInto(opGreaterEqual, dst, x, y)
}

// IsNaN returns bools that are true where x is NaN: nowhere for integers and bools.
func IsNaN[T Elementwise[T]](x T) (T, error) { return apply(opIsNaN, x) }

// IsNaNInto is [IsNaN] into dst.
func IsNaNInto[T Elementwise[T]](dst, x T) error { return applyInto(opIsNaN, dst, x) }

// IsFinite returns bools that are true where x is neither infinite nor NaN: everywhere for integers
// and bools.
func IsFinite[T Elementwise[T]](x T) (T, error) { return apply(opIsFinite, x) }

// IsFiniteInto is [IsFinite] into dst.
func IsFiniteInto[T Elementwise[T]](dst, x T) error { return applyInto(opIsFinite, dst, x) }
